"""The contract of every store of forages; see `wayhound.store.protocol.Store`."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.store.samples import BREADTH_FIRST, begin, forage_store, lease, lease_next, site, visit_of
from wayhound.errors import LeaseLost, UsageError, WorkspaceError
from wayhound.forage.scorer import FoundPage, SiteReport
from wayhound.page import LinkKind
from wayhound.site import Site
from wayhound.store.database import Database
from wayhound.store.forage import ForageStore
from wayhound.store.protocol import Progress, RunLimits, SiteJob, SiteSummary, Store
from wayhound.store.sqlite import SqliteDatabase
from wayhound.visit import ArchiveRef, Visit

ME = "here:1:0"
OTHER = "there:2:0"


def test_the_store_is_a_store(store: ForageStore) -> None:
    kept: Store = store  # mypy compares the signatures
    assert kept.runs() == []


# Runs


def test_the_same_identity_continues_the_same_run_whatever_the_order_of_its_keys(store: ForageStore) -> None:
    first = begin(store)
    again = store.open_run(dict(reversed(BREADTH_FIRST.items())), RunLimits(), [], now=5.0)
    other = store.open_run({**BREADTH_FIRST, "goal": "people"}, RunLimits(), [], now=6.0)
    assert (again.id, again.is_new) == (first.id, False)
    assert other.id != first.id
    assert other.is_new


def test_runs_are_listed_from_the_one_opened_last(store: ForageStore) -> None:
    old = store.open_run({"strategy": "old"}, RunLimits(7, 8, 9), [], now=1.0)
    new = store.open_run({"strategy": "new"}, RunLimits(), [], now=2.0)
    assert [run.id for run in store.runs()] == [new.id, old.id]
    assert store.run(old.id).limits == RunLimits(7, 8, 9)
    assert store.run(old.id).identity == {"strategy": "old"}


def test_a_run_that_does_not_exist_is_named_in_the_error(store: ForageStore) -> None:
    with pytest.raises(UsageError, match="no run 99"):
        store.run(99)


def test_sites_come_in_the_order_given_and_only_once(store: ForageStore) -> None:
    run = begin(store, sites=2)
    store.open_run(BREADTH_FIRST, RunLimits(), map(site, [1, 0, 2]), now=1.0)
    assert [summary.start for summary in store.sites(run.id)] == [site(n).start for n in range(3)]
    assert store.progress(run.id).sites == 3


def test_a_site_whose_budget_was_spent_is_reopened_when_the_budget_grows(store: ForageStore) -> None:
    run = begin(store, sites=2, budget_per_site=1)
    spender, idler = lease(store, run), lease(store, run)
    store.save_visit(spender, visit_of(spender, 0))
    store.finish_site(spender, "budget spent")
    store.finish_site(idler, "start page failed (dns)")

    begin(store, sites=2, budget_per_site=1)
    assert store.progress(run.id).done == 2
    begin(store, sites=2, budget_per_site=2)
    assert [(each.state, each.reason) for each in store.sites(run.id)] == [
        ("waiting", ""),
        ("done", "start page failed (dns)"),
    ]
    assert store.progress(run.id).done == 1
    again = lease(store, run)
    assert (again.id, again.visits) == (spender.id, 1)


def test_a_site_is_reopened_when_its_budget_is_lifted_altogether(store: ForageStore) -> None:
    run = begin(store, sites=1, budget_per_site=0)
    store.finish_site(lease(store, run), "budget spent")
    begin(store, sites=1)
    assert store.progress(run.id).waiting == 1


def test_a_site_that_met_the_total_budget_is_reopened_when_that_grows(store: ForageStore) -> None:
    run = begin(store, sites=2, total_budget=1)
    early, late = lease(store, run), lease(store, run)
    assert store.reserve_fetch(early)
    store.save_visit(early, visit_of(early, 0))
    store.finish_site(early, "no links left")
    assert not store.reserve_fetch(late)
    store.finish_site(late, "total budget spent")
    begin(store, sites=2, total_budget=2)
    assert [each.state for each in store.sites(run.id)] == ["done", "waiting"]


def test_a_site_with_pages_at_the_depth_limit_is_reopened_when_that_grows(store: ForageStore) -> None:
    run = begin(store, sites=2, max_depth=1)
    deep, shallow = lease(store, run), lease(store, run)
    store.save_visit(deep, visit_of(deep, 0, depth=1))
    store.save_visit(shallow, visit_of(shallow, 0, depth=0))
    for job in (deep, shallow):
        store.finish_site(job, "no links left")
    begin(store, sites=2, max_depth=2)
    assert [each.state for each in store.sites(run.id)] == ["waiting", "done"]


def test_a_limit_that_shrinks_reopens_nothing(store: ForageStore) -> None:
    run = begin(store, sites=1, budget_per_site=5)
    store.finish_site(lease(store, run), "no links left")
    begin(store, sites=1, budget_per_site=1)
    assert store.progress(run.id).done == 1


def test_the_finds_of_a_site_are_its_goals_and_files_by_ended_forage(store: ForageStore) -> None:
    for turn in range(3):
        run = store.open_run({**BREADTH_FIRST, "fresh": str(turn)}, RunLimits(), [site(0)], now=float(turn))
        job = lease(store, run)
        for number in range(turn + 1):
            store.save_visit(
                job, visit_of(job, number, is_goal=number == 1, status=200, content_type="text/html")
            )
        if turn < 2:
            name = visit_of(job, turn + 1, status=200, content_type="application/pdf")
            store.save_visit(job, name)
            store.finish_site(job, "no links left")
    start = site(0).start
    assert store.finds(start, 5) == [
        (1_700_000_001.5, frozenset({f"{start}1"})),
        (1_700_000_002.5, frozenset({f"{start}1", f"{start}2"})),
    ]
    assert [at for at, _ in store.finds(start, 1)] == [1_700_000_002.5]
    assert store.finds(site(1).start, 5) == []


# Leases


def test_a_site_is_leased_once_and_in_the_order_given(store: ForageStore) -> None:
    run = begin(store, sites=2)
    assert lease(store, run).site == site(0)
    assert lease(store, run, OTHER).site == site(1)
    assert lease_next(store, run.id, ME, 0.0) is None


def test_the_hosts_of_a_site_come_back_with_it(store: ForageStore) -> None:
    hosted = Site("https://a.example/", ("a.example", ".b.example"))
    run = store.open_run(BREADTH_FIRST, RunLimits(), [hosted], now=0.0)
    assert lease(store, run).site == hosted


def test_two_sites_of_one_domain_are_never_leased_together(store: ForageStore) -> None:
    one, two, elsewhere = Site("https://one.a.example/"), Site("https://two.a.example/"), site(1)
    run = store.open_run(BREADTH_FIRST, RunLimits(), [one, two, elsewhere], now=0.0)
    first = lease(store, run)
    assert lease(store, run).site == elsewhere
    assert lease_next(store, run.id, OTHER, 0.0) is None
    store.finish_site(first, "no links left")
    assert lease(store, run).site == two


def test_a_domain_leased_in_one_run_is_not_leased_in_another(store: ForageStore) -> None:
    run = begin(store, sites=1)
    other = store.open_run({"strategy": "random"}, RunLimits(), [site(0)], now=0.0)
    lease(store, run)
    assert lease_next(store, other.id, OTHER, 0.0) is None


class Clock:
    """A clock that stands still until it is moved."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def watch(store: ForageStore, clock: Clock, seconds: int, worker: str = OTHER) -> None:
    """Look once a second for workers that have fallen silent."""
    for _ in range(seconds):
        clock.now += 1.0
        store._database.execute(
            "UPDATE site SET leased_at = leased_at - 10.0"
        )  # by a server's clock they are overdue
        store.release_silent(worker, 4.0)


