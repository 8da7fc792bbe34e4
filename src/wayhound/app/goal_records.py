"""Goals as records: every page that a forage took for a goal can be searched, browsed, exported and corrected.

`sync_goals` compares the goals of all runs with the records made from them, and reads only the pages that are new
or changed. It is safe to call at any time and from several processes: called again, it changes nothing.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from hashlib import sha256
from itertools import islice

from wayhound.app.order import Order, repeated_order
from wayhound.errors import ArchiveError, PluginError
from wayhound.fetched import Fetched
from wayhound.pages.prose import Prose, read_prose
from wayhound.paths.trail_file import PREFIX_MARK
from wayhound.plugins import EXTRACTORS, GoalContent, Plugin, find_plugins
from wayhound.record import Record, Span, Value
from wayhound.record_kinds import KINDS
from wayhound.store.goal_pages import GoalAnswer, GoalPage, GoalPageStore, GoalVisit
from wayhound.store.protocol import Run
from wayhound.store.visits import clicked_texts, path_reader
from wayhound.trail import FAIL, GOAL
from wayhound.workspace import Workspace

KIND = "page"
CONFIRMED = "confirmed"
"""The certainty of a goal that a person confirmed in a review; else it is the tier that the forage gave it."""

BATCH = 250  # pages read and saved in one transaction: others wait to write for a fraction of a second
REST = 20  # times as long as a sync took, before a follower looks again
MATCHES = "matches"
"""The reason of a goal that was recognised by words alone: `matches PATTERN`."""

_VERSION = "3"  # a record made by an earlier version is made anew
_DIGITS = 4
_SEPARATOR = " › "


@dataclass(frozen=True, slots=True)
class GoalSync:
    """The result of a sync. `hidden` goals have no record because their pages ask not to be indexed."""

    added: int = 0
    updated: int = 0
    removed: int = 0
    hidden: int = 0
    problems: tuple[str, ...] = ()  # plugins that failed, a message each

    @property
    def changed(self) -> bool:
        return bool(self.added or self.updated or self.removed)


def goal_id(url: str) -> str:
    """Return the id of the record of a goal page: one for each URL, whatever run found it."""
    return sha256(url.encode("utf-8", "replace")).hexdigest()[:16]


def sync_goals(
    workspace: Workspace, on_progress: Callable[[int, int], None] = lambda _done, _of: None
) -> GoalSync:
    """Bring the `page` records of a workspace in line with the goals of its runs.

    A goal that a person rejected, that the newest run of the same order no longer takes for a goal or finds gone, whose
    page asks not to be indexed, or that was removed on request, has no record. Approved corrections are kept.
    """
    store = workspace.stores.goal_pages
    extractors = _Extractors()
    saved = store.pages()
    goals, hidden = _current_goals(workspace, store)
    states = {goal.id: goal.state(extractors.version) for goal in goals}
    stale = [goal for goal in goals if goal.id not in saved or saved[goal.id].state != states[goal.id]]
    gone = [page for page_id, page in saved.items() if page_id not in states]
    if gone:
        store.delete(KIND, gone)
    if stale:
        maker = _RecordMaker(workspace, extractors)
        stale.sort(key=_archive_order)
        for done, batch in _batches(stale):
            on_progress(done, len(stale))
            store.save([maker.make(goal, states[goal.id], saved.get(goal.id)) for goal in batch])
        on_progress(len(stale), len(stale))
    updated = sum(goal.id in saved for goal in stale)
    return GoalSync(len(stale) - updated, updated, len(gone), hidden, extractors.problems)


def _batches(goals: list[_Goal]) -> Iterator[tuple[int, list[_Goal]]]:
    waiting = iter(goals)
    for done in range(0, len(goals), BATCH):
        yield done, list(islice(waiting, BATCH))


@dataclass
class GoalFollower:
    """Syncs goals whenever the database has changed, for at most a twentieth of the time."""

    clock: Callable[[], float] = time.monotonic
    _seen: tuple[int | str, int] | None = None
    _rest_until: float = 0.0

    def look(self, workspace: Workspace) -> None:
        """Sync if something changed since the last look and the last sync is long enough ago."""
        store, now = workspace.stores.goal_pages, self.clock()
        if now < self._rest_until or store.version() == self._seen:
            return
        self._seen = store.version()[0], 0
        sync_goals(workspace)
        self._seen = self._seen[0], store.version()[1]
        self._rest_until = self.clock() + REST * (self.clock() - now)


# Which goals there are


@dataclass(frozen=True, slots=True)
class _Goal:
    """The visit that a record is made from, and what is known of it beside."""

    visit: GoalVisit
    order: Order
    certainty: str
    first_seen: float
    corrections: Mapping[str, tuple[str, ...]]

    @property
    def id(self) -> str:
        return goal_id(self.visit.url)

    @property
    def label(self) -> str:
        """The milestone that a person named, or else what was looked for.

        Models call other pages by states of their own: `<<Goal`, `Fail`. A goal among them is a goal all the same.
        """
        if self.visit.label not in ("", GOAL, FAIL) and not self.visit.label.startswith(PREFIX_MARK):
            return self.visit.label
        return next(iter(self.order.keywords), "") or self.order.goal or GOAL

    @property
    def why(self) -> list[tuple[str, float]]:
        reasons = [(str(feature), float(weight)) for feature, weight in json.loads(self.visit.why)]
        if reasons or not self.order.goal:
            return reasons
        shown = f"{self.visit.url} {self.visit.title}".casefold()
        words = [word for word in self.order.keywords if word.casefold() in shown]
        return [(f"{MATCHES} {pattern}", 1.0) for pattern in words or [self.order.goal]]

    def state(self, extractors: str) -> str:
        """Return a digest of all that the record is made from."""
        parts = (
            _VERSION,
            extractors,
            self.visit,
            self.label,
            self.certainty,
            self.first_seen,
            self.corrections,
        )
        return sha256(repr(parts).encode("utf-8", "replace")).hexdigest()[:32]


def _archive_order(goal: _Goal) -> tuple[str, int]:
    """In the order of the archive, so that each file is read from front to back."""
    ref = goal.visit.archived
    return (ref.file, ref.offset) if ref else ("", 0)


def _current_goals(workspace: Workspace, store: GoalPageStore) -> tuple[list[_Goal], int]:
    """Return the goals that should have records, and how many ask not to be indexed."""
    orders = {run.id: _order_of(run) for run in workspace.stores.forage.runs()}
    answers = _last_answers(store.answers(), orders)
    corrections = workspace.stores.submissions.corrections(KIND)
    withheld = workspace.stores.submissions.withheld(KIND)
    documents = store.documents()
    goals, hidden = [], 0
    for url, visits in store.visits():
        newest = _surviving(visits, orders, answers)
        if newest is None or goal_id(url) in withheld:
            continue
        visit, certainty = newest
        if (visit.site_id, visit.number) in documents:
            continue  # a file that was read as a paper has a record of its own
        if visit.robots.startswith("noindex"):
            hidden += 1
            continue
        first_seen = min((earlier.at for earlier in visits if earlier.tier), default=visit.at)
        order = orders[visit.run]
        goals.append(_Goal(visit, order, certainty, first_seen, corrections.get(goal_id(url), {})))
    return goals, hidden


def _order_of(run: Run) -> Order:
    """Return what a run looked for; an identity that cannot be read is an order of its own."""
    try:
        return repeated_order(run)
    except ValueError:
        return Order(fresh=json.dumps(run.identity, sort_keys=True))


def _last_answers(answers: Iterable[GoalAnswer], orders: Mapping[int, Order]) -> dict[tuple[str, Order], str]:
    """By URL and order, the last answer that a person gave: it holds for later runs of the order as well."""
    return {(given.url, orders[given.run]): given.answer for given in answers if given.run in orders}


def _surviving(
    visits: list[GoalVisit], orders: Mapping[int, Order], answers: Mapping[tuple[str, Order], str]
) -> tuple[GoalVisit, str] | None:
    """Return the newest visit that takes the page for a goal, and how certain that is.

    Runs of different orders look for different things, so each order has a say of its own: the last run of it.
    """
    newest: dict[Order, GoalVisit] = {}
    for visit in visits:  # oldest run first
        order = orders[visit.run]
        same_run = order in newest and newest[order].run == visit.run
        if not (same_run and newest[order].tier):  # two sites of a run may meet the same page
            newest[order] = visit
    goals = [
        (visit, certainty)
        for order, visit in newest.items()
        if (certainty := _certainty(visit, answers.get((visit.url, order), "")))
    ]
    return max(goals, key=lambda entry: (entry[0].run, entry[0].number), default=None)


def _certainty(visit: GoalVisit, answer: str) -> str:
    """Return the certainty of a goal; empty if it is none. What a person said counts more than the forage."""
    if visit.outcome != "ok":
        return ""
    if answer:
        return CONFIRMED if answer == GOAL else ""
    return visit.tier


# What a record holds


class _RecordMaker:
    """Makes records from goals; reads each page from the archive once."""

    def __init__(self, workspace: Workspace, extractors: _Extractors) -> None:
        self._archive = workspace.archive
        self._path = path_reader(workspace.database)
        self._extractors = extractors

    def make(self, goal: _Goal, state: str, before: GoalPage | None) -> tuple[GoalPage, list[Record]]:
        first_seen = min(goal.first_seen, before.first_seen) if before else goal.first_seen
        answer = self._read(goal.visit)
        prose = read_prose(answer.body, answer.content_type, answer.charset) if answer else Prose()
        page = Record(
            KIND,
            goal.id,
            self._fields(goal, prose, first_seen) | _corrected(goal.corrections),
            goal.visit.site,
            goal.visit.number,
            goal.visit.run,
        )
        made = self._extractors.records(goal, prose, answer) if answer else []
        keys = tuple((record.kind, record.id) for record in made)
        return GoalPage(goal.id, goal.visit.url, state, first_seen, keys), [page, *made]

    def _read(self, visit: GoalVisit) -> Fetched | None:
        if visit.archived is None:
            return None
        try:
            return self._archive.read(visit.archived)
        except (ArchiveError, OSError):
            return None  # the record then holds what the visit itself tells

    def _fields(self, goal: _Goal, prose: Prose, first_seen: float) -> dict[str, tuple[Value, ...]]:
        visit = goal.visit
        clicks = clicked_texts(self._path(visit.site_id, visit.number))
        path = _SEPARATOR.join(text or "(no text)" for text in clicks)
        source = Span(visit.url)
        title = " ".join((prose.title or visit.title).split())
        texts = {
            "title": [Value(title or visit.url, source=source)],
            "snippet": [Value(prose.snippet, source=source)],
            "label": [Value(goal.label, visit.probability)],
            "certainty": [Value(goal.certainty)],
            "probability": [Value(f"{visit.probability:.{_DIGITS}g}")],
            "why": [Value(f"{feature} {weight:+.2f}") for feature, weight in goal.why],
            "path": [Value(path)],
            "language": [Value(prose.language.split("-")[0])],
            "found": [Value(_iso(visit.at))],
            "first_found": [Value(_iso(first_seen))],
            "run": [Value(str(visit.run))],
            "url": [Value(visit.url)],
            "text": [Value(prose.rest, source=source)],
            "around": [Value(prose.around, source=source)],
        }
        return {name: tuple(value for value in values if value.text) for name, values in texts.items()}


def _corrected(corrections: Mapping[str, tuple[str, ...]]) -> dict[str, tuple[Value, ...]]:
    return {name: tuple(map(Value, texts)) for name, texts in corrections.items()}


def _iso(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


@dataclass
class _Extractors:
    """The installed extractors. One that fails is named once, with how often it failed, and the others go on."""

    _plugins: dict[str, Plugin] = field(default_factory=lambda: find_plugins(EXTRACTORS))
    _failures: dict[str, list[PluginError]] = field(default_factory=dict)

    @property
    def version(self) -> str:
        """Changes when a plugin is added, removed or updated, so that all goals are read again."""
        return repr([(plugin.name, plugin.package, plugin.version) for plugin in self._plugins.values()])

    @property
    def problems(self) -> tuple[str, ...]:
        more = {name: len(errors) - 1 for name, errors in self._failures.items()}
        return tuple(
            f"{errors[0]}{f' The same for {more[name]:,} more pages.' if more[name] else ''}"
            for name, errors in self._failures.items()
        )

    def records(self, goal: _Goal, prose: Prose, answer: Fetched) -> list[Record]:
        content = GoalContent(
            url=goal.visit.url,
            site=goal.visit.site,
            label=goal.label,
            title=prose.title or goal.visit.title,
            text=prose.text,
            content_type=answer.content_type,
            body=answer.body,
        )
        made: dict[tuple[str, str], Record] = {}
        for plugin in self._plugins.values():
            for record in self._run(plugin, content):
                visit = goal.visit
                made[record.kind, record.id] = replace(
                    record, site=visit.site, visit=visit.number, run=visit.run
                )
        return list(made.values())

    def _run(self, plugin: Plugin, content: GoalContent) -> list[Record]:
        try:
            return [_checked(record) for record in plugin.load()(content)]
        except PluginError as error:
            self._failures.setdefault(plugin.name, []).append(error)
        except Exception as error:  # noqa: BLE001 - foreign code may raise anything
            failure = plugin.failure(f"failed on {content.url}", error)
            self._failures.setdefault(plugin.name, []).append(failure)
        return []


def _checked(record: object) -> Record:
    if not isinstance(record, Record):
        raise TypeError(f"an extractor must give records, not {type(record).__name__}")
    if record.kind in KINDS:
        raise ValueError(f"records of the kind {record.kind!r} are made by Wayhound alone")
    return record
