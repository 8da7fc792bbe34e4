"""Postal addresses in running text of many countries, by post codes, states, street words and labels as evidence.

An address is found from an anchor that is hard to mistake (a post code beside a city, a state with a ZIP code, a line
after the word "address") and grows from there to the lines around it while they look like parts of an address.
"""

from __future__ import annotations

import re
from bisect import bisect_right, insort
from collections.abc import Iterator, Sequence
from operator import itemgetter
from typing import NamedTuple

from wayhound.entities.address_anchors import (
    ANY_LABEL,
    BARE,
    CAPITAL,
    CITY,
    JP_PLACE,
    LABELLED,
    MAX_ADDRESS_CHARS,
    MAX_PART_CHARS,
    NAME_NUMBER,
    NUMBER,
    REGION,
    UNIT,
    US_NO_ZIP,
    AddressAnchor,
    any_name,
    find_anchors,
    is_street,
)
from wayhound.entities.kept import keep
from wayhound.entities.markup import format_parts
from wayhound.entities.page_lines import PageLines
from wayhound.entities.places import (
    ADDRESS_LABEL,
    AU_STATES,
    CA_PROVINCES,
    COUNTRY_NAME,
    US_STATES,
    country_named,
    country_of_street,
    names_street,
    search_country,
)

MAX_ADDRESSES = 200
MAX_LINES_ABOVE = 4
_AROUND = " ,;:-–—|"  # signs that may stand before an address


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


_REST_OF_CITY = re.compile(r"(?:[ /,(]+[^\W\d]+){1,2}\)?")
_CUT = re.compile(
    r"\s*(?:[|•·»▪]|\s[-–—]\s(?=(?:map|view|get|tel|phone))|\(?map\b|\btel\b|\btél|\btelef|\bphone\b|\bfon\b"
    r"|\bfax\b|\be-?mail\b|\bmobil|☎|✆|https?:|www\.|[^\s@]{1,64}@\S)",
    re.IGNORECASE,
)
_LOOK_AHEAD = 2 * MAX_ADDRESS_CHARS  # a line of thousands of addresses is not looked through for each
_SENTENCE = re.compile(r"[.!?]\s+[A-Z][a-z]+ [a-z]+ [a-z]+")


def find_addresses(page: PageLines, hints: Sequence[str] = ()) -> list[Address]:
    """Return the addresses on a page, best first. `hints` are the likeliest countries of the site, likeliest first."""
    found: dict[str, Address] = {}
    taken: list[tuple[int, int]] = []  # sorted, and none overlaps another
    page = _rejoined(page)
    for anchor in sorted(find_anchors(page, hints), key=lambda anchor: -anchor.weight):
        if taken and _is_taken(page, anchor, taken):
            continue
        address = _grow(page, anchor, hints)
        if address is None or _last_end(taken, address.end - 1) > address.start:
            continue
        insort(taken, (address.start, address.end))
        found.setdefault(address.text.casefold(), address)
        if len(found) >= MAX_ADDRESSES:
            break
    addresses = [*found.values(), *_from_labels(page)] or list(_streets_alone(page))
    return sorted(addresses, key=lambda address: (-address.confidence, address.start))


def _is_taken(page: PageLines, anchor: AddressAnchor, taken: Sequence[tuple[int, int]]) -> bool:
    """Return True if an anchor begins inside of an address, so that what grows from it would overlap that one."""
    line, offset = page.lines[anchor.line], page.starts[anchor.line]
    visible = len(line) - len(line[anchor.start :].lstrip(_AROUND))
    return _last_end(taken, offset + anchor.start) > offset + visible


def _last_end(taken: Sequence[tuple[int, int]], offset: int) -> int:
    """Return the end of the last address that begins at an offset or before it."""
    at = bisect_right(taken, offset, key=itemgetter(0))
    return taken[at - 1][1] if at else -1


# Addresses whose parts have lines of their own

