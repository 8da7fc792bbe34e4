"""Pages made by scripts are told from short ones, and challenges from pages."""

from __future__ import annotations

import pytest

from wayhound.fetched import Fetched
from wayhound.page import Page
from wayhound.pages.reader import read_page, read_response
from wayhound.pages.scripted import BrowserNeed, browser_need, is_challenge

BUNDLE = "<script src=/static/main.8d1.js></script>"
PROSE = "<p>" + "Many plain words stand on this page, and all of them can be read. " * 10
ANALYTICS = "<script async src='https://www.googletagmanager.com/gtag/js?id=G-1'></script>"

NEEDS: list[tuple[BrowserNeed, str]] = [
    (
        "needed",
        f"<noscript>You need to enable JavaScript to run this app.</noscript><div id=root></div>{BUNDLE}",
    ),
    ("needed", f"<body><app-root></app-root>{BUNDLE}"),
    ("needed", f"<div id='__next'></div>{BUNDLE}"),
    ("needed", f"<title>Shop</title><p>Loading …</p>{BUNDLE}"),
    ("needed", "<script>location.replace('/start')</script>"),
    ("needed", f"{PROSE}<a href='#/people'>People</a><a href='#/news'>News</a>{BUNDLE}"),
    ("perhaps", f"{PROSE}<a href=\"javascript:go('/people')\">People</a>{BUNDLE}"),
    ("perhaps", f"{PROSE}<div onclick=\"go('/people')\">People</div>{BUNDLE}"),
    (
        "perhaps",
        f"<p>We are closed until Monday, and then from nine to five again. Please call.</p>{ANALYTICS}",
    ),
    ("", "<p>We are closed until Monday.</p>"),
    ("", f"{PROSE}{ANALYTICS}"),
    ("", f"<h1>Links</h1>{''.join(f'<a href=/{n}>{n}</a>' for n in range(9))}{BUNDLE}"),
    ("perhaps", f"{PROSE}<a href=/1>1</a><button class=load-more>More</button>{BUNDLE}"),
    ("", f"{PROSE}<a href=/1>1</a><a href=/2>2</a><button onclick='open()'>Menu</button>{BUNDLE}"),
]


@pytest.mark.parametrize(("need", "html"), NEEDS)
def test_the_need_of_a_page_for_a_browser_shows_in_its_markup(need: BrowserNeed, html: str) -> None:
    body = html.encode()
    assert browser_need(read_page("http://s.example/", body, "text/html"), body) == need


def test_a_page_with_words_is_not_scanned_unless_asked_for() -> None:
    body = f"{PROSE}<div onclick=\"go('/people')\">People</div>{BUNDLE}".encode()
    assert browser_need(read_page("http://s.example/", body, "text/html"), body, look_closer=False) == ""


@pytest.mark.parametrize("unit", ["<div ", "<a-", "<script ", "<noscript ", "<script></script><div "])
def test_hostile_markup_is_looked_through_once(unit: str) -> None:
    body = b"<script>" + unit.encode() * 40_000
    assert browser_need(Page("http://s.example/"), body) == "perhaps"


def test_a_long_name_of_an_element_is_read_once() -> None:
    assert browser_need(Page("http://s.example/"), b"<script><a-" + b"a" * 190_000) == "perhaps"


def answer(status: int, body: str, *headers: tuple[str, str]) -> Fetched:
    return Fetched("http://s.example/", status, headers, body.encode(), "text/html")


@pytest.mark.parametrize(
    ("expected", "response"),
    [
        (True, answer(403, "<title>Just a moment...</title>", ("Cf-Mitigated", "challenge"))),
        (True, answer(503, "<script src='/cdn-cgi/challenge-platform/h/b/orchestrate'></script>")),
        (True, answer(200, "<p>One second</p><script src='https://geo.captcha-delivery.com/c.js'></script>")),
        (True, answer(202, "", ("x-amzn-waf-action", "challenge"))),
        (False, answer(403, "<title>Forbidden</title>")),
        (False, answer(200, f"<title>Just a moment...</title>{PROSE}")),
        (False, answer(200, "<p>Nothing here</p>")),
    ],
)
def test_a_challenge_is_known_by_its_marks(expected: bool, response: Fetched) -> None:
    assert is_challenge(response, read_response(response)) is expected
