"""The same sites foraged again: servers send what has changed, and everything else comes from the archive."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from warcio.archiveiterator import ArchiveIterator

from tests.servers import Answer, Page, Served, serve
from tests.store.old_databases import downgrade
from wayhound.app.forage import open_run
from wayhound.app.forage_worker import run_worker
from wayhound.app.order import Order
from wayhound.archive.replay import index_archive, warc_files
from wayhound.config import Config
from wayhound.site import Site
from wayhound.store.protocol import RunLimits
from wayhound.visit import Visit
from wayhound.workspace import Workspace

PLAIN = Config()
EAGER = replace(
    PLAIN,
    fetch=replace(PLAIN.fetch, delay_seconds=0.0, allow_private=True),
    forage=replace(PLAIN.forage, sites_at_once=1),
)
TAG = ("ETag", '"one"')
DATE = ("Last-Modified", "Mon, 02 Nov 2026 08:00:00 GMT")
PDF = ("Content-Type", "application/pdf")


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    with Workspace.create(tmp_path / "w") as workspace:
        yield workspace


def forage(
    workspace: Workspace, server: Served, config: Config = EAGER, path: str = "/", budget: int = 20
) -> list[Visit]:
    """The visits of another run, in the order in which they were made, without the search for a sitemap."""
    visits: list[Visit] = []
    order = Order(fresh=str(time.time_ns()))
    run = open_run(workspace, order, RunLimits(budget), [Site(f"{server}{path}")], time.time())
    server.seen.clear()
    asyncio.run(run_worker(workspace, run, config, on_start=lambda _: None, on_visit=visits.append))
    return [visit for visit in visits if visit.link_kind != "sitemap"]


def told(visits: list[Visit]) -> list[tuple[str, int | None, bool]]:
    return [(visit.outcome, visit.status, visit.not_modified) for visit in visits]


def asked(server: Served) -> list[dict[str, str]]:
    """The conditions of every request for a page."""
    return [
        {name: value for name, value in request.headers.items() if name.startswith("If-")}
        for request in server.seen
        if request.target not in ("/robots.txt", "/sitemap.xml")
    ]


def records(workspace: Workspace) -> list[tuple[str, str, dict[str, str], str]]:
    """Kind, URL, fields and status of the records of pages, read to the end by a reader that is not ours."""
    found = []
    for path in warc_files(workspace.archive_folder):
        with path.open("rb") as stream:
            iterator = ArchiveIterator(stream, check_digests="raise")
            for record in iterator:
                record.content_stream().read()
                fields = dict(record.rec_headers.headers)
                status = record.http_headers.get_statuscode() if record.http_headers else ""
                found.append((record.rec_type, fields.get("WARC-Target-URI", ""), fields, status))
            assert iterator.err_count == 0
    return [record for record in found if not record[1].endswith("/sitemap.xml")]


@pytest.mark.parametrize(
    ("validators", "conditions"),
    [
        ((TAG,), {"If-None-Match": '"one"'}),
        ((DATE,), {"If-Modified-Since": DATE[1]}),
        ((TAG, DATE), {"If-None-Match": '"one"', "If-Modified-Since": DATE[1]}),
        ((("ETag", 'W/"weak"'),), {"If-None-Match": 'W/"weak"'}),
        ((("ETag", '"a-gzip"'),), {"If-None-Match": '"a-gzip", "a"'}),
    ],
    ids=["tag", "date", "both", "weak tag", "tag of a packed page"],
)
def test_a_page_that_has_not_changed_is_not_sent_again(
    workspace: Workspace, validators: tuple[tuple[str, str], ...], conditions: dict[str, str]
) -> None:
    start = Answer("<title>Start</title><a href=/people>People</a>", headers=validators, if_same=())
    with serve({"/": start, "/people": "<title>People</title>"}) as server:
        first, again, third = (forage(workspace, server) for _ in range(3))
        assert asked(server) == [conditions, {}]
    assert told(first) == [("ok", 200, False), ("ok", 200, False)]
    assert told(again) == told(third) == [("ok", 200, True), ("ok", 200, False)]
    for one, other in zip(first, third, strict=True):
        same = replace(other, at=one.at, archived=one.archived, not_modified=False)
        assert same == one


def test_a_304_is_archived_as_a_revisit_that_every_reader_follows(workspace: Workspace) -> None:
    start = Answer("<title>Start</title>", headers=(TAG,), if_same=(("Content-Length", "99"), ("X-Now", "1")))
    with serve({"/": start}) as server:
        [first], _, [third] = (forage(workspace, server) for _ in range(3))
        url = f"{server}/"
    assert first.archived is not None
    assert third.archived is not None
    reader = workspace.archive
    page, again = reader.read(first.archived), reader.read(third.archived)
    assert (again.status, again.body, again.content_type) == (200, page.body, "text/html")
    assert ("X-Now", "1") in again.headers
    [_, revisit, last] = [record for record in records(workspace) if record[0] in ("response", "revisit")]
    for kind, target, fields, status in (revisit, last):
        assert (kind, target, status) == ("revisit", url, "304")
        assert fields["WARC-Profile"] == "http://netpreserve.org/warc/1.1/revisit/server-not-modified"
        assert fields["WARC-Refers-To-Target-URI"] == url
        assert fields["WARC-Refers-To-Date"].startswith(time.strftime("%Y-%m-%dT", time.gmtime(first.at)))
        assert fields["WARC-Refers-To-Filename"] == first.archived.file
        assert fields["WARC-Refers-To-File-Offset"] == str(first.archived.offset)
    held = index_archive(warc_files(workspace.archive_folder))[url]
    assert (held.status, held.content_type, held.load().body) == (200, "text/html", page.body)
    assert held.at == pytest.approx(third.at, abs=0.001)


def test_the_conditions_stand_in_the_archived_request(workspace: Workspace) -> None:
    with serve({"/": Answer("<title>Start</title>", headers=(TAG,), if_same=())}) as server:
        for _ in range(2):
            forage(workspace, server)
    paths = warc_files(workspace.archive_folder)
    heads = []
    for path in paths:
        with path.open("rb") as stream:
            heads += [
                record.content_stream().read() + str(record.http_headers).encode()
                for record in ArchiveIterator(stream)
                if record.rec_type == "request"
                and not record.rec_headers.get_header("WARC-Target-URI").endswith("/sitemap.xml")
            ]
    assert [b'If-None-Match: "one"' in head for head in heads] == [False, True]


def test_a_changed_page_is_sent_and_the_next_run_asks_by_what_it_said_then(workspace: Workspace) -> None:
    pages: dict[str, Page] = {"/": Answer("<title>Old</title>", headers=(TAG,), if_same=())}
    with serve(pages) as server:
        forage(workspace, server)
        pages["/"] = Answer("<title>New</title>", headers=(("ETag", '"two"'),), if_same=())
        [changed] = forage(workspace, server)
        assert asked(server) == [{"If-None-Match": '"one"'}]
        [again] = forage(workspace, server)
        assert asked(server) == [{"If-None-Match": '"two"'}]
    assert [(visit.title, visit.not_modified) for visit in (changed, again)] == [
        ("New", False),
        ("New", True),
    ]


def test_a_304_may_bring_a_new_tag(workspace: Workspace) -> None:
    pages: dict[str, Page] = {
        "/": Answer("<title>Start</title>", headers=(TAG,), if_same=(("ETag", '"newer"'),))
    }
    with serve(pages) as server:
        for _ in range(3):
            forage(workspace, server)
        assert asked(server) == [{"If-None-Match": '"newer"'}]


def test_what_a_server_sends_again_unasked_is_stored_once(workspace: Workspace) -> None:
    body = "<title>Start</title>" + "words " * 2_000
    with serve({"/": Answer(body, headers=(TAG,))}) as server:
        [first], [again], [third] = (forage(workspace, server) for _ in range(3))
        assert asked(server) == [{"If-None-Match": '"one"'}]
    assert told([again, third]) == [("ok", 200, False)] * 2
    assert first.digest == again.digest
    kinds = [kind for kind, *_ in records(workspace) if kind in ("response", "revisit")]
    assert kinds == ["response", "revisit", "revisit"]
    assert third.archived is not None
    assert workspace.archive.read(third.archived).body == body.encode()


def test_a_304_for_a_page_that_was_sent_again_unasked_finds_its_body(workspace: Workspace) -> None:
    sent = Answer("<title>Start</title>", headers=(TAG,))
    pages: dict[str, Page] = {"/": sent}
    with serve(pages) as server:
        for _ in range(2):
            forage(workspace, server)
        pages["/"] = replace(sent, if_same=())
        [confirmed] = forage(workspace, server)
    assert confirmed.not_modified
    assert confirmed.archived is not None
    page = workspace.archive.read(confirmed.archived)
    assert page.body == b"<title>Start</title>"


def lose_the_archive(workspace: Workspace) -> None:
    for path in warc_files(workspace.archive_folder):
        path.unlink()


def damage_the_archive(workspace: Workspace) -> None:
    for path in warc_files(workspace.archive_folder):
        data = bytearray(path.read_bytes())
        middle = data.index(b"<title>")
        data[middle : middle + 7] = b"<tidle>"
        path.write_bytes(bytes(data))


@pytest.mark.parametrize("harm", [lose_the_archive, damage_the_archive])
def test_without_the_body_the_page_is_asked_for_in_full(workspace: Workspace, harm: object) -> None:
    assert callable(harm)
    with serve({"/": Answer("<title>Start</title>", headers=(TAG,), if_same=())}) as server:
        forage(workspace, server)
        harm(workspace)
        [again] = forage(workspace, server)
        assert asked(server) == [{}]
    assert told([again]) == [("ok", 200, False)]
    assert again.title == "Start"


def test_a_304_that_nobody_asked_for_is_no_page(workspace: Workspace) -> None:
    pages: dict[str, Page] = {"/": "<title>Start</title>"}
    with serve(pages) as server:
        forage(workspace, server)
        pages["/"] = Answer(status=304)
        [again] = forage(workspace, server)
    assert told([again]) == [("http_304", 304, False)]


@pytest.mark.parametrize("tag", ["*", "bare", '"o"ne"', '"' + "x" * 600 + '"', '"tab\there"'])
def test_a_tag_that_is_none_is_not_sent_back(workspace: Workspace, tag: str) -> None:
    with serve(
        {"/": Answer("<title>Start</title>", headers=(("ETag", tag), ("Last-Modified", "never")))}
    ) as server:
        for _ in range(2):
            forage(workspace, server)
        assert asked(server) == [{}]


def test_redirects_are_asked_for_in_full_and_pages_behind_them_are_not(workspace: Workspace) -> None:
    pages: dict[str, Page] = {
        "/": Answer(status=301, headers=(("Location", "/home"), TAG), if_same=()),
        "/home": Answer("<title>Home</title>", headers=(TAG,), if_same=()),
    }
    with serve(pages) as server:
        for _ in range(2):
            visits = forage(workspace, server)
        assert asked(server) == [{}, {"If-None-Match": '"one"'}]
        assert told(visits) == [("redirect", 301, False), ("ok", 200, True)]
        pages["/home"] = Answer(status=302, headers=(("Location", "/new"),))
        pages["/new"] = "<title>Moved</title>"
        moved = forage(workspace, server)
    assert told(moved) == [("redirect", 301, False), ("redirect", 302, False), ("ok", 200, False)]


def test_charset_type_and_rules_for_robots_are_those_of_the_page_with_what_the_304_adds(
    workspace: Workspace,
) -> None:
    latin = ("Content-Type", "text/html; charset=iso-8859-1")
    body = "<title>Caf\xe9</title><a href=/next>next</a>".encode("latin-1")
    pages: dict[str, Page] = {
        "/": Answer(body, headers=(latin, TAG), if_same=(("Content-Type", "text/plain; charset=utf-8"),)),
        "/next": Answer(
            "<title>Next</title><a href=/secret>x</a>",
            headers=(TAG, ("X-Robots-Tag", "nofollow")),
            if_same=(),
        ),
    }
    with serve(pages) as server:
        first, again = (forage(workspace, server) for _ in range(2))
        assert [(visit.title, visit.content_type, visit.robots) for visit in again] == [
            ("Café", "text/html", ""),
            ("Next", "text/html", "nofollow"),
        ]
        assert [visit.url for visit in again] == [visit.url for visit in first]
        start = pages["/"]
        assert isinstance(start, Answer)
        pages["/"] = replace(start, if_same=(("X-Robots-Tag", "nofollow"),))
        assert [(visit.robots, visit.not_modified) for visit in forage(workspace, server)] == [
            ("nofollow", True)
        ]
        [kept] = forage(workspace, server)
        assert kept.archived is not None
        assert workspace.archive.read(kept.archived).robots_tag == "nofollow"


def test_a_304_costs_a_fetch_and_its_host_the_usual_pause(workspace: Workspace) -> None:
    robots = Answer("User-agent: *\nCrawl-delay: 0.3\n", headers=(("Content-Type", "text/plain"),))
    start = Answer("<a href=/a>a</a><a href=/b>b</a>", headers=(TAG,), if_same=())
    with serve({"/": start, "/a": "<p>a</p>", "/b": "<p>b</p>", "/robots.txt": robots}) as server:
        forage(workspace, server, budget=2)
        again = forage(workspace, server, budget=2)
    assert [visit.not_modified for visit in again] == [True, False]
    assert [visit.spent for visit in again] == [True, True]
    assert [visit.wait_seconds for visit in again] == [0.3, 0.3]
    assert again[1].at - again[0].at >= 0.3


def test_what_robots_txt_forbids_now_is_not_asked_for(workspace: Workspace) -> None:
    pages: dict[str, Page] = {"/": Answer("<title>Start</title>", headers=(TAG,), if_same=())}
    with serve(pages) as server:
        forage(workspace, server)
        pages["/robots.txt"] = "User-agent: *\nDisallow: /\n"
        [again] = forage(workspace, server)
        assert asked(server) == []
    assert (again.outcome, again.spent, again.not_modified) == ("robots", False, False)


def test_documents_that_have_not_changed_are_found_by_each_run(workspace: Workspace) -> None:
    pages: dict[str, Page] = {
        "/": "<a href=/a.pdf>a</a>",
        "/a.pdf": Answer(
            b"%PDF-1.4 " + b"x" * 200_000, headers=(PDF, TAG), if_same=(("Content-Length", "200009"),)
        ),
    }
    with serve(pages) as server:
        for _ in range(2):
            visits = forage(workspace, server)
        assert server.connections == 2  # the length that a 304 tells is no reason to hang up
    assert visits[1].not_modified
    found = list(workspace.stores.documents.found_by_forage())
    bodies = {workspace.archive.read(each.archived).body for each in found}
    assert (len(found), len(bodies)) == (2, 1)


def test_a_page_too_big_for_the_settings_of_now_is_refused_as_ever(workspace: Workspace) -> None:
    with serve({"/": Answer("<title>Start</title>" * 100, headers=(TAG,), if_same=())}) as server:
        forage(workspace, server)
        small = replace(EAGER, fetch=replace(EAGER.fetch, max_body_bytes=1_000))
        [again] = forage(workspace, server, small)
        assert asked(server) == [{}]
    assert again.outcome == "too_big"


def test_pages_of_other_sites_and_orders_count_too(workspace: Workspace) -> None:
    pages: dict[str, Page] = {
        "/": "<a href=/people>People</a>",
        "/people": Answer("<title>People</title>", headers=(TAG,), if_same=()),
    }
    with serve(pages) as server:
        forage(workspace, server)
        [visit] = forage(workspace, server, path="/people")
    assert visit.not_modified


def test_a_workspace_of_before_knows_its_pages(tmp_path: Path) -> None:
    """Made by a version without the column and the index, its pages are asked for by what the archive holds."""
    with serve({"/": Answer("<title>Start</title>", headers=(TAG,), if_same=())}) as server:
        with Workspace.create(tmp_path / "w") as workspace:
            forage(workspace, server)
        downgrade(tmp_path / "w" / "wayhound.db", 14)
        with Workspace.open(tmp_path / "w") as workspace:
            [again] = forage(workspace, server)
    assert again.not_modified
