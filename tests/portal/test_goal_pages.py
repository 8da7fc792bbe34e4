"""Goals of forages on the portal: found, browsed, explained, exported, corrected and removed like papers."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest

from tests.portal.collection import HOSTILE_PAGE, make_collection
from tests.portal.served import Served, serve_portal
from tests.portal.test_pages import page, texts
from tests.store.samples import lease, lease_next
from wayhound.app.goal_records import goal_id
from wayhound.app.index import build, catch_up
from wayhound.app.moderate import approve
from wayhound.app.order import Order
from wayhound.app.review import Review
from wayhound.archive.writer import ArchiveWriter
from wayhound.fetched import Fetched
from wayhound.site import Site
from wayhound.store.protocol import RunLimits
from wayhound.visit import Visit
from wayhound.workspace import Workspace

SITES = {"lantern.example": "Lantern Works", "sails.example": "Sail Makers", "tea.example": "Tea Rooms"}
ORDER = Order(strategy="best-first", keywords=("contact",), goal="contact")
TAUGHT = Order(strategy="path-learner", model="mine", model_digest="1")
HOSTILE = "http://sails.example/contact"


def contact(host: str) -> str:
    return f"http://{host}/contact"


def record_path(url: str) -> str:
    return f"/records/page/{goal_id(url)}"


def forage_contacts(workspace: Workspace, order: Order = ORDER, *, town: str = "Port Larkin") -> int:
    """One run over all sites: a start page and a contact page each, that of the sail makers a hostile one."""
    store = workspace.stores.forage
    starts = [Site(f"http://{host}/") for host in SITES]
    run = store.open_run(order.identity(), RunLimits(), starts, time.time())
    with ArchiveWriter(workspace.archive_folder, f"r{run.id}", software="test") as archive:
        while (job := lease_next(store, run.id, "test", time.time())) is not None:
            start = job.site.start
            host = start.split("/")[2]
            body = HOSTILE_PAGE if host == "sails.example" else (
                f"<html lang=en><title>Contact {SITES[host]}</title><body><p>{SITES[host]}, 18 Ropewalk, {town}. "
                "Write, call or knock at any time of the day.</p></body>"
            ).encode()  # fmt: skip
            answer = Fetched(contact(host), 200, body=body, headers=(("Content-Type", "text/html"),))
            ref = archive.write(answer, at=time.time())
            store.save_visit(job, Visit(start, 0, start, "ok", time.time(), title=SITES[host], status=200))
            found = Visit(
                start, 1, contact(host), "ok", time.time(), parent=0, link_text="Contact <us>", link_kind="a",
                depth=1, status=200, content_type="text/html", title="Contact", goal=0.75, is_goal=True, label="Goal",
                archived=ref, why=(("says contact", 1.5),) if order is TAUGHT else (),
            )  # fmt: skip
            store.save_visit(job, found)
            store.finish_site(job, "no links left")
    return run.id


@pytest.fixture
def pages_only(tmp_path: Path) -> Path:
    folder = tmp_path / "pages"
    with Workspace.create(folder) as workspace:
        forage_contacts(workspace)
        build(workspace)
    return folder


@pytest.fixture
def portal_of_pages(pages_only: Path) -> Iterator[Served]:
    with serve_portal(pages_only) as served:
        yield served


def test_the_home_page_of_pages_alone_leads_to_sites_and_labels(portal_of_pages: Served) -> None:
    tree = page(portal_of_pages, "/")
    assert texts(tree, ".hero p.quiet") == ["3 pages from 3 sites"]
    assert texts(tree, ".halves h3:not(.hit-title) a") == ["By label", "By site"]
    assert "lantern.example 1" in texts(tree, ".halves .children li")
    assert "contact 3" in texts(tree, ".halves .children li")
    assert "topic" not in " ".join(texts(tree, "main")).lower()
    for link in tree.css(".examples a"):
        found = portal_of_pages.get(str(link.attributes["href"]).replace("/search", "/search.json")).json
        assert found["total"] > 0, link.text()


def test_a_collection_of_both_leads_to_topics_sites_and_labels(tmp_path: Path) -> None:
    folder = make_collection(tmp_path / "both")
    with Workspace.open(folder) as workspace:
        forage_contacts(workspace)
        build(workspace)
    with serve_portal(folder) as portal:
        tree = page(portal, "/")
        assert texts(tree, ".halves h3:not(.hit-title) a") == ["By topic", "By label", "By site"]
        assert portal.get("/index.json").json["counts"]["page"] == 3
        kinds = portal.get("/search.json?q=").json["facets"]
        shown = {facet["name"]: [choice["text"] for choice in facet["choices"]] for facet in kinds}
        assert {"Paper", "Page"} <= set(shown["type"])
        browse = page(portal, "/browse")
        assert {"Kinds of records", "Topics"} <= set(texts(browse, "h2"))


def test_a_search_finds_pages_by_what_they_say_and_parts_them_by_facets(portal_of_pages: Served) -> None:
    found = portal_of_pages.get("/search.json?q=ropewalk").json
    assert sorted(hit["site"] for hit in found["hits"]) == ["lantern.example", "tea.example"]
    assert {facet["name"] for facet in found["facets"]} == {"site"}
    everything = portal_of_pages.get("/search.json?q=&filter=certainty:goal&filter=label:contact").json
    assert everything["total"] == 3
    assert {choice["label"] for choice in found["sorts"]} == {"relevance", "word frequency", "last added"}
    tree = page(portal_of_pages, "/search?q=ropewalk")
    assert "Ropewalk" in texts(tree, ".hit .snippet mark")
    assert texts(tree, ".hit .chip") == []


def test_sites_and_labels_can_be_browsed_and_narrowed(portal_of_pages: Served) -> None:
    tree = page(portal_of_pages, "/browse/site")
    assert texts(tree, ".children li") == ["lantern.example 1", "sails.example 1", "tea.example 1"]
    link = tree.css_first(".children a")
    assert link is not None
    assert texts(page(portal_of_pages, str(link.attributes["href"])), ".hit-title a") == [
        "Contact Lantern Works"
    ]
    narrowed = portal_of_pages.get("/browse/site.json?starts=TEA").json
    assert [value["label"] for value in narrowed["facet"]["values"]] == ["tea.example"]
    assert portal_of_pages.get("/browse/site?starts=zzz").status == 200
    assert portal_of_pages.get("/browse/nothing").status == 404
    assert portal_of_pages.get("/browse/topic").status in {200, 307}


def test_the_page_of_a_goal_shows_the_clicks_the_reasons_and_both_copies(portal_of_pages: Served) -> None:
    path = record_path(contact("lantern.example"))
    tree = page(portal_of_pages, path)
    assert texts(tree, "h1") == ["Contact Lantern Works"]
    assert texts(tree, ".trail li") == ["start http://lantern.example/", "“Contact <us>” Contact"]
    assert "its address or title matches “contact” +1.00" in texts(tree, "section li")
    live = tree.css_first(".actions a[rel]")
    assert live is not None
    assert live.attributes["href"] == contact("lantern.example")
    assert texts(tree, ".actions a") == [
        "Archived copy", "Live page at lantern.example", "Correct", "Ask for removal",
    ]  # fmt: skip
    shown = dict(zip(texts(tree, "dl dt"), texts(tree, "dl dd"), strict=False))
    assert shown["Certainty"] == "goal"
    assert shown["Probability of a goal"] == "0.75"
    assert "18 Ropewalk" in texts(tree, ".prose")[0]
    copy = portal_of_pages.get(f"{path}/archived")
    assert (copy.status, copy.headers["content-type"]) == (200, "text/plain; charset=utf-8")
    assert b"18 Ropewalk" in copy.body


def test_a_taught_goal_explains_itself_in_words(tmp_path: Path) -> None:
    with Workspace.create(tmp_path / "taught") as workspace:
        forage_contacts(workspace, TAUGHT)
        build(workspace)
    with serve_portal(tmp_path / "taught") as portal:
        path = record_path(contact("tea.example"))
        assert "“contact” in the link +1.50" in texts(page(portal, path), "section li")
        assert portal.get(f"{path}.json").json["reasons"] == [
            {"text": "“contact” in the link", "weight": 1.5}
        ]


def test_a_hostile_page_does_nothing_in_its_record_nor_as_a_copy(portal_of_pages: Served) -> None:
    path = record_path(HOSTILE)
    shown = portal_of_pages.get(path).text
    assert "<svg" not in shown
    assert "Harbour Lane 3" in shown
    assert 'href="javascript:' not in shown
    copy = portal_of_pages.get(f"{path}/archived")
    assert copy.headers["content-type"].startswith("text/plain")
    assert "sandbox" in copy.headers["content-security-policy"]


def test_goals_are_in_feeds_sitemap_oai_and_exports(portal_of_pages: Served) -> None:
    path = record_path(contact("tea.example"))
    assert path in portal_of_pages.get("/search.atom?q=ropewalk").text
    assert path in portal_of_pages.get("/sitemap-part.xml").text
    records = portal_of_pages.get("/oai?verb=ListRecords&metadataPrefix=oai_dc&set=page").text
    assert "<dc:title>Contact Tea Rooms</dc:title>" in records
    assert f"<dc:source>{contact('tea.example')}</dc:source>" in records
    lines = [json.loads(line) for line in portal_of_pages.get("/export/page.jsonl").text.splitlines()]
    assert {line["fields"]["url"][0]["text"] for line in lines} == {contact(host) for host in SITES}


def test_a_rejected_goal_leaves_the_portal(pages_only: Path) -> None:
    path = record_path(contact("tea.example"))
    with serve_portal(pages_only) as portal, Workspace.open(pages_only) as workspace:
        assert portal.get(path).status == 200
        Review(workspace, 1).reject("http://tea.example/", 1, time.time())
        catch_up(workspace)
        gone = portal.get(path)
        assert (gone.status, "no longer in the collection" in gone.text) == (404, True)
        assert portal.get("/search.json?q=ropewalk").json["total"] == 1
        deleted = portal.get("/oai?verb=ListIdentifiers&metadataPrefix=oai_dc").text
        assert 'status="deleted"' in deleted


def test_the_path_of_a_goal_is_that_of_its_own_run(pages_only: Path) -> None:
    """Visits are numbered anew in every run: the page of a record must not show the visit of another."""
    with Workspace.open(pages_only) as workspace:
        store = workspace.stores.forage
        start = "http://tea.example/"
        run = store.open_run({"strategy": '"random"'}, RunLimits(), [Site(start)], time.time())
        job = lease(store, run, "other", time.time())
        for number in range(2):
            other = Visit(
                start, number, f"{start}other{number}", "ok", time.time(), parent=0 if number else None
            )
            store.save_visit(job, other)
        catch_up(workspace)
    with serve_portal(pages_only) as portal:
        tree = page(portal, record_path(contact("tea.example")))
        assert texts(tree, ".trail li")[-1] == "“Contact <us>” Contact"


def test_a_visitor_corrects_a_page_and_facts_cannot_be_corrected(pages_only: Path) -> None:
    path = record_path(contact("tea.example"))
    with serve_portal(pages_only) as portal:
        form = portal.get(f"{path}/correct.json").json
        assert [option for option, _ in form["fields"][0]["options"]] == [
            "title",
            "snippet",
            "label",
            "language",
        ]
        sent = portal.post(f"{path}/correct", {"field": "label", "texts": "tea rooms"})
        assert sent.status == 303
        with Workspace.open(pages_only) as workspace:
            [waiting] = workspace.stores.submissions.all("waiting")
            approve(workspace, waiting.id, "", time.time())
            catch_up(workspace)
        assert portal.get("/search.json?q=" + quote('label:"tea rooms"')).json["total"] == 1


def test_a_collection_of_pages_takes_sites_and_no_papers(portal_of_pages: Served) -> None:
    tree = page(portal_of_pages, "/submit")
    assert texts(tree, "h1") == ["Submit a site"]
    assert tree.css_first("select") is None
    sent = portal_of_pages.post("/submit", {"kind": "site", "url": "https://more.example.org/"})
    assert sent.status == 303
