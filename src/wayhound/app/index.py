"""Keeps the search index in step with the store: built anew, brought up to date, or followed while it grows."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event, Thread
from typing import Self

from wayhound.app.papers.works import CITED_ONLY, as_cited, document_of_work
from wayhound.citations.hubs import CitationGraph, HubScores
from wayhound.errors import WayhoundError, WorkspaceLocked
from wayhound.record_kinds import FILE_NAME, KindSpec, read_kinds
from wayhound.search.documents import SCORE_DIGITS, IndexDocument, RecordContext, index_document
from wayhound.search.folder import current_build, read_followed
from wayhound.search.writer import IndexWriter
from wayhound.store.records import Change
from wayhound.workspace import Workspace

COMMIT_EVERY = 5_000  # records
FOLLOW_SECONDS = 0.25  # a record can be found two seconds after it was saved; a commit takes part of one
HOLD_SECONDS = 3.0  # without a change, after which a follower lets others write
QUIET_SECONDS = 2.0  # without a change of papers, after which their scores are worked out anew
REST = 20  # times as long as that took, before it is done again

Progress = Callable[[int, int], None]
"""Is told how many records are done, and of how many."""


@dataclass(frozen=True, slots=True)
class Indexed:
    """What a run did: records added or replaced, what was taken out, how long it took, and works only cited."""

    added: int
    removed: int
    seconds: float
    works: int = 0


def build(workspace: Workspace, progress: Progress = lambda _done, _of: None) -> Indexed:
    """Build the index anew from the store. The one in use answers until the new one is whole."""
    refresh_scores(workspace)
    return _feed(workspace, progress, fresh=True)


def catch_up(workspace: Workspace, progress: Progress = lambda _done, _of: None) -> Indexed:
    """Bring into the index what has changed since its last commit; without an index, everything."""
    return _feed(workspace, progress, fresh=False)


def refresh_scores(workspace: Workspace) -> int:
    """Work out hubs and authorities, in the whole citation graph and in each topic's; tell how many changed."""
    store = workspace.stores.scores
    graph = CitationGraph.of(store.edges())
    whole = {paper: _rounded(each) for paper, each in graph.scores().items()}
    of_topics = {
        (paper, topic): _rounded(each)
        for topic, papers in _topic_papers(workspace).items()
        for paper, each in graph.within(papers).scores().items()
    }
    unlinked = HubScores()
    return store.replace_all(whole, {key: each for key, each in of_topics.items() if each != unlinked})


def _topic_papers(workspace: Workspace) -> dict[tuple[str, ...], set[str]]:
    """The papers of every topic, with those of all topics below it."""
    papers: dict[tuple[str, ...], set[str]] = {}
    for placement in workspace.stores.topics.under(()):
        for path in (placement.topic, placement.second):
            for end in range(1, len(path) + 1):
                papers.setdefault(path[:end], set()).add(placement.document)
    return papers


def _rounded(scores: HubScores) -> HubScores:
    return HubScores(round(scores.authority, SCORE_DIGITS), round(scores.hub, SCORE_DIGITS))


def _feed(workspace: Workspace, progress: Progress, *, fresh: bool) -> Indexed:
    started = time.monotonic()
    feeding = Feeding(workspace)
    with workspace.index_writer(fresh=fresh) as writer:
        feeding.bring(writer, progress)
        if fresh:
            writer.commit()  # also where there is nothing to find
        writer.finish()
    return Indexed(feeding.added, feeding.removed, time.monotonic() - started, feeding.works)