_REGIONS = frozenset(
    name for table in (US_STATES, CA_PROVINCES, AU_STATES) for name in (*table, *table.values())
)
_CODE_LINE = re.compile(
    rf"(?P<region>(?:{any_name(US_STATES)}|{any_name(AU_STATES)})\.?[\s,–-]+)?"
    r"(?:\d{5}-\d{4}|(?:[A-Z]{1,2}-)?\d{4,6}|\d{2}-\d{3}|\d{3} \d{2}|\d{4}-\d{3})"
)
_TOWN = re.compile(rf"{CITY},?")
_TOWN_AND_REGION = re.compile(rf"{CITY},?\s+(?:{'|'.join((*US_STATES.values(), *AU_STATES.values()))}),?")
_MAX_CODE_LINE = 30


def _rejoined(page: PageLines) -> PageLines:
    """Return a page where a town, its region and its post code on lines of their own are one line.

    A break between lines becomes a space, so that all offsets stay as they are.
    """
    lines = page.lines
    windows = [
        window
        for index in page.digit_lines
        if (code := _code_line(lines[index])) is not None
        and (window := _split_parts(lines, index, code)) is not None
    ]
    if not windows:
        return page
    joined: list[str] = []
    done = 0
    for first, last in windows:
        if first >= done:
            joined += (*lines[done:first], " ".join(lines[first : last + 1]))
            done = last + 1
    return PageLines(page.url, page.title, page.language, page.headings, (*joined, *lines[done:]))


@keep
def _code_line(line: str) -> re.Match[str] | None:
    """Return the post code, maybe after a region, that is all of a line."""
    code = line.rstrip(" ,.") if len(line) <= _MAX_CODE_LINE else ""
    return _CODE_LINE.fullmatch(code) if code[-1:].isdecimal() else None


def _split_parts(lines: Sequence[str], index: int, code: re.Match[str]) -> tuple[int, int] | None:
    """Return the first and the last line of a town with its post code, if they are not one line already."""
    if not index:
        return None
    above = lines[index - 1]
    is_town = len(above) < 40 and _TOWN.fullmatch(above) is not None
    if (code["region"] and is_town) or (len(above) < 40 and _TOWN_AND_REGION.fullmatch(above)):
        return index - 1, index
    if above.rstrip(" ,.") in _REGIONS and index > 1 and _TOWN.fullmatch(lines[index - 2]):
        return index - 2, index
    if is_town and index > 1 and is_street(lines[index - 2]):
        return index - 1, index
    below = lines[index + 1] if index + 1 < len(lines) else ""
    if is_street(above) and len(below) < 40 and _TOWN.fullmatch(below):
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
        if not index or not (_names_code(lines[index]) or _names_code(lines[index - 1])):
            continue
        labelled = _labelled_part(lines[index - 1], lines[index]) if len(lines[index]) < 40 else None
        if labelled is None or labelled[0] != "postalCode":
            continue
        first, last = max(0, index - _PARTS_APART), min(len(lines), index + _PARTS_APART)
        parts = {"postalCode": (index, labelled[1])}
        for line in range(first, last):
            if part := _labelled_part(lines[line - 1] if line else "", lines[line]):
                parts.setdefault(part[0], (line, part[1]))
        if {"streetAddress", "addressLocality"} <= parts.keys() and is_street(parts["streetAddress"][1]):
            places = [line for line, _ in parts.values()]
            start, end = page.starts[min(places)], page.starts[max(places)] + len(lines[max(places)])
            text = format_parts({name: value for name, (_, value) in parts.items()})
            yield Address(text, start, end, "", labelled[1], LABELLED + 0.25)


def _labelled_part(above: str, line: str) -> tuple[str, str] | None:
    """Return the part of an address that a line is and its value, where a label stands before it or above it."""
    label, colon, value = line.partition(":")
    if not colon or not value.strip():
        label, value = above, line
    name = _part_named(label) if len(label) < 30 else None
    return (name, value.strip()) if name else None


