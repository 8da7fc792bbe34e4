"""The part of a forage that outlives a process, in SQLite: leases, visits and the total budget."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from wayhound.errors import LeaseLost, WorkspaceError
from wayhound.forage.scorer import SiteReport
from wayhound.site import Site
from wayhound.store.database import Database
from wayhound.store.protocol import SiteJob
from wayhound.store.runs import RunStore
from wayhound.store.visits import INSERT_VISIT, found_visits, read_visits, save_tiers, visit_row
from wayhound.visit import ArchiveRef, Visit

_LAST_PAGE = (
    "SELECT archive_file, archive_offset, archive_length FROM visit INDEXED BY visit_page "
    "WHERE url = ? AND outcome IN ('ok', 'duplicate') AND archive_file IS NOT NULL ORDER BY at DESC LIMIT 1"
)


@dataclass(frozen=True, slots=True)
class _Lease:
    run_id: int
    worker: str
    start: str


class ForageStore(RunStore):
    """A `Store` of forages in SQLite.

    A site belongs to the worker that leased it until it is finished or released, or its lease expires. Saving to a site
    that is no longer leased raises LeaseLost, so that two owners never mix their visits.
    """

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self._leases: dict[int, _Lease] = {}
        self._budget = _TotalBudget(database)
        self._turns: dict[int, int] = {}  # by run, the turn of the domain leased last
        self._refused: set[tuple[int, str]] = set()  # runs and workers that were refused a fetch

    # Leases

    def lease_site(self, run_id: int, worker: str, now: float, until: float) -> SiteJob | None:
        """Lease a waiting site whose domain is not leased; None if there is none at the moment."""
        with self._database.transaction():
            _expire(self._database, now)
            row = self._first_free(run_id)
            if row is None:
                return None
            job = SiteJob(row[0], Site(row[1], tuple(json.loads(row[2]))), row[3])
            self._database.execute(
                "UPDATE site SET state = 'leased', worker = ?, lease_until = ? WHERE id = ?",
                (worker, until, job.id),
            )
        self._leases[job.id] = _Lease(run_id, worker, job.site.start)
        return job

    def _first_free(self, run_id: int) -> tuple[int, str, str, int] | None:
        """Search on from the domain that was leased last, and then from the first: those before are mostly leased."""
        last = self._turns.get(run_id, -1)
        return self._free_after(run_id, last) or self._free_after(run_id, -1)

    def _free_after(self, run_id: int, turn: int) -> tuple[int, str, str, int] | None:
        """Step from domain to domain, skipping those that are leased."""
        while row := self._database.execute(
            "SELECT id, start, hosts, visits, turn, domain FROM site "
            "WHERE run_id = ? AND state = 'waiting' AND turn > ? ORDER BY turn, id LIMIT 1",
            (run_id, turn),
        ).fetchone():
            *site, turn, domain = row
            if not _is_leased(self._database, domain):
                self._turns[run_id] = turn
                return tuple(site)
        return None

    def renew_leases(self, run_id: int, worker: str, until: float) -> None:
        self._database.execute(
            "UPDATE site INDEXED BY site_leased SET lease_until = ? "
            "WHERE state = 'leased' AND run_id = ? AND worker = ?",
            (until, run_id, worker),
        )

    def release_leases(self, run_id: int, worker: str) -> None:
        """Release all sites and reservations of a worker, as at a clean stop."""
        with self._database.transaction():
            _release(self._database, run_id, worker)
        self._leases = {
            job: lease
            for job, lease in self._leases.items()
            if (lease.run_id, lease.worker) != (run_id, worker)
        }

    def release_dead(self, run_id: int, is_alive: Callable[[str], bool]) -> None:
        """Release the leases of dead workers, so that their sites need not wait until these expire.

        A process that starts should call its own worker names dead: an earlier process may have had them.
        """
        workers = self._database.execute(
            "SELECT worker FROM site INDEXED BY site_leased WHERE state = 'leased' AND run_id = ? "
            "UNION SELECT worker FROM reservation WHERE run_id = ?",
            (run_id, run_id),
        ).fetchall()
        dead = [worker for (worker,) in workers if not is_alive(worker)]
        with self._database.transaction():
            for worker in dead:
                _release(self._database, run_id, worker)

    def finish_site(self, job_id: int, reason: str, hosts: tuple[str, ...] | None = None) -> None:
        """Mark a site as done, with the reason, and with its `hosts` if the forage learned them.

        Raises LeaseLost.
        """
        lease = self._lease_of(job_id)
        learned = None if hosts is None else json.dumps(hosts)
        refused = (lease.run_id, lease.worker) in self._refused
        with self._database.transaction():
            changed = self._database.execute(
                "UPDATE site SET state = 'done', worker = NULL, lease_until = NULL, reason = ?, "
                "hosts = coalesce(?, hosts), total_refused = ? WHERE id = ? AND worker = ?",
                (reason, learned, refused, job_id, lease.worker),
            ).rowcount
            if not changed:
                raise self._lost(job_id)
            self._database.execute("UPDATE run SET sites_done = sites_done + 1 WHERE id = ?", (lease.run_id,))
        del self._leases[job_id]

    # Visits

    def save_visit(self, job_id: int, visit: Visit) -> None:
        """Save a visit; when this returns, no end of the process can lose it. Raises LeaseLost.

        A visit that spent a fetch uses up one reservation of its worker, if there is one.
        """
        lease = self._lease_of(job_id)
        if visit.site != lease.start:
            raise ValueError(f"a visit of {visit.site} was saved to {lease.start}")
        execute = self._database.execute
        spent, goal = visit.spent, visit.is_goal
        with self._database.transaction():
            changed = execute(
                "UPDATE site SET visits = visits + 1, spent = spent + ?, goals = goals + ? "
                "WHERE id = ? AND visits = ? AND worker = ?",
                (spent, goal, job_id, visit.number, lease.worker),
            ).rowcount
            if not changed:
                raise self._refusal(job_id, lease, visit.number)
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
                (lease.run_id, visit.outcome, spent, goal),
            )
            if spent:
                self._budget.use(lease.run_id, lease.worker)

    def _refusal(self, job_id: int, lease: _Lease, number: int) -> Exception:
        worker, visits = self._database.execute(
            "SELECT worker, visits FROM site WHERE id = ?", (job_id,)
        ).fetchone()
        if worker != lease.worker:
            return self._lost(job_id)
        return WorkspaceError(
            f"Visit {number} of {lease.start} was not saved: it has {visits} visits, so the next is "
            f"number {visits}."
        )

    def save_report(self, job_id: int, report: SiteReport) -> list[Visit]:
        """Replace the tiers of a site's pages and its verdict by those of a report. Raises LeaseLost.

        Return its goals in the order of their visits, then likely ones, the best first.
        """
        lease = self._lease_of(job_id)
        with self._database.transaction():
            self._check_owner(job_id, lease)
            save_tiers(self._database, lease.run_id, job_id, report)
            return found_visits(self._database, job_id)

    def visits(self, job_id: int, first: int = 0) -> Iterator[Visit]:
        """Yield the saved visits of a site in order, from number `first` on."""
        return read_visits(self._database, job_id, first)

    def visits_of(self, run_id: int, start: str, first: int = 0) -> Iterator[Visit]:
        """Yield the same for the site of a run that begins at `start`; none if the run has no such site."""
        for (site_id,) in self._database.execute(
            "SELECT id FROM site WHERE run_id = ? AND start = ?", (run_id, start)
        ).fetchall():
            yield from self.visits(site_id, first)

    def last_page(self, url: str) -> ArchiveRef | None:
        """Return the archive position of the last copy of a page, over all runs; None if there is none."""
        row = self._database.execute(_LAST_PAGE, (url,)).fetchone()
        return ArchiveRef(*row) if row else None

    def delete_visits_from(self, job_id: int, number: int) -> None:
        """Delete the visits from `number` on, whose pages the archive lost, as in a power cut. Raises LeaseLost."""
        lease = self._lease_of(job_id)
        with self._database.transaction():
            self._check_owner(job_id, lease)
            _untally(self._database, lease.run_id, job_id, number)
            self._database.execute("DELETE FROM visit WHERE site_id = ? AND number >= ?", (job_id, number))

    def reserve_fetch(self, run_id: int, worker: str) -> bool:
        """Reserve one fetch of the total budget. Returns False if the budget is spent."""
        if self._budget.reserve(run_id, worker):
            return True
        self._refused.add((run_id, worker))
        return False

    def return_reservation(self, run_id: int, worker: str) -> None:
        """Return the reservation of a fetch that was not made."""
        self._budget.use(run_id, worker)

    def _lease_of(self, job_id: int) -> _Lease:
        lease = self._leases.get(job_id)
        if lease is None:
            raise self._lost(job_id)
        return lease

    def _check_owner(self, job_id: int, lease: _Lease) -> None:
        sql = "SELECT worker FROM site WHERE id = ?"
        if self._database.execute(sql, (job_id,)).fetchone()[0] != lease.worker:
            raise self._lost(job_id)

    def _lost(self, job_id: int) -> LeaseLost:
        self._leases.pop(job_id, None)
        return LeaseLost(f"Site {job_id} is no longer leased to this process; another may continue it.")


class _TotalBudget:
    """Fetches reserved by workers against the total budget of a run."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def reserve(self, run_id: int, worker: str) -> bool:
        with self._database.transaction():
            if self._is_spent(run_id):
                return False
            self._database.execute(
                "INSERT INTO reservation (run_id, worker, fetches) VALUES (?, ?, 1) "
                "ON CONFLICT DO UPDATE SET fetches = fetches + 1",
                (run_id, worker),
            )
            return True

    def use(self, run_id: int, worker: str) -> None:
        self._database.execute(
            "UPDATE reservation SET fetches = fetches - 1 WHERE run_id = ? AND worker = ? AND fetches > 0",
            (run_id, worker),
        )

    def _is_spent(self, run_id: int) -> bool:
        """Compare saved and reserved fetches with the total budget: a sum over a few rows."""
        row = self._database.execute(
            "SELECT coalesce((SELECT sum(spent) FROM tally WHERE run_id = run.id), 0) "
            "+ coalesce((SELECT sum(fetches) FROM reservation WHERE run_id = run.id), 0) >= total_budget "
            "FROM run WHERE id = ?",
            (run_id,),
        ).fetchone()
        return bool(row[0])


