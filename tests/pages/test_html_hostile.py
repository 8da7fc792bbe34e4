"""Reading any bytes ends soon and without an exception."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser, LexborNode

from wayhound.page import Page, Unreadable
from wayhound.pages.markup_limits import MAX_CHARS, MAX_DEPTH, limit_markup
from wayhound.pages.reader import MAX_TOKENS, read_page
from wayhound.url import normalise

URL = "http://www.example.org/"

PIECES = """
<html>|<head>|<title>|</title>|<base href="/b/">|<base href="::">|<meta charset=utf-16>|<body>|<body hidden>|
<a href=x>|<a href='#'>|<a href="http://[::1">|<a href=//y title="&#28;">|</a>|<area href=z>|<frame src=f>|
<frameset>|</frameset>|<noframes>|</noframes>|<iframe src=i>|</iframe>|<img alt="&#29; w">|<b>|</b>|<font>|
<p>|<div>|</div>|<table>|<td>|<tr>|<svg>|<math>|</svg>|<template>|<script>|</script>|<style>|<textarea>|
<select>|<option>|<!--|-->|<![CDATA[|]]>|<?xml|&#28;|&#x1d;|&amp;|&#xD800;|&#0;|<h1>|</h1>|<h2 hidden>|
<plaintext>|"|'|<noscript>|<object>|<link rel=next href=n>|<meta http-equiv=refresh content="0;url=r">|>|<|/|
=|<a href=w rel=nofollow>|<frameset/>|<frameset cols="<">|<meta name=robots content=none>
""".replace("\n", "").split("|")
MARKUP = st.lists(
    st.one_of(st.sampled_from([*PIECES, *map(str.upper, PIECES)]), st.text(max_size=6)), max_size=40
)
TYPES = st.sampled_from(
    ["text/html", "application/xhtml+xml", "", "text/plain", "application/xml", "x", ";;"]
)


def check(outcome: Page | Unreadable) -> None:
    if isinstance(outcome, Unreadable):
        return
    assert not any(char in word for word in outcome.tokens for char in " \x1c\x1d")
    for link in outcome.links:
        assert normalise(link.url) == link.url != ""
        assert len(link.before) <= 10 >= len(link.after)
        assert not {"\x1c", "\x1d"} & set(link.text)
        assert link.region


@given(body=st.binary(), content_type=TYPES, charset=st.sampled_from(["", "utf-8", "utf-16", "big5", "?"]))
def test_any_bytes_are_read(body: bytes, content_type: str, charset: str) -> None:
    check(read_page(URL, body, content_type, charset))


@given(pieces=MARKUP, content_type=TYPES)
def test_any_markup_is_read(pieces: list[str], content_type: str) -> None:
    body = " ".join(pieces).encode()
    check(read_page(URL, body, content_type))
    check(read_page(URL, "".join(pieces).encode(), content_type))


@given(pieces=MARKUP)
def test_words_around_a_link_are_words_of_the_page(pieces: list[str]) -> None:
    page = read_page(URL, "".join(pieces).encode(), "text/html")
    if isinstance(page, Page):
        words = set(page.tokens)
        assert all(words.issuperset((*link.before, *link.after)) for link in page.links)


@given(pieces=MARKUP)
def test_small_pages_pass_the_guard_unchanged(pieces: list[str]) -> None:
    html = "".join(pieces)
    assert limit_markup(html) == html


BOMBS = {
    "nested": "<div>" * 100_000 + "<a href=x>x",
    "nested and closed": "<div>" * 100_000 + "x" + "</div>" * 100_000,
    "nested behind tables": "<div><table><td></div></table>" * 50_000,
    "nested with foreign ends": "<div></x>" * 100_000,
    "nested behind a false comment": '<!--<i a="-->' + "<div>" * 100_000 + '<!--"-->',
    "lists": "<ul><li>" * 50_000,
    "links": "<a href=/x>y</a> " * 100_000,
    "links with blocks": "<a href=x><div>y" * 50_000,
    "formatting": "<p>" + "".join(f"<font size={n}>" for n in range(1000)) + "<p>x" * 100_000,
    "little formatting": "<p>" + "".join(f"<font size={n}>" for n in range(1000)) + "<p>x" * 1000,
    "attributes": "<div " + " ".join(f"a{n}=1" for n in range(200_000)) + ">x",
    "attributes behind quotes": "<div z='>' " + " ".join(f"a{n}" for n in range(200_000)) + ">x",
    "attributes of a script": "<script " + " ".join(f"a{n}" for n in range(200_000)) + ">x</script>y",
    "half a tag": "<a =" * 500_000,
    "half a comment": "<!--" * 500_000,
    "angles": "<" * 1_000_000,
    "entities": "&#28;" * 200_000,
    "words": "word " * 500_000,
    "one word": "x" * 3_000_000,
    "han": "漢" * 300_000,
}


@pytest.mark.parametrize("name", BOMBS)
def test_hostile_markup_is_read_within_bounds(name: str) -> None:
    page = read_page(URL, BOMBS[name].encode(), "text/html")
    check(page)
    assert isinstance(page, Page)
    assert len(page.tokens) <= MAX_TOKENS


@pytest.mark.parametrize("name", [name for name in BOMBS if name.startswith(("nested", "lists", "links"))])
def test_the_tree_of_hostile_markup_is_not_deep(name: str) -> None:
    root = LexborHTMLParser(limit_markup(BOMBS[name])).root
    assert root is not None
    deepest = max(_depth(node) for node in [*root.css("div"), *root.css("li")][-500:] or [root])
    assert deepest < 3 * MAX_DEPTH


def _depth(node: LexborNode) -> int:
    depth, above = 0, node.parent
    while above is not None:
        depth, above = depth + 1, above.parent
    return depth


def test_formatting_is_not_reopened_without_end() -> None:
    root = LexborHTMLParser(limit_markup(BOMBS["formatting"])).root
    assert root is not None
    assert sum(1 for _ in root.traverse()) < 1_000_000


def test_an_overlong_page_is_cut() -> None:
    page = read_page(
        URL, b"<p>start</p>" + b"<p>x</p>" * (MAX_CHARS // 8) + b"<a href=late>end</a>", "text/html"
    )
    assert isinstance(page, Page)
    assert page.tokens[0] == "start"
    assert page.links == ()


def test_a_large_honest_page_passes_the_guard_unchanged() -> None:
    row = "<tr class='row'><td><b>name</b><td><a href='/x?y=1'>link</a><td><ul><li>one<li>two</ul></tr>\n"
    html = f"<html><body><div><table>{row * 3000}</table></div></body></html>"
    assert limit_markup(html) == html