@dataclass
class Feeding:
    """Reads changed records with all that is known of them, and hands them to a writer."""

    workspace: Workspace
    added: int = 0
    removed: int = 0
    works: int = 0
    uncommitted: int = 0
    change: int | None = None
    new_until: int = 0  # changes up to this one are of records that the index cannot hold yet

    def __post_init__(self) -> None:
        stores = self.workspace.stores
        self.changes = stores.changes
        self._topics = stores.topics
        self._papers = stores.papers
        self._scores = stores.scores
        self._kinds: Mapping[str, KindSpec] = read_kinds(self.workspace.folder / FILE_NAME)

    @property
    def done(self) -> int:
        return self.added + self.removed + self.works

    def bring(self, writer: IndexWriter, progress: Progress = lambda _done, _of: None) -> bool:
        """Bring in all that changed since the writer's last commit; tell whether there was anything."""
        before, total = self.done, self.changes.waiting(writer.change)
        self.new_until = self.changes.newest() if writer.began_empty and not writer.change else 0
        for batch in self.changes.since(writer.change):
            self.put(batch, writer)
            progress(min(self.done - before, total), total)
        if self.uncommitted:
            writer.commit(self.change)
            self.uncommitted = 0
        return self.done > before

    def put(self, batch: list[Change], writer: IndexWriter) -> None:
        works = self._works(batch)
        for change in batch:
            document = works.get(change.id) if change.kind == CITED_ONLY else self._document(change)
            self._put_one(change, document, writer)
        self.change = batch[-1].number
        self.uncommitted += len(batch)
        if self.uncommitted >= COMMIT_EVERY:
            writer.commit(self.change)
            self.uncommitted = 0

    def _put_one(self, change: Change, document: IndexDocument | None, writer: IndexWriter) -> None:
        if document is None:
            writer.remove(change.kind, change.id)
            self.removed += 1
        else:
            writer.add(document, is_new=change.number <= self.new_until)
            self.works += change.kind == CITED_ONLY
            self.added += change.kind != CITED_ONLY

    def _document(self, change: Change) -> IndexDocument | None:
        record = self.workspace.stores.records.get(change.kind, change.id)
        if record is None:
            return None
        return index_document(as_cited(self._papers, record), self._standing(change), self._kinds)

    def _works(self, batch: list[Change]) -> dict[str, IndexDocument | None]:
        """Works that are only cited, all of a batch by one query."""
        changes = {int(change.id): change.number for change in batch if change.kind == CITED_ONLY}
        said = self.workspace.stores.citations.citations_to([*changes]) if changes else {}
        return {
            str(group): document_of_work(group, by_paper, changes[group]) for group, by_paper in said.items()
        }

    def _standing(self, change: Change) -> RecordContext:
        """Topics, citations and scores are known of papers alone."""
        if change.kind != "paper":
            return RecordContext(change=change.number)
        placed = self._topics.get(change.id)
        topics = tuple(path for path in (placed.topic, placed.second) if path) if placed else ()
        return RecordContext(
            topics,
            self._scores.cited(change.id),
            self._scores.get(change.id),
            self._scores.of_topics(change.id),
            change.number,
        )


@dataclass
class ScoreKeeper:
    """Works hubs and authorities out anew when papers, citations or topics have changed and then rest for a while.

    Of a large graph that takes seconds: so it is done seldom enough to cost a twentieth of one core at most.
    """

    worked_out: int = -1  # the change up to which the scores know everything
    quiet_seconds: float = QUIET_SECONDS
    clock: Callable[[], float] = time.monotonic
    _newest: int = -1
    _changed_at: float = 0.0
    _rest_until: float = 0.0

    def look(self, workspace: Workspace) -> None:
        """Refresh the scores if it is time to."""
        changes, now = workspace.stores.changes, self.clock()
        newest = changes.newest()
        if newest != self._newest:
            self._newest, self._changed_at = newest, now
        if newest == self.worked_out or now < max(self._changed_at + self.quiet_seconds, self._rest_until):
            return
        if changes.has("paper", self.worked_out):
            refresh_scores(workspace)
        self.worked_out = newest
        self._rest_until = self.clock() + REST * (self.clock() - now)


@dataclass
class Follower:
    """A thread that brings every change of a workspace into its index, while a portal serves it.

    It keeps the scores of papers up to date as well. While records keep coming it stays the index's writer, so that
    none waits for files to be merged; after some seconds without any it lets go. Where another process is writing
    the index, that one does the work.
    `trouble` is the sentence of what last went wrong, and is empty again after the next success.
    """

    folder: Path
    every_seconds: float = FOLLOW_SECONDS
    scores: ScoreKeeper = field(default_factory=ScoreKeeper)
    trouble: str = ""
    _stop: Event = field(default_factory=Event)
    _held: ExitStack = field(default_factory=ExitStack)
    _writer: IndexWriter | None = None
    _last_change: float = 0.0

    def __post_init__(self) -> None:
        self._thread = Thread(target=self._run, name="index follower", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    def _run(self) -> None:
        with Workspace.open(self.folder) as workspace, self._held:
            while True:
                self._follow(workspace)
                if self._stop.wait(self.every_seconds):
                    return

    def _follow(self, workspace: Workspace) -> None:
        try:
            if self._writer is None and is_behind(workspace):
                self._writer = self._held.enter_context(workspace.index_writer())
            if self._writer:
                self._bring(workspace, self._writer)
            self.scores.look(workspace)
            self.trouble = ""
        except WorkspaceLocked:
            return
        except (WayhoundError, OSError) as error:
            self.trouble = str(error)
            self._let_go()

    def _bring(self, workspace: Workspace, writer: IndexWriter) -> None:
        if Feeding(workspace).bring(writer):
            self._last_change = time.monotonic()
        elif time.monotonic() - self._last_change > HOLD_SECONDS:
            writer.finish()
            self._let_go()

    def _let_go(self) -> None:
        self._writer = None
        self._held.close()


def is_behind(workspace: Workspace) -> bool:
    """Whether the store has changed since the index was last brought up to date."""
    in_use = current_build(workspace.index_folder)
    followed = read_followed(in_use).change if in_use else 0
    return workspace.stores.changes.newest() > followed
