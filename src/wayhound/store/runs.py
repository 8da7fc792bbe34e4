"""Runs and their sites in SQLite, as the command that starts or watches them sees them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from wayhound.errors import NotInWorkspace
from wayhound.site import Site
from wayhound.store.database import Database
from wayhound.store.protocol import Progress, Run, RunLimits, SiteSummary

_LIMITS = "budget_per_site, total_budget, max_depth, min_probability, questions, min_goals_left"
_SELECT_RUN = f"SELECT id, identity, {_LIMITS} FROM run"  # noqa: S608


_NEW_SITE = ("run_id", "start", "hosts", "domain", "turn", "about")
_VISITS = "FROM visit JOIN site ON site.id = site_id WHERE run_id = ?1"
_BOUNDS = f"SELECT count(*), min(at), max(at) {_VISITS}"
_STRETCHES = (
    "SELECT sum(spent), count(*) FILTER (WHERE tier = 'goal') FROM (SELECT visit.spent, tier, "  # noqa: S608
    f"(row_number() OVER (ORDER BY at, number) - 1) * ?2 / ?3 AS stretch {_VISITS}) AS visited "
    "GROUP BY stretch ORDER BY stretch"
)
# in whole microseconds: the databases round fractions differently
_PARTS = (
    f"SELECT CAST((at - ?3) * 1000000 AS BIGINT) * ?2 / ?4 AS part, sum(visit.spent) {_VISITS} GROUP BY part"
)

# The speed of a machine is that of the last 30 seconds, by the last 100 visits of each of its sites at most.
RECENT_SECONDS, RECENT_VISITS = 30.0, 100
_AT_WORK = """
SELECT worker, count(visit.number) FROM site
LEFT JOIN visit ON visit.site_id = site.id AND visit.number >= site.visits - ?2 AND visit.at > ?3
    AND visit.outcome = 'ok'
