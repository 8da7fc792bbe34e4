"""A database on a server: outages in the middle of a forage, and errors that say what to do."""

from __future__ import annotations

import asyncio
import re
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Coroutine, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.postgres_server import PostgresServer, postgres_server, why_not
from tests.store.samples import begin, forage_store, lease, visit_of
from wayhound.cli import run
from wayhound.errors import LeaseLost, UsageError, WorkspaceError
from wayhound.store.database import Database, open_database
from wayhound.store.forage import ForageStore
from wayhound.store.protocol import Run, RunLimits, SiteJob
from wayhound.visit import ArchiveRef, Visit

if TYPE_CHECKING:
    from wayhound.store.server_forage import ServerForageStore

OUTAGES = 4


@pytest.fixture
def own_server() -> Iterator[PostgresServer]:
    """A server to be switched off. What it has confirmed is with the operating system, which goes on."""
    if reason := why_not():
        pytest.skip(reason)
    with postgres_server({"fsync": "off", "full_page_writes": "off"}) as started:
        yield started


def opened(url: str, *, read_only: bool = False) -> Database:
    return open_database(Path(), url, read_only=read_only)


class Saver(threading.Thread):
    """Saves visits of one site until told to end, and counts what was confirmed."""

    def __init__(self, url: str) -> None:
        super().__init__(daemon=True)
        self.url, self.confirmed, self.ends = url, 0, False
        self.error: BaseException | None = None

    def run(self) -> None:
        try:
            with opened(self.url) as database:
                store = forage_store(database)
                job = lease(store, store.runs()[0])
                while not self.ends:
                    assert store.reserve_fetch(job)
                    store.save_visit(job, visit_of(job, self.confirmed))
                    self.confirmed += 1
                    if self.confirmed % 7 == 0:
                        assert store.renew_leases(job.run_id, "here:1:0") == {(job.id, job.fence)}
                store.finish_site(job, "no links left")
        except BaseException as error:  # noqa: BLE001 - told by the test
            self.error = error

    def wait_for(self, count: int) -> None:
        """Wait until so many more visits are confirmed."""
        until = self.confirmed + count
        while self.confirmed < until and self.is_alive():
            time.sleep(0.005)


def test_a_server_that_is_switched_off_loses_no_visit_and_doubles_none(own_server: PostgresServer) -> None:
    url = own_server.create()
    with opened(url) as database:
        run_id = begin(forage_store(database), sites=1, total_budget=1_000_000).id
    saver = Saver(url)
    saver.start()
    for number in range(OUTAGES):
        saver.wait_for(30)
        own_server.stop(kill=number % 2 == 0)
        own_server.start()
    saver.wait_for(30)
    saver.ends = True
    saver.join()
    assert saver.error is None
    assert saver.confirmed >= OUTAGES * 30
    with opened(url) as database:
        store = forage_store(database)
        (summary,) = store.sites(run_id)
        assert summary.visits == summary.spent == store.progress(run_id).spent == saver.confirmed
        (job_id,) = database.execute("SELECT id FROM site").fetchone()
        assert [visit.number for visit in store.visits(job_id)] == list(range(saver.confirmed))
        assert database.execute("SELECT count(*) FROM reservation").fetchone() == (0,)


def cut_before(database: Database, statement: str) -> None:
    """Let the server carry out the next such statement, and then cut the connection before its answer arrives."""
    from wayhound.store.postgres import PostgresDatabase

    assert isinstance(database, PostgresDatabase)
    run_statement = database.execute_alone

    def cut(sql: str, values: object) -> object:
        result = run_statement(sql, values)  # type: ignore[arg-type]
        if sql.lstrip().startswith(statement):
            database.execute_alone = run_statement  # type: ignore[method-assign]
            database.connection.close()
            raise database._explain(_lost())
        return result

    database.execute_alone = cut  # type: ignore[method-assign, assignment]


def _lost() -> Any:
    import psycopg

    return psycopg.OperationalError("the connection is lost")


@pytest.fixture
def cut_database(server: PostgresServer) -> Iterator[Database]:
    with opened(server.create()) as database:
        yield database


