"""Asks for a page that was fetched before so that the server sends it only if it has changed (RFC 9110, section 13)."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Protocol

from wayhound.archive.warc import Original
from wayhound.errors import ArchiveError
from wayhound.fetched import Failed, Fetched
from wayhound.visit import ArchiveRef

if TYPE_CHECKING:
    from wayhound.archive.reader import ArchiveReader

Headers = tuple[tuple[str, str], ...]

NOT_MODIFIED = 304
MAX_VALIDATOR_CHARS = 500

# With its quotes, as RFC 9110, section 8.8.3 has it: a bare `*` would match whatever the page becomes.
_ENTITY_TAG = re.compile(r'(?:W/)?"[!#-~]*"')
# The tag that Apache gives to a page it compresses. It compresses after it has compared tags, so by this tag alone it
# would never find a page unchanged; by the tag before compression it does.
_TAG_OF_COMPRESSED = re.compile(r'((?:W/)?"[!#-~]+)-(?:gzip|br|deflate)"')
_PRINTABLE = re.compile(r"[ -~]+")


@dataclass(frozen=True, slots=True)
class CachedPage:
    """A page as the archive holds it.

    `response` is the last one that brought the body, and `record` is where it stands; `body` is the record that holds
    the body, which is another one if that had been stored before, and `digest` is the body's. `conditions` are the
    headers that ask for the page only if it has changed since the server last answered for it.
    """

    response: Fetched
    record: Original
    body: Original
    digest: bytes
    conditions: Headers

    def is_confirmed_by(self, answer: Fetched) -> bool:
        """Return True if the server says that the page has not changed. An unasked 304 does not count."""
        return answer.status == NOT_MODIFIED and bool(self.conditions)

    def resolve(self, answer: Fetched | Failed) -> Fetched | Failed:
        """Return this page with the new headers if the answer confirms it, else the answer itself."""
        if isinstance(answer, Fetched) and self.is_confirmed_by(answer):
            return confirmed(self.response, answer)
        return answer


class ConditionalFetcher(Protocol):
    """A fetcher that can ask for a page only if it has changed."""

    async def fetch(self, url: str, conditions: Headers = ()) -> Fetched | Failed: ...

    def accepts(self, fetched: Fetched) -> bool: ...


class Revalidator:
    """Fetches pages again. `last_page` returns where a page was archived last."""

    def __init__(
        self,
        fetcher: ConditionalFetcher,
        reader: ArchiveReader,
        last_page: Callable[[str], ArchiveRef | None],
    ) -> None:
        self._fetcher = fetcher
        self._reader = reader
        self._last_page = last_page

    def cached(self, url: str) -> CachedPage | None:
        """Return the page as it was, if it is whole and the fetcher would still accept it.

        The body is read before the page is asked for: after a 304 it would be too late to find it missing.
        """
        ref = self._last_page(url)
        if ref is None:
            return None
        try:
            cached = self._reader.cached_page(ref)
        except ArchiveError:
            return None
        return cached if cached.response.status == 200 and self._fetcher.accepts(cached.response) else None

    async def fetch(self, url: str, cached: CachedPage) -> Fetched | Failed:
        """Return the page, or a 304 if it is still the `cached` one."""
        return await self._fetcher.fetch(url, cached.conditions)


def conditions_of(headers: Headers) -> Headers:
    """Return If-None-Match and If-Modified-Since by the validators of a response; none if it has no usable ones."""
    by_name = {name.lower(): value.strip() for name, value in reversed(headers)}  # of several the first
    conditions = []
    if _is_tag(tag := by_name.get("etag", "")):
        compressed = _TAG_OF_COMPRESSED.fullmatch(tag)
        conditions.append(("If-None-Match", f'{tag}, {compressed[1]}"' if compressed else tag))
    if _is_date(date := by_name.get("last-modified", "")):
        conditions.append(("If-Modified-Since", date))
    return tuple(conditions)


def confirmed(first: Fetched, answer: Fetched) -> Fetched:
    """Return `first` updated by a 304: its headers replace older ones, except those about the body.

    The body did not come with it (RFC 9111, section 3.2).
    """
    new = tuple([(name, value) for name, value in answer.headers if not _is_about_body(name)])
    renewed = {name.lower() for name, _ in new}
    kept = tuple([(name, value) for name, value in first.headers if name.lower() not in renewed])
    return replace(first, headers=kept + new, ip=answer.ip, wait_seconds=answer.wait_seconds)


def _is_about_body(name: str) -> bool:
    return name.lower().startswith(("content-", "transfer-encoding"))


def _is_tag(value: str) -> bool:
    return len(value) <= MAX_VALIDATOR_CHARS and _ENTITY_TAG.fullmatch(value) is not None


def _is_date(value: str) -> bool:
    if len(value) > MAX_VALIDATOR_CHARS or not _PRINTABLE.fullmatch(value):
        return False
    try:
        parsedate_to_datetime(value)
    except (ValueError, TypeError, OverflowError):
        return False
    return True