def test_a_silent_worker_loses_its_site_and_cannot_save(database: Database) -> None:
    clock = Clock()
    old, new = forage_store(database), forage_store(database, clock)
    run = begin(old, sites=1)
    job = lease(old, run, ME)
    old.save_visit(job, visit_of(job, 0))
    watch(new, clock, 4)  # the first look cannot tell how old the lease is
    assert lease_next(new, run.id, OTHER, 0.0) is None
    watch(new, clock, 1)
    taken = lease(new, run, OTHER)
    assert (taken.id, taken.visits) == (job.id, 1)
    assert taken.fence > job.fence
    with pytest.raises(LeaseLost):
        old.save_visit(job, visit_of(job, 1))
    new.save_visit(taken, visit_of(taken, 1))
    assert len(list(new.visits(job.id))) == 2


WRITES: list[Callable[[ForageStore, SiteJob], object]] = [
    lambda store, job: store.save_visit(job, visit_of(job, job.visits)),
    lambda store, job: store.finish_site(job, "no links left"),
    lambda store, job: store.delete_visits_from(job, 0),
    lambda store, job: store.save_report(job, SiteReport((), (), 0.0)),
    lambda store, job: store.reserve_fetch(job),
    lambda store, job: store.return_reservation(job),
]


@pytest.mark.parametrize("owner", [ME, OTHER, ""])
def test_nothing_can_be_written_with_a_lease_that_was_lost_whoever_has_the_site_now(
    database: Database, owner: str
) -> None:
    store = forage_store(database)
    run = begin(store, sites=1, total_budget=9)
    job = lease(store, run, ME)
    store.release_dead(run.id, is_alive=lambda _: False)
    if owner:
        lease(store, run, owner)
    for write in WRITES:
        with pytest.raises(LeaseLost):
            write(store, job)
    assert store.progress(run.id).visits == 0


