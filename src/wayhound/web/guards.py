"""Middleware that refuses unknown hosts, forms of other sites and oversized bodies, and adds safe headers."""

from __future__ import annotations

from collections.abc import Iterable
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from wayhound.web.errors import BadRequest, TooMuch, WebError, error_response

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


class SafeHeaders:
    """Add the safe headers to every response; headers that a response sets itself are kept."""

    def __init__(self, app: ASGIApp, open_types: Iterable[str] = ()) -> None:
        """Responses of `open_types` (media types) may be read by scripts of any origin."""
        self._app = app
        self._open_types = frozenset(open_types)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_safely(message: Message) -> None:
            if message["type"] == "http.response.start":
                self._complete(MutableHeaders(scope=message))
            await send(message)

        await self._app(scope, receive, send_safely)

    def _complete(self, headers: MutableHeaders) -> None:
        media_type = headers.get("content-type", "").partition(";")[0]
        wanted = SAFE_HEADERS | (_OPEN_TO_ALL if media_type in self._open_types else {})
        for name, text in wanted.items():
            headers.setdefault(name, text)


LOOPBACK_NAMES = ("localhost", "127.0.0.1", "[::1]")
MOST_BODY_BYTES = 100_000
_HARMLESS = frozenset({"GET", "HEAD", "OPTIONS"})


class Guards:
    """Refuse requests with an unknown host, forms sent from other sites, and bodies over the limit.

    The host is checked against DNS rebinding: a stranger's name that resolves to this machine would give
    the scripts of that site our origin.
    """

    def __init__(
        self, app: ASGIApp, hosts: Iterable[str] = (), most_body_bytes: int = MOST_BODY_BYTES
    ) -> None:
        """`hosts` are the names of this server, without ports; empty allows any name."""
        self._app = app
        self._most_body_bytes = most_body_bytes
        self._hosts = frozenset(host.lower() for host in hosts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        refusal = self._refusal(scope) if scope["type"] == "http" else None
        if refusal is None:
            await self._app(_as_get(scope), _limited(receive, self._most_body_bytes), send)
        else:
            await error_response(scope, refusal)(scope, receive, send)

    def _refusal(self, scope: Scope) -> WebError | None:
        headers = Headers(scope=scope)
        host = headers.get("host", "")
        if self._hosts and _name(host) not in self._hosts:
            return BadRequest("This server is not configured for that host name.")
        if scope["method"] in _HARMLESS:
            return None
        if not _is_from_here(headers, host):
            return BadRequest("This form was sent from another site. Please open it here and send it again.")
        length = headers.get("content-length", "0")
        return TooMuch() if length.isdecimal() and int(length) > self._most_body_bytes else None


def _as_get(scope: Scope) -> Scope:
    """Route HEAD requests as GET; the server omits the body."""
    return {**scope, "method": "GET"} if scope.get("method") == "HEAD" else scope


def _name(host: str) -> str:
    """Return the host without its port."""
    name, _, port = host.lower().rpartition(":")
    return name if name and port.isdecimal() else host.lower()


def _is_from_here(headers: Headers, host: str) -> bool:
    origin = headers.get("origin")
    if origin is not None and urlsplit(origin).netloc.lower() != host.lower():
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
