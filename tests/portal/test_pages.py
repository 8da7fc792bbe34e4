"""Pages as they come over the wire: complete without script, with a twin in JSON, told apart by ETags."""

from __future__ import annotations

import asyncio
import gc
import re
import struct
import zlib
from collections.abc import Awaitable, Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from threading import Event

import pytest
from jinja2.runtime import Context
from selectolax.lexbor import LexborHTMLParser

from tests.portal.collection import PAPERS, START, paper_id
from tests.portal.served import Served, serve_portal
from wayhound.app.index import build, catch_up
from wayhound.citations.citation import Citation
from wayhound.portal.addresses import to_key
from wayhound.portal.citations import citation_map_of
from wayhound.portal.library import (
    CACHE_SECONDS,
    PAGE_CACHE_BYTES,
    Library,
    PageMaker,
    Readers,
    SharedCache,
    WorkspaceAccess,
)
from wayhound.portal.originals import MOST_WAITING, ImageQueue
from wayhound.portal.portal import Portal, PortalSettings, make_pages
from wayhound.portal.topic_pages import first_pages
from wayhound.record import Record, Value
from wayhound.store.papers import StoredCitation
from wayhound.web.guards import Buckets
from wayhound.web.pages import Busy, RenderedPage
from wayhound.workspace import Workspace

PAPER = f"/records/paper/{paper_id(4)}"
WORK = "/records/cited-only/1000"
CONTACT = f"/records/contact/{to_key(START + 'contact#1')}"
ODD = f"/records/link_chain/{to_key('odd id/with?signs&more')}"
PAGES = {
    "home": "/",
    "search": "/search?q=learning",
    "browse": "/browse",
    "sites": "/browse/site",
    "topics": "/topics",
    "topic": "/topics/computer-science/machine-learning",
    "paper": PAPER,
    "work": WORK,
    "contact": CONTACT,
    "undeclared": ODD,
    "map": f"{PAPER}/map?hops=2",
    "submit": "/submit",
    "remove": "/remove",
    "correct": f"{PAPER}/correct?field=author",
    "about": "/about",
}
TWINS = {
    "/": "/index.json",
    "/search?q=learning": "/search.json?q=learning",
    "/browse": "/browse.json",
    "/browse/year": "/browse/year.json",
    "/topics": "/topics.json",
    "/topics/computer-science/machine-learning": "/topics/computer-science/machine-learning.json",
    PAPER: f"{PAPER}.json",
    CONTACT: f"{CONTACT}.json",
    WORK: f"{WORK}.json",
    f"{PAPER}/map": f"{PAPER}/map.json",
    f"{PAPER}/correct": f"{PAPER}/correct.json",
    "/submit": "/submit.json",
    "/remove": "/remove.json",
    "/about": "/about.json",
}


def page(portal: Served, path: str) -> LexborHTMLParser:
    got = portal.get(path)
    assert got.status == 200, got.text
    return LexborHTMLParser(got.body)


def texts(tree: LexborHTMLParser, selector: str) -> list[str]:
    return [" ".join(node.text().split()) for node in tree.css(selector)]


@pytest.mark.parametrize("name", PAGES)
def test_every_page_has_a_title_one_heading_landmarks_and_a_language(portal: Served, name: str) -> None:
    tree = page(portal, PAGES[name])
    assert texts(tree, "title") != [""]
    assert len(tree.css("h1")) == 1
    assert len(tree.css("main")) == len(tree.css("header.top")) == len(tree.css("footer")) == 1
    html = tree.css_first("html")
    assert html is not None
    assert html.attributes["lang"] == "en"
    assert tree.css_first('a.skip[href="#main"]') is not None


@pytest.mark.parametrize("path", TWINS)
def test_every_page_has_a_twin_in_json(portal: Served, path: str) -> None:
    twin = portal.get(TWINS[path])
    assert twin.status == 200
    assert twin.headers["content-type"] == "application/json"
    assert isinstance(twin.json, dict)
    assert twin.headers["access-control-allow-origin"] == "*"