def test_a_renewed_lease_is_not_taken_over(database: Database) -> None:
    clock = Clock()
    store, other = forage_store(database), forage_store(database, clock)
    run = begin(store, sites=1)
    job = lease(store, run, ME)
    for _ in range(10):
        watch(other, clock, 3)
        assert store.renew_leases(run.id, ME) == {(job.id, job.fence)}
    assert lease_next(other, run.id, OTHER, 0.0) is None
    store.save_visit(job, visit_of(job, 0))


def test_the_time_of_day_may_jump_and_no_lease_is_lost(store: ForageStore) -> None:
    run = begin(store, sites=1)
    job = lease(store, run, ME, now=2_000_000_000.0)
    for now in (0.0, 4_000_000_000.0):
        store.release_silent(OTHER, 60.0)
        assert lease_next(store, run.id, OTHER, now) is None
    store.save_visit(job, visit_of(job, 0))


def test_a_worker_that_slept_itself_waits_anew_before_it_calls_others_silent(database: Database) -> None:
    clock = Clock()
    store, other = forage_store(database), forage_store(database, clock)
    run = begin(store, sites=1)
    job = lease(store, run, ME)
    watch(other, clock, 3)
    clock.now += 1_000.0
    watch(other, clock, 4)
    store.save_visit(job, visit_of(job, 0))
    watch(other, clock, 1)
    assert lease_next(other, run.id, OTHER, 0.0) is not None


def test_a_worker_does_not_call_itself_silent(database: Database) -> None:
    clock = Clock()
    store = forage_store(database, clock)
    job = lease(store, begin(store, sites=1), ME)
    watch(store, clock, 20, worker=ME)
    store.save_visit(job, visit_of(job, 0))


def test_released_leases_are_free_at_once_and_those_of_others_stay(store: ForageStore) -> None:
    run = begin(store, sites=2)
    mine = lease(store, run, ME)
    lease(store, run, OTHER)
    store.release_leases(run.id, ME)
    with pytest.raises(LeaseLost):
        store.save_visit(mine, visit_of(mine, 0))
    assert lease(store, run, OTHER).id == mine.id
    assert lease_next(store, run.id, OTHER, 0.0) is None


def test_what_the_dead_held_is_free_at_once_and_the_living_keep_theirs(store: ForageStore) -> None:
    run = begin(store, sites=2, total_budget=2)
    dead, living = lease(store, run, "here:1:0"), lease(store, run, "here:2:0")
    assert store.reserve_fetch(dead)
    assert store.reserve_fetch(living)
    store.release_dead(run.id, is_alive=lambda worker: worker == "here:2:0")
    again = lease(store, run, "here:3:0")
    assert again.id == dead.id
    store.save_visit(living, visit_of(living, 0))
    assert store.reserve_fetch(again)
    assert not store.reserve_fetch(living)


def test_a_finished_site_says_why_and_keeps_the_hosts_learned(store: ForageStore) -> None:
    run = begin(store, sites=1, budget_per_site=0)
    store.finish_site(lease(store, run), "budget spent", (".a.example",))
    assert list(store.sites(run.id)) == [SiteSummary(site(0).start, "done", "budget spent", 0, 0, 0)]
    begin(store, sites=1, budget_per_site=1)
    assert lease(store, run).site.hosts == (".a.example",)


# Visits


