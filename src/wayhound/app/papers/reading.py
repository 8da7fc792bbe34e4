"""FileReading of files by several processes: bytes in, a paper or a reason out."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import TypeVar

from wayhound.app.papers.models import WorkspaceModels
from wayhound.documents.document import Document, Unread
from wayhound.documents.reader import DocumentReader
from wayhound.errors import WayhoundError
from wayhound.papers.paper import PaperModels, ReadPaper, read_paper

Key = TypeVar("Key")
_QUEUED = 2  # files that wait for each process, so that none is idle


@dataclass(frozen=True, slots=True)
class FileReading:
    """The result of reading a file: a paper or a reason, its file type and its number of pages."""

    outcome: ReadPaper | Unread
    kind: str = ""
    page_count: int = 0


@dataclass(frozen=True, slots=True)
class FileToRead:
    """The content of a file, its URL, the kind that a person decided on, and whether pictures are recognised."""

    body: bytes
    url: str
    kind: str = ""
    ocr: bool = False


class PaperReader:
    """Reads files one by one in this process, and PDFs in a child process."""

    def __init__(self, models: PaperModels) -> None:
        self.models = models
        self._documents = DocumentReader()

    def read(self, file: FileToRead) -> FileReading:
        document = self._documents.read(file.body, ocr=file.ocr)
        if isinstance(document, Unread):
            return FileReading(document, page_count=document.n_pages)
        return self.read_document(document, file.url, file.kind)

    def read_document(self, document: Document, url: str, kind: str = "") -> FileReading:
        return FileReading(read_paper(document, self.models, url, kind), document.kind, len(document.pages))

    def close(self) -> None:
        self._documents.close()


def n_cores() -> int:
    """Return the number of processors that this process may use."""
    return len(os.sched_getaffinity(0))


def read_all(
    files: Iterable[tuple[Key, FileToRead | None]], models_folder: Path, workers: int
) -> Iterator[tuple[Key, FileReading | None]]:
    """Yield the key and the reading of each file in order.

    A key without a file has the reading None. With one worker, files are read in this process; with more, by child
    processes, which end with this one. Raises WayhoundError if a child process was killed.
    """
    if workers <= 1:
        yield from _read_here(files, models_folder)
        return
    pool = ProcessPoolExecutor(workers, multiprocessing.get_context("spawn"), _prepare, (models_folder,))
    pending: deque[tuple[Key, Future[FileReading] | None]] = deque()
    try:
        for key, file in files:
            pending.append((key, None if file is None else pool.submit(_read, file)))
            while _is_full(pending, workers):
                yield _next(pending)
        while pending:
            yield _next(pending)
    except BrokenProcessPool:
        raise WayhoundError(
            "A process that reads papers was killed, perhaps for lack of memory. Run the same command to resume."
        ) from None
    finally:
        pool.shutdown(cancel_futures=True)


def _is_full(pending: deque[tuple[Key, Future[FileReading] | None]], workers: int) -> bool:
    return len(pending) > workers * _QUEUED or (bool(pending) and pending[0][1] is None)


def _next(pending: deque[tuple[Key, Future[FileReading] | None]]) -> tuple[Key, FileReading | None]:
    key, future = pending.popleft()
    return key, None if future is None else future.result()


def _read_here(
    files: Iterable[tuple[Key, FileToRead | None]], models_folder: Path
) -> Iterator[tuple[Key, FileReading | None]]:
    reader = PaperReader(WorkspaceModels(models_folder).load())
    try:
        for key, file in files:
            yield key, None if file is None else reader.read(file)
    finally:
        reader.close()


_reader: PaperReader | None = None  # of a child process


def _prepare(models_folder: Path) -> None:
    """Set up a child process: it ignores Ctrl-C, which its parent handles, and ends with its parent."""
    global _reader  # noqa: PLW0603 - a pool can pass nothing else to its processes
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_end_with, args=(parent,), daemon=True).start()
    _reader = PaperReader(WorkspaceModels(models_folder).load())


def _end_with(parent: BaseProcess) -> None:
    parent.join()
    os._exit(1)


def _read(file: FileToRead) -> FileReading:
    assert _reader is not None
    return _reader.read(file)
