"""Several processes on one database, and processes that are killed in the middle of it."""

from __future__ import annotations

import random
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from itertools import chain
from pathlib import Path

import pytest

from tests.postgres_server import PostgresServer
from tests.store.samples import BREADTH_FIRST, begin, forage_store, lease
from tests.store.worker import opened
from wayhound.site import Site
from wayhound.store.forage import ForageStore
from wayhound.store.protocol import RunLimits

ROOT = Path(__file__).parents[2]
KILLS = 10


@pytest.fixture(params=["file", "server"])
def path(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The place of a database that does not exist yet, or has no tables."""
    if request.param == "server":
        server: PostgresServer = request.getfixturevalue("server")
        return server.create()
    return str(tmp_path / "wayhound.db")


@pytest.fixture
def store(path: str) -> Iterator[ForageStore]:
    with opened(path) as database:
        yield forage_store(database)


def start(task: str, path: str, name: str, *more: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "tests.store.worker", task, path, name, *map(str, more)]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)


def run_together(task: str, path: str, count: int, *more: Path) -> list[list[str]]:
    """Return the output of each of several processes; all must succeed."""
    with ExitStack() as stack:
        workers = [stack.enter_context(start(task, path, f"here:{n}:0", *more)) for n in range(count)]
        said = [worker.communicate()[0].split() for worker in workers]
        assert [worker.returncode for worker in workers] == [0] * count
    return said


def test_processes_that_make_the_same_database_at_once_agree_on_it(path: str) -> None:
    assert run_together("open", path, 4) == [["1"]] * 4


def test_processes_never_lease_the_same_site_or_domain_together(
    store: ForageStore, path: str, tmp_path: Path
) -> None:
    sites = [Site(f"https://part{n}.site{n % 20}.example/") for n in range(120)]
    run = store.open_run(BREADTH_FIRST, RunLimits(), sites, now=0.0)
    marks = tmp_path / "leased"
    marks.mkdir()
    said = run_together("finish", path, 3, marks)
    assert sorted(chain.from_iterable(said)) == sorted(site.start for site in sites)
    assert store.progress(run.id).done == len(sites)


def test_the_total_budget_is_met_exactly_by_processes_that_share_it(store: ForageStore, path: str) -> None:
    run = begin(store, sites=3, total_budget=200)
    run_together("save", path, 3)
    progress = store.progress(run.id)
    assert (progress.spent, progress.done) == (200, 3)
    assert sum(site.visits for site in store.sites(run.id)) == 200


def test_killed_processes_lose_no_visit_that_was_saved_and_budgets_stay_exact(
    store: ForageStore, path: str
) -> None:
    seconds = random.Random(7)
    budget = 0
    run = begin(store, sites=1, total_budget=budget)
    for _ in range(KILLS):
        budget = store.progress(run.id).spent + 3_000  # more than one process saves before it is killed
        begin(store, sites=1, total_budget=budget)
        acknowledged = kill_after(start("save", path, "here:1:0"), seconds.uniform(0.0, 0.05))
        store.release_dead(run.id, is_alive=lambda _: False)
        saved = check_whole(store, run.id)
        assert acknowledged <= saved <= acknowledged + 1
    run_together("save", path, 1)
    assert store.progress(run.id).spent == budget
    assert saved > KILLS


def kill_after(worker: subprocess.Popen[str], seconds: float) -> int:
    """Kill -9 once it is saving; how many visits there must be, by what it said until then."""
    with worker:
        assert worker.stdout
        assert worker.stdout.readline() == "begun\n"
        first = int(worker.stdout.readline())
        time.sleep(seconds)
        worker.kill()
        whole = [line for line in worker.stdout.read().splitlines(keepends=True) if line.endswith("\n")]
    return first + 1 + len(whole)


def check_whole(store: ForageStore, run_id: int) -> int:
    """Numbers without a gap, and every count equal to what is there."""
    job = lease(store, store.run(run_id), "here:0:0")
    store.release_leases(run_id, "here:0:0")
    numbers = [visit.number for visit in store.visits(job.id)]
    assert numbers == list(range(job.visits))
    assert store.progress(run_id).visits == job.visits
    return job.visits
