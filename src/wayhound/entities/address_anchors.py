"""The parts of lines that are hard to mistake for anything but addresses: post codes, states, streets, labels.

Each country has shapes of its own, of which most are tried only where digits of their number stand on a line.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from wayhound.entities.kept import MAX_KEPT, keep
from wayhound.entities.page_lines import PageLines
from wayhound.entities.places import (
    ADDRESS_LABEL,
    AU_STATES,
    BOX_WORDS,
    BR_STATES,
    CA_PROVINCES,
    COUNTRIES,
    US_STATES,
    country_named,
    names_street,
    search_country,
)

MAX_PART_CHARS = 110
MAX_ADDRESS_CHARS = 220


class AddressAnchor(NamedTuple):
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


def any_name(table: dict[str, str]) -> str:
    """Return a pattern of the names and the codes of a table."""
    return "|".join(
        re.escape(name) for name in sorted({*table, *table.values()}, key=lambda name: -len(name))
    )


_PARTICLES = (
    "de do da di del la le les el los sur am an der im in und of on the upon bei ob nad u aan den a/d y"
)
CAPITAL = "A-ZÀ-ÞĀ-ŽΆ-ΏΑ-ΫЀ-Я"
_NAME, _ANY_PARTICLE = rf"[{CAPITAL}(][\w.'’/)-]*", f"(?:{'|'.join(_PARTICLES.split())})"
# A hyphen belongs to the word before it wherever it can: with a choice, each of a line's would double the time.
CITY = (
    rf"(?:(?:г|гр|м|с)\. ?)?(?:[{CAPITAL}][\w.'’/-]*"
    rf"(?:(?: |-(?=\())(?:{_NAME}|{_ANY_PARTICLE}(?:-{_ANY_PARTICLE})*(?:-{_NAME})?))*)"
)
_CITY_LAST = re.compile(rf"{CITY}$")
# These look behind after the first character: the engine skips to a range, but not to what is behind one.
_FIVE = re.compile(r"\d(?<![\w-]\d)\d{4}(?:-\d{4})?(?![\w-])")
_FOUR = re.compile(r"\d(?<![\w-]\d)\d{3}(?![\w-])")
# matched from the digits backwards: to try sixty names at every letter of a page costs ten times as much
_US_STATE = re.compile(rf"(?:^|[^\w])({any_name(US_STATES)})\.?(?:,?\s+|\s*[-–|]\s*)$")
_AU_STATE = re.compile(rf"(?:^|[^\w])({any_name(AU_STATES)}),?\s+$")
_CA = re.compile(
    rf"(?<!\w)(?:(?:{any_name(CA_PROVINCES)}),?\s+)?(?P<code>[ABCEGHJ-NPRSTVXY]\d[A-Z] ?\d[A-Z]\d)(?!\w)"
)
_GB = re.compile(r"(?<!\w)(?P<code>[A-Z]{1,2}\d[A-Z\d]? \d[ABD-HJLNP-UW-Z]{2})(?!\w)")
_NL = re.compile(rf"([1-9](?<!\w\d)\d{{3}} ?[A-Z]{{2}}),?\s+({CITY})")
_ANY_REGION = re.compile(
    rf"{CITY}, [A-Z]{{2,3}} (?P<code>\d{{4,6}})(?![\w-])"
)  # of no country that is known here
_LETTER_CODE = re.compile(r"\d[A-Z]\d|\d[A-Z]{2}(?!\w)")
_JP = re.compile(r"(?<![\d-])〒?\s?(\d{3}[-－‐–]\d{4})(?![\d-])\s*")
JP_PLACE = re.compile(r"[都道府県市区町村]")
_IN = re.compile(rf"({CITY})\s*[-–—,:]?\s*(\d{{3}} ?\d{{3}})(?![\w-])")
_IN_SURE = re.compile(rf"({CITY})\s*(?:[-–—]\s?(\d{{3}} ?\d{{3}})(?![\w-])|(\d{{6}}) \([A-Z]\. ?[A-Z]\.\))")
_BR = re.compile(r"(?<!\d)(?P<code>\d{5}-\d{3})(?!\d)")
_IE = re.compile(r"(?<!\w)(?P<code>(?:D6W|[AC-FHKNPRTV-Y]\d\d) ?[AC-FHKNPRTV-Y\d]{4})(?!\w)")
_LV = re.compile(r"(?<!\w)(?P<code>LV-\d{4})(?!\w)")
_AR = re.compile(rf"([A-HJ-NP-Z](?<!\w\w)\d{{4}}[A-Z]{{3}})\s+({CITY})")
_IS = re.compile(rf"(?<![\w.,/+-])(\d{{3}})\s+({CITY})$")
_CITY_CODE = re.compile(rf"({CITY}),?\s+(\d{{4,7}})(?![\w-])")
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
    rf"(?<![\w.,/+-])((?:[A-Z]{{1,2}}[- ])?(?:\d{{4}}-\d{{3}}|\d{{2}}-\d{{3}}|\d{{3}} \d{{2}}|\d{{4,6}})),?\s+({CITY})"
)
_BEFORE_CITY = re.compile(rf"\d,?\s+[{CAPITAL}гмс]")
_MX = re.compile(r"C\.? ?P\.? ?(\d{5})(?!\d)", re.IGNORECASE)
US_NO_ZIP = re.compile(rf"({CITY}),\s*({'|'.join(US_STATES.values())})(?![\w'’])")
_BR_NO_CODE = re.compile(rf"({CITY})\s*[-–—/,]\s*({'|'.join(sorted(BR_STATES))})(?!\w)")
_STREET_FIRST = re.compile(
    r"^(?:\([^()]{1,15}\)\s*)?((?:rua|av\.?|avenida|praça|travessa|alameda|estrada|calle|c/|carrera|cra\.?|paseo|plaza|via|"
    r"viale|piazza|corso|ul\.|ulica|al\.|strada|str\.)\s+[^\W\d].{1,40}?,?\s*(?:n[º°.o]?\s*)?\d{1,5}\w?)\b",
    re.IGNORECASE,
)
_PLACE_LINE = re.compile(r"[A-ZÀ-Ž][\w.'’ ]+(?:\s*[-–,/]\s*[A-ZÀ-Ž][\w.'’ ]+)*")
BARE = 0.42  # a street and a place without any code
LABELLED = 0.5  # after "address" or "location"
ANY_LABEL = re.compile(
    r"^[^\d:：]{2,28}(?<!\bno)(?<!\bnr)[:：]\s*", re.IGNORECASE
)  # "Cad. No: 5" is a street
NUMBER = re.compile(r"\d(?<![\w.,]\d)\d{0,5}(?:[-/–]\d{1,5})?\s?[A-Za-z]?(?!\w)")
_HOUSE_FIRST = re.compile(r"^\W*\d{1,6}(?:[-/–&]\s?\w{1,6})?\s?[A-Za-z]?(?:[ ,]|\s(?:1/2|½))\s*\w")
_GRID = re.compile(r"\d+ [NSEW]\.? \d+ [NSEW]\b")
NAME_NUMBER = re.compile(
    r"^[^\W\d][\w.'’() -]{2,45}?,?\s(?:(?:n[r.º°o]?|no\.?)\s*)?\d{1,5}\s?(?:[-/–]\s?\w{1,4}){0,3}\s?[A-Za-z]?\W*$"
)
UNIT = re.compile(
    r"^\W*(?:suite|ste|unit|floor|fl|room|apt|building|bldg|level|shop|no|\d+(?:st|nd|rd|th) floor|#)\b",
    re.IGNORECASE,
)
_BOX = re.compile(rf"\b{BOX_WORDS}\b", re.IGNORECASE)
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
REGION = re.compile(r"[-–—/,]\s*[A-Z]{2}(?![\w'’])")


def find_anchors(page: PageLines, hints: Sequence[str]) -> Iterator[AddressAnchor]:
    """Yield the anchors on a page, from which addresses grow."""
    lines = page.lines
    anchors_of = _anchors_by_line(tuple(hints))
    for index in page.label_lines:
        yield from _labelled(page, index)
    for index in page.digit_lines:
        text = lines[index]
        below = lines[index + 1] if index + 1 < len(lines) else ""
        anchors, street = anchors_of(text)
        for anchor in anchors:
            yield AddressAnchor(
                index, anchor.start, anchor.end, anchor.country, anchor.post_code, anchor.weight
            )
        if _is_city_and_state(below) and is_street(text):
            yield AddressAnchor(index, 0, len(text), "", "", BARE)
        elif (
            street is not None
            and _PLACE_LINE.fullmatch(below)
            and len(below) < 60
            and not (_COPYRIGHT.search(below) or search_country(text))
        ):
            yield AddressAnchor(index, street, len(text), "", "", BARE)


_LineAnchors = tuple[tuple[AddressAnchor, ...], int | None]


@keep
def _is_city_and_state(line: str) -> bool:
    return line[-2:].isupper() and len(line) < 40 and US_NO_ZIP.fullmatch(line) is not None


@lru_cache(maxsize=16)
def _anchors_by_line(hints: tuple[str, ...]) -> Callable[[str], _LineAnchors]:
    """Return `_line_anchors` for some hints. The pages of a site share these and most lines: the answers are kept."""
    return keep(lambda text: _line_anchors(text, hints), most=MAX_KEPT // 4)


def _line_anchors(text: str, hints: tuple[str, ...]) -> _LineAnchors:
    """Return the anchors of one line, as if it were the first, and where a street begins that it may be all of."""
    anchors: list[AddressAnchor] = []
    street: int | None = None
    if not _HAS_DIGITS.search(text):
        return (), None
    if _CODE_SHAPE.search(text) or _LETTER_CODE.search(text):
        anchors += _post_codes(0, text, hints)
    if not text.isascii() and _EAST_ASIAN.search(text):
        anchors += _from_large_to_small(0, text, hints)
    if len(text) < 200 and (NUMBER.search(text) or UNIT.match(text)) and not ADDRESS_LABEL.match(text):
        anchors += _without_code(0, text)
        if len(text) < 70 and (match := _STREET_FIRST.match(text)):
            street = match.start(1)
    return tuple(anchors), street


def _post_codes(index: int, text: str, hints: Sequence[str]) -> Iterator[AddressAnchor]:
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
            yield AddressAnchor(index, city, match.end(), country, match["code"], weight)
    for match in _NL.finditer(text) if 4 in sizes else ():
        yield AddressAnchor(index, match.start(), match.end(), "NL", match[1], 0.7)
    for match in _MX.finditer(text) if 5 in sizes else ():
        yield AddressAnchor(index, match.start(), len(text), "MX", match[1], 0.6)
    is_code = not sizes.isdisjoint((4, 5, 6, 7))
    for match in _ANY_REGION.finditer(text) if is_code and _REGION_CODE.search(text) else ():
        yield AddressAnchor(index, match.start(), match.end(), "", match["code"], 0.46)
    yield from _asian_codes(index, text, hints)
    yield from _codes_of_few(index, text, hints, sizes)
    yield from _code_after_street(index, text, hints)
    is_split = {2, 3} <= sizes or ("-" in text and (2 in sizes or not text.isascii()))  # 12-345, 123 45
    for match in _CODE_FIRST.finditer(text) if (is_code or is_split) and _BEFORE_CITY.search(text) else ():
        is_year = len(match[1]) == 4 and _COPYRIGHT.search(text, 0, match.start())
        if not is_year and (country := _code_country(match[1], hints)):
            yield AddressAnchor(index, match.start(), match.end(), country, match[1], 0.55)


def _code_after_street(index: int, text: str, hints: Sequence[str]) -> Iterator[AddressAnchor]:
    """Yield a code of the likeliest country at the end of a line with a street."""
    last = _CODE_LAST.search(text) if text[-1:].isdecimal() else None
    shape = _SHAPES.get(hints[0]) if hints else None
    if last and shape and shape.fullmatch(last[0]) and text.count(",") >= 2 and names_street(text):
        yield AddressAnchor(index, last.start(), last.end(), hints[0], last[0], 0.6)


def _codes_of_few(index: int, text: str, hints: Sequence[str], sizes: set[int]) -> Iterator[AddressAnchor]:
    """Yield codes whose shape is not telling by itself: the site or the line must be of their country."""
    for pattern, country, weight in ((_IE, "IE", 0.65), (_LV, "LV", 0.7)):
        if "LV-" in text if country == "LV" else "IE" in hints or "Ireland" in text:
            for match in pattern.finditer(text):
                yield AddressAnchor(
                    index, _city_start(text, match.start()), match.end(), country, match["code"], weight
                )
    for match in _AR.finditer(text) if 4 in sizes else ():
        yield AddressAnchor(index, match.start(), match.end(), "AR", match[1], 0.7)
    if "IS" in hints[:2] and (icelandic := _IS.search(text)):
        yield AddressAnchor(index, *icelandic.span(), country="IS", post_code=icelandic[1], weight=0.55)
    if sizes.isdisjoint((4, 5, 6, 7)):
        return
    named = search_country(text)
    likely = [country_named(named[0])] if named else [hint for hint in hints if hint in _AFTER_CITY][:1]
    if likely and (shape := _AFTER_CITY.get(likely[0])) and not _COPYRIGHT.search(text):
        for match in _CITY_CODE.finditer(text):
            if shape.fullmatch(match[2]):
                yield AddressAnchor(index, match.start(), match.end(), likely[0], match[2], 0.6)


def _from_large_to_small(index: int, text: str, hints: Sequence[str]) -> Iterator[AddressAnchor]:
    for match in _HAN.finditer(text):
        country = "TW" if "號" in match[0] or "TW" in hints[:2] else "CN"
        yield AddressAnchor(index, match.start(), match.end(), country, "", 0.7)
    for match in _HANGUL.finditer(text):
        yield AddressAnchor(index, match.start(), match.end(), "KR", "", 0.7)


def _asian_codes(index: int, text: str, hints: Sequence[str]) -> Iterator[AddressAnchor]:
    is_japanese = not text.isascii() and ("〒" in text or JP_PLACE.search(text))
    for match in _JP.finditer(text) if is_japanese else ():
        if "〒" in match[0] or JP_PLACE.search(text, match.end(), match.end() + 12):
            yield AddressAnchor(index, match.start(), len(text), "JP", match[1], 0.8)
    if not _SIX.search(text):
        return
    indian = _IN if "IN" in hints or "India" in text else _IN_SURE
    for match in indian.finditer(text):
        code = next(group for group in match.groups()[1:] if group)
        yield AddressAnchor(index, match.start(), _with_state(text, match.end()), "IN", code, 0.6)


def _after_state(
    index: int, text: str, code: re.Pattern[str], state: re.Pattern[str], country: str
) -> Iterator[AddressAnchor]:
    for match in code.finditer(text):
        offset = max(0, match.start() - 32)
        if before := state.search(text[offset : match.start()]):
            city = _city_start(text, offset + before.start(1))
            yield AddressAnchor(index, city, match.end(), country, match[0], 0.75)


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


def _labelled(page: PageLines, index: int) -> Iterator[AddressAnchor]:
    """Yield what follows the word "address" on its line, or the line below."""
    line = page.lines[index]
    match = ADDRESS_LABEL.match(line)
    assert match is not None
    rest = line[match.end() :].strip()
    if len(rest) > 5:
        yield AddressAnchor(index, match.end(), len(line), "", "", LABELLED)
    elif not rest and index + 1 < len(page.lines):
        below = page.lines[index + 1]
        if not ANY_LABEL.match(below) and len(below) < MAX_ADDRESS_CHARS:
            yield AddressAnchor(index + 1, 0, len(below), "", "", LABELLED)


def _without_code(index: int, text: str) -> Iterator[AddressAnchor]:
    for pattern, country in ((US_NO_ZIP, "US"), (_BR_NO_CODE, "BR")) if REGION.search(text) else ():
        for match in pattern.finditer(text):
            if names_street(text[: match.start()]) or _BOX.search(text):
                yield AddressAnchor(index, match.start(), match.end(), country, "", 0.45)
    named = search_country(text) if len(text) < 120 else None
    listed = named is not None and text.endswith(named[0]) and text.count(",") >= 2
    if named is not None and (listed or names_street(text[: named.start()])):
        yield AddressAnchor(index, named.start(), named.end(), country_named(named[0]), "", 0.4)


@keep
def is_street(text: str) -> bool:
    """Return True for a street with a number, a box, or a crossing of streets."""
    if not text.strip() or len(text) > MAX_PART_CHARS:
        return False
    if _BOX.search(text):
        return True
    has_word = names_street(text)
    if NUMBER.search(text) or _NUMBER_WORD.match(text):
        return (
            has_word
            or bool(_GRID.search(text))
            or bool(_HOUSE_FIRST.match(text) and re.search(r"[A-Za-zÀ-ž]{3}", text))
            or bool(NAME_NUMBER.match(text.strip(" ,")))
        )
    return has_word and bool(re.search(r"\d|&|\band\b| at ", text))