def test_no_page_leaves_what_only_a_search_for_garbage_frees(collection: Path) -> None:
    """Such a search stops a server for 10 to 40 ms; until then the memory of some hundred pages is not used again."""
    gc.collect()
    gc.set_debug(gc.DEBUG_SAVEALL)
    try:
        with serve_portal(collection) as portal:  # which has made none of them before
            for path in PAGES.values():
                assert portal.get(path).status == 200
        gc.collect()
        left = [each for each in gc.garbage if isinstance(each, Context)]
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
    assert not left


@pytest.mark.parametrize("path", [*PAGES.values(), *TWINS.values(), "/opensearch.xml", f"{PAPER}.bib"])
def test_a_page_that_did_not_change_is_not_sent_again(portal: Served, path: str) -> None:
    first = portal.get(path)
    again = portal.get(path, if_none_match=f'"other", W/{first.headers["etag"]}')
    assert again.status == 304
    assert again.body == b""
    assert portal.get(path, if_none_match='"other"').status == 200


def test_static_files_are_kept_for_ever_and_named_by_their_content(portal: Served) -> None:
    sheets = [node.attributes["href"] for node in page(portal, "/").css('link[rel="stylesheet"]')]
    assert len(sheets) == 2
    for sheet in sheets:
        got = portal.get(str(sheet))
        assert got.headers["content-type"].startswith("text/css")
        assert "immutable" in got.headers["cache-control"]
        old = portal.get(f"/static/000000000000/{str(sheet).rsplit('/', 1)[1]}")
        assert old.body == got.body
        assert old.headers["cache-control"] == "no-cache"


def test_the_start_page_shows_topics_with_counts_and_what_is_new(portal: Served) -> None:
    tree = page(portal, "/")
    assert "Machine Learning 6" in " ".join(texts(tree, ".tree li"))
    assert "An instance of a kind that nobody declared" in texts(tree, "article h3 a")
    assert tree.css(".examples a")
    for link in tree.css(".examples a"):
        assert portal.get(str(link.attributes["href"]).replace("/search", "/search.json")).json["total"] > 0


def test_a_topic_page_leads_up_and_down_and_orders_its_papers(portal: Served) -> None:
    tree = page(portal, "/topics/computer-science/machine-learning")
    assert texts(tree, ".crumbs a") == ["Topics", "Computer Science"]
    assert texts(tree, ".children a") == ["Neural Networks", "Reinforcement"]
    assert texts(tree, ".hit-title a")[0] == "Learning paths through websites"  # six cite it
    newest = page(portal, "/topics/computer-science/machine-learning?sort=newest")
    assert texts(newest, ".byline span.number")[0] == "2005"
    survey = page(portal, "/topics/computer-science/information-retrieval/crawling?sort=hub")
    assert texts(survey, ".hit-title a")[0] == "A survey of crawling"


def test_a_paper_whose_topic_is_unsure_names_the_likeliest(portal: Served) -> None:
    shown = " ".join(texts(page(portal, f"/records/paper/{paper_id(0)}"), "dd"))
    assert "Perhaps" in shown
    assert "31 %" in shown
    assert "18 %" in shown
    assert "Perhaps" not in " ".join(texts(page(portal, f"/records/paper/{paper_id(1)}"), "dd"))


def test_topic_names_with_any_characters_have_addresses(portal: Served) -> None:
    assert texts(page(portal, "/topics/computer-science/c-c-compilers"), "h1") == [
        "C/C++ & <Compilers> 1 paper"
    ]


def test_the_page_of_a_paper_tells_fields_confidence_references_and_clicks(portal: Served) -> None:
    tree = page(portal, PAPER)
    assert texts(tree, "h1") == ["A survey of crawling"]
    fields = " ".join(texts(tree, "dl.fields"))
    assert "Eero Salmi likely" in fields
    assert "2003 unsure" in fields
    assert texts(tree, ".references strong")[0] == "Learning paths through websites"
    assert "A book that nobody holds" in texts(tree, ".references .cited-title")
    first = texts(tree, ".references li")[0]
    assert "Ada Lindqvist, Béla Varga · Journal of Trails (1998)" in first
    assert "This was shown before for <em>paths</em> [1] and holds here. (page 2)" in texts(
        tree, "blockquote"
    )
    assert "Deep indexes and shallow crawls" in texts(tree, ".citing strong")
    assert texts(tree, ".trail li") == ["start http://harbour.example/", "“Publications”", "“Paper <4>”"]
    assert texts(tree, ".similar .hit-title a")


