"""What an archive holds, counted: for listings, and to see at a glance that a recording is whole."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from wayhound import __version__
from wayhound.archive.index import Held, hosts_of, index_archive, warc_files
from wayhound.archive.warc_read import archived_url
from wayhound.archive.warc_write import info_record, new_record_id, response_record, sha1_digest
from wayhound.errors import ArchiveError
from wayhound.fetched import Fetched
from wayhound.site import Site

WARC_NAME = "site.warc.gz"
META_NAME = "site.json"
LABELS_NAME = "labels.tsv"

_LABELS_HEAD = "url\tlabel"


@dataclass(frozen=True, slots=True)
class SiteFolder:
    """A recorded site. `labels` and `held` have URLs in normal form as keys; `meta` is all of `site.json`.

    Every host of the archive counts as inside: the archive is a closed world, and what it holds was chosen.
    """

    path: Path
    site: Site
    labels: dict[str, str]
    meta: dict[str, Any]
    held: dict[str, Held]

    @property
    def warc_path(self) -> Path:
        return self.path / WARC_NAME

    @property
    def name(self) -> str:
        return str(self.meta.get("name") or self.path.name)

    @property
    def pages(self) -> list[str]:
        """The URLs that answer with a page, and not with a redirect or an error."""
        return [url for url, held in self.held.items() if held.is_page]

    @classmethod
    def open(cls, path: Path) -> SiteFolder:
        """Read the folder, all but the bodies. Raises `ArchiveError` when a part is missing or damaged."""
        _check_parts(path)
        meta = _read_meta(path / META_NAME)
        labels = _read_labels(path / LABELS_NAME)
        held = index_archive([path / WARC_NAME])
        start = archived_url(meta["start"])
        if start not in held:
            raise ArchiveError(f"{path / WARC_NAME} does not hold the start page {start}.")
        return cls(path, Site(start, hosts_of(held)), labels, meta, held)


def find_site_folders(path: Path) -> list[Path]:
    """The folder itself if it is a site folder, else all below it at any depth, by name."""
    if not path.is_dir():
        raise ArchiveError(f"There is no folder at {path}.")
    return sorted(_walk(path))


def write_site_folder(
    out: Path,
    start: str,
    responses: Iterable[tuple[Fetched, float]],
    labels: Mapping[str, str],
    provenance: Mapping[str, object],
) -> SiteFolder:
    """Write a site folder to `out`, which must not exist: whole, or not at all.

    `responses` come with their times. `provenance` is added to `site.json`: `source` and `labels_by` at the
    least, and whatever else is known, such as how many pages can be reached.
    """
    if out.exists():
        raise ArchiveError(f"{out} exists already; choose another folder or take it away.")
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        partial = Path(tempfile.mkdtemp(prefix=f".{out.name}-", dir=out.parent))
        try:
            _write_parts(partial, out.name, start, responses, labels, provenance)
            partial.chmod(0o755)  # mkdtemp lets nobody else in
            partial.rename(out)
        finally:
            shutil.rmtree(partial, ignore_errors=True)
    except OSError as error:
        raise ArchiveError(f"{out} cannot be written: {(error.strerror or str(error)).lower()}.") from error
    return SiteFolder.open(out)


def _check_parts(path: Path) -> None:
    if not path.is_dir():
        raise ArchiveError(f"There is no folder at {path}.")
    missing = [name for name in (META_NAME, LABELS_NAME, WARC_NAME) if not (path / name).is_file()]
    if missing:
        raise ArchiveError(f"{path} is not a whole site folder: it has no {' and no '.join(missing)}.")


def _walk(path: Path) -> Iterator[Path]:
    for folder, below, files in os.walk(path):
        if META_NAME in files:
            below.clear()
            yield Path(folder)


def _read_text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise ArchiveError(f"{path} cannot be read: {(error.strerror or str(error)).lower()}.") from error
    except UnicodeDecodeError as error:
        raise ArchiveError(f"{path} is not UTF-8 text (byte {error.start}).") from error


def _read_meta(path: Path) -> dict[str, Any]:
    try:
        meta = json.loads(_read_text(path))
    except (json.JSONDecodeError, RecursionError) as error:
        raise ArchiveError(f"{path} is not JSON: {error}.") from error
    if not isinstance(meta, dict) or not isinstance(meta.get("start"), str):
        raise ArchiveError(f"{path} does not name the page where the site starts (`start`).")
    return meta


def _read_labels(path: Path) -> dict[str, str]:
    lines = _read_text(path).split("\n")
    if lines[0].rstrip("\r") != _LABELS_HEAD:
        raise ArchiveError(f"{path} does not begin with the line `url`, tab, `label`.")
    labels: dict[str, str] = {}
    for number, line in enumerate(lines[1:], start=2):
        if line.strip():
            url, label = _read_label(path, number, line)
            if labels.setdefault(url, label) != label:
                raise ArchiveError(f"{path}, line {number}: {url} is labelled {labels[url]} before.")
    return labels


def _read_label(path: Path, number: int, line: str) -> tuple[str, str]:
    url, _, label = line.rstrip("\r").partition("\t")
    if not url or not label.strip() or "\t" in label:
        raise ArchiveError(f"{path}, line {number}: there should be a URL, a tab and a label.")
    return archived_url(url), label.strip()


def _write_parts(
    folder: Path,
    name: str,
    start: str,
    responses: Iterable[tuple[Fetched, float]],
    labels: Mapping[str, str],
    provenance: Mapping[str, object],
) -> None:
    _write_warc(folder / WARC_NAME, responses)
    held = index_archive([folder / WARC_NAME])
    if archived_url(start) not in held:
        raise ArchiveError(f"The start page {start} is not among the responses to write to {name}.")
    meta = {
        "name": name,
        "start": start,
        "pages": sum(each.is_page for each in held.values()),
        "redirects": sum(each.is_redirect for each in held.values()),
        "labels": {label: {"pages": pages} for label, pages in sorted(Counter(labels.values()).items())},
    }
    text = json.dumps({**meta, **provenance}, indent=1, ensure_ascii=False)
    (folder / META_NAME).write_text(text + "\n", encoding="utf-8")
    rows = [_LABELS_HEAD, *(_label_row(url, label) for url, label in sorted(labels.items()))]
    (folder / LABELS_NAME).write_text("\n".join(rows) + "\n", encoding="utf-8")


def _label_row(url: str, label: str) -> str:
    if not label.isprintable() or not label.strip():
        raise ArchiveError(
            f"{label!r} is no label that can be written for {url}: it must be a word or a few."
        )
    return f"{url}\t{label}"


def _write_warc(path: Path, responses: Iterable[tuple[Fetched, float]]) -> None:
    """Whole responses alone, so that every tool can read the folder: no requests, no revisits."""
    with path.open("wb") as file:
        begun = False
        for fetched, at in responses:
            if not begun:
                file.write(info_record(path.name, f"wayhound/{__version__}", at))
                begun = True
            file.write(response_record(fetched, at, sha1_digest(fetched.body), new_record_id()))


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
