"""All of a forage that outlives a process: runs, sites shared out by lease, visits, and the total budget."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from wayhound.errors import LeaseLost, UsageError, WorkspaceError
from wayhound.site import Site
from wayhound.store.database import Database
from wayhound.store.runs import Progress, Run, RunLimits, RunStore, SiteSummary
from wayhound.visit import ArchiveRef, Visit

VISIT_COLUMNS = (
    "number, url, outcome, at, parent, link_text, link_region, link_kind, depth, attempt, score, status, "
    "content_type, title, digest, label, goal, is_goal, spent, wait_seconds, location, "
    "robots, not_modified, archive_file, archive_offset, archive_length"
)
_WIDTH = VISIT_COLUMNS.count(",") + 1
INSERT_VISIT = f"INSERT INTO visit (site_id, {VISIT_COLUMNS}) VALUES (?{', ?' * _WIDTH})"  # noqa: S608


def visit_row(site_id: int, visit: Visit) -> tuple[Any, ...]:
    """The values of `INSERT_VISIT`. `Visit.site` is not among them: the site's row holds it."""
    archived = visit.archived
    return (
        site_id, visit.number, visit.url, visit.outcome, visit.at, visit.parent,
        visit.link_text, visit.link_region, visit.link_kind, visit.depth, visit.attempt, visit.score,
        visit.status, visit.content_type, visit.title, visit.digest, visit.label, visit.goal,
        visit.is_goal, visit.spent, visit.wait_seconds, visit.location,
        visit.robots, visit.not_modified,
        archived and archived.file, archived and archived.offset, archived and archived.length,
    )  # fmt: skip


def visit_from(site: str, row: tuple[Any, ...]) -> Visit:
    """The visit of a row with `VISIT_COLUMNS`."""
    *plain, is_goal, spent, wait_seconds, location, robots, not_modified, file, offset, length = row
    archived = None if file is None else ArchiveRef(file, offset, length)
    switches = bool(is_goal), bool(spent)
    values = (site, *plain, *switches, wait_seconds, location, robots, bool(not_modified), archived)
    return Visit(*values)


__all__ = ["ForageStore", "Progress", "Run", "RunLimits", "SiteJob", "SiteSummary"]

_BATCH = 500
_LAST_PAGE = (
    "SELECT archive_file, archive_offset, archive_length FROM visit INDEXED BY visit_page "
    "WHERE url = ? AND outcome IN ('ok', 'duplicate') AND archive_file IS NOT NULL ORDER BY at DESC LIMIT 1"
)


@dataclass(frozen=True, slots=True)
class SiteJob:
    """A site leased to a worker; `visits` of it are saved, numbered from 0."""

    id: int
    site: Site
    visits: int


@dataclass(frozen=True, slots=True)
class _Held:
    run_id: int
    worker: str
    start: str


