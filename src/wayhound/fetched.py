"""Reads the response headers that a crawler acts on; all of them are whatever a stranger sent."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from functools import lru_cache
from typing import Literal, Protocol

from wayhound.url import normalise

FailureReason = Literal[
    "bad_url",  # not a URL that can be fetched
    "robots",  # robots.txt says no
    "robots_unreachable",  # robots.txt could not be had, which forbids all (RFC 9309, 2.3.1.4)
    "out_of_scope",  # outside the site
    "private_address",  # loopback, private, link-local or otherwise not public
    "dns",
    "connect",
    "tls",
    "timeout",
    "reset",  # the connection broke before the body was complete
    "too_big",
    "bad_response",  # not HTTP, or a body that does not decode
    "content_type",  # not a kind of content that was asked for
    "redirect_limit",
    "not_archived",  # replay only: the closed world does not hold it
]

TRANSIENT_FAILURES: frozenset[FailureReason] = frozenset(
    {"dns", "connect", "timeout", "reset", "robots_unreachable"}
)
"""Failures that may be gone at the next try."""


@dataclass(frozen=True, slots=True)
class Fetched:
    """A response, whatever its status. Redirects are not followed: a 3xx comes back with `location`."""

    url: str
    status: int
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes = b""
    content_type: str = ""  # media type alone, lower case: text/html
    charset: str = ""  # as the header names it, lower case
    location: str = ""  # absolute target of a redirect, in normal form
    reason_phrase: str = ""
    ip: str = ""
    wait_seconds: float = 0.0  # what the host asks for before the next request: Crawl-delay, Retry-After

    @property
    def ok(self) -> bool:
        return 200 <= self.status < 300

    @property
    def robots_tag(self) -> str:
        """What the response asks of robots: the values of its X-Robots-Tag headers, a line each."""
        return "\n".join([value for name, value in self.headers if name.lower() == "x-robots-tag"])

    @property
    def outcome(self) -> str:
        """The reason code of this response: `ok`, `redirect` or `http_404`."""
        if self.ok:
            return "ok"
        return "redirect" if self.location else f"http_{self.status}"


@dataclass(frozen=True, slots=True)
class Failed:
    """No response, and why. `sent` tells whether a request for the page went out at all."""

    url: str
    reason: FailureReason
    detail: str = ""
    sent: bool = True
    wait_seconds: float = 0.0

    @property
    def outcome(self) -> str:
        return self.reason


class Fetcher(Protocol):
    """The seam between deciding and the network. The only place where tests may put a fake."""

    async def fetch(self, url: str) -> Fetched | Failed: ...


MAX_WAIT_SECONDS = 3600.0
"""A host that asks for more than an hour is asked again after an hour."""

_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_CHARSET = re.compile(r";\s*charset\s*=\s*[\"']?([A-Za-z0-9_.:+-]{1,40})", re.IGNORECASE)


def decode_header(raw: bytes) -> str:
    """Header bytes as UTF-8 where they are that, else as Latin-1, so that they can be written again."""
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return raw.decode("latin-1")


def restore_bytes(value: str) -> str:
    """Undoes aiohttp's hiding of bytes that are not UTF-8 in lone surrogates, which cannot be written."""
    return value if value.isascii() else decode_header(value.encode("utf-8", "surrogateescape"))


def decode_headers(raw: Sequence[tuple[bytes, bytes]]) -> tuple[tuple[str, str], ...]:
    """Every header as it was sent: in its order, its spelling and as often as it came."""
    try:
        return tuple([(name.decode(), value.decode()) for name, value in raw])
    except UnicodeDecodeError:
        return tuple([(decode_header(name), decode_header(value)) for name, value in raw])


@lru_cache(maxsize=512)  # a site sends the same few over and over
def parse_content_type(content_type: str) -> tuple[str, str]:
    """Media type and charset of a Content-Type header, both in lower case and "" where there is none."""
    content_type = restore_bytes(content_type)
    media = content_type.partition(";")[0].strip().lower()
    charset = _CHARSET.search(content_type)
    return media, charset[1].lower() if charset else ""


def redirect_target(status: int, location: str | None, url: str) -> str:
    """Where a redirect leads, in normal form; "" when this is none or leads nowhere that can be fetched."""
    if status not in _REDIRECTS or not location:
        return ""
    return normalise(restore_bytes(location), url)


def retry_after_seconds(value: str | None, now: float | None = None) -> float:
    """Seconds that a Retry-After header asks for, as a number or by a date; 0 when it makes no sense."""
    if not value:
        return 0.0
    try:
        seconds = float(int(value)) if value.strip().isdecimal() else _seconds_until(value, now)
    except (ValueError, TypeError, OverflowError):
        return 0.0
    return min(max(seconds, 0.0), MAX_WAIT_SECONDS)


def _seconds_until(date: str, now: float | None) -> float:
    return parsedate_to_datetime(date).timestamp() - (time.time() if now is None else now)
