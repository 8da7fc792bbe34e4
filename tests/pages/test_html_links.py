"""The targets, texts and positions of the links of a page."""

from __future__ import annotations

import pytest
from selectolax.lexbor import LexborHTMLParser

from tests.pages.test_html import URL, page_of
from wayhound.page import Link
from wayhound.pages.reader import MAX_INTERNATIONAL_HOSTS, MAX_LINKS, link_targets, read_marked_text


def links_of(html: str) -> tuple[Link, ...]:
    return page_of(html).links


def only_link(html: str) -> Link:
    (link,) = links_of(html)
    return link


def test_a_link_knows_its_text_its_neighbours_and_its_region() -> None:
    html = """<body class="home"><div class="nav main"><ul><li>one two <a href="/x">Three,
      <b>four</b></a> five <a href=y>six</a></ul></div></body>"""
    first, second = links_of(html)
    assert first == Link(
        url="http://www.example.org/x",
        text="Three, four",
        before=("one", "two"),
        after=("five", "six"),
        region="body.home>div.nav.main>ul>li>a",
    )
    assert second.before == ("one", "two", "three", "four", "five")
    assert second.after == ()


def test_ten_words_are_kept_on_either_side() -> None:
    around = " ".join(f"w{number}" for number in range(15))
    link = only_link(f"{around} <a href=x>here</a> {around}")
    assert link.before == tuple(f"w{number}" for number in range(5, 15))
    assert link.after == tuple(f"w{number}" for number in range(10))


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("<a href=x><img src=i alt='Our people'></a>", "Our people"),
        ("<a href=x title='All of them'>People</a>", "People All of them"),
        ("<a href=x title='people'>Our People</a>", "Our People"),
        ("<a href=x aria-label='Menu'><i class=icon></i></a>", "Menu"),
        ("<a href=x><svg><title>Mail</title></svg></a>", "Mail"),
        ("<map><area href=x alt=North title='To the north'></map>", "North To the north"),
        ("<iframe src=x title=Map></iframe>", "Map"),
        ("<a href=x>caf&eacute;&nbsp;bar</a>", "café bar"),
        ("<a href=x></a>", ""),
    ],
)
def test_the_text_of_a_link_is_what_a_reader_sees_or_hears(html: str, text: str) -> None:
    assert only_link(html).text == text


def test_links_are_relative_to_the_base_of_the_page() -> None:
    assert only_link("<base href='/other/'><a href=x>x</a>").url == "http://www.example.org/other/x"
    assert (
        only_link("<base target=_top><base href=http://b.example/><a href=x>x</a>").url
        == "http://b.example/x"
    )
    assert only_link("<base href='mailto:x'><a href=x>x</a>").url == "http://www.example.org/people/x"


def test_an_anchor_without_a_target_is_no_link_but_its_words_stay() -> None:
    page = page_of(
        "<a href='mailto:a@b'>mail</a> <a href='#top'>top</a> <a name=x>place</a> <a href=''>self</a>"
        "<a href='javascript:go()'>go</a> <a href='http://exa mple/'>broken</a>"
    )
    assert page.links == ()
    assert page.tokens == ("mail", "top", "place", "self", "go", "broken")


def test_links_of_the_head_are_read_too() -> None:
    links = links_of(
        """<head><meta http-equiv="Refresh" content="5; URL='/new'"><link rel="prefetch next" href="?page=2">
        <link rel=canonical href="/people/"><link rel=stylesheet href=s.css></head>"""
    )
    assert [(link.url, link.kind) for link in links] == [
        ("http://www.example.org/new", "refresh"),
        (f"{URL}?page=2", "next"),
        ("http://www.example.org/people/", "canonical"),
    ]


def test_the_head_gives_no_link_to_the_page_itself() -> None:
    page = page_of(f"<meta http-equiv=refresh content=60><link rel=canonical href={URL}>text")
    assert page.links == ()
    assert page.canonical == URL


@pytest.mark.parametrize(
    ("content", "url"),
    [("0;url=/a", "/a"), ("3, /a", "/a"), ("/a", "/a"), ('0; url="/a"', "/a"), ("0;URL = /a", "/a")],
)
def test_refreshes_are_read_in_all_spellings(content: str, url: str) -> None:
    link = only_link(f"<meta http-equiv=refresh content='{content}'>")
    assert link.url == f"http://www.example.org{url}"


