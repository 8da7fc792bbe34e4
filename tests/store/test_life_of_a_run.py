"""Workers that lease, save, stop, die and come back in any order: the store against a plain model of it."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from tests.store.samples import BREADTH_FIRST, lease_next, visit_of
from wayhound.errors import LeaseLost
from wayhound.site import Site
from wayhound.store.forage import ForageStore
from wayhound.store.protocol import RunLimits, SiteJob
from wayhound.store.sqlite import SqliteDatabase

SITES = [Site(f"https://part{n}.site{n % 3}.example/") for n in range(5)]
WORKERS = ("here:1:0", "here:2:0", "here:3:0")
LEASE_SECONDS = 10.0

workers = st.sampled_from(WORKERS)
picks = st.integers(0, 99)


@dataclass
class Known:
    """The expected state of a site."""

    job: SiteJob | None = None  # the lease that holds
    owner: str = ""
    renewed: float = 0.0
    done: bool = False
    visits: int = 0
    spent: int = 0
    reserved: bool = False

    def free(self) -> None:
        self.job, self.owner, self.reserved = None, "", False


class LifeOfARun(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.now = 0.0
        self.database = SqliteDatabase(None)
        self.stores = {worker: self.new_store() for worker in WORKERS}  # a process each
        self.jobs: list[tuple[str, SiteJob]] = []  # all leases ever taken, still held or not
        self.known = {site.start: Known() for site in SITES}

    def new_store(self) -> ForageStore:
        return ForageStore(self.database, clock=lambda: self.now)

    @initialize(total=st.integers(0, 9))
    def begin(self, total: int) -> None:
        self.total = total
        self.run_id = self.stores[WORKERS[0]].open_run(BREADTH_FIRST, RunLimits(None, total), SITES, 0.0).id

    @rule(worker=workers, time_of_day=st.sampled_from([0.0, 1e9, 4e9]))
    def lease(self, worker: str, time_of_day: float) -> None:
        held = {Site(start).domain for start, site in self.known.items() if site.owner}
        free = [
            site
            for site in SITES
            if not self.known[site.start].done
            and not self.known[site.start].owner
            and site.domain not in held
        ]
        job = lease_next(self.stores[worker], self.run_id, worker, time_of_day)
        assert (job is not None) == bool(free)
        if job is not None:
            known = self.known[job.site.start]
            assert job.site in free
            assert job.visits == known.visits
            known.job, known.owner, known.renewed = job, worker, self.now
            self.jobs.append((worker, job))

    @rule(worker=workers)
    def renew(self, worker: str) -> None:
        held = self.stores[worker].renew_leases(self.run_id, worker)
        mine = [site for site in self.known.values() if site.owner == worker]
        assert held == {(site.job.id, site.job.fence) for site in mine if site.job}
        for site in mine:
            site.renewed = self.now

    @rule(worker=workers, times=st.integers(1, 6), seconds=st.sampled_from([1.0, 3.0, 6.0]))
    def look(self, worker: str, times: int, seconds: float) -> None:
        """Sites are taken only from others that were silent for the whole lease time, and from those in the end."""
        for _ in range(times):
            self.now += seconds
            self.stores[worker].release_silent(worker, LEASE_SECONDS)
        looked = (times - 1) * seconds if 2 * seconds <= LEASE_SECONDS else 0.0
        leased = {row[0] for row in self.database.execute("SELECT start FROM site WHERE state = 'leased'")}
        for start, site in self.known.items():
            if site.owner and start not in leased:
                assert site.owner != worker
                assert self.now - site.renewed >= LEASE_SECONDS
                site.free()
            elif site.owner and site.owner != worker:
                assert looked < LEASE_SECONDS

    @precondition(lambda self: self.jobs)
    @rule(pick=picks, visits=st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=4))
    def save(self, pick: int, visits: list[tuple[bool, bool]]) -> None:
        worker, job = self.jobs[pick % len(self.jobs)]
        for spent, goal in visits:
            self.save_one(worker, job, spent, goal)

    def save_one(self, worker: str, job: SiteJob, spent: bool, goal: bool) -> None:
        known, store = self.known[job.site.start], self.stores[worker]
        if known.job != job:
            with pytest.raises(LeaseLost):
                store.save_visit(job, visit_of(job, known.visits))
        elif not spent or self.may_fetch(worker, job):
            store.save_visit(job, visit_of(job, known.visits, spent=spent, is_goal=goal))
            known.visits += 1
            known.spent += spent
            known.reserved = known.reserved and not spent

    @precondition(lambda self: self.jobs)
    @rule(pick=picks)
    def reserve(self, pick: int) -> None:
        worker, job = self.jobs[pick % len(self.jobs)]
        if self.known[job.site.start].job == job:
            self.may_fetch(worker, job)

    def may_fetch(self, worker: str, job: SiteJob) -> bool:
        known = self.known[job.site.start]
        taken = sum(site.spent + (site.reserved and site is not known) for site in self.known.values())
        granted = self.stores[worker].reserve_fetch(job)
        assert granted == (self.total > taken)
        known.reserved = granted
        return granted

    @precondition(lambda self: self.jobs)
    @rule(pick=picks)
    def give_back(self, pick: int) -> None:
        worker, job = self.jobs[pick % len(self.jobs)]
        if self.known[job.site.start].job == job:
            self.stores[worker].return_reservation(job)
            self.known[job.site.start].reserved = False

    @precondition(lambda self: self.jobs)
    @rule(pick=picks)
    def finish(self, pick: int) -> None:
        worker, job = self.jobs[pick % len(self.jobs)]
        known = self.known[job.site.start]
        if known.job == job:
            self.stores[worker].finish_site(job, "no links left")
            known.free()
            known.done = True

    @rule(worker=workers, killed=st.booleans())
    def stop(self, worker: str, killed: bool) -> None:
        if killed:
            self.stores[worker] = self.new_store()
            self.stores[worker].release_dead(self.run_id, is_alive=lambda other: other != worker)
        else:
            self.stores[worker].release_leases(self.run_id, worker)
        for site in self.known.values():
            if site.owner == worker:
                site.free()

    @invariant()
    def counts_are_true(self) -> None:
        if not hasattr(self, "run_id"):
            return
        store = self.stores[WORKERS[0]]
        progress, known = store.progress(self.run_id), self.known.values()
        assert progress.visits == sum(site.visits for site in known)
        assert progress.spent == sum(site.spent for site in known) <= self.total
        assert progress.done == sum(site.done for site in known)
        assert {(each.start, each.visits, each.spent) for each in store.sites(self.run_id)} == {
            (start, site.visits, site.spent) for start, site in self.known.items()
        }

    def teardown(self) -> None:
        self.database.close()


TestLifeOfARun = LifeOfARun.TestCase
TestLifeOfARun.settings = settings(max_examples=100, stateful_step_count=50, deadline=None)
