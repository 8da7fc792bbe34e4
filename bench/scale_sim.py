"""Leases, visits and budgets of many workers against a real Postgres server, with a simulated network.

Sixty-four workers save visits as fast as the server takes them, each of several sites at once and together, as a worker
of a forage does, and again one by one; a thousand workers do so at the pace of a network with pauses; others share a
total budget. Then the same forage of a site on loopback runs on SQLite and on Postgres, and
the CPU time per page is compared. The server runs on this machine, with its data on disk and every commit flushed.
"""

from __future__ import annotations

import argparse
import asyncio
import multiprocessing
import os
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from random import Random
from statistics import quantiles
from typing import TypeVar

from bench.crawl_site import served_site
from bench.crawl_speed import ROOT, measure
from bench.report import Bar, Cell, Report, add_output_options, finish
from tests.postgres_server import PostgresServer, postgres_server, why_not
from wayhound.site import Site
from wayhound.store.postgres import PostgresDatabase
from wayhound.store.protocol import RunLimits, SiteJob
from wayhound.store.server_forage import ServerForageStore
from wayhound.visit import ArchiveRef, Visit

LEAST_VISITS = 2_000.0  # a second, of 64 workers
MOST_CPU = 1.35
WORKERS, PROCESSES = 64, 4
CONNECTIONS = 32  # of the thousand workers
VISITS_A_SITE = 20
SITES_AT_ONCE = 8  # of a worker that saves visits together; that of a forage has 50
SITES_A_DOMAIN = 3  # of every tenth domain; the others have one
DURABLE = {"max_connections": "200", "shared_buffers": "256MB", "max_wal_size": "2GB"}

Result = TypeVar("Result")


def sites(count: int) -> list[Site]:
    """Return sites of different domains; every tenth domain has several, which must not be leased together."""
    return [
        Site(f"https://part{part}.domain{domain}.example/")
        for domain in range(count)
        for part in range(SITES_A_DOMAIN if domain % 10 == 0 else 1)
    ][:count]


def visit_of(job: SiteJob, number: int) -> Visit:
    """Return a visit of the size that real ones have."""
    return Visit(
        site=job.site.start,
        number=number,
        url=f"{job.site.start}people/department/{number:06}.html",
        outcome="ok" if number % 12 else "http_404",
        at=time.time(),
        parent=number - 1 if number else None,
        link_text="The people of the department",
        link_region="body>div.columns>main>article.profile>ul>li>a",
        depth=2,
        score=0.25,
        status=200,
        content_type="text/html",
        title="A page of the department and its people",
        digest=f"{number:040x}",
        label="people",
        goal=0.5,
        spent=True,
        archived=ArchiveRef("wayhound-20260101-w0-000.warc.gz", number * 9_000, 9_000),
    )


def opened_run(url: str, count: int, total_budget: int | None = None) -> int:
    with PostgresDatabase(url) as database:
        limits = RunLimits(budget_per_site=VISITS_A_SITE, total_budget=total_budget)
        return ServerForageStore(database).open_run({"bench": f"{count}"}, limits, sites(count), 0.0).id


# As fast as the server takes them


@dataclass
class Tally:
    """The steps of workers and their seconds."""

    visits: int = 0
    leases: int = 0
    refused: int = 0
    save_seconds: list[float] = field(default_factory=list)
    lease_seconds: list[float] = field(default_factory=list)

    def add(self, other: Tally) -> None:
        self.visits += other.visits
        self.leases += other.leases
        self.refused += other.refused
        self.save_seconds += other.save_seconds
        self.lease_seconds += other.lease_seconds


def timed(seconds: list[float], step: Callable[[], Result]) -> Result:
    began = time.perf_counter()
    result = step()
    seconds.append(time.perf_counter() - began)
    return result


def work(url: str, run_id: int, name: str, until: float, budgeted: bool) -> Tally:
    """Forage as one worker, without a network, until a time of the monotonic clock or until no site is left."""
    tally = Tally()
    with PostgresDatabase(url) as database:
        store = ServerForageStore(database)
        while time.monotonic() < until:
            jobs = timed(tally.lease_seconds, lambda: store.lease_sites(run_id, name, 0.0, 1))
            tally.leases += len(jobs)
            if not jobs:
                break
            _forage(store, jobs[0], tally, until, budgeted)
        store.release_leases(run_id, name)
    return tally