def test_visits_come_back_in_order_as_they_were_saved(store: ForageStore) -> None:
    run = begin(store, sites=2)
    job, other = lease(store, run), lease(store, run)
    saved = [visit_of(job, number, parent=number - 1 if number else None) for number in range(1_203)]
    for visit in saved:
        store.save_visit(job, visit)
    store.save_visit(other, visit_of(other, 0))
    assert list(store.visits(job.id)) == saved
    assert list(store.visits(job.id, 700)) == saved[700:]
    assert list(store.visits_of(run.id, job.site.start, 1_200)) == saved[1_200:]
    assert list(store.visits_of(run.id, job.site.start, 1_203)) == []


def test_reading_visits_may_be_left_to_delete_the_rest(store: ForageStore) -> None:
    run = begin(store, sites=1)
    job = lease(store, run)
    for number in range(600):
        store.save_visit(job, visit_of(job, number))
    for visit in store.visits(job.id):
        if visit.number == 300:
            store.delete_visits_from(job, 300)
            break
    assert [visit.number for visit in store.visits(job.id)] == list(range(300))


KINDS: list[LinkKind] = ["a", "area", "frame", "iframe", "refresh", "next", "redirect", "start"]
texts = st.text(max_size=40)
numbers = st.floats(allow_nan=False)
counts = st.integers(0, 2**62)
visits = st.builds(
    Visit,
    site=st.just(site(0).start),
    number=st.just(0),
    url=texts,
    outcome=texts,
    at=numbers,
    parent=st.none(),
    link_text=texts,
    link_region=texts,
    link_kind=st.sampled_from(KINDS),
    depth=counts,
    attempt=counts,
    score=numbers,
    status=st.none() | counts,
    content_type=texts,
    title=texts,
    digest=texts,
    label=texts,
    goal=numbers,
    is_goal=st.booleans(),
    spent=st.booleans(),
    wait_seconds=numbers,
    location=texts,
    archived=st.none() | st.builds(ArchiveRef, texts, counts, counts),
)


@pytest.fixture(scope="module")
def one_store() -> Iterator[ForageStore]:
    """A store for all examples of a test, since making one takes most of the time of an example."""
    with SqliteDatabase(None) as database:
        yield forage_store(database)


@given(visit=visits)
def test_any_visit_survives_the_store_unchanged(one_store: ForageStore, visit: Visit) -> None:
    job = lease(one_store, begin(one_store, sites=1))
    one_store.save_visit(job, visit)
    tier = visit.tier or ("goal" if visit.is_goal else "")  # until a report of the whole site says otherwise
    assert list(one_store.visits(job.id)) == [replace(visit, tier=tier)]
    one_store.delete_visits_from(job, 0)
    one_store.release_leases(job.run_id, ME)


def test_text_that_utf8_cannot_hold_is_saved_with_a_mark_in_its_place(store: ForageStore) -> None:
    job = lease(store, begin(store, sites=1))
    store.save_visit(job, visit_of(job, 0, title="half \ud800 a pair", link_text="whole"))
    (saved,) = store.visits(job.id)
    assert (saved.title, saved.link_text) == ("half ? a pair", "whole")


def test_a_visit_saved_twice_is_refused_and_the_first_stays(store: ForageStore) -> None:
    run = begin(store, sites=1)
    job = lease(store, run)
    store.save_visit(job, visit_of(job, 0, title="first"))
    with pytest.raises(WorkspaceError, match="next is number 1"):
        store.save_visit(job, visit_of(job, 0, title="second"))
    assert [visit.title for visit in store.visits(job.id)] == ["first"]
    assert store.progress(run.id).visits == 1


def test_a_visit_may_not_leave_a_gap(store: ForageStore) -> None:
    job = lease(store, begin(store, sites=1))
    with pytest.raises(WorkspaceError, match="next is number 0"):
        store.save_visit(job, visit_of(job, 1))


def test_a_visit_of_another_site_is_refused(store: ForageStore) -> None:
    run = begin(store, sites=2)
    job, other = lease(store, run), lease(store, run)
    with pytest.raises(ValueError, match="was saved to"):
        store.save_visit(job, visit_of(other, 0))


def test_visits_of_a_site_that_does_not_exist_are_an_error(store: ForageStore) -> None:
    with pytest.raises(UsageError, match="no site 42"):
        next(store.visits(42))


