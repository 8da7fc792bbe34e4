"""Everything that pages read: the stores of a workspace, the topic tree, and the threads that do the reading."""

from __future__ import annotations

import asyncio
import math
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from types import MappingProxyType
from typing import TypeVar

from starlette.types import Scope

from wayhound.app.papers.works import CITED_ONLY, SPEC, fill_from_citations, record_of_work
from wayhound.errors import UsageError
from wayhound.portal.addresses import from_key, slugs
from wayhound.record import Record
from wayhound.record_kinds import FILE_NAME as KINDS_FILE
from wayhound.record_kinds import PAPERS_AND_DOCUMENTS, KindSpec, read_kinds, spec_of
from wayhound.search.index import SearchIndex
from wayhound.search.results import FACETS
from wayhound.search.snapshot import Stamp
from wayhound.store.database import Database
from wayhound.store.records import ChangeStore, SiteVisited
from wayhound.store.sqlite import SqliteDatabase, file_stamp
from wayhound.store.submissions import Submission, SubmissionStore
from wayhound.topics.tree import TREE_NAME, read_tree
from wayhound.visit import Visit
from wayhound.web.pages import NotFound, RenderedPage
from wayhound.workspace import DATABASE_NAME, Workspace

Result = TypeVar("Result")
Cached = TypeVar("Cached")
TopicPath = tuple[str, ...]

THREADS = 4
SLOW_THREADS = 2
CACHE_SECONDS = 2.0
"""Seconds for which counts over the whole collection are reused: as long as a new record may take to be seen."""

PAGE_CACHE_BYTES = 8_000_000  # of pages of the collection as a whole, and as much of records and searches
_PAGE_OVERHEAD = 1_000  # bytes of a cached page beside its body

_FACET_LABELS = {"topic": "Topic", "year": "Year", "venue": "Venue", "site": "Site", "type": "Type"}


@dataclass(frozen=True, slots=True)
class TopicNode:
    """A topic; `count` is the number of papers and documents at it and below it, `documents` that of these alone."""

    path: TopicPath
    slug: str
    count: int = 0
    children: tuple[TopicNode, ...] = field(default=(), repr=False)
    documents: int = 0

    @property
    def name(self) -> str:
        return self.path[-1] if self.path else "Topics"

    @property
    def url(self) -> str:
        return f"/topics/{self.slug}" if self.slug else "/topics"

    def walk(self) -> Iterator[TopicNode]:
        yield self
        for child in self.children:
            yield from child.walk()


class TopicMap:
    """Topics by path and by address. The root has neither a name nor a slug."""

    def __init__(
        self,
        order: Iterable[TopicPath],
        counts: Mapping[TopicPath, int],
        documents: Mapping[TopicPath, int] = MappingProxyType({}),
    ) -> None:
        """Put topics in the `order` of the tree's file; topics that only papers name come after it.

        `counts` are of papers and other documents together, and `documents` of these others alone.
        """
        below: dict[TopicPath, dict[TopicPath, None]] = {}
        for path in (*order, *sorted(counts)):
            for depth in range(len(path)):
                below.setdefault(path[:depth], {})[path[: depth + 1]] = None
        self._source = [*below], dict(counts), dict(documents)
        self.root = _topic_node((), "", below, counts, documents)
        self.unplaced, self.unplaced_documents = counts.get((), 0), documents.get((), 0)
        nodes = list(self.root.walk())
        self._by_path = {node.path: node for node in nodes}
        self._by_slug = {node.slug: node for node in nodes}
        self._by_name: dict[str, list[TopicNode]] = {}
        for node in nodes[1:]:
            self._by_name.setdefault(node.name, []).append(node)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TopicMap) and self._source == other._source

    __hash__ = None  # type: ignore[assignment]

    @property
    def is_empty(self) -> bool:
        return not self.root.children

    def at(self, slug: str) -> TopicNode | None:
        return self._by_slug.get(slug.strip("/"))

    def by_path(self, path: TopicPath) -> TopicNode | None:
        return self._by_path.get(path)

    def by_name(self, name: str) -> TopicNode | None:
        """Return the topic of a name that occurs only once in the tree."""
        nodes = self._by_name.get(name, [])
        return nodes[0] if len(nodes) == 1 else None

    def above(self, node: TopicNode) -> list[TopicNode]:
        """Return the topics from the top down to a topic itself, without the root."""
        return [self._by_path[node.path[:depth]] for depth in range(1, len(node.path) + 1)]


