"""Adding files to the papers of a workspace: from folders, or from what forages fetched; each only once."""

from __future__ import annotations

import hashlib
import mimetypes
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeVar
from urllib.parse import unquote

from wayhound.app.papers.library import DOCUMENT, PAPER, WITHHELD, PaperLibrary
from wayhound.app.papers.reading import FileReading, FileToRead, paper_reading
from wayhound.app.parallel import map_items, n_cores
from wayhound.archive.writer import ArchiveWriter, repair
from wayhound.documents.document import Unread
from wayhound.documents.limits import DEFAULT_LIMITS
from wayhound.documents.reader import NEEDS_OCR
from wayhound.errors import ArchiveError, UsageError
from wayhound.fetched import Fetched
from wayhound.store.document_files import DocumentSource, StoredFile
from wayhound.store.papers import PaperCorrection
from wayhound.visit import ArchiveRef

ENDINGS = (".pdf", ".ps", ".eps", ".txt", ".docx", ".html", ".htm", ".pdf.gz", ".ps.gz", ".txt.gz")
SCAN = "scan"  # the kind of a file that OCR has read
FEW_FILES = 4  # for these, other processes take longer to start than to read
_ID_LENGTH = 16

Key = TypeVar("Key")
State = Literal["added", "known", "read again", "refused"]


@dataclass(frozen=True, slots=True)
class IncomingFile:
    """A file to add: its name, where it was found, how to load it, and where it is archived if it is."""

    name: str
    source: DocumentSource
    load: Callable[[], bytes]
    archived: ArchiveRef | None = None
    content_type: str = ""


