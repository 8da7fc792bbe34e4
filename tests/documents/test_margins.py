"""Lines at the edges of pages: running heads and page numbers."""

from __future__ import annotations

import pytest

from wayhound.documents.document import DocumentPage, Line
from wayhound.documents.margins import mark_margins


@pytest.mark.parametrize(
    ("text", "role"), [("iv", "margin"), ("IV", "margin"), ("ı", "text"), ("İİ", "text"), ("ivory", "text")]
)
def test_roman_numerals_are_page_numbers_and_a_turkish_i_is_none(text: str, role: str) -> None:
    (page,) = mark_margins([DocumentPage(1, lines=(Line("The text of a page."), Line(text)))])
    assert [line.role for line in page.lines] == ["text", role]
