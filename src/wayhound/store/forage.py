"""The part of a forage that outlives a process: leases, visits and the total budget."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Collection, Iterable, Iterator
from typing import TypeVar

from wayhound.errors import LeaseLost, WorkspaceError
from wayhound.forage.scorer import SiteReport
from wayhound.site import Site
from wayhound.store.database import Database
from wayhound.store.protocol import SiteJob, Store, StoreCalls
from wayhound.store.runs import RunStore
from wayhound.store.visits import (
    COUNT_VISIT,
    INSERT_VISIT,
    add_to_tally,
    found_visits,
    read_visits,
    save_tiers,
    visit_row,
)
from wayhound.visit import PAGE_OUTCOMES, ArchiveRef, Visit, is_failure

Result = TypeVar("Result")

_LAST_PAGE = (
    "SELECT archive_file, archive_offset, archive_length FROM visit INDEXED BY visit_page "
    "WHERE url = ? AND outcome IN ('ok', 'duplicate') AND archive_file IS NOT NULL ORDER BY at DESC LIMIT 1"
)
IS_HELD = "SELECT 1 FROM site WHERE id = ? AND fence = ? AND state = 'leased'"
# Done sites that could not be fetched, and the number of the first visit of each that is to be forgotten.
_FIRST_FAILURES = (
    "SELECT id, CASE WHEN reason LIKE 'start page failed (%' THEN 0 WHEN reason LIKE '%(needs_browser)' THEN "
    "(SELECT coalesce(min(number), 0) FROM visit WHERE site_id = site.id AND rendering = 'needed') ELSE "
    "(SELECT coalesce(max(number), -1) + 1 FROM visit WHERE site_id = site.id "
    "AND outcome IN ('ok', 'duplicate', 'redirect')) END FROM site WHERE run_id = ?1 AND state = 'done' AND "
    "(reason LIKE 'start page failed (%' OR reason LIKE 'site does not answer (%' OR reason LIKE 'asked to wait %' "
    "OR (?2 = 1 AND reason LIKE '%(needs_browser)'))"
)


class LeaseStore(RunStore):
    """The leases of sites, and the reservations that go with them.

    A site belongs to the worker that leased it until it is finished or released, or the worker falls silent. Each lease
    has a number, the fence, that is checked by everything that is written for it: LeaseLost is raised if the site was
    released or leased again since, so that two owners never mix their visits.
    """

    def __init__(self, database: Database, clock: Callable[[], float] = time.monotonic) -> None:
        """`clock` measures how long other workers are silent. It must not jump with the time of day."""
        super().__init__(database)
        self._watch = _Watch(clock)
        self._turns: dict[int, int] = {}  # by run, the turn of the domain leased last
        self._reserved: set[int] = set()  # sites with a fetch that this process has reserved
        self._refused: set[int] = set()  # sites with a fetch that the total budget did not allow

    # Leases

    def lease_sites(self, run_id: int, worker: str, now: float, count: int) -> list[SiteJob]:
        """Lease at most so many waiting sites of different domains, none of them leased; none if there are none."""
        jobs: list[SiteJob] = []
        with self._database.transaction():
            while len(jobs) < count and (row := self._first_free(run_id)):
                jobs.append(self._lease(run_id, worker, now, row))
        self._forget_reservations(jobs)
        return jobs

    def _lease(self, run_id: int, worker: str, now: float, row: tuple[int, str, str, str, int]) -> SiteJob:
        site_id, start, hosts, about, visits = row
        (fence,) = self._database.execute(
            "UPDATE site SET state = 'leased', worker = ?, leased_at = ?, fence = fence + 1 WHERE id = ? "
            "RETURNING fence",
            (worker, now, site_id),
        ).fetchone()
        return job_of(run_id, site_id, fence, start, hosts, about=about, visits=visits)

    def _forget_reservations(self, jobs: Iterable[SiteJob]) -> None:
        for job in jobs:
            self._reserved.discard(job.id)
            self._refused.discard(job.id)

    def _first_free(self, run_id: int) -> tuple[int, str, str, str, int] | None:
        """Search on from the domain that was leased last, and then from the first: those before are mostly leased."""
        last = self._turns.get(run_id, -1)
        return self._free_after(run_id, last) or self._free_after(run_id, -1)

    def _free_after(self, run_id: int, turn: int) -> tuple[int, str, str, str, int] | None:
        """Step from domain to domain, skipping those that are leased."""
        while row := self._database.execute(
            "SELECT id, start, hosts, about, visits, turn, domain FROM site "
            "WHERE run_id = ? AND state = 'waiting' AND turn > ? ORDER BY turn, id LIMIT 1",
            (run_id, turn),
        ).fetchone():
            *site, turn, domain = row
            if not _is_leased(self._database, domain):
                self._turns[run_id] = turn
                return tuple(site)
        return None

    def renew_leases(self, run_id: int, worker: str) -> set[tuple[int, int]]:
        """Show others that the worker is alive. Return its leases, as pairs of site and fence."""
        return set(
            self._database.execute(
                "UPDATE site INDEXED BY site_leased SET beats = beats + 1 "
                "WHERE state = 'leased' AND run_id = ? AND worker = ? RETURNING id, fence",
                (run_id, worker),
            ).fetchall()
        )

    def release_leases(self, run_id: int, worker: str) -> None:
        """Release all sites and reservations of a worker, as at a clean stop."""
        with self._database.row_locks():
            _release(self._database, "run_id = ? AND worker = ?", (run_id, worker))

    def release_dead(self, run_id: int, is_alive: Callable[[str], bool]) -> None:
        """Release the leases of dead workers, so that their sites need not wait until these are missed.

        A process that starts should call its own worker names dead: an earlier process may have had them.
        """
        workers = self._database.execute(
            "SELECT DISTINCT worker FROM site INDEXED BY site_leased WHERE state = 'leased' AND run_id = ?",
            (run_id,),
        ).fetchall()
        dead = [worker for (worker,) in workers if not is_alive(worker)]
        with self._database.row_locks():
            for worker in dead:
                _release(self._database, "run_id = ? AND worker = ?", (run_id, worker))

    def release_silent(self, worker: str, seconds: float) -> None:
        """Release the leases of other workers, in all runs, that were not renewed for so many seconds.

        Call this several times in that span: silence is what this process has seen itself, by its own clock.
        """
        silent = self._watch.silent(self._others_leases(worker, seconds), seconds)
        if silent:
            with self._database.row_locks():
                for lease in silent:  # one that was renewed meanwhile stays
                    _release(self._database, "id = ? AND fence = ? AND beats = ?", lease)

    def _others_leases(self, worker: str, seconds: float) -> list[tuple[int, int, int]]:  # noqa: ARG002
        """Return site, fence and beats of the leases to watch for so many seconds."""
        return self._database.execute(
            "SELECT id, fence, beats FROM site INDEXED BY site_leased WHERE state = 'leased' AND worker <> ?",
            (worker,),
        ).fetchall()

    def finish_site(self, job: SiteJob, reason: str, hosts: tuple[str, ...] | None = None) -> None:
        """Mark a site as done, with the reason, and with its `hosts` if the forage learned them.

        Raises LeaseLost.
        """
        learned = None if hosts is None else json.dumps(hosts)
        with self._database.row_locks():
            changed = self._database.execute(
                "UPDATE site SET state = 'done', worker = NULL, leased_at = NULL, reason = ?, "
                "hosts = coalesce(?, hosts), total_refused = ? WHERE id = ? AND fence = ? AND state = 'leased'",
                (reason, learned, job.id in self._refused, job.id, job.fence),
            ).rowcount
            if not changed:
                raise lost(job)
            self._database.execute("UPDATE run SET sites_done = sites_done + 1 WHERE id = ?", (job.run_id,))
            self._use_reservation(job)

    def _use_reservation(self, job: SiteJob) -> None:
        if job.id in self._reserved:
            self._reserved.discard(job.id)
            _drop_reservation(self._database, job.run_id, job.id)

    def _is_held(self, job: SiteJob) -> bool:
        return self._database.execute(IS_HELD, (job.id, job.fence)).fetchone() is not None

    def _check_held(self, job: SiteJob) -> None:
        """Raise LeaseLost unless a site is leased as the job says, and keep it so for the rest of the transaction."""
        if not self._is_held(job):
            raise lost(job)


class ForageStore(LeaseStore):
    """A `Store` of forages; `wayhound.store.server_forage` has that of a server."""

    # Visits

    def save_visit(self, job: SiteJob, visit: Visit) -> None:
        """Save a visit; when this returns, no end of the process can lose it. Raises LeaseLost.

        A visit that spent a fetch uses up the reservation of its lease, if there is one.
        """
        if visit.site != job.site.start:
            raise ValueError(f"a visit of {visit.site} was saved to {job.site.start}")
        execute = self._database.execute
        spent, goal = visit.spent, visit.is_goal
        with self._database.transaction():
            changed = execute(
                "UPDATE site SET visits = visits + 1, spent = spent + ?, goals = goals + ?, pages = pages + ?, "
                "failures = failures + ? WHERE id = ? AND visits = ? AND fence = ? AND state = 'leased'",
                (spent, goal, visit.is_page, visit.is_failure, job.id, visit.number, job.fence),
            ).rowcount
            if not changed:
                raise self._refusal(job, visit.number)
            execute(INSERT_VISIT, visit_row(job.id, visit))
            if visit.why:
                execute(
                    "INSERT INTO goal_reason (site_id, number, features) VALUES (?, ?, ?)",
                    (job.id, visit.number, json.dumps(visit.why, ensure_ascii=False)),
                )
            execute(COUNT_VISIT, (job.run_id, visit.outcome, self._database.slot, 1, spent, goal, 0))
            if spent:
                self._use_reservation(job)

    def _refusal(self, job: SiteJob, number: int) -> Exception:
        if not self._is_held(job):
            return lost(job)
        visits = self._database.execute("SELECT visits FROM site WHERE id = ?", (job.id,)).fetchone()[0]
        return WorkspaceError(
            f"Visit {number} of {job.site.start} was not saved: it has {visits} visits, so the next is "
            f"number {visits}."
        )

    def save_report(self, job: SiteJob, report: SiteReport) -> list[Visit]:
        """Replace the tiers of a site's pages and its verdict by those of a report. Raises LeaseLost.

        Return its goals in the order of their visits, then likely ones, the best first.
        """
        with self._database.row_locks():
            self._check_held(job)
            save_tiers(self._database, job.run_id, job.id, report)
            return found_visits(self._database, job.id)

    def calls(self, gather_seconds: float) -> StoreCalls:  # noqa: ARG002 - a file is written at once
        """Return the way to this store from an event loop. On a server, visits wait so long to be saved with others."""
        return DirectCalls(self)

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

    def delete_visits_from(self, job: SiteJob, number: int) -> None:
        """Delete the visits from `number` on, whose pages the archive lost, as in a power cut. Raises LeaseLost."""
        with self._database.row_locks():
            self._check_held(job)
            _forget_visits(self._database, job.run_id, job.id, number)

    def retry_failed(self, run_id: int, *, renders: bool = False) -> int:
        """Reopen the sites of a run that could not be fetched, and return their number.

        What failed last is forgotten, so that it is tried again: of a site whose start page failed everything, of one
        that fell silent the attempts since then. With `renders`, so are pages that needed a browser and had none.
        """
        with self._database.transaction():
            failed = self._database.execute(_FIRST_FAILURES, (run_id, renders)).fetchall()
            reopen_sites(self._database, run_id, failed)
        return len(failed)

    # The total budget

    def reserve_fetch(self, job: SiteJob) -> bool:
        """Reserve the next fetch of a site. Returns False if the total budget is spent. Raises LeaseLost."""
        with self._database.row_locks():
            self._check_held(job)
            if self._is_spent(job):
                self._refused.add(job.id)
                return False
            self._database.execute(
                "INSERT INTO reservation (run_id, site_id) VALUES (?, ?) ON CONFLICT DO NOTHING",
                (job.run_id, job.id),
            )
        self._reserved.add(job.id)
        return True

    def return_reservation(self, job: SiteJob) -> None:
        """Return the reservation of a fetch that was not made. Raises LeaseLost."""
        with self._database.row_locks():
            self._check_held(job)
            self._use_reservation(job)

    def _is_spent(self, job: SiteJob) -> bool:
        """Compare saved and reserved fetches with the total budget: a sum over a few rows."""
        row = self._database.execute(
            "SELECT coalesce((SELECT sum(spent) FROM tally WHERE run_id = run.id), 0) "
            "+ (SELECT count(*) FROM reservation WHERE run_id = run.id AND site_id <> ?) >= total_budget "
            "FROM run WHERE id = ?",
            (job.id, job.run_id),
        ).fetchone()
        return bool(row[0])


class DirectCalls:
    """Calls that are carried out at once: SQLite takes less time than a thread would cost."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def run(self, step: Callable[[], Result]) -> Result:
        return step()

    async def save_visit(self, job: SiteJob, visit: Visit) -> None:
        self._store.save_visit(job, visit)

    async def last_page(self, url: str) -> ArchiveRef | None:
        return self._store.last_page(url)

    def close(self) -> None:
        pass


