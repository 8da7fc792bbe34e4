"""Changes between two forages of the same sites on loopback."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.servers import Answer, Page, Served, serve
from wayhound.app.compare import GoalChange, compare
from wayhound.app.forage import open_run
from wayhound.app.forage_worker import run_worker
from wayhound.app.order import Order, previous_run
from wayhound.config import Config
from wayhound.site import Site
from wayhound.store.protocol import Run, RunLimits
from wayhound.workspace import Workspace

PLAIN = Config()
EAGER = replace(PLAIN, fetch=replace(PLAIN.fetch, delay_seconds=0.0, allow_private=True))
ORDER = Order(goal="/goal")


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    with Workspace.create(tmp_path / "w") as workspace:
        yield workspace


def forage(workspace: Workspace, *starts: str, budget: int = 20, order: Order = ORDER) -> Run:
    sites = [Site(start) for start in starts]
    run = open_run(workspace, order, RunLimits(budget), sites, time.time(), again=True)
    asyncio.run(run_worker(workspace, run, EAGER, on_start=lambda _: None, on_visit=lambda _: None))
    return run


def twice(workspace: Workspace, before: dict[str, Page], after: dict[str, Page]) -> list[GoalChange]:
    """The changes between a forage of some pages and one of others at the same address, without the address."""
    pages = dict(before)
    with serve(pages) as server:
        first = forage(workspace, f"{server}/")
        pages.clear()
        pages.update(after)
        second = forage(workspace, f"{server}/")
    return [without(server, change) for change in compare(workspace, first.id, second.id)]


def without(server: Served, change: GoalChange) -> GoalChange:
    site, url, was = (each.removeprefix(str(server)) for each in (change.site, change.url, change.was))
    return replace(change, site=site, url=url, was=was)


def start(*numbers: int) -> str:
    return "".join(f"<a href=/goal{number}>{number}</a>" for number in numbers)


def test_nothing_is_told_where_nothing_changed(workspace: Workspace) -> None:
    pages: dict[str, Page] = {"/": start(1), "/goal1": "<title>One</title>"}
    assert twice(workspace, pages, pages) == []


def test_goals_that_came_and_went_are_told(workspace: Workspace) -> None:
    before: dict[str, Page] = {"/": start(1), "/goal1": "<title>One</title>"}
    after: dict[str, Page] = {"/": start(1, 2), "/goal2": "<title>Two</title>"}
    assert twice(workspace, before, after) == [
        GoalChange("/", "gone", "/goal1", "One", "http_404"),
        GoalChange("/", "new", "/goal2", "Two"),
    ]


def test_a_page_changes_by_what_a_reader_sees(workspace: Workspace) -> None:
    """Markup that a server makes anew for every request is no news."""
    before: dict[str, Page] = {
        "/": start(1, 2, 3),
        "/goal1": "<title>One</title><p>Ann and Ben",
        "/goal2": "<title>Two</title><p data-token=17>Ann",
        "/goal3": "<title>Three</title>",
    }
    after: dict[str, Page] = {
        "/": start(1, 2, 3),
        "/goal1": "<title>One</title><p>Ann and Cem and Dia",
        "/goal2": "<title>Two</title><p data-token=18>Ann",
        "/goal3": "<title>Third</title>",
    }
    assert twice(workspace, before, after) == [
        GoalChange("/", "changed", "/goal1", "One", words_added=3, words_removed=1),
        GoalChange("/", "changed", "/goal3", "Third"),
    ]


def test_a_page_that_is_no_goal_any_more_is_gone(workspace: Workspace) -> None:
    before: dict[str, Page] = {"/": "<a href=/a>a</a>", "/a": "<title>see /goal</title>"}
    after: dict[str, Page] = {"/": "<a href=/a>a</a>", "/a": "<title>else</title>"}
    assert twice(workspace, before, after) == [
        GoalChange("/", "gone", "/a", "see /goal", "not a goal any more")
    ]


def test_a_goal_at_another_address_has_moved(workspace: Workspace) -> None:
    before: dict[str, Page] = {"/": start(1), "/goal1": "<title>One</title>"}
    after: dict[str, Page] = {
        "/": start(1),
        "/goal1": Answer(status=301, headers=(("Location", "/goals/one"),)),
        "/goals/one": "<title>One</title>",
    }
    assert twice(workspace, before, after) == [GoalChange("/", "moved", "/goals/one", "One", was="/goal1")]


def test_of_two_addresses_of_one_page_it_does_not_matter_which_came_first(workspace: Workspace) -> None:
    pages: dict[str, Page] = {
        "/": start(1, 2),
        "/goal1": "<title>One</title>",
        "/goal2": "<title>One</title>",
    }
    assert twice(workspace, pages, pages | {"/": start(2, 1)}) == []


@pytest.mark.parametrize(
    ("after", "why"),
    [
        ({"/": "<p>no link", "/goal1": "<title>One</title>"}, "no links left"),
        ({"/": start(1), "/goal1": Answer(status=403)}, "http_403"),
        (
            {"/": start(1), "/goal1": "<title>One</title>", "/robots.txt": "User-agent: *\nDisallow: /goal"},
            "robots",
        ),
        ({}, "start page failed (http_404)"),
    ],
    ids=["no link", "refused", "robots", "site down"],
)
def test_what_was_not_seen_is_not_said_to_be_gone(
    workspace: Workspace, after: dict[str, Page], why: str
) -> None:
    before: dict[str, Page] = {"/": start(1), "/goal1": "<title>One</title>"}
    assert twice(workspace, before, after) == [GoalChange("/", "unseen", "/goal1", "One", why)]


def test_sites_that_are_new_count_and_sites_that_were_not_walked_do_not(workspace: Workspace) -> None:
    with serve({"/": start(1), "/goal1": "<title>One</title>"}) as server:
        one, other = (f"{server.at(name)}/" for name in ("one.localhost", "other.localhost"))
        first, second = forage(workspace, one), forage(workspace, other)
    [change] = compare(workspace, first.id, second.id)
    assert (change.site, change.kind) == (other, "new")


def test_goals_whose_pages_the_archive_lost_have_changed_when_their_bytes_have(workspace: Workspace) -> None:
    pages: dict[str, Page] = {"/": start(1), "/goal1": "<title>One</title>"}
    with serve(pages) as server:
        first = forage(workspace, f"{server}/")
        for path in workspace.archive_folder.glob("*.warc.gz"):
            path.unlink()
        pages["/goal1"] = "<title>One</title><p>more"
        second = forage(workspace, f"{server}/")
    [change] = compare(workspace, first.id, second.id)
    assert (change.kind, change.words_added) == ("changed", 0)


def test_the_run_before_is_the_last_one_by_the_same_order(workspace: Workspace) -> None:
    with serve({"/": start(1), "/goal1": "<title>One</title>"}) as server:
        runs = [
            forage(workspace, f"{server}/", order=order)
            for order in (ORDER, Order(goal="else"), ORDER, ORDER)
        ]
    befores = [previous_run(workspace.stores.forage, run) for run in runs]
    assert [before and before.id for before in befores] == [None, None, runs[0].id, runs[2].id]


def test_again_goes_on_with_a_run_that_is_not_finished(workspace: Workspace) -> None:
    with serve({"/": start(1), "/goal1": "<title>One</title>"}) as server:
        first = forage(workspace, f"{server}/")
        sites = [Site(f"{server}/"), Site(f"{server.at('other.localhost')}/")]
        begun = open_run(workspace, ORDER, RunLimits(20), sites, time.time(), again=True)
        again = open_run(workspace, ORDER, RunLimits(20), sites, time.time(), again=True)
        plain = open_run(workspace, ORDER, RunLimits(20), sites, time.time())
    assert first.id < begun.id == again.id == plain.id
    assert (begun.is_new, again.is_new) == (True, False)
