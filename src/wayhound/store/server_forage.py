"""The part of a forage that many machines do at once, on a server: one statement or a few row locks for each step.

A step that is cut off by a lost connection is done again with a new one. The server may have carried it out before it
was lost, so each step first looks for what an earlier try has done: nothing is lost, and nothing is done twice.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from operator import itemgetter
from typing import Any

from wayhound.forage.scorer import SiteReport
from wayhound.store.forage import IS_HELD, ForageStore, job_of, lost
from wayhound.store.postgres import PostgresDatabase
from wayhound.store.protocol import SiteJob
from wayhound.store.visits import VISIT_COLUMNS, visit_row
from wayhound.visit import Visit

_NOW = "CAST(extract(epoch FROM clock_timestamp()) AS DOUBLE PRECISION)"
_N = VISIT_COLUMNS.count(",") + 2  # values of a visit, its site first

# All of a visit in one statement and one round trip. `held` is empty if the lease was lost or the number is wrong, and
# then nothing else happens. Values after those of the visit: ?31 run, ?32 fence, ?33 slot, ?34 page, ?35 failure,
# ?36 reasons or null, ?37 1 if it uses up a reservation.
_SAVE = f"""
WITH held AS (
    UPDATE site SET visits = visits + 1, spent = spent + ?20, goals = goals + ?19, pages = pages + ?34,
        failures = failures + ?35
    WHERE id = ?1 AND visits = ?2 AND fence = ?32 AND state = 'leased' RETURNING id
), saved AS (
    INSERT INTO visit (site_id, {VISIT_COLUMNS}) SELECT id, {", ".join(f"?{n}" for n in range(2, _N + 1))} FROM held
), reasons AS (
    INSERT INTO goal_reason (site_id, number, features) SELECT id, ?2, ?36 FROM held WHERE CAST(?36 AS TEXT) IS NOT NULL
), counted AS (
    INSERT INTO tally (run_id, outcome, slot, visits, spent, goals, likely)
    SELECT ?31, ?4, ?33, 1, ?20, ?19, 0 FROM held
    ON CONFLICT (run_id, outcome, slot) DO UPDATE SET visits = tally.visits + 1,
        spent = tally.spent + excluded.spent, goals = tally.goals + excluded.goals
), used AS (
    DELETE FROM reservation WHERE run_id = ?31 AND site_id = ?1 AND ?37 = 1 AND EXISTS (SELECT 1 FROM held)
)
SELECT count(*) FROM held
"""  # noqa: S608 - the names of columns

# Leases the first waiting site of each domain that is not leased, from a turn on. Rows that another worker is about to
# lease are skipped, not waited for.
_LEASE = f"""
WITH free AS (
    SELECT id FROM site AS wanted
    WHERE run_id = ?1 AND state = 'waiting' AND turn > ?2
      AND NOT EXISTS (SELECT 1 FROM site AS held WHERE held.state = 'leased' AND held.domain = wanted.domain)
      AND NOT EXISTS (SELECT 1 FROM site AS earlier WHERE earlier.run_id = ?1 AND earlier.state = 'waiting'
                      AND earlier.turn = wanted.turn AND earlier.id < wanted.id)
    ORDER BY turn LIMIT ?3 FOR UPDATE SKIP LOCKED
)
UPDATE site SET state = 'leased', worker = ?4, leased_at = {_NOW}, fence = fence + 1
FROM free WHERE site.id = free.id
RETURNING site.id, fence, start, hosts, about, visits, turn
"""  # noqa: S608
# Values: ?1 site, ?2 fence, ?3 reason, ?4 hosts or null, ?5 1 if the total budget was refused, ?6 1 if it has a
# reservation. The row of the run, which all workers share, is locked for no longer than the commit takes.
_FINISH = """
WITH done AS (
    UPDATE site SET state = 'done', worker = NULL, leased_at = NULL, reason = ?3, hosts = coalesce(?4, hosts),
        total_refused = ?5
    WHERE id = ?1 AND fence = ?2 AND state = 'leased' RETURNING run_id, id
), used AS (
    DELETE FROM reservation USING done
    WHERE reservation.run_id = done.run_id AND reservation.site_id = done.id AND ?6 = 1
), counted AS (
    UPDATE run SET sites_done = sites_done + 1 FROM done WHERE run.id = done.run_id
)
SELECT count(*) FROM done
"""
_LEASED = (
    "SELECT id, fence, start, hosts, about, visits FROM site "
    "WHERE state = 'leased' AND run_id = ? AND worker = ? ORDER BY turn"
)


class ServerForageStore(ForageStore):
    """A `Store` of forages on a server. The clock that leases are dated by is the server's."""

    def __init__(self, database: PostgresDatabase, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__(database, clock)
        self._server = database
        self._given: set[tuple[int, int]] = set()  # leases that this process knows of, as site and fence

    # Leases

    def lease_sites(self, run_id: int, worker: str, now: float, count: int) -> list[SiteJob]:  # noqa: ARG002
        """Lease sites in one transaction that waits for nobody. `now` is not used: leases have the server's time."""
        tries = 0

        def attempt() -> list[SiteJob]:
            nonlocal tries
            tries += 1
            if tries > 1 and (orphans := self._orphans(run_id, worker)):
                return orphans
            return self._lease_free(run_id, worker, count)

        jobs = self._server.again(attempt)
        self._given.update((job.id, job.fence) for job in jobs)
        self._forget_reservations(jobs)
        return jobs

    def _lease_free(self, run_id: int, worker: str, count: int) -> list[SiteJob]:
        """Lease from the domain after the one leased last on, and then from the first."""
        last = self._turns.get(run_id, -1)
        rows = self._lease_after(run_id, worker, last, count)
        if not rows and last >= 0:
            rows = self._lease_after(run_id, worker, -1, count)
        if rows:
            self._turns[run_id] = rows[-1][-1]
        return [job_of(run_id, *row[:-1]) for row in rows]

    def _lease_after(self, run_id: int, worker: str, turn: int, count: int) -> list[tuple[Any, ...]]:
        """Return the rows of the sites that were leased, in order of their turns."""
        rows = self._server.execute_alone(_LEASE, (run_id, turn, count, worker)).fetchall()
        return sorted(rows, key=itemgetter(-1))

    def _orphans(self, run_id: int, worker: str) -> list[SiteJob]:
        """Return sites that were leased to this worker by a try whose answer was lost."""
        rows = self._database.execute(_LEASED, (run_id, worker)).fetchall()
        return [job_of(run_id, *row) for row in rows if tuple(row[:2]) not in self._given]

    def renew_leases(self, run_id: int, worker: str) -> set[tuple[int, int]]:
        def renew() -> set[tuple[int, int]]:
            with self._database.row_locks():
                rows = self._database.execute(
                    f"UPDATE site SET beats = beats + 1, leased_at = {_NOW} "  # noqa: S608
                    "WHERE state = 'leased' AND run_id = ? AND worker = ? RETURNING id, fence",
                    (run_id, worker),
                ).fetchall()
            return set(rows)

        leases = self._server.again(renew)
        self._given &= leases
        return leases

    def release_leases(self, run_id: int, worker: str) -> None:
        self._server.again(lambda: super(ServerForageStore, self).release_leases(run_id, worker))

    def release_dead(self, run_id: int, is_alive: Callable[[str], bool]) -> None:
        self._server.again(lambda: super(ServerForageStore, self).release_dead(run_id, is_alive))

    def release_silent(self, worker: str, seconds: float) -> None:
        self._server.again(lambda: super(ServerForageStore, self).release_silent(worker, seconds))

    def _others_leases(self, worker: str, seconds: float) -> list[tuple[int, int, int]]:
        """Return those that are overdue by the server's clock: of those renewed in time, nobody need keep count."""
        return self._database.execute(
            "SELECT id, fence, beats FROM site WHERE state = 'leased' AND worker <> ?1 "  # noqa: S608
            f"AND abs({_NOW} - leased_at) > CAST(?2 AS DOUBLE PRECISION)",
            (worker, seconds / 4),
        ).fetchall()

    def finish_site(self, job: SiteJob, reason: str, hosts: tuple[str, ...] | None = None) -> None:
        def was_done() -> bool:
            sql = "SELECT 1 FROM site WHERE id = ? AND fence = ? AND state = 'done' AND reason = ?"
            return self._database.execute(sql, (job.id, job.fence, reason)).fetchone() is not None

        _repeat(self._server, lambda: self._finish(job, reason, hosts), was_done)
        self._given.discard((job.id, job.fence))
        self._reserved.discard(job.id)

    def _finish(self, job: SiteJob, reason: str, hosts: tuple[str, ...] | None) -> None:
        learned = None if hosts is None else json.dumps(hosts)
        values = (job.id, job.fence, reason, learned, job.id in self._refused, job.id in self._reserved)
        if not self._server.execute_alone(_FINISH, values).fetchone()[0]:
            raise lost(job)

    # Visits

    def save_visit(self, job: SiteJob, visit: Visit) -> None:
        if visit.site != job.site.start:
            raise ValueError(f"a visit of {visit.site} was saved to {job.site.start}")

        def was_saved() -> bool:
            sql = "SELECT url, at FROM visit WHERE site_id = ? AND number = ?"
            return bool(
                self._database.execute(sql, (job.id, visit.number)).fetchone() == (visit.url, visit.at)
            )

        _repeat(self._server, lambda: self._save(job, visit), was_saved)
        if visit.spent:
            self._reserved.discard(job.id)

    def _save(self, job: SiteJob, visit: Visit) -> None:
        uses = bool(visit.spent) and job.id in self._reserved
        why = json.dumps(visit.why, ensure_ascii=False) if visit.why else None
        values = (
            *visit_row(job.id, visit), job.run_id, job.fence, self._database.slot,
            visit.is_page, visit.is_failure, why, uses,
        )  # fmt: skip
        if not self._server.execute_alone(_SAVE, values).fetchone()[0]:
            raise self._refusal(job, visit.number)

    def save_report(self, job: SiteJob, report: SiteReport) -> list[Visit]:
        return self._server.again(lambda: super(ServerForageStore, self).save_report(job, report))

    def delete_visits_from(self, job: SiteJob, number: int) -> None:
        self._server.again(lambda: super(ServerForageStore, self).delete_visits_from(job, number))

    # The total budget

    def reserve_fetch(self, job: SiteJob) -> bool:
        return self._server.again(lambda: super(ServerForageStore, self).reserve_fetch(job))

    def return_reservation(self, job: SiteJob) -> None:
        self._server.again(lambda: super(ServerForageStore, self).return_reservation(job))

    def _is_spent(self, job: SiteJob) -> bool:
        """Lock the run first: those that reserve at the same time must count one after the other."""
        self._database.execute("SELECT 1 FROM run WHERE id = ? FOR NO KEY UPDATE", (job.run_id,))
        return super()._is_spent(job)

    def _check_held(self, job: SiteJob) -> None:
        row = self._database.execute(f"{IS_HELD} FOR NO KEY UPDATE", (job.id, job.fence)).fetchone()
        if row is None:
            raise lost(job)


def _repeat(database: PostgresDatabase, step: Callable[[], None], is_done: Callable[[], bool]) -> None:
    """Carry out a step, again if the connection breaks, unless an earlier try turns out to have done it."""
    tries = 0

    def attempt() -> None:
        nonlocal tries
        tries += 1
        if tries == 1 or not is_done():
            step()

    database.again(attempt)
