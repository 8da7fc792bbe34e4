"""The search index of a workspace: rebuild it, update it, or follow the store while records keep coming."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Event, Thread
from typing import Any, Self

from wayhound.app.goal_records import GoalFollower, GoalSync, sync_goals
from wayhound.app.papers.works import CITED_ONLY, document_of_work, fill_from_citations
from wayhound.citations.hubs import CitationGraph, HubScores
from wayhound.errors import WayhoundError, WorkspaceLocked
from wayhound.files import write_file
from wayhound.record_kinds import FILE_NAME, PAPERS_AND_DOCUMENTS, KindSpec, read_kinds
from wayhound.search.schema import SCORE_DIGITS, IndexDocument, RecordContext, index_document
from wayhound.search.similar import write_similar
from wayhound.search.snapshot import (
    IndexWriter,
    SnapshotOpener,
    current_build,
    new_build,
    read_state,
    use_build,
    writer_lock,
)
from wayhound.store.records import RecordChange
from wayhound.workspace import Workspace

COMMIT_EVERY = 5_000  # records
FOLLOW_SECONDS = 0.25  # a record is found within two seconds of being saved; a commit takes part of one
HOLD_SECONDS = 3.0  # without a change, after which a follower lets others write
QUIET_SECONDS = 2.0  # without a change of papers, after which their scores are computed again
REST = 20  # times as long as computing them took, before it is done again

Progress = Callable[[int, int], None]
"""Called with the number of records done and their total."""


@dataclass(frozen=True, slots=True)
class Indexed:
    """The result of an update: records added or replaced, records removed, works that are only cited, and goals."""

    added: int
    removed: int
    seconds: float
    works: int = 0
    goals: GoalSync = GoalSync()  # noqa: RUF009 - frozen


def build(workspace: Workspace, progress: Progress = lambda _done, _of: None) -> Indexed:
    """Rebuild the index from the store. The old one answers until the new one is complete."""
    refresh_scores(workspace)
    return _feed(workspace, progress, fresh=True, compare=True)


def catch_up(
    workspace: Workspace, progress: Progress = lambda _done, _of: None, *, compare: bool = True
) -> Indexed:
    """Add to the index what has changed since its last commit; without an index, everything.

    With `compare`, similar documents are found anew after many changes, which takes some 8 kB of memory for each.
    """
    return _feed(workspace, progress, fresh=False, compare=compare)


def refresh_scores(workspace: Workspace) -> int:
    """Compute hubs and authorities, in the whole citation graph and in that of each topic; return how many changed."""
    if not workspace.stores.changes.has("paper", 0):
        return 0  # there never was a paper
    store = workspace.stores.scores
    graph = CitationGraph.from_edges(store.edges())
    whole = {paper: _rounded(scores) for paper, scores in graph.scores().items()}
    by_topic = {
        (paper, topic): _rounded(scores)
        for topic, papers in _topic_papers(workspace).items()
        for paper, scores in graph.subgraph(papers).scores().items()
    }
    unlinked = HubScores()
    return store.replace_all(whole, {key: scores for key, scores in by_topic.items() if scores != unlinked})


def _topic_papers(workspace: Workspace) -> dict[tuple[str, ...], set[str]]:
    """Return the papers of every topic, those of all topics below it included."""
    papers: dict[tuple[str, ...], set[str]] = {}
    for placement in workspace.stores.topics.under(()):
        for path in (placement.topic, placement.second):
            for end in range(1, len(path) + 1):
                papers.setdefault(path[:end], set()).add(placement.document)
    return papers


def _rounded(scores: HubScores) -> HubScores:
    return HubScores(round(scores.authority, SCORE_DIGITS), round(scores.hub, SCORE_DIGITS))


def _feed(workspace: Workspace, progress: Progress, *, fresh: bool, compare: bool) -> Indexed:
    started = time.monotonic()
    goals = sync_goals(workspace)
    feed = IndexFeed(workspace)
    with workspace.index_writer(fresh=fresh) as writer:
        feed.update(writer, progress)
        if fresh:
            writer.commit()  # an empty collection has an index too
        writer.finish()
        if compare and (snapshot := SnapshotOpener(workspace.index_folder).newest()):
            write_similar(snapshot)
    return Indexed(feed.added, feed.removed, time.monotonic() - started, feed.works, goals)


@dataclass
class IndexFeed:
    """Reads changed records, with their topics, citations and scores, into an index writer."""

    workspace: Workspace
    added: int = 0
    removed: int = 0
    works: int = 0
    unneeded: int = 0  # changes of what an empty index does not hold: works whose papers were added since
    uncommitted: int = 0
    change: int | None = None
    new_until: int = 0  # records of changes up to this one are new to the index: nothing needs to be replaced

    def __post_init__(self) -> None:
        self.changes = self.workspace.stores.changes
        self._kinds: Mapping[str, KindSpec] = read_kinds(self.workspace.folder / FILE_NAME)

    @property
    def done(self) -> int:
        return self.added + self.removed + self.works + self.unneeded

    def update(self, writer: IndexWriter, progress: Progress = lambda _done, _of: None) -> bool:
        """Add all that changed since the writer's last commit; return True if there was anything."""
        before, total = self.done, self.changes.waiting(writer.change)
        self.new_until = self.changes.newest() if writer.began_empty and not writer.change else 0
        for batch in self.changes.since(writer.change):
            self.put(batch, writer)
            progress(min(self.done - before, total), total)
        if self.uncommitted:
            writer.commit(self.change)
            self.uncommitted = 0
        return self.done > before

    def put(self, batch: list[RecordChange], writer: IndexWriter) -> None:
        works = self._works(batch)
        for change in batch:
            document = works.get(change.id) if change.kind == CITED_ONLY else self._document(change)
            self._put_one(change, document, writer)
        self.change = batch[-1].number
        self.uncommitted += len(batch)
        # A fresh build is not read before it is complete. Every commit makes a file, and each costs all later searches.
        if self.uncommitted >= COMMIT_EVERY and not writer.fresh:
            writer.commit(self.change)
            self.uncommitted = 0

    def _put_one(self, change: RecordChange, document: IndexDocument | None, writer: IndexWriter) -> None:
        is_new = change.number <= self.new_until
        if document is None and is_new:
            self.unneeded += 1
        elif document is None:
            writer.remove(change.kind, change.id)
            self.removed += 1
        else:
            writer.add(document, is_new=is_new)
            self.works += change.kind == CITED_ONLY
            self.added += change.kind != CITED_ONLY

    def _document(self, change: RecordChange) -> IndexDocument | None:
        record = self.workspace.stores.records.get(change.kind, change.id)
        if record is None:
            return None
        if record.kind not in PAPERS_AND_DOCUMENTS:
            return index_document(record, RecordContext(change=change.number), self._kinds)
        body = " ".join(self.workspace.stores.documents.pages(record.id))
        complete = fill_from_citations(self.workspace.stores.papers, record)
        references = (
            stored.citation.all_text
            for stored in self.workspace.stores.papers.citations(record.id)
            if stored.number
        )
        context = replace(self._context(change), body=body, references=tuple(references))
        return index_document(complete, context, self._kinds)

    def _works(self, batch: list[RecordChange]) -> dict[str, IndexDocument | None]:
        """Return the works of a batch that are only cited, read by one query."""
        changes = {int(change.id): change.number for change in batch if change.kind == CITED_ONLY}
        cited = self.workspace.stores.citations.citations_to([*changes]) if changes else {}
        return {
            str(group): document_of_work(group, by_paper, changes[group]) for group, by_paper in cited.items()
        }

    def _context(self, change: RecordChange) -> RecordContext:
        """Return topics, citations and scores of a paper; other documents have topics, other kinds nothing."""
        placed, scores = self.workspace.stores.topics.get(change.id), self.workspace.stores.scores
        topics = tuple(path for path in (placed.topic, placed.second) if path) if placed else ()
        return RecordContext(
            topics,
            scores.cited(change.id),
            scores.get(change.id),
            scores.by_topic(change.id),
            change.number,
        )


