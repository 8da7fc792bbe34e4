"""Facts with their evidence, and how two values of a field are compared."""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from difflib import SequenceMatcher
from functools import lru_cache
from importlib.resources import files
from typing import NamedTuple

from wayhound.entities.contacts import normal_phone
from wayhound.entities.kept import keep
from wayhound.entities.places import AU_STATES, CA_PROVINCES, COUNTRIES, US_STATES
from wayhound.record_kinds import Compare
from wayhound.text.words import fold, plain_words

_NO_PARTS: Mapping[str, str] = {}


class Fact(NamedTuple):
    """One value of a field: its normal form, where it stands, how sure that is, and what it was read from.

    `start` and `end` are offsets in the visible text of the page (`PageLines.text`); both are 0 for what a page states
    for machines alone. `source` is `json-ld`, `microdata`, `rdfa`, `hcard`, `opengraph`, `tel`, `mailto`, `cloudflare`,
    `link`, `heading`, `title`, `label`, `taught`, `person` or `text`.
    """

    field: str
    text: str
    confidence: float
    source: str
    start: int = 0
    end: int = 0
    printed: str = ""
    country: str = ""
    parts: Mapping[str, str] = _NO_PARTS


@lru_cache(maxsize=1)
def _calibration() -> dict[str, list[tuple[float, float]]]:
    """Return the share of right values by field and evidence, as `python -m bench.entities --calibrate` measured it."""
    text = files("wayhound.entities").joinpath("calibration.json").read_text("utf-8")
    return {name: [(raw, share) for raw, share in points] for name, points in json.loads(text).items()}


def calibrated(
    name: str, evidence: float, tables: Mapping[str, Sequence[tuple[float, float]]] | None = None
) -> float:
    """Return the probability that a value is right, given the evidence for it from 0 to 1.

    Between two measured points it is interpolated. Fields that were not measured are taken as all others together.
    """
    if tables is None:
        return _calibrated(name, evidence)
    points = tables.get(name) or tables["*"]
    raws = [raw for raw, _ in points]
    place = bisect_right(raws, evidence)
    if place in (0, len(points)):
        return points[0 if place == 0 else -1][1]
    (low, first), (high, second) = points[place - 1], points[place]
    return round(first + (second - first) * (evidence - low) / (high - low), 4)


@lru_cache(maxsize=4_096)
def _calibrated(name: str, evidence: float) -> float:
    return calibrated(name, evidence, _calibration())


_ABBREVIATIONS = {
    "st": "street", "str": "strasse", "ave": "avenue", "av": "avenue", "avda": "avenida", "blvd": "boulevard",
    "bd": "boulevard", "rd": "road", "dr": "drive", "ln": "lane", "ct": "court", "pl": "place", "sq": "square",
    "hwy": "highway", "pkwy": "parkway", "ste": "suite", "n": "north", "s": "south", "e": "east", "w": "west",
    "ctr": "center", "centre": "center", "mt": "mount", "ft": "fort", "rte": "route", "bldg": "building",
    "fl": "floor", "cir": "circle", "plz": "plaza", "ter": "terrace", "tpke": "turnpike", "expy": "expressway",
}  # fmt: skip
_STATE_NAMES = {
    fold(name): fold(code) for table in (US_STATES, CA_PROVINCES, AU_STATES) for name, code in table.items()
}
_STATE = re.compile(
    "|".join(rf"\b{re.escape(name)}\b" for name in sorted(_STATE_NAMES, key=len, reverse=True))
)
_STATE_STARTS = frozenset(re.findall(r"\w+", name)[0] for name in _STATE_NAMES)
_COUNTRY_WORDS = {fold(name) for country in COUNTRIES.values() for name in country.names}
_COUNTRY_END = re.compile(
    rf"[\s,(]*(?:{'|'.join(re.escape(n) for n in sorted(_COUNTRY_WORDS, key=len, reverse=True))})\W*$"
)


