"""Fetches again what was fetched before, so that a server sends a page only if it has changed."""

from __future__ import annotations

from collections.abc import Callable

from wayhound.archive.earlier import Earlier
from wayhound.archive.reader import ArchiveReader
from wayhound.errors import ArchiveError
from wayhound.fetched import Failed, Fetched
from wayhound.net.http import HttpFetcher
from wayhound.visit import ArchiveRef


class Refetcher:
    """Knows by `last_page` where a page was archived last.

    The body is read before the page is asked for: after a 304 it would be too late to find it missing.
    """

    def __init__(
        self, fetcher: HttpFetcher, reader: ArchiveReader, last_page: Callable[[str], ArchiveRef | None]
    ) -> None:
        self._fetcher = fetcher
        self._reader = reader
        self._last_page = last_page

    def earlier(self, url: str) -> Earlier | None:
        """The page as it was, if it is whole and would still be taken today."""
        place = self._last_page(url)
        if place is None:
            return None
        try:
            earlier = self._reader.recall(place)
        except ArchiveError:
            return None
        return earlier if earlier.first.status == 200 and self._fetcher.accepts(earlier.first) else None

    async def fetch(self, url: str, earlier: Earlier) -> Fetched | Failed:
        """The page, or a 304 if it is still the `earlier` one."""
        return await self._fetcher.fetch(url, earlier.conditions)
