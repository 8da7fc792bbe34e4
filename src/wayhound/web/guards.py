"""Guards of a web application: middleware, rate limits, and limits on connections.

The middleware refuses unknown hosts, forms of other sites and oversized bodies, and adds safe headers. Rate limits are
per client, counted by all processes of a server together.

Connections are limited because uvicorn bounds the head of a request only with its slower parser, and waits for a first
request for ever. A few clients that drip header bytes would so take the memory of a server, and many that send half a
request its file descriptors.
"""

from __future__ import annotations

import asyncio
import fcntl
import logging
import mmap
import os
import resource
import struct
import tempfile
import time
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from http import HTTPStatus
from ipaddress import IPv4Address, IPv6Network, ip_address
from typing import Any, ClassVar, cast
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.config import Config
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle
from uvicorn.server import ServerState

from wayhound.web.pages import (
    BadRequest,
    RenderedPage,
    TooManyRequests,
    TooMuch,
    WebError,
    error_response,
)

log = logging.getLogger("wayhound.serve")

PAGE_POLICY = (
    "default-src 'none'; style-src 'self'; img-src 'self'; script-src 'self'; connect-src 'self'; "
    "form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
)
"""For our own pages: nothing inline, nothing from other hosts; scripts may request this server only."""

STRANGERS_POLICY = "sandbox; default-src 'none'; frame-ancestors 'none'"
"""For documents written by strangers: an opaque origin, where nothing is loaded and nothing runs."""

SAFE_HEADERS = {
    "content-security-policy": PAGE_POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
}

# Data formats that scripts of other origins may read: they hold only what is public anyway.
_OPEN_TO_ALL = {"access-control-allow-origin": "*", "cross-origin-resource-policy": "cross-origin"}


def _raw(headers: Mapping[str, str]) -> list[tuple[bytes, bytes]]:
    return [(name.encode(), text.encode()) for name, text in headers.items()]


_RAW_HEADERS, _OPEN_HEADERS = _raw(SAFE_HEADERS), _raw(SAFE_HEADERS | _OPEN_TO_ALL)
_USUAL_WAY_ONLY = (
    b"x-forwarded-",
    b"if-none-match",
    b"content-length",
    b"transfer-encoding",
    b"expect",
    b"upgrade",
)
_NOT_CHECKED = object()


LOOPBACK_NAMES = ("localhost", "127.0.0.1", "[::1]")
MOST_BODY_BYTES = 100_000
_HARMLESS = frozenset({"GET", "HEAD", "OPTIONS"})


class Gate:
    """The middleware of a server: refuses bad requests, sends pages that need no route, and adds safe headers.

    Requests over the rate limit, with an unknown host, forms sent from other sites, and bodies over the limit are
    refused. The host is checked against DNS rebinding: a stranger's name that resolves to this machine would give the
    scripts of that site our origin.

    It is one layer, because each layer takes as long as finding a page that was made before.
    """

    def __init__(
        self,
        app: ASGIApp,
        hosts: Iterable[str] = (),
        most_body_bytes: int = MOST_BODY_BYTES,
        open_types: Iterable[str] = (),
        limiter: RateLimiter | None = None,
        find_page: Callable[[Scope], RenderedPage | None] | None = None,
    ) -> None:
        """`hosts` are the names of this server, without ports; empty allows any name.

        Responses of `open_types` (media types) may be read by scripts of any origin. What `find_page` returns for a
        GET request is sent without looking for a route, which takes half a millisecond.
        """
        self._app = app
        self._most_body_bytes = most_body_bytes
        self._hosts = frozenset(host.lower() for host in hosts)
        self._open_types = frozenset(open_types)
        self._limiter = limiter
        self._find_page = find_page

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        if scope["method"] == "HEAD":
            scope = {**scope, "method": "GET"}  # the server omits the body
        refusal = scope.pop("refusal", _NOT_CHECKED)  # of `answer_at_once`, which looked for a page too
        is_new = refusal is _NOT_CHECKED
        if is_new:
            refusal = self._refusal(scope)
        find_page = self._find_page if is_new and refusal is None and scope["method"] == "GET" else None
        if find_page and (page := _found(find_page, scope)):
            await self._send_page(page, scope, send)
            return
        answer = error_response(scope, refusal) if refusal else self._app
        await answer(scope, _limited(receive, self._most_body_bytes), self._safely(send))

    def answer_at_once(self, scope: Scope) -> list[bytes] | None:
        """Return the response to a plain GET request in bytes; None if it has to take the usual way.

        The application's task, its messages and the check of each header cost as much as a page that was made before.
        What a proxy forwards is not plain, since the server reads the client's address from its headers later on.
        """
        if self._find_page is None or scope["method"] != "GET":
            return None
        if any(name.startswith(_USUAL_WAY_ONLY) for name, _ in scope["headers"]):
            return None
        scope["refusal"] = refusal = self._refusal(scope)
        page = _found(self._find_page, scope) if refusal is None else None
        if page is None:
            return None
        headers = [*page.headers(with_body=True), *self._safe_headers(page.content_type)]
        return [b"%b: %b\r\n" % header for header in headers] + [b"\r\n", page.body]

    async def _send_page(self, page: RenderedPage, scope: Scope, send: Send) -> None:
        is_known = page.is_named_in(_header(scope, b"if-none-match"))
        status, body = (HTTPStatus.NOT_MODIFIED, b"") if is_known else (HTTPStatus.OK, page.body)
        safe_headers = self._safe_headers("" if is_known else page.content_type)
        headers = [*page.headers(with_body=not is_known), *safe_headers]
        await send({"type": "http.response.start", "status": int(status), "headers": headers})
        await send({"type": "http.response.body", "body": body})

    def _safely(self, send: Send) -> Send:
        """Wrap `send` so that responses have the safe headers; those that a response sets itself are kept."""

        async def send_safely(message: Message) -> None:
            if message["type"] == "http.response.start":
                present = dict(message["headers"])
                content_type = present.get(b"content-type", b"").decode("latin-1")
                wanted = self._safe_headers(content_type)
                added = [pair for pair in wanted if pair[0] not in present]
                message["headers"] = [*message["headers"], *added]
            await send(message)

        return send_safely

    def _safe_headers(self, content_type: str) -> list[tuple[bytes, bytes]]:
        return _OPEN_HEADERS if content_type.partition(";")[0] in self._open_types else _RAW_HEADERS

    def _refusal(self, scope: Scope) -> WebError | None:
        if self._limiter and (refusal := _over_rate(self._limiter, scope)):
            return refusal
        host = _header(scope, b"host").decode("latin-1")
        if self._hosts and _name(host) not in self._hosts:
            return BadRequest("This server is not configured for that host name.")
        if scope["method"] in _HARMLESS:
            return None
        headers = Headers(scope=scope)
        if not _is_from_here(headers, host):
            return BadRequest("This form was sent from another site. Please open it here and send it again.")
        length = headers.get("content-length", "0")
        return TooMuch() if length.isdecimal() and int(length) > self._most_body_bytes else None


