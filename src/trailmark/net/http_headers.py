"""Reads the response headers that a crawler acts on; all of them are whatever a stranger sent."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from email.utils import parsedate_to_datetime
from functools import lru_cache

from trailmark.url import normalise

MAX_WAIT_SECONDS = 3600.0
"""A host that asks for more than an hour is asked again after an hour."""

_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_CHARSET = re.compile(r";\s*charset\s*=\s*[\"']?([A-Za-z0-9_.:+-]{1,40})", re.IGNORECASE)


def as_text(raw: bytes) -> str:
    """Header bytes as UTF-8 where they are that, else as Latin-1, so that they can be written again."""
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return raw.decode("latin-1")


def readable(value: str) -> str:
    """Undoes aiohttp's hiding of bytes that are not UTF-8 in lone surrogates, which cannot be written."""
    return value if value.isascii() else as_text(value.encode("utf-8", "surrogateescape"))


def all_headers(raw: Sequence[tuple[bytes, bytes]]) -> tuple[tuple[str, str], ...]:
    """Every header as it was sent: in its order, its spelling and as often as it came."""
    try:
        return tuple([(name.decode(), value.decode()) for name, value in raw])
    except UnicodeDecodeError:
        return tuple([(as_text(name), as_text(value)) for name, value in raw])


@lru_cache(maxsize=512)  # a site sends the same few over and over
def media_type(content_type: str) -> tuple[str, str]:
    """Media type and charset of a Content-Type header, both in lower case and "" where there is none."""
    content_type = readable(content_type)
    media = content_type.partition(";")[0].strip().lower()
    charset = _CHARSET.search(content_type)
    return media, charset[1].lower() if charset else ""


def redirect_target(status: int, location: str | None, url: str) -> str:
    """Where a redirect leads, in normal form; "" when this is none or leads nowhere that can be fetched."""
    if status not in _REDIRECTS or not location:
        return ""
    return normalise(readable(location), url)


def retry_after(value: str | None, now: float | None = None) -> float:
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
