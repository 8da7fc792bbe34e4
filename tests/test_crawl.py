"""Whole forages of sites on loopback that are in trouble, or that ask robots for something."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from tests.servers import Answer, Page, serve
from trailmark.config import Config
from trailmark.foraging import Order, open_run, work
from trailmark.site import Site
from trailmark.store.forage import RunLimits, SiteSummary
from trailmark.visit import Visit
from trailmark.workspace import Workspace

PLAIN = Config()
EAGER = replace(
    PLAIN,
    fetch=replace(PLAIN.fetch, delay_seconds=0.0, allow_private=True),
    forage=replace(PLAIN.forage, sites_at_once=1),
)


def forage(folder: Path, *starts: str) -> tuple[list[Visit], list[SiteSummary]]:
    """The visits of a forage of these sites, one site at a time, in the order in which they were made."""
    visits: list[Visit] = []
    with Workspace.create(folder / "w") as workspace:
        run = open_run(workspace, Order(), RunLimits(20), [Site(start) for start in starts], time.time())
        asyncio.run(work(workspace, run, EAGER, on_start=lambda _: None, on_visit=visits.append))
        return visits, list(workspace.forage_store.sites(run.id))


def at_first(trouble: Page, later: Page | None) -> Callable[[], Page | None]:
    """Trouble when asked for the first time, and then no more."""
    answers = iter([trouble])
    return lambda: next(answers, later)


def test_a_robots_txt_in_trouble_is_asked_for_again_while_other_sites_go_on(tmp_path: Path) -> None:
    robots = at_first(Answer(status=503), None)

    def pages(path: str) -> Page | None:
        if path == "//busy.localhost/robots.txt":
            return robots()
        return "<p>a page</p>" if path == "/" else None

    with serve(pages) as server:
        busy, well = f"{server.at('busy.localhost')}/", f"{server.at('well.localhost')}/"
        visits, sites = forage(tmp_path, busy, well)
    assert [(visit.url, visit.outcome) for visit in visits] == [
        (busy, "robots_unreachable"),
        (well, "ok"),
        (busy, "ok"),
    ]
    assert {site.reason for site in sites} == {"no links left"}
    assert [site.spent for site in sites] == [1, 1]
    assert server.requests["/robots.txt"] == 3


def test_a_host_that_asks_for_a_pause_is_left_alone_that_long_and_others_are_not(tmp_path: Path) -> None:
    asked: list[float] = []

    def pages(path: str) -> Page | None:
        if path == "//busy.localhost/":
            asked.append(time.monotonic())
            return Answer("later", 429, (("Retry-After", "5"),)) if len(asked) == 1 else "<p>a page</p>"
        return "<p>another page</p>" if path == "/" else None

    with serve(pages) as server:
        busy, well = f"{server.at('busy.localhost')}/", f"{server.at('well.localhost')}/"
        visits, _ = forage(tmp_path, busy, well)
    assert [visit.outcome for visit in visits] == ["http_429", "ok", "ok"]
    assert [visit.url for visit in visits] == [busy, well, busy]
    assert asked[1] - asked[0] >= 5.0


def test_a_server_error_that_passes_costs_a_fetch_and_nothing_else(tmp_path: Path) -> None:
    start = at_first(Answer("overloaded", 503), "<a href=/people>People</a>")

    def pages(path: str) -> Page | None:
        return start() if path == "/" else "<p>people</p>" if path == "/people" else None

    with serve(pages) as server:
        visits, [site] = forage(tmp_path, f"{server}/")
    assert [(visit.outcome, visit.attempt) for visit in visits] == [("http_503", 1), ("ok", 2), ("ok", 1)]
    assert (site.spent, site.reason) == (3, "no links left")