def _found(find_page: Callable[[Scope], RenderedPage | None], scope: Scope) -> RenderedPage | None:
    """Return the page that was found; None after an unexpected error, so that the route tells the visitor of it."""
    try:
        return find_page(scope)
    except Exception:
        log.exception("%s could not be made at once", scope["path"])
        return None


def _header(scope: Scope, name: bytes) -> bytes:
    return next((value for key, value in scope["headers"] if key == name), b"")


@lru_cache(maxsize=64)
def _name(host: str) -> str:
    """Return the host without its port."""
    name, _, port = host.lower().rpartition(":")
    return name if name and port.isdecimal() else host.lower()


def _is_from_here(headers: Headers, host: str) -> bool:
    origin = headers.get("origin")
    try:
        if origin is not None and urlsplit(origin).netloc.lower() != host.lower():
            return False
    except ValueError:  # such as "http://["
        return False
    return headers.get("sec-fetch-site", "same-origin") in {"same-origin", "none"}


def _limited(receive: Receive, most_bytes: int) -> Receive:
    """Wrap `receive` so that a chunked body, which announces no length, is cut off past the limit."""
    received = 0

    async def receive_some() -> Message:
        nonlocal received
        message = await receive()
        if message["type"] == "http.request":
            received += len(message.get("body", b""))
            if received > most_bytes:
                raise HTTPException(TooMuch.status)  # the only exception that form parsers pass on
        return message

    return receive_some


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


def _over_rate(limiter: RateLimiter, scope: Scope) -> WebError | None:
    try:
        wait = limiter.wait_seconds(client_of(scope))
    except BadRequest as refusal:
        return refusal
    return TooManyRequests(wait) if wait else None


def client_of(scope: Scope) -> str:
    """Return the address that a request came from; of IPv6 the /64 prefix, since one client has all of it.

    Raises BadRequest if it is not an IP address. A request over a Unix socket has none, and gives "".
    """
    client = scope.get("client")
    if not client:
        return ""
    try:
        address = ip_address(str(client[0]))
    except ValueError:  # a proxy passed on what somebody wrote into X-Forwarded-For
        raise BadRequest("The address that this request was forwarded for is not an IP address.") from None
    if isinstance(address, IPv4Address):
        return str(address)
    if address.ipv4_mapped:
        return str(address.ipv4_mapped)
    return str(IPv6Network((int(address), 64), strict=False).network_address)


MOST_WAITING = 4_000
"""Connections with an incomplete request: they cost some 8 kB each, and to drop and accept them again far more."""


