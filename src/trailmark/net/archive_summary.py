"""What an archive holds, counted: for listings, and to see at a glance that a recording is whole."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from trailmark.net.archive_index import Held, hosts_of, index_archive, warc_files
from trailmark.net.site_folder import META_NAME, SiteFolder

Key = TypeVar("Key", int, str)


@dataclass(frozen=True, slots=True)
class Summary:
    """Counts over the URLs of an archive. `start` and `labels` are those of a site folder, else empty.

    `unlabelled` counts pages without a label; `not_held` are labelled URLs that the archive does not hold.
    """

    path: Path
    start: str
    urls: int
    pages: int
    redirects: int
    packed_bytes: int
    statuses: dict[int, int]
    content_types: dict[str, int]
    labels: dict[str, int]
    unlabelled: int
    not_held: tuple[str, ...]
    hosts: tuple[str, ...]
    first_at: float
    last_at: float


def describe(path: Path) -> Summary:
    """Count a site folder, a WARC file, or a folder of WARC files."""
    if (path / META_NAME).is_file():
        folder = SiteFolder.open(path)
        return _summary(path, folder.held, folder.labels, folder.site.start)
    return _summary(path, index_archive(warc_files(path)), {}, "")


def _summary(path: Path, held: Mapping[str, Held], labels: Mapping[str, str], start: str) -> Summary:
    pages = [each for each in held.values() if each.is_page]
    times = [each.at for each in held.values()]
    return Summary(
        path=path,
        start=start,
        urls=len(held),
        pages=len(pages),
        redirects=sum(each.is_redirect for each in held.values()),
        packed_bytes=sum(file.stat().st_size for file in warc_files(path)),
        statuses=_counts(each.status for each in held.values()),
        content_types=_counts(each.content_type for each in pages),
        labels=_counts(label for url, label in labels.items() if url in held),
        unlabelled=sum(each.url not in labels for each in pages),
        not_held=tuple(url for url in labels if url not in held),
        hosts=hosts_of(held),
        first_at=min(times, default=0.0),
        last_at=max(times, default=0.0),
    )


def _counts(values: Iterable[Key]) -> dict[Key, int]:
    """How often each value comes, the most frequent first."""
    return dict(Counter(values).most_common())