def test_visits_are_found_by_run_and_start_page(store: ForageStore) -> None:
    run = begin(store, sites=2)
    job = lease(store, run)
    store.save_visit(job, visit_of(job, 0))
    other = store.open_run({"strategy": "random"}, RunLimits(), [site(0)], now=0.0)
    assert list(store.visits_of(run.id, site(0).start)) == [visit_of(job, 0)]
    assert list(store.visits_of(run.id, site(1).start)) == []
    assert list(store.visits_of(run.id, "https://elsewhere.example/")) == []
    assert list(store.visits_of(other.id, site(0).start)) == []


def test_the_place_of_a_page_is_that_of_its_last_visit_of_any_run(store: ForageStore) -> None:
    places = [ArchiveRef(f"w{number}.warc.gz", 10, 20) for number in range(4)]
    answers: list[dict[str, Any]] = [
        {"at": 3.0, "archived": places[0]},
        {"at": 5.0, "archived": places[1], "outcome": "duplicate"},
        {"at": 4.0, "archived": places[2]},
        {"at": 9.0, "archived": places[3], "outcome": "http_404"},
        {"at": 10.0},
    ]
    for number, answer in enumerate(answers):
        run = store.open_run({"strategy": str(number)}, RunLimits(), [site(0)], now=0.0)
        job = lease(store, run)
        store.save_visit(job, visit_of(job, 0, **answer))
        store.release_leases(run.id, ME)
    assert store.last_page(site(0).start) == places[1]
    assert store.last_page("https://elsewhere.example/") is None


def test_deleted_visits_cost_nothing_and_can_be_made_again(store: ForageStore) -> None:
    run = begin(store, sites=1, total_budget=3)
    job = lease(store, run)
    store.save_visit(job, visit_of(job, 0))
    store.save_visit(job, visit_of(job, 1, outcome="http_404"))
    store.save_visit(job, visit_of(job, 2, is_goal=True))
    store.delete_visits_from(job, 1)
    assert store.progress(run.id) == Progress(
        1, 1, 0, visits=1, spent=1, goals=0, spent_in_progress=1, outcomes={"ok": 1}
    )
    assert next(store.sites(run.id)) == SiteSummary(site(0).start, "leased", "", 1, 1, 0, pages=1)
    assert store.reserve_fetch(job)
    store.save_visit(job, visit_of(job, 1))
    assert [visit.number for visit in store.visits(job.id)] == [0, 1]


def test_progress_counts_sites_visits_and_outcomes(store: ForageStore) -> None:
    run = begin(store, sites=3)
    job, done = lease(store, run), lease(store, run)
    store.save_visit(job, visit_of(job, 0))
    store.save_visit(job, visit_of(job, 1, outcome="robots", spent=False))
    store.save_visit(job, visit_of(job, 2, is_goal=True))
    store.finish_site(done, "no links left")
    progress = store.progress(run.id)
    assert progress == Progress(
        3, 1, 1, visits=3, spent=2, goals=1, spent_in_progress=2, outcomes={"ok": 2, "robots": 1}
    )
    assert (progress.pages, progress.failures) == (2, 1)
    assert progress.waiting == 1


# The total budget


def test_the_total_budget_counts_saved_and_reserved_fetches(store: ForageStore) -> None:
    run = begin(store, sites=3, total_budget=3)
    job, other, third = lease(store, run), lease(store, run, OTHER), lease(store, run)
    assert store.reserve_fetch(job)
    store.save_visit(job, visit_of(job, 0))
    assert store.reserve_fetch(job)
    assert store.reserve_fetch(other)
    assert not store.reserve_fetch(third)
    store.return_reservation(other)
    assert store.reserve_fetch(third)


def test_a_visit_that_spent_nothing_leaves_the_reservation(store: ForageStore) -> None:
    run = begin(store, sites=2, total_budget=1)
    job, other = lease(store, run), lease(store, run)
    assert store.reserve_fetch(job)
    store.save_visit(job, visit_of(job, 0, outcome="robots", spent=False))
    assert not store.reserve_fetch(other)
    store.return_reservation(job)
    assert store.reserve_fetch(other)


def test_a_site_has_one_fetch_reserved_at_a_time(store: ForageStore) -> None:
    run = begin(store, sites=1, total_budget=1)
    job = lease(store, run)
    assert [store.reserve_fetch(job), store.reserve_fetch(job)] == [True, True]
    store.save_visit(job, visit_of(job, 0))
    assert not store.reserve_fetch(job)