@dataclass(frozen=True)
class ConnectionLimits:
    """Bounds of one server process. `waiting` connections may have a request that is not complete."""

    head_bytes: int = 32_768
    request_seconds: float = 20.0
    waiting: int = MOST_WAITING
    requests: int = 500

    @classmethod
    def of_this_machine(cls) -> ConnectionLimits:
        """Return the defaults, with fewer waiting connections where a process may open few files."""
        soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        return cls() if soft == resource.RLIM_INFINITY else cls(waiting=min(MOST_WAITING, max(soft // 4, 16)))


class WaitingConnections:
    """Connections of a server whose request is not complete, the longest waiting first.

    All wait equally long, so one timer, for the first of them, serves all. A timer for each would be set and cancelled
    with every request.
    """

    def __init__(self, limits: ConnectionLimits) -> None:
        self._limits = limits
        self._deadlines: dict[LimitedProtocol, float] = {}
        self._timer: asyncio.TimerHandle | None = None

    def add(self, connection: LimitedProtocol) -> None:
        """Let a connection wait from now on; if there are too many, drop the one that has waited longest."""
        self._deadlines.pop(connection, None)
        self._deadlines[connection] = connection.loop.time() + self._limits.request_seconds
        if self._timer is None:
            self._timer = connection.loop.call_later(self._limits.request_seconds, self._end_overdue)
        if len(self._deadlines) > self._limits.waiting:
            oldest = next(iter(self._deadlines))
            self.remove(oldest)
            oldest.transport.abort()

    def remove(self, connection: LimitedProtocol) -> None:
        self._deadlines.pop(connection, None)

    def _end_overdue(self) -> None:
        self._timer = None
        while self._deadlines:
            connection, deadline = next(iter(self._deadlines.items()))
            if deadline > connection.loop.time():
                self._timer = connection.loop.call_at(deadline, self._end_overdue)
                return
            self.remove(connection)
            connection.refuse(b"408 Request Timeout")


AtOnce = Callable[[Scope], list[bytes] | None]
_OK, _CLOSE = b"HTTP/1.1 200 OK\r\n", b"connection: close\r\n"


class LimitedProtocol(HttpToolsProtocol):
    """An HTTP connection within limits.

    A request must be complete within `request_seconds`. Of more than `waiting` incomplete ones the oldest is dropped: a
    browser sends its request at once, so those that have waited longest are not browsers. Over `requests` at a time the
    answer is 503.
    """

    limits: ClassVar[ConnectionLimits]
    waiting: ClassVar[WaitingConnections]
    at_once: AtOnce | None  # of the class too

    def __init__(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        super().__init__(config, server_state, app_state, _loop)
        self._head_bytes = 0  # received, of a head that is not complete
        self._parsed_bytes = 0  # of names and values
        self._in_head = True
        # at once: only the first request of what was received, so that other connections get a turn
        self._may_answer = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.waiting.add(self)

    def connection_lost(self, exc: Exception | None) -> None:
        self.waiting.remove(self)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        self._may_answer = self.at_once is not None
        super().data_received(data)
        self._may_answer = False
        if self._in_head and self.parser is not None:
            self._head_bytes += len(data)
            if self._head_bytes > self.limits.head_bytes:
                self.refuse(b"431 Request Header Fields Too Large")

    def on_message_begin(self) -> None:
        self._head_bytes = self._parsed_bytes = 0
        self._in_head = True
        self.waiting.add(self)
        super().on_message_begin()

    def on_header(self, name: bytes, value: bytes) -> None:
        super().on_header(name, value)
        self._parsed_bytes += len(name) + len(value) + len(b": \r\n")
        if self._parsed_bytes > self.limits.head_bytes:
            raise ValueError("The head of the request is too large.")  # the parser answers with 400

    def on_headers_complete(self) -> None:
        self._in_head = False
        # With this limit at 1 the base class answers 503. Its own count would include idle connections.
        self.limit_concurrency = 1 if len(self.tasks) >= self.limits.requests else None
        super().on_headers_complete()

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: ASGIApp) -> None:  # type: ignore[override]
        """Answer at once, or start the application."""
        answer = None
        if self._may_answer and self.at_once and app is self.app and not self.flow.write_paused:
            self._may_answer = False
            answer = self.at_once(cast("Scope", cycle.scope))
        if answer is None:
            super()._start_asgi_task(cycle, app)  # type: ignore[arg-type]
            return
        head = [_OK, *(b"%b: %b\r\n" % header for header in cycle.default_headers)]
        self.transport.write(b"".join([*head, b"" if cycle.keep_alive else _CLOSE, *answer]))
        cycle.response_started = cycle.response_complete = True
        if not cycle.keep_alive:
            self.transport.close()
        self.on_response_complete()

    def on_message_complete(self) -> None:
        self.waiting.remove(self)
        super().on_message_complete()

    def handle_websocket_upgrade(self) -> None:
        self.waiting.remove(self)
        super().handle_websocket_upgrade()

    def refuse(self, status: bytes) -> None:
        """Answer with a status alone, and close the connection."""
        if not self.transport.is_closing():
            self.transport.write(b"HTTP/1.1 " + status + b"\r\ncontent-length: 0\r\n" + _CLOSE + b"\r\n")
            self.transport.close()


def limited_protocol(limits: ConnectionLimits, at_once: AtOnce | None = None) -> type[LimitedProtocol]:
    """Return a protocol class for one uvicorn server, whose connections share `limits`.

    What `at_once` returns for a request is sent as the response to it, after the status and the headers of the server.
    """
    shared = {
        "limits": limits,
        "waiting": WaitingConnections(limits),
        "at_once": staticmethod(at_once) if at_once else None,
    }
    return type("LimitedProtocol", (LimitedProtocol,), shared)