def test_a_visit_whose_answer_was_lost_is_saved_once(cut_database: Database) -> None:
    store = forage_store(cut_database)
    started = begin(store, sites=1)
    job = lease(store, started)
    cut_before(cut_database, "WITH given")
    store.save_visit(job, visit_of(job, 0))
    store.save_visit(job, visit_of(job, 1))
    assert [visit.number for visit in store.visits(job.id)] == [0, 1]
    assert store.progress(started.id).visits == 2


def test_a_lost_answer_does_not_hide_that_the_lease_is_lost(cut_database: Database) -> None:
    store = forage_store(cut_database)
    started = begin(store, sites=1)
    job = lease(store, started)
    store.release_leases(started.id, "here:1:0")
    cut_before(cut_database, "WITH given")
    with pytest.raises(LeaseLost):
        store.save_visit(job, visit_of(job, 0))


def batch_of(store: ForageStore, started: Run) -> tuple[ServerForageStore, list[tuple[SiteJob, Visit]]]:
    """Return a visit of each of three sites, which are leased."""
    from wayhound.store.server_forage import ServerForageStore

    assert isinstance(store, ServerForageStore)
    return store, [(job, visit_of(job, 0)) for job in (lease(store, started) for _ in range(3))]


def test_visits_saved_together_are_refused_one_by_one(cut_database: Database) -> None:
    started = begin(forage_store(cut_database), sites=3, total_budget=9)
    store, batch = batch_of(forage_store(cut_database), started)
    assert all(store.reserve_fetch(job) for job, _ in batch)
    lost, wrong = batch[0][0], batch[2][0]
    cut_database.execute("UPDATE site SET fence = fence + 1 WHERE id = ?", (lost.id,))
    refusals = store.save_visits([*batch[:2], (wrong, visit_of(wrong, 5))])
    assert [type(refusal) for refusal in refusals] == [LeaseLost, type(None), WorkspaceError]
    assert [len(list(store.visits(job.id))) for job, _ in batch] == [0, 1, 0]
    assert (store.progress(started.id).visits, store.progress(started.id).spent) == (1, 1)
    reserved = {site for (site,) in cut_database.execute("SELECT site_id FROM reservation")}
    assert reserved == {lost.id, wrong.id}, "only what was saved uses up its reservation"


def test_visits_saved_together_are_saved_once_if_the_answer_was_lost(cut_database: Database) -> None:
    started = begin(forage_store(cut_database), sites=3)
    store, batch = batch_of(forage_store(cut_database), started)
    store.save_visits(batch[:1])
    cut_before(cut_database, "WITH given")
    assert store.save_visits([(batch[0][0], visit_of(batch[0][0], 1)), *batch[1:]]) == [None] * 3
    assert [len(list(store.visits(job.id))) for job, _ in batch] == [2, 1, 1]
    assert store.progress(started.id).visits == 4


def test_two_visits_of_one_site_are_not_saved_together(cut_database: Database) -> None:
    store, batch = batch_of(forage_store(cut_database), begin(forage_store(cut_database), sites=3))
    with pytest.raises(ValueError, match="cannot be saved at once"):
        store.save_visits([batch[0], batch[0]])


def test_a_page_of_a_host_without_copies_is_looked_up_again_when_its_site_is(cut_database: Database) -> None:
    store = forage_store(cut_database)
    first = lease(store, begin(store, sites=1))
    url = f"{first.site.start}page"
    assert store.last_page(url) is None
    copy = ArchiveRef("one.warc.gz", 0, 10)
    store.save_visit(first, visit_of(first, 0, url=url, archived=copy))
    store.finish_site(first, "no links left")
    store.open_run({"strategy": "again"}, RunLimits(), [first.site], now=1.0)
    lease(store, store.runs()[0])
    assert store.last_page(url) == copy


def test_a_lease_whose_answer_was_lost_is_given_out_once(server: PostgresServer) -> None:
    with opened(server.create()) as database:
        store = forage_store(database)
        started = begin(store, sites=3)
        first = lease(store, started)
        original = store._lease_free  # type: ignore[attr-defined]

        def lose(*arguments: object) -> list[SiteJob]:
            original(*arguments)
            store._lease_free = original  # type: ignore[attr-defined]
            database.close()
            raise database._explain(_lost())  # type: ignore[attr-defined]

        store._lease_free = lose  # type: ignore[attr-defined]
        second = lease(store, started)
        assert second.id != first.id
        assert store.renew_leases(started.id, "here:1:0") == {
            (first.id, first.fence),
            (second.id, second.fence),
        }


