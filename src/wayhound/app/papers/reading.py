"""Files read several at a time, each by a process of its own: bytes in, a paper or the reason why not out."""

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

from wayhound.app.papers.models import ModelPlace
from wayhound.documents.document import Document, Unread
from wayhound.documents.reader import DocumentReader
from wayhound.errors import WayhoundError
from wayhound.papers.paper import PaperModels, ReadPaper, read_paper

Key = TypeVar("Key")
_AHEAD = 2  # files a process that may wait for it, so that it never waits for us


@dataclass(frozen=True, slots=True)
class Reading:
    """What came of a file: what it says, or why it cannot be read; and what is known of it either way."""

    outcome: ReadPaper | Unread
    kind: str = ""
    page_count: int = 0


class PaperReader:
    """Reads one file after the other, in this process (PDFs in a child of it)."""

    def __init__(self, models: PaperModels) -> None:
        self.models = models
        self._documents = DocumentReader()

    def read(self, body: bytes, url: str, kind: str = "") -> Reading:
        """`kind` is what a person says it is, where one has spoken."""
        document = self._documents.read(body)
        if isinstance(document, Unread):
            return Reading(document, page_count=document.n_pages)
        return self.read_document(document, url, kind)

    def read_document(self, document: Document, url: str, kind: str = "") -> Reading:
        return Reading(read_paper(document, self.models, url, kind), document.kind, len(document.pages))

    def close(self) -> None:
        self._documents.close()


def cores() -> int:
    """Processors that this process may use."""
    return len(os.sched_getaffinity(0))


def read_all(
    files: Iterable[tuple[Key, bytes | None, str, str]], models_folder: Path, workers: int
) -> Iterator[tuple[Key, Reading | None]]:
    """The reading of each file in turn: a key to know it by, its bytes, its URL, and what a person says it is.

    What has no bytes passes through unread, at its turn. With one worker all is done here; with more, by
    processes that end with this one, however it ends.
    """
    if workers <= 1:
        yield from _read_here(files, models_folder)
        return
    pool = ProcessPoolExecutor(workers, multiprocessing.get_context("spawn"), _prepare, (models_folder,))
    waiting: deque[tuple[Key, Future[Reading] | None]] = deque()
    try:
        for key, body, url, kind in files:
            waiting.append((key, None if body is None else pool.submit(_read, body, url, kind)))
            while _is_long(waiting, workers):
                yield _next(waiting)
        while waiting:
            yield _next(waiting)
    except BrokenProcessPool:
        raise WayhoundError(
            "A process that reads papers was killed; is there enough memory? The same command goes on from here."
        ) from None
    finally:
        pool.shutdown(cancel_futures=True)


def _is_long(waiting: deque[tuple[Key, Future[Reading] | None]], workers: int) -> bool:
    return len(waiting) > workers * _AHEAD or (bool(waiting) and waiting[0][1] is None)


def _next(waiting: deque[tuple[Key, Future[Reading] | None]]) -> tuple[Key, Reading | None]:
    key, future = waiting.popleft()
    return key, None if future is None else future.result()


def _read_here(
    files: Iterable[tuple[Key, bytes | None, str, str]], models_folder: Path
) -> Iterator[tuple[Key, Reading | None]]:
    reader = PaperReader(ModelPlace(models_folder).load())
    try:
        for key, body, url, kind in files:
            yield key, None if body is None else reader.read(body, url, kind)
    finally:
        reader.close()


_reader: PaperReader | None = None  # of a process of the pool


def _prepare(models_folder: Path) -> None:
    """Begin a process of the pool: Ctrl-C is for the one that ordered it, whose end is its own."""
    global _reader  # noqa: PLW0603 - a pool hands its processes nothing but what is global in them
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_end_with, args=(parent,), daemon=True).start()
    _reader = PaperReader(ModelPlace(models_folder).load())


def _end_with(parent: BaseProcess) -> None:
    parent.join()
    os._exit(1)


def _read(body: bytes, url: str, kind: str) -> Reading:
    assert _reader is not None
    return _reader.read(body, url, kind)
