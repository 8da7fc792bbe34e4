"""Whole forages of sites on loopback that are in trouble, or that ask robots for something."""

from __future__ import annotations

import asyncio
import csv
import io
import shutil
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from tests.servers import Answer, Page, serve
from wayhound.app.crawl import Crawl
from wayhound.app.forage import open_run
from wayhound.app.forage_worker import run_worker
from wayhound.app.order import Order
from wayhound.app.page_source import PageSource
from wayhound.app.site_forage import ForagePlan
from wayhound.archive.reader import ArchiveReader
from wayhound.archive.writer import ArchiveWriter
from wayhound.config import Config
from wayhound.errors import ArchiveError
from wayhound.fetched import Failed, Fetched
from wayhound.forage.forager import ForageLimits
from wayhound.forage.politeness import Politeness
from wayhound.forage.scorer import GoalPattern
from wayhound.forage.scorers.baselines import BreadthFirst
from wayhound.site import Site
from wayhound.store.export import export
from wayhound.store.protocol import RunLimits, SiteSummary
from wayhound.visit import Visit
from wayhound.workspace import Workspace

PDF = (("Content-Type", "application/pdf"),)
PLAIN = Config()
EAGER = replace(
    PLAIN,
    fetch=replace(PLAIN.fetch, delay_seconds=0.0, allow_private=True),
    forage=replace(PLAIN.forage, sites_at_once=1),
)


def forage(folder: Path, *starts: str, config: Config = EAGER) -> tuple[list[Visit], list[SiteSummary]]:
    """The visits of a forage of these sites, one site at a time, in the order in which they were made."""
    visits: list[Visit] = []
    with Workspace.create(folder / "w") as workspace:
        run = open_run(workspace, Order(), RunLimits(20), [Site(start) for start in starts], time.time())
        asyncio.run(run_worker(workspace, run, config, on_start=lambda _: None, on_visit=visits.append))
        return visits, list(workspace.stores.forage.sites(run.id))


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
    asked_for = [visit for visit in visits if visit.link_kind != "sitemap"]
    assert [(visit.url, visit.outcome) for visit in asked_for] == [
        (busy, "robots_unreachable"),
        (well, "ok"),
        (busy, "ok"),
    ]
    assert {site.reason for site in sites} == {"no links left"}
    assert [site.spent for site in sites] == [2, 2]  # the page, and the sitemap that is not there
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
    asked_for = [visit for visit in visits if visit.link_kind != "sitemap"]
    assert [visit.outcome for visit in asked_for] == ["http_429", "ok", "ok"]
    assert [visit.url for visit in asked_for] == [busy, well, busy]
    assert asked[1] - asked[0] >= 5.0


def test_a_server_error_that_passes_costs_a_fetch_and_nothing_else(tmp_path: Path) -> None:
    start = at_first(Answer("overloaded", 503), "<a href=/people>People</a>")

    def pages(path: str) -> Page | None:
        return start() if path == "/" else "<p>people</p>" if path == "/people" else None

    with serve(pages) as server:
        visits, [site] = forage(tmp_path, f"{server}/")
    assert [(visit.outcome, visit.attempt) for visit in visits] == [("http_503", 1), ("ok", 2), ("ok", 1)]
    assert (site.spent, site.reason) == (3, "no links left")


def test_what_pages_and_files_ask_of_robots_is_obeyed_and_written_down(tmp_path: Path) -> None:
    pages: dict[str, Page] = {
        "/": "<a href=/header>a</a> <a href=/meta>b</a> <a href=/secret.pdf>c</a> <a href=/open.pdf>d</a>",
        "/header": Answer("<a href=/behind-header>x</a>", headers=(("X-Robots-Tag", "nofollow"),)),
        "/meta": "<meta name=wayhound content='noindex, nofollow'><a href=/behind-meta>x</a>",
        "/secret.pdf": Answer(b"%PDF-1.4 s", headers=(*PDF, ("X-Robots-Tag", "otherbot: all, *: noindex"))),
        "/open.pdf": Answer(b"%PDF-1.4 o", headers=(*PDF, ("X-Robots-Tag", "otherbot: noindex"))),
    }
    with serve(pages) as server:
        visits, _ = forage(tmp_path, f"{server}/")
    assert {visit.url.removeprefix(str(server)): visit.robots for visit in visits} == {
        "/": "",
        "/header": "nofollow",
        "/meta": "noindex nofollow",
        "/secret.pdf": "noindex",
        "/open.pdf": "",
    }
    with Workspace.open(tmp_path / "w") as workspace:
        found = [each.source.url for each in workspace.stores.documents.found_by_forage()]
        file = io.BytesIO()
        export(workspace.database, "pages", "csv", file)
    assert found == [f"{server}/open.pdf"]
    rows = csv.DictReader(io.StringIO(file.getvalue().decode()))
    assert [row["robots"] for row in rows] == [visit.robots for visit in visits]


def test_pages_speak_to_us_by_the_name_that_we_crawl_under(tmp_path: Path) -> None:
    page = "<meta name=harvester content=nofollow><meta name=wayhound content=noindex><a href=/x>x</a>"
    config = replace(EAGER, agent=replace(PLAIN.agent, name="Harvester"))
    with serve({"/": page}) as server:
        visits, _ = forage(tmp_path, f"{server}/", config=config)
    assert [visit.robots for visit in visits] == ["nofollow"]


class GoneArchive:
    """A fetcher under whose hands the folder of the archive is taken away, and who then waits for ever."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    async def fetch(self, url: str) -> Fetched | Failed:
        if url.endswith("/next"):
            shutil.rmtree(self.folder)
            await asyncio.Event().wait()
        return Fetched(url, 200, body=b"<a href=/next>next</a>", content_type="text/html")


def test_a_worker_that_cannot_keep_its_leases_ends_with_the_reason(tmp_path: Path) -> None:
    archive = tmp_path / "archive"
    with (
        Workspace.create(tmp_path / "w") as workspace,
        ArchiveWriter(archive, "w0", software="a test") as writer,
    ):
        store = workspace.stores.forage
        run = store.open_run({}, RunLimits(), [Site("http://s.example/")], time.time())
        pages = PageSource(GoneArchive(archive), writer, ArchiveReader(archive))
        plan = ForagePlan(lambda: BreadthFirst(GoalPattern()), ForageLimits(), Politeness(0.0))
        crawl = Crawl(store, run, "here:1:0", pages, plan, lease_seconds=1.0)
        with pytest.raises(ArchiveError, match="cannot be flushed to the disk"):
            asyncio.run(asyncio.wait_for(crawl.work(1), 60))
        assert store.progress(run.id).leased == 0
        archive.mkdir()


def test_links_of_a_page_that_is_read_aside_are_followed(tmp_path: Path) -> None:
    large = f"<p>{'many words ' * 20_000}<a href=/next>next</a>"
    with serve({"/": large, "/next": "<p>the end</p>"}) as server:
        visits, [site] = forage(tmp_path, f"{server}/")
    assert [(visit.url.removeprefix(str(server)), visit.outcome) for visit in visits] == [
        ("/", "ok"),
        ("/next", "ok"),
    ]
    assert site.reason == "no links left"