def _topic_node(
    path: TopicPath, slug: str, below: Mapping[TopicPath, Mapping[TopicPath, None]], counts: Mapping[TopicPath, int],
    documents: Mapping[TopicPath, int],
) -> TopicNode:  # fmt: skip
    paths = list(below.get(path, ()))
    named = zip(paths, slugs(child[-1] for child in paths), strict=True)
    children = tuple(
        _topic_node(child, f"{slug}/{word}".lstrip("/"), below, counts, documents) for child, word in named
    )
    own, own_documents = (counts.get(path, 0), documents.get(path, 0)) if path else (0, 0)
    count = own + sum(child.count for child in children)
    return TopicNode(path, slug, count, children, own_documents + sum(child.documents for child in children))


_NO_ENTRY = (0.0, None, None)


@dataclass
class SharedCache:
    """Counts over the whole collection, reused for a moment by all threads."""

    clock: Callable[[], float] = time.monotonic
    generation: int = 0  # counts how often a value was found to have changed
    _entries: dict[str, tuple[float, object, object]] = field(default_factory=dict)
    _lock: threading.RLock = field(default_factory=threading.RLock)  # values are made from other values

    def get(
        self, name: str, kind: type[Cached], make: Callable[[], Cached], version: Callable[[], object] | None = None,
        seconds: float = CACHE_SECONDS,
    ) -> Cached:  # fmt: skip
        """Return a value that is at most `seconds` old; one thread makes it again while the others wait.

        With `version`, which is much cheaper than `make`, an old value stays as long as that stays the same.
        """
        at, value, _ = self._entries.get(name, _NO_ENTRY)
        if isinstance(value, kind) and self.clock() - at < seconds:
            return value  # without waiting for a thread that makes another value
        with self._lock:
            at, value, seen = self._entries.get(name, _NO_ENTRY)
            if isinstance(value, kind) and self.clock() - at < seconds:
                return value
            current = version() if version else None
            if version and isinstance(value, kind) and current == seen:
                self._entries[name] = (self.clock(), value, seen)
                return value
            made = make()
            if made == value:
                made = value  # pages that were made from it stay valid
            elif name in self._entries:  # no page was made from a value that was not there
                self.generation += 1
            self._entries[name] = (self.clock(), made, current)
            return made


@dataclass
class PageCache:
    """Pages, for as long as the collection does not change. The least recently used are dropped."""

    most_bytes: int = PAGE_CACHE_BYTES
    _version: object = None
    _pages: OrderedDict[object, RenderedPage] = field(default_factory=OrderedDict)
    _n_bytes: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def get(self, key: object, version: object) -> RenderedPage | None:
        """Return a page of this version of the collection; all pages of another version are dropped."""
        with self._lock:
            if version != self._version:
                self._pages.clear()
                self._n_bytes, self._version = 0, version
            page = self._pages.get(key)
            if page is not None:
                self._pages.move_to_end(key)
            return page

    def put(self, key: object, version: object, page: RenderedPage) -> None:
        """Keep a page, unless its version has been replaced meanwhile, or it has no key."""
        with self._lock:
            if key is None or version != self._version or key in self._pages:
                return
            self._pages[key] = page
            self._n_bytes += _cost(page)
            while self._n_bytes > self.most_bytes:
                _, dropped = self._pages.popitem(last=False)
                self._n_bytes -= _cost(dropped)


def _cost(page: RenderedPage) -> int:
    return len(page.body) + _PAGE_OVERHEAD


