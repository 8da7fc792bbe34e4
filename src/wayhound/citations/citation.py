"""Citations as printed, and normalised for comparison: words, names, numbers and letter trigrams."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterable
from dataclasses import dataclass, replace
from sys import intern

from wayhound.text.author_lists import CitedName, parse_cited_names
from wayhound.text.numbers import RECENT_YEAR, parse_pages, parse_year
from wayhound.text.words import fold, plain_words


@dataclass(frozen=True, slots=True)
class Citation:
    """A reference to a paper, or a paper's own header. Fields are text as printed, not cleaned."""

    title: str = ""
    authors: str = ""
    venue: str = ""
    year: str = ""
    pages: str = ""
    volume: str = ""
    note: str = ""  # anything else: publisher, institution, editor
    text: str = ""  # the whole citation as printed

    @property
    def is_raw(self) -> bool:
        """True if only `text` is known."""
        return not (self.title or self.authors)

    @property
    def all_text(self) -> str:
        """The whole citation, printed or put together from its fields."""
        if self.text:
            return self.text
        parts = self.title, self.authors, self.venue, self.year, self.pages, self.volume, self.note
        return " ".join(filter(None, parts))


_LABEL = re.compile(r"^\s*(?:\[[^\]]{1,30}\]|\(?\d{1,3}[.)])\s*")
_QUOTED = re.compile(r"[\"“«]|``|''(?=\w)")
_UNQUOTED = re.compile(r"[\"”»]|''")
_YEAR_PART = re.compile(rf"\(?\b{RECENT_YEAR}[a-z]?\b\)?[.,:]?")
_PRINTED_PAGES = re.compile(r"(?:\bpp?\.?|\bpages?)\s*(\d+\s*[-–—]+\s*\d+|\d+)|[:,]\s*(\d+\s*[-–—]+\s*\d+)")
_PRINTED_VOLUME = re.compile(
    r"\bvol(?:ume|\.)?\s*(\d+)|(?<=[\s,])(\d{1,4})\s*(?:\(\d+[-–\d]*\))?\s*[:,]\s*(?:pp?\.?\s*)?\d+\s*[-–—]"
)
# A full stop that ends a field, not one after an initial or after an abbreviation in a list of names.
_SENTENCE_END = re.compile(
    r"(?<![\s.][A-Za-z])(?<!^[A-Za-z])(?<!\bal)(?<!\beds)(?<!\bed)[.:?!]['\"”]*\s+(?=\S)"
)
_NUMBERS = re.compile(r"\bvol|\bpp?\.|\bpages?\b|\d")


def guess_fields(citation: Citation) -> Citation:
    """Return the citation with the fields that its text shows: authors, title, venue, year, pages, volume."""
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
    """Split into authors, title and the rest: at quotation marks, at an early year, or at full stops."""
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
    """Return the text before the first volume, year or page number."""
    number = _NUMBERS.search(rest)
    return rest[: number.start()] if number and number.start() > 3 else rest


TRIGRAM_BITS = 1_024  # of the Bloom filter of a title's letter trigrams

_EARLIEST_YEAR = 1800  # an earlier number in a citation is more likely a page
_MOST_DIGITS = 9  # of a volume; Python converts no run of more than 4,300 digits
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
    """The parts of a citation that are compared. Unknown numbers are 0."""

    title_words: frozenset[str]
    title_letters: str  # without spaces, because extraction splits and joins words
    title_trigrams: int  # Bloom filter, see `trigram_bits`
    title_numbers: frozenset[str]
    names: tuple[CitedName, ...]
    last_names: frozenset[str]
    year: int
    first_page: int
    last_page: int
    page_digits: str  # without separators, because dashes get lost
    volume: int
    venue_words: frozenset[str]
    venue_initials: str


def normalise(citation: Citation) -> NormalisedCitation:
    """Return the comparable form of a citation; fields of a bare text are guessed first."""
    if citation.is_raw:
        citation = guess_fields(citation)
    title, names = plain_words(citation.title), parse_cited_names(citation.authors)
    letters = "".join(title)
    pages = citation.pages if _NUMBER.search(citation.pages) else _stray_pages(citation)
    first_page, last_page = parse_pages(fold(pages)).numbers
    return NormalisedCitation(
        title_words=frozenset(intern(word) for word in title if word not in _STOP) or frozenset(title),
        title_letters=letters,
        title_trigrams=trigram_bits(letters),
        title_numbers=frozenset(word for word in title if word.isdigit()),
        names=names,
        last_names=frozenset(intern(name.last) for name in names),
        year=_year(citation),
        first_page=first_page,
        last_page=last_page,
        page_digits="".join(_NUMBER.findall(pages))[:12],
        volume=_volume(citation),
        venue_words=_venue_words(citation.venue),
        venue_initials=_venue_initials(citation.venue),
    )


def trigram_bits(letters: str) -> int:
    """Return a Bloom filter of the letter trigrams of a text, as one integer.

    Two filters are compared with one bitwise operation, which is far cheaper than comparing sets of strings.
    """
    bits = 0
    for trigram in _trigrams(letters.encode("utf-8", "replace")):
        bits |= 1 << (zlib.crc32(trigram) % TRIGRAM_BITS)
    return bits


def _trigrams(letters: bytes) -> Iterable[bytes]:
    return {letters[i : i + 3] for i in range(max(1, len(letters) - 2))} if letters else ()


def _year(citation: Citation) -> int:
    for text in (citation.year, citation.venue, citation.note, citation.volume, citation.text):
        if year := parse_year(text, earliest=_EARLIEST_YEAR):
            return year
    return 0


def _stray_pages(citation: Citation) -> str:
    """Return pages that ended up in another field."""
    pages = _PAGE_RANGE.search(fold(f"{citation.venue} {citation.note}"))
    return pages[0] if pages else ""


def _volume(citation: Citation) -> int:
    number = _NUMBER.search(citation.volume)
    stray = None if number else _VOLUME.search(fold(citation.venue)) or _VOLUME.search(fold(citation.note))
    digits = number[0] if number else (stray[1] or stray[2] or stray[3]) if stray else "0"
    return int(digits[:_MOST_DIGITS])


def _venue_words(venue: str) -> frozenset[str]:
    """Return the first four letters of each word, because venues are abbreviated by cutting words."""
    return frozenset(intern(word[:4]) for word in _venue_content(venue))


def _venue_initials(venue: str) -> str:
    return "".join(word[0] for word in _venue_content(venue))


def _venue_content(venue: str) -> list[str]:
    words = plain_words(venue)
    return [word for word in words if word not in _VENUE_STOP and not _ORDINAL.match(word)]
