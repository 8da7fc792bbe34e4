"""The part of a forage that many machines do at once, on a server: one statement or a few row locks for each step.

A step that is cut off by a lost connection is done again with a new one. The server may have carried it out before it
was lost, so each step first looks for what an earlier try has done: nothing is lost, and nothing is done twice.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from operator import itemgetter
from typing import Any, TypeVar

from wayhound.forage.scorer import SiteReport
from wayhound.store.database import storable
from wayhound.store.forage import IS_HELD, ForageStore, job_of, lost
from wayhound.store.postgres import PostgresDatabase, without_nul
from wayhound.store.protocol import SiteJob, StoreCalls
from wayhound.store.visits import VISIT_COLUMNS, found_visits, visit_row
from wayhound.visit import ArchiveRef, Visit

_NOW = "CAST(extract(epoch FROM clock_timestamp()) AS DOUBLE PRECISION)"
Result = TypeVar("Result")

MOST_VISITS = 32
"""Saved by one statement. The planner takes the number from LIMIT: it would scan a table for a hundred rows."""

_TYPES = {"parent": "BIGINT", "status": "BIGINT", "number": "BIGINT", "depth": "BIGINT", "attempt": "BIGINT"}
_TYPES |= dict.fromkeys(("at", "score", "goal", "wait_seconds", "probability"), "DOUBLE PRECISION")
_TYPES |= dict.fromkeys(("is_goal", "spent", "not_modified", "archive_offset", "archive_length"), "BIGINT")
_VISIT = ("site_id", *VISIT_COLUMNS.split(", "))
# Numbers that go with a visit; `uses` is 1 if it uses up a reservation.
_MORE = ("run_id", "fence", "is_page", "is_failure", "uses")
_RECORD = ", ".join(
    [f"{name} {_TYPES.get(name, 'BIGINT' if name == 'site_id' else 'TEXT')}" for name in _VISIT]
    + [f"{name} BIGINT" for name in _MORE]
    + ["why TEXT"]
)
_FLAGS = ("is_goal", "spent", "not_modified")

# Visits of different sites in one statement and one round trip; ?1 has them as JSON, ?2 is the slot. A visit is not in
# `held` if its lease was lost or its number is wrong, and then nothing else happens for it. The state is compared in a
# way that no index serves: the server would look through all leased sites, of all workers, for these few.
_SAVE = f"""
WITH given AS MATERIALIZED (
    SELECT * FROM json_to_recordset(CAST(?1 AS json)) AS visit ({_RECORD}) LIMIT {MOST_VISITS}
), held AS (
    UPDATE site SET visits = site.visits + 1, spent = site.spent + given.spent, goals = site.goals + given.is_goal,
        pages = site.pages + given.is_page, failures = site.failures + given.is_failure
    FROM given WHERE site.id = given.site_id AND site.visits = given.number AND site.fence = given.fence
        AND site.state || '' = 'leased'
    RETURNING site.id
), saved AS (
    INSERT INTO visit ({", ".join(_VISIT)}) SELECT {", ".join(_VISIT)} FROM given JOIN held ON id = site_id
), reasons AS (
    INSERT INTO goal_reason (site_id, number, features)
    SELECT site_id, number, why FROM given JOIN held ON id = site_id WHERE why IS NOT NULL
), counted AS (
    INSERT INTO tally (run_id, outcome, slot, visits, spent, goals, likely)
    SELECT run_id, outcome, CAST(?2 AS BIGINT), count(*), sum(spent), sum(is_goal), 0
    FROM given JOIN held ON id = site_id GROUP BY run_id, outcome ORDER BY run_id, outcome
    ON CONFLICT (run_id, outcome, slot) DO UPDATE SET visits = tally.visits + excluded.visits,
        spent = tally.spent + excluded.spent, goals = tally.goals + excluded.goals
), used AS (
    DELETE FROM reservation USING given JOIN held ON held.id = given.site_id
    WHERE reservation.run_id = given.run_id AND reservation.site_id = given.site_id AND given.uses = 1
)
SELECT id FROM held
"""  # noqa: S608 - the names of columns
_SAVED = """
SELECT visit.site_id FROM json_to_recordset(CAST(?1 AS json))
    AS given (site_id BIGINT, number BIGINT, url TEXT, at DOUBLE PRECISION)