class _Watch:
    """The leases of other workers, and since when each was not renewed."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._looked_at = clock()
        self._seen: dict[int, tuple[int, int, float]] = {}  # by site: fence, beats, since when

    def silent(self, leases: Iterable[tuple[int, int, int]], seconds: float) -> list[tuple[int, int, int]]:
        """Return those (site, fence, beats) that have not changed for so many seconds of looking."""
        now = self._clock()
        if now - self._looked_at > seconds / 2:
            # this process has slept itself: the machine may have, and with it the others
            self._seen.clear()
        self._looked_at = now
        self._seen = {site: self._since(site, fence, beats, now) for site, fence, beats in leases}
        return [
            (site, fence, beats)
            for site, (fence, beats, since) in self._seen.items()
            if now - since >= seconds
        ]

    def _since(self, site: int, fence: int, beats: int, now: float) -> tuple[int, int, float]:
        seen = self._seen.get(site)
        return seen if seen and seen[:2] == (fence, beats) else (fence, beats, now)


def lost(job: SiteJob) -> LeaseLost:
    return LeaseLost(f"{job.site.start} is no longer leased to this worker; another may continue it.")


def job_of(run_id: int, site_id: int, fence: int, start: str, hosts: str, about: str, visits: int) -> SiteJob:
    return SiteJob(site_id, Site(start, tuple(json.loads(hosts)), about), visits, run_id, fence)


def _is_leased(database: Database, domain: str) -> bool:
    sql = "SELECT 1 FROM site WHERE state = 'leased' AND domain = ?"
    return database.execute(sql, (domain,)).fetchone() is not None


def _release(database: Database, condition: str, values: tuple[int | str, ...]) -> None:
    released = database.execute(
        "UPDATE site INDEXED BY site_leased SET state = 'waiting', worker = NULL, leased_at = NULL "  # noqa: S608
        f"WHERE state = 'leased' AND {condition} RETURNING run_id, id",
        values,
    ).fetchall()
    for run_id, site_id in released:
        _drop_reservation(database, run_id, site_id)


def _drop_reservation(database: Database, run_id: int, site_id: int) -> None:
    database.execute("DELETE FROM reservation WHERE run_id = ? AND site_id = ?", (run_id, site_id))


def reopen_sites(database: Database, run_id: int, firsts: Collection[tuple[int, int]]) -> None:
    """Let done sites of a run wait again without their last visits: pairs of a site and the first number to forget.

    Call it in a transaction.
    """
    for site_id, number in firsts:
        _forget_visits(database, run_id, site_id, number)
        database.execute("UPDATE site SET state = 'waiting', reason = '' WHERE id = ?", (site_id,))
    database.execute("UPDATE run SET sites_done = sites_done - ? WHERE id = ?", (len(firsts), run_id))


def _forget_visits(database: Database, run_id: int, site_id: int, number: int) -> None:
    """Delete the visits of a site from `number` on, and subtract them from the sums of its run and of itself."""
    for outcome, visits, spent, goals, likely in database.execute(
        "SELECT outcome, count(*), sum(spent), count(*) FILTER (WHERE tier = 'goal'), "
        "count(*) FILTER (WHERE tier = 'likely') FROM visit WHERE site_id = ? AND number >= ? GROUP BY outcome",
        (site_id, number),
    ).fetchall():
        add_to_tally(database, run_id, outcome, visits=-visits, spent=-spent, goals=-goals, likely=-likely)
        pages, failures = visits * (outcome in PAGE_OUTCOMES), visits * is_failure(outcome)
        database.execute(
            "UPDATE site SET visits = visits - ?, spent = spent - ?, goals = goals - ?, likely = likely - ?, "
            "pages = pages - ?, failures = failures - ? WHERE id = ?",
            (visits, spent, goals, likely, pages, failures, site_id),
        )
    database.execute("DELETE FROM visit WHERE site_id = ? AND number >= ?", (site_id, number))
