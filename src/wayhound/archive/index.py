"""Which URLs an archive holds, and where: what replay, evaluation and listings stand on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from wayhound.archive.reader import Place, StoredResponse, stored_response_at, stored_responses
from wayhound.errors import ArchiveError
from wayhound.fetched import Fetched, parse_content_type, redirect_target
from wayhound.url import host_of


@dataclass(frozen=True, slots=True)
class Held:
    """A response that an archive holds, without its body. `body` is set for a revisit: where that is."""

    url: str
    path: Path
    offset: int
    length: int
    status: int
    content_type: str
    location: str
    at: float
    body: Place | None = None

    @property
    def is_page(self) -> bool:
        return 200 <= self.status < 300

    @property
    def is_redirect(self) -> bool:
        return bool(self.location)

    def load(self) -> Fetched:
        return stored_response_at(self.path, self.offset, self.body).load()


def index_archive(paths: Iterable[Path]) -> dict[str, Held]:
    """The response to serve for each URL, in the order of the archive.

    Of several responses to one URL a page goes before a redirect, that before an error, and a later one
    before an earlier one. Two spellings may have one normal form, so that an old redirect between them would
    lead to itself; it counts as an error.
    """
    best: dict[str, Held] = {}
    for held in responses_in(paths):
        known = best.get(held.url)
        if known is None or _rank(held) >= _rank(known):
            best[held.url] = held
    return best


def responses_in(paths: Iterable[Path]) -> Iterator[Held]:
    """All responses of some WARC files, also those that are revisits of a body in any of them."""
    bodies: dict[str, Place] = {}
    for path in paths:
        yield from map(_held, stored_responses(path, bodies))


def hosts_of(urls: Iterable[str]) -> tuple[str, ...]:
    """The hosts of some URLs, by name."""
    return tuple(sorted({host for url in urls if (host := host_of(url))}))


def warc_files(path: Path) -> list[Path]:
    """A WARC file itself, or those of a folder by name."""
    if path.is_dir():
        found = [each for each in path.iterdir() if each.name.endswith((".warc", ".warc.gz"))]
        if found:
            return sorted(found)
        raise ArchiveError(f"{path} holds no WARC file.")
    if path.is_file():
        return [path]
    raise ArchiveError(f"There is no archive at {path}.")


def _held(stored: StoredResponse) -> Held:
    record = stored.record
    head = stored.confirmed_response().head if stored.is_not_modified else stored.head
    url = record.url
    return Held(
        url=url,
        path=stored.path,
        offset=record.offset,
        length=record.length,
        status=head.status,
        content_type=parse_content_type(head.first("content-type"))[0],
        location=redirect_target(head.status, head.first("location"), url),
        at=record.at,
        body=stored.place,
    )


def _rank(held: Held) -> tuple[int, float]:
    if held.is_page:
        return 2, held.at
    return int(held.is_redirect and held.location != held.url), held.at