def work_together(url: str, run_id: int, name: str, until: float) -> Tally:
    """Forage several sites at once, whose visits are saved together."""
    tally = Tally()
    with PostgresDatabase(url) as database:
        store = ServerForageStore(database)
        jobs: list[SiteJob] = []
        while time.monotonic() < until:
            new = timed(tally.lease_seconds, lambda: store.lease_sites(run_id, name, 0.0, SITES_AT_ONCE))
            tally.leases += len(new)
            jobs = new
            if not jobs:
                break
            for number in range(VISITS_A_SITE):
                if time.monotonic() >= until:
                    break
                batch = [(job, visit_of(job, number)) for job in jobs]
                refusals = timed(tally.save_seconds, partial(store.save_visits, batch))
                tally.visits += refusals.count(None)
            else:
                for job in jobs:
                    store.finish_site(job, "budget spent")
        store.release_leases(run_id, name)
    return tally


def _forage(store: ServerForageStore, job: SiteJob, tally: Tally, until: float, budgeted: bool) -> None:
    for number in range(job.visits, VISITS_A_SITE):
        if time.monotonic() >= until:
            return
        if budgeted and not store.reserve_fetch(job):
            tally.refused += 1
            break
        visit = visit_of(job, number)
        timed(tally.save_seconds, partial(store.save_visit, job, visit))
        tally.visits += 1
    store.finish_site(job, "budget spent")


def work_in_threads(
    url: str, run_id: int, names: list[str], until: float, budgeted: bool, together: bool
) -> Tally:
    """Forage as several workers of one process."""
    total, lock = Tally(), threading.Lock()

    def one(name: str) -> None:
        tally = (
            work_together(url, run_id, name, until) if together else work(url, run_id, name, until, budgeted)
        )
        with lock:
            total.add(tally)

    with ThreadPoolExecutor(len(names)) as pool:
        list(pool.map(one, names))
    return total


def full_speed(
    url: str, seconds: float, count: int, total_budget: int | None = None, *, together: bool = False
) -> tuple[Tally, float]:
    """Return the steps of all workers, and how long they took."""
    run_id = opened_run(url, count, total_budget)
    names = [f"host{number}:1:0" for number in range(WORKERS)]
    began = time.monotonic()
    total = Tally()
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(PROCESSES, context) as pool:
        list(pool.map(abs, range(PROCESSES)))  # start the processes before the clock
        began = time.monotonic()
        parts = [
            pool.submit(
                work_in_threads,
                url,
                run_id,
                names[part::PROCESSES],
                began + seconds,
                total_budget is not None,
                together,
            )
            for part in range(PROCESSES)
        ]
        for part in parts:
            total.add(part.result())
    return total, time.monotonic() - began


# At the pace of a network


