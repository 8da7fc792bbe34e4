"""Finding what is there: sitemaps and feeds, other hosts of a site, and goals on the start page itself."""

from __future__ import annotations

import asyncio
import gzip
import time
from dataclasses import replace
from pathlib import Path

import pytest

from tests.servers import Answer, Page, Served, serve
from wayhound.app.forage import open_run
from wayhound.app.forage_worker import run_worker
from wayhound.app.order import Order
from wayhound.cli import run
from wayhound.config import Config
from wayhound.fetched import Fetched
from wayhound.forage.scope import MAX_SITEMAP_LINKS, Sitemaps
from wayhound.page import Link, Unreadable
from wayhound.page import Page as ReadPage
from wayhound.pages.feeds import ENTRY, MAX_ENTRIES, SITEMAP, read_feed
from wayhound.pages.reader import read_page
from wayhound.site import Site
from wayhound.store.protocol import RunLimits, SiteSummary
from wayhound.visit import Visit
from wayhound.wording.faults import format_ending, other_host
from wayhound.workspace import Workspace

PLAIN = Config()
EAGER = replace(PLAIN, fetch=replace(PLAIN.fetch, delay_seconds=0.0, allow_private=True, render="never"))
XML = (("Content-Type", "application/xml"),)


def forage(
    folder: Path, start: str, goal: str = "", hosts: tuple[str, ...] = (), budget: int = 50
) -> tuple[list[Visit], SiteSummary]:
    visits: list[Visit] = []
    opened = Workspace.open if folder.exists() else Workspace.create
    with opened(folder) as workspace:
        site = Site(start, hosts)
        order = open_run(workspace, Order(goal=goal), RunLimits(budget), [site], time.time())
        asyncio.run(run_worker(workspace, order, EAGER, on_start=lambda _: None, on_visit=visits.append))
        [summary] = workspace.stores.forage.sites(order.id)
        return visits, summary


def urlset(base: object, *paths: str) -> str:
    entries = "".join(f"<url><loc>{base}{path}</loc></url>" for path in paths)
    return (
        f'<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{entries}</urlset>'
    )


def test_a_site_with_no_link_is_walked_by_its_usual_sitemap(tmp_path: Path) -> None:
    pages: dict[str, Page] = {
        "/": "<title>Home</title>Welcome",
        "/a": "<title>A</title>",
        "/b": "<title>B</title>",
    }
    with serve(pages) as server:
        pages["/sitemap.xml"] = Answer(urlset(server, "/a", "/b", "/picture.jpg"), headers=XML)
        visits, site = forage(tmp_path / "w", f"{server}/", "^[AB]$")
    assert [visit.url.removeprefix(str(server)) for visit in visits] == ["/", "/sitemap.xml", "/a", "/b"]
    assert [visit.title for visit in visits if visit.is_goal] == ["A", "B"]
    assert site.reason == "no links left"


def test_sitemaps_of_robots_txt_are_read_when_links_end_gzip_and_indexes_included(tmp_path: Path) -> None:
    pages: dict[str, Page] = {
        "/": "<title>Home</title><a href=/one>One</a> <a href=/two>Two</a> <a href=/three>Three</a>",
        "/one": "<title>1</title>one",
        "/two": "<title>2</title>two",
        "/three": "<title>3</title>three",
        "/hidden": "<title>Hidden</title>",
    }
    with serve(pages) as server:
        pages["/robots.txt"] = f"User-agent: *\nDisallow: /no\nSitemap: {server}/index.xml\n"
        index = f"<sitemapindex><sitemap><loc>{server}/part.xml.gz</loc></sitemap></sitemapindex>"
        pages["/index.xml"] = Answer(index, headers=XML)
        packed = gzip.compress(urlset(server, "/hidden", "/one").encode())
        pages["/part.xml.gz"] = Answer(packed, headers=(("Content-Type", "application/gzip"),))
        visits, _ = forage(tmp_path / "w", f"{server}/")
    order = [visit.url.removeprefix(str(server)) for visit in visits]
    assert order == ["/", "/one", "/two", "/three", "/index.xml", "/part.xml.gz", "/hidden"]
    assert server.requests["/sitemap.xml"] == 0


def test_a_feed_that_the_start_page_names_is_read(tmp_path: Path) -> None:
    feed = (
        '<rss version="2.0"><channel><title>News</title><link>/</link>'
        "<item><title>A &amp; B</title><link>/news/1</link></item></channel></rss>"
    )
    pages: dict[str, Page] = {
        "/": "<link rel=alternate type=application/rss+xml href=/feed><title>Home</title>",
        "/feed": Answer(feed, headers=(("Content-Type", "application/rss+xml"),)),
        "/news/1": "<title>First</title>",
    }
    with serve(pages) as server:
        visits, _ = forage(tmp_path / "w", f"{server}/")
    assert [visit.link_text for visit in visits if visit.title == "First"] == ["A & B"]


def test_a_site_that_was_stopped_among_its_sitemaps_goes_on_there(tmp_path: Path) -> None:
    pages: dict[str, Page] = {"/": "<title>Home</title>", "/a": "<title>A</title>", "/b": "<title>B</title>"}
    with serve(pages) as server:
        pages["/sitemap.xml"] = Answer(urlset(server, "/a", "/b"), headers=XML)
        forage(tmp_path / "w", f"{server}/", budget=3)
        visits, _ = forage(tmp_path / "w", f"{server}/", budget=9)
    assert [visit.url.removeprefix(str(server)) for visit in visits] == ["/b"]
    assert server.requests["/sitemap.xml"] == 1


