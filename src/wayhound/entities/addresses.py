"""Postal addresses in running text of many countries, by post codes, states, street words and labels as evidence.

An address is found from an anchor that is hard to mistake (a post code beside a city, a state with a ZIP code, a line
after the word "address") and grows from there to the lines around it while they look like parts of an address.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from wayhound.entities.markup import format_parts
from wayhound.entities.page_lines import CACHED_LINES, PageLines
from wayhound.entities.places import (
    ADDRESS_LABEL,
    AU_STATES,
    BOX_WORDS,
    BR_STATES,
    CA_PROVINCES,
    COUNTRIES,
    COUNTRY_NAME,
    US_STATES,
    country_named,
    names_street,
    search_country,
)

MAX_ADDRESSES = 200
MAX_LINES_ABOVE = 4
MAX_PART_CHARS = 110
MAX_ADDRESS_CHARS = 220


class Address(NamedTuple):
    """An address as printed, on one line, with its place in the text and the evidence for it.

    `country` is a code of ISO 3166-1, or empty where the shape fits several and nothing decides.
    """

    text: str
    start: int
    end: int
    country: str
    post_code: str
    confidence: float


class _Anchor(NamedTuple):
    """The part of a line that is certainly of an address: from the city to the post code."""

    line: int
    start: int  # of the city, or of the code where that comes first; within the line
    end: int
    country: str
    post_code: str
    weight: float

    @property
    def code_first(self) -> bool:
        country = COUNTRIES.get(self.country)
        return bool(self.post_code) and country is not None and country.city == "after"


def _names(table: dict[str, str]) -> str:
    return "|".join(
        re.escape(name) for name in sorted({*table, *table.values()}, key=lambda name: -len(name))
    )


_PARTICLES = (
    "de do da di del la le les el los sur am an der im in und of on the upon bei ob nad u aan den a/d y"
)
_CAPITAL = "A-ZÀ-ÞĀ-ŽΆ-ΏΑ-ΫЀ-Я"
_CITY = (
    rf"(?:(?:г|гр|м|с)\. ?)?(?:[{_CAPITAL}][\w.'’/-]*(?:[ -](?:[{_CAPITAL}(][\w.'’/)-]*|"
    + "|".join(_PARTICLES.split())
    + r"))*)"
)
_CITY_LAST = re.compile(rf"{_CITY}$")
# These look behind after the first character: the engine skips to a range, but not to what is behind one.
_FIVE = re.compile(r"\d(?<![\w-]\d)\d{4}(?:-\d{4})?(?![\w-])")
_FOUR = re.compile(r"\d(?<![\w-]\d)\d{3}(?![\w-])")
# matched from the digits backwards: to try sixty names at every letter of a page costs ten times as much
_US_STATE = re.compile(rf"(?:^|[^\w])({_names(US_STATES)})\.?(?:,?\s+|\s*[-–|]\s*)$")
_AU_STATE = re.compile(rf"(?:^|[^\w])({_names(AU_STATES)}),?\s+$")
_CA = re.compile(
    rf"(?<!\w)(?:(?:{_names(CA_PROVINCES)}),?\s+)?(?P<code>[ABCEGHJ-NPRSTVXY]\d[A-Z] ?\d[A-Z]\d)(?!\w)"
)
_GB = re.compile(r"(?<!\w)(?P<code>[A-Z]{1,2}\d[A-Z\d]? \d[ABD-HJLNP-UW-Z]{2})(?!\w)")
_NL = re.compile(rf"([1-9](?<!\w\d)\d{{3}} ?[A-Z]{{2}}),?\s+({_CITY})")
_ANY_REGION = re.compile(
    rf"{_CITY}, [A-Z]{{2,3}} (?P<code>\d{{4,6}})(?![\w-])"
)  # of no country that is known here
_LETTER_CODE = re.compile(r"\d[A-Z]\d|\d[A-Z]{2}(?!\w)")
_JP = re.compile(r"(?<![\d-])〒?\s?(\d{3}[-－‐–]\d{4})(?![\d-])\s*")
_JP_PLACE = re.compile(r"[都道府県市区町村]")
_IN = re.compile(rf"({_CITY})\s*[-–—,:]?\s*(\d{{3}} ?\d{{3}})(?![\w-])")
_IN_SURE = re.compile(rf"({_CITY})\s*(?:[-–—]\s?(\d{{3}} ?\d{{3}})(?![\w-])|(\d{{6}}) \([A-Z]\. ?[A-Z]\.\))")
_BR = re.compile(r"(?<!\d)(?P<code>\d{5}-\d{3})(?!\d)")
_IE = re.compile(r"(?<!\w)(?P<code>(?:D6W|[AC-FHKNPRTV-Y]\d\d) ?[AC-FHKNPRTV-Y\d]{4})(?!\w)")
_LV = re.compile(r"(?<!\w)(?P<code>LV-\d{4})(?!\w)")
_AR = re.compile(rf"([A-HJ-NP-Z](?<!\w\w)\d{{4}}[A-Z]{{3}})\s+({_CITY})")
_IS = re.compile(rf"(?<![\w.,/+-])(\d{{3}})\s+({_CITY})$")
_CITY_CODE = re.compile(rf"({_CITY}),?\s+(\d{{4,7}})(?![\w-])")
_AFTER_CITY = {
    code: re.compile(country.post_code)
    for code, country in COUNTRIES.items()
    if (country.city == "before" or code == "UA")
    and country.post_code
    and code not in ("US", "CA", "GB", "AU", "IN", "BR", "IE", "LV")
}
# Chinese and Korean addresses run from the larger to the smaller, without spaces or without a code
_HAN = re.compile(
    r"(?:[\u4e00-\u9fff]{2,8}(?:省|自治区))?[\u4e00-\u9fff]{2,8}(?:市|縣|县)[\u4e00-\u9fff\w－-]{1,30}?\d+(?:[-－之]\d+)?"
    r"(?:号|號)(?:[\u4e00-\u9fff\w－-]{1,20})?"
)
_HANGUL = re.compile(
    r"[가-힣]{2,7}(?:시|도) [가-힣]{1,6}(?:시|군|구) (?:[가-힣\d]+ ){0,3}?[가-힣\d]+(?:로|길|동) ?\d+(?:-\d+)?"
)
_EAST_ASIAN = re.compile(r"[号號로길동]")
_CITY_FIRST = ((_CA, "CA", 0.75), (_GB, "GB", 0.7), (_BR, "BR", 0.65))
_COPYRIGHT = re.compile(r"©|\(c\)|copyright", re.IGNORECASE)
_NUMBER_WORD = re.compile(r"(?:One|Two|Three|Four|Five|Six|Seven|Eight|Nine|Ten|Twelve)\s[A-Z]")
_CODE_FIRST = re.compile(
    rf"(?<![\w.,/+-])((?:[A-Z]{{1,2}}[- ])?(?:\d{{4}}-\d{{3}}|\d{{2}}-\d{{3}}|\d{{3}} \d{{2}}|\d{{4,6}})),?\s+({_CITY})"
)
_MX = re.compile(r"C\.? ?P\.? ?(\d{5})(?!\d)", re.IGNORECASE)
_US_NO_ZIP = re.compile(rf"({_CITY}),\s*({'|'.join(US_STATES.values())})(?![\w'’])")
_BR_NO_CODE = re.compile(rf"({_CITY})\s*[-–—/,]\s*({'|'.join(sorted(BR_STATES))})(?!\w)")

_STREET_FIRST = re.compile(
    r"^(?:\([^()]{1,15}\)\s*)?((?:rua|av\.?|avenida|praça|travessa|alameda|estrada|calle|c/|carrera|cra\.?|paseo|plaza|via|"
    r"viale|piazza|corso|ul\.|ulica|al\.|strada|str\.)\s+[^\W\d].{1,40}?,?\s*(?:n[º°.o]?\s*)?\d{1,5}\w?)\b",
    re.IGNORECASE,
)
_PLACE_LINE = re.compile(r"[A-ZÀ-Ž][\w.'’ ]+(?:\s*[-–,/]\s*[A-ZÀ-Ž][\w.'’ ]+)*")
_REST_OF_CITY = re.compile(r"(?:[ /,(]+[^\W\d]+){1,2}\)?")
_BARE = 0.42  # a street and a place without any code
_LABELLED = 0.5  # after "address" or "location"

_ANY_LABEL = re.compile(
    r"^[^\d:：]{2,28}(?<!\bno)(?<!\bnr)[:：]\s*", re.IGNORECASE
)  # "Cad. No: 5" is a street
_CUT = re.compile(
    r"\s*(?:[|•·»▪]|\s[-–—]\s(?=(?:map|view|get|tel|phone))|\(?map\b|\btel\b|\btél|\btelef|\bphone\b|\bfon\b"
    r"|\bfax\b|\be-?mail\b|\bmobil|☎|✆|https?:|www\.|\S+@\S)",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"\d(?<![\w.,]\d)\d{0,5}(?:[-/–]\d{1,5})?\s?[A-Za-z]?(?!\w)")
_HOUSE_FIRST = re.compile(r"^\W*\d{1,6}(?:[-/–&]\s?\w{1,6})?\s?[A-Za-z]?(?:[ ,]|\s(?:1/2|½))\s*\w")
_GRID = re.compile(r"\d+ [NSEW]\.? \d+ [NSEW]\b")
_NAME_NUMBER = re.compile(
    r"^[^\W\d][\w.'’() -]{2,45}?,?\s(?:(?:n[r.º°o]?|no\.?)\s*)?\d{1,5}\s?(?:[-/–]\s?\w{1,4}){0,3}\s?[A-Za-z]?\W*$"
)
_UNIT = re.compile(
    r"^\W*(?:suite|ste|unit|floor|fl|room|apt|building|bldg|level|shop|no|\d+(?:st|nd|rd|th) floor|#)\b",
    re.IGNORECASE,
)
_BOX = re.compile(rf"\b{BOX_WORDS}\b", re.IGNORECASE)
_SENTENCE = re.compile(r"[.!?]\s+[A-Z][a-z]+ [a-z]+ [a-z]+")
# Cheap tests that rule out most lines; each begins with a range, which the regular expression engine skips to.
_HAS_DIGITS = re.compile(
    r"[0-9](?:[0-9]{2}| ?[A-Z]|[0-9]? [0-9]+[a-z]|[-0-9]*[号號])|[가-힣] ?[0-9]|[,.] [A-Z][a-z]+\W*$"
)
_CODE_SHAPE = re.compile(
    r"[0-9]{2}(?:[0-9]{2}|[0-9] [0-9]{2}|-[0-9]{3}|[0-9] [A-ZÀ-Ž]| [A-Z][0-9A-Z]{3}(?!\w))"
)
_CODE_LAST = re.compile(r"(?<=, )\d{5,6}$")  # after the house, as in Russia
_DIGIT_GROUPS = re.compile(r"[0-9](?<![0-9]{2})(?<![0-9][-.,/:][0-9])[0-9]*")
_SIX = re.compile(r"[0-9]{3} ?[0-9]{3}(?![\w-])")
_REGION_CODE = re.compile(r"[A-Z]{2,3} [0-9]{4,6}(?![\w-])")
_REGION = re.compile(r"[-–—/,]\s*[A-Z]{2}(?![\w'’])")


def find_addresses(page: PageLines, hints: Sequence[str] = ()) -> list[Address]:
    """Return the addresses on a page, best first. `hints` are the likeliest countries of the site, likeliest first."""
    found: dict[str, Address] = {}
    taken: list[tuple[int, int]] = []
    page = _rejoined(page)
    for anchor in sorted(_anchors(page, hints), key=lambda anchor: -anchor.weight):
        address = _grow(page, anchor, hints)
        if address is None or any(start < address.end and address.start < end for start, end in taken):
            continue
        taken.append((address.start, address.end))
        found.setdefault(address.text.casefold(), address)
        if len(found) >= MAX_ADDRESSES:
            break
    addresses = [*found.values(), *_from_labels(page)] or list(_streets_alone(page))
    return sorted(addresses, key=lambda address: (-address.confidence, address.start))


# Addresses whose parts have lines of their own

_REGIONS = frozenset(
    name for table in (US_STATES, CA_PROVINCES, AU_STATES) for name in (*table, *table.values())
)
_CODE_LINE = re.compile(
    rf"(?P<region>(?:{_names(US_STATES)}|{_names(AU_STATES)})\.?[\s,–-]+)?"
    r"(?:\d{5}-\d{4}|(?:[A-Z]{1,2}-)?\d{4,6}|\d{2}-\d{3}|\d{3} \d{2}|\d{4}-\d{3})"
)
_TOWN = re.compile(rf"{_CITY},?")
_TOWN_AND_REGION = re.compile(rf"{_CITY},?\s+(?:{'|'.join((*US_STATES.values(), *AU_STATES.values()))}),?")
_MAX_CODE_LINE = 30


def _rejoined(page: PageLines) -> PageLines:
    """Return a page where a town, its region and its post code on lines of their own are one line.

    A break between lines becomes a space, so that all offsets stay as they are.
    """
    windows = [
        window for index in page.digit_lines if (window := _split_parts(page.lines, index)) is not None
    ]
    if not windows:
        return page
    lines: list[str] = []
    done = 0
    for first, last in windows:
        if first >= done:
            lines += (*page.lines[done:first], " ".join(page.lines[first : last + 1]))
            done = last + 1
    return PageLines(page.url, page.title, page.language, page.headings, (*lines, *page.lines[done:]))


def _split_parts(lines: Sequence[str], index: int) -> tuple[int, int] | None:
    """Return the first and the last line of a town with its post code, if they are not one line already."""
    line = lines[index].rstrip(" ,.") if len(lines[index]) <= _MAX_CODE_LINE else ""
    code = _CODE_LINE.fullmatch(line) if line[-1:].isdecimal() else None
    if code is None or not index:
        return None
    above = lines[index - 1]
    is_town = len(above) < 40 and _TOWN.fullmatch(above) is not None
    if (code["region"] and is_town) or (len(above) < 40 and _TOWN_AND_REGION.fullmatch(above)):
        return index - 1, index
    if above.rstrip(" ,.") in _REGIONS and index > 1 and _TOWN.fullmatch(lines[index - 2]):
        return index - 2, index
    if is_town and index > 1 and _is_street(lines[index - 2]):
        return index - 1, index
    below = lines[index + 1] if index + 1 < len(lines) else ""
    if _is_street(above) and len(below) < 40 and _TOWN.fullmatch(below):
        return index, index + 1
    return None


_PARTS = {
    "streetAddress": r"street(?: address)?|address(?: line)?(?: ?1)?|stra(?:ß|ss)e|rue|calle|dirección|indirizzo|ulica",
    "addressLocality": r"city|town|city/town|suburb|ort|stadt|ville|ciudad|localidad|cidade|città|miasto|plaats",
    "addressRegion": r"state|province|county|region|bundesland|estado|provincia",
    "postalCode": r"zip|zip ?code|postal code|post ?code|plz|postleitzahl|code postal|código postal|cep|cap|postcode",
}
_PART_LABEL = re.compile("|".join(rf"(?P<{name}>{words})" for name, words in _PARTS.items()), re.IGNORECASE)
_PARTS_APART = 8  # lines from the post code to the other parts


def _from_labels(page: PageLines) -> Iterator[Address]:
    """Yield addresses whose parts stand after their names: "City: Springfield", as in tables."""
    lines = page.lines
    for index in page.digit_lines:
        labelled = (
            _labelled_part(lines[index - 1], lines[index]) if index and len(lines[index]) < 40 else None
        )
        if labelled is None or labelled[0] != "postalCode":
            continue
        first, last = max(0, index - _PARTS_APART), min(len(lines), index + _PARTS_APART)
        parts = {"postalCode": (index, labelled[1])}
        for line in range(first, last):
            if part := _labelled_part(lines[line - 1] if line else "", lines[line]):
                parts.setdefault(part[0], (line, part[1]))
        if {"streetAddress", "addressLocality"} <= parts.keys() and _is_street(parts["streetAddress"][1]):
            places = [line for line, _ in parts.values()]
            start, end = page.starts[min(places)], page.starts[max(places)] + len(lines[max(places)])
            text = format_parts({name: value for name, (_, value) in parts.items()})
            yield Address(text, start, end, "", labelled[1], _LABELLED + 0.25)


def _labelled_part(above: str, line: str) -> tuple[str, str] | None:
    """Return the part of an address that a line is and its value, where a label stands before it or above it."""
    label, colon, value = line.partition(":")
    if not colon or not value.strip():
        label, value = above, line
    name = _part_named(label) if len(label) < 30 else None
    return (name, value.strip()) if name else None


@lru_cache(maxsize=CACHED_LINES)
def _part_named(label: str) -> str | None:
    name = _PART_LABEL.fullmatch(label.strip(" :*"))
    return name.lastgroup if name else None


_STREET_ALONE = re.compile(
    r"\d{1,5}[A-Za-z]?(?:-\d{1,4})? (?:[NSEW]{1,2}\.? )?[A-Z0-9][\w.'’ -]{1,40}?"
    r"(?: \([^()]{2,50}\))?(?:, [A-Z][\w.'’ ]{1,25}){0,2}"
)
_PHONE_NEAR = re.compile(r"\d{3}\)?[-./ ]{1,2}\d{3}[-. ]\d{4}")
_NEAR_LINES = 3


def _streets_alone(page: PageLines) -> Iterator[Address]:
    """Yield streets without a city or a number, as guides print them, right above or below a phone number."""
    phones = [index for index in page.digit_lines if _PHONE_NEAR.search(page.lines[index])]
    near = {index + step for index in phones for step in range(-_NEAR_LINES, _NEAR_LINES + 1)}
    for index in sorted(near):
        line = page.lines[index].rstrip(" ,;") if 0 <= index < len(page.lines) else ""
        is_street = _STREET_ALONE.fullmatch(line) or (_US_NO_ZIP.search(line) and "," in line)
        if not is_street or len(line) > MAX_PART_CHARS or not names_street(line.partition(",")[0]):
            continue
        below = page.lines[index + 1] if index + 1 < len(page.lines) else ""
        end = page.starts[index] + len(line)
        if "," not in line and len(below) < 30 and _TOWN.fullmatch(below):
            line, end = f"{line}, {below.rstrip(' ,')}", page.starts[index + 1] + len(below)
        yield Address(line, page.starts[index], end, _likely_country(line, ()), "", 0.55)


# Anchors


def _anchors(page: PageLines, hints: Sequence[str]) -> Iterator[_Anchor]:
    lines = page.lines
    likely = tuple(hints)
    for index in page.label_lines:
        yield from _labelled(page, index)
    for index in page.digit_lines:
        text = lines[index]
        anchors, street = _line_anchors(text, likely)
        for anchor in anchors:
            yield _Anchor(index, anchor.start, anchor.end, anchor.country, anchor.post_code, anchor.weight)
        below = lines[index + 1] if index + 1 < len(lines) else ""
        if below[-2:].isupper() and len(below) < 40 and _US_NO_ZIP.fullmatch(below) and _is_street(text):
            yield _Anchor(index, 0, len(text), "", "", _BARE)
        elif (
            street is not None
            and _PLACE_LINE.fullmatch(below)
            and len(below) < 60
            and not (_COPYRIGHT.search(below) or search_country(text))
        ):
            yield _Anchor(index, street, len(text), "", "", _BARE)


@lru_cache(maxsize=CACHED_LINES)
def _line_anchors(text: str, hints: tuple[str, ...]) -> tuple[tuple[_Anchor, ...], int | None]:
    """Return the anchors of one line, as if it were the first, and where a street begins that it may be all of.

    The pages of a site share most of their lines, so the answers are kept.
    """
    anchors: list[_Anchor] = []
    street: int | None = None
    if not _HAS_DIGITS.search(text):
        return (), None
    if _CODE_SHAPE.search(text) or _LETTER_CODE.search(text):
        anchors += _post_codes(0, text, hints)
    if not text.isascii() and _EAST_ASIAN.search(text):
        anchors += _from_large_to_small(0, text, hints)
    if len(text) < 200 and (_NUMBER.search(text) or _UNIT.match(text)) and not ADDRESS_LABEL.match(text):
        anchors += _without_code(0, text)
        if len(text) < 70 and (match := _STREET_FIRST.match(text)):
            street = match.start(1)
    return tuple(anchors), street


def _post_codes(index: int, text: str, hints: Sequence[str]) -> Iterator[_Anchor]:
    # digits inside of phone numbers, dates and prices are no codes; each pattern is tried only where its shape occurs
    sizes = set(map(len, _DIGIT_GROUPS.findall(text)))
    if 5 in sizes:
        yield from _after_state(index, text, _FIVE, _US_STATE, "US")
    if 4 in sizes:
        yield from _after_state(index, text, _FOUR, _AU_STATE, "AU")
    letters = _CITY_FIRST[:2] if _LETTER_CODE.search(text) else ()
    for pattern, country, weight in (*letters, *(_CITY_FIRST[2:] if 5 in sizes and "-" in text else ())):
        for match in pattern.finditer(text):
            city = _city_start(text, match.start())
            yield _Anchor(index, city, match.end(), country, match["code"], weight)
    for match in _NL.finditer(text) if 4 in sizes else ():
        yield _Anchor(index, match.start(), match.end(), "NL", match[1], 0.7)
    for match in _MX.finditer(text) if 5 in sizes else ():
        yield _Anchor(index, match.start(), len(text), "MX", match[1], 0.6)
    is_code = not sizes.isdisjoint((4, 5, 6, 7))
    for match in _ANY_REGION.finditer(text) if is_code and _REGION_CODE.search(text) else ():
        yield _Anchor(index, match.start(), match.end(), "", match["code"], 0.46)
    yield from _asian_codes(index, text, hints)
    yield from _codes_of_few(index, text, hints, sizes)
    yield from _code_after_street(index, text, hints)
    for match in _CODE_FIRST.finditer(text) if is_code or {2, 3} <= sizes or "-" in text else ():
        is_year = len(match[1]) == 4 and _COPYRIGHT.search(text, 0, match.start())
        if not is_year and (country := _code_country(match[1], hints)):
            yield _Anchor(index, match.start(), match.end(), country, match[1], 0.55)


def _code_after_street(index: int, text: str, hints: Sequence[str]) -> Iterator[_Anchor]:
    """Yield a code of the likeliest country at the end of a line with a street."""
    last = _CODE_LAST.search(text) if text[-1:].isdecimal() else None
    shape = _SHAPES.get(hints[0]) if hints else None
    if last and shape and shape.fullmatch(last[0]) and text.count(",") >= 2 and names_street(text):
        yield _Anchor(index, last.start(), last.end(), hints[0], last[0], 0.6)


def _codes_of_few(index: int, text: str, hints: Sequence[str], sizes: set[int]) -> Iterator[_Anchor]:
    """Yield codes whose shape is not telling by itself: the site or the line must be of their country."""
    for pattern, country, weight in ((_IE, "IE", 0.65), (_LV, "LV", 0.7)):
        if "LV-" in text if country == "LV" else "IE" in hints or "Ireland" in text:
            for match in pattern.finditer(text):
                yield _Anchor(
                    index, _city_start(text, match.start()), match.end(), country, match["code"], weight
                )
    for match in _AR.finditer(text) if 4 in sizes else ():
        yield _Anchor(index, match.start(), match.end(), "AR", match[1], 0.7)
    if "IS" in hints[:2] and (icelandic := _IS.search(text)):
        yield _Anchor(index, *icelandic.span(), country="IS", post_code=icelandic[1], weight=0.55)
    if sizes.isdisjoint((4, 5, 6, 7)):
        return
    named = search_country(text)
    likely = [country_named(named[0])] if named else [hint for hint in hints if hint in _AFTER_CITY][:1]
    if likely and (shape := _AFTER_CITY.get(likely[0])) and not _COPYRIGHT.search(text):
        for match in _CITY_CODE.finditer(text):
            if shape.fullmatch(match[2]):
                yield _Anchor(index, match.start(), match.end(), likely[0], match[2], 0.6)


def _from_large_to_small(index: int, text: str, hints: Sequence[str]) -> Iterator[_Anchor]:
    for match in _HAN.finditer(text):
        country = "TW" if "號" in match[0] or "TW" in hints[:2] else "CN"
        yield _Anchor(index, match.start(), match.end(), country, "", 0.7)
    for match in _HANGUL.finditer(text):
        yield _Anchor(index, match.start(), match.end(), "KR", "", 0.7)


def _asian_codes(index: int, text: str, hints: Sequence[str]) -> Iterator[_Anchor]:
    for match in () if text.isascii() else _JP.finditer(text):
        if "〒" in match[0] or _JP_PLACE.search(text, match.end(), match.end() + 12):
            yield _Anchor(index, match.start(), len(text), "JP", match[1], 0.8)
    indian = _IN if "IN" in hints or "India" in text else _IN_SURE
    for match in indian.finditer(text) if _SIX.search(text) else ():
        code = next(group for group in match.groups()[1:] if group)
        yield _Anchor(index, match.start(), _with_state(text, match.end()), "IN", code, 0.6)


def _after_state(
    index: int, text: str, code: re.Pattern[str], state: re.Pattern[str], country: str
) -> Iterator[_Anchor]:
    for match in code.finditer(text):
        offset = max(0, match.start() - 32)
        if before := state.search(text[offset : match.start()]):
            city = _city_start(text, offset + before.start(1))
            yield _Anchor(index, city, match.end(), country, match[0], 0.75)


def _city_start(text: str, end: int) -> int:
    """Return where the city before a state or a post code begins; streets come before a comma or a digit."""
    before = text[:end].rstrip(" ,-–|")
    match = _CITY_LAST.search(before[-50:])
    return len(before) - len(before[-50:]) + match.start() if match else end


def _with_state(text: str, end: int) -> int:
    """Include a state in brackets after an Indian post code."""
    match = re.match(r"\s*\([^()]{2,20}\)", text[end:])
    return end + match.end() if match else end


_SHAPES = {code: re.compile(country.post_code) for code, country in COUNTRIES.items()
           if country.city == "after" and country.post_code and code not in ("JP", "TW", "IS", "NL")}  # fmt: skip


def _code_country(code: str, hints: Sequence[str]) -> str:
    """Return the likeliest country whose post codes look like this; empty if the hints name none of them."""
    fitting = [country for country, shape in _SHAPES.items() if shape.fullmatch(code)]
    return next((country for country in hints if country in fitting), "") or (
        fitting[0] if fitting and ("-" in code or " " in code or len(code) == 5) else ""
    )


def _labelled(page: PageLines, index: int) -> Iterator[_Anchor]:
    """Yield what follows the word "address" on its line, or the line below."""
    line = page.lines[index]
    match = ADDRESS_LABEL.match(line)
    assert match is not None
    rest = line[match.end() :].strip()
    if len(rest) > 5:
        yield _Anchor(index, match.end(), len(line), "", "", _LABELLED)
    elif not rest and index + 1 < len(page.lines):
        below = page.lines[index + 1]
        if not _ANY_LABEL.match(below) and len(below) < MAX_ADDRESS_CHARS:
            yield _Anchor(index + 1, 0, len(below), "", "", _LABELLED)


def _without_code(index: int, text: str) -> Iterator[_Anchor]:
    for pattern, country in ((_US_NO_ZIP, "US"), (_BR_NO_CODE, "BR")) if _REGION.search(text) else ():
        for match in pattern.finditer(text):
            if names_street(text[: match.start()]) or _BOX.search(text):
                yield _Anchor(index, match.start(), match.end(), country, "", 0.45)
    named = search_country(text) if len(text) < 120 else None
    listed = named is not None and text.endswith(named[0]) and text.count(",") >= 2
    if named is not None and (listed or names_street(text[: named.start()])):
        yield _Anchor(index, named.start(), named.end(), country_named(named[0]), "", 0.4)


# Growing


def _grow(page: PageLines, anchor: _Anchor, hints: Sequence[str]) -> Address | None:
    lines = page.lines
    line = lines[anchor.line]
    end_line, end = _grow_down(lines, anchor)
    if anchor.weight == _BARE:
        end_line, end = anchor.line + 1, len(lines[anchor.line + 1])
    before = _own_line_start(line, anchor)
    own = line[before : anchor.start if anchor.code_first else anchor.end]
    own = own.replace(anchor.post_code, " ") if anchor.post_code else own
    pieces: list[tuple[int, int, int]] = [
        (anchor.line, before, end if end_line == anchor.line else len(line))
    ]
    street = _is_street(own) or (anchor.country == "JP") or (not anchor.post_code and anchor.weight >= _BARE)
    if not street and anchor.post_code:
        above = _lines_above(lines, anchor)
        street = bool(above)
        pieces = [*above, *pieces]
    if not street and end_line == anchor.line:
        cut = _CUT.search(line, end)
        rest = line[end : cut.start() if cut else len(line)].rstrip(" ,;")
        if street := len(rest) < MAX_PART_CHARS and rest.startswith(",") and _is_street(rest):
            end += len(rest)
            pieces = [(anchor.line, before, end)]
    if end_line != anchor.line:
        pieces += [(index, 0, len(lines[index])) for index in range(anchor.line + 1, end_line)]
        pieces.append((end_line, 0, end))
    text = ", ".join(piece for piece in (_tidy(lines[i][a:b]) for i, a, b in pieces) if piece)
    if not text or len(text) > MAX_ADDRESS_CHARS or not _LETTERS.search(text):
        return None
    strong_shape = anchor.country in ("US", "CA", "GB", "JP")
    if not street and not strong_shape:
        return None
    if anchor.weight == _LABELLED and not (_NUMBER.search(text) or names_street(text) or "," in text):
        return None  # after a label, but nothing of an address in it
    first, last = pieces[0], pieces[-1]
    country = _country_at_end(text) or anchor.country or _country_in(text) or _likely_country(text, hints)
    confidence = (
        anchor.weight + (0.2 if street else -0.25) + (0.05 if country and country in hints[:2] else 0.0)
    )
    return Address(
        text, page.starts[first[0]] + first[1], page.starts[last[0]] + last[2], country, anchor.post_code,
        round(min(0.97, confidence), 3),
    )  # fmt: skip


_BEFORE_ADDRESS = re.compile(r"[|•·»▪>©]|\s{2,}|[.!?]\s(?=[A-Z][a-z]+\s[a-z]+\s[a-z])")


def _own_line_start(text: str, anchor: _Anchor) -> int:
    """Return where the address begins on the anchor's own line: after a label, a separator, or running text."""
    start = max(0, anchor.start - MAX_PART_CHARS)
    label = ADDRESS_LABEL.match(text) or _ANY_LABEL.match(text)
    if label:
        start = max(start, label.end() if label.end() <= anchor.start else start)
    head = text[start : anchor.start]
    pieces = [start, *(start + separator.end() for separator in _BEFORE_ADDRESS.finditer(head))]
    if (
        len(pieces) > 1
        and not text[pieces[-1] : anchor.start].strip()
        and _is_street(text[pieces[-2] : pieces[-1]].strip(" |•·"))
    ):
        pieces.pop()  # the separator stands between street and city
    start = pieces[-1]
    head = text[start : anchor.start]
    if (
        len(head) > 60
        and label is None
        and (number := re.search(r"(?<![\w.,])\d{1,6}[A-Za-z]?(?:-\d+)?,?\s+[A-Z0-9]", head))
    ):
        start += number.start()
    return start + (len(text[start:]) - len(text[start:].lstrip(" ,;:-–—|")))


