"""Faults that other people's tools found, each kept mended."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
from selectolax.lexbor import LexborHTMLParser, LexborNode

from tests.portal.browsing import html_faults
from tests.portal.served import Served
from tests.portal.test_pages import PAPER, page
from wayhound.papers.bibliography import to_bibtex, to_csl_json
from wayhound.record import Record, Value

PAGES = (
    "/",
    "/search?q=learning",
    "/browse",
    "/topics",
    "/topics/computer-science",
    PAPER,
    "/about",
    "/submit",
    "/remove",
)


def same_title(record_id: str) -> Record:
    return Record("paper", record_id, {"title": (Value("Hops"),), "author": (Value("Ada Lind"),)})


def test_two_papers_have_two_keys_even_if_they_are_exported_one_by_one() -> None:
    one, two = same_title("1"), same_title("2")
    assert to_bibtex([one]).splitlines()[0] != to_bibtex([two]).splitlines()[0]
    assert to_bibtex([one, two]) == "\n".join((to_bibtex([one]), to_bibtex([two])))
    ids = [json.loads(to_csl_json([record]))[0]["id"] for record in (one, two)]
    assert len(set(ids)) == 2


def test_a_refused_method_is_told_all_that_are_allowed(portal: Served) -> None:
    got = portal.send("DELETE", "/submit", None, {})
    assert got.status == 405
    assert {"GET", "POST"} <= {name.strip() for name in got.headers["allow"].split(",")}


def test_the_limits_on_bodies_are_in_the_description_for_programs(portal: Served) -> None:
    paths = json.loads(portal.get("/openapi.json").body)["paths"]
    assert "100,000 bytes" in paths["/submit"]["post"]["responses"]["413"]["description"]
    assert "413" not in paths["/search"]["get"]["responses"]


@pytest.mark.parametrize("path", ["/search?q=learning&filter=", "/search.json?q=learning&filter=&filter="])
def test_an_empty_filter_is_no_filter(portal: Served, path: str) -> None:
    assert portal.get(path).status == 200


def test_a_body_that_is_no_form_is_refused(portal: Served) -> None:
    headers = {"content-type": "application/json"}
    got = portal.send("POST", "/remove", b'{"url": "https://a.example/"}', headers)
    assert got.status == 415


def name_of(node: LexborNode, tree: LexborHTMLParser) -> str:
    label = node.attributes.get("aria-label")
    by = (
        tree.css_first(f"#{node.attributes['aria-labelledby']}")
        if "aria-labelledby" in node.attributes
        else None
    )
    return label or (by.text(strip=True) if by else "")


@pytest.mark.parametrize("path", PAGES)
def test_landmarks_of_one_kind_have_different_names(portal: Served, path: str) -> None:
    tree = page(portal, path)
    named = tree.css(
        "nav, aside, main, section[aria-label], section[aria-labelledby], [role=region], [role=search], search"
    )
    counts = Counter((node.attributes.get("role") or node.tag, name_of(node, tree)) for node in named)
    assert not {landmark: count for landmark, count in counts.items() if count > 1}


@pytest.mark.parametrize("path", PAGES)
def test_what_scrolls_can_be_reached_by_keyboard_and_labels_are_on_what_may_have_them(
    portal: Served, path: str
) -> None:
    tree = page(portal, path)
    assert all(node.attributes.get("tabindex") == "0" for node in tree.css(".scroll, pre"))
    assert not [
        node for node in tree.css("pre[aria-label], div[aria-label]") if "role" not in node.attributes
    ]


@pytest.mark.parametrize("path", PAGES)
def test_every_page_describes_itself(portal: Served, path: str) -> None:
    [described] = page(portal, path).css('meta[name="description"]')
    assert described.attributes["content"]


@pytest.mark.parametrize("path", ["/search", "/topics/computer-science/machine-learning"])
def test_a_whole_search_and_a_topic_can_be_cited(portal: Served, path: str) -> None:
    query = "?q=learning" if path == "/search" else ""
    bib, ris = portal.get(f"{path}.bib{query}"), portal.get(f"{path}.ris{query}")
    assert bib.headers["content-type"].startswith("application/x-bibtex")
    keys = [line for line in bib.text.splitlines() if line.startswith("@")]
    assert len(set(keys)) == len(keys) > 1
    assert ris.text.count("\nER  - ") == len(keys)
    assert f"{path}.bib" in portal.get(f"{path}{query}").text


def test_every_page_is_valid_html(portal: Served, tmp_path: Path) -> None:
    answers = {path: portal.get(path).text for path in (*PAGES, "/nothing-here")}
    assert not html_faults(answers, tmp_path)