# Calls from an event loop


async def ticks_during(work: Coroutine[Any, Any, None]) -> int:
    """Return how often an event loop comes around every 10 ms until some work in it is done."""
    task, ticks = asyncio.create_task(work), 0
    while not task.done():
        await asyncio.sleep(0.01)
        ticks += 1
    await task
    return ticks


def test_an_event_loop_goes_on_while_the_server_is_away(own_server: PostgresServer) -> None:
    with opened(own_server.create()) as database:
        store = forage_store(database)
        job = lease(store, begin(store, sites=1))
        calls = store.calls(0.0)
        own_server.stop()
        back = threading.Timer(1.0, own_server.start)
        back.start()
        ticks = asyncio.run(ticks_during(calls.save_visit(job, visit_of(job, 0))))
        back.join()
        calls.close()
        assert ticks >= 20, "a second has a hundred; a loop that waits has one"
        assert [visit.number for visit in store.visits(job.id)] == [0]


def test_visits_of_many_sites_are_saved_together_and_each_is_durable_before_its_site_goes_on(
    server: PostgresServer,
) -> None:
    url = server.create()
    with opened(url) as database, opened(url, read_only=True) as other:
        store = forage_store(database)
        started = begin(store, sites=40)
        jobs = store.lease_sites(started.id, "here:1:0", 0.0, 40)
        database.execute("UPDATE site SET fence = fence + 1 WHERE id = ?", (jobs[7].id,))
        statements: list[str] = []
        note_statements(database, statements)
        calls = store.calls(0.02)

        async def forage(job: SiteJob) -> int:
            for number in range(3):
                await calls.save_visit(job, visit_of(job, number))
                saved = other.execute("SELECT count(*) FROM visit WHERE site_id = ?", (job.id,)).fetchone()
                assert saved == (number + 1,), "another connection sees it already"
            return job.id

        async def forage_all() -> list[int | BaseException]:
            return await asyncio.gather(*map(forage, jobs), return_exceptions=True)

        results = asyncio.run(forage_all())
        calls.close()
        assert isinstance(results.pop(7), LeaseLost)
        assert results == [job.id for job in jobs if job is not jobs[7]]
        assert store.progress(started.id).visits == 39 * 3
        assert len([sql for sql in statements if sql.lstrip().startswith("WITH given")]) <= 39 * 3 / 4


def note_statements(database: Database, statements: list[str]) -> None:
    """Add the statements that are carried out from now on to a list."""
    run_statement = database.execute_alone  # type: ignore[attr-defined]

    def noted(sql: str, values: object) -> object:
        statements.append(sql)
        return run_statement(sql, values)

    database.execute_alone = noted  # type: ignore[attr-defined]


# Plans


def test_a_lease_reads_a_few_sites_however_many_wait(server: PostgresServer) -> None:
    from wayhound.store.dialect import translate
    from wayhound.store.server_forage import _LEASE

    with opened(server.create()) as database:
        started = begin(forage_store(database), sites=2_000)
        sql = translate(_LEASE)
        for value, literal in (("$1", f"{started.id}"), ("$2", "-1"), ("$3", "8"), ("$4", "'here:1:0'")):
            sql = sql.replace(value, literal)
        plan = "\n".join(line for (line,) in database.execute(f"EXPLAIN (ANALYZE) {sql}"))
        read = [int(rows) * int(loops) for rows, loops in re.findall(r"rows=(\d+) loops=(\d+)", plan)]
        removed = [int(rows) for rows in re.findall(r"Rows Removed by .*: (\d+)", plan)]
        assert max(read + removed) < 200, plan


# Errors


def test_a_database_that_is_not_there_is_named(server: PostgresServer) -> None:
    with pytest.raises(WorkspaceError, match=r"The database nowhere on .* does not exist.* Create it"):
        opened(server.url("nowhere"))


def test_a_server_that_does_not_run_is_a_clear_error(tmp_path: Path) -> None:
    if reason := why_not():
        pytest.skip(reason)
    with pytest.raises(WorkspaceError, match=r"cannot be reached: .*Check the address, that the server runs"):
        opened(f"postgresql://wayhound:secret@/mine?host={tmp_path}")