class Library:
    """A workspace as one thread of the portal reads it, or its event loop."""

    def __init__(
        self, workspace: Workspace, index: SearchIndex, cache: SharedCache, inbox: Database | None = None,
        *, on_loop: bool = False,
    ) -> None:  # fmt: skip
        """`inbox` is where submissions go if the workspace is read-only; None: they are closed then.

        With `on_loop`, it is read on the event loop, and leaves it to threads to make old counts again.
        """
        self.workspace = workspace
        self.on_loop = on_loop
        self._count_seconds = math.inf if on_loop else CACHE_SECONDS
        self.stores = workspace.stores
        self.index = index
        self._cache = cache
        self._inbox = SubmissionStore(inbox) if inbox else None

    # Submissions

    def submit(self, submission: Submission, now: float) -> str:
        """Save a submission and return its token. Raises UsageError if none is taken at the moment."""
        store = self._inbox or self.stores.submissions
        if store is self.stores.submissions and self.workspace.read_only:
            raise UsageError("This portal takes no submissions at the moment.")
        return store.add(submission, now)

    def submission(self, token: str) -> Submission | None:
        """Return a submission: as it was decided, or as it waits in the inbox."""
        found = self.stores.submissions.by_token(token)
        return found or (self._inbox.by_token(token) if self._inbox else None)

    def close(self) -> None:
        self.workspace.close()
        if self._inbox:
            self._inbox.close()

    # The whole collection

    def counts(self) -> dict[str, int]:
        """Return the number of records of each kind."""
        return self._cache.get(
            "counts", dict, self.stores.catalogue.counts, self.stores.changes.newest, self._count_seconds
        )

    def topics(self) -> TopicMap:
        return self._cache.get(
            "topics",
            TopicMap,
            self._read_topics,
            lambda: _topics_version(self.workspace, self.stores.changes),
            self._count_seconds,
        )

    def _read_topics(self) -> TopicMap:
        path = self.workspace.folder / TREE_NAME
        try:
            order = [topic.path for topic in read_tree(path).topics] if path.exists() else []
        except UsageError:  # an unfinished edit of the file must not take the portal down
            order = []
        has_any = order or any(kind in self.counts() for kind in PAPERS_AND_DOCUMENTS)
        store = self.stores.topics
        return TopicMap(order, store.counts(), store.counts_of("document")) if has_any else TopicMap((), {})

    def facet_names(self) -> tuple[str, ...]:
        """Return the facets that every collection has, and those of this one."""
        return self._cache.get("facets", tuple, lambda: (*dict.fromkeys((*FACETS, *self.index.facet_names)),))

    def facet_label(self, name: str) -> str:
        """Return what people call a facet, as the kinds that have it declare it."""
        labels = self._cache.get("facet labels", dict, self._read_facet_labels)
        return str(labels.get(name) or name.replace("_", " ").capitalize())

    def _read_facet_labels(self) -> dict[str, str]:
        declared = (spec.with_role("facet") for spec in self._kinds().values())
        return {field.name: field.shown for field in chain.from_iterable(declared)} | _FACET_LABELS

    def has_cited_only(self) -> bool:
        """Return True if there are works that papers cite and the collection does not hold."""
        return bool(self._cache.get("works", int, lambda: int(self.index.has_cited_only)))

    def sites(self) -> list[SiteVisited]:
        """Return the sites that were foraged."""
        return self._cache.get("sites", list, self.stores.catalogue.sites)

    def spec(self, kind: str) -> KindSpec:
        """Return the declaration of a kind; of an undeclared one, what its records suggest."""
        return self._cache.get(f"kind {kind}", KindSpec, lambda: self._find_spec(kind))

    def _find_spec(self, kind: str) -> KindSpec:
        if kind == CITED_ONLY:
            return SPEC
        kinds = self._kinds()
        return spec_of(kind, self.stores.catalogue.field_names(kind) if kind not in kinds else (), kinds)

    def _kinds(self) -> dict[str, KindSpec]:
        return self._cache.get("kinds", dict, lambda: read_kinds(self.workspace.folder / KINDS_FILE))

    # One record

    def find(self, kind: str, record_id: str) -> Record | None:
        """Return a record, or a work that is only cited, as those who cite it describe it."""
        if kind != CITED_ONLY:
            record = self.stores.records.get(kind, record_id)
            return fill_from_citations(self.stores.papers, record) if record and kind == "paper" else record
        is_number = record_id.isascii() and record_id.isdigit() and len(record_id) < 16
        cited = self.stores.citations.citations_to([int(record_id)]) if is_number else {}
        works = [record_of_work(group, [*chain(*by_paper.values())]) for group, by_paper in cited.items()]
        return works[0] if works else None

    def at(self, kind_key: str, key: str) -> Record:
        """Return the record at an address. Raises NotFound, which says so if it was there once."""
        kind, record_id = from_key(kind_key), from_key(key)
        record = self.find(kind, record_id) if kind and record_id else None
        if record is None:
            raise self._missing(kind or "", record_id or "")
        return record

    def _missing(self, kind: str, record_id: str) -> NotFound:
        if self.stores.submissions.is_withheld(kind, record_id):
            return NotFound("This record was removed from the collection on request.")
        stamp = self.stores.catalogue.stamp(kind, record_id)
        if stamp is not None and stamp.deleted:
            return NotFound("This record is no longer in the collection.")
        return NotFound("There is no such record here. The address may be mistyped.")

    def click_path(self, record: Record) -> tuple[Visit, ...]:
        """Return the pages from the site's start page to where a record was found; empty if that is not known."""
        if record.visit is None:
            return ()
        return self.stores.click_paths.to_visit(record.site, record.visit, record.run)

    def title(self, record: Record) -> str:
        name = self.spec(record.kind).title
        return (record.first(name) if name else "") or record.id


