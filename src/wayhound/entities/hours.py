"""Opening hours in free text of several languages, normalised to schema.org form: `Mo-Fr 09:00-18:00`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from wayhound.entities.kept import keep, keep_beside
from wayhound.entities.page_lines import PageLines
from wayhound.text.words import fold

DAYS = ("Mo", "Tu", "We", "Th", "Fr", "Sa", "Su")
CLOSED = "off"
_MAX_CHARS = 400  # a longer line is prose

_NAMES: tuple[str, ...] = (
    "monday mon mo montag lundi lun lunes lunedi segunda segunda-feira seg maandag ma pon poniedzialek pondeli "
    "ponedeljek mandag man mandag hetfo maanantai luni po ponedjeljak ponedeljak pazartesi δευτερα 월요일 월 "
    "月曜日 月 月曜 周一 星期一 понедельник понеділок понеделник пн",
    "tuesday tues tue tu dienstag di mardi mar martes martedi terca terca-feira ter dinsdag wtorek wt utery ut torek "
    "tor tirsdag tir tisdag kedd tiistai marti "
    "utorak sali τριτη 화요일 화 火曜日 火 火曜 周二 星期二 вторник вівторок вт",
    "wednesday wed we mittwoch mi mercredi mer miercoles mie mercoledi quarta quarta-feira qua woensdag wo sroda sr "
    "streda st sreda sre onsdag ons szerda keskiviikko miercuri srijeda carsamba τεταρτη 수요일 수 "
    "水曜日 水 水曜 周三 星期三 среда середа сряда ср",
    "thursday thurs thur thu th donnerstag do jeudi jeu jueves jue giovedi gio quinta quinta-feira qui donderdag "
    "czwartek czw ctvrtek ct cetrtek cet torsdag tors csutortok torstai joi "
    "cetvrtak persembe πεμπτη 목요일 목 木曜日 木 木曜 周四 星期四 четверг четвер четвъртък чт",
    "friday fri fr freitag vendredi ven viernes vie venerdi sexta sexta-feira sex vrijdag vr piatek pt patek pa pet "
    "petek fredag fre pentek perjantai pe vineri petak cuma παρασκευη 금요일 금 "
    "金曜日 金 金曜 周五 星期五 пятница п'ятниця петък пт",
    "saturday sat sa samstag sonnabend samedi sam sabado sab sabato zaterdag za sobota sob so lordag lor szombat "
    "lauantai sambata subota cumartesi σαββατο 토요일 토 土曜日 土 土曜 周六 星期六 суббота субота събота сб",
    "sunday sun su sonntag dimanche dim domingo dom domenica zondag zo niedziela nd nedele ne nedelja ned sondag son "
    "vasarnap sunnuntai duminica nedjelja pazar κυριακη 일요일 日曜日 日曜 周日 星期日 воскресенье неділя неделя вс нд",
)
_SPANS = {
    fold(name): days
    for days, names in (
        (tuple(range(5)), "weekday weekdays werktag werktage werktags wochentags 平日 工作日 평일 будни будням будні "
                          "hverdager hverdage vardagar arkisin"),
        ((5, 6), "weekend weekends wochenende viikonloppuisin helger 週末 周末 주말 выходные"),
    )
    for name in names.split()
}  # fmt: skip
"""Words for several days."""

_DAY_OF = {fold(name): day for day, names in enumerate(_NAMES) for name in names.split()}
_SHORT = frozenset(
    fold(name)
    for name in (
        "ma di do so mi wo za zo st ne pa ut tor th we su sa fr tu mo son sex pt ct mar mer man pet lun po pe pazar "
        "월 화 수 목 금 토 月 火 水 木 金 土"
    ).split()
)
"""Names that are also words: they count only beside a time or another day."""

_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?(?:-feira)?")
_TO = re.compile(
    r"^\W*(?:-|–|—|to|bis|a|à|au|al|ate|até|until|till|through|thru|tot|do|til|till|t/m|〜|~|～|по|до|至|到)?\W*$",
    re.IGNORECASE,
)
_RANGE_WORD = re.compile(
    r"(?:-|–|—|\bto\b|\bbis\b|\ba\b|\bà\b|\bau\b|\bal\b|\bat[eé]\b|\bthrough\b|\bthru\b|\btot\b|\bdo\b|\btil\b|\bt/m\b|〜|~|～|"
    r"\bпо\b|\bдо\b|至|到)",
    re.I,
)
_TIME = (
    r"(\d{1,2})(?:\s?[:.h](\d{2})?|\s?(?=[ap]\.?\s?m|uhr|hrs?|h\b|-|–|—|\s(?:to|bis|a|à|às|ate|até|tot|do)\s)|(?=\s*$))"
    r"\s*([ap]\.?\s?m\.?)?"
)
_TIMES = re.compile(
    rf"(?<![\d:.])(?:(?:de|das|from|von|ab|od|van|dalle|de las|às|с)\s+)?{_TIME}\s*(?:uhr|hrs?\.?|h|Uhr)?\s*"
    rf"(?:-|–|—|to|bis|a las|alle|a|à|às|as|ate|até|until|till|tot|do|до|〜|~|～|至|to|and)\s*(?:las\s+)?"
    rf"(\d{{1,2}})(?:\s?[:.h](\d{{2}})?)?\s*([ap]\.?\s?m\.?|noon|midnight)?",
    re.IGNORECASE,
)  # fmt: skip
_ALL_DAYS = re.compile(
    r"\b(?:daily|every ?day|täglich|taglich|tous les jours|todos los dias|todos os dias|tutti i giorni|dagelijks|"
    r"codziennie|denně|7 days)\b"
)  # in lower case: to ignore it takes several times as long
_SHUT = re.compile(
    r"\b(?:closed|geschlossen|ruhetag|fermé|ferme|cerrado|fechado|chiuso|gesloten|nieczynne|zavřeno|zaprto|stengt|"
    r"lukket|stängt|suljettu)\b|定休|休み",
    re.IGNORECASE,
)


class OpenHours(NamedTuple):
    """Hours in schema.org form with the place of the line that they were read from."""

    text: str
    printed: str
    start: int
    end: int
    confidence: float


# A line without any of these has no hours; most lines of a page have none, and looking closer costs time.
_HINT = re.compile(r"\d ?(?:[:.h]\d\d|[ap]\.? ?m\b|[AP]\.? ?M\b|[Uu]hr|hrs|h\b|[-–—~～] ?\d\d?(?!\d))")
_NOON = re.compile(r"\b(?:12 ?)?(noon|midday|midnight)\b", re.IGNORECASE)
_NO_MEAL = re.compile(r"\bno\b", re.IGNORECASE)
_SHUT_WORDS = (
    "closed geschlossen ruhetag fermé cerrado fechado chiuso gesloten nieczynne zavřeno zaprto stengt lukket stängt "
    "suljettu 定休 休み".split()
)
_SHUT_IN_ASCII = frozenset(word.encode() for word in _SHUT_WORDS if word.isascii())
_LETTERS = bytes(code if chr(code).isalpha() else 32 for code in range(128)).ljust(256).lower()


def find_hours(page: PageLines) -> Iterator[OpenHours]:
    """Yield the opening hours of each line that has them. Days on one line hold for times on the next."""
    numbers = [number for number in page.digit_lines if _may_have_times(page.lines[number])]
    if shut := [number for number, line in enumerate(page.lines) if _says_shut(line)]:
        numbers = sorted({*numbers, *shut})
    for number in numbers:
        line, above = page.lines[number], page.lines[number - 1] if number else ""
        text, sure = _line_hours(line, above if len(above) < 40 else "")
        if text:
            start = page.starts[number]
            yield OpenHours(text, line, start, start + len(line), 0.85 if sure else 0.7)


@keep
def _may_have_times(line: str) -> bool:
    return len(line) <= _MAX_CHARS and _HINT.search(line) is not None


@keep
def _says_shut(line: str) -> bool:
    if len(line) > _MAX_CHARS:
        return False
    if line.isascii():
        return not _SHUT_IN_ASCII.isdisjoint(line.encode().translate(_LETTERS).split())
    lowered = line.lower()
    return any(map(lowered.__contains__, _SHUT_WORDS))  # a generator would take twice as long


@keep_beside
def _line_hours(line: str, above: str) -> tuple[str, bool]:
    """Return the hours of a line, and True if its days are named beyond doubt; empty if there are none."""
    days, sure = _days(line)
    pending = _days(above)[0] if above and not days else []
    if not (sure or pending or _ALL_DAYS.search(line.lower())):
        return "", sure
    if not (_TIMES.search(line) or (_says_shut(line) and _SHUT.search(line)) or _NOON.search(line)):
        return "", False
    return normalise_hours(line, pending), sure


def normalise_hours(text: str, days_before: Sequence[int] = ()) -> str:
    """Return the hours of a line in schema.org form; empty if there are none.

    >>> normalise_hours("Lunes a Sábado de 12:00 a 22:00 hrs.")
    'Mo-Sa 12:00-22:00'
    """
    spans: list[tuple[str, str]] = []
    rest, days = (
        _NOON.sub(lambda word: "24:00" if word[1].lower() == "midnight" else "12:00", text),
        list(days_before),
    )
    position = 0
    while True:
        match = _TIMES.search(rest, position)
        closed = _SHUT.search(rest, position, match.start() if match else len(rest))
        if closed:
            found, _ = _days(rest[position : closed.start()])
            if not found and match is None and not spans:
                # "fermé le dimanche", but not "closed Sunday, no lunch Saturday"
                found, _ = _days(_NO_MEAL.split(rest[closed.end() :], maxsplit=1)[0])
            if found:
                spans.append((_format_days(found), CLOSED))
            position = closed.end()
            continue
        if match is None:
            break
        found, _ = _days(rest[position : match.start()])
        days = found or days
        if hours := _format_times(match):
            every = not days and _ALL_DAYS.search(text.lower())
            spans.append(("Mo-Su" if every else _format_days(days), hours))
        position = match.end()
    return "; ".join(f"{days} {hours}" for days, hours in spans if days)


def days_from_schema(days: Sequence[str], opens: str, closes: str) -> str:
    """Return an `OpeningHoursSpecification` as one line; empty without days."""
    numbers = sorted({_DAY_OF[name] for day in days if (name := fold(day.rsplit("/", 1)[-1])) in _DAY_OF})
    if not numbers:
        return ""
    return (
        f"{_format_days(numbers)} {opens[:5]}-{closes[:5]}"
        if opens and closes
        else f"{_format_days(numbers)} {CLOSED}"
    )


_folded = keep(fold)  # of words
_TO_WORD = re.compile("[至到]")  # written without spaces around
# most lines name no day; their words are looked up in a tenth of the time that the pattern takes
_DAY_WORDS = frozenset(name.encode() + end for name in (*_DAY_OF, *_SPANS) for end in (b"", b"s"))


def _days(text: str) -> tuple[list[int], bool]:
    """Return the days that a text names, in order, and whether one of them is named beyond doubt."""
    if text.isascii() and _DAY_WORDS.isdisjoint(text.encode().translate(_LETTERS).split()):
        return [], False
    found: list[int] = []
    sure = False
    last_end, last_day = 0, -1
    for match in _WORD.finditer(text if text.isascii() else _TO_WORD.sub("-", text)):
        name = _folded(match[0])
        if name in _SPANS:
            found += _SPANS[name]
            sure = True
        day = _DAY_OF.get(name, -1)
        if day < 0 and name.endswith("s"):
            day = _DAY_OF.get(name[:-1], -1)  # "Sundays"
        if day < 0:
            continue
        between = text[last_end : match.start()]
        if last_day >= 0 and _TO.match(between) and _RANGE_WORD.search(between):
            found += [(last_day + step) % 7 for step in range(1, (day - last_day) % 7 + 1)]
        else:
            found.append(day)
        sure = sure or name not in _SHORT
        last_end, last_day = match.end(), day
    unique = list(dict.fromkeys(found))
    return unique, sure or len(unique) > 1


def _format_days(days: Sequence[int]) -> str:
    if not days:
        return ""
    groups: list[list[int]] = []
    for day in sorted(set(days)):
        if groups and groups[-1][-1] == day - 1:
            groups[-1].append(day)
        else:
            groups.append([day])
    return ",".join(
        DAYS[group[0]] if len(group) == 1 else f"{DAYS[group[0]]}-{DAYS[group[-1]]}" for group in groups
    )


def _format_times(match: re.Match[str]) -> str:
    hour, minute, half, hour2, minute2, half2 = match.groups()
    begin, end = _clock(hour, minute, half), _clock(hour2, minute2, half2)
    if begin is None or end is None:
        return ""
    if half2 and not half and half2[0].lower() == "p" and begin < 12 * 60 and begin + 12 * 60 < end:
        begin += 12 * 60 if begin >= 60 and end - begin > 12 * 60 else 0
    return f"{begin // 60:02}:{begin % 60:02}-{end // 60:02}:{end % 60:02}"


def _clock(hour: str, minute: str | None, half: str | None) -> int | None:
    hours, minutes = int(hour), int(minute or 0)
    half = (half or "").lower()
    if half.startswith("p") and hours < 12:
        hours += 12
    elif half.startswith("a") and hours == 12:
        hours = 0
    elif half == "midnight":
        hours = 24
    return hours * 60 + minutes if hours <= 24 and minutes < 60 else None
