"""Files taken up into a workspace: from folders, or from what a forage fetched; each once."""

from __future__ import annotations

import hashlib
import mimetypes
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal
from urllib.parse import unquote

from wayhound.app.papers.library import DOCUMENT, PAPER, WITHHELD, PaperLibrary
from wayhound.app.papers.reading import Reading, read_all
from wayhound.archive.archive import ArchiveWriter
from wayhound.archive.repair import repair
from wayhound.documents.limits import DEFAULT_LIMITS
from wayhound.errors import ArchiveError, UsageError
from wayhound.fetched import Fetched
from wayhound.store.document_files import Source, StoredFile
from wayhound.visit import ArchiveRef

ENDINGS = (".pdf", ".ps", ".eps", ".txt", ".pdf.gz", ".ps.gz", ".txt.gz")
ID_LETTERS = 16

State = Literal["added", "known", "read again", "refused"]


@dataclass(frozen=True, slots=True)
class Incoming:
    """A file that may be taken up: its name, where it was found, how to get its bytes, where they are kept."""

    name: str
    source: Source
    load: Callable[[], bytes]
    archived: ArchiveRef | None = None
    content_type: str = ""


@dataclass(frozen=True, slots=True)
class Added:
    """What became of a file: `added` now, `known` from before, `read again`, or `refused` before reading.

    `outcome` is `paper`, `document` or a reason; `detail` the same as a sentence.
    """

    name: str
    state: State
    id: str
    outcome: str
    detail: str
    title: str = ""
    references: int = 0

    @property
    def has_text(self) -> bool:
        return self.outcome in {PAPER, DOCUMENT, WITHHELD}


def files_at(paths: Iterable[Path]) -> list[Path]:
    """The files that are named, and those in folders by their endings, in order of their names."""
    found: dict[Path, None] = {}
    for path in paths:
        found |= dict.fromkeys(_in_folder(path) if path.is_dir() else [path])
    if not found:
        raise UsageError(f"There are no files to read: folders are searched for {', '.join(ENDINGS)}.")
    return list(found)


def _in_folder(folder: Path) -> list[Path]:
    inside = (path for path in folder.rglob("*") if path.name.lower().endswith(ENDINGS) and path.is_file())
    return sorted(path for path in inside if not path.name.startswith("."))


def incoming_files(paths: Iterable[Path]) -> Iterator[Incoming]:
    for path in paths:
        kind = mimetypes.guess_type(path.name)[0] or "application/octet-stream"
        yield Incoming(path.name, Source(path.resolve().as_uri()), _file_loader(path), content_type=kind)


def incoming_from_forage(library: PaperLibrary, run_id: int | None) -> list[Incoming]:
    """What all forages or one fetched and nobody has read, with the way that led to it."""
    if run_id is not None:
        library.workspace.stores.forage.run(run_id)
    return [
        Incoming(
            _last_part(found.source.url),
            found.source,
            _archive_loader(library, found.archived),
            found.archived,
        )
        for found in library.files.found_by_forage(run_id)
    ]


def _file_loader(path: Path) -> Callable[[], bytes]:
    def load() -> bytes:
        if path.stat().st_size > DEFAULT_LIMITS.max_bytes:  # not even brought into memory
            raise _Refused(DEFAULT_LIMITS.too_big(path.stat().st_size).detail)
        return path.read_bytes()

    return load


def _archive_loader(library: PaperLibrary, archived: ArchiveRef) -> Callable[[], bytes]:
    return lambda: library.archive.read(archived).body


def _last_part(url: str) -> str:
    return unquote(url.split("?", maxsplit=1)[0].rstrip("/").rpartition("/")[2]) or url


class _Refused(Exception):  # noqa: N818
    """A file that is not even opened, and why."""


@dataclass(frozen=True, slots=True)
class _Job:
    """A file on its way: with bytes to be read, or known already, or refused."""

    incoming: Incoming
    id: str = ""
    body: bytes | None = None
    refusal: str = ""