@dataclass(frozen=True, slots=True)
class AddedFile:
    """The result for a file: `added`, `known` already, `read again`, or `refused` before reading.

    `outcome` is `paper`, `document` or a reason code; `detail` is a sentence that explains it.
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


def find_files(paths: Iterable[Path]) -> list[Path]:
    """Return the files among `paths`, and those in its folders with one of `ENDINGS`, sorted by name.

    Raises UsageError if there are none.
    """
    files: dict[Path, None] = {}
    for path in paths:
        files |= dict.fromkeys(_in_folder(path) if path.is_dir() else [path])
    if not files:
        raise UsageError(f"There are no files to read. Folders are searched for {', '.join(ENDINGS)}.")
    return list(files)


def _in_folder(folder: Path) -> list[Path]:
    inside = (path for path in folder.rglob("*") if path.name.lower().endswith(ENDINGS) and path.is_file())
    return sorted(path for path in inside if not path.name.startswith("."))


def local_files(paths: Iterable[Path]) -> Iterator[IncomingFile]:
    """Yield files on disk."""
    for path in paths:
        content_type = mimetypes.guess_type(path.name)[0] or "application/octet-stream"
        source = DocumentSource(path.resolve().as_uri())
        yield IncomingFile(path.name, source, _file_loader(path), content_type=content_type)


def fetched_files(library: PaperLibrary, run_id: int | None) -> list[IncomingFile]:
    """Return the files that one run or all runs fetched and that have not been added yet."""
    if run_id is not None:
        library.workspace.stores.forage.run(run_id)  # raises if there is no such run
    return [
        IncomingFile(
            _file_name(file.source.url), file.source, _archive_loader(library, file.archived), file.archived
        )
        for file in library.files.found_by_forage(run_id)
    ]


def incoming_files(
    library: PaperLibrary, paths: Sequence[Path], *, from_forage: bool = False, run_id: int | None = None
) -> list[IncomingFile]:
    """Return the files at these paths, and with `from_forage` those that one run or all runs fetched.

    Raises UsageError if paths are given and have no files, or if there is no such run.
    """
    files = list(local_files(find_files(paths))) if paths else []
    return files + (fetched_files(library, run_id) if from_forage else [])


def choose_workers(requested: int | None, n_files: int) -> int:
    """Return the number of processes to read files with: as requested, else one per core, but one for few files."""
    return requested or (1 if n_files <= FEW_FILES else min(n_cores(), n_files))


def _file_loader(path: Path) -> Callable[[], bytes]:
    def load() -> bytes:
        if path.stat().st_size > DEFAULT_LIMITS.max_bytes:  # before it is in memory
            raise _Refused(DEFAULT_LIMITS.too_big(path.stat().st_size).detail)
        return path.read_bytes()

    return load


def _archive_loader(library: PaperLibrary, archived: ArchiveRef) -> Callable[[], bytes]:
    return lambda: library.workspace.archive.read(archived).body


def _file_name(url: str) -> str:
    return unquote(url.split("?", maxsplit=1)[0].rstrip("/").rpartition("/")[2]) or url


class _Refused(Exception):  # noqa: N818
    """The file is not read; the message says why."""


@dataclass(frozen=True, slots=True)
class _Task:
    """A file to read, or one without `body`, because it is known or refused."""

    incoming: IncomingFile
    id: str = ""
    body: bytes | None = None
    refusal: str = ""


class Intake:
    """Adds files one by one. Each is saved before the next, so that an interrupted intake can be resumed.

    They are read by so many processes of this machine, or on a cluster (`map_items`). With `ocr`, scanned files are
    recognised, also those that were added without it.
    """

    def __init__(
        self, library: PaperLibrary, workers: int = 1, *, cluster: str = "", ocr: bool = False
    ) -> None:
        self.library = library
        self.workers = workers
        self.cluster = cluster
        self.ocr = ocr
        self._read_with = ""  # digest of the models at the start: others may be trained meanwhile

    def add(self, incoming: Iterable[IncomingFile]) -> Generator[AddedFile, None, None]:
        """Yield the result for each file in order. May be stopped at any time and run again."""
        workspace = self.library.workspace
        repair(workspace.archive_folder)
        self._read_with = self.library.models.digest()
        with workspace.archive_writer("papers") as writer:
            tasks = ((task, self._to_read(task)) for task in self._tasks(incoming))
            for task, reading in self._read(tasks):
                yield self._save(task, reading, writer)

    def _read(
        self, files: Iterable[tuple[Key, FileToRead | None]]
    ) -> Iterator[tuple[Key, FileReading | None]]:
        models = self.library.models.load()
        return map_items(paper_reading, models, files, workers=self.workers, cluster=self.cluster)

    def _to_read(self, task: _Task) -> FileToRead | None:
        if task.body is None:
            return None
        url, kind = _document_url(task.id, [task.incoming.source]), self.library.decided_kind(task.id)
        return FileToRead(task.body, url, kind, self.ocr)

    def _is_unread(self, file_id: str) -> bool:
        """Return True for a file that is new, or that only OCR can read."""
        stored = self.library.files.get(file_id)
        return stored is None or (self.ocr and stored.outcome in NEEDS_OCR)

    def _tasks(self, incoming: Iterable[IncomingFile]) -> Iterator[_Task]:
        """Yield a task for each file; only files that are new have a body."""
        seen: set[str] = set()
        for file in incoming:
            try:
                body = file.load()
            except _Refused as refusal:
                yield _Task(file, refusal=str(refusal))
                continue
            except (OSError, ArchiveError) as error:
                yield _Task(
                    file, refusal=f"It cannot be opened: {getattr(error, 'strerror', None) or error}."
                )
                continue
            file_id = content_id(body)
            is_unread = file_id not in seen and self._is_unread(file_id)
            seen.add(file_id)
            yield _Task(file, file_id, body if is_unread else None)

    def _save(self, task: _Task, reading: FileReading | None, writer: ArchiveWriter) -> AddedFile:
        name = task.incoming.name
        if task.refusal:
            return AddedFile(name, "refused", "", "refused", task.refusal)
        if reading is None or task.body is None:
            self.library.add_source(task.id, task.incoming.source)
            return describe(self.library, task.id, "known", name)
        archived = task.incoming.archived or _archive(writer, task.incoming, task.body)
        file = StoredFile(
            task.id, name, "", "", kind="", page_count=0, size=len(task.body), archived=archived
        )
        self.library.save(file, [task.incoming.source], reading, self._read_with)
        return describe(self.library, task.id, "added", name)

    def read_again(self, files: Sequence[StoredFile]) -> Generator[AddedFile, None, None]:
        """Read files again from the archive with the current models; corrections are kept."""
        self._read_with = self.library.models.digest()
        tasks = self._archived(files)
        for file, reading in self._read(tasks):
            if reading is None:
                yield AddedFile(
                    file.name, "refused", file.id, "refused", "Its content is missing from the archive."
                )
            else:
                if not _loses_scan(file, reading):
                    self.library.save(file, [], reading, self._read_with)
                yield describe(self.library, file.id, "read again", file.name)

    def _archived(self, files: Sequence[StoredFile]) -> Iterator[tuple[StoredFile, FileToRead | None]]:
        for file in files:
            url = _document_url(file.id, self.library.files.sources(file.id))
            kind = self.library.decided_kind(file.id)
            try:
                body = self.library.workspace.archive.read(file.archived).body
            except (OSError, ArchiveError):
                yield file, None
                continue
            yield file, FileToRead(body, url, kind, self.ocr or file.kind == SCAN)


def _loses_scan(file: StoredFile, reading: FileReading) -> bool:
    """Return True for a file that OCR has read, where it is not installed now: what was read is kept."""
    return (
        file.kind == SCAN and isinstance(reading.outcome, Unread) and reading.outcome.reason == "no_tesseract"
    )


def _document_url(file_id: str, sources: Sequence[DocumentSource]) -> str:
    """Return the URL that sources of fields refer to: where the file was fetched, or else its id."""
    urls = (source.url for source in sources if source.url.startswith(("http:", "https:")))
    return next(urls, f"document:{file_id}")


def decide_kind(library: PaperLibrary, name: str, kind: str, by: str = "operator") -> AddedFile:
    """Save a person's decision that a file is a `paper` or a `document`, and read it again accordingly.

    Raises UsageError for another kind, or if there is no such file.
    """
    if kind not in {PAPER, DOCUMENT}:
        raise UsageError(f"The kind of a file is {PAPER} or {DOCUMENT}.")
    record = library.find(name)
    file = library.files.get(record.id)
    if file is None:
        raise UsageError(f"{record.id} has no file that could be read again.")
    library.save_kind(record, kind, by)
    (added,) = Intake(library).read_again([file])
    return added


def undo_correction(library: PaperLibrary, name: str = "") -> PaperCorrection | None:
    """Remove the last correction, or the last one of this paper, and read the paper again without it.

    Return it, or None if there is none. Raises UsageError if the paper's file is missing.
    """
    corrections = library.papers.corrections(library.find(name).id if name else None)
    if not corrections:
        return None
    file = library.files.get(corrections[-1].paper)
    if file is None:
        raise UsageError(f"{corrections[-1].paper} has no file that could be read again.")
    library.papers.remove_correction(corrections[-1])
    list(Intake(library).read_again([file]))
    return corrections[-1]


def describe(library: PaperLibrary, file_id: str, state: State, name: str) -> AddedFile:
    """Return the result for a saved file."""
    file, record = library.files.get(file_id), library.record(file_id)
    if file is None:
        return AddedFile(name, "refused", file_id, "refused", "It was not saved.")
    references = sum(citation.number > 0 for citation in library.papers.citations(file_id))
    title = record.first("title") if record else ""
    return AddedFile(name, state, file_id, file.outcome, file.detail, title=title, references=references)


def content_id(body: bytes) -> str:
    """Return the id of a file, which depends only on its content."""
    return hashlib.sha256(body).hexdigest()[:_ID_LENGTH]


def _archive(writer: ArchiveWriter, incoming: IncomingFile, body: bytes) -> ArchiveRef:
    """Archive a local file like a fetched one, but without a request."""
    fetched = Fetched(
        incoming.source.url,
        200,
        (("Content-Type", incoming.content_type),),
        body,
        incoming.content_type,
        reason_phrase="OK",
    )
    return writer.write(fetched, at=time.time(), request_headers=None)