JOIN visit ON visit.site_id = given.site_id AND visit.number = given.number
WHERE visit.url = given.url AND visit.at = given.at
"""

# The tiers of a site by a report: ?1 site, ?2 fence, ?3 the pages as JSON, ?4 slot, ?5 probability of no goal, ?6 goals
# left. Pages that repeat another one are in no tier: the last visit of a URL stands for all.
_REPORT = """
WITH before AS (
    SELECT id, run_id, goals, likely FROM site WHERE id = ?1 AND fence = ?2 AND state = 'leased' FOR NO KEY UPDATE
), given AS MATERIALIZED (
    SELECT * FROM json_to_recordset(CAST(?3 AS json)) AS page (url TEXT, tier TEXT, probability DOUBLE PRECISION)
), found AS MATERIALIZED (
    SELECT DISTINCT ON (visit.url) visit.number, given.tier, given.probability FROM given
    JOIN visit ON visit.url = given.url AND visit.site_id = ?1 AND visit.outcome = 'ok'
    ORDER BY visit.url, visit.number DESC
), counts AS (
    SELECT count(*) FILTER (WHERE tier = 'goal') AS goals, count(*) FILTER (WHERE tier = 'likely') AS likely FROM found
), changed AS (
    UPDATE visit SET tier = coalesce(found.tier, ''), probability = found.probability
    FROM before JOIN visit AS old ON old.site_id = before.id LEFT JOIN found ON found.number = old.number
    WHERE visit.site_id = old.site_id AND visit.number = old.number
        AND (found.number IS NOT NULL OR old.tier <> '' OR old.probability IS NOT NULL)
        AND (old.tier <> coalesce(found.tier, '') OR old.probability IS DISTINCT FROM found.probability)
), counted AS (
    INSERT INTO tally (run_id, outcome, slot, visits, spent, goals, likely)
    SELECT run_id, 'ok', CAST(?4 AS BIGINT), 0, 0, counts.goals - before.goals, counts.likely - before.likely
    FROM before, counts WHERE counts.goals <> before.goals OR counts.likely <> before.likely
    ON CONFLICT (run_id, outcome, slot) DO UPDATE SET goals = tally.goals + excluded.goals,
        likely = tally.likely + excluded.likely
), written AS (
    UPDATE site SET goals = counts.goals, likely = counts.likely, none_probability = ?5, goals_left = ?6
    FROM before, counts WHERE site.id = before.id
)
SELECT (SELECT count(*) FROM before), (SELECT count(*) FROM found)
"""

# Leases the first waiting site of each domain that is not leased, from a turn on. Rows that another worker is about to
# lease are skipped, not waited for. `min`, and not NOT EXISTS: without statistics, as after the sites were just added,
# the planner would make a join of that and read all waiting sites for each one that it leases.
_LEASE = f"""
WITH free AS (
    SELECT id FROM site AS wanted
    WHERE run_id = ?1 AND state = 'waiting' AND turn > ?2
      AND NOT EXISTS (SELECT 1 FROM site AS held WHERE held.state = 'leased' AND held.domain = wanted.domain)
      AND id = (SELECT min(earlier.id) FROM site AS earlier
                WHERE earlier.run_id = ?1 AND earlier.state = 'waiting' AND earlier.turn = wanted.turn)
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
_RENEW = (
    f"UPDATE site SET beats = beats + 1, leased_at = {_NOW} "  # noqa: S608
    "WHERE state = 'leased' AND run_id = ? AND worker = ? RETURNING id, fence"
)
_HAS_COPIES = (
    "SELECT 1 FROM visit WHERE url >= ? AND url < ? AND outcome IN ('ok', 'duplicate') "
    "AND archive_file IS NOT NULL LIMIT 1"
)
_LEASED = (
    "SELECT id, fence, start, hosts, about, visits FROM site "
    "WHERE state = 'leased' AND run_id = ? AND worker = ? ORDER BY turn"
)


class _ServerLeases(ForageStore):
    """The leases on a server. The clock that they are dated by is the server's."""

    def __init__(self, database: PostgresDatabase, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__(database, clock)
        self._server = database
        self._given: set[tuple[int, int]] = set()  # leases that this process knows of, as site and fence
        self._known: dict[str, bool] = {}  # by origin: True if there are copies of its pages

    def lease_sites(self, run_id: int, worker: str, now: float, count: int) -> list[SiteJob]:  # noqa: ARG002
        """Lease sites in one transaction that waits for nobody. `now` is not used: leases have the server's time."""
        tries = 0

        def attempt() -> list[SiteJob]:
            nonlocal tries
            tries += 1
            if tries > 1 and (orphans := self._orphans(run_id, worker)):
                return orphans
            return self._lease_free(run_id, worker, count)

        with self._server.lock:
            jobs = self._server.again(attempt)
            self._given.update((job.id, job.fence) for job in jobs)
        self._forget_reservations(jobs)
        for job in jobs:
            self._forget_copies(job)
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
        renew = partial(self._server.execute_alone, _RENEW, (run_id, worker))
        with self._server.lock:
            leases = set(self._server.again(renew).fetchall())
            self._given &= leases
        return leases

    def release_leases(self, run_id: int, worker: str) -> None:
        self._server.again(lambda: super(_ServerLeases, self).release_leases(run_id, worker))

    def release_dead(self, run_id: int, is_alive: Callable[[str], bool]) -> None:
        self._server.again(lambda: super(_ServerLeases, self).release_dead(run_id, is_alive))

    def release_silent(self, worker: str, seconds: float) -> None:
        self._server.again(lambda: super(_ServerLeases, self).release_silent(worker, seconds))

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
        self._forget_copies(job)

    def _forget_copies(self, job: SiteJob) -> None:
        """Look anew whether there are copies of a site's pages: another site of its domain may have made some."""
        domain = job.site.domain
        for origin in [origin for origin in self._known if _host(origin).endswith(domain)]:
            del self._known[origin]

    def _finish(self, job: SiteJob, reason: str, hosts: tuple[str, ...] | None) -> None:
        learned = None if hosts is None else json.dumps(hosts)
        values = (job.id, job.fence, reason, learned, job.id in self._refused, job.id in self._reserved)
        if not self._server.execute_alone(_FINISH, values).fetchone()[0]:
            raise lost(job)

    def _check_held(self, job: SiteJob) -> None:
        row = self._database.execute(f"{IS_HELD} FOR NO KEY UPDATE", (job.id, job.fence)).fetchone()
        if row is None:
            raise lost(job)


class ServerForageStore(_ServerLeases):
    """A `Store` of forages on a server."""

    # Visits

    def calls(self, gather_seconds: float) -> StoreCalls:
        return _ThreadCalls(self, gather_seconds)

    def save_visit(self, job: SiteJob, visit: Visit) -> None:
        (refusal,) = self.save_visits([(job, visit)])
        if refusal is not None:
            raise refusal

    def save_visits(self, visits: Sequence[tuple[SiteJob, Visit]]) -> list[Exception | None]:
        """Save visits of different sites, at most `MOST_VISITS`, in one transaction.

        Return for each of them None, or why it was not saved: LeaseLost, or WorkspaceError for a wrong number.
        """
        rows = {job.id: self._row(job, visit) for job, visit in visits}
        if len(rows) < len(visits) or len(rows) > MOST_VISITS:
            raise ValueError(f"{len(visits)} visits of {len(rows)} sites cannot be saved at once")
        saved: set[int] = set()
        tries = 0

        def attempt() -> None:
            nonlocal tries
            tries += 1
            if tries > 1:
                saved.update(self._ids(_SAVED, [_key(row) for row in rows.values()]))
            left = [rows[site_id] for site_id in sorted(rows.keys() - saved)]  # in one order: no deadlocks
            if left:
                saved.update(self._ids(_SAVE, left, self._database.slot))

        self._server.again(attempt)
        for job, visit in visits:
            if visit.spent and job.id in saved:
                self._reserved.discard(job.id)
        return [None if job.id in saved else self._refusal(job, visit.number) for job, visit in visits]

    def _row(self, job: SiteJob, visit: Visit) -> dict[str, Any]:
        if visit.site != job.site.start:
            raise ValueError(f"a visit of {visit.site} was saved to {job.site.start}")
        row = dict(zip(_VISIT, visit_row(job.id, visit), strict=True))
        for name in _FLAGS:
            row[name] = int(row[name])
        row["run_id"], row["fence"] = job.run_id, job.fence
        row["is_page"], row["is_failure"] = int(visit.is_page), int(visit.is_failure)
        row["uses"] = int(visit.spent and job.id in self._reserved)
        row["why"] = json.dumps(visit.why, ensure_ascii=False) if visit.why else None
        return row

    def _ids(self, sql: str, rows: list[dict[str, Any]], *values: Any) -> list[int]:
        found = self._server.execute_alone(sql, (_json(rows), *values)).fetchall()
        return [site_id for (site_id,) in found]

    def save_report(self, job: SiteJob, report: SiteReport) -> list[Visit]:
        tiers = (("goal", report.goals), ("likely", report.likely))
        pages = [
            {"url": page.url, "tier": tier, "probability": page.probability}
            for tier, found in tiers
            for page in found
        ]
        values = (
            job.id, job.fence, _json(pages), self._database.slot, report.none_probability, report.goals_left
        )  # fmt: skip
        held, count = self._server.again(lambda: self._server.execute_alone(_REPORT, values).fetchone())
        if not held:
            raise lost(job)
        return self._server.again(lambda: found_visits(self._database, job.id)) if count else []

    def last_page(self, url: str) -> ArchiveRef | None:
        """Return the position of the last copy of a page.

        A host of which there was none when its site was leased is not asked for again: no other worker has its domain.
        """
        origin = _origin(url)
        if (is_known := self._known.get(origin)) is None:
            below = f"{origin}/", f"{origin}0"  # the character 0 comes after /
            row = self._database.execute(_HAS_COPIES, below).fetchone()
            is_known = self._known[origin] = row is not None
        return super().last_page(url) if is_known else None

    def has_no_copies(self, url: str) -> bool:
        """Return True if `last_page` returns None without asking the server."""
        return self._known.get(_origin(url)) is False

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


class _ThreadCalls:
    """Calls that one thread carries out one after the other, while the event loop reads from its sockets.

    Visits that arrive within `gather_seconds`, or while the server is busy with others, are saved together. Each caller
    goes on when its own visit is durable, so that the next request to a site never comes before that.
    """

    def __init__(self, store: ServerForageStore, gather_seconds: float) -> None:
        self._store, self._gather_seconds = store, gather_seconds
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="wayhound-store")
        self._waiting: list[tuple[SiteJob, Visit, asyncio.Future[None]]] = []
        self._writer: asyncio.Task[None] | None = None

    async def run(self, step: Callable[[], Result]) -> Result:
        return await asyncio.get_running_loop().run_in_executor(self._thread, step)

    async def save_visit(self, job: SiteJob, visit: Visit) -> None:
        saved: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append((job, visit, saved))
        if self._writer is None:
            self._writer = asyncio.create_task(self._write())
        await saved

    async def last_page(self, url: str) -> ArchiveRef | None:
        # asked before every fetch, and nearly always answered so: a turn of the thread for each would cost as much as
        # the visit itself
        if self._store.has_no_copies(url):
            return None
        return await self.run(partial(self._store.last_page, url))

    async def _write(self) -> None:
        try:
            while self._waiting:
                if len(self._waiting) < MOST_VISITS:
                    await asyncio.sleep(self._gather_seconds)
                batch, self._waiting = self._waiting[:MOST_VISITS], self._waiting[MOST_VISITS:]
                for (_, _, saved), error in zip(batch, await self._save(batch), strict=True):
                    if saved.done():  # its site was given up meanwhile
                        continue
                    if error is None:
                        saved.set_result(None)
                    else:
                        saved.set_exception(error)
        finally:
            self._writer = None

    async def _save(
        self, batch: Sequence[tuple[SiteJob, Visit, asyncio.Future[None]]]
    ) -> Sequence[BaseException | None]:
        visits = [(job, visit) for job, visit, _ in batch]
        try:
            return await self.run(partial(self._store.save_visits, visits))
        except Exception as error:  # noqa: BLE001 - each caller raises it
            return [error] * len(batch)

    def close(self) -> None:
        self._thread.shutdown(wait=False)


def _repeat(database: PostgresDatabase, step: Callable[[], None], is_done: Callable[[], bool]) -> None:
    """Carry out a step, again if the connection breaks, unless an earlier try turns out to have done it."""
    tries = 0

    def attempt() -> None:
        nonlocal tries
        tries += 1
        if tries == 1 or not is_done():
            step()

    database.again(attempt)


def _key(row: dict[str, Any]) -> dict[str, Any]:
    return {name: row[name] for name in ("site_id", "number", "url", "at")}


def _json(rows: list[dict[str, Any]]) -> str:
    """Return rows as JSON that Postgres takes: without NUL, and without lone surrogates."""
    text = json.dumps(rows, ensure_ascii=False)
    if "\\u0000" in text or not _is_utf8(text):
        rows = [{name: without_nul(storable(value)) for name, value in row.items()} for row in rows]
        text = json.dumps(rows, ensure_ascii=False)
    return text


def _is_utf8(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _origin(url: str) -> str:
    return "/".join(url.split("/", 3)[:3])


def _host(origin: str) -> str:
    return origin.rpartition("/")[2].partition(":")[0]