class Intake:
    """Takes up files one by one; those that were taken up stay, whatever happens to the next."""

    def __init__(self, library: PaperLibrary, workers: int = 1) -> None:
        self.library = library
        self.workers = workers
        self._read_with = ""  # the models that read, though others may be taught meanwhile

    def add(self, incoming: Iterable[Incoming]) -> Generator[Added, None, None]:
        """What becomes of each file, in their order. May be left at any time and begun again."""
        workspace = self.library.workspace
        repair(workspace.archive_folder)
        self._read_with = self.library.models.digest()
        with workspace.archive_writer("papers") as writer:
            jobs = (
                (job, job.body, self._name_of(job), self.library.said_kind(job.id))
                for job in self._jobs(incoming)
            )
            for job, reading in read_all(jobs, workspace.models_folder, self.workers):
                yield self._take(job, reading, writer)

    def _jobs(self, incoming: Iterable[Incoming]) -> Iterator[_Job]:
        """Each file's bytes, once: what is known, or was met a moment ago, is not read."""
        met: set[str] = set()
        for each in incoming:
            try:
                body = each.load()
            except _Refused as refusal:
                yield _Job(each, refusal=str(refusal))
                continue
            except (OSError, ArchiveError) as error:
                yield _Job(each, refusal=f"It cannot be opened: {getattr(error, 'strerror', None) or error}.")
                continue
            own = id_of(body)
            is_new = own not in met and self.library.files.get(own) is None
            met.add(own)
            yield _Job(each, own, body if is_new else None)

    def _name_of(self, job: _Job) -> str:
        url = job.incoming.source.url
        return url if url.startswith(("http:", "https:")) else f"document:{job.id}"

    def _take(self, job: _Job, reading: Reading | None, writer: ArchiveWriter) -> Added:
        if job.refusal:
            return Added(job.incoming.name, "refused", "", "refused", job.refusal)
        if reading is None or job.body is None:
            self.library.keep_source(job.id, job.incoming.source)
            return added(self.library, job.id, "known", job.incoming.name)
        archived = job.incoming.archived or _archive(writer, job.incoming, job.body)
        file = StoredFile(job.id, job.incoming.name, "", "", "", 0, len(job.body), archived)
        self.library.keep(file, [job.incoming.source], reading, self._read_with)
        return added(self.library, job.id, "added", job.incoming.name)

    def read_again(self, files: Sequence[StoredFile]) -> Generator[Added, None, None]:
        """Read files anew with the models of now, from the archive; corrections hold."""
        self._read_with = self.library.models.digest()
        jobs = self._again(files)
        for file, reading in read_all(jobs, self.library.workspace.models_folder, self.workers):
            if reading is None:
                yield Added(
                    file.name, "refused", file.id, "refused", "Its bytes are missing from the archive."
                )
            else:
                self.library.keep(file, [], reading, self._read_with)
                yield added(self.library, file.id, "read again", file.name)

    def _again(self, files: Sequence[StoredFile]) -> Iterator[tuple[StoredFile, bytes | None, str, str]]:
        for file in files:
            urls = [each.url for each in self.library.files.sources(file.id)]
            url = next((url for url in urls if url.startswith(("http:", "https:"))), f"document:{file.id}")
            kind = self.library.said_kind(file.id)
            try:
                yield file, self.library.archive.read(file.archived).body, url, kind
            except (OSError, ArchiveError):
                yield file, None, url, kind


def judge(library: PaperLibrary, name: str, kind: str, by: str = "operator") -> Added:
    """Say that a file is a paper, or is none, whatever its parts say; it is read again as that, now and ever after."""
    if kind not in {PAPER, DOCUMENT}:
        raise UsageError(f"A file is a {PAPER} or a {DOCUMENT}, and nothing else.")
    record = library.find(name)
    file = library.files.get(record.id)
    if file is None:
        raise UsageError(f"Of {record.id} there is no file to read again.")
    library.note_kind(record, kind, by)
    (done,) = Intake(library).read_again([file])
    return done


def added(library: PaperLibrary, file_id: str, state: State, name: str) -> Added:
    """What is kept of a file, as a line of a listing."""
    file, record = library.files.get(file_id), library.record(file_id)
    if file is None:
        return Added(name, "refused", file_id, "refused", "It was not kept.")
    references = sum(each.number > 0 for each in library.papers.citations(file_id))
    title = record.first("title") if record else ""
    return Added(name, state, file_id, file.outcome, file.detail, title, references)


def id_of(body: bytes) -> str:
    """The same for the same content, wherever it was found."""
    return hashlib.sha256(body).hexdigest()[:ID_LETTERS]


def _archive(writer: ArchiveWriter, incoming: Incoming, body: bytes) -> ArchiveRef:
    """As if the file had been fetched; there was no request, and so none is written."""
    fetched = Fetched(
        incoming.source.url,
        200,
        (("Content-Type", incoming.content_type),),
        body,
        incoming.content_type,
        reason_phrase="OK",
    )
    return writer.write(fetched, at=time.time(), request_headers=None)