@dataclass
class ScoreKeeper:
    """Computes hubs and authorities again when papers, citations or topics have changed and then been quiet.

    On a large graph that takes seconds, so it is done seldom enough to cost a twentieth of one core at most.
    """

    computed: int = -1  # the change up to which the scores are complete
    quiet_seconds: float = QUIET_SECONDS
    clock: Callable[[], float] = time.monotonic
    _newest: int = -1
    _changed_at: float = 0.0
    _rest_until: float = 0.0

    def look(self, workspace: Workspace) -> None:
        """Refresh the scores if it is time."""
        changes, now = workspace.stores.changes, self.clock()
        newest = changes.newest()
        if newest != self._newest:
            self._newest, self._changed_at = newest, now
        if newest == self.computed or now < max(self._changed_at + self.quiet_seconds, self._rest_until):
            return
        if changes.has("paper", self.computed):
            refresh_scores(workspace)
        self.computed = newest
        self._rest_until = self.clock() + REST * (self.clock() - now)


@dataclass
class Follower:
    """A thread that adds every change of a workspace to its index, while a portal serves it.

    It also turns new goals into records and keeps the scores of papers up to date. While records keep coming it holds
    the index's lock, so that none waits for files to be merged; after some seconds without any it releases it. If
    another process holds the lock, that one does the work. `failure` is the last error, None after the next success;
    `on_failure` is told of each one once.
    """

    folder: Path
    every_seconds: float = FOLLOW_SECONDS
    scores: ScoreKeeper = field(default_factory=ScoreKeeper)
    goals: GoalFollower = field(default_factory=GoalFollower)
    on_failure: Callable[[Exception], None] = field(default=lambda _: None)
    failure: Exception | None = None
    _stop: Event = field(default_factory=Event)
    _open: ExitStack = field(default_factory=ExitStack)
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
        with Workspace.open(self.folder) as workspace, self._open:
            while True:
                self._follow(workspace)
                if self._stop.wait(self.every_seconds):
                    return

    def _follow(self, workspace: Workspace) -> None:
        try:
            self.goals.look(workspace)
            if self._writer is None and is_behind(workspace):
                self._writer = self._open.enter_context(workspace.index_writer())
            if self._writer:
                self._update(workspace, self._writer)
            self.scores.look(workspace)
            self.failure = None
        except WorkspaceLocked:
            return
        except (WayhoundError, OSError) as error:
            if str(error) != str(self.failure):
                self.on_failure(error)
            self.failure = error
            self._release()

    def _update(self, workspace: Workspace, writer: IndexWriter) -> None:
        if IndexFeed(workspace).update(writer):
            self._last_change = time.monotonic()
        elif time.monotonic() - self._last_change > HOLD_SECONDS:
            writer.finish()
            self._release()

    def _release(self) -> None:
        self._writer = None
        self._open.close()


