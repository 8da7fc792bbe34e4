"""The course of a run: what was fetched when, and what it brought, summed up as charts need it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from wayhound.errors import UsageError
from wayhound.site import Site
from wayhound.store.database import Database

SiteState = Literal["waiting", "leased", "done"]

_SELECT_RUN = "SELECT id, identity, budget_per_site, total_budget, max_depth FROM run"


@dataclass(frozen=True, slots=True)
class RunLimits:
    """What a run may spend; `None` is without limit. Limits may change from one call to the next."""

    budget_per_site: int | None = None
    total_budget: int | None = None
    max_depth: int | None = None


@dataclass(frozen=True, slots=True)
class Run:
    """One forage with its settings. The same identity again continues it."""

    id: int
    identity: Mapping[str, str]
    limits: RunLimits
    is_new: bool = False


@dataclass(frozen=True, slots=True)
class SiteSummary:
    """How far a run has come with one site, and why it stopped there."""

    start: str
    state: SiteState
    reason: str
    visits: int
    spent: int
    goals: int


@dataclass(frozen=True, slots=True)
class Progress:
    """Sums over a run; `outcomes` counts the visits by reason code."""

    sites: int = 0
    leased: int = 0
    done: int = 0
    visits: int = 0
    spent: int = 0
    goals: int = 0
    outcomes: Mapping[str, int] = field(default_factory=dict)

    @property
    def waiting(self) -> int:
        return self.sites - self.leased - self.done

    @property
    def is_over(self) -> bool:
        return self.done >= self.sites


_VISITS = "FROM visit JOIN site ON site.id = site_id WHERE run_id = ?1"
_BOUNDS = f"SELECT count(*), min(at), max(at) {_VISITS}"
_STRETCHES = (
    "SELECT sum(spent), sum(is_goal) FROM (SELECT visit.spent, is_goal, "  # noqa: S608
    f"(row_number() OVER (ORDER BY at, number) - 1) * ?2 / ?3 AS stretch {_VISITS}) "
    "GROUP BY stretch ORDER BY stretch"
)
_PARTS = (
    "SELECT min(CAST(?2 * (at - ?3) / ?4 AS INTEGER), ?2 - 1) AS part, sum(visit.spent) "
    f"{_VISITS} GROUP BY part"
)


@dataclass(frozen=True, slots=True)
class Course:
    """A run in the order of time.

    `stretches` are equally many visits each: the pages paid for and the goals among them. `parts` are pages in
    equal parts of the time; none where no time went by.
    """

    stretches: tuple[tuple[int, int], ...] = ()
    parts: tuple[int, ...] = ()
    seconds: float = 0.0


class RunStore:
    """Runs and their sites, as the command that starts or watches them sees them."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def open_run(
        self, identity: Mapping[str, str], limits: RunLimits, sites: Iterable[Site], now: float
    ) -> Run:
        """Begin the run of this identity or continue it; add sites it lacks; obey the new limits.

        Sites that ended because of a limit which has grown since are reopened.
        """
        key = json.dumps(dict(identity), sort_keys=True, ensure_ascii=False)
        with self._database.transaction():
            known = self._database.execute(
                "SELECT id, budget_per_site, total_budget, max_depth FROM run WHERE identity = ?", (key,)
            ).fetchone()
            run_id = known[0] if known else self._add_run(key, now)
            self._database.execute(
                "UPDATE run SET budget_per_site = ?, total_budget = ?, max_depth = ?, opened_at = ? "
                "WHERE id = ?",
                (limits.budget_per_site, limits.total_budget, limits.max_depth, now, run_id),
            )
            if known:
                self._reopen(run_id, RunLimits(*known[1:]), limits)
            self._add_sites(run_id, sites)
        return Run(run_id, dict(identity), limits, is_new=not known)

    def _add_run(self, key: str, now: float) -> int:
        sql = "INSERT INTO run (identity, created_at, opened_at) VALUES (?, ?, ?) RETURNING id"
        return int(self._database.execute(sql, (key, now, now)).fetchone()[0])

    def _add_sites(self, run_id: int, sites: Iterable[Site]) -> None:
        turns: dict[str, int] = dict(
            self._database.execute("SELECT DISTINCT domain, turn FROM site WHERE run_id = ?", (run_id,))
        )
        added = 0
        for site in sites:
            domain = site.domain
            turn = turns.setdefault(domain, len(turns))
            added += self._database.execute(
                "INSERT INTO site (run_id, start, hosts, domain, turn) VALUES (?, ?, ?, ?, ?) "
                "ON CONFLICT (run_id, start) DO NOTHING",
                (run_id, site.start, json.dumps(site.hosts), domain, turn),
            ).rowcount
        self._database.execute("UPDATE run SET sites = sites + ? WHERE id = ?", (added, run_id))

    def _reopen(self, run_id: int, old: RunLimits, new: RunLimits) -> None:
        """Judged by numbers and not by reasons: a site reopened in vain ends again without a fetch."""
        if _grew(old.budget_per_site, new.budget_per_site):
            self._reopen_where(run_id, "spent >= ?", old.budget_per_site)
        if _grew(old.total_budget, new.total_budget):
            self._reopen_where(run_id, "total_refused = ?", 1)
        if _grew(old.max_depth, new.max_depth):
            deep = "EXISTS (SELECT 1 FROM visit WHERE site_id = site.id AND depth >= ?)"
            self._reopen_where(run_id, deep, old.max_depth)

    def _reopen_where(self, run_id: int, condition: str, value: int | None) -> None:
        sql = (
            "UPDATE site SET state = 'waiting', reason = '', total_refused = 0 "
            "WHERE state = 'done' AND run_id = ?"
        )
        reopened = self._database.execute(f"{sql} AND {condition}", (run_id, value)).rowcount
        self._database.execute("UPDATE run SET sites_done = sites_done - ? WHERE id = ?", (reopened, run_id))

    def runs(self) -> list[Run]:
        """All runs of the workspace, the one opened last first."""
        return [
            _run(row) for row in self._database.execute(f"{_SELECT_RUN} ORDER BY opened_at DESC, id DESC")
        ]

    def run(self, run_id: int) -> Run:
        row = self._database.execute(f"{_SELECT_RUN} WHERE id = ?", (run_id,)).fetchone()
        if row is None:
            raise UsageError(f"There is no run {run_id} in {self._database.name}.")
        return _run(row)

    def sites(self, run_id: int) -> Iterator[SiteSummary]:
        """Every site of the run, in the order in which they were added."""
        sql = "SELECT start, state, reason, visits, spent, goals FROM site WHERE run_id = ? ORDER BY id"
        for row in self._database.stream(sql, (run_id,)):
            yield SiteSummary(*row)

    def progress(self, run_id: int) -> Progress:
        """Cheap at any size: it reads a row per outcome and one per lease, no site and no visit."""
        known = self._database.execute("SELECT sites, sites_done FROM run WHERE id = ?", (run_id,)).fetchone()
        sites, done = known or (0, 0)
        leased = self._database.execute(
            "SELECT count(*) FROM site INDEXED BY site_leased WHERE state = 'leased' AND run_id = ?",
            (run_id,),
        ).fetchone()[0]
        tallies = self._database.execute(
            "SELECT outcome, visits, spent, goals FROM tally WHERE run_id = ? AND visits > 0", (run_id,)
        ).fetchall()
        visits, spent, goals = (sum(row[column] for row in tallies) for column in (1, 2, 3))
        outcomes = {row[0]: row[1] for row in tallies}
        return Progress(sites, leased, done, visits, spent, goals, outcomes)

    def not_modified(self, run_id: int) -> int:
        """How many pages servers did not send again in this run, as they had not changed; reads its visits."""
        sql = (
            "SELECT count(*) FROM site CROSS JOIN visit ON site_id = site.id "
            "WHERE run_id = ? AND not_modified = 1"
        )
        return int(self._database.execute(sql, (run_id,)).fetchone()[0])

    def course(self, run_id: int, stretches: int, parts: int) -> Course:
        """Return a run over time, in at most so many stretches and parts, however many visits it has."""
        visits, began, ended = self._database.execute(_BOUNDS, (run_id,)).fetchone()
        if not visits:
            return Course()
        summed = tuple(self._database.execute(_STRETCHES, (run_id, stretches, visits)).fetchall())
        seconds = ended - began
        if seconds <= 0:
            return Course(summed)
        pages = dict(self._database.execute(_PARTS, (run_id, parts, began, seconds)).fetchall())
        return Course(summed, tuple(pages.get(part, 0) for part in range(parts)), seconds)


def _run(row: tuple[Any, ...]) -> Run:
    run_id, identity, *limits = row
    return Run(run_id, json.loads(identity), RunLimits(*limits))


def _grew(old: int | None, new: int | None) -> bool:
    return old is not None and (new is None or new > old)