def test_the_place_of_a_value_is_a_picture_that_is_loaded_when_it_is_opened(portal: Served) -> None:
    image = page(portal, PAPER).css_first("details.evidence img")
    assert image is not None
    assert image.attributes["loading"] == "lazy"
    got = portal.get(str(image.attributes["src"]))
    assert got.status == 200
    assert got.headers["content-type"] == "image/png"
    assert _orange(got.body)
    plain = portal.get(str(image.attributes["src"]).partition("?")[0])
    assert plain.status == 200
    assert not _orange(plain.body)
    for outside in (
        "0,0,0,0",
        "9000,9000,9999,9999",
        "-900,-900,-800,-800",
        "300,300,20,20",
        "0,0,9999,9999",
    ):
        assert portal.get(f"{str(image.attributes['src']).partition('?')[0]}?box={outside}").status == 200


def _orange(png: bytes) -> int:
    """Return how many pixels of a picture have the colour of the frame."""
    assert png.startswith(b"\x89PNG\r\n\x1a\n")
    width, height = struct.unpack(">II", png[16:24])
    length = int.from_bytes(png[33:37], "big")
    rows = zlib.decompress(png[41 : 41 + length])
    assert len(rows) == height * (1 + 3 * width)
    return sum(
        rows[row + 3 * x + 1 : row + 3 * x + 4] == bytes((200, 60, 10))
        for row in range(0, len(rows), 1 + 3 * width)
        for x in range(width)
    )


def test_a_crowd_for_pictures_is_asked_to_come_back(collection: Path) -> None:
    readers, go_on = Readers(WorkspaceAccess(collection), 1), Event()
    images = ImageQueue(readers)

    async def crowd() -> list[bytes]:
        busy = asyncio.create_task(readers.run(lambda _: go_on.wait()))
        first = [asyncio.create_task(images.get("paper", paper_id(4), 1, None)) for _ in range(MOST_WAITING)]
        await asyncio.sleep(0)
        with pytest.raises(Busy) as refusal:
            await images.get("paper", paper_id(4), 1, None)
        assert refusal.value.headers == {"retry-after": "5"}
        go_on.set()
        await busy
        return await asyncio.gather(*first)

    assert len(set(asyncio.run(crowd()))) == 1
    readers.close()


def test_records_of_other_kinds_are_shown_by_their_declarations(portal: Served) -> None:
    tree = page(portal, CONTACT)
    assert texts(tree, "h1") == ["Harbour <Works> Ltd"]
    assert texts(tree, "dl.fields dt")[:3] == ["Organisation", "Street", "Town"]
    assert texts(tree, ".trail li")[1] == "“Contact <us>” Contact"
    undeclared = page(portal, ODD)
    assert texts(undeclared, "h1") == ["An instance of a kind that nobody declared"]
    assert "Colour" in texts(undeclared, "dl.fields dt")


def test_a_work_that_is_only_cited_has_a_page_with_those_who_cite_it(portal: Served) -> None:
    tree = page(portal, WORK)
    assert texts(tree, "h1") == ["A book that nobody holds"]
    assert "not in the collection" in texts(tree, ".notice")[0]
    assert len(tree.css(".citing li")) == len(PAPERS)
    assert not tree.css("a[href$='/correct']")
    assert "Unknown" in portal.get(f"{WORK}.bib").text
    (found,) = portal.get("/search.json?q=nobody+holds").json["hits"]
    assert (found["kind"], found["url"], found["cited"]) == ("cited-only", WORK, len(PAPERS))
    references = page(portal, PAPER).css("ol.references a.cited-title")
    assert [node.attributes["href"] for node in references] == [WORK]


@pytest.mark.parametrize("key", ["1", "99999", "x", "9" * 30, "-1"])
def test_what_is_held_or_cited_by_nobody_is_no_work_that_is_only_cited(portal: Served, key: str) -> None:
    assert portal.get(f"/records/cited-only/{key}").status == 404