def _grow_down(lines: Sequence[str], anchor: _Anchor) -> tuple[int, int]:
    """Return the line and the offset where the address ends: a country, or the rest of a labelled line."""
    text = lines[anchor.line]
    end = anchor.end
    if not anchor.post_code or anchor.country in ("JP", "MX"):
        cut = _CUT.search(text, anchor.start)
        end = min(end, cut.start()) if cut and cut.start() > anchor.start else end
    if anchor.code_first and _REST_OF_CITY.fullmatch(text, end):
        end = len(text)  # "Novo mesto", "Pentling / Poign"
    tail = text[end:]
    if more := _BEFORE_COUNTRY.match(tail):
        named = COUNTRY_NAME.match(tail, more.end())
        if named:
            return anchor.line, end + named.end()
    if (region := _REGION_AND.match(tail)) and (named := COUNTRY_NAME.match(tail, region.end())):
        return anchor.line, end + named.end()
    if not tail.strip(" ,.") and anchor.line + 1 < len(lines):
        return _lines_below(lines, anchor, end)
    return anchor.line, end


_BEFORE_COUNTRY = re.compile(r"[\s,(–—-]*")
_REGION_AND = re.compile(r",\s*[^\W\d][^\d,|]{1,30},\s*")  # ", Auckland, New Zealand"

