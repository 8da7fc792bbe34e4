"""Headers that keep a page harmless, whatever strangers' text stands in it."""

from __future__ import annotations

from collections.abc import Iterable

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

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