def test_the_map_shows_who_cites_the_same_works(portal: Served) -> None:
    graph = portal.get(f"/records/paper/{paper_id(8)}/map.json?hops=2").json
    columns = {node["column"]: node for node in graph["nodes"]}
    assert (columns[1]["held"], columns[1]["url"], columns[1]["title"]) == (
        False,
        WORK,
        "A book that nobody holds",
    )
    assert columns[2]["relation"] == "cites the same works"
    assert {"citing": columns[2]["id"], "cited": "work 1000"}.items() <= graph["edges"][-1].items()
    assert "cite the same works" in [heading["text"] for heading in graph["headings"]]


def test_the_citation_map_says_the_same_in_drawing_and_table(portal: Served) -> None:
    tree = page(portal, f"{PAPER}/map?hops=2")
    drawn = [node.attributes["href"] for node in tree.css("svg a")]
    listed = [node.attributes["href"] for node in tree.css("tbody a")]
    assert drawn == listed
    assert f"/records/paper/{paper_id(7)}" in drawn  # cites it
    graph = portal.get(f"{PAPER}/map.json?hops=2").json
    edges = {(edge["citing"], edge["cited"]) for edge in graph["edges"]}
    assert (paper_id(4), paper_id(0)) in edges
    assert (paper_id(7), paper_id(4)) in edges
    assert len(tree.css("svg path.edge")) == len(edges)


def test_a_map_of_forty_neighbours_has_room_for_all_and_no_box_covers_another(tmp_path: Path) -> None:
    with Workspace.create(tmp_path / "many") as workspace:
        cited = [
            StoredCitation("p", n, n + 1, Citation(f"Work {n} on the tides of seas", year="1999"))
            for n in range(41)
        ]
        workspace.stores.records.save([Record("paper", "p", {"title": (Value("Tides"),)})])
        workspace.stores.papers.save_paper("p", cited)
        library = Library(workspace, workspace.search_index, SharedCache())
        drawn = citation_map_of(library, Record("paper", "p", {"title": (Value("Tides"),)}), 1)
    assert (len(drawn.nodes), drawn.left_out) == (41, 0)
    ys = sorted(node.y for node in drawn.nodes if node.column == 1)
    assert all(after - before >= drawn.box.height for before, after in pairwise(ys))
    assert drawn.height < 1_300
    assert all(node.lines[0].startswith("1999 ") for node in drawn.nodes if node.column == 1)


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/nothing-here", 404),
        ("/topics/no-such-topic", 404),
        ("/records/paper/none", 404),
        ("/records/paper/none.bib", 404),
        (f"{CONTACT}.bib", 404),
        (f"{CONTACT}/map", 404),
        (f"{PAPER}/pages/99.png", 404),
        ("/search?q=a&page=0", 400),
        ("/search?q=a&sort=strange", 400),
        ("/search?filter=nonsense", 400),
        ("/records/paper/x/map?hops=9", 400),
        ("/submissions/none", 404),
    ],
)
def test_what_cannot_be_shown_is_told_in_a_sentence(portal: Served, path: str, status: int) -> None:
    got = portal.get(path)
    assert got.status == status
    assert got.text.rstrip().endswith("</html>")
    (sentence, *_) = texts(LexborHTMLParser(got.body), "main p")
    assert sentence.endswith(".") or "=" in sentence
    assert "Traceback" not in got.text


def test_errors_of_the_json_twins_are_json(portal: Served) -> None:
    got = portal.get("/records/paper/none.json")
    assert (got.status, got.json["status"]) == (404, 404)
    assert got.json["error"].endswith(".")


def test_heads_can_be_asked_for_alone(portal: Served) -> None:
    whole, head = portal.get("/about"), portal.send("HEAD", "/about", None, {})
    assert (head.status, head.body) == (200, b"")
    assert head.headers["etag"] == whole.headers["etag"]
    assert head.headers["content-length"] == whole.headers["content-length"]


def test_other_methods_are_refused(portal: Served) -> None:
    assert portal.send("DELETE", "/search", None, {}).status == 405