def is_behind(workspace: Workspace) -> bool:
    """Return True if the store has changed since the index was last updated."""
    in_use = current_build(workspace.index_folder)
    followed = read_state(in_use).change if in_use else 0
    return workspace.stores.changes.newest() > followed


# Builds at the archive's location, for other machines

PUBLISHED = "index/current.json"


def publish_index(workspace: Workspace) -> str:
    """Copy the build in use to the archive's location, as a snapshot that never changes; return its name there.

    Empty if the archive is not shared or there is no build. Machines that read it see the old snapshot or the new one.
    The one before it stays for those that are just copying it. Raises ArchiveUnavailable, and WorkspaceLocked if the
    index is being written.
    """
    location, folder = workspace.location, workspace.index_folder
    if location is None:
        return ""
    with writer_lock(folder):
        build = current_build(folder)
        if build is None:
            return ""
        name = f"index/{read_state(build).change:012}-{time.time_ns()}"
        files = sorted(path for path in build.iterdir() if path.is_file() and not path.name.endswith(".lock"))
        for path in files:
            location.put(f"{name}/{path.name}", path)
        sizes = {path.name: path.stat().st_size for path in files}
        before = _published(workspace)
        draft = folder / "published.json"
        write_file(
            draft, json.dumps({"snapshot": name, "change": read_state(build).change, "files": sizes}).encode()
        )
        location.put(PUBLISHED, draft)  # in one step: readers find the old list of files or the new one
    for old in location.sizes("index"):
        if not old.startswith((f"{name}/", PUBLISHED, f"{before.get('snapshot')}/")):
            location.delete(old)
    return name


def fetch_index(workspace: Workspace) -> bool:
    """Use the snapshot at the archive's location, if it is newer than the build in use; return True if it was.

    What has changed since is then added from the database, so that a machine that serves need not index everything.
    Files that both have are not copied again. Raises ArchiveUnavailable, and WorkspaceLocked if the index is written.
    """
    published = _published(workspace)
    location, folder = workspace.location, workspace.index_folder
    if location is None or not published:
        return False
    with writer_lock(folder):
        in_use = current_build(folder)
        if in_use and read_state(in_use).change >= published["change"]:
            return False
        build = new_build(folder)
        for name, size in published["files"].items():
            same = in_use / name if in_use else None
            if same and name not in _CHANGING and same.is_file() and same.stat().st_size == size:
                os.link(same, build / name)
                continue
            content = location.read(f"{published['snapshot']}/{name}")
            if content is None or len(content) != size:
                return False  # replaced meanwhile: the next look finds the new one
            write_file(build / name, content)
        use_build(folder, build)
    return True


_CHANGING = {"meta.json", ".managed.json", "followed.json", "facets.txt"}


def _published(workspace: Workspace) -> dict[str, Any]:
    content = workspace.location.read(PUBLISHED) if workspace.location else None
    try:
        listed = json.loads(content or b"{}")
        names = [str(name) for name in listed.get("files", {})]
    except (ValueError, AttributeError):
        return {}
    is_plain = all(Path(name).name == name for name in names)
    return listed if names and is_plain and isinstance(listed.get("change"), int) else {}