_DISTRICT = re.compile(
    r"(?:del(?:egación|\.)|alcaldía|col(?:onia|\.)|municipio|ciudad|cdmx|edo\.)", re.IGNORECASE
)


def _lines_below(lines: Sequence[str], anchor: _Anchor, end: int) -> tuple[int, int]:
    """Return where an address ends that fills its last line: after a country, a district, or a comma's line."""
    last, text = (anchor.line, end), lines[anchor.line]
    for index in range(anchor.line + 1, min(len(lines), anchor.line + 4)):
        below = lines[index]
        if COUNTRY_NAME.fullmatch(below.strip(" .,")):
            return index, len(below)
        japanese = anchor.country == "JP" and index == anchor.line + 1 and bool(_JP_PLACE.search(below))
        continued = anchor.country in ("MX", "") and (text.endswith(",") or _DISTRICT.match(below))
        if (
            len(below) > 60
            or _ANY_LABEL.match(below)
            or not ((japanese and not _is_place(text)) or continued)
        ):
            break
        last, text = (index, len(below)), below
    return last


def _is_place(text: str) -> bool:
    return bool(_JP_PLACE.search(text))


_Piece = tuple[int, int, int]
"""A line, and where a part of it begins and ends."""


def _lines_above(lines: Sequence[str], anchor: _Anchor) -> list[_Piece]:
    """Return the lines above a line with city and post code that hold the street, without the name above them."""
    taken: list[_Piece] = []
    may_skip = not anchor.code_first
    for index in range(anchor.line - 1, max(-1, anchor.line - 1 - MAX_LINES_ABOVE), -1):
        text = lines[index]
        start = _after_label(text)
        part = text[start:]
        if len(part) > MAX_PART_CHARS or _SENTENCE.search(part):
            break
        is_unit = _UNIT.match(part) is not None
        if _is_street(part) or (anchor.code_first and _NAME_NUMBER.match(part)) or is_unit:
            taken.insert(0, (index, start, len(text)))
            if start or not is_unit:
                break
        elif may_skip and not taken and len(part) < 45 and not start:
            may_skip = False  # a button between street and city, or a district of its own
        else:
            break
    if not taken and not anchor.code_first:
        return _american_street(lines, anchor) or _block_above(lines, anchor)
    return [*_up_to_label(lines, taken[0][0]), *taken] if taken else []


