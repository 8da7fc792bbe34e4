"""The result of a fetch, and the response headers that a crawler acts on. Headers are untrusted input."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, replace
from email.utils import parsedate_to_datetime
from functools import lru_cache
from typing import Literal, Protocol

from wayhound.url import normalise

FailureReason = Literal[
    "bad_url",  # not a URL that can be fetched
    "refused_port",  # a port that web servers do not use
    "robots",  # disallowed by robots.txt
    "robots_unreachable",  # robots.txt could not be fetched, which disallows everything (RFC 9309, 2.3.1.4)
    "out_of_scope",  # outside the site
    "private_address",  # loopback, private, link-local or otherwise not public
    "dns",
    "connect",
    "tls",
    "timeout",
    "reset",  # the connection broke before the body was complete
    "too_big",
    "bad_response",  # not HTTP, or a body that does not decode
    "content_type",  # not a kind of content that is wanted
    "unreadable",  # reading it takes more time or memory than a page may take
    "redirect_limit",
    "challenge",  # a page that only lets people in, after a test
    "not_archived",  # replay only: not in the closed world
]

TRANSIENT_FAILURES: frozenset[FailureReason] = frozenset(
    {"dns", "connect", "timeout", "reset", "robots_unreachable"}
)
"""Failures that a retry may cure."""


@dataclass(frozen=True, slots=True)
class Fetched:
    """A response of any status. Redirects are not followed: a 3xx has its target in `location`."""

    url: str
    status: int
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes = b""
    content_type: str = ""  # media type alone, lower case: text/html
    charset: str = ""  # as in the header, lower case
    location: str = ""  # absolute target of a redirect, normalised
    reason_phrase: str = ""
    ip: str = ""
    wait_seconds: float = 0.0  # the pause that the host asks for: Crawl-delay or Retry-After
    source: Fetched | None = None  # the response as it came, if `body` is what a browser made of it

    @property
    def ok(self) -> bool:
        return 200 <= self.status < 300

    @property
    def robots_tag(self) -> str:
        """The values of the X-Robots-Tag headers, a line each."""
        return "\n".join([value for name, value in self.headers if name.lower() == "x-robots-tag"])

    @property
    def outcome(self) -> str:
        """The reason code of this response, such as `ok`, `redirect` or `http_404`."""
        if self.ok:
            return "ok"
        return "redirect" if self.location else f"http_{self.status}"


def rendered(response: Fetched, url: str, body: bytes) -> Fetched:
    """Return a response with the document that a browser made of it as its body, in UTF-8."""
    return replace(response, url=url, body=body, content_type="text/html", charset="utf-8", source=response)


@dataclass(frozen=True, slots=True)
class Failed:
    """No response, and why. `sent` is False if no request for the page was sent at all."""

    url: str
    reason: FailureReason
    detail: str = ""
    sent: bool = True
    wait_seconds: float = 0.0

    @property
    def outcome(self) -> str:
        return self.reason


class Fetcher(Protocol):
    """The interface between decisions and the network. The only place where tests use fakes."""

    async def fetch(self, url: str) -> Fetched | Failed: ...


def _allow() -> None: ...


before_request: ContextVar[Callable[[], None]] = ContextVar("before_request", default=_allow)
"""Called by a fetcher right before it sends a request, robots.txt included; an exception ends the fetch.

Set in the task that fetches. Between a call of `fetch` and the request there may be a name to look up, a connection to
open, or hours in which the machine slept.
"""


MAX_WAIT_SECONDS = 3600.0
"""A longer pause that a host asks for is cut to an hour."""

_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_CHARSET = re.compile(r";\s*charset\s*=\s*[\"']?([A-Za-z0-9_.:+-]{1,40})", re.IGNORECASE)


def decode_header(raw: bytes) -> str:
    """Decode header bytes as UTF-8, or else as Latin-1, which never fails and can be encoded again."""
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return raw.decode("latin-1")


def restore_bytes(value: str) -> str:
    """Undo aiohttp's surrogate escapes for bytes that are not UTF-8, since surrogates cannot be encoded."""
    return value if value.isascii() else decode_header(value.encode("utf-8", "surrogateescape"))


def decode_headers(raw: Sequence[tuple[bytes, bytes]]) -> tuple[tuple[str, str], ...]:
    """Decode all headers; order, spelling and repetitions stay."""
    try:
        return tuple([(name.decode(), value.decode()) for name, value in raw])
    except UnicodeDecodeError:
        return tuple([(decode_header(name), decode_header(value)) for name, value in raw])


@lru_cache(maxsize=512)  # a site sends the same few again and again
def parse_content_type(content_type: str) -> tuple[str, str]:
    """Return the media type and the charset of a Content-Type header, in lower case, "" if missing."""
    content_type = restore_bytes(content_type)
    media = content_type.partition(";")[0].strip().lower()
    charset = _CHARSET.search(content_type)
    return media, charset[1].lower() if charset else ""


def redirect_target(status: int, location: str | None, url: str) -> str:
    """Return the normalised target of a redirect; "" if this is none or the target cannot be fetched."""
    if status not in _REDIRECTS or not location:
        return ""
    return normalise(restore_bytes(location), url)


def retry_after_seconds(value: str | None, now: float | None = None) -> float:
    """Return the seconds that a Retry-After header asks for, as a number or a date; 0 if it is not valid."""
    if not value:
        return 0.0
    try:
        seconds = float(int(value)) if value.strip().isdecimal() else _seconds_until(value, now)
    except (ValueError, TypeError, OverflowError):
        return 0.0
    return min(max(seconds, 0.0), MAX_WAIT_SECONDS)


def _seconds_until(date: str, now: float | None) -> float:
    return parsedate_to_datetime(date).timestamp() - (time.time() if now is None else now)
