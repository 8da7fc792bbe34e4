"""Workers that are stopped in the middle of a forage, as by a machine that sleeps, and go on later."""

from __future__ import annotations

import asyncio
import signal
import socket
import sqlite3
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from tests.servers import Served, serve
from tests.store.samples import lease
from wayhound.app.crawl import Crawl
from wayhound.app.forage import open_run
from wayhound.app.order import Order
from wayhound.app.page_source import PageSource
from wayhound.app.site_forage import ForagePlan
from wayhound.app.workers import WorkerOrder
from wayhound.archive.reader import ArchiveReader
from wayhound.archive.writer import ArchiveWriter
from wayhound.config import Config
from wayhound.fetched import Failed, Fetched
from wayhound.forage.forager import ForageLimits
from wayhound.forage.politeness import Politeness
from wayhound.forage.scorer import GoalPattern
from wayhound.forage.scorers.baselines import BreadthFirst
from wayhound.processes import child_environment, python_command
from wayhound.site import Site
from wayhound.store.forage import ForageStore
from wayhound.store.protocol import Run, RunLimits
from wayhound.store.sqlite import SqliteDatabase
from wayhound.workspace import Workspace

DEADLINE = 120.0
AGENTS = ("First", "Second")
TOTAL = 150


def wait_until(is_so: Callable[[], bool]) -> None:
    end = time.monotonic() + DEADLINE
    while not is_so():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.02)


@dataclass
class Witness:
    """A web whose pages go on for ever, and that notes requests of workers that do not hold the site's lease."""

    database: Path
    served: Served | None = None
    pids: dict[str, int] = field(default_factory=dict)
    trespasses: list[str] = field(default_factory=list)
    at_once: Counter[str] = field(default_factory=Counter)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def page(self, path: str) -> str | None:
        if not path.startswith("//") or path.endswith("robots.txt"):
            return None
        host, _, number = path[2:].partition("/")
        self.check(host, number)
        with self.lock:
            self.at_once[host] += 1
            if self.at_once[host] > 1:
                self.trespasses.append(f"{host} at once")
        time.sleep(0.01)
        with self.lock:
            self.at_once[host] -= 1
        return f"<p>{host} {number}</p><a href='/{int(number or 0) + 1}'>next</a>"

    def check(self, host: str, number: str) -> None:
        assert self.served
        asked = next(
            request
            for request in reversed(self.served.seen)
            if (request.host, request.target) == (host, f"/{number}")
        )
        agent = asked.headers["User-Agent"].partition("/")[0]
        with closing(sqlite3.connect(self.database, timeout=60)) as connection:
            row = connection.execute(
                "SELECT worker FROM site WHERE start LIKE ?", (f"%//{host}:%",)
            ).fetchone()
        if row[0] is None or int(row[0].split(":")[1]) != self.pids[agent]:
            self.trespasses.append(f"{host}/{number}: asked by {agent}, leased to {row[0]}")


@contextmanager
def worker(folder: Path, run: Run, number: int) -> Iterator[subprocess.Popen[bytes]]:
    config = Config()
    config = replace(
        config,
        agent=replace(config.agent, name=AGENTS[number]),
        fetch=replace(config.fetch, delay_seconds=0.15, allow_private=True),
        forage=replace(config.forage, lease_seconds=4.0),
    )
    order = WorkerOrder(run.id, run.identity, run.limits, config)
    command = python_command("wayhound", "forage-worker", str(folder), str(number))
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, env=child_environment()
    )
    assert process.stdin
    try:
        process.stdin.write(f"{order.to_json()}\n".encode())
        process.stdin.flush()
        yield process
    finally:
        process.kill()
        process.stdin.close()
        process.wait()


def stop_between_writes(process: subprocess.Popen[bytes], database: Path) -> None:
    """Stop a process while it does not hold SQLite's lock, which would stop the others too."""
    with closing(sqlite3.connect(database, timeout=0.5, isolation_level=None)) as connection:
        while True:
            process.send_signal(signal.SIGSTOP)
            try:
                connection.execute("BEGIN IMMEDIATE")
            except sqlite3.OperationalError:  # the lock is its own, or another process's for long
                process.send_signal(signal.SIGCONT)
            else:
                connection.execute("ROLLBACK")
                return