@keep
def _names_code(line: str) -> bool:
    """Return True if a line is a label of a post code, or may begin with one."""
    label = line.lstrip(" :*").partition(":")[0]
    return len(label) < 30 and _part_named(label) == "postalCode"


@keep
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
    phones = [index for index in page.digit_lines if _has_phone(page.lines[index])]
    near = {index + step for index in phones for step in range(-_NEAR_LINES, _NEAR_LINES + 1)}
    for index in sorted(near):
        line = page.lines[index].rstrip(" ,;") if 0 <= index < len(page.lines) else ""
        label = _after_label(line)
        if not _is_street_alone(line[label:]):
            continue
        below = page.lines[index + 1] if index + 1 < len(page.lines) else ""
        start, end = page.starts[index] + label, page.starts[index] + len(line)
        line = line[label:]
        if "," not in line and len(below) < 30 and _TOWN.fullmatch(below):
            line, end = f"{line}, {below.rstrip(' ,')}", page.starts[index + 1] + len(below)
        yield Address(line, start, end, _likely_country(line, ()), "", 0.55)


@keep
def _is_street_alone(text: str) -> bool:
    """Return True for a street, maybe with a town."""
    if len(text) > MAX_PART_CHARS:
        return False
    has_shape = _STREET_ALONE.fullmatch(text) or ("," in text and US_NO_ZIP.search(text))
    return bool(has_shape) and names_street(text.partition(",")[0])


@keep
def _has_phone(line: str) -> bool:
    return _PHONE_NEAR.search(line) is not None


# Growing


def _grow(page: PageLines, anchor: AddressAnchor, hints: Sequence[str]) -> Address | None:
    lines = page.lines
    line = lines[anchor.line]
    end_line, end = _grow_down(lines, anchor)
    if anchor.weight == BARE:
        end_line, end = anchor.line + 1, len(lines[anchor.line + 1])
    before = _own_line_start(line, anchor)
    own = line[before : anchor.start if anchor.code_first else anchor.end]
    own = own.replace(anchor.post_code, " ") if anchor.post_code else own
    pieces: list[tuple[int, int, int]] = [
        (anchor.line, before, end if end_line == anchor.line else len(line))
    ]
    street = is_street(own) or (anchor.country == "JP") or (not anchor.post_code and anchor.weight >= BARE)
    if not street and anchor.post_code:
        above = _lines_above(lines, anchor)
        street = bool(above)
        pieces = [*above, *pieces]
    if not street and end_line == anchor.line:
        cut = _CUT.search(line, end, end + _LOOK_AHEAD)
        rest = line[end : cut.start() if cut else len(line)].rstrip(" ,;")
        if street := len(rest) < MAX_PART_CHARS and rest.startswith(",") and is_street(rest):
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
    if anchor.weight == LABELLED and not (NUMBER.search(text) or names_street(text) or "," in text):
        return None  # after a label, but nothing of an address in it
    first, last = pieces[0], pieces[-1]
    guess = anchor.country
    if anchor.code_first and guess not in hints:  # many countries have codes of this shape
        guess = country_of_street(text, anchor.post_code) or guess
    country = _country_at_end(text) or guess or _country_in(text) or _likely_country(text, hints)
    confidence = (
        anchor.weight + (0.2 if street else -0.25) + (0.05 if country and country in hints[:2] else 0.0)
    )
    return Address(
        text, page.starts[first[0]] + first[1], page.starts[last[0]] + last[2], country, anchor.post_code,
        round(min(0.97, confidence), 3),
    )  # fmt: skip


_BEFORE_ADDRESS = re.compile(r"[|•·»▪>©]|\s{2,}|[.!?]\s(?=[A-Z][a-z]+\s[a-z]+\s[a-z])")


