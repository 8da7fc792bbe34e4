from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wayhound.page import Page, Unreadable
from wayhound.pages.head import RobotsRules, RobotsTag
from wayhound.pages.reader import read_page

NOTHING, NOFOLLOW, NOINDEX = RobotsRules(), RobotsRules(nofollow=True), RobotsRules(noindex=True)
BOTH = RobotsRules(nofollow=True, noindex=True)
URL = "http://www.example.org/"


@pytest.mark.parametrize(
    ("lines", "rules"),
    [
        ("", NOTHING),
        ("all", NOTHING),
        ("noindex", NOINDEX),
        ("NoFollow", NOFOLLOW),
        ("none", BOTH),
        ("noindex, nofollow", BOTH),
        ("noindex\nnofollow", BOTH),
        ("index, follow\nnoindex", NOINDEX),
        ("noarchive, nosnippet", NOTHING),
        ("max-image-preview: none, nofollow", NOFOLLOW),
        ("unavailable_after: Friday, 25 Jun 2010 15:00:00 PST, noindex", NOINDEX),
        # for one robot
        ("wayhound: noindex, nofollow", BOTH),
        ("Wayhound/0.1: nofollow", NOFOLLOW),
        ("*: noindex", NOINDEX),
        ("otherbot: noindex, nofollow", NOTHING),
        ("nofollow, otherbot: noindex", NOFOLLOW),
        ("otherbot: noindex, wayhound: nofollow", NOFOLLOW),
        ("otherbot: noindex\nnofollow", NOFOLLOW),
        ("wayhoundet: none", NOTHING),
    ],
)
def test_headers_address_all_robots_or_one_by_name(lines: str, rules: RobotsRules) -> None:
    assert RobotsTag(lines).rules() == rules


def test_rules_address_the_configured_name() -> None:
    assert RobotsTag("harvester: nofollow, wayhound: noindex", "Harvester").rules() == NOFOLLOW


def rules_of_page(head: str, lines: str = "") -> RobotsRules:
    page = read_page(
        URL, f"<html><head>{head}<body><a href=/x>x</a>".encode(), "text/html", "", RobotsTag(lines)
    )
    assert isinstance(page, Page)
    assert page.links[0].nofollow == page.nofollow
    return RobotsRules(page.nofollow, page.noindex)


@pytest.mark.parametrize(
    ("head", "rules"),
    [
        ("", NOTHING),
        ("<meta name=robots content=noindex>", NOINDEX),
        ("<meta name=Robots content='NONE'>", BOTH),
        ("<meta name=robots content='noindex nofollow'>", BOTH),
        ("<meta name=robots content='index,follow'><meta name=robots content=nofollow>", NOFOLLOW),
        ("<meta name=robots content=noindex><meta name=Wayhound content=nofollow>", BOTH),
        ("<meta name=otherbot content=none>", NOTHING),
        ("<meta name=robots content='max-image-preview:none'>", NOTHING),
    ],
)
def test_elements_address_all_robots_or_one_by_name(head: str, rules: RobotsRules) -> None:
    assert rules_of_page(head) == rules


def test_rules_of_headers_and_elements_are_combined() -> None:
    assert rules_of_page("<meta name=robots content=noindex>", "nofollow") == BOTH
    assert rules_of_page("<meta name=robots content='index, follow'>", "none") == BOTH


def test_files_and_plain_text_can_have_noindex() -> None:
    pdf = read_page(URL, b"%PDF-1.4", "application/pdf", "", RobotsTag("noindex"))
    assert isinstance(pdf, Unreadable)
    assert pdf.noindex
    text = read_page(URL, b"words", "text/plain", "", RobotsTag("noindex"))
    assert isinstance(text, Page)
    assert text.noindex


@given(st.text(alphabet=" \t\n,:;*/-noindexfollowwayhound0\x00é"), st.text())
def test_any_header_is_read(lines: str, product: str) -> None:
    assert isinstance(RobotsTag(lines, product).rules(), RobotsRules)