WHERE site.state = 'leased' AND site.run_id = ?1 GROUP BY worker
"""


_FINDS = """
SELECT at, url, is_goal = 1 OR (status = 200 AND content_type <> '' AND content_type NOT LIKE '%html%')
FROM visit WHERE site_id = ?
"""


@dataclass(frozen=True, slots=True)
class Machine:
    """A machine that works on a run now, and its speed of late on the sites that it still has."""

    name: str
    workers: int
    pages_per_second: float


@dataclass(frozen=True, slots=True)
class Course:
    """A run over time, summed up for charts.

    Each of `stretches` has the same number of visits: the fetches spent and the goals found in it. `parts` are fetches
    in equal parts of the time; empty if no time passed.
    """

    stretches: tuple[tuple[int, int], ...] = ()
    parts: tuple[int, ...] = ()
    seconds: float = 0.0


class RunStore:
    """Runs and their sites."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def open_run(
        self, identity: Mapping[str, str], limits: RunLimits, sites: Iterable[Site], now: float
    ) -> Run:
        """Start the run of this identity or resume it with the new limits, and add sites that it lacks.

        Sites that ended at a limit that has grown since are reopened, and all if another probability makes a goal.
        """
        key = json.dumps(dict(identity), sort_keys=True, ensure_ascii=False)
        with self._database.transaction():
            existing = self._database.execute(
                f"SELECT id, {_LIMITS} FROM run WHERE identity = ?",  # noqa: S608
                (key,),
            ).fetchone()
            run_id = existing[0] if existing else self._add_run(key, now)
            self._database.execute(
                "UPDATE run SET budget_per_site = ?, total_budget = ?, max_depth = ?, min_probability = ?, "
                "questions = ?, min_goals_left = ?, opened_at = ? WHERE id = ?",
                (
                    limits.budget_per_site,
                    limits.total_budget,
                    limits.max_depth,
                    limits.min_probability,
                    limits.questions,
                    limits.min_goals_left,
                    now,
                    run_id,
                ),
            )
            if existing:
                self._reopen(run_id, RunLimits(*existing[1:]), limits)
            self._add_sites(run_id, sites)
        return Run(run_id, dict(identity), limits, is_new=not existing)

    def _add_run(self, key: str, now: float) -> int:
        sql = "INSERT INTO run (identity, created_at, opened_at) VALUES (?, ?, ?) RETURNING id"
        return int(self._database.execute(sql, (key, now, now)).fetchone()[0])

    def _add_sites(self, run_id: int, sites: Iterable[Site]) -> None:
        """Add the sites that a run lacks, all in one go, and hosts to those that it has."""
        known: dict[str, tuple[int, str, str, int]] = {
            start: (site_id, hosts, domain, turn)
            for start, site_id, hosts, domain, turn in self._database.execute(
                "SELECT start, id, hosts, domain, turn FROM site WHERE run_id = ?", (run_id,)
            )
        }
        turns = {domain: turn for _, _, domain, turn in known.values()}
        added: dict[str, Site] = {}
        for site in sites:
            if site.start in known:
                self._widen(run_id, *known[site.start][:2], site)
            elif site.start in added:
                hosts = tuple(dict.fromkeys((*added[site.start].hosts, *site.hosts)))
                added[site.start] = replace(added[site.start], hosts=hosts)
            else:
                added[site.start] = site

        def row(site: Site) -> tuple[Any, ...]:
            domain = site.domain
            turn = turns.setdefault(domain, len(turns))
            return run_id, site.start, json.dumps(site.hosts), domain, turn, site.about

        self._database.insert_rows("site", _NEW_SITE, map(row, added.values()))
        self._database.execute("UPDATE run SET sites = sites + ? WHERE id = ?", (len(added), run_id))

    def _widen(self, run_id: int, site_id: int, hosts: str, site: Site) -> None:
        """Reopen a site that is done if it now has hosts that it lacked."""
        known = json.loads(hosts)
        if new := [host for host in site.hosts if host not in known]:
            widened = json.dumps([*known, *new] if known else site.hosts)
            self._database.execute("UPDATE site SET hosts = ? WHERE id = ?", (widened, site_id))
            self._reopen_where(run_id, "id = ?", site_id)

    def _reopen(self, run_id: int, old: RunLimits, new: RunLimits) -> None:
        """Reopen done sites that a limit may have ended which has grown since.

        They are found by their counts, not by the reasons that they ended with: one reopened in vain ends again without
        a fetch.
        """
        if _grew(old.budget_per_site, new.budget_per_site):
            self._reopen_where(run_id, "spent >= ?", old.budget_per_site)
        if _grew(old.total_budget, new.total_budget):
            self._reopen_where(run_id, "total_refused = ?", 1)
        if _grew(old.max_depth, new.max_depth):
            deep = "EXISTS (SELECT 1 FROM visit WHERE site_id = site.id AND depth >= ?)"
            self._reopen_where(run_id, deep, old.max_depth)
        if old.min_goals_left is not None and (new.min_goals_left or 0) < old.min_goals_left:
            self._reopen_where(run_id, "goals_left < ?", old.min_goals_left)
        if old.min_probability != new.min_probability:
            self._reopen_where(run_id, "none_probability IS NOT NULL AND visits > ?", 0)

    def _reopen_where(self, run_id: int, condition: str, value: float | None) -> None:
        sql = (
            "UPDATE site SET state = 'waiting', reason = '', total_refused = 0 "
            "WHERE state = 'done' AND run_id = ?"
        )
        reopened = self._database.execute(f"{sql} AND {condition}", (run_id, value)).rowcount
        self._database.execute("UPDATE run SET sites_done = sites_done - ? WHERE id = ?", (reopened, run_id))

    def keep_list(
        self, run_id: int, headings: Iterable[str], rows: Iterable[tuple[Iterable[str], str]]
    ) -> None:
        """Keep the list of sites as a person gave it, in place of an earlier one: cells and start page of each row."""
        with self._database.transaction():
            self._database.execute(
                "UPDATE run SET headings = ? WHERE id = ?",
                (json.dumps(list(headings), ensure_ascii=False), run_id),
            )
            self._database.execute("DELETE FROM list_row WHERE run_id = ?", (run_id,))
            for number, (cells, start) in enumerate(rows):
                self._database.execute(
                    "INSERT INTO list_row (run_id, number, start, cells) VALUES (?, ?, ?, ?)",
                    (run_id, number, start, json.dumps(list(cells), ensure_ascii=False)),
                )

    def runs(self) -> list[Run]:
        """Return all runs of the workspace, the one opened last first."""
        return [
            _run(row) for row in self._database.execute(f"{_SELECT_RUN} ORDER BY opened_at DESC, id DESC")
        ]

    def run(self, run_id: int) -> Run:
        """Return a run. Raises NotInWorkspace if there is none with this number."""
        row = self._database.execute(f"{_SELECT_RUN} WHERE id = ?", (run_id,)).fetchone()
        if row is None:
            raise NotInWorkspace(f"There is no run {run_id} in this workspace.", next_step="status")
        return _run(row)

    def sites(self, run_id: int) -> Iterator[SiteSummary]:
        """Yield every site of the run, in the order in which they were added."""
        sql = (
            "SELECT start, state, reason, visits, spent, goals, likely, none_probability, goals_left, pages, failures "
            "FROM site WHERE run_id = ? ORDER BY id"
        )
        for row in self._database.stream(sql, (run_id,)):
            yield SiteSummary(*row)

    def progress(self, run_id: int) -> Progress:
        """Return sums over a run. Cheap at any size: reads a row per outcome and one per lease, no visits."""
        row = self._database.execute("SELECT sites, sites_done FROM run WHERE id = ?", (run_id,)).fetchone()
        sites, done = row or (0, 0)
        leased, goals_left, spent_in_progress = self._database.execute(
            "SELECT count(*), coalesce(sum(goals_left), 0.0), coalesce(sum(spent), 0) FROM site INDEXED BY site_leased "
            "WHERE state = 'leased' AND run_id = ?",
            (run_id,),
        ).fetchone()
        tallies = self._database.execute(
            "SELECT outcome, sum(visits), sum(spent), sum(goals), sum(likely) FROM tally WHERE run_id = ? "
            "GROUP BY outcome HAVING sum(visits) > 0 ORDER BY outcome",
            (run_id,),
        ).fetchall()
        visits, spent, goals, likely = (sum(row[column] for row in tallies) for column in (1, 2, 3, 4))
        outcomes = {row[0]: row[1] for row in tallies}
        return Progress(
            sites=sites,
            leased=leased,
            done=done,
            visits=visits,
            spent=spent,
            goals=goals,
            likely=likely,
            goals_left=goals_left,
            spent_in_progress=spent_in_progress,
            outcomes=outcomes,
        )

    def not_modified(self, run_id: int) -> int:
        """Return the number of pages that servers did not send again as unchanged; reads all visits of the run."""
        sql = (
            "SELECT count(*) FROM site CROSS JOIN visit ON site_id = site.id "
            "WHERE run_id = ? AND not_modified = 1"
        )
        return int(self._database.execute(sql, (run_id,)).fetchone()[0])

    def rendered(self, run_id: int) -> Iterator[tuple[str, str]]:
        """Yield start page and URL of each page that a browser was needed for; reads all visits of the run."""
        sql = (
            "SELECT start, url FROM site CROSS JOIN visit ON site_id = site.id "
            "WHERE run_id = ? AND rendering = 'rendered'"
        )
        yield from self._database.stream(sql, (run_id,))

    def finds(self, start: str, most: int) -> list[tuple[float, frozenset[str]]]:
        """Return when each of the last forages of a site ended and the URLs of the goals and files that it found.

        At most `most` forages are returned, the oldest first; those that have not ended are left out.
        """
        sites = self._database.execute(
            "SELECT id FROM site WHERE start = ? AND state = 'done' AND visits > 0 ORDER BY run_id DESC LIMIT ?",
            (start, most),
        ).fetchall()
        finds = []
        for (site_id,) in reversed(sites):
            rows = self._database.execute(_FINDS, (site_id,)).fetchall()
            finds.append(
                (max(at for at, _, _ in rows), frozenset(url for _, url, is_find in rows if is_find))
            )
        return finds

    def machines(self, run_id: int, now: float) -> list[Machine]:
        """Return the machines that hold sites of a run, by name."""
        values = (run_id, RECENT_VISITS, now - RECENT_SECONDS)
        pages: dict[str, list[int]] = {}
        for worker, recent in self._database.execute(_AT_WORK, values).fetchall():
            pages.setdefault(worker.rsplit(":", 2)[0], []).append(recent)
        return [
            Machine(name, len(of_workers), sum(of_workers) / RECENT_SECONDS)
            for name, of_workers in sorted(pages.items())
        ]

    def course(self, run_id: int, stretches: int, parts: int) -> Course:
        """Return a run over time, in at most so many stretches and parts, however many visits it has."""
        visits, began, ended = self._database.execute(_BOUNDS, (run_id,)).fetchone()
        if not visits:
            return Course()
        summed = tuple(self._database.execute(_STRETCHES, (run_id, stretches, visits)).fetchall())
        seconds = ended - began
        if seconds <= 0:
            return Course(summed)
        whole = round(seconds * 1_000_000) + 1  # one more, so that the last visit is in the last part
        pages = dict(self._database.execute(_PARTS, (run_id, parts, began, whole)).fetchall())
        return Course(summed, tuple(pages.get(part, 0) for part in range(parts)), seconds)


def _run(row: tuple[Any, ...]) -> Run:
    run_id, identity, *limits = row
    return Run(run_id, json.loads(identity), RunLimits(*limits))


def _grew(old: int | None, new: int | None) -> bool:
    return old is not None and (new is None or new > old)