@pytest.mark.parametrize(
    ("plain", "with_default"),
    [
        ("/search?q=learning", "/search?q=learning&page=1"),
        ("/search?q=", "/search?page=1"),
        ("/search?q=caf%C3%A9+%26%FF=1", "/search?page=1&q=caf%C3%A9+%26%FF%3D1"),
        ("/topics?sort=hub", "/topics?sort=hub&page=1"),
        ("/topics/computer-science/machine-learning", "/topics/computer-science/machine-learning?limit=10"),
        ("/topics/computer-science?page=2", "/topics/computer-science?page=2&limit=10"),
        (PAPER, f"{PAPER}?page=1"),
    ],
)
def test_a_plain_address_that_needs_no_route_gives_the_page_of_the_route(
    portal: Served, plain: str, with_default: str
) -> None:
    portal.get("/topics?sort=added")  # looks for changes, so that the next pages are made at once
    with_route, without = portal.get(with_default), portal.get(plain)
    assert without.status == with_route.status == 200
    assert without.headers["etag"] == with_route.headers["etag"]
    assert _without_time(without.text) == _without_time(with_route.text)


def _without_time(page: str) -> str:
    return re.sub(r"in [\d.]+ ms", "in no time", page)


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/records/paper/none", 404),
        ("/topics/none", 404),
        ("/topics?sort=none", 400),
        ("/topics?page=0", 400),
        ("/topics/" + 1001 * "a", 400),
        ("*", 404),
    ],
)
def test_what_is_wrong_with_a_plain_address_is_told(portal: Served, path: str, status: int) -> None:
    portal.get("/topics?sort=added")
    got = portal.get(path)
    assert got.status == status
    assert "default-src 'none'" in got.headers["content-security-policy"]


def test_an_empty_collection_has_all_its_pages(tmp_path: Path) -> None:
    Workspace.create(tmp_path / "empty").close()
    with serve_portal(tmp_path / "empty") as portal:
        for path in (
            "/",
            "/search?q=anything",
            "/browse",
            "/browse/site",
            "/topics",
            "/about",
            "/submit",
            "/search.atom",
            "/sitemap.xml",
            "/oai?verb=Identify",
        ):
            assert portal.get(path).status == 200, path
        assert "still empty" in portal.get("/").text
        assert portal.get("/index.json").json["newest"] == []


def test_a_commit_of_the_index_is_seen_at_once(own_collection: Path) -> None:
    with Workspace.open(own_collection) as workspace, serve_portal(own_collection) as portal:
        build(workspace)
        pages = "/search?q=zanzibar", "/topics?sort=added"
        before = [portal.get(path) for path in pages]
        assert [portal.get(path).body for path in pages[1:]] == [page.body for page in before[1:]]
        paper = Record("paper", "a" * 64, {"title": (Value("Notes on Zanzibar"),)})
        workspace.stores.records.save([paper])
        catch_up(workspace)
        after = [portal.get(path) for path in pages]
    assert all("Zanzibar" not in page.text for page in before)
    assert all("Zanzibar" in page.text for page in after)
    assert all(new.headers["etag"] != old.headers["etag"] for new, old in zip(after, before, strict=True))


def test_the_page_of_a_paper_is_made_again_after_any_change_of_the_database(own_collection: Path) -> None:
    with Workspace.open(own_collection) as workspace:
        build(workspace)
        with serve_portal(own_collection) as portal:
            before = portal.get(PAPER)
            assert portal.get(PAPER).body == before.body
            cited = workspace.stores.records.get("paper", paper_id(4))
            assert cited is not None
            renamed = Value("A <b>new</b> name")
            workspace.stores.records.save([replace(cited, fields=cited.fields | {"title": (renamed,)})])
            after = portal.get(PAPER)
            workspace.stores.records.delete("paper", paper_id(4))
            gone = portal.get(PAPER)
    assert "A &lt;b&gt;new&lt;/b&gt; name" in after.text
    assert after.headers["etag"] != before.headers["etag"]
    assert gone.status == 404


def test_pages_are_made_once_for_each_origin_and_state_of_the_collection(own_collection: Path) -> None:
    made: list[str] = []

    def make(_: Library) -> RenderedPage:
        made.append("page")
        return RenderedPage(b"", "text/html", str(len(made)))

    async def visits(workspace: Workspace) -> list[str]:
        def visit(path: str, host: bytes = b"a.example") -> Awaitable[RenderedPage]:
            scope = {"path": path, "query_string": b"", "scheme": "http", "headers": [(b"host", host)]}
            return readers.page(scope, make, is_quick=True)

        await readers.read(lambda _: None)  # a thread has looked for changes
        tags = [(await visit("/records/paper/x")).tag for _ in range(2)]
        tags.append((await visit("/records/paper/x", b"b.example")).tag)
        tags += [(await visit("/topics")).tag for _ in range(2)]
        workspace.stores.records.save([Record("paper", "y")])
        return [*tags, (await visit("/records/paper/x")).tag]

    with Workspace.open(own_collection) as workspace:
        readers = Readers(WorkspaceAccess(own_collection), 1)
        try:
            assert asyncio.run(visits(workspace)) == ["1", "1", "2", "3", "3", "4"]
        finally:
            readers.close()