def test_a_reservation_goes_back_with_the_lease_of_its_worker(store: ForageStore) -> None:
    run = begin(store, sites=2, total_budget=1)
    job, other = lease(store, run, ME), lease(store, run, OTHER)
    assert store.reserve_fetch(job)
    store.release_leases(run.id, ME)
    assert store.reserve_fetch(other)


def test_a_reservation_goes_back_with_the_site_that_is_finished(store: ForageStore) -> None:
    run = begin(store, sites=2, total_budget=1)
    job, other = lease(store, run), lease(store, run)
    assert store.reserve_fetch(job)
    store.finish_site(job, "goals found")
    assert store.reserve_fetch(other)


def test_the_reservation_of_a_worker_that_fell_silent_goes_back_and_is_not_used_up_by_it(
    database: Database,
) -> None:
    clock = Clock()
    old, new = forage_store(database), forage_store(database, clock)
    run = begin(old, sites=1, total_budget=1)
    job = lease(old, run, ME)
    assert old.reserve_fetch(job)
    watch(new, clock, 5)
    taken = lease(new, run, OTHER)
    assert new.reserve_fetch(taken)
    with pytest.raises(LeaseLost):
        old.save_visit(job, visit_of(job, 0))
    new.save_visit(taken, visit_of(taken, 0))
    assert not new.reserve_fetch(taken)
    assert new.progress(run.id).spent == 1


def test_without_a_total_budget_every_fetch_may_be_made(store: ForageStore) -> None:
    jobs = [lease(store, run) for run in [begin(store, sites=20)] for _ in range(20)]
    assert all(store.reserve_fetch(job) for job in jobs)


def test_a_total_budget_of_nothing_allows_nothing(store: ForageStore) -> None:
    run = begin(store, sites=1, total_budget=0)
    assert not store.reserve_fetch(lease(store, run))


# Tiers


def reported(job_start: str, goals: list[int], likely: list[int], none: float = 0.1) -> SiteReport:
    pages = [
        tuple(FoundPage(f"{job_start}{n}", 0.9 - n / 10) for n in numbers) for numbers in (goals, likely)
    ]
    return SiteReport(pages[0], pages[1], none)


def test_the_last_report_of_a_site_decides_its_tiers_and_counts(store: ForageStore) -> None:
    run = begin(store, sites=1)
    job = lease(store, run)
    for number in range(5):
        store.save_visit(job, visit_of(job, number, is_goal=number == 1, why=(("says", 1.0),)))
    assert store.progress(run.id).goals == 1
    store.save_report(job, reported(job.site.start, [2, 3], [4]))
    found = store.save_report(job, reported(job.site.start, [3], [4, 2]))
    assert [(visit.number, visit.tier) for visit in found] == [(3, "goal"), (2, "likely"), (4, "likely")]
    assert found[0].probability == pytest.approx(0.6)
    assert found[0].why == (("says", 1.0),)
    summary = next(store.sites(run.id))
    assert (summary.goals, summary.likely, summary.none_probability) == (1, 2, 0.1)
    progress = store.progress(run.id)
    assert (progress.goals, progress.likely) == (1, 2)


def test_a_report_leaves_what_a_replay_needs_as_it_was(store: ForageStore) -> None:
    job = lease(store, begin(store, sites=1))
    store.save_visit(job, visit_of(job, 0, is_goal=True, goal=0.7))
    store.save_report(job, reported(job.site.start, [], []))
    (visit,) = store.visits(job.id)
    assert (visit.is_goal, visit.goal, visit.tier) == (True, 0.7, "")


def test_deleted_visits_leave_no_trace_in_the_counts_of_tiers(store: ForageStore) -> None:
    run = begin(store, sites=1)
    job = lease(store, run)
    for number in range(3):
        store.save_visit(job, visit_of(job, number))
    store.save_report(job, reported(job.site.start, [1], [2]))
    store.delete_visits_from(job, 1)
    summary, progress = next(store.sites(run.id)), store.progress(run.id)
    assert (summary.goals, summary.likely, progress.goals, progress.likely) == (0, 0, 0, 0)


def test_a_report_of_a_site_that_was_lost_is_refused(store: ForageStore) -> None:
    run = begin(store, sites=1)
    job = lease(store, run)
    store.release_leases(run.id, ME)
    with pytest.raises(LeaseLost):
        store.save_report(job, reported(job.site.start, [], []))