class ForageStore(RunStore):
    """Runs and their sites in SQLite.

    A site belongs to the worker that leased it here until it is finished, released or its lease expires;
    saving to a site that is no longer held raises `LeaseLost`, so that two owners never mix their visits.
    """

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self._held: dict[int, _Held] = {}
        self._turns: dict[int, int] = {}  # by run, the turn of the domain leased last
        self._refused: set[tuple[int, str]] = set()  # runs and workers told that the total budget is spent

    # Leases

    def lease_site(self, run_id: int, worker: str, now: float, until: float) -> SiteJob | None:
        """Take a site that waits and whose domain nobody holds, or none if there is none just now."""
        with self._database.transaction():
            self._expire(now)
            row = self._first_free(run_id)
            if row is None:
                return None
            job = SiteJob(row[0], Site(row[1], tuple(json.loads(row[2]))), row[3])
            self._database.execute(
                "UPDATE site SET state = 'leased', worker = ?, lease_until = ? WHERE id = ?",
                (worker, until, job.id),
            )
        self._held[job.id] = _Held(run_id, worker, job.site.start)
        return job

    def _expire(self, now: float) -> None:
        expired = self._database.execute(
            "UPDATE site SET state = 'waiting', worker = NULL, lease_until = NULL "
            "WHERE state = 'leased' AND lease_until < ?",
            (now,),
        ).rowcount
        if expired:  # a worker that lets all its leases lapse will not use its reservations either
            self._database.execute(
                "DELETE FROM reservation WHERE worker NOT IN (SELECT worker FROM site WHERE state = 'leased')"
            )

    def _first_free(self, run_id: int) -> tuple[int, str, str, int] | None:
        """Go on from the domain that was leased last, and around once: those before it are mostly leased."""
        last = self._turns.get(run_id, -1)
        return self._free_after(run_id, last) or self._free_after(run_id, -1)

    def _free_after(self, run_id: int, turn: int) -> tuple[int, str, str, int] | None:
        """Step from domain to domain; only those that are leased just now are passed over."""
        while row := self._database.execute(
            "SELECT id, start, hosts, visits, turn, domain FROM site "
            "WHERE run_id = ? AND state = 'waiting' AND turn > ? ORDER BY turn, id LIMIT 1",
            (run_id, turn),
        ).fetchone():
            *found, turn, domain = row
            if not self._is_leased(domain):
                self._turns[run_id] = turn
                return tuple(found)
        return None

    def _is_leased(self, domain: str) -> bool:
        sql = "SELECT 1 FROM site WHERE state = 'leased' AND domain = ?"
        return self._database.execute(sql, (domain,)).fetchone() is not None

    def renew_leases(self, run_id: int, worker: str, until: float) -> None:
        self._database.execute(
            "UPDATE site INDEXED BY site_leased SET lease_until = ? "
            "WHERE state = 'leased' AND run_id = ? AND worker = ?",
            (until, run_id, worker),
        )

    def release_leases(self, run_id: int, worker: str) -> None:
        """Give back all sites and reservations of a worker, as at a clean stop."""
        with self._database.transaction():
            self._release(run_id, worker)
        self._held = {
            job: held for job, held in self._held.items() if (held.run_id, held.worker) != (run_id, worker)
        }

    def release_dead(self, run_id: int, is_alive: Callable[[str], bool]) -> None:
        """Give back what workers hold that are no more, so that their sites need not wait for the lease.

        A process that begins should call its own worker names dead: an earlier process may have had them.
        """
        workers = self._database.execute(
            "SELECT worker FROM site INDEXED BY site_leased WHERE state = 'leased' AND run_id = ? "
            "UNION SELECT worker FROM reservation WHERE run_id = ?",
            (run_id, run_id),
        ).fetchall()
        dead = [worker for (worker,) in workers if not is_alive(worker)]
        with self._database.transaction():
            for worker in dead:
                self._release(run_id, worker)

    def _release(self, run_id: int, worker: str) -> None:
        self._database.execute(
            "UPDATE site INDEXED BY site_leased SET state = 'waiting', worker = NULL, lease_until = NULL "
            "WHERE state = 'leased' AND run_id = ? AND worker = ?",
            (run_id, worker),
        )
        self._database.execute("DELETE FROM reservation WHERE run_id = ? AND worker = ?", (run_id, worker))

    def finish_site(self, job_id: int, reason: str, hosts: tuple[str, ...] | None = None) -> None:
        """The site is done, and why; `hosts` if what counts as inside was learned on the way."""
        held = self._holding(job_id)
        learned = None if hosts is None else json.dumps(hosts)
        refused = (held.run_id, held.worker) in self._refused
        with self._database.transaction():
            changed = self._database.execute(
                "UPDATE site SET state = 'done', worker = NULL, lease_until = NULL, reason = ?, "
                "hosts = coalesce(?, hosts), total_refused = ? WHERE id = ? AND worker = ?",
                (reason, learned, refused, job_id, held.worker),
            ).rowcount
            if not changed:
                raise self._lost(job_id)
            self._database.execute("UPDATE run SET sites_done = sites_done + 1 WHERE id = ?", (held.run_id,))
        del self._held[job_id]

    # Visits

    def save_visit(self, job_id: int, visit: Visit) -> None:
        """Write the visit down; when this returns, no end of the process can lose it.

        A visit that spent a fetch uses up one reservation of its worker, if there is one.
        """
        held = self._holding(job_id)
        if visit.site != held.start:
            raise ValueError(f"a visit of {visit.site} was saved to {held.start}")
        execute = self._database.execute
        spent, goal = visit.spent, visit.is_goal
        with self._database.transaction():
            changed = execute(
                "UPDATE site SET visits = visits + 1, spent = spent + ?, goals = goals + ? "
                "WHERE id = ? AND visits = ? AND worker = ?",
                (spent, goal, job_id, visit.number, held.worker),
            ).rowcount
            if not changed:
                raise self._refusal(job_id, held, visit.number)
            execute(INSERT_VISIT, visit_row(job_id, visit))
            if visit.why:
                execute(
                    "INSERT INTO goal_reason (site_id, number, features) VALUES (?, ?, ?)",
                    (job_id, visit.number, json.dumps(visit.why, ensure_ascii=False)),
                )
            execute(
                "INSERT INTO tally (run_id, outcome, visits, spent, goals) VALUES (?, ?, 1, ?, ?) "
                "ON CONFLICT DO UPDATE SET visits = visits + 1, spent = spent + excluded.spent, "
                "goals = goals + excluded.goals",
                (held.run_id, visit.outcome, spent, goal),
            )
            if spent:
                self._use_reservation(held.run_id, held.worker)

    def _refusal(self, job_id: int, held: _Held, number: int) -> Exception:
        worker, visits = self._database.execute(
            "SELECT worker, visits FROM site WHERE id = ?", (job_id,)
        ).fetchone()
        if worker != held.worker:
            return self._lost(job_id)
        return WorkspaceError(
            f"Visit {number} of {held.start} was not saved: it has {visits} visits, so the next is "
            f"number {visits}."
        )

    def visits(self, job_id: int, first: int = 0) -> Iterator[Visit]:
        """The saved visits of a site in order, from number `first` on. Read in batches, so it may be left and
        saved to meanwhile."""
        known = self._database.execute("SELECT start FROM site WHERE id = ?", (job_id,)).fetchone()
        if known is None:
            raise UsageError(f"There is no site {job_id} in {self._database.name}.")
        sql = (
            f"SELECT {VISIT_COLUMNS} FROM visit WHERE site_id = ? AND number >= ? "  # noqa: S608
            f"ORDER BY number LIMIT {_BATCH}"
        )
        number = first
        while rows := list(self._database.stream(sql, (job_id, number))):
            for row in rows:
                yield visit_from(known[0], row)
            number = rows[-1][0] + 1

    def visits_of(self, run_id: int, start: str, first: int = 0) -> Iterator[Visit]:
        """The same of the site of a run that begins at `start`; none if the run has no such site."""
        for (site_id,) in self._database.execute(
            "SELECT id FROM site WHERE run_id = ? AND start = ?", (run_id, start)
        ).fetchall():
            yield from self.visits(site_id, first)

    def last_page(self, url: str) -> ArchiveRef | None:
        """Where the page at this URL was archived last, by whatever run; None if none was."""
        row = self._database.execute(_LAST_PAGE, (url,)).fetchone()
        return ArchiveRef(*row) if row else None

    def delete_visits_from(self, job_id: int, number: int) -> None:
        """Forget the visits from `number` on: the archive lost what they fetched, as in a power cut."""
        held = self._holding(job_id)
        with self._database.transaction():
            if not self._still_held(job_id, held):
                raise self._lost(job_id)
            self._untally(held.run_id, job_id, number)
            self._database.execute("DELETE FROM visit WHERE site_id = ? AND number >= ?", (job_id, number))

    def _untally(self, run_id: int, job_id: int, number: int) -> None:
        for outcome, visits, spent, goals in self._database.execute(
            "SELECT outcome, count(*), sum(spent), sum(is_goal) FROM visit "
            "WHERE site_id = ? AND number >= ? GROUP BY outcome",
            (job_id, number),
        ).fetchall():
            self._database.execute(
                "UPDATE tally SET visits = visits - ?, spent = spent - ?, goals = goals - ? "
                "WHERE run_id = ? AND outcome = ?",
                (visits, spent, goals, run_id, outcome),
            )
            self._database.execute(
                "UPDATE site SET visits = visits - ?, spent = spent - ?, goals = goals - ? WHERE id = ?",
                (visits, spent, goals, job_id),
            )

    # The total budget

    def reserve_fetch(self, run_id: int, worker: str) -> bool:
        """Ask for one fetch of the total budget; true if it may be made."""
        with self._database.transaction():
            if self._is_all_spent(run_id):
                self._refused.add((run_id, worker))
                return False
            self._database.execute(
                "INSERT INTO reservation (run_id, worker, fetches) VALUES (?, ?, 1) "
                "ON CONFLICT DO UPDATE SET fetches = fetches + 1",
                (run_id, worker),
            )
            return True

    def return_reservation(self, run_id: int, worker: str) -> None:
        """Give back a fetch that was not made."""
        self._use_reservation(run_id, worker)

    def _use_reservation(self, run_id: int, worker: str) -> None:
        self._database.execute(
            "UPDATE reservation SET fetches = fetches - 1 WHERE run_id = ? AND worker = ? AND fetches > 0",
            (run_id, worker),
        )

    def _is_all_spent(self, run_id: int) -> bool:
        """Whether the saved and the reserved fetches make up the total budget: a sum over a few rows."""
        row = self._database.execute(
            "SELECT coalesce((SELECT sum(spent) FROM tally WHERE run_id = run.id), 0) "
            "+ coalesce((SELECT sum(fetches) FROM reservation WHERE run_id = run.id), 0) >= total_budget "
            "FROM run WHERE id = ?",
            (run_id,),
        ).fetchone()
        return bool(row[0])

    # Holding

    def _holding(self, job_id: int) -> _Held:
        held = self._held.get(job_id)
        if held is None:
            raise self._lost(job_id)
        return held

    def _still_held(self, job_id: int, held: _Held) -> bool:
        sql = "SELECT worker FROM site WHERE id = ?"
        return bool(self._database.execute(sql, (job_id,)).fetchone()[0] == held.worker)

    def _lost(self, job_id: int) -> LeaseLost:
        self._held.pop(job_id, None)
        return LeaseLost(f"Site {job_id} is no longer leased to this process; another may go on with it.")