def test_pages_of_topics_stay_while_more_searches_are_made_than_can_be_kept(own_collection: Path) -> None:
    made: list[str] = []

    async def visits() -> None:
        async def visit(path: str, query: str = "") -> None:
            def make(_: Library) -> RenderedPage:
                made.append(path + query)
                return RenderedPage(bytes(PAGE_CACHE_BYTES // 10), "text/html", "")

            scope = {"path": path, "query_string": query.encode(), "scheme": "http", "headers": []}
            await readers.page(scope, make, is_quick=True)

        await visit("/topics")
        for number in range(20):
            await visit("/search", f"q={number}")
        await visit("/topics")
        await visit("/search", "q=0")

    readers = Readers(WorkspaceAccess(own_collection), 1)
    try:
        asyncio.run(visits())
    finally:
        readers.close()
    assert made.count("/topics") == 1
    assert made.count("/searchq=0") == 2


def test_the_first_pages_of_topics_are_made_before_they_are_asked_for(own_collection: Path) -> None:
    made: list[str] = []

    async def prepared_and_visited() -> list[bytes]:
        readers = Readers(WorkspaceAccess(own_collection), 1)
        settings = PortalSettings("Harbour papers")
        portal = Portal(settings, readers, readers, readers, make_pages(settings), Buckets())

        def first(library: Library) -> Iterator[tuple[str, str, PageMaker]]:
            for path, query, make in first_pages(portal, library):
                made.append(f"{path}?{query}".rstrip("?"))
                yield path, query, make

        try:
            await readers.prepare(first)
            known = [visit(readers, *address.partition("?")[::2]) for address in made]
            return [page.body for page in known if page]
        finally:
            readers.close()

    def visit(readers: Readers, path: str, query: str) -> RenderedPage | None:
        scope = {"path": path, "query_string": query.encode(), "scheme": "http", "headers": []}
        return readers.known_page(scope)

    bodies = asyncio.run(prepared_and_visited())
    with serve_portal(own_collection) as portal:
        assert [portal.get(address).body for address in made] == bodies
    assert {"/topics", "/topics?sort=hub", "/topics?page=2"} <= set(made)


def test_pages_are_made_at_once_while_a_thread_looks_for_changes(own_collection: Path) -> None:
    now, go_on = 0.0, Event()

    async def visits() -> list[bool]:
        def is_made_at_once(query: str) -> bool:
            scope = {"path": "/topics", "query_string": query.encode(), "scheme": "http", "headers": []}
            made = RenderedPage(b"", "text/html", query)
            return readers.known_page(scope, lambda _: lambda _: made) is made

        nonlocal now
        await readers.read(lambda _: None)
        busy = asyncio.create_task(readers.run(lambda _: go_on.wait()))
        await asyncio.sleep(0)
        now = CACHE_SECONDS / 3
        soon = is_made_at_once("soon")
        now = CACHE_SECONDS
        late = is_made_at_once("late")
        go_on.set()
        await busy
        await readers.run(lambda _: None)  # the only thread has looked before
        return [soon, late, is_made_at_once("after")]

    readers = Readers(WorkspaceAccess(own_collection), 1, clock=lambda: now)
    try:
        assert asyncio.run(visits()) == [True, False, True]
    finally:
        readers.close()


def test_only_a_value_that_has_changed_makes_pages_outdated() -> None:
    now = 0.0
    cache = SharedCache(clock=lambda: now)
    assert (cache.get("count", int, lambda: 1), cache.generation) == (1, 0)
    now = 10.0
    assert (cache.get("count", int, lambda: 1), cache.generation) == (1, 0)
    now = 20.0
    assert (cache.get("count", int, lambda: 2), cache.generation) == (2, 1)