def test_nofollow_is_a_rule_of_the_link_or_of_the_page() -> None:
    plain, marked = links_of("<a href=x>x</a><a href=y rel='external NoFollow'>y</a>")
    assert (plain.nofollow, marked.nofollow) == (False, True)
    page = page_of("<meta name=ROBOTS content='noindex,nofollow'><a href=x>x</a>")
    assert page.nofollow
    assert page.links[0].nofollow


FRAMES = "<frameset cols=20,80><frame src=menu.html name=menu><frame src=main.html></frameset>"


@pytest.mark.parametrize(
    "html",
    [
        f"<html><head><title>t</title></head>{FRAMES}</html>",
        f"<html><head><title>t</title></head><body bgcolor=white>{FRAMES}</body></html>",
        f"Words before {FRAMES}",
        f"<frameset rows=1,2>{FRAMES}</frameset>",
        f"<a name=top>{FRAMES}",
    ],
)
def test_frames_of_framesets_are_links_wherever_they_are(html: str) -> None:
    menu, main = links_of(html)
    assert (menu.url, menu.kind, menu.text) == ("http://www.example.org/people/menu.html", "frame", "menu")
    assert main.url == "http://www.example.org/people/main.html"
    assert menu.region.endswith("frameset>frame")


def test_a_link_before_the_frameset_stays_a_link() -> None:
    assert [link.kind for link in links_of(f"<a href=x>{FRAMES}")] == ["frame", "frame", "a"]


def test_a_frameset_page_is_read_as_browsers_without_frames_show_it() -> None:
    page = page_of(
        f"<title>t</title>{FRAMES}<noframes><body><h1>Ann</h1><a href=plain>plain</a></body></noframes>"
    )
    assert [link.kind for link in page.links] == ["frame", "frame", "a"]
    assert page.tokens == ("ann", "plain")
    assert page.headings == ("Ann",)


def test_nested_links_have_separate_texts() -> None:
    outer, inner = links_of("<a href=x>one<object><a href=y>two</a></object>three</a> four")
    assert (outer.text, inner.text) == ("one", "two")
    assert inner.after == ("three", "four")


def test_marker_characters_of_the_page_are_removed() -> None:
    page = page_of("a\x1cb&#28;c&#x1D;d&#x01c e <a href=x title='t&#29;'>f\x1dg</a> h &#284; &#x1c5;")
    assert page.links[0].text == "f g t"
    assert page.links[0].before == ("a", "b", "c", "d", "e")
    assert page.links[0].after[0] == "h"


def test_links_that_cannot_be_placed_have_no_words_around_them() -> None:
    targets = link_targets(LexborHTMLParser("<p>one <a href=x title=two>two</a>").css("a"), URL)
    words, links = read_marked_text("one two", targets, ["p>a"], nofollow=True)
    assert words == ["one", "two"]
    assert links == [Link("http://www.example.org/people/x", "two", region="body>p>a", nofollow=True)]


def test_regions_are_bounded_and_leave_out_numbers_of_single_elements() -> None:
    link = only_link("<div class='post post-12345 wide tall high'><p class=intro><a href=x class=go>x</a>")
    assert link.region == "body>div.post.wide.tall>p.intro>a.go"
    deep = only_link("<div class=a-long-enough-name>" * 200 + "<p><a href=x>x</a>")
    assert len(deep.region) <= 300
    assert deep.region.startswith("…>")
    assert deep.region.endswith("div.a-long-enough-name>p>a")


def test_of_too_many_links_the_first_to_every_target_are_kept() -> None:
    many = "".join(f"<a href=/{number % 500}>{number}</a> " for number in range(MAX_LINKS + 1))
    assert [link.text for link in links_of(many)] == [str(number) for number in range(500)]
    more = "".join(f"<a href=/{number}>{number}</a> " for number in range(10 * MAX_LINKS))
    assert len(links_of(more)) == MAX_LINKS


def test_of_too_many_international_hosts_only_some_are_encoded() -> None:
    hosts = [
        f"http://{chr(0x627 + number % 20)}{chr(0x627 + number // 20)}.example/" for number in range(400)
    ]
    links = links_of("".join(f"<a href={host}>x</a>" for host in [*hosts, hosts[0] + "again", "/here"]))
    assert len(links) == MAX_INTERNATIONAL_HOSTS + 2
