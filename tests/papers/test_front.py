"""Title, authors and abstract by layout alone."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.papers.texts import laid_out, placed, plain
from wayhound.documents.document import Line
from wayhound.papers.front_layout import FrontTexts
from wayhound.papers.front_layout import read_front_by_layout as read_front

BODY = placed(["1 Introduction", *(f"line {i} of the body" for i in range(20))], y=400)


def front_of(*blocks: list[Line]) -> FrontTexts:
    return read_front(laid_out([line for block in (*blocks, BODY) for line in block]))


def test_the_largest_print_is_the_title_over_as_many_lines_as_it_has() -> None:
    note = placed(["To appear in the Journal of Examples"], y=40, size=8)
    title = placed(["Learning the Paths that Lead", "to Papers on the Web"], y=80, size=16)
    author = placed(["Ada Example"], y=140, size=12)
    assert front_of(note, title, author).title == "Learning the Paths that Lead to Papers on the Web"


@pytest.mark.parametrize(
    "line",
    [
        "Ada Example, Ben Sample and Carla van der Model",
        "Ada Example1,∗ Ben Sample†2 & Carla van der Model‡",
        "Ada Example · Ben Sample · Carla van der Model",
    ],
)
def test_names_are_separated(line: str) -> None:
    title = placed(["A Title"], y=80, size=16)
    affiliation = placed(["Department of Examples, First University", "ada@first.example"], y=160)
    front = front_of(title, placed([line], y=120, size=12), affiliation)
    assert front.authors == ("Ada Example", "Ben Sample", "Carla van der Model")


def test_where_names_are_bold_nothing_else_is_a_name() -> None:
    title = placed(["A Title"], y=80, size=16)
    block = placed(["J.A.K. Example", "Biological Cybernetics", "Ben Sample", "Intelligent Systems"], y=120)
    bold = [replace(line, bold=i % 2 == 0) for i, line in enumerate(block)]
    assert front_of(title, bold).authors == ("J.A.K. Example", "Ben Sample")


def test_the_abstract_is_healed_and_without_its_heading() -> None:
    title = placed(["A Title"], y=80, size=16)
    abstract = placed(
        ["Abstract. We do what we can to make cut words", "whole: hyphen-", "ated ones."], y=200
    )
    assert front_of(title, abstract).abstract == "We do what we can to make cut words whole: hyphenated ones."


def test_plain_text_has_a_front_too() -> None:
    head = "A Title that Runs over\nTwo of the Lines\nAda Example\nFirst University\n\n"
    text = head + "Abstract\n\nIt is short.\n\n1 Introduction\n\nText.\n"
    front = FrontTexts("A Title that Runs over Two of the Lines", ("Ada Example",), "It is short.")
    assert read_front(plain(text)) == front


def test_an_empty_document_has_none() -> None:
    assert read_front(laid_out([])) == FrontTexts()
