"""A run of any length is summed up in as many numbers as a chart has room for."""

from __future__ import annotations

from tests.store.samples import begin, lease, visit_of
from wayhound.store.database import Database
from wayhound.store.forage import ForageStore
from wayhound.store.runs import RECENT_SECONDS, Course, Machine


def test_a_run_is_summed_up_by_visits_and_by_time(database: Database) -> None:
    store = ForageStore(database)
    run = begin(store, sites=2)
    for each in range(2):
        job = lease(store, run)
        for number in range(500):
            at = float(number if number < 499 else 1_000) + each / 2
            found = {"is_goal": number < 100, "spent": number % 2 == 0}
            store.save_visit(job, visit_of(job, number, at=at, **found))
    course = ForageStore(database).course(run.id, 10, 4)
    assert course.seconds == 1_000.5
    assert course.stretches == ((50, 100), (50, 100), *[(50, 0)] * 8)
    assert course.parts == (126 + 125, 124 + 125, 0, 0)  # the first 250.125 seconds of both sites, and so on


def test_a_short_run_is_told_visit_by_visit(database: Database) -> None:
    store = ForageStore(database)
    run = begin(store, sites=1)
    assert ForageStore(database).course(run.id, 10, 4) == Course()
    job = lease(store, run)
    store.save_visit(job, visit_of(job, 0, spent=True))
    assert ForageStore(database).course(run.id, 10, 4) == Course(((1, 0),))
    store.save_visit(job, visit_of(job, 1, spent=True, is_goal=True))
    assert ForageStore(database).course(run.id, 10, 4) == Course(((1, 0), (1, 1)), (1, 0, 0, 1), 1.0)


def test_pages_that_servers_did_not_send_again_are_counted(database: Database) -> None:
    store = ForageStore(database)
    run = begin(store, sites=2)
    assert store.not_modified(run.id) == 0
    for same in (True, False):
        job = lease(store, run)
        for number in range(2):
            store.save_visit(job, visit_of(job, number, not_modified=same and number == 1))
    assert store.not_modified(run.id) == 1


def test_pages_that_a_browser_was_needed_for_are_told_by_site(database: Database) -> None:
    store = ForageStore(database)
    run = begin(store, sites=2)
    for kinds in (("rendered", ""), ("same", "needed")):
        job = lease(store, run)
        for number, rendering in enumerate(kinds):
            store.save_visit(job, visit_of(job, number, rendering=rendering))
    first = next(store.sites(run.id)).start
    [(site, url)] = store.rendered(run.id)
    assert site == first
    assert url == next(store.visits_of(run.id, first)).url


def test_the_machines_at_work_are_told_with_their_speed(database: Database) -> None:
    store = ForageStore(database)
    run = begin(store, sites=3)
    for worker, ages in (("one:1:0", (40, 20, 10)), ("one:2:1", (5,)), ("two:1:0", ())):
        (job,) = store.lease_sites(run.id, worker, 0.0, 1)
        for number, age in enumerate(ages):
            store.save_visit(job, visit_of(job, number, at=1_000.0 - age))
    assert store.machines(run.id, 1_000.0) == [Machine("one", 2, 3 / RECENT_SECONDS), Machine("two", 1, 0.0)]
    store.release_leases(run.id, "two:1:0")
    assert [machine.name for machine in store.machines(run.id, 1_000.0)] == ["one"]
