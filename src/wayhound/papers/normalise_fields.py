"""Mail addresses as headers print them, several at once and with one host for many people, one by one."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from wayhound.papers.lexicon import Lexicon
from wayhound.text.person_names import NOBODY, People, read_people

VenueKind = Literal[
    "journal", "meeting", "book", "chapter", "thesis", "report", "unpublished", "web", "unknown"
]

_YEAR = re.compile(r"(?<!\d)(1[6-9]\d\d|20\d\d)(?!\d)")
_SHORT_YEAR = re.compile(r"['’`]\s?(\d\d)(?!\d)")
_MONTH = re.compile(r"\b(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\b", re.IGNORECASE)
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_PAGES = re.compile(r"([A-Za-z]{0,2}\d+(?:[.:]\d+)?)\s*(?:[-–—−]+|to)\s*([A-Za-z]{0,2}\d+)")
_PAGE = re.compile(r"([A-Za-z]{0,2}\d+)")
_VOLUME_AND_ISSUE = re.compile(
    r"(\d+|[IVXLC]+\b)\s*[(/:,]\s*(?:no\.?|nr\.?|number|issue)?\s*([\w–-]+(?:/\d+)?)", re.IGNORECASE
)
_VOLUME = re.compile(r"(?:vol(?:ume)?\.?\s*)?\b(\d+|[IVXLC]+)\b", re.IGNORECASE)
_ISSUE = re.compile(r"(?:no\.?|nr\.?|number|issue)\s*(\d[\w–-]*)", re.IGNORECASE)
_KINDS: tuple[tuple[VenueKind, re.Pattern[str]], ...] = (
    ("thesis", re.compile(r"(?i)\b(?:thesis|dissertation|diplomarbeit|habilitation)\b")),
    (
        "report",
        re.compile(r"(?i)\b(?:reports?|tech\w*\.? rep\w*|memo\w*|tr|working paper|rapport|preprint)\b"),
    ),
    (
        "meeting",
        re.compile(r"(?i)\b(?:proc\w*|conf\w*|symp\w*|workshop|meeting|congress|colloqu\w+|advances in)\b"),
    ),
    (
        "journal",
        re.compile(
            r"(?i)\b(?:journal|trans\w*|letters|magazine|review|bulletin|annals|comm\w*\.? of)\b|\bj\."
        ),
    ),
)
_UNPUBLISHED = re.compile(
    r"\b(?:submitted|unpublished|in preparation|to appear|in press|manuscript|forthcoming|personal comm\w*)\b",
    re.IGNORECASE,
)
_ADDRESS = re.compile(r"(?:https?|ftp)://|\bwww\.|\bURL\b", re.IGNORECASE)
_QUOTES = "\"“”'`‘’"
_DOUBLE_QUOTE = re.compile(r"[\"“”]")
_IN = re.compile(r"^(?:(?:in|also in|appears in)\b:?(?:\s+|$))+", re.IGNORECASE)
_OPENED = re.compile(
    r"\s*[(\[]\s*(?:pp?|pages?|vols?|nos?|in|tech)?\.?(?:\s+[IVX]+)?$|,\s+in$", re.IGNORECASE
)  # the beginning of what comes next: `Walking on ice (pp.`
_INITIAL_DOT = re.compile(r"\b\w\.$")
_INITIALS_DOT = re.compile(r"\b\w\.\w\.$")
_SHORT_DOT = re.compile(r"\b[A-Z][a-z]{0,4}\.$")
_CUT_SHORT = re.compile(
    r"\b(?:inc|co|corp|ltd|univ|publ?|dept|assoc|soc|verl|acad|sci|jr|sr|etc|lab|inst|mass|calif|conn|penn|wash|ill|"
    r"wis|mich|minn|ont|que)\.$",
    re.IGNORECASE,
)
_WHOLE_WORDS = frozenset({"title", "publisher", "location", "institution", "affiliation", "address"})


@dataclass(frozen=True, slots=True)
class Pages:
    """First and last page as printed, the last written out: 433–44 is 433 to 444. "" where there is none."""

    first: str = ""
    last: str = ""


NO_PAGES = Pages()


@dataclass(frozen=True, slots=True)
class NormalReference:
    """A reference with its fields made comparable; "", 0 and () stand for what it does not say."""

    authors: People = NOBODY
    editors: People = NOBODY
    title: str = ""
    year: int = 0
    month: int = 0
    venue: str = ""
    venue_kind: VenueKind = "unknown"
    volume: str = ""
    number: str = ""
    pages: Pages = NO_PAGES
    publisher: str = ""
    institution: str = ""
    location: str = ""
    note: str = ""


def normalise_reference(fields: Mapping[str, str], lexicon: Lexicon | None = None) -> NormalReference:
    """The thirteen fields of a reference, by name, as text."""
    said = {name: tidy(text, name) for name, text in fields.items()}
    volume, number = read_volume(said.get("volume", ""))
    dated = said.get("date", "")
    return NormalReference(
        authors=read_people(fields.get("author", ""), lexicon),
        editors=read_people(fields.get("editor", ""), lexicon),
        title=said.get("title", ""),
        year=read_year(dated) or read_year(said.get("booktitle", "")) or read_year(said.get("note", "")),
        month=read_month(dated),
        venue=_venue(said),
        venue_kind=venue_kind(said),
        volume=volume,
        number=number,
        pages=read_pages(said.get("pages", "")),
        publisher=said.get("publisher", ""),
        institution=said.get("institution", ""),
        location=said.get("location", ""),
        note=said.get("note", ""),
    )


def tidy(text: str, field: str = "") -> str:
    """Without the quotes around it and the punctuation that parts it from the next field; spaces single."""
    line = " ".join(text.split())
    bare = _OPENED.sub("", _unbracketed(line.strip(f"{_QUOTES},;: ")))
    bare = bare if _dot_belongs(bare, field) else bare.removesuffix(".")
    bare = bare.strip(f"{_QUOTES},;: ")
    closing = line.rstrip(".,;: ")[-1:]
    if len(_DOUBLE_QUOTE.findall(bare)) % 2 and _DOUBLE_QUOTE.match(closing):
        bare += closing  # it closes a quotation inside
    return _IN.sub("", bare) if field == "booktitle" else bare


def _unbracketed(text: str) -> str:
    """Without brackets around all of it, or at an end without their fellow."""
    inner = text.rstrip(".,;: ")
    if inner[:1] == "(" and inner.find(")") in {-1, len(inner) - 1}:
        return inner.strip("() ")
    return inner[:-1] if inner.endswith(")") and "(" not in inner else text


def _dot_belongs(text: str, field: str) -> bool:
    """Whether a dot at the end is that of an abbreviation, by what the field is.

    Names of journals are cut short word by word; titles and publishers are not.
    """
    if field in _WHOLE_WORDS:
        initial = _INITIALS_DOT if field == "title" else _INITIAL_DOT
        return bool(_CUT_SHORT.search(text) or initial.search(text))
    words = text.split()
    short = _SHORT_DOT.search(text) and (len(words) <= 3 or any(word.endswith(".") for word in words[:-1]))
    return bool(_INITIAL_DOT.search(text) or short)


def read_year(text: str) -> int:
    """The last year named, 0 where there is none; '97 is 1997."""
    if years := _YEAR.findall(text):
        return int(years[-1])
    short = _SHORT_YEAR.search(text)
    return 0 if short is None else (1900 if int(short[1]) > 30 else 2000) + int(short[1])