def test_an_address_that_is_none_is_a_usage_error() -> None:
    if reason := why_not():
        pytest.skip(reason)
    with pytest.raises(UsageError, match="no address of a Postgres database"):
        opened("postgresql://me@here/mine?colour=red")
    with pytest.raises(WorkspaceError, match=r"on a host whose name is unknown. Correct the address"):
        opened("postgresql://me@here:port/mine")


def test_a_wrong_password_is_told_without_telling_it(server: PostgresServer) -> None:
    rules = server.folder / "data" / "pg_hba.conf"
    rules.write_text(f"local all guarded scram-sha-256\n{rules.read_text()}")
    with opened(server.create()) as database:
        database.execute("CREATE ROLE guarded LOGIN PASSWORD 'right'")
        database.execute("SELECT pg_reload_conf()")
    address = server.url().replace("wayhound@", "guarded:wrong-word@")
    until_refused(lambda: opened(address))
    with pytest.raises(WorkspaceError, match=r"refused the user or the password.*PGPASSWORD") as refused:
        opened(address)
    assert "wrong-word" not in str(refused.value)


def until_refused(attempt: Callable[[], Database]) -> None:
    """The server reads its rules again when it comes to it."""
    for _ in range(500):
        try:
            attempt().close()
        except WorkspaceError:
            return
        time.sleep(0.01)


def test_a_database_of_a_newer_version_is_left_alone(server: PostgresServer) -> None:
    url = server.create()
    with opened(url) as database:
        database.execute("INSERT INTO migration (number, name) VALUES (9999, 'later')")
    with pytest.raises(WorkspaceError, match=r"made by a newer version.*Install the newer version"):
        opened(url)


def test_a_reader_does_not_bring_an_older_database_up_to_date(server: PostgresServer) -> None:
    url = server.create()
    with opened(url) as database:
        database.execute("DELETE FROM migration WHERE number = (SELECT max(number) FROM migration)")
    with pytest.raises(WorkspaceError, match=r"another version.*Open it once with write access"):
        opened(url, read_only=True)


def test_who_may_only_read_cannot_write(server: PostgresServer) -> None:
    url = server.create()
    opened(url).close()
    with (
        opened(url, read_only=True) as database,
        pytest.raises(WorkspaceError, match="open for reading alone"),
    ):
        begin(forage_store(database))


def test_a_clock_that_is_an_hour_off_stops_a_forage(server: PostgresServer) -> None:
    with opened(server.create()) as database:
        database.check_clock(time.time())
        for seconds, side in ((3_600, "60 minutes ahead of"), (-3_600, "60 minutes behind")):
            with pytest.raises(WorkspaceError, match=f"{side} that of the database server.*use NTP"):
                database.check_clock(time.time() + seconds)


def test_text_that_postgres_cannot_hold_is_saved_with_a_mark_in_its_place(postgres: Database) -> None:
    store = forage_store(postgres)
    job = lease(store, begin(store, sites=1))
    store.save_visit(job, visit_of(job, 0, title="nothing \x00 here"))
    assert [visit.title for visit in store.visits(job.id)] == ["nothing \ufffd here"]


def test_without_the_driver_the_extra_is_named(tmp_path: Path) -> None:
    script = (
        "import sys; sys.modules['psycopg'] = None\n"
        "from wayhound.cli import run\n"
        f"sys.exit(run(['init', {str(tmp_path / 'w')!r}, '--database', 'postgresql://me@here/mine']))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "needs psycopg" in done.stderr
    assert "[postgres]" in done.stderr
    assert not (tmp_path / "w" / "wayhound.toml").exists()


def test_a_workspace_is_not_made_if_its_database_cannot_be_used(
    server: PostgresServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["init", str(tmp_path / "w"), "--database", server.url("nowhere")]) == 3
    assert "does not exist, or its user does not. Create it" in capsys.readouterr().err
    assert run(["init", str(tmp_path / "w"), "--database", "mysql://me:secret@here/mine"]) == 2
    told = capsys.readouterr().err
    assert "must be postgresql://USER@HOST:PORT/DATABASE" in told
    assert "secret" not in told
    assert run(["init", str(tmp_path / "w"), "--database", server.create()]) == 0


def test_no_command_loads_the_driver_unless_it_is_used() -> None:
    script = "import sys; import wayhound.cli, wayhound.workspace; sys.exit('psycopg' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0