# right above a city with its state and post code: "18300 FM 1826", "3rd & Poyntz"
_AMERICAN_STREET = re.compile(
    r"\d{1,6}[A-Za-z]? (?=[^a-z]*[A-Za-z])\w[\w .'&#/-]{1,40}"
    r"|(?=.*\d)[\w.]+(?: [\w.]+){0,2} (?:&|and|at) ?[\w.]+(?: [\w.]+){0,2}"
)


def _american_street(lines: Sequence[str], anchor: _Anchor) -> list[_Piece]:
    if anchor.country in ("US", "CA"):
        for index in range(anchor.line - 1, max(-1, anchor.line - 3), -1):
            if _AMERICAN_STREET.fullmatch(lines[index].rstrip(" ,")):
                return [(index, 0, len(lines[index]))]
    return []


_BLOCK_LINE = re.compile(rf"[{_CAPITAL}\d][\w.,'’&()/ -]{{1,48}}")


def _block_above(lines: Sequence[str], anchor: _Anchor) -> list[_Piece]:
    """Return a block of short lines that begins with a street, as in Britain, where town and county have their own."""
    top = anchor.line
    for index in range(anchor.line - 1, max(-1, anchor.line - 1 - MAX_LINES_ABOVE), -1):
        part = lines[index]
        if not _BLOCK_LINE.fullmatch(part):
            break
        if _is_street(part) or _UNIT.match(part) or names_street(part):
            top = index
    return [(index, 0, len(lines[index])) for index in range(top, anchor.line)]


