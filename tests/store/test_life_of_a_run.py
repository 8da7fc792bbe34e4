"""Workers that lease, save, stop, die and come back in any order: the store against a plain model of it."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from tests.store.samples import BREADTH_FIRST, visit_of
from wayhound.errors import LeaseLost
from wayhound.site import Site
from wayhound.store.database import Database
from wayhound.store.forage import ForageStore
from wayhound.store.protocol import RunLimits, SiteJob

SITES = [Site(f"https://part{n}.site{n % 3}.example/") for n in range(5)]
WORKERS = ("here:1:0", "here:2:0", "here:3:0")
LEASE_SECONDS = 10.0

workers = st.sampled_from(WORKERS)
picks = st.integers(0, 99)


@dataclass
class Known:
    """The expected state of a site."""

    owner: str = ""
    until: float = 0.0
    done: bool = False
    visits: int = 0
    spent: int = 0


class LifeOfARun(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.database = Database(None)
        self.stores = {worker: ForageStore(self.database) for worker in WORKERS}  # a process each
        self.jobs: dict[tuple[str, str], SiteJob] = {}
        self.known = {site.start: Known() for site in SITES}
        self.reserved = dict.fromkeys(WORKERS, 0)
        self.now = 0.0

    @initialize(total=st.integers(0, 9))
    def begin(self, total: int) -> None:
        self.total = total
        self.run_id = self.stores[WORKERS[0]].open_run(BREADTH_FIRST, RunLimits(None, total), SITES, 0.0).id

    @rule(seconds=st.sampled_from([1.0, 6.0, 11.0]))
    def time_passes(self, seconds: float) -> None:
        self.now += seconds

    @rule(worker=workers)
    def lease(self, worker: str) -> None:
        self.expire()
        held = {Site(start).domain for start, site in self.known.items() if site.owner}
        free = [
            site
            for site in SITES
            if not self.known[site.start].done
            and not self.known[site.start].owner
            and site.domain not in held
        ]
        job = self.stores[worker].lease_site(self.run_id, worker, self.now, self.now + LEASE_SECONDS)
        assert (job is not None) == bool(free)
        if job is not None:
            known = self.known[job.site.start]
            assert job.site in free
            assert job.visits == known.visits
            known.owner, known.until = worker, self.now + LEASE_SECONDS
            self.jobs[worker, job.site.start] = job

    def expire(self) -> None:
        lapsed = [site for site in self.known.values() if site.owner and site.until < self.now]
        for site in lapsed:
            site.owner = ""
        owners = {site.owner for site in self.known.values()}
        if lapsed:
            self.reserved.update({worker: 0 for worker in WORKERS if worker not in owners})

    @rule(worker=workers)
    def renew(self, worker: str) -> None:
        self.stores[worker].renew_leases(self.run_id, worker, self.now + LEASE_SECONDS)
        for site in self.known.values():
            if site.owner == worker:
                site.until = self.now + LEASE_SECONDS

    @precondition(lambda self: self.jobs)
    @rule(pick=picks, visits=st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=4))
    def save(self, pick: int, visits: list[tuple[bool, bool]]) -> None:
        worker, job = self.picked(pick)
        for spent, goal in visits:
            self.save_one(worker, job, spent, goal)

    def save_one(self, worker: str, job: SiteJob, spent: bool, goal: bool) -> None:
        known, store = self.known[job.site.start], self.stores[worker]
        if known.owner != worker:
            with pytest.raises(LeaseLost):
                store.save_visit(job.id, visit_of(job, known.visits))
        elif not spent or self.may_fetch(worker):
            store.save_visit(job.id, visit_of(job, known.visits, spent=spent, is_goal=goal))
            known.visits += 1
            known.spent += spent
            self.reserved[worker] -= spent

    def picked(self, pick: int) -> tuple[str, SiteJob]:
        """One of the leases that were ever taken and not given back, still held or not."""
        held = list(self.jobs.items())
        (worker, _), job = held[pick % len(held)]
        return worker, job

    @rule(worker=workers)
    def reserve(self, worker: str) -> None:
        self.may_fetch(worker)

    def may_fetch(self, worker: str) -> bool:
        room = self.total - sum(site.spent for site in self.known.values()) - sum(self.reserved.values())
        granted = self.stores[worker].reserve_fetch(self.run_id, worker)
        assert granted == (room > 0)
        self.reserved[worker] += granted
        return granted

    @rule(worker=workers)
    def give_back(self, worker: str) -> None:
        self.stores[worker].return_reservation(self.run_id, worker)
        self.reserved[worker] = max(0, self.reserved[worker] - 1)

    @precondition(lambda self: self.jobs)
    @rule(pick=picks)
    def finish(self, pick: int) -> None:
        worker, job = self.picked(pick)
        if self.known[job.site.start].owner == worker:
            self.stores[worker].finish_site(job.id, "no links left")
            self.known[job.site.start].owner, self.known[job.site.start].done = "", True

    @rule(worker=workers, killed=st.booleans())
    def stop(self, worker: str, killed: bool) -> None:
        if killed:
            self.stores[worker] = ForageStore(self.database)
            self.stores[worker].release_dead(self.run_id, is_alive=lambda other: other != worker)
        else:
            self.stores[worker].release_leases(self.run_id, worker)
        self.jobs = {key: job for key, job in self.jobs.items() if key[0] != worker}
        self.reserved[worker] = 0
        for site in self.known.values():
            if site.owner == worker:
                site.owner = ""

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
