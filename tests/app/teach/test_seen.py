"""Events of the bar are validated: no typing is kept, and the right link is found."""

from __future__ import annotations

import pytest

from wayhound.app.teach.recorder import clicked_link, link_to
from wayhound.app.teach.seen_pages import SeenPage, remove_typed_text
from wayhound.page import Link, Page
from wayhound.pages.reader import read_page

URL = "http://site.example/"


@pytest.mark.parametrize(
    ("html", "kept"),
    [
        ('<input name="q" value="secret">', '<input name="q">'),
        ('<input value="secret &gt; x" type="password" checked="">', '<input type="password" checked="">'),
        ('<INPUT VALUE="secret">', "<INPUT>"),
        ('<input type="submit" value="Send">', '<input type="submit" value="Send">'),
        ('<textarea name="t">secret</textarea>', '<textarea name="t"></textarea>'),
        ('<option value="de">German</option>', '<option value="de">German</option>'),
        ('<p title="<input">text</p>', '<p title="<input">text</p>'),
    ],
)
def test_what_was_typed_is_taken_out(html: str, kept: str) -> None:
    assert remove_typed_text(html) == kept


@pytest.mark.parametrize(
    "piece",
    ["<input", ' a="', "<textarea", "<input a", '<input a="', '<input a="b"', "<textarea>", "<input value"],
)
def test_no_markup_takes_long(piece: str) -> None:
    """A million characters: what goes over them again and again would not end within the test's time."""
    hostile = "<input" + piece * (1_000_000 // len(piece))
    assert remove_typed_text(hostile) == hostile


def test_a_message_without_a_page_is_none() -> None:
    assert SeenPage.from_message({"url": "about:blank", "html": "<p>"}) is None
    assert SeenPage.from_message({"url": URL}) is None


def page(html: str) -> Page:
    read = read_page(URL, html.encode(), "text/html")
    assert isinstance(read, Page)
    return read


def test_of_links_to_one_address_the_one_that_was_clicked_is_found() -> None:
    both = page(
        "<div class=nav><a href=/p>People</a></div><p>Meet <a href=/p>our people</a> and <a href=/p>People</a>"
    )
    target = URL + "p"
    assert clicked_link(both, target, "our people", 1).before == ("people", "meet")
    assert clicked_link(both, target, "People", 2).region == "body>p>a"
    assert clicked_link(both, target, "our people", 0).text == "our people"
    assert clicked_link(both, target, "something else", 9).region == "body>div.nav>a"


def test_a_link_that_the_reader_does_not_see_is_told_as_it_was_clicked() -> None:
    assert clicked_link(page("<p>"), URL + "p", "Deep", 0) == Link(URL + "p", "Deep")


def test_any_kind_of_link_may_have_led_on() -> None:
    framed = page("<iframe src=/f></iframe><a href=/g>G</a>")
    found = link_to(framed, [URL + "f"])
    assert found is not None
    assert found.kind == "iframe"
    assert link_to(framed, [URL + "h"]) is None
