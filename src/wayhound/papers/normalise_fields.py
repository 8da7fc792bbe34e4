"""Mail addresses as headers print them, several at once and with one host for many people, one by one."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from wayhound.text.numbers import NO_PAGES, PageRange, parse_month, parse_pages, parse_year
from wayhound.text.person_names import NO_NAMES, IsFirstName, NameList, parse_names

VenueKind = Literal[
    "journal", "meeting", "book", "chapter", "thesis", "report", "unpublished", "web", "unknown"
]

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
class NormalReference:
    """A reference with its fields made comparable; "", 0 and () stand for what it does not say."""

    authors: NameList = NO_NAMES
    editors: NameList = NO_NAMES
    title: str = ""
    year: int = 0
    month: int = 0
    venue: str = ""
    venue_kind: VenueKind = "unknown"
    volume: str = ""
    number: str = ""
    pages: PageRange = NO_PAGES
    publisher: str = ""
    institution: str = ""
    location: str = ""
    note: str = ""


def normalise_reference(
    fields: Mapping[str, str], is_first_name: IsFirstName | None = None
) -> NormalReference:
    """The thirteen fields of a reference, by name, as text."""
    said = {name: tidy(text, name) for name, text in fields.items()}
    volume, number = read_volume(said.get("volume", ""))
    dated = said.get("date", "")
    return NormalReference(
        authors=parse_names(fields.get("author", ""), is_first_name),
        editors=parse_names(fields.get("editor", ""), is_first_name),
        title=said.get("title", ""),
        year=parse_year(dated) or parse_year(said.get("booktitle", "")) or parse_year(said.get("note", "")),
        month=parse_month(dated),
        venue=_venue(said),
        venue_kind=venue_kind(said),
        volume=volume,
        number=number,
        pages=parse_pages(said.get("pages", "")),
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
