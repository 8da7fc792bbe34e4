"""All that a page may read, for one thread; and the threads that do the reading."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import TypeVar

from wayhound.app.papers.works import CITED_ONLY, SPEC, record_of_work
from wayhound.errors import UsageError
from wayhound.portal.topics import TopicMap
from wayhound.record import Record
from wayhound.record_kinds import FILE_NAME as KINDS_FILE
from wayhound.record_kinds import KindSpec, read_kinds, spec_of
from wayhound.search.index import SearchIndex
from wayhound.search.results import FACETS
from wayhound.store.records import SiteVisited
from wayhound.topics.tree import TREE_NAME, read_tree
from wayhound.workspace import Workspace

Answer = TypeVar("Answer")
Kept = TypeVar("Kept")

THREADS = 4
SLOW_THREADS = 2
KEPT_SECONDS = 2.0
"""How long sums over the whole collection are kept: as long as a new document may take to be seen."""


@dataclass
class Shelf:
    """Sums over the whole collection, kept for a moment and shared by all threads."""

    clock: Callable[[], float] = time.monotonic
    _kept: dict[str, tuple[float, object]] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def get(self, name: str, kind: type[Kept], make: Callable[[], Kept]) -> Kept:
        """What is kept under a name; made anew when it is old, by one thread while the others wait."""
        with self._lock:
            at, found = self._kept.get(name, (0.0, None))
            if isinstance(found, kind) and self.clock() - at < KEPT_SECONDS:
                return found
            made = make()
            self._kept[name] = (self.clock(), made)
            return made


class Library:
    """The stores of a workspace as one thread sees them."""

    def __init__(self, workspace: Workspace, index: SearchIndex, shelf: Shelf) -> None:
        stores = workspace.stores
        self.workspace = workspace
        self.index = index
        self.records = stores.records
        self.papers = stores.papers
        self.placements = stores.topics
        self.catalogue = stores.catalogue
        self.files = stores.documents
        self.submissions = stores.submissions
        self.archive = workspace.archive
        self._shelf = shelf

    def topics(self) -> TopicMap:
        return self._shelf.get("topics", TopicMap, self._read_topics)

    def _read_topics(self) -> TopicMap:
        path = self.workspace.folder / TREE_NAME
        try:
            order = [topic.path for topic in read_tree(path).topics] if path.exists() else []
        except UsageError:  # an unfinished edit of the file must not take the portal down
            order = []
        return TopicMap(order, self.placements.counts())

    def counts(self) -> dict[str, int]:
        """Records by kind."""
        return self._shelf.get("counts", dict, self.catalogue.counts)

    def facet_names(self) -> tuple[str, ...]:
        """The facets that every collection has, and those of this one."""
        return self._shelf.get("facets", tuple, lambda: (*dict.fromkeys((*FACETS, *self.index.facet_names)),))

    def has_cited_only(self) -> bool:
        """Whether works are known that are cited and not held."""
        return bool(self._shelf.get("works", int, lambda: int(self.index.has_cited_only)))

    def sites(self) -> list[SiteVisited]:
        """The sites that were walked."""
        return self._shelf.get("sites", list, self.catalogue.sites)

    def spec(self, kind: str) -> KindSpec:
        """What is declared of a kind; of one that nobody declared, what its records show."""
        return self._shelf.get(f"kind {kind}", KindSpec, lambda: self._find_spec(kind))

    def _find_spec(self, kind: str) -> KindSpec:
        if kind == CITED_ONLY:
            return SPEC
        return spec_of(kind, self.catalogue.field_names(kind), read_kinds(self.workspace.folder / KINDS_FILE))

    def find(self, kind: str, record_id: str) -> Record | None:
        """A record, or a work that is only cited as those who cite it describe it."""
        if kind != CITED_ONLY:
            return self.records.get(kind, record_id)
        is_number = record_id.isascii() and record_id.isdigit() and len(record_id) < 16
        said = self.workspace.stores.citations.citations_to([int(record_id)]) if is_number else {}
        works = [record_of_work(group, [*chain(*by_paper.values())]) for group, by_paper in said.items()]
        return works[0] if works else None

    def title(self, record: Record) -> str:
        named = self.spec(record.kind).title
        return (record.first(named) if named else "") or record.id


class Readers:
    """Threads that answer questions to the library, each with a connection of its own, as SQLite wants it."""

    def __init__(self, folder: Path, threads: int = THREADS, index: SearchIndex | None = None) -> None:
        self._folder = folder
        self._shelf = Shelf()
        self.index = index or Workspace.open(folder).search_index
        self._local = threading.local()
        self._n_threads = threads
        self._threads = ThreadPoolExecutor(threads, "portal", self._open)

    def _open(self) -> None:
        self._local.library = Library(Workspace.open(self._folder), self.index, self._shelf)

    async def ask(self, question: Callable[[Library], Answer]) -> Answer:
        """Answer a question off the event loop."""
        return await asyncio.get_running_loop().run_in_executor(self._threads, self._answer, question)

    def _answer(self, question: Callable[[Library], Answer]) -> Answer:
        library: Library = self._local.library
        return question(library)

    def close(self) -> None:
        """Close every thread's connection in that thread; the barrier sees to it that none closes twice."""
        barrier = threading.Barrier(self._n_threads)

        def close_own() -> None:
            self._local.library.workspace.close()
            barrier.wait()

        for _ in range(self._n_threads):
            self._threads.submit(close_own)
        self._threads.shutdown()