def answer(body: bytes | str, url: str = "https://a.example/sitemap.xml") -> Fetched:
    return Fetched(url, 200, (), body.encode() if isinstance(body, str) else body, content_type="text/xml")


def test_a_million_entries_are_read_within_bounds() -> None:
    body = b"<urlset>" + b"".join(b"<url><loc>/p%d</loc></url>" % number for number in range(100_000))
    page = read_feed(answer(body))
    assert isinstance(page, ReadPage)
    assert len(page.links) == MAX_ENTRIES
    maps, taken = Sitemaps(), 0
    for _ in range(5):
        taken += len(maps.take(page.links))
    assert taken == MAX_SITEMAP_LINKS


@pytest.mark.parametrize(
    "body",
    [
        b"<urlset>" + b"<loc>" + b" " * 200_000 + b"<loc>" * 50_000,
        b"<rss>" + b"<item>" + b"<link " * 200_000,
        b"<rss>" + b"<item>" * 300_000,
        b"<feed><entry><link href='" + b"a" * 500_000,
        b"\x1f\x8b not gzip",
        b"<html><body>no sitemap",
        b"",
    ],
)
def test_hostile_sitemaps_are_read_in_one_pass(body: bytes) -> None:
    page = read_feed(answer(body))
    assert isinstance(page, Unreadable) or len(page.links) <= 1


def test_atom_and_cdata_are_read() -> None:
    atom = '<feed><entry><title type="text">One</title><link rel="alternate" href="/1"/></entry></feed>'
    page = read_feed(answer(atom))
    assert isinstance(page, ReadPage)
    assert page.links == (Link("https://a.example/1", "One", region=ENTRY, kind="sitemap"),)
    page = read_feed(answer("<sitemapindex><loc><![CDATA[ /s1.xml ]]></loc></sitemapindex>"))
    assert isinstance(page, ReadPage)
    assert page.links == (Link("https://a.example/s1.xml", region=SITEMAP, kind="sitemap"),)


# Scope


def moved(server: Served, host: str) -> str:
    links = "".join(f"<a href='{server.at(host)}/p{number}'>Page {number}</a>" for number in range(5))
    return f"<title>Home</title>{links}<a href=https://www.facebook.com/x>f</a>"


def test_a_site_whose_links_lead_elsewhere_says_where_and_the_host_can_be_included(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(["init", "mine"]) == 0
    pages: dict[str, Page] = {f"/p{number}": f"<title>Contact {number}</title>" for number in range(5)}
    with serve(pages) as server:
        pages["//old.localhost/"] = moved(server, "shop.localhost")
        command = ["forage", f"{server.at('old.localhost')}/", "--keyword", "contact", "-w", "mine"]
        command += ["--allow-private", "--delay", "0", "--render", "never"]
        assert run(command) == 0
        host = f"shop.localhost:{server.port}"
        said = " ".join(capsys.readouterr().err.split())
        assert f"5 links lead to other hosts, most to {host}" in said
        assert f"--host {host}" in said
        assert run([*command, "--host", host]) == 0
        assert len(capsys.readouterr().out.splitlines()) == 5


def test_the_reason_is_a_code_in_files_and_a_sentence_for_people() -> None:
    reason = "no links left (other_hosts 38 shop.example)"
    assert format_ending(reason) == "no links left: 38 links lead to other hosts, most to shop.example"
    assert other_host(reason) == "shop.example"
    assert other_host("no links left (needs_browser)") == ""


def test_the_host_of_the_start_pages_canonical_belongs_to_the_site(tmp_path: Path) -> None:
    pages: dict[str, Page] = {f"/p{number}": f"<title>Page {number}</title>" for number in range(5)}
    with serve(pages) as server:
        new = server.at("new.localhost")
        pages["//old.localhost/"] = f"<link rel=canonical href={new}/>" + moved(server, "new.localhost")
        visits, site = forage(tmp_path / "w", f"{server.at('old.localhost')}/")
    assert len(visits) == 6
    assert site.reason == "no links left"


# Goals on the start page


def test_a_contact_section_of_the_start_page_is_a_goal_with_its_fragment(tmp_path: Path) -> None:
    page = (
        "<title>Acme</title><a href=#about>About</a> <a href=#kontakt>Contact</a> <h2 id=about>About</h2>"
        "<h2 id=kontakt>Talk to us</h2><a href=mailto:info@acme.example>Mail</a>"
    )
    with serve({"/": page}) as server:
        visits, site = forage(tmp_path / "w", f"{server}/", "contact")
        assert [visit.address for visit in visits if visit.is_goal] == [f"{server}/#kontakt"]
        assert site.goals == 1
        with Workspace.open(tmp_path / "w") as workspace:
            assert [goal.url for goal in workspace.stores.goals.goals()] == [f"{server}/#kontakt"]


def test_a_section_that_does_not_exist_and_one_of_a_later_page_are_no_goals(tmp_path: Path) -> None:
    pages = {
        "/": "<title>Home</title><a href=#contact>Contact</a> <a href=/next>Next</a>",
        "/next": "<title>Next</title><a href=#contact>Contact</a><h2 id=contact>Contact</h2>",
    }
    with serve(pages) as server:
        visits, _ = forage(tmp_path / "w", f"{server}/", "contact")
    assert not [visit for visit in visits if visit.is_goal]


def test_sections_are_those_that_a_page_links_to_and_has() -> None:
    body = (
        b"<a href=#a>To A</a><a href=#b>B</a><a href='#x\"]'>X</a><p id=a>A</p><a name=c></a><a href=#c>C</a>"
    )
    page = read_page("https://a.example/", body)
    assert isinstance(page, ReadPage)
    assert page.sections == (("a", "To A"), ("c", "C"))
