"""Rate limits per client, counted by all processes of a server together."""

from __future__ import annotations

import fcntl
import mmap
import os
import struct
import tempfile
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from hashlib import blake2b

from starlette.types import ASGIApp, Receive, Scope, Send

from wayhound.web.errors import TooManyRequests, error_response

_BUCKET = struct.Struct("dd")  # tokens spent, and the time at which they were counted
_BUCKETS = 65_536
_SALT = 16  # bytes before the buckets: without a salt, a client could choose whose bucket it shares
_SIZE = _SALT + _BUCKETS * _BUCKET.size


class Buckets:
    """Token buckets in shared memory, found by a hash of the client; all zeros means all buckets are full.

    The table is an unnamed file, which other processes map by its `handle`. Clients whose hashes collide
    share one bucket, which matters only if both send as many requests as one may.
    """

    def __init__(self, handle: int | None = None) -> None:
        self.handle = _new_table() if handle is None else handle
        weakref.finalize(self, os.close, self.handle)
        self._memory = mmap.mmap(self.handle, _SIZE)
        self._salt = self._memory[:_SALT]

    def place(self, client: str) -> int:
        digest = blake2b(client.encode("utf-8", "replace"), digest_size=8, key=self._salt).digest()
        return _SALT + int.from_bytes(digest, "big") % _BUCKETS * _BUCKET.size

    @contextmanager
    def locked(self, place: int) -> Iterator[None]:
        """Lock one bucket against other processes."""
        fcntl.lockf(self.handle, fcntl.LOCK_EX, _BUCKET.size, place)
        try:
            yield
        finally:
            fcntl.lockf(self.handle, fcntl.LOCK_UN, _BUCKET.size, place)

    def read(self, place: int) -> tuple[float, float]:
        spent, then = _BUCKET.unpack_from(self._memory, place)
        return spent, then

    def write(self, place: int, spent: float, then: float) -> None:
        _BUCKET.pack_into(self._memory, place, spent, then)


def _new_table() -> int:
    with tempfile.TemporaryFile() as file:
        file.write(os.urandom(_SALT).ljust(_SIZE, b"\0"))
        file.flush()
        return os.dup(file.fileno())


class RateLimiter:
    """A token bucket per client: `burst` tokens at first, refilled at `per_second`.

    Limiters with different names may share a table.
    """

    def __init__(
        self,
        per_second: float,
        burst: float,
        clock: Callable[[], float] = time.monotonic,
        buckets: Buckets | None = None,
        name: str = "",
    ) -> None:
        self._per_second = per_second
        self._burst = burst
        self._clock = clock
        self._buckets = buckets or Buckets()
        self._name = name

    def wait_seconds(self, client: str) -> float:
        """Take a token. Return 0 if there was one, else the seconds until there will be."""
        place = self._buckets.place(f"{self._name} {client}")
        with self._buckets.locked(place):
            now = self._clock()
            spent, then = self._buckets.read(place)
            spent = max(0.0, spent - (now - then) * self._per_second)
            over = spent + 1.0 - self._burst
            self._buckets.write(place, spent if over > 0 else spent + 1.0, now)
        return max(0.0, over) / self._per_second


class LimitedRate:
    """Middleware that answers 429 to clients over the limit of `limiter`."""

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
    """Return the address that a request came from; of IPv6 the /64 prefix, since one client has all of it."""
    client = scope.get("client")
    host = str(client[0]) if client else ""
    return ":".join(host.split(":")[:4]) if ":" in host else host
