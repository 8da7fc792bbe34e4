"""Citations in a form in which they can be compared: words, names, numbers and marks of letters."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from sys import intern

from trailmark.organise.citations.citation import Citation
from trailmark.organise.citations.fold import fold, plain_words
from trailmark.organise.citations.guess import guess_fields
from trailmark.organise.citations.names import Name, read_names

MARKS = 1_024  # bits in which the letter triples of a text are marked

_YEAR = re.compile(r"(?<!\d)(1[89]\d\d|20\d\d)(?!\d)")
_SHORT_YEAR = re.compile(r"['’](\d\d)(?!\d)")
_PAGES = re.compile(r"(\d+)(?:\s*-+\s*(\d+))?")
_NUMBER = re.compile(r"\d+")
_PAGE_RANGE = re.compile(r"(?:\bpp?\.?|\bpages?)\s*\d+[\d\s-]*|(?<![\d-])\d+\s*-+\s*\d+(?![\d-])")
_VOLUME = re.compile(r"(?<!\d)(\d{1,4})\s*\(\d+[-–\d]*\)|\bvol(?:ume|\.)?\s*(\d+)|\s(\d{1,3})\W*$")
_VENUE_STOP = frozenset(
    "a an and at of on in for the to appear proc proceedings annual conference conf international int intl "
    "symposium symp workshop work journal trans transactions acm ieee th st nd rd volume vol pages pp "
    "press".split()
)
_ORDINAL = re.compile(
    r"\d+(?:st|nd|rd|th)?$|(?:twenty|thirty|forty|fifty)?(?:first|second|third)$|"
    r"(?:twenty|thirty|forty|fifty)?(?:four|fif|six|seven|eigh|nin|ten|eleven|twelf|\w+teen)th$|\w+tieth$"
)
_STOP = frozenset("a an and at by for from in is of on or the to with".split())


@dataclass(frozen=True, slots=True)
class NormalCitation:
    """What is compared of a citation. Numbers are 0 where they are not known."""

    title_words: frozenset[str]
    title_letters: str  # without spaces, as words are often cut or glued
    title_marks: int
    title_numbers: frozenset[str]
    names: tuple[Name, ...]
    last_names: frozenset[str]
    year: int
    first_page: int
    last_page: int
    page_digits: str  # without what stood between them: dashes get lost
    volume: int
    venue_words: frozenset[str]
    venue_initials: str


def normalise(citation: Citation) -> NormalCitation:
    """Fields as they are given; those of a bare text are guessed first."""
    given = guess_fields(citation) if citation.is_raw else citation
    title, names = plain_words(given.title), read_names(given.authors)
    letters = "".join(title)
    pages = given.pages if _NUMBER.search(given.pages) else _stray_pages(given)
    first_page, last_page = _pages(pages)
    return NormalCitation(
        title_words=frozenset(intern(word) for word in title if word not in _STOP) or frozenset(title),
        title_letters=letters,
        title_marks=marks(letters),
        title_numbers=frozenset(word for word in title if word.isdigit()),
        names=names,
        last_names=frozenset(intern(name.last) for name in names),
        year=_year(given),
        first_page=first_page,
        last_page=last_page,
        page_digits="".join(_NUMBER.findall(pages))[:12],
        volume=_volume(given),
        venue_words=_venue_words(given.venue),
        venue_initials=_venue_initials(given.venue),
    )


def marks(letters: str) -> int:
    """The letter triples of a text, each marked as one bit: cheap to keep, and two are compared at once."""
    bits = 0
    for triple in _triples(letters.encode("utf-8", "replace")):
        bits |= 1 << (zlib.crc32(triple) % MARKS)
    return bits


def _triples(letters: bytes) -> Iterable[bytes]:
    return {letters[i : i + 3] for i in range(max(1, len(letters) - 2))} if letters else ()


def _year(given: Citation) -> int:
    for text in (given.year, given.venue, given.note, given.volume, given.text):
        years = _YEAR.findall(text)
        if years:
            return int(years[-1])
        short = _SHORT_YEAR.search(text)
        if short:
            return 1900 + int(short[1]) if int(short[1]) > 30 else 2000 + int(short[1])
    return 0


def _pages(text: str) -> tuple[int, int]:
    found = _PAGES.search(fold(text))
    if not found:
        return 0, 0
    first, last = found[1][:9], (found[2] or "")[:9]
    if len(last) < len(first):  # 433-44
        last = first[: len(first) - len(last)] + last if last else first
    return int(first), int(last)


def _stray_pages(given: Citation) -> str:
    """Pages that were taken for a part of another field."""
    found = _PAGE_RANGE.search(fold(f"{given.venue} {given.note}"))
    return found[0] if found else ""


def _volume(given: Citation) -> int:
    found = _NUMBER.search(given.volume)
    if found:
        return int(found[0][:9])
    stray = _VOLUME.search(fold(given.venue)) or _VOLUME.search(fold(given.note))
    return int(stray[1] or stray[2] or stray[3]) if stray else 0


def _venue_words(venue: str) -> frozenset[str]:
    """Words cut to four letters, for venues are mostly abbreviated by cutting words."""
    return frozenset(intern(word[:4]) for word in _venue_content(venue))


def _venue_initials(venue: str) -> str:
    return "".join(word[0] for word in _venue_content(venue))


def _venue_content(venue: str) -> list[str]:
    words = plain_words(venue)
    return [word for word in words if word not in _VENUE_STOP and not _ORDINAL.match(word)]