def test_another_probability_of_goals_reopens_the_sites_that_were_judged(store: ForageStore) -> None:
    run = begin(store, sites=2)
    judged, plain = lease(store, run), lease(store, run)
    for job in (judged, plain):
        store.save_visit(job, visit_of(job, 0))
    store.save_report(judged, reported(judged.site.start, [], []))
    for job in (judged, plain):
        store.finish_site(job, "no links left")
    store.open_run(BREADTH_FIRST, RunLimits(min_probability=0.7), [], now=1.0)
    assert [summary.state for summary in store.sites(run.id)] == ["waiting", "done"]
    assert store.run(run.id).limits.min_probability == 0.7


# Sites that could not be fetched


def test_a_site_whose_start_page_failed_begins_anew_when_it_is_tried_again(store: ForageStore) -> None:
    run = begin(store, sites=2)
    job, good = lease(store, run), lease(store, run)
    store.save_visit(job, visit_of(job, 0, outcome="dns", spent=False))
    store.finish_site(job, "start page failed (dns)")
    store.save_visit(good, visit_of(good, 0))
    store.finish_site(good, "no links left")
    assert store.retry_failed(run.id) == 1
    progress = store.progress(run.id)
    assert (progress.done, progress.visits, progress.failures) == (1, 1, 0)
    assert lease(store, run).visits == 0
    assert store.retry_failed(run.id) == 0


def test_a_site_that_fell_silent_keeps_its_pages_and_forgets_its_last_failures(store: ForageStore) -> None:
    run = begin(store, sites=1)
    job = lease(store, run)
    for number, outcome in enumerate(("ok", "timeout", "ok", "timeout", "timeout")):
        store.save_visit(job, visit_of(job, number, outcome=outcome))
    store.finish_site(job, "site does not answer (timeout)")
    assert store.retry_failed(run.id) == 1
    assert lease(store, run).visits == 3
    assert store.progress(run.id).outcomes == {"ok": 2, "timeout": 1}


def test_pages_that_lacked_a_browser_are_fetched_again_once_there_is_one(store: ForageStore) -> None:
    run = begin(store, sites=1)
    job = lease(store, run)
    store.save_visit(job, visit_of(job, 0))
    store.save_visit(job, visit_of(job, 1, rendering="needed"))
    store.finish_site(job, "no links left (needs_browser)")
    assert store.retry_failed(run.id) == 0
    assert store.retry_failed(run.id, renders=True) == 1
    assert lease(store, run).visits == 1


def test_a_site_that_is_done_waits_again_when_it_is_given_another_host(store: ForageStore) -> None:
    run = begin(store, sites=1)
    job = lease(store, run)
    store.save_visit(job, visit_of(job, 0))
    store.finish_site(job, "no links left")
    wider = Site(job.site.start, (".a.example", "shop.example"))
    again = store.open_run(run.identity, run.limits, [wider], 2.0)
    assert lease(store, again).site.hosts == wider.hosts
    store.open_run(run.identity, run.limits, [wider], 3.0)
    assert store.progress(run.id).leased == 1


@pytest.mark.parametrize(("wanted", "is_reopened"), [(None, True), (0.4, True), (0.5, False), (0.9, False)])
def test_a_site_that_promised_too_little_is_reopened_when_less_is_enough(
    store: ForageStore, wanted: float | None, is_reopened: bool
) -> None:
    limits = RunLimits(min_goals_left=0.5)
    run = store.open_run(BREADTH_FIRST, limits, [site(0), site(1)], 0.0)
    poor, rich = lease(store, run), lease(store, run)
    for job, left in ((poor, 0.3), (rich, 7.0)):
        store.save_visit(job, visit_of(job, 0))
        store.save_report(job, SiteReport((), (), 0.5, left))
        store.finish_site(job, "few goals left")
    again = store.open_run(BREADTH_FIRST, RunLimits(min_goals_left=wanted), [], 1.0)
    reopened = store.lease_sites(again.id, ME, 1.0, 2)
    assert [job.id for job in reopened] == ([poor.id] if is_reopened else [])


