"""The fields of a page, and the kinds of bodies that are pages at all."""

from __future__ import annotations

import hashlib

import pytest

from wayhound.page import Page, Unreadable
from wayhound.pages.reader import read_page

URL = "http://www.example.org/people/index.html"


def page_of(html: str | bytes, content_type: str = "text/html", charset: str = "") -> Page:
    body = html.encode() if isinstance(html, str) else html
    page = read_page(URL, body, content_type, charset)
    assert isinstance(page, Page)
    return page


def test_a_page_is_read_with_all_its_fields() -> None:
    html = """<!DOCTYPE html>
    <html lang="en-GB"><head><title> People &amp;
      Places </title>
    <meta name="Description" content="Who works here.">
    <meta name="keywords" content="people, staff ; faculty,,">
    <link rel="canonical" href="/people/"></head>
    <body><h1>Our <em>people</em></h1><p>Ann teaches.</p><h2></h2><h3>Visitors</h3></body></html>"""
    page = page_of(html, "text/html; charset=UTF-8")
    assert page.url == URL
    assert page.title == "People & Places"
    assert page.description == "Who works here."
    assert page.keywords == ("people", "staff", "faculty")
    assert page.headings == ("Our people", "Visitors")
    assert page.tokens == ("our", "people", "ann", "teaches", "visitors")
    assert page.canonical == "http://www.example.org/people/"
    assert page.language == "en-gb"
    assert page.charset == "utf-8"
    assert page.content_type == "text/html"
    assert page.digest == hashlib.sha1(html.encode()).hexdigest()
    assert not page.nofollow


def test_only_visible_text_gives_words() -> None:
    page = page_of(
        "<body>one<script>var two</script><style>.three{}</style><noscript>four</noscript>"
        "<template>five</template><p hidden>six<a href=x>six</a></p><!-- seven -->"
        "<p>eight<iframe src=y>nine</iframe><IFRAME src=about:blank>nine</IFRAME>"
        "<img src=z alt='a picture'><svg><title>icon</title><style>ten{}</style></svg>"
    )
    assert page.tokens == ("one", "eight", "a", "picture", "icon")
    assert [link.url for link in page.links] == ["http://www.example.org/people/y"]


def test_a_script_in_a_drawing_is_removed_with_its_content() -> None:
    page = page_of("<svg><script>x<iframe src=i>y</iframe><a xlink:href=j>z</a></script></svg>seen")
    assert page.tokens == ("seen",)
    assert page.links == ()


def test_blocks_separate_words_and_inline_markup_does_not() -> None:
    page = page_of(
        "<b>W</b>elcome<br>to<table><td>our</td><td><font size=2>d</font>epartment<ul><li>one<li>two</ul>"
    )
    assert page.tokens == ("welcome", "to", "our", "department", "one", "two")


def test_a_drawing_does_not_give_the_page_its_title() -> None:
    assert page_of("<body><svg><title>Icon</title></svg>text").title == ""
    assert page_of("<body><svg><g><title>Icon</title></g></svg><p>x<title>Late</title>").title == "Late"


def test_a_hidden_body_is_read_since_a_script_would_show_it() -> None:
    assert page_of("<html hidden><body hidden><p>shown later").tokens == ("shown", "later")


def test_xhtml_with_an_xml_declaration_keeps_its_links() -> None:
    html = """<?xml version="1.0" encoding="iso-8859-1"?>
    <!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Strict//EN" "http://www.w3.org/TR/xhtml1/DTD/xhtml1-strict.dtd">
    <html xmlns="http://www.w3.org/1999/xhtml" xml:lang="fr"><head><title/><script src="a.js"/></head>
    <body><a name="top"/><p>Déjà <a href="vu.html">vu</a></p></body></html>"""
    for content_type in ("application/xhtml+xml", "text/html", "application/xml", ""):
        page = page_of(html.encode("cp1252"), content_type)
        assert page.tokens == ("déjà", "vu")
        assert [link.text for link in page.links] == ["vu"]
        assert page.language == "fr"
        assert page.charset == "cp1252"


def test_a_comment_that_never_ends_does_not_hide_the_page() -> None:
    page = page_of(
        '<!-- fine --><body><!-- <body bgcolor="#fff"\n<!-- link="blue">\n<p>Here <a href=x>I am</a>'
    )
    assert page.tokens == ("here", "i", "am")
    assert len(page.links) == 1


def test_plain_text_gives_words_and_no_links() -> None:
    page = page_of("See <a href='x'>x</a> at http://example.org/", "text/plain")
    assert page.tokens == ("see", "a", "href", "x", "x", "a", "at", "http", "example", "org")
    assert page.links == ()
    assert page.content_type == "text/plain"


def test_without_a_media_type_the_first_bytes_decide() -> None:
    assert page_of("<html><p>hello", "").content_type == "text/html"
    assert page_of("just words", "").content_type == "text/plain"
    assert page_of("<p>hello".encode("utf-16"), "").tokens == ("hello",)


@pytest.mark.parametrize(
    ("body", "content_type", "reason"),
    [
        (b"", "text/html", "empty"),
        (b" \r\n\t", "", "empty"),
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "text/html", "binary"),
        (b"%PDF-1.4\n", "application/pdf", "binary"),
        (b"PK\x03\x04" + bytes(100), "application/octet-stream", "binary"),
        (bytes(range(256)) * 4, "text/html", "binary"),
        (b"<svg/>", "image/svg+xml", "binary"),
        (b'{"a": 1}', "application/json", "not_html"),
        (b"body { color: red }", "text/css", "not_html"),
        (b'<?xml version="1.0"?><rss><title>news</title></rss>', "application/xml", "not_html"),
        (b'<?xml version="1.0"?><rss><title>news</title></rss>', "", "not_html"),
    ],
)
def test_content_that_is_not_a_page_is_unreadable(body: bytes, content_type: str, reason: str) -> None:
    outcome = read_page(URL, body, content_type)
    assert isinstance(outcome, Unreadable)
    assert (outcome.url, outcome.reason, outcome.content_type) == (URL, reason, content_type)
    assert outcome.digest == hashlib.sha1(body).hexdigest()


def test_the_header_names_the_character_set_in_either_place() -> None:
    body = "<p>Москва".encode("koi8-r")
    assert page_of(body, "text/html", "koi8-r").tokens == ("москва",)
    assert page_of(body, "text/html; Charset=KOI8-R").tokens == ("москва",)


@pytest.mark.parametrize(
    ("body", "media_type"),
    [
        (b"%PDF-1.7\n", "application/pdf"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(40), "application/msword"),
        (
            b"PK\x03\x04" + bytes(26) + b"[Content_Types].xml",
            "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        ),
        (
            b"PK\x03\x04" + bytes(26) + b"mimetypeapplication/vnd.oasis.opendocument.textPK",
            "application/vnd.oasis.opendocument.text",
        ),
        (b"PK\x03\x04" + bytes(26) + b"data.csv", "application/octet-stream"),
    ],
)
def test_documents_of_an_unknown_type_are_recognised_by_their_first_bytes(
    body: bytes, media_type: str
) -> None:
    read = read_page("http://a.example/get?id=7", body, "application/octet-stream")
    assert isinstance(read, Unreadable)
    assert (read.reason, read.content_type) == ("binary", media_type)
