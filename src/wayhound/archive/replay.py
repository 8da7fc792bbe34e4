"""Serves recorded sites through the same interface as the network. What is not archived does not exist."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, KeysView, Mapping
from pathlib import Path

from wayhound.archive.index import Held, hosts_of, index_archive, warc_files
from wayhound.archive.site_folder import SiteFolder
from wayhound.fetched import Failed, Fetched
from wayhound.url import normalise

CACHE_BYTES = 32 << 20
"""Bodies kept in memory, the latest first."""


class ReplayFetcher:
    """A `Fetcher` over a site folder, a WARC file, a folder of them, or several of these.

    Where every response stands is read at once, the bodies when they are asked for. The same question always
    gets the same answer.
    """

    def __init__(self, source: SiteFolder | Path | Iterable[Path]) -> None:
        self._held = _index(source)
        self._cache: OrderedDict[str, Fetched] = OrderedDict()
        self._cached_bytes = 0

    async def fetch(self, url: str) -> Fetched | Failed:
        return self.get(url)

    def get(self, url: str) -> Fetched | Failed:
        held = self._find(url)
        if held is None:
            return Failed(url, "not_archived", sent=False)
        cached = self._cache.get(held.url)
        if cached is None:
            return self._keep(held.load())
        self._cache.move_to_end(held.url)
        return cached

    def __contains__(self, url: object) -> bool:
        return isinstance(url, str) and self._find(url) is not None

    def __len__(self) -> int:
        return len(self._held)

    def urls(self) -> KeysView[str]:
        """All that is held, in normal form and in the order of the archive."""
        return self._held.keys()

    def hosts(self) -> tuple[str, ...]:
        return hosts_of(self._held)

    def _find(self, url: str) -> Held | None:
        return self._held.get(url) or self._held.get(normalise(url))

    def _keep(self, fetched: Fetched) -> Fetched:
        self._cache[fetched.url] = fetched
        self._cached_bytes += len(fetched.body)
        while self._cached_bytes > CACHE_BYTES:
            _, oldest = self._cache.popitem(last=False)
            self._cached_bytes -= len(oldest.body)
        return fetched


def _index(source: SiteFolder | Path | Iterable[Path]) -> Mapping[str, Held]:
    if isinstance(source, SiteFolder):
        return source.held
    paths = [source] if isinstance(source, Path) else source
    return index_archive(file for path in paths for file in warc_files(path))
