"""Refuses requests before anything is done for them: strange hosts, other sites' forms, bodies without end."""

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
"""For our own pages: nothing inline, nothing from elsewhere; scripts may ask this server alone."""

STRANGERS_POLICY = "sandbox; default-src 'none'; frame-ancestors 'none'"
"""For what strangers wrote: an origin of its own, where nothing is loaded and nothing runs."""

SAFE_HEADERS = {
    "content-security-policy": PAGE_POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
}

# What machines on other origins may read: they hold nothing but what is public here.
_OPEN_TO_ALL = {"access-control-allow-origin": "*", "cross-origin-resource-policy": "cross-origin"}


class SafeHeaders:
    """Adds the safe headers to every response; one that a response sets itself stays."""

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
    """Answers a request that may not be answered otherwise.

    The host is checked because a name server of a stranger may point his name at this machine, and his
    scripts would then be of our origin. Forms are taken from our own pages alone.
    """

    def __init__(
        self, app: ASGIApp, hosts: Iterable[str] = (), most_body_bytes: int = MOST_BODY_BYTES
    ) -> None:
        """`hosts` are the names that this server goes by, without ports; none: any name."""
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
            return BadRequest("This server does not go by that name.")
        if scope["method"] in _HARMLESS:
            return None
        if not _is_from_here(headers, host):
            return BadRequest("This form was sent from another site. Please open it here and send it again.")
        length = headers.get("content-length", "0")
        return TooMuch() if length.isdecimal() and int(length) > self._most_body_bytes else None


def _as_get(scope: Scope) -> Scope:
    """What is asked by HEAD is answered as by GET; the server leaves out the body."""
    return {**scope, "method": "GET"} if scope.get("method") == "HEAD" else scope


def _name(host: str) -> str:
    """The host without its port."""
    name, _, port = host.lower().rpartition(":")
    return name if name and port.isdecimal() else host.lower()


def _is_from_here(headers: Headers, host: str) -> bool:
    origin = headers.get("origin")
    if origin is not None and urlsplit(origin).netloc.lower() != host.lower():
        return False
    return headers.get("sec-fetch-site", "same-origin") in {"same-origin", "none"}


def _limited(receive: Receive, most_bytes: int) -> Receive:
    """Bodies that are sent in pieces tell no length beforehand, and are cut off past the limit."""
    taken = 0

    async def receive_some() -> Message:
        nonlocal taken
        message = await receive()
        if message["type"] == "http.request":
            taken += len(message.get("body", b""))
            if taken > most_bytes:
                raise HTTPException(TooMuch.status)  # the only kind that form readers let through
        return message

    return receive_some
