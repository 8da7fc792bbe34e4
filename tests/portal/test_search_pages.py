"""Searching: one address is one query, and whatever is typed gets an answer."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from urllib.parse import quote, urlsplit

import pytest
from selectolax.lexbor import LexborHTMLParser

from tests.portal.served import MANY, Served, serve_portal
from tests.portal.test_pages import page, texts
from wayhound.entities.workload import AskedQuery, read_workload
from wayhound.portal.library import Library, SharedCache
from wayhound.portal.search_pages import SearchParameters, search_view, year_bars
from wayhound.search.results import SearchResults
from wayhound.workspace import Workspace


def test_the_page_shows_how_the_query_was_read_and_marks_the_words(portal: Served) -> None:
    tree = page(portal, "/search?q=" + quote('author:varga "hidden markov" -neural'))
    assert "the phrase “hidden markov”" in texts(tree, ".reading")[0]
    assert "but not “neural”" in texts(tree, ".reading")[0]
    assert texts(tree, ".hit-title a") == ["Hidden Markov models of footpaths"]
    assert "Hidden Markov" in " ".join(texts(tree, ".hit-title mark"))


def test_facets_are_links_that_narrow_and_widen_again(portal: Served) -> None:
    tree = page(portal, "/search?q=learning")
    year = next(node for node in tree.css(".facets li a") if node.text() == "1998")
    narrowed = page(portal, str(year.attributes["href"]))
    assert texts(narrowed, ".hit-title a") == ["Learning paths through websites"]
    chip = narrowed.css_first(".chosen a")
    assert chip is not None
    assert chip.attributes["href"] == "/search?q=learning"


@pytest.mark.parametrize(
    "search",
    ["q=", "q=paths", "q=learning&filter=year:1998", "q=&filter=venue:<i>Journal</i>&filter=venue:Tools"],
)
def test_the_page_links_to_the_same_values_of_facets_as_its_data(portal: Served, search: str) -> None:
    tree = LexborHTMLParser(portal.get(f"/search?{quote(search, safe='=&')}").body)
    facets = portal.get(f"/search.json?{quote(search, safe='=&')}").json["facets"]
    assert texts(tree, "aside.facets h2") == [facet["label"] for facet in facets]
    items = zip(tree.css("aside li"), tree.css("aside li a"), tree.css("aside li .count"), strict=True)
    drawn = [
        (link.text(), link.attributes["href"], count.text(), item.attributes.get("class") == "on")
        for item, link, count in items
    ]
    choices = [choice for facet in facets for choice in facet["choices"]]
    assert drawn == [
        (choice["text"], choice["url"], f"{choice['count']:,}", choice["chosen"]) for choice in choices
    ]
    assert any("<i>Journal</i>" in choice["text"] for choice in choices) or search != "q="


def test_a_facet_that_parts_nothing_is_not_shown_unless_it_was_chosen(portal: Served) -> None:
    found = portal.get("/search.json?q=learning").json
    shown = {facet["name"]: facet["choices"] for facet in found["facets"]}
    assert "site" not in shown  # all papers are of one site
    assert all(len(choices) > 1 for choices in shown.values())
    chosen = portal.get("/search.json?q=learning&filter=year:1998").json["facets"]
    assert [facet["choices"][0]["label"] for facet in chosen if facet["name"] == "year"] == ["1998"]


def test_a_declared_facet_without_a_shared_value_is_not_shown(collection: Path) -> None:
    found = {
        "town": [("Bern", 1), ("Basel", 1)],
        "year": [("1999", 1), ("1998", 1)],
        "country": [("CH", 2), ("D", 1)],
    }
    with Workspace.open(collection) as workspace:
        library = Library(workspace, workspace.search_index, SharedCache())
        view = search_view(SearchParameters("x"), SearchResults(3, (), "", found), library)
    assert [facet.name for facet in view.facets] == ["year", "country"]


def test_the_count_beside_a_facet_is_what_it_finds(portal: Served) -> None:
    for facet in portal.get("/search.json?q=paths").json["facets"]:
        for choice in facet["choices"]:
            found = portal.get(choice["url"].replace("/search?", "/search.json?")).json
            assert found["total"] == choice["count"], choice


def test_every_order_is_a_link_and_changes_nothing_but_the_order(portal: Served) -> None:
    first = portal.get("/search.json?q=paths&limit=50").json
    ids = sorted(hit["id"] for hit in first["hits"])
    assert {choice["label"] for choice in first["sorts"]} >= {"relevance", "citations", "seminal", "survey"}
    for choice in first["sorts"]:
        ordered = portal.get(choice["url"].replace("/search?", "/search.json?")).json
        assert sorted(hit["id"] for hit in ordered["hits"]) == ids
    cited = [hit["cited"] for hit in portal.get("/search.json?q=paths&sort=cited").json["hits"]]
    assert cited == sorted(cited, reverse=True)


def test_pages_and_cursors_lead_through_all_hits_once(portal: Served) -> None:
    seen, cursor = list[str](), ""
    while True:
        part = portal.get(f"/search.json?q=&limit=4&cursor={cursor}").json
        seen += [hit["url"] for hit in part["hits"]]
        cursor = part["cursor"]
        if not cursor:
            break
    assert len(seen) == len(set(seen)) == part["total"] == 14
    tree = page(portal, "/search?q=&limit=4")
    following = tree.css_first('nav.paging a[rel="next"]')
    assert following is not None
    assert texts(page(portal, str(following.attributes["href"])), ".hit-title a")


def test_fields_leaves_out_the_others(portal: Served) -> None:
    got = portal.get("/search.json?q=paths&fields=title,year").json
    assert {tuple(hit) for hit in got["hits"]} == {("title", "year")}
    assert portal.get("/search.json?q=paths&fields=secret").status == 400
    record = portal.get(
        got["hits"] and portal.get("/search.json?q=paths").json["hits"][0]["url"] + ".json?fields=title"
    )
    assert [field["name"] for field in record.json["fields"]] == ["title"]


def test_a_mistyped_word_is_guessed(portal: Served) -> None:
    tree = page(portal, "/search?q=reinforcment+learnng")
    meant = tree.css_first(".meant a")
    assert meant is not None
    assert urlsplit(str(meant.attributes["href"])).path == "/search"


def test_nothing_found_is_told_with_advice(portal: Served) -> None:
    assert "Nothing was found" in texts(page(portal, "/search?q=zzzqqqxxx"), "main")[0]


def test_suggestions_lead_to_records_authors_and_topics(portal: Served) -> None:
    by_title = portal.get("/suggest.json?q=hidden+mar").json["suggestions"]
    assert any(offer["kind"] == "title" and offer["url"].startswith("/records/paper/") for offer in by_title)
    by_name = portal.get("/suggest.json?q=lindq").json["suggestions"]
    authors = [offer for offer in by_name if offer["kind"] == "author"]
    assert authors
    found = portal.get(authors[0]["url"].replace("/search?", "/search.json?")).json
    assert found["total"] == 3
    by_topic = portal.get("/suggest.json?q=neural+netw").json["suggestions"]
    assert any(
        offer["url"] == "/topics/computer-science/machine-learning/neural-networks" for offer in by_topic
    )


@pytest.mark.parametrize(
    "query",
    [
        "",
        " ",
        '"',
        "+",
        "-",
        "*",
        "a:b:c",
        "year:..",
        "year:9999999..",
        "((((",
        "OR OR",
        "author:",
        "\\",
        "%00",
        "%ff",
        "\u202e",
        "😀",
        "a" * 1900,
        "pasted words " * 1000,
        "* *",
        "-learning",
        "title:*",
        "'; DROP TABLE record; --",
        "topic:›",
        "../../etc/passwd",
    ],
)
def test_whatever_is_typed_is_answered(portal: Served, query: str) -> None:
    typed = query if query.startswith("%") else quote(query)
    assert portal.get(f"/search?q={typed}").status == 200
    assert portal.get(f"/search.json?q={typed}&sort=log-tf").status == 200
    assert portal.get(f"/search.atom?q={typed}").status == 200
    assert portal.get(f"/suggest.json?q={typed}").status == 200


def test_the_body_is_quoted_with_its_page_and_the_file_is_one_click_away(portal: Served) -> None:
    tree = page(portal, "/search?q=spilled+compiler")
    assert texts(tree, ".hit-title a") == ["A compiler for trails"]
    assert texts(tree, ".snippet")[0] == "Page 2: Registers are <b>spilled</b> here & there."
    (link,) = (node for node in tree.css(".facts a") if node.text().startswith("PDF"))
    assert portal.get(str(link.attributes["href"])).body.startswith(b"%PDF-")


def test_years_are_drawn_as_bars_that_narrow_the_query(portal: Served) -> None:
    found = portal.get("/search.json?q=paths").json
    bars = {bar["label"]: bar for bar in found["years"]}
    assert max(bar["height"] for bar in bars.values()) == 100
    for bar in bars.values():
        inside = portal.get(bar["url"].replace("/search?", "/search.json?")).json
        assert inside["total"] == bar["count"]
    drawn = page(portal, "/search?q=paths").css(".years a")
    assert len(drawn) == sum(bar["count"] > 0 for bar in bars.values())


def test_bars_of_many_years_cover_several_each() -> None:
    bars = year_bars(SearchParameters("tides year:1900.."), [("1900", 1), ("1950", 4), ("2020", 2)])
    assert sum(bar.count for bar in bars) == 7
    assert len(bars) <= 41
    assert bars[0].url == "/search?q=tides+year%3A1900..1903"
    assert year_bars(SearchParameters(), [("1900", 1), ("1901", 3)]) == ()


def test_queries_are_kept_without_their_visitors_and_only_if_asked_for(
    collection: Path, tmp_path: Path
) -> None:
    log = tmp_path / "queries.tsv"
    with serve_portal(collection, replace(MANY, query_log=str(log))) as portal:
        portal.get("/search?q=blue+%20door")
        portal.get("/search?q=blue+door&page=2")  # no new query
        portal.get("/search?q=")
        lines = log.read_text("utf-8").splitlines()
        portal.get("/search?q=blue+%20door")
        assert len(log.read_text("utf-8").splitlines()) == 2, (
            "a page that was made before is a query all the same"
        )
    (day, words) = lines[0].split("\t")
    assert words == "blue door"
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", day)
    assert read_workload(lines).queries == (AskedQuery("blue door"),)
    with serve_portal(collection) as portal:
        portal.get("/search?q=casa")
    assert "casa" not in log.read_text("utf-8")


def test_every_field_that_the_help_names_is_a_field(portal: Served) -> None:
    (meaning,) = (
        each["meaning"]
        for each in portal.get("/index.json").json["examples"]
        if "one field" in each["meaning"]
    )
    fields = meaning.partition(": ")[2].split(", ")
    assert {"abstract", "body", "doi", "journal", "reference"} < set(fields)
    for field in fields:
        read_as = portal.get(f"/search.json?q={field}:trails").json["read_as"]
        assert read_as == f"“trails” in {field}"