def _expire(database: Database, now: float) -> None:
    expired = database.execute(
        "UPDATE site SET state = 'waiting', worker = NULL, lease_until = NULL "
        "WHERE state = 'leased' AND lease_until < ?",
        (now,),
    ).rowcount
    if expired:  # a worker that lets all its leases expire will not use its reservations either
        database.execute(
            "DELETE FROM reservation WHERE worker NOT IN (SELECT worker FROM site WHERE state = 'leased')"
        )


def _is_leased(database: Database, domain: str) -> bool:
    sql = "SELECT 1 FROM site WHERE state = 'leased' AND domain = ?"
    return database.execute(sql, (domain,)).fetchone() is not None


def _release(database: Database, run_id: int, worker: str) -> None:
    database.execute(
        "UPDATE site INDEXED BY site_leased SET state = 'waiting', worker = NULL, lease_until = NULL "
        "WHERE state = 'leased' AND run_id = ? AND worker = ?",
        (run_id, worker),
    )
    database.execute("DELETE FROM reservation WHERE run_id = ? AND worker = ?", (run_id, worker))


def _untally(database: Database, run_id: int, site_id: int, number: int) -> None:
    """Subtract the visits of a site from `number` on from the sums of its run and of itself."""
    for outcome, visits, spent, goals, likely in database.execute(
        "SELECT outcome, count(*), sum(spent), sum(tier = 'goal'), sum(tier = 'likely') FROM visit "
        "WHERE site_id = ? AND number >= ? GROUP BY outcome",
        (site_id, number),
    ).fetchall():
        database.execute(
            "UPDATE tally SET visits = visits - ?, spent = spent - ?, goals = goals - ?, likely = likely - ? "
            "WHERE run_id = ? AND outcome = ?",
            (visits, spent, goals, likely, run_id, outcome),
        )
        database.execute(
            "UPDATE site SET visits = visits - ?, spent = spent - ?, goals = goals - ?, likely = likely - ? "
            "WHERE id = ?",
            (visits, spent, goals, likely, site_id),
        )