_WORD = re.compile(r"\w+")
_COUNTRY_ENDS = frozenset(_WORD.findall(name)[-1] for name in _COUNTRY_WORDS)
_MAX_COUNTRY_CHARS = max(map(len, _COUNTRY_WORDS)) + 5


@keep
def address_words(text: str) -> tuple[str, ...]:
    """Return the words of an address with abbreviations of streets and states in one spelling, without the country."""
    folded = fold(text)
    words = _WORD.findall(folded)
    # most name no country and no state, and to try all names is slow
    if words and words[-1] in _COUNTRY_ENDS:
        country = _COUNTRY_END.search(folded, max(0, len(folded) - _MAX_COUNTRY_CHARS))
        folded = folded[: country.start()] if country else folded
    if not _STATE_STARTS.isdisjoint(words):
        folded = _STATE.sub(lambda match: _STATE_NAMES[match[0]], folded)
    folded = re.sub(r"(\w)(strasse|str)\b\.?", r"\1strasse", folded)
    return tuple(_ABBREVIATIONS.get(word, word) for word in plain_words(folded))


def canonical(compare: Compare, text: str) -> str:
    """Return a form in which equal values of a field are equal strings."""
    return _FORMS.get(compare, _plain_form)(text)


_URL_FRAME = re.compile(r"^https?://(?:www\.|[a-z]{2}-[a-z]{2}\.|m\.)?|[/?#]+$")


@keep
def _plain_form(text: str) -> str:
    return " ".join(plain_words(text))


_LEGAL = frozenset(
    "gmbh mbh ag kg ohg ug ev inc llc ltd limited corp corporation co company sa sas sarl srl spa bv nv oy ab as aps "
    "plc pty pvt private doo kft zrt sro sp zoo kk sl the".split()
)


@keep
def name_words(text: str) -> tuple[str, ...]:
    """Return the words of a name without articles and legal forms, unless nothing else is left."""
    words = [word for word in plain_words(text.replace("&", " and ")) if word != "and"]
    return tuple([word for word in words if word not in _LEGAL] or words)


_FORMS: dict[Compare, Callable[[str], str]] = {
    "phone": keep(lambda text: text if text.startswith("+") else re.sub(r"\D", "", text)),
    "email": lambda text: text.strip().lower(),
    "url": keep(lambda text: _URL_FRAME.sub("", text.strip().lower())),
    "address": keep(lambda text: " ".join(address_words(text))),
    "name": keep(lambda text: " ".join(name_words(text))),
}


def similarity(compare: Compare, one: str, other: str) -> float:
    """Return how alike two values are, from 0 to 1; 1 for values of equal form."""
    first, second = canonical(compare, one), canonical(compare, other)
    if first == second:
        return 1.0 if first else 0.0
    match compare:
        case "phone":
            if first.startswith("+") and second.startswith("+"):
                return 0.0
            shorter, longer = sorted((first.lstrip("+0"), second.lstrip("+0")), key=len)
            return 1.0 if len(shorter) >= 7 and longer.endswith(shorter) else 0.0
        case "email" | "url" | "coordinates":
            return 0.0
        case "address" | "name":
            return _word_overlap(first, second)
        case _:
            return SequenceMatcher(None, first[:200], second[:200], autojunk=False).ratio()


def _word_overlap(first: str, second: str) -> float:
    """F1 of the words that two texts share."""
    one, two = set(first.split()), set(second.split())
    shared = len(one & two)
    return 2 * shared / (len(one) + len(two)) if shared else 0.0


def normal_value(compare: Compare, text: str, regions: tuple[str, ...] = ()) -> str:
    """Return a value as it is kept: phones in international form where their country is known."""
    text = " ".join(text.split())
    if compare == "phone":
        for region in ("", *regions):
            if found := normal_phone(text, region):
                return found[0]
    return text.lower() if compare == "email" else text
