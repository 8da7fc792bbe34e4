"""Files and pages are distinguished by the type that the server sends, or else by their names."""

from __future__ import annotations

import pytest

from wayhound.media import DOCUMENT, PAGE, UNKNOWN, accepted_types, file_kind, is_page_type, resolve_type
from wayhound.page import Page, Unreadable, to_page

WORD = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"


@pytest.mark.parametrize(
    ("media_type", "url", "kind"),
    [
        ("application/pdf", "http://a.example/report", DOCUMENT),
        ("application/octet-stream", "http://a.example/report.PDF?v=2", DOCUMENT),
        ("", "http://a.example/paper.ps.gz", DOCUMENT),
        ("application/gzip", "http://a.example/paper.ps.gz", DOCUMENT),
        (WORD, "http://a.example/x", DOCUMENT),
        ("application/gzip", "http://a.example/data.tar.gz", "application/gzip"),
        ("image/png", "http://a.example/chart.pdf", "image/png"),
        ("application/zip", "http://a.example/", "application/zip"),
        ("", "http://a.example.pdf/", UNKNOWN),
    ],
)
def test_the_kind_of_a_file_comes_from_its_type_or_else_its_name(
    media_type: str, url: str, kind: str
) -> None:
    assert file_kind(media_type, url) == kind


def test_the_extension_decides_only_if_the_server_sends_no_useful_type() -> None:
    assert resolve_type("application/x-download", "annual.docx") == WORD
    assert resolve_type("text/csv", "annual.docx") == "text/csv"
    assert resolve_type("", "annual") == UNKNOWN


@pytest.mark.parametrize(
    ("media_type", "is_page"),
    [("", True), ("text/html", True), ("text/plain", True), ("application/pdf", False), ("text/csv", False)],
)
def test_page_types_are_those_that_are_parsed(media_type: str, is_page: bool) -> None:
    assert is_page_type(media_type) is is_page


def test_accepted_types_include_those_that_servers_really_send() -> None:
    wanted = accepted_types([PAGE, DOCUMENT])
    assert all(
        media_type.startswith(wanted)
        for media_type in (WORD, "application/pdf", UNKNOWN, "application/msword")
    )
    assert not "application/zip".startswith(wanted)
    assert "application/zip".startswith(accepted_types(["application/zip"]))
    assert accepted_types([PAGE]) == ()


def test_a_document_is_a_page_without_words() -> None:
    read = to_page(Unreadable("http://a.example/x.pdf", "binary", "application/pdf", "1234"))
    assert read == Page("http://a.example/x.pdf", content_type="application/pdf", digest="1234")
    assert (read.is_document, read.kind) == (True, DOCUMENT)


def test_binary_content_with_a_page_type_gets_its_type_by_name() -> None:
    for media_type in ("text/html", "text/plain", ""):
        read = to_page(Unreadable("http://a.example/x.pdf", "binary", media_type))
        assert read is not None
        assert read.kind == DOCUMENT


def test_empty_content_is_no_page_and_words_make_a_page_of_any_type() -> None:
    assert to_page(Unreadable("http://a.example/", "empty")) is None
    assert to_page(None) is None
    page = Page("http://a.example/x", tokens=("word",), content_type="application/octet-stream")
    assert to_page(page) is page
    assert page.kind == PAGE