PageMaker = Callable[[Library], RenderedPage]


def _topics_version(workspace: Workspace, changes: ChangeStore) -> object:
    """Return a value that changes with the file of the topic tree, and with any record or its place there."""
    try:
        status = (workspace.folder / TREE_NAME).stat()
    except OSError:
        return changes.newest()
    return changes.newest(), status.st_mtime_ns, status.st_ino, status.st_size


@dataclass(frozen=True, slots=True)
class WorkspaceAccess:
    """The workspace that a portal shows, if it may write there, and the file that takes submissions if it may not."""

    folder: Path
    read_only: bool = False
    inbox: Path | None = None

    def open(self) -> Workspace:
        return Workspace.open(self.folder, read_only=self.read_only)


class Readers:
    """The event loop and threads as readers of the library, each with a connection of its own, as SQLite wants it.

    The event loop itself makes pages that take a few milliseconds: to wake a thread and be woken by it costs a fifth
    of such a page. Counts over the whole collection and queries that may take long are left to threads, as are all
    queries if the database is on a server.
    """

    def __init__(
        self, access: WorkspaceAccess, threads: int = THREADS, index: SearchIndex | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:  # fmt: skip
        self._access = access
        self._clock = clock
        self._cache = SharedCache(clock)
        # Visitors ask for more searches and records than can be kept, so these may not drive out the few other pages.
        self._pages, self._passing_pages = PageCache(), PageCache()
        self._version: tuple[Stamp, int] = ((), 0)
        self._look_at = self._fresh_until = (
            0.0  # when to look at the version again, and when to wait for that
        )
        self._is_looking = False
        self.index = index or access.open().search_index
        self._local = threading.local()
        self._n_threads = threads
        self._threads = ThreadPoolExecutor(threads, "portal", self._open)

    def _open(self, *, on_loop: bool = False) -> None:
        workspace = self._access.open()
        inbox = SqliteDatabase(self._access.inbox) if self._access.inbox else None
        self._local.library = Library(workspace, self.index, self._cache, inbox, on_loop=on_loop)
        self._local.stamp = self._stamp()

    def _stamp(self) -> tuple[int, ...]:
        return file_stamp(self._access.folder / DATABASE_NAME) if self._access.read_only else ()

    async def run(self, query: Callable[[Library], Result]) -> Result:
        """Run a query in one of the threads, off the event loop."""
        return await asyncio.get_running_loop().run_in_executor(self._threads, self._run, query)

    async def read(self, query: Callable[[Library], Result]) -> Result:
        """Run a query that takes a few milliseconds: here and now if a thread has looked for changes just before."""
        if not self._is_kept_fresh():
            return await self.run(lambda library: self._refreshed(library, query))
        return self._run(query) if self._opens_here() else await self.run(query)

    @property
    def _is_fresh(self) -> bool:
        """True if the version was looked at just before, and the index has not been committed since."""
        return self._clock() < self._fresh_until and self._version[0] == self.index.stamp

    def _is_kept_fresh(self) -> bool:
        """Return True if the version is fresh; a thread looks at it again before it is no longer.

        Otherwise all requests would be left to threads, which cost more, until one of these has looked.
        """
        if not self._is_fresh:
            return False
        if self._clock() >= self._look_at and not self._is_looking:
            self._is_looking = True
            self._threads.submit(self._look_again)
        return True

    def _look_again(self) -> None:
        try:
            self._run(self._look)
        finally:
            self._is_looking = False

    def _opens_here(self) -> bool:
        """Open the library for the event loop, and return True if it may be read there: if it is on this machine."""
        if not hasattr(self._local, "library"):
            self._open(on_loop=True)
        return isinstance(self._local.library.workspace.database, SqliteDatabase)

    def known_page(
        self, scope: Scope, find_maker: Callable[[Scope], PageMaker | None] | None = None
    ) -> RenderedPage | None:
        """Return the page that answers a request if it was made from the collection as it is now.

        Otherwise it is made here and now by what `find_maker` returns, which is None for pages that take long.
        """
        if not self._is_kept_fresh():
            return None
        pages, key, version = self._cache_for(scope), self._key(scope), self._version
        page = pages.get(key, version)
        if page is None and find_maker and self._opens_here() and (make := find_maker(scope)):
            page = self._run(make)
            pages.put(key, version, page)
        return page

    async def page(self, scope: Scope, make: PageMaker, *, is_quick: bool) -> RenderedPage:
        """Return a page that depends on nothing but its address and the collection; `known_page` finds it again."""
        pages, key = self._cache_for(scope), self._key(scope)

        def find_or_make(library: Library) -> RenderedPage:
            version = self._version
            page = pages.get(key, version)
            if page is None:
                page = make(library)
                pages.put(key, version, page)
            return page

        if is_quick:
            return await self.read(find_or_make)
        return await self.run(lambda library: self._refreshed(library, find_or_make))

    async def prepare(
        self, pages_of: Callable[[Library], Iterable[tuple[str, str, PageMaker]]], rest_seconds: float = 0.0
    ) -> None:
        """Make pages of the collection before they are asked for, by path and query, with a rest after each."""

        def make_all(library: Library) -> None:
            version = self._version
            for path, query, make in pages_of(library):
                if self._version != version:
                    return
                key = path, query.encode()
                if self._pages.get(key, version) is None:
                    self._pages.put(key, version, make(library))
                    time.sleep(rest_seconds)

        await self.run(lambda library: self._refreshed(library, make_all))

    def _cache_for(self, scope: Scope) -> PageCache:
        is_passing = scope["path"].startswith(("/search", "/records/"))
        return self._passing_pages if is_passing else self._pages

    def _key(self, scope: Scope) -> object:
        """Return what a page is kept under. A page of a record is kept until any change of the database.

        It names its own origin, which no other page does. Each connection has numbers of its own for the changes of
        others, so only those of the event loop's compare.
        """
        address = scope["path"], scope["query_string"]
        if not scope["path"].startswith("/records/"):
            return address
        if not self._opens_here():
            return None
        host = next((value for name, value in scope["headers"] if name == b"host"), b"")
        return (
            address,
            scope["scheme"],
            host,
            self._run(lambda library: library.workspace.database.version()),
            self._local.stamp,
        )

    def _refreshed(self, library: Library, query: Callable[[Library], Result]) -> Result:
        """Run a query after a look at the version of the index, the topic tree, and the kinds of records."""
        if not self._is_fresh:
            self._look(library)
        return query(library)

    def _look(self, library: Library) -> None:
        library.counts(), library.topics(), library.facet_names(), library.facet_label("")
        self._version = self.index.stamp, self._cache.generation
        now = self._clock()
        self._look_at, self._fresh_until = now + CACHE_SECONDS / 4, now + CACHE_SECONDS / 2

    def _run(self, query: Callable[[Library], Result]) -> Result:
        if self._access.read_only and self._stamp() != self._local.stamp:
            self._local.library.close()
            self._open(on_loop=self._local.library.on_loop)
        library: Library = self._local.library
        return query(library)

    def close(self) -> None:
        """Close every thread's connection in that thread; the barrier sees to it that none closes twice."""
        barrier = threading.Barrier(self._n_threads)

        def close_own() -> None:
            self._local.library.close()
            barrier.wait()

        for _ in range(self._n_threads):
            self._threads.submit(close_own)
        self._threads.shutdown()
        if hasattr(self._local, "library"):  # that of the event loop
            self._local.library.close()
