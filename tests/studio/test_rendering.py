"""Content of other sites is shown as text: none of their code, addresses or attributes is in it."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from wayhound.fetched import Fetched
from wayhound.studio.rendering import rendered

HOSTILE = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "<svg onload=alert(1)><script>alert(1)</script></svg>",
    "<a href='javascript:alert(1)' onclick=alert(1)>x</a>",
    "<iframe srcdoc='<script>alert(1)</script>'></iframe>",
    "<math><mtext></form><form><mglyph><style></math><img src onerror=alert(1)>",
    "<noscript><p title='</noscript><img src=x onerror=alert(1)>'>",
    "<textarea></textarea><script>alert(1)</script>",
    "<style>@import 'http://evil.example/x.css'; body{background:url(http://evil.example/)}</style>",
    "<meta http-equiv=refresh content='0;url=http://evil.example/'>",
    "<base href='http://evil.example/'><form action=http://evil.example/><input name=x autofocus onfocus=alert(1)>",
    "<p style='background:url(http://evil.example/)' onmouseover=alert(1)>x</p>",
    "<a href='http://evil.example/\" onmouseover=\"alert(1)'>x</a>",
    "<xmp><script>alert(1)</script></xmp><plaintext><script>",
]
TAG = re.compile(r"<(/?)([a-z0-9]+)((?:\s[^>]*)?)>")
ALLOWED_ATTRIBUTES = re.compile(r'(?: class="(?:link [a-z0-9]+|picture)"(?: tabindex="0" title="[^"<>]*")?)?')


def body_of(page: str) -> str:
    shown = rendered(
        Fetched("http://site.example/", 200, body=page.encode("utf-8", "replace"), content_type="text/html"),
        lambda url: ("s1", url, "0.50"),
    )
    return shown.partition("<body>")[2].partition("</body>")[0]


def test_a_document_is_told_and_not_shown_as_letters() -> None:
    body = b"%PDF-1.4 <script>alert(1)</script>" + bytes(3000)
    for media_type in ("application/pdf", ""):  # of what was taught, the type is not known here
        shown = rendered(Fetched("http://site.example/a.pdf", 200, body=body, content_type=media_type))
        assert "This is a document of 3 kB" in shown
        assert "alert" not in shown


def assert_harmless(page: str) -> None:
    shown = body_of(page)
    for tag in re.findall(r"<[^>]*>?", shown):
        found = TAG.fullmatch(tag)
        assert found is not None, tag
        assert found[2] not in (
            "script",
            "style",
            "img",
            "iframe",
            "a",
            "form",
            "input",
            "meta",
            "base",
            "svg",
        )
        assert ALLOWED_ATTRIBUTES.fullmatch(found[3]), tag


def test_nothing_of_hostile_markup_is_left_but_its_text() -> None:
    for page in HOSTILE:
        assert_harmless(page)
    assert_harmless("".join(HOSTILE))


@given(
    st.lists(
        st.sampled_from([*HOSTILE, "<", ">", '"', "'", "&", "x", "<p>", "</p>", "<a href=/>"]), max_size=12
    )
)
def test_no_mixture_of_markup_gets_through(pieces: list[str]) -> None:
    assert_harmless("".join(pieces))


def test_text_structure_and_marks_stay() -> None:
    shown = body_of(
        "<h1>People &amp; more</h1><ul><li><a href='ann.html'>Ann <b>X</b></a></ul><img src=y alt='A view'>"
    )
    assert "<h1>People &amp; more</h1>" in shown
    assert 'title="http://site.example/ann.html">Ann <b>X</b><b>0.50</b></span>' in shown
    assert "[picture: A view]" in shown


def test_a_page_nested_without_end_is_cut_and_not_a_fault() -> None:
    assert len(body_of("<div>" * 200_000 + "deep")) < 2_000_000


def test_frames_are_links_and_a_page_of_frames_is_not_empty() -> None:
    body = b"<html><frameset cols='1,2'><frame src='menu.html'><frame src='main.html'></frameset></html>"
    shown = rendered(Fetched("http://a.example/", 200, body=body), lambda url: ("s5", f"to {url}", "0.9"))
    assert shown.count("[frame: m") == 2
    assert 'title="to http://a.example/menu.html"' in shown
    within = b"<p>Before</p><iframe src='javascript:alert(1)'><b>raw</b></iframe><iframe>no address</iframe>"
    shown = rendered(Fetched("http://a.example/", 200, body=within))
    assert "[frame: javascript:alert(1)]" in shown
    assert "<iframe" not in shown
    assert 'class="link' not in shown