class Simulation:
    """A thousand workers as tasks, each with its leases; a few connections carry what they do."""

    def __init__(self, url: str, run_id: int, workers: int, seconds: float) -> None:
        self.run_id, self.workers, self.seconds = run_id, workers, seconds
        self.tally = Tally()
        self.together = 0  # times that a domain was leased twice at once
        self.by_domain: Counter[str] = Counter()
        self.waits: Counter[str] = Counter()
        self._url = url
        self._held: set[str] = set()
        self._threads = [ThreadPoolExecutor(1) for _ in range(CONNECTIONS)]
        self._stores = [self._opened(thread) for thread in self._threads]

    def _opened(self, thread: ThreadPoolExecutor) -> ServerForageStore:
        return thread.submit(lambda: ServerForageStore(PostgresDatabase(self._url))).result()

    async def run(self) -> float:
        began = time.monotonic()
        watcher = asyncio.create_task(self._watch())
        await asyncio.gather(*(self._worker(number, began + self.seconds) for number in range(self.workers)))
        watcher.cancel()
        return time.monotonic() - began

    async def _call(self, number: int, step: Callable[[ServerForageStore], Result]) -> Result:
        slot = number % CONNECTIONS
        store = self._stores[slot]
        return await asyncio.get_running_loop().run_in_executor(self._threads[slot], lambda: step(store))

    async def _worker(self, number: int, until: float) -> None:
        network, name = Random(number), f"host{number}:1:0"
        await asyncio.sleep(network.uniform(0, 0.5))
        while time.monotonic() < until:
            jobs = await self._call(
                number,
                lambda store: timed(
                    self.tally.lease_seconds, lambda: store.lease_sites(self.run_id, name, 0.0, 1)
                ),
            )
            if not jobs:
                return
            await self._forage(number, jobs[0], network, until)

    async def _forage(self, number: int, job: SiteJob, network: Random, until: float) -> None:
        domain = job.site.domain
        self.tally.leases += 1
        self.together += domain in self._held
        self._held.add(domain)
        for visit_number in range(job.visits, VISITS_A_SITE):
            if time.monotonic() >= until:
                break
            await asyncio.sleep(network.uniform(0.2, 0.8))
            visit = visit_of(job, visit_number)
            await self._call(number, partial(self._save, job, visit))
            self.tally.visits += 1
            self.by_domain[domain] += 1
        self._held.discard(domain)
        await self._call(number, lambda store: store.finish_site(job, "budget spent"))

    def _save(self, job: SiteJob, visit: Visit, store: ServerForageStore) -> None:
        timed(self.tally.save_seconds, partial(store.save_visit, job, visit))

    async def _watch(self) -> None:
        """Look every 100 ms at what the server's processes wait for."""
        with PostgresDatabase(self._url) as database:
            while True:
                rows = database.execute(
                    "SELECT coalesce(wait_event_type, 'none'), count(*) FROM pg_stat_activity "
                    "WHERE state = 'active' AND pid <> pg_backend_pid() GROUP BY 1"
                ).fetchall()
                self.waits.update(dict(rows))
                await asyncio.sleep(0.1)

    def close(self) -> None:
        for thread, store in zip(self._threads, self._stores, strict=True):
            thread.submit(store._database.close).result()  # noqa: SLF001
            thread.shutdown()

    @property
    def fairness(self) -> float:
        """Jain's index of the visits per domain that was begun: 1.0 if all have the same."""
        counts = [
            count / (SITES_A_DOMAIN if _is_large(domain) else 1) for domain, count in self.by_domain.items()
        ]
        return sum(counts) ** 2 / (len(counts) * sum(count**2 for count in counts)) if counts else 0.0


def _is_large(domain: str) -> bool:
    return int("".join(filter(str.isdigit, domain)) or 1) % 10 == 0


# CPU per page


@contextmanager
def server_cpu(server: PostgresServer) -> Iterator[list[float]]:
    """Append the CPU seconds that the server's processes took in the block."""
    found: list[float] = []
    before = _cpu_of(server)
    yield found
    found.append(_cpu_of(server) - before)


def _cpu_of(server: PostgresServer) -> float:
    """Return the CPU seconds of the server, of its processes, and of those that have ended."""
    assert server.process is not None
    parent = server.process.pid
    total = 0
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        pid, of = int(path.parent.name), int(fields[1])
        if pid == parent:
            total += sum(map(int, fields[11:15]))  # its own, and those of children that have ended
        elif of == parent:
            total += sum(map(int, fields[11:13]))
    return total / os.sysconf("SC_CLK_TCK")


def cpu_per_page(server: PostgresServer, pages: int, rounds: int) -> dict[str, float]:
    """Return CPU ms per page on SQLite, on Postgres, and on Postgres with the server's part."""
    best: dict[str, float] = {}
    with served_site(pages) as start:
        for _ in range(rounds):
            for name in ("sqlite", "postgres"):
                with tempfile.TemporaryDirectory() as folder, server_cpu(server) as at_server:
                    database = [server.create()] if name == "postgres" else []
                    command = [sys.executable, "-m", "bench.crawl_ours", start, f"{folder}/w", *database]
                    cost = measure(command, ROOT, ROOT / "src")
                figures = {name: cost.cpu_per_1000}
                if name == "postgres":
                    figures["with the server"] = cost.cpu_per_1000 + 1000 * at_server[0] / cost.pages
                for key, figure in figures.items():
                    best[key] = min(best.get(key, figure), figure)
    return best


