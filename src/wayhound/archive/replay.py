"""Serves recorded sites through the same interface as the network. What is not archived does not exist."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator, KeysView, Mapping
from dataclasses import dataclass
from pathlib import Path

from wayhound.archive.reader import Position, StoredResponse, stored_response_at, stored_responses
from wayhound.errors import ArchiveError
from wayhound.fetched import Failed, Fetched, parse_content_type, redirect_target
from wayhound.url import host_of, normalise

CACHE_BYTES = 32 << 20
"""Bodies kept in memory, the latest first."""


@dataclass(frozen=True, slots=True)
class ArchivedResponse:
    """A response in an archive, without its body. `body_at` is set for a revisit: where the body is."""

    url: str
    path: Path
    offset: int
    length: int
    status: int
    content_type: str
    location: str
    at: float
    body_at: Position | None = None

    @property
    def is_page(self) -> bool:
        return 200 <= self.status < 300

    @property
    def is_redirect(self) -> bool:
        return bool(self.location)

    def load(self) -> Fetched:
        return stored_response_at(self.path, self.offset, self.body_at).load()


class ReplayFetcher:
    """A `Fetcher` over WARC files, folders of them, or an index that was made before.

    The positions of all responses are read at once, the bodies when they are asked for. The same request always gets
    the same answer.
    """

    def __init__(self, source: Mapping[str, ArchivedResponse] | Path | Iterable[Path]) -> None:
        self._responses = _index(source)
        self._cache: OrderedDict[str, Fetched] = OrderedDict()
        self._cached_bytes = 0

    async def fetch(self, url: str) -> Fetched | Failed:
        return self.get(url)

    def get(self, url: str) -> Fetched | Failed:
        response = self._find(url)
        if response is None:
            return Failed(url, "not_archived", sent=False)
        cached = self._cache.get(response.url)
        if cached is None:
            return self._keep(response.load())
        self._cache.move_to_end(response.url)
        return cached

    def __contains__(self, url: object) -> bool:
        return isinstance(url, str) and self._find(url) is not None

    def __len__(self) -> int:
        return len(self._responses)

    def urls(self) -> KeysView[str]:
        """Return all URLs in normal form, in the order of the archive."""
        return self._responses.keys()

    def hosts(self) -> tuple[str, ...]:
        return hosts_of(self._responses)

    def _find(self, url: str) -> ArchivedResponse | None:
        return self._responses.get(url) or self._responses.get(normalise(url))

    def _keep(self, fetched: Fetched) -> Fetched:
        self._cache[fetched.url] = fetched
        self._cached_bytes += len(fetched.body)
        while self._cached_bytes > CACHE_BYTES:
            _, oldest = self._cache.popitem(last=False)
            self._cached_bytes -= len(oldest.body)
        return fetched


def _index(source: Mapping[str, ArchivedResponse] | Path | Iterable[Path]) -> Mapping[str, ArchivedResponse]:
    if isinstance(source, Mapping):
        return source
    paths = [source] if isinstance(source, Path) else source
    return index_archive(file for path in paths for file in warc_files(path))


def index_archive(paths: Iterable[Path]) -> dict[str, ArchivedResponse]:
    """Return the response to serve for each URL, in the order of the archive.

    If a URL has several, a page is preferred to a redirect, a redirect to an error, and a later response to an earlier
    one. Two spellings may have one normal form, so that an old redirect between them would lead to itself: it counts as
    an error.
    """
    best: dict[str, ArchivedResponse] = {}
    for response in responses_in(paths):
        other = best.get(response.url)
        if other is None or _rank(response) >= _rank(other):
            best[response.url] = response
    return best


def responses_in(paths: Iterable[Path]) -> Iterator[ArchivedResponse]:
    """Yield all responses of some WARC files, including revisits of a body in any of them."""
    bodies: dict[str, Position] = {}
    for path in paths:
        yield from map(_archived, stored_responses(path, bodies))


def hosts_of(urls: Iterable[str]) -> tuple[str, ...]:
    """Return the hosts of some URLs, sorted."""
    return tuple(sorted({host for url in urls if (host := host_of(url))}))


def warc_files(path: Path) -> list[Path]:
    """Return a WARC file itself, or those of a folder by name. Raises ArchiveError if there are none."""
    if path.is_dir():
        files = [file for file in path.iterdir() if file.name.endswith((".warc", ".warc.gz"))]
        if files:
            return sorted(files)
        raise ArchiveError(f"{path} holds no WARC file.")
    if path.is_file():
        return [path]
    raise ArchiveError(f"There is no archive at {path}.")


def _archived(stored: StoredResponse) -> ArchivedResponse:
    record = stored.record
    head = stored.confirmed_response().head if stored.is_not_modified else stored.head
    url = record.url
    return ArchivedResponse(
        url=url,
        path=stored.path,
        offset=record.offset,
        length=record.length,
        status=head.status,
        content_type=parse_content_type(head.first("content-type"))[0],
        location=redirect_target(head.status, head.first("location"), url),
        at=record.at,
        body_at=stored.body_at,
    )


def _rank(response: ArchivedResponse) -> tuple[int, float]:
    if response.is_page:
        return 2, response.at
    return int(response.is_redirect and response.location != response.url), response.at
