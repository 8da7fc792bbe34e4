"""Years, months and page ranges, as references and title pages print them."""

from __future__ import annotations

import re
from dataclasses import dataclass

RECENT_YEAR = r"(?:1[89]|20)\d\d"
"""Regular expression for a year from 1800 to 2099."""

_YEAR = re.compile(r"(?<!\d)(1[6-9]\d\d|20\d\d)(?!\d)")
_SHORT_YEAR = re.compile(r"['’`]\s?(\d\d)(?!\d)")
_CENTURY_TURN = 30  # '31 is 1931, '30 is 2030
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
# Without regard to case, s would also be the long ſ, whose lower case is no name of a month: hence (?a:…).
_MONTH = re.compile(rf"\b((?a:{'|'.join(_MONTHS)}))[a-z]*\b", re.IGNORECASE)
# A run of digits is taken whole, from its start: a page of a hostile file may be one number of a million digits.
_PAGES = re.compile(r"((?:[A-Za-z]{1,2}|(?<!\d))\d++(?:[.:]\d++)?)\s*(?:[-–—−]+|to)\s*([A-Za-z]{0,2}\d+)")
_PAGE = re.compile(r"([A-Za-z]{0,2}\d+)")
_DIGITS = re.compile(r"\d+")
_MOST_DIGITS = 9  # more digits are no page number


def parse_year(text: str, *, earliest: int = 1600) -> int:
    """Return the last year in the text that is not before `earliest`, or 0; '97 is 1997."""
    if years := [year for digits in _YEAR.findall(text) if (year := int(digits)) >= earliest]:
        return years[-1]
    short = _SHORT_YEAR.search(text)
    return 0 if short is None else (1900 if int(short[1]) > _CENTURY_TURN else 2000) + int(short[1])


def parse_month(text: str) -> int:
    """Return the first month named in English, 1 to 12, or 0."""
    match = _MONTH.search(text)
    return 1 + _MONTHS.index(match[1].lower()) if match else 0


@dataclass(frozen=True, slots=True)
class PageRange:
    """First and last page as printed, the last written out: 433–44 is 433 to 444. Empty if unknown."""

    first: str = ""
    last: str = ""

    def __str__(self) -> str:
        return self.first if self.first == self.last else f"{self.first}-{self.last}"

    @property
    def numbers(self) -> tuple[int, int]:
        """First and last page without letters, for comparison; 0 if unknown."""
        return _number(self.first), _number(self.last)


NO_PAGES = PageRange()


def parse_pages(text: str) -> PageRange:
    """Return the first range of pages in the text, or the first single page."""
    if match := _PAGES.search(text):
        return PageRange(match[1], _written_out(match[1], match[2]))
    page = _PAGE.search(text)
    return PageRange(page[1], page[1]) if page else NO_PAGES


def _written_out(first: str, last: str) -> str:
    """Return 444 for 433 and 44, but leave 16 and 4 alone: 14 would be before 16."""
    missing = len(first) - len(last)
    whole = first[:missing] + last if missing > 0 and last.isdigit() else last
    is_number = first.isdigit() and whole.isdigit()
    return last if is_number and _number(whole) < _number(first) else whole


def _number(page: str) -> int:
    digits = _DIGITS.findall(page)
    return int(digits[-1][:_MOST_DIGITS]) if digits else 0
