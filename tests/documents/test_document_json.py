"""Documents as JSON."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wayhound.documents.document import Document, DocumentPage, Line, Unread, Word, from_data, to_data
from wayhound.errors import ModelError

numbers = st.floats(0, 2000, allow_nan=False).map(lambda value: round(value, 1))
boxes = st.tuples(numbers, numbers, numbers, numbers)
words = st.builds(Word, st.text(min_size=1), boxes, numbers)
lines = st.builds(
    Line,
    text=st.text(),
    page=st.just(1),
    box=st.none() | boxes,
    size=numbers,
    bold=st.booleans(),
    italic=st.booleans(),
    column=st.integers(0, 2),
    indent=numbers,
    role=st.sampled_from(["text", "margin"]),
    superscripts=st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9))).map(tuple),
    words=st.lists(words, max_size=3).map(tuple),
)
pages = st.builds(
    DocumentPage,
    number=st.just(1),
    width=numbers,
    height=numbers,
    lines=st.lists(lines, max_size=4).map(tuple),
    trouble=st.none() | st.sampled_from(["broken", "no_text", "not_read"]),
)
documents = st.builds(
    Document,
    kind=st.sampled_from(["pdf", "postscript", "text"]),
    pages=st.lists(pages, max_size=3).map(tuple),
    notes=st.lists(st.text(), max_size=2).map(tuple),
)


@given(documents)
def test_a_document_is_the_same_after_json(document: Document) -> None:
    assert from_data(json.loads(json.dumps(to_data(document)))) == document


def test_a_refusal_is_the_same_after_json() -> None:
    unread = Unread("scanned", "Pictures only.", 3)
    assert from_data(json.loads(json.dumps(to_data(unread)))) == unread


def test_another_format_is_refused() -> None:
    with pytest.raises(ModelError, match="format 99"):
        from_data({"format": 99})


def test_offsets_lead_from_the_text_to_its_lines() -> None:
    document = Document(
        "text", (DocumentPage(1, lines=(Line("one"), Line("2", role="margin"), Line("three"))),)
    )
    assert document.text == "one\nthree"
    assert [document.text[offset:][:3] for offset in document.offsets] == ["one", "thr"]
