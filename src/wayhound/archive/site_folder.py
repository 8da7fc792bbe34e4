"""Site folders: a recorded site as a WARC file, its start page and its labels; and summaries of archives."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wayhound import __version__
from wayhound.archive.replay import ArchivedResponse, hosts_of, index_archive, warc_files
from wayhound.archive.warc import archived_url, info_record, new_record_id, response_record, sha1_digest
from wayhound.errors import ArchiveError
from wayhound.fetched import Fetched
from wayhound.site import Site

WARC_NAME = "site.warc.gz"
META_NAME = "site.json"
LABELS_NAME = "labels.tsv"

_LABELS_HEAD = "url\tlabel"


@dataclass(frozen=True, slots=True)
class SiteFolder:
    """A recorded site. The keys of `labels` and `responses` are URLs in normal form; `meta` is `site.json`.

    Every host of the archive counts as inside the site: the archive is a closed world, and its content was chosen.
    """

    path: Path
    site: Site
    labels: dict[str, str]
    meta: dict[str, Any]
    responses: dict[str, ArchivedResponse]

    @property
    def name(self) -> str:
        return str(self.meta.get("name") or self.path.name)

    @property
    def pages(self) -> list[str]:
        """The URLs that return a page, and not a redirect or an error."""
        return [url for url, response in self.responses.items() if response.is_page]

    @classmethod
    def open(cls, path: Path) -> SiteFolder:
        """Read the folder without the bodies. Raises ArchiveError if a part is missing or damaged."""
        _check_parts(path)
        meta = _read_meta(path / META_NAME)
        labels = _read_labels(path / LABELS_NAME)
        responses = index_archive([path / WARC_NAME])
        start = archived_url(meta["start"])
        if start not in responses:
            raise ArchiveError(f"{path / WARC_NAME} does not hold the start page {start}.")
        return cls(path, Site(start, hosts_of(responses)), labels, meta, responses)


def find_site_folders(path: Path) -> list[Path]:
    """Return the folder itself if it is a site folder, else all below it at any depth, sorted.

    Raises ArchiveError if there is no such folder.
    """
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
    """Write a site folder to `out`, which must not exist: all of it or nothing.

    `responses` come with their times. `provenance` is added to `site.json`: at least `source` and `labels_by`, and
    whatever else is known, such as how many pages can be reached. Raises ArchiveError if it cannot be written.
    """
    if out.exists():
        raise ArchiveError(f"{out} exists already; choose another folder or delete it.")
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        partial = Path(tempfile.mkdtemp(prefix=f".{out.name}-", dir=out.parent))
        try:
            _write_warc(partial / WARC_NAME, responses)
            _write_meta(partial, {"name": out.name, "start": start}, labels, provenance)
            _write_labels(partial / LABELS_NAME, labels)
            partial.chmod(0o755)  # mkdtemp makes it private
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
        raise ArchiveError(f"{path} is not a complete site folder: it has no {' and no '.join(missing)}.")


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
        raise ArchiveError(f"{path} does not name the start page of the site (`start`).")
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
                raise ArchiveError(
                    f"{path}, line {number}: {url} has the label {labels[url]} on an earlier line."
                )
    return labels


def _read_label(path: Path, number: int, line: str) -> tuple[str, str]:
    url, _, label = line.rstrip("\r").partition("\t")
    if not url or not label.strip() or "\t" in label:
        raise ArchiveError(f"{path}, line {number}: expected a URL, a tab and a label.")
    return archived_url(url), label.strip()


def _write_meta(
    folder: Path, head: Mapping[str, str], labels: Mapping[str, str], provenance: Mapping[str, object]
) -> None:
    responses = index_archive([folder / WARC_NAME])
    if archived_url(head["start"]) not in responses:
        raise ArchiveError(
            f"The start page {head['start']} is not among the responses to write to {head['name']}."
        )
    meta = {
        **head,
        "pages": sum(response.is_page for response in responses.values()),
        "redirects": sum(response.is_redirect for response in responses.values()),
        "labels": {label: {"pages": pages} for label, pages in sorted(Counter(labels.values()).items())},
    }
    text = json.dumps({**meta, **provenance}, indent=1, ensure_ascii=False)
    (folder / META_NAME).write_text(text + "\n", encoding="utf-8")


def _write_labels(path: Path, labels: Mapping[str, str]) -> None:
    rows = [_LABELS_HEAD, *(_label_row(url, label) for url, label in sorted(labels.items()))]
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")


def _label_row(url: str, label: str) -> str:
    if not label.isprintable() or not label.strip():
        raise ArchiveError(
            f"{label!r} cannot be written as the label of {url}: use one or more words on one line."
        )
    return f"{url}\t{label}"


def _write_warc(path: Path, responses: Iterable[tuple[Fetched, float]]) -> None:
    """Write complete responses only, no requests and no revisits, so that every tool can read the folder."""
    with path.open("wb") as file:
        is_empty = True
        for fetched, at in responses:
            if is_empty:
                file.write(info_record(path.name, f"wayhound/{__version__}", at))
                is_empty = False
            file.write(response_record(fetched, at, sha1_digest(fetched.body), new_record_id()))


@dataclass(frozen=True, slots=True)
class ArchiveSummary:
    """Counts over the URLs of an archive. `start` and `labels` are those of a site folder, else empty.

    `unlabelled` counts pages without a label; URLs with a label that the archive does not hold are left out.
    """

    path: Path
    start: str
    urls: int
    pages: int
    redirects: int
    packed_bytes: int
    content_types: dict[str, int]
    labels: dict[str, int]
    unlabelled: int
    hosts: tuple[str, ...]


def summarise(path: Path) -> ArchiveSummary:
    """Count what a site folder, a WARC file or a folder of WARC files holds."""
    if (path / META_NAME).is_file():
        folder = SiteFolder.open(path)
        return _summary(path, folder.responses, folder.labels, folder.site.start)
    return _summary(path, index_archive(warc_files(path)), {}, "")


def _summary(
    path: Path, responses: Mapping[str, ArchivedResponse], labels: Mapping[str, str], start: str
) -> ArchiveSummary:
    pages = [response for response in responses.values() if response.is_page]
    return ArchiveSummary(
        path=path,
        start=start,
        urls=len(responses),
        pages=len(pages),
        redirects=sum(response.is_redirect for response in responses.values()),
        packed_bytes=sum(file.stat().st_size for file in warc_files(path)),
        content_types=_counts(page.content_type for page in pages),
        labels=_counts(label for url, label in labels.items() if url in responses),
        unlabelled=sum(page.url not in labels for page in pages),
        hosts=hosts_of(responses),
    )


def _counts(values: Iterable[str]) -> dict[str, int]:
    """Count values, the most frequent first."""
    return dict(Counter(values).most_common())
