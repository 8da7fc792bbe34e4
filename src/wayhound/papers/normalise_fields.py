"""Field texts in a comparable form: references with year, venue and pages, tidy text, e-mail addresses."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from wayhound.text.numbers import NO_PAGES, PageRange, parse_month, parse_pages, parse_year
from wayhound.text.person_names import IsFirstName, PersonName, parse_names

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
# The beginning of the next field, as in `Walking on ice (pp.`
_OPENED = re.compile(
    r"\s*[(\[]\s*(?:pp?|pages?|vols?|nos?|in|tech)?\.?(?:\s+[IVX]+)?$|,\s+in$", re.IGNORECASE
)
_INITIAL_DOT = re.compile(r"\b\w\.$")
_INITIALS_DOT = re.compile(r"\b\w\.\w\.$")
_SHORT_DOT = re.compile(r"\b[A-Z][a-z]{0,4}\.$")
_ABBREVIATION = re.compile(
    r"\b(?:inc|co|corp|ltd|univ|publ?|dept|assoc|soc|verl|acad|sci|jr|sr|etc|lab|inst|mass|calif|conn|penn|wash|ill|"
    r"wis|mich|minn|ont|que)\.$",
    re.IGNORECASE,
)
_SELDOM_ABBREVIATED = frozenset({"title", "publisher", "location", "institution", "affiliation", "address"})
_PAGE_COUNT = re.compile(r"^\W*\d{1,4}\s+(?:pages?|pp\.?|seiten)\W*$", re.IGNORECASE)  # how many, not which
_CAPITALS = re.compile(r"[^\W\d_]{3,}")


@dataclass(frozen=True, slots=True)
class NormalisedReference:
    """A reference in comparable form; "", 0 and () stand for fields that it does not have."""

    authors: tuple[PersonName, ...] = ()
    editors: tuple[PersonName, ...] = ()
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
) -> NormalisedReference:
    """Return the comparable form of a reference, from the texts of its fields by name."""
    texts = {name: tidy(text, name) for name, text in fields.items()}
    volume, number = parse_volume(texts.get("volume", ""))
    date = texts.get("date", "")
    return NormalisedReference(
        authors=parse_names(fields.get("author", ""), is_first_name),
        editors=parse_names(fields.get("editor", ""), is_first_name),
        title=texts.get("title", ""),
        year=parse_year(date) or parse_year(texts.get("booktitle", "")) or parse_year(texts.get("note", "")),
        month=parse_month(date),
        venue=_venue(texts),
        venue_kind=venue_kind(texts),
        volume=volume,
        number=number,
        pages=parse_pages(_PAGE_COUNT.sub("", texts.get("pages", ""))),
        publisher=texts.get("publisher", ""),
        institution=texts.get("institution", ""),
        location=texts.get("location", ""),
        note=texts.get("note", ""),
    )


def tidy(text: str, field: str = "") -> str:
    """Return the text on one line, without quotes around it and punctuation that separates it from the next."""
    line = " ".join(text.split())
    bare = _OPENED.sub("", _unbracketed(line.strip(f"{_QUOTES},;: ")))
    bare = bare if _dot_belongs(bare, field) else bare.removesuffix(".")
    bare = bare.strip(f"{_QUOTES},;: ")
    closing = line.rstrip(".,;: ")[-1:]
    if len(_DOUBLE_QUOTE.findall(bare)) % 2 and _DOUBLE_QUOTE.match(closing):
        bare += closing  # it closes a quotation inside the text
    return _IN.sub("", bare) if field == "booktitle" else bare


def _unbracketed(text: str) -> str:
    """Return the text without brackets around all of it, and without a bracket that has no counterpart."""
    inner = text.rstrip(".,;: ")
    if inner[:1] == "(" and inner.find(")") in {-1, len(inner) - 1}:
        return inner.strip("() ")
    return inner[:-1] if inner.endswith(")") and "(" not in inner else text


def _dot_belongs(text: str, field: str) -> bool:
    """Return True if the dot at the end belongs to an abbreviation.

    Names of journals abbreviate any word; titles and publishers do not.
    """
    if field in _SELDOM_ABBREVIATED:
        initial = _INITIALS_DOT if field == "title" else _INITIAL_DOT
        return bool(_ABBREVIATION.search(text) or initial.search(text))
    words = text.split()
    short = _SHORT_DOT.search(text) and (len(words) <= 3 or any(word.endswith(".") for word in words[:-1]))
    return bool(_INITIAL_DOT.search(text) or short)


def parse_volume(text: str) -> tuple[str, str]:
    """Return volume and number of `12(9)`, `Vol. 39, No. 9` or `16, 1`; empty if missing."""
    if both := _VOLUME_AND_ISSUE.search(text):
        return both[1], both[2]
    issue = _ISSUE.search(text)
    rest = text[: issue.start()] if issue else text
    volume = _VOLUME.search(rest)
    return volume[1] if volume else "", issue[1] if issue else ""


def venue_kind(fields: Mapping[str, str]) -> VenueKind:
    """Return the kind of the cited work, by which fields there are and the words in them."""
    booktitle = fields.get("booktitle", "")
    if fields.get("tech"):
        return "thesis" if _KINDS[0][1].search(fields["tech"]) else "report"
    if fields.get("journal"):
        return "meeting" if _KINDS[2][1].match(fields["journal"]) else "journal"
    if booktitle:
        kind = next((kind for kind, pattern in _KINDS if pattern.search(booktitle)), None)
        return kind or ("chapter" if fields.get("editor") or fields.get("publisher") else "meeting")
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
    """Return the distinct e-mail addresses in a field.

    `{anna, berta}@one.example` and `anna, berta@one.example` are two addresses.
    """
    spread = _SHARED.sub(_spread, _ROW.sub(_spread, text))
    addresses = (address.replace(" ", "").strip(".-") for address in _MAIL_ADDRESS.findall(spread))
    return list(dict.fromkeys(addresses)) if not _is_pattern(spread) else []


def _spread(match: re.Match[str]) -> str:
    names, host = _BETWEEN.split(match[1]), match[2]
    return " ".join(f"{name.strip()}{host}" for name in names if name.strip())


def _is_pattern(text: str) -> bool:
    """Return True for `{Firstname}.{Lastname}@one.example`, which is no address."""
    return bool(re.search(r"[}\])]\s*\.?\s*[{\[(]?[\w.]*[}\])]?\s?@", text))


def in_mixed_case(name: str) -> str:
    """Return a name that is printed in capitals as it is usually written: BEN MCKAY is Ben McKay.

    >>> in_mixed_case("MARIE-LOUISE O'NEIL J. VAN DER WAAL")
    "Marie-Louise O'Neil J. van der Waal"
    """
    if not name.isupper() or not _CAPITALS.search(name):
        return name
    mixed = _CAPITALS.sub(lambda word: word[0].capitalize(), name)
    mixed = re.sub(r"\bMc([a-z])", lambda match: "Mc" + match[1].upper(), mixed)
    return re.sub(
        r"\b(?:Van|Von|Der|Den|Del|Dos|DE|DA|DI|DU|LA|TER)(?=\s+\w)", lambda word: word[0].lower(), mixed
    )
