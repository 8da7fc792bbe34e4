from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wayhound.text.numbers import PageRange, parse_month, parse_pages, parse_year


@pytest.mark.parametrize(
    ("text", "year", "month"),
    [("(1987).", 1987, 0), ("September 1996.", 1996, 9), ("Oct '97", 1997, 10), ("1995a", 1995, 0), ("", 0, 0),
     ("April 1-5, 1990).", 1990, 4), ("'03", 2003, 0), ("pp. 12345", 0, 0), ("ſeptember 1712", 1712, 0)],
)  # fmt: skip
def test_years_and_months(text: str, year: int, month: int) -> None:
    assert (parse_year(text), parse_month(text)) == (year, month)


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [("pp. 37-41,", "37", "41"), ("pages 433--44", "433", "444"), ("Page 15", "15", "15"), ("S12–S19", "S12", "S19"),
     ("in press", "", ""), ("1098 to 1101", "1098", "1101"), ("(16-4)", "16", "4"), ("2007-001", "2007", "001")],
)  # fmt: skip
def test_pages(text: str, first: str, last: str) -> None:
    assert parse_pages(text) == PageRange(first, last)


def test_numbers_of_any_length_are_read_in_linear_time() -> None:
    long = "1" * 5_000
    assert parse_pages(f"{long}-9") == PageRange(long, f"{long[:-1]}9")
    assert parse_pages("1" * 500_000).first == "1" * 500_000


@given(st.text("ab12 .:-t", max_size=12))
def test_the_first_range_is_found_wherever_it_begins(text: str) -> None:
    plain = re.search(r"([A-Za-z]{0,2}\d+(?:[.:]\d+)?)\s*(?:-+|to)\s*([A-Za-z]{0,2}\d+)", text)
    found = parse_pages(text)
    if plain:
        assert found.first == plain[1]


def test_years_before_the_earliest_are_ignored() -> None:
    assert parse_year("pp. 1650-1662, 1998") == 1998
    assert parse_year("pp. 1650-1662", earliest=1800) == 0
    assert parse_year("pp. 1650-1662") == 1662


def test_page_ranges_compare_by_number() -> None:
    assert parse_pages("S12:433–44").numbers == (433, 444)
    assert parse_pages("in press").numbers == (0, 0)
    assert str(parse_pages("pages 433--44")) == "433-444"
    assert str(parse_pages("Page 15")) == "15"