def _up_to_label(lines: Sequence[str], first: int) -> list[_Piece]:
    """Return the lines between the word "address" and the street, if they look like parts of an address."""
    for label in range(first - 1, max(-1, first - 3), -1):
        if ADDRESS_LABEL.match(lines[label]):
            between = range(label + 1, first)
            fits = all(names_street(lines[index]) or "," in lines[index] for index in between)
            return [(index, 0, len(lines[index])) for index in between] if fits else []
    return []


@lru_cache(maxsize=CACHED_LINES)
def _after_label(text: str) -> int:
    label = ADDRESS_LABEL.match(text) or _ANY_LABEL.match(text)
    return label.end() if label else 0


@lru_cache(maxsize=CACHED_LINES)
def _is_street(text: str) -> bool:
    """Return True for a street with a number, a box, or a crossing of streets."""
    if not text.strip() or len(text) > MAX_PART_CHARS:
        return False
    if _BOX.search(text):
        return True
    has_word = names_street(text)
    if _NUMBER.search(text) or _NUMBER_WORD.match(text):
        return (
            has_word
            or bool(_GRID.search(text))
            or bool(_HOUSE_FIRST.match(text) and re.search(r"[A-Za-zÀ-ž]{3}", text))
            or bool(_NAME_NUMBER.match(text.strip(" ,")))
        )
    return has_word and bool(re.search(r"\d|&|\band\b| at ", text))


def _likely_country(text: str, hints: Sequence[str]) -> str:
    """Return the country of an address without one: by its state, or the site's; every site may be American."""
    if _REGION.search(text) and _US_NO_ZIP.search(text):
        return "US"
    return hints[0] if hints and hints[0] != "US" else ""


def _country_at_end(text: str) -> str:
    """Return the country that an address ends with, which decides whatever its post code looks like."""
    last = text.rpartition(",")[2].strip(" .")
    return country_named(last) if len(last) > 3 and last not in US_STATES else ""


def _country_in(text: str) -> str:
    named = search_country(text)
    return country_named(named[0]) if named else ""


def _tidy(text: str) -> str:
    return _SEPARATORS.sub(", ", text.strip(" ,;:|–—-\t")).strip()


_SEPARATORS = re.compile(r"\s*[|•·]\s*")
_LETTERS = re.compile(r"\w{2}")
