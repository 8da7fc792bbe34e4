"""How often one client may ask, kept in memory."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable

from starlette.types import ASGIApp, Receive, Scope, Send

from trailmark.serve.web.errors import TooManyRequests, error_response

MOST_CLIENTS = 50_000
"""Clients that are remembered; of more, those that asked longest ago are forgotten."""


class RateLimiter:
    """A bucket of tokens for each client: `burst` at first, refilled at `per_second`."""

    def __init__(self, per_second: float, burst: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._per_second = per_second
        self._burst = burst
        self._clock = clock
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()  # tokens, and when counted

    def wait_seconds(self, client: str) -> float:
        """Take a token: 0 if there was one, else how long it takes until there is."""
        now = self._clock()
        tokens, then = self._buckets.pop(client, (self._burst, now))
        tokens = min(self._burst, tokens + (now - then) * self._per_second)
        allowed = tokens >= 1.0
        self._buckets[client] = (tokens - 1.0 if allowed else tokens, now)
        if len(self._buckets) > MOST_CLIENTS:
            self._buckets.popitem(last=False)
        return 0.0 if allowed else (1.0 - tokens) / self._per_second


class LimitedRate:
    """Answers 429 to a client that asks more often than `limiter` allows."""

    def __init__(self, app: ASGIApp, limiter: RateLimiter) -> None:
        self._app = app
        self._limiter = limiter

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        wait = self._limiter.wait_seconds(client_of(scope)) if scope["type"] == "http" else 0.0
        if wait:
            await error_response(scope, TooManyRequests(wait))(scope, receive, send)
        else:
            await self._app(scope, receive, send)


def client_of(scope: Scope) -> str:
    """The address that a request came from; of IPv6 the first half, for one client has all of the rest."""
    client = scope.get("client")
    host = str(client[0]) if client else ""
    return ":".join(host.split(":")[:4]) if ":" in host else host