def test_hosts_of_a_site_that_is_given_more_than_once_are_joined(store: ForageStore) -> None:
    start = site(0).start
    twice = [Site(start, ("a.example",)), Site(start, ("b.example", "a.example"))]
    run = store.open_run(BREADTH_FIRST, RunLimits(), twice, 0.0)
    assert store.progress(run.id).sites == 1
    job = lease(store, run)
    assert job.site.hosts == ("a.example", "b.example")
    store.finish_site(job, "no links left")
    store.open_run(BREADTH_FIRST, RunLimits(), [Site(start, ("c.example",))], 1.0)
    assert lease(store, run).site.hosts == ("a.example", "b.example", "c.example")


def test_an_identity_and_a_list_are_stored_as_they_are_read(database: Database) -> None:
    """Runs of earlier versions are found again by the same text."""
    store = forage_store(database)
    run = store.open_run({"strategy": "adaptive", "goal": "Ämter"}, RunLimits(), [site(0)], 0.0)
    assert database.execute("SELECT identity FROM run").fetchall() == [
        ('{"goal": "Ämter", "strategy": "adaptive"}',)
    ]
    store.keep_list(run.id, ["Name", "alt"], [(("x", "y"), site(1).start), (("z", "0"), site(2).start)])
    store.keep_list(run.id, ["Behörde"], [(("Löschamt",), site(0).start)])
    assert database.execute("SELECT headings FROM run").fetchall() == [('["Behörde"]',)]
    assert database.execute("SELECT run_id, number, start, cells FROM list_row").fetchall() == [
        (run.id, 0, site(0).start, '["Löschamt"]')
    ]


def test_a_refusal_is_forgotten_with_its_lease(store: ForageStore) -> None:
    run = store.open_run(BREADTH_FIRST, RunLimits(total_budget=0), [site(0)], 0.0)
    assert not store.reserve_fetch(lease(store, run))
    store.release_leases(run.id, ME)
    store.open_run(BREADTH_FIRST, RunLimits(total_budget=5), [], 1.0)
    job = lease(store, run)
    assert store.reserve_fetch(job)
    store.finish_site(job, "no links left")
    store.open_run(BREADTH_FIRST, RunLimits(total_budget=9), [], 2.0)
    assert lease_next(store, run.id, ME, 2.0) is None


def test_a_worker_that_missed_half_of_the_silence_has_slept(database: Database) -> None:
    for seconds_between, is_released in ((5.0, True), (6.0, False)):
        clock = Clock()
        store, other = forage_store(database), forage_store(database, clock)
        run = store.open_run({"between": str(seconds_between)}, RunLimits(), [site(0)], 0.0)
        lease(store, run, ME)
        database.execute("UPDATE site SET leased_at = leased_at - 99.0")  # by a server's clock it is overdue
        for _ in range(3):
            other.release_silent(OTHER, 10.0)
            clock.now += seconds_between
        assert (store.progress(run.id).leased == 0) == is_released
        store.release_leases(run.id, ME)


def test_pages_and_failures_are_counted_down_with_the_visits_that_are_deleted(store: ForageStore) -> None:
    run = begin(store, sites=1)
    job = lease(store, run)
    for number, outcome in enumerate(("ok", "timeout", "duplicate", "redirect", "http_404", "ok")):
        store.save_visit(job, visit_of(job, number, outcome=outcome))
    (before,) = store.sites(run.id)
    assert (before.visits, before.pages, before.failures) == (6, 3, 2)
    store.delete_visits_from(job, 3)
    (after,) = store.sites(run.id)
    assert (after.visits, after.pages, after.failures) == (3, 2, 1)


def test_a_site_that_is_tried_again_has_no_visit_left_of_its_failure(store: ForageStore) -> None:
    run = begin(store, sites=1)
    job = lease(store, run)
    store.save_visit(job, visit_of(job, 0, outcome="timeout"))
    store.finish_site(job, "start page failed (timeout)")
    assert store.retry_failed(run.id) == 1
    assert list(store.visits(job.id)) == []
    assert lease(store, run).visits == 0


def test_a_forage_reaches_its_store_from_an_event_loop(store: ForageStore) -> None:
    job = lease(store, begin(store, sites=1))
    page = visit_of(job, 0, archived=ArchiveRef("a.warc.gz", 1, 2))
    calls = store.calls(0.0)

    async def forage() -> tuple[int, ArchiveRef | None]:
        await calls.save_visit(job, page)
        return await calls.run(lambda: 7), await calls.last_page(page.url)

    try:
        assert asyncio.run(forage()) == (7, page.archived)
    finally:
        calls.close()
    assert [visit.url for visit in store.visits(job.id)] == [page.url]