def leased_by(store: ForageStore, pid: int) -> int:
    name = f"{socket.gethostname()}:{pid}:%"
    sql = "SELECT count(*) FROM site WHERE state = 'leased' AND worker LIKE ?"
    return int(store._database.execute(sql, (name,)).fetchone()[0])


def test_a_stopped_worker_loses_its_sites_and_asks_for_nothing_when_it_goes_on(tmp_path: Path) -> None:
    witness = Witness(tmp_path / "w" / "wayhound.db")
    with Workspace.create(tmp_path / "w") as workspace, serve(witness.page) as server:
        witness.served = server
        sites = [Site(f"{server.at(f's{n}.localhost')}/") for n in range(4)]
        run = open_run(workspace, Order(), RunLimits(None, TOTAL), sites, time.time())
        store = workspace.stores.forage
        with worker(tmp_path / "w", run, 0) as first:
            witness.pids["First"] = first.pid
            wait_until(lambda: store.progress(run.id).visits >= 8 and leased_by(store, first.pid) == 4)
            stop_between_writes(first, witness.database)
            with worker(tmp_path / "w", run, 1) as second:
                witness.pids["Second"] = second.pid
                wait_until(lambda: leased_by(store, second.pid) == 4)
                before = store.progress(run.id).visits
                wait_until(lambda: store.progress(run.id).visits >= before + 4)
                first.send_signal(signal.SIGCONT)
                assert [second.wait(DEADLINE), first.wait(DEADLINE)] == [0, 0]
        progress = store.progress(run.id)
        assert (progress.spent, progress.done) == (TOTAL, 4)
        for summary in store.sites(run.id):
            visits = list(store.visits_of(run.id, summary.start))
            assert [visit.number for visit in visits] == list(range(summary.visits))
            assert len({visit.url for visit in visits}) == len(visits)
    assert witness.trespasses == []


class Sleeper:
    """A fetcher that puts its worker to sleep at the third page: another one then takes the site and walks it."""

    def __init__(self, sleep: Callable[[], None]) -> None:
        self.sleep = sleep
        self.urls: list[str] = []

    async def fetch(self, url: str) -> Fetched | Failed:
        self.urls.append(url)
        if len(self.urls) == 3:
            self.sleep()
        number = int(url.rpartition("/")[2] or 0)
        body = f"<p>page {number}</p>" + (f"<a href=/{number + 1}>next</a>" if number < 9 else "")
        return Fetched(url, 200, body=body.encode(), content_type="text/html")


def test_a_worker_whose_loop_was_blocked_drops_what_it_lost_and_takes_it_up_again(tmp_path: Path) -> None:
    """The site is even leased again by the same name; the visit under way belongs to the lease that was lost."""
    path = tmp_path / "wayhound.db"
    with SqliteDatabase(path) as database, SqliteDatabase(path) as of_other:
        store, other = ForageStore(database), ForageStore(of_other)
        run = store.open_run({}, RunLimits(None, 10), [Site("http://s.example/")], 0.0)

        def sleep() -> None:
            other.release_dead(run.id, is_alive=lambda _: False)
            again = lease(other, run, "here:1:0", 0.0)
            assert other.reserve_fetch(again)
            other.release_leases(run.id, "here:1:0")

        fetcher = Sleeper(sleep)
        with ArchiveWriter(tmp_path / "archive", "w0", software="a test") as writer:
            pages = PageSource(fetcher, writer, ArchiveReader(tmp_path / "archive"))
            plan = ForagePlan(lambda: BreadthFirst(GoalPattern()), ForageLimits(), Politeness(0.0))
            crawl = Crawl(store, run, "here:1:0", pages, plan)
            asyncio.run(asyncio.wait_for(crawl.work(2), DEADLINE))
        progress = store.progress(run.id)
        assert (progress.spent, progress.visits, progress.done) == (10, 10, 1)
        assert [url.rpartition("/")[2] for url in fetcher.urls] == ["", "1", "2", *map(str, range(2, 10))]
