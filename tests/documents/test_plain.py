"""Plain text as a document, and reasons for files that are none."""

from __future__ import annotations

import pytest

from wayhound.documents.document import Document, Unread
from wayhound.documents.limits import ReadingLimits
from wayhound.documents.plain_text import MAX_CHARS, MAX_LINES, is_markup, read_plain


def read(body: bytes) -> Document:
    outcome = read_plain(body)
    assert isinstance(outcome, Document), outcome
    return outcome


def test_lines_keep_their_indent_and_blank_lines_stay() -> None:
    document = read(b"A title\n\n    An author\r\nThe end.\n")
    assert [(line.text, line.indent) for line in document.lines] == [
        ("A title", 0.0), ("", 0.0), ("An author", 2.0), ("The end.", 0.0),
    ]  # fmt: skip
    assert document.kind == "text"
    assert document.lines[0].box is None


def test_form_feeds_separate_pages() -> None:
    document = read(b"one\ftwo\f\fthree\f")
    assert [page.number for page in document.pages] == [1, 2, 3, 4]
    assert [page.trouble for page in document.pages] == [None, None, "no_text", None]


def test_running_heads_of_pages_are_marked_as_margins() -> None:
    sheets = "\f".join(
        f"Journal of Examples\n\nbody {word} is here\n\n{number}" for number, word in enumerate("abcd", 7)
    )
    document = read(sheets.encode())
    assert [line.text for line in document.lines if line.text] == [f"body {word} is here" for word in "abcd"]


def test_any_encoding_is_read() -> None:
    assert read("Müller".encode("latin-1")).lines[0].text == "Müller"
    assert read("Müller".encode("utf-16")).lines[0].text == "Müller"


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b"", "empty"),
        (b" \n\t", "empty"),
        (bytes(range(256)) * 10, "not_a_document"),
        (b"<!DOCTYPE html><html><body>Hello</body></html>", "not_a_document"),
        (b"<?xml version='1.0'?>\n<html xmlns='x'>", "not_a_document"),
        (b"#$%& ()*+ 0123 !!!! ???? " * 40, "garbled"),
    ],
)
def test_a_file_that_is_no_text_has_a_reason(body: bytes, reason: str) -> None:
    outcome = read_plain(body)
    assert isinstance(outcome, Unread)
    assert outcome.reason == reason


def test_limits_hold_for_text() -> None:
    too_big = read_plain(b"a" * 100, ReadingLimits(max_bytes=50))
    assert isinstance(too_big, Unread)
    assert too_big.reason == "too_big"
    cut = read_plain(b"a\fb\fc", ReadingLimits(max_pages=2))
    assert isinstance(cut, Document)
    assert cut.notes == ("Only the first 2 of 3 pages were read.",)


def test_only_the_beginning_of_endless_text_is_read() -> None:
    lines = read_plain(b"words of a line\n" * (MAX_LINES + 10))
    assert isinstance(lines, Document)
    assert len(lines.lines) == MAX_LINES
    assert lines.notes == ("Only the beginning was read: the file is longer than a thousand pages.",)
    one_line = read_plain(b"words of a line " * (MAX_CHARS // 16 + 10))
    assert isinstance(one_line, Document)
    assert len(one_line.lines[0].text) <= MAX_CHARS
    assert one_line.notes == lines.notes


def test_comments_before_plain_text_are_looked_through_once() -> None:
    """Each might end at its own end or at that of any later one: the time doubled with every comment."""
    comments = b"<!-- -->" * 400
    assert not is_markup(comments + b"words")
    assert is_markup(b"<?xml version='1.0'?>\n" + comments + b"\n<!DOCTYPE html>")