# The report


def ms(seconds: list[float], percent: int) -> float:
    return round(1000 * quantiles(seconds, n=100)[percent - 1], 2) if len(seconds) > 1 else 0.0


def row(name: str, tally: Tally, seconds: float, workers: int) -> list[Cell]:
    return [
        name, workers, round(tally.visits / seconds), round(tally.leases / seconds),
        ms(tally.save_seconds, 50), ms(tally.save_seconds, 99),
        ms(tally.lease_seconds, 50), ms(tally.lease_seconds, 99),
    ]  # fmt: skip


def simulate(url: str, workers: int, seconds: float) -> tuple[Simulation, float]:
    simulation = Simulation(url, opened_run(url, workers * 2), workers, seconds)
    try:
        return simulation, asyncio.run(simulation.run())
    finally:
        simulation.close()


def spent(url: str) -> int:
    with PostgresDatabase(url) as database:
        return int(database.execute("SELECT coalesce(sum(spent), 0) FROM tally").fetchone()[0])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=15.0, help="of each part")
    parser.add_argument("--workers", type=int, default=1_000, help="of the simulation with a network")
    parser.add_argument(
        "--pages", type=int, default=2_000, help="of the site for CPU per page; 0 leaves it out"
    )
    parser.add_argument("--rounds", type=int, default=2, help="of which the cheapest counts")
    add_output_options(parser)
    arguments = parser.parse_args()
    if reason := why_not():
        raise SystemExit(reason)
    with postgres_server(DURABLE) as server:
        url = server.create()
        fast, fast_seconds = full_speed(url, arguments.seconds, 60_000, together=True)
        single, single_seconds = full_speed(server.create(), arguments.seconds, 60_000)
        paced, paced_seconds = simulate(server.create(), arguments.workers, arguments.seconds)
        budget = round(200 * arguments.seconds)
        budget_url = server.create()
        shared, shared_seconds = full_speed(budget_url, 40 * arguments.seconds, 2_000, budget)
        budget_spent = spent(budget_url)
        costs = cpu_per_page(server, arguments.pages, arguments.rounds) if arguments.pages else {}
    header = [
        "workers are",
        "number",
        "visits/s",
        "leases/s",
        "save ms 50 %",
        "99 %",
        "lease ms 50 %",
        "99 %",
    ]
    rows = [
        row(f"as fast as the server, {SITES_AT_ONCE} sites at once", fast, fast_seconds, WORKERS),
        row("as fast as the server, one site", single, single_seconds, WORKERS),
        row("paced by a network", paced.tally, paced_seconds, arguments.workers),
        row("sharing a total budget", shared, shared_seconds, WORKERS),
    ]
    active = max(sum(paced.waits.values()), 1)
    bars = [
        Bar("visits per second of 64 workers", fast.visits / fast_seconds, least=LEAST_VISITS),
        Bar("domains leased twice at once", paced.together, most=0),
        Bar("fetches of the shared budget", budget_spent, least=budget, most=budget),
        Bar("fairness over domains (Jain)", round(paced.fairness, 3), least=0.8),
    ]
    reports = [
        Report(
            "Workers on one Postgres server on this machine", header, rows, bars,
            {"waits": dict(paced.waits), "lock_waits": paced.waits["Lock"] / active},
        )
    ]  # fmt: skip
    if costs:
        ratio = {name: costs[name] / costs["sqlite"] for name in costs}
        reports.append(
            Report(
                "CPU of the same forage",
                ["database", "CPU s per 1,000 pages", "× SQLite"],
                [[name, round(cost, 2), round(ratio[name], 3)] for name, cost in costs.items()],
                [Bar("CPU per page on Postgres, as a share of SQLite's", ratio["postgres"], most=MOST_CPU)],
            )
        )
    print(f"lock waits: {paced.waits['Lock'] / active:.1%} of active moments; {dict(paced.waits)}")
    return finish(reports, arguments)


if __name__ == "__main__":
    sys.exit(main())