def _own_line_start(text: str, anchor: AddressAnchor) -> int:
    """Return where the address begins on the anchor's own line: after a label, a separator, or running text."""
    start = max(0, anchor.start - MAX_PART_CHARS)
    label = ADDRESS_LABEL.match(text) or ANY_LABEL.match(text)
    if label:
        start = max(start, label.end() if label.end() <= anchor.start else start)
    head = text[start : anchor.start]
    pieces = [start, *(start + separator.end() for separator in _BEFORE_ADDRESS.finditer(head))]
    if (
        len(pieces) > 1
        and not text[pieces[-1] : anchor.start].strip()
        and is_street(text[pieces[-2] : pieces[-1]].strip(" |•·"))
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
    return len(text) - len(text[start:].lstrip(_AROUND))


def _grow_down(lines: Sequence[str], anchor: AddressAnchor) -> tuple[int, int]:
    """Return the line and the offset where the address ends: a country, or the rest of a labelled line."""
    text = lines[anchor.line]
    end = min(anchor.end, anchor.start + 2 * _LOOK_AHEAD)  # what is longer is no address
    if not anchor.post_code or anchor.country in ("JP", "MX"):
        cut = _CUT.search(text, anchor.start, anchor.start + _LOOK_AHEAD)
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


def _lines_below(lines: Sequence[str], anchor: AddressAnchor, end: int) -> tuple[int, int]:
    """Return where an address ends that fills its last line: after a country, a district, or a comma's line."""
    last, text = (anchor.line, end), lines[anchor.line]
    for index in range(anchor.line + 1, min(len(lines), anchor.line + 4)):
        below = lines[index]
        if COUNTRY_NAME.fullmatch(below.strip(" .,")):
            return index, len(below)
        japanese = anchor.country == "JP" and index == anchor.line + 1 and bool(JP_PLACE.search(below))
        continued = anchor.country in ("MX", "") and (text.endswith(",") or _DISTRICT.match(below))
        if len(below) > 60 or ANY_LABEL.match(below) or not ((japanese and not _is_place(text)) or continued):
            break
        last, text = (index, len(below)), below
    return last


def _is_place(text: str) -> bool:
    return bool(JP_PLACE.search(text))


_Piece = tuple[int, int, int]
"""A line, and where a part of it begins and ends."""


def _lines_above(lines: Sequence[str], anchor: AddressAnchor) -> list[_Piece]:
    """Return the lines above a line with city and post code that hold the street, without the name above them."""
    taken: list[_Piece] = []
    may_skip = not anchor.code_first
    for index in range(anchor.line - 1, max(-1, anchor.line - 1 - MAX_LINES_ABOVE), -1):
        text = lines[index]
        start = _after_label(text)
        part = text[start:]
        if len(part) > MAX_PART_CHARS or _SENTENCE.search(part):
            break
        is_unit = UNIT.match(part) is not None
        if is_street(part) or (anchor.code_first and NAME_NUMBER.match(part)) or is_unit:
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


def _american_street(lines: Sequence[str], anchor: AddressAnchor) -> list[_Piece]:
    if anchor.country in ("US", "CA"):
        for index in range(anchor.line - 1, max(-1, anchor.line - 3), -1):
            if _AMERICAN_STREET.fullmatch(lines[index].rstrip(" ,")):
                return [(index, 0, len(lines[index]))]
    return []


_BLOCK_LINE = re.compile(rf"[{CAPITAL}\d][\w.,'’&()/ -]{{1,48}}")


def _block_above(lines: Sequence[str], anchor: AddressAnchor) -> list[_Piece]:
    """Return a block of short lines that begins with a street, as in Britain, where town and county have their own."""
    top = anchor.line
    for index in range(anchor.line - 1, max(-1, anchor.line - 1 - MAX_LINES_ABOVE), -1):
        part = lines[index]
        if not _BLOCK_LINE.fullmatch(part):
            break
        if is_street(part) or UNIT.match(part) or names_street(part):
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


@keep
def _after_label(text: str) -> int:
    label = ADDRESS_LABEL.match(text) or ANY_LABEL.match(text)
    return label.end() if label else 0


def _likely_country(text: str, hints: Sequence[str]) -> str:
    """Return the country of an address without one: by its state, or the site's; every site may be American."""
    if REGION.search(text) and US_NO_ZIP.search(text):
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