def read_month(text: str) -> int:
    """1 to 12, 0 where there is none."""
    found = _MONTH.search(text)
    return 1 + _MONTHS.index(found[1].lower()) if found else 0


def read_pages(text: str) -> Pages:
    """The first range of pages, or a single page."""
    if found := _PAGES.search(text):
        return Pages(found[1], _written_out(found[1], found[2]))
    page = _PAGE.search(text)
    return Pages(page[1], page[1]) if page else NO_PAGES


def _written_out(first: str, last: str) -> str:
    """433 and 44 is up to 444; but 16 and 4 are no pages of which the last were 14."""
    missing = len(first) - len(last)
    whole = first[:missing] + last if missing > 0 and last.isdigit() else last
    return whole if not (first.isdigit() and whole.isdigit()) or int(whole) >= int(first) else last


def read_volume(text: str) -> tuple[str, str]:
    """Volume and number: `12(9)`, `Vol. 39, No. 9`, `16, 1`."""
    if both := _VOLUME_AND_ISSUE.search(text):
        return both[1], both[2]
    issue = _ISSUE.search(text)
    rest = text[: issue.start()] if issue else text
    volume = _VOLUME.search(rest)
    return volume[1] if volume else "", issue[1] if issue else ""


def venue_kind(fields: Mapping[str, str]) -> VenueKind:
    """What kind of thing was cited, by the fields that there are and the words in them."""
    booktitle = fields.get("booktitle", "")
    if fields.get("tech"):
        return "thesis" if _KINDS[0][1].search(fields["tech"]) else "report"
    if fields.get("journal"):
        return "meeting" if _KINDS[2][1].match(fields["journal"]) else "journal"
    if booktitle:
        named = next((kind for kind, pattern in _KINDS if pattern.search(booktitle)), None)
        return named or ("chapter" if fields.get("editor") or fields.get("publisher") else "meeting")
    return _kind_without_venue(fields)


def _kind_without_venue(fields: Mapping[str, str]) -> VenueKind:
    if fields.get("publisher"):
        return "book"
    note = fields.get("note", "")
    if _ADDRESS.search(note):
        return "web"
    if fields.get("institution"):
        return "report"
    return "unpublished" if _UNPUBLISHED.search(note) else "unknown"


def _venue(fields: Mapping[str, str]) -> str:
    venue = fields.get("journal") or fields.get("booktitle") or fields.get("tech") or ""
    return _IN.sub("", venue)


_NAME = r"[\w.+-]+"
_HOST = r"@\s?[\w-]+(?:\.[\w-]+)+"
_SHARED = re.compile(rf"[{{(\[]\s*({_NAME}(?:\s*[,;|/]\s*{_NAME})+)\s*[}})\]]\s?({_HOST})")
_ROW = re.compile(rf"^\s*({_NAME}(?:\s*[,;|]\s*{_NAME})+)\s?({_HOST})\W*$")
_MAIL_ADDRESS = re.compile(rf"(?<![\w.+-]){_NAME}{_HOST}")
_BETWEEN = re.compile(r"\s*[,;|/]\s*")


def mail_addresses(text: str) -> list[str]:
    """Every address of a field; [] where none can be made out.

    `{anna, berta}@one.example` and `anna, berta@one.example` are two addresses.
    """
    spread = _SHARED.sub(_each, _ROW.sub(_each, text))
    found = (address.replace(" ", "").strip(".-") for address in _MAIL_ADDRESS.findall(spread))
    return list(dict.fromkeys(found)) if not _patterned(spread) else []


def _each(found: re.Match[str]) -> str:
    return " ".join(_with_host(_BETWEEN.split(found[1]), found[2]))


def _with_host(names: list[str], host: str) -> Iterator[str]:
    yield from (f"{name.strip()}{host}" for name in names if name.strip())


def _patterned(text: str) -> bool:
    """`{Firstname}.{Lastname}@one.example` tells how addresses are made, and is none."""
    return bool(re.search(r"[}\])]\s*\.?\s*[{\[(]?[\w.]*[}\])]?\s?@", text))
