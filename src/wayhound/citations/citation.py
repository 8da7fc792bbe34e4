"""Citations in a form in which they can be compared: words, names, numbers and marks of letters."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterable
from dataclasses import dataclass, fields, replace
from sys import intern

from wayhound.text.author_lists import CitedName, parse_cited_names
from wayhound.text.folding import fold, plain_words
from wayhound.text.numbers import RECENT_YEAR, parse_pages, parse_year


@dataclass(frozen=True, slots=True)
class Citation:
    """A reference to a paper, or a paper's own description. Fields are text as printed, tidied by nobody."""

    title: str = ""
    authors: str = ""
    venue: str = ""
    year: str = ""
    pages: str = ""
    volume: str = ""
    note: str = ""  # whatever else is known: publisher, institution, editor
    text: str = ""  # the citation as it stands in the paper

    @property
    def is_raw(self) -> bool:
        """Whether there is nothing but its text."""
        return not (self.title or self.authors)

    @property
    def all_text(self) -> str:
        """All that is said of the paper, each thing once."""
        if self.text:
            return self.text
        return " ".join(filter(None, (getattr(self, each.name) for each in fields(self))))


_LABEL = re.compile(r"^\s*(?:\[[^\]]{1,30}\]|\(?\d{1,3}[.)])\s*")
_QUOTED = re.compile(r"[\"“«]|``|''(?=\w)")
_UNQUOTED = re.compile(r"[\"”»]|''")
_YEAR_PART = re.compile(rf"\(?\b{RECENT_YEAR}[a-z]?\b\)?[.,:]?")
_PRINTED_PAGES = re.compile(r"(?:\bpp?\.?|\bpages?)\s*(\d+\s*[-–—]+\s*\d+|\d+)|[:,]\s*(\d+\s*[-–—]+\s*\d+)")
_PRINTED_VOLUME = re.compile(
    r"\bvol(?:ume|\.)?\s*(\d+)|(?<=[\s,])(\d{1,4})\s*(?:\(\d+[-–\d]*\))?\s*[:,]\s*(?:pp?\.?\s*)?\d+\s*[-–—]"
)
# A full stop that ends a field: not after an initial or an abbreviation that stands among names.
_SENTENCE_END = re.compile(
    r"(?<![\s.][A-Za-z])(?<!^[A-Za-z])(?<!\bal)(?<!\beds)(?<!\bed)[.:?!]['\"”]*\s+(?=\S)"
)
_NUMBERS = re.compile(r"\bvol|\bpp?\.|\bpages?\b|\d")


def guess_fields(citation: Citation) -> Citation:
    """The citation with authors, title, venue, year, pages and volume as far as its text shows them."""
    text = _LABEL.sub("", " ".join(citation.text.split()))
    authors, title, rest = _cut(text)
    year = _YEAR_PART.search(rest) or _YEAR_PART.search(text)
    pages, volume = _PRINTED_PAGES.search(rest), _PRINTED_VOLUME.search(rest)
    return replace(
        citation,
        authors=authors,
        title=title,
        venue=_venue(rest),
        year=citation.year or (year[0] if year else ""),
        pages=citation.pages or (pages[1] or pages[2] if pages else ""),
        volume=citation.volume or (volume[1] or volume[2] if volume else ""),
    )


def _cut(text: str) -> tuple[str, str, str]:
    """Authors, title and the rest: by quotation marks, by an early year, else by the first full stops."""
    quoted = _QUOTED.search(text)
    if quoted:
        end = _UNQUOTED.search(text, quoted.end())
        stop = end.start() if end else len(text)
        return text[: quoted.start()], text[quoted.end() : stop], text[end.end() if end else stop :]
    year = _YEAR_PART.search(text)
    if year and year.end() < 0.6 * len(text) and not _SENTENCE_END.search(text[: year.start()].rstrip(" .(")):
        title, rest = _until_stop(text[year.end() :].lstrip(" .,:;)"))
        return text[: year.start()], title, f"{rest} {year[0]}"
    authors, rest = _until_stop(text)
    title, rest = _until_stop(rest)
    return authors, title, rest


def _until_stop(text: str) -> tuple[str, str]:
    stop = _SENTENCE_END.search(text)
    return (text[: stop.start()], text[stop.end() :]) if stop else (text, "")


def _venue(rest: str) -> str:
    """Up to the first number that is a volume, year or page."""
    found = _NUMBERS.search(rest)
    return rest[: found.start()] if found and found.start() > 3 else rest


MARKS = 1_024  # bits in which the letter triples of a text are marked

_EARLIEST_YEAR = 1800  # in a whole citation, 1650 is rather a page
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
class NormalisedCitation:
    """What is compared of a citation. Numbers are 0 where they are not known."""

    title_words: frozenset[str]
    title_letters: str  # without spaces, as words are often cut or glued
    title_marks: int
    title_numbers: frozenset[str]
    names: tuple[CitedName, ...]
    last_names: frozenset[str]
    year: int
    first_page: int
    last_page: int
    page_digits: str  # without what stood between them: dashes get lost
    volume: int
    venue_words: frozenset[str]
    venue_initials: str


def normalise(citation: Citation) -> NormalisedCitation:
    """Fields as they are given; those of a bare text are guessed first."""
    given = guess_fields(citation) if citation.is_raw else citation
    title, names = plain_words(given.title), parse_cited_names(given.authors)
    letters = "".join(title)
    pages = given.pages if _NUMBER.search(given.pages) else _stray_pages(given)
    first_page, last_page = parse_pages(fold(pages)).numbers
    return NormalisedCitation(
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
        if year := parse_year(text, earliest=_EARLIEST_YEAR):
            return year
    return 0


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
