"""A list of references, cut into single ones by number or label, by indent, by gaps, or by first words.

Each method returns the lines at which references begin; the first method that fits the list is taken.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

from wayhound.documents.document import Line
from wayhound.documents.flow import PageRegion, flow, regions_of
from wayhound.text.numbers import RECENT_YEAR
from wayhound.text.person_names import PARTICLE_PATTERN

_NUMBERS = tuple(
    re.compile(pattern)
    for pattern in (
        r"\[\s?(\d{1,3})\s?\][.:]?",
        r"\((\d{1,3})\)(?=\s)",
        r"(\d{1,3})\.(?=\s|[A-Z])",
        r"(\d{1,3})\)(?=\s)",
        r"(\d{1,3})(?=\s+[^\W\d_a-z])",
        r"(\d{1,3})(?=[^\W\d_a-z](?:\.|[^\W\d_]))",  # set above the line, or without a blank
    )
)
_LABEL = re.compile(r"\[([^\W_][^\[\]]{0,60}?)\]")
_OPEN_LABEL = re.compile(r"\[([^\W_][^\[\]]{3,60})$")
_BULLET = re.compile(r"[•·∙◦▪*–—-]\s+(?=[A-Z\"“])")
_SURNAME = r"(?:(?:[a-z]{1,3}\s|[dDlO]['’])?[^\W\d_a-z][^\W\d_]*(?:[-'’ ][^\W\d_]+)?)"
_BEGINS_WITH_AUTHOR = re.compile(
    rf"{_SURNAME},?\s(?:[A-Z]\.|[A-Z]{{1,3}}\b)|"  # Rabiner, L. R.   Rabiner LR
    rf"(?:[A-Z]\.[- ]?)+\s?(?:[a-z]{{1,3}}\s)?{_SURNAME}|"  # L. R. Rabiner
    rf"{_SURNAME},\s[^\W\d_a-z][^\W\d_]+|"  # Rabiner, Lawrence
    rf"(?:[^\W\d_a-z][\w-]+\s){{1,2}}(?:[A-Z]\.\s)?{_SURNAME}(?:,|\sand\b|\.\s)"  # Lawrence Rabiner and
)
_BEGINS_WITH_PARTICLE = re.compile(rf"(?:{PARTICLE_PATTERN})\s[A-Z]")
YEAR_OR_STATUS = re.compile(
    rf"\b{RECENT_YEAR}[a-z]?\b|\bin press\b|\bto appear\b|\bforthcoming\b", re.IGNORECASE
)
_SENTENCE_END = re.compile(r"[.!?)\]”\"']$|\d[a-z]?$|(?://|www\.)\S*$")
_BIOGRAPHY = re.compile(
    r"\b(?:is|was|has been|ist|war)\s+(?:(?:currently|now|an?|the|eine?)\s+){1,2}(?:\w+\s+){0,2}?"
    r"(?:professor\w*|lecturer|researcher|student|fellow|scientist|member|editor|director|head|mitarbeiter\w*)\b|"
    r"\breceived\s+(?:his|her|their|the|an?)\b|\b(?:address|anschrift|e-?mail|received|manuscript received)\s*:",
    re.IGNORECASE,
)
_ADDRESS = re.compile(r"[\w.]@[\w-]+\.\w|\b(?:universit|institut|department|fakult|facult)", re.IGNORECASE)
_ZIP_CODE = re.compile(r"\b\d{5}-\d{4}\b|#\s?\d{4}\b")
_ENOUGH_ENTRIES = 3  # before the layout of a list says where it ends
_NAME_LENGTH = 60  # characters, of the name that a biography begins with
_MOSTLY_DATED, _LONGEST_TAIL, _LONGEST_ADDRESSES = 0.8, 0.2, 0.5
_REPEATED_AUTHOR = re.compile(r"[—–_-]{2,}[.,]?\s")
_BEGINS_WITH_YEAR = re.compile(rf"[,.:]?\s?\(?{RECENT_YEAR}[a-z]?\)?[.,:]?\s+[\"“‘«„]?[^\W\d_a-z]")


@dataclass(frozen=True, slots=True)
class RawReference:
    """One entry of a list: its text without the label and with cut words rejoined, its label, its lines.

    `lines[i]` begins at `offsets[i]` of `text`; the first offset is negative if the line has a label.
    """

    text: str
    label: str = ""
    lines: tuple[Line, ...] = ()
    offsets: tuple[int, ...] = ()

    def regions(self, start: int, end: int) -> tuple[PageRegion, ...]:
        """Return a region for each line that the characters [start, end) of `text` are on."""
        return regions_of(self.lines, self.offsets, start, end)


def cut_references(lines: Sequence[Line], words: AbstractSet[str] = frozenset()) -> list[RawReference]:
    """Return the references of a list. `words`, from `whole_words`, help to rejoin cut words."""
    lines = [line for line in lines if line.text.strip() or not line.box]
    starts = _by_number(lines) or _by_label(lines) or _by_position(lines) or _by_words(lines)
    entries = [lines[start:end] for start, end in pairwise([*starts, len(lines)])]
    return _without_tail(
        [reference for entry in _trimmed(entries) if (reference := _reference(entry, words))]
    )


def _without_tail(references: list[RawReference]) -> list[RawReference]:
    """Drop biographies, addresses and colophons at the end: without label and year, where the others have years.

    At most a fifth of the list is dropped, or half if there are addresses: an author may leave out years, but then in
    all of the list.
    """
    dated = [bool(YEAR_OR_STATUS.search(_ZIP_CODE.sub("", reference.text))) for reference in references]
    kept = len(references)
    while (
        kept
        and not references[kept - 1].label
        and not (dated[kept - 1] and not _is_tail(references[kept - 1]))
    ):
        kept -= 1
    has_address = any(_ADDRESS.search(reference.text) for reference in references[kept:])
    longest = _LONGEST_ADDRESSES if has_address else _LONGEST_TAIL
    is_usual = sum(dated[:kept]) >= _MOSTLY_DATED * kept and kept >= max(3, (1 - longest) * len(references))
    return references[:kept] if is_usual else references


def _is_tail(reference: RawReference) -> bool:
    return bool(_BIOGRAPHY.search(reference.text[:300]))


def _reference(entry: list[Line], words: AbstractSet[str]) -> RawReference | None:
    running = flow([line for line in entry if line.text], words)
    raised = _raised_number(running.lines[0]) if running.lines else ""
    label, begin = (raised, len(raised)) if raised else _label_of(running.text)
    text = running.text[begin:]
    if sum(map(str.isalpha, text)) < 8:
        return None
    return RawReference(text, label, running.lines, tuple(offset - begin for offset in running.offsets))


def _label_of(text: str) -> tuple[str, int]:
    """Return the label and the offset of the text after it."""
    for pattern in (*_NUMBERS, _LABEL):
        if match := pattern.match(text):
            rest = text[match.end() :]
            return " ".join(match[1].split()), len(text) - len(rest.lstrip())
    bullet = _BULLET.match(text)
    return "", bullet.end() if bullet else 0


def _trimmed(entries: list[list[Line]]) -> list[list[Line]]:
    """Cut the last entry where the list ends, or if it has far too many lines."""
    if not entries:
        return []
    *others, last = entries
    style = _EntryStyle.of(others) if len(others) >= _ENOUGH_ENTRIES else None
    ends = (i for i in range(1, len(last)) if _begins_tail(last, i, style))
    last = last[: next(ends, len(last))]
    longest = max((len(entry) for entry in others), default=0)
    return [*others, last[: longest + 2] if len(others) > 2 and len(last) > longest + 4 else last]


@dataclass(frozen=True, slots=True)
class _EntryStyle:
    """The layout of the entries of a list, computed once: a hostile list has a hundred thousand lines.

    `edges` has, for a page and column, the rightmost beginning of an entry and the leftmost of further lines. It has no
    place, and `largest_gap` is None, where too few entries show them.
    """

    edges: Mapping[tuple[int, int], tuple[float, float]]
    largest_gap: float | None

    @classmethod
    def of(cls, entries: Sequence[Sequence[Line]]) -> _EntryStyle:
        first: dict[tuple[int, int], list[float]] = {}
        further: dict[tuple[int, int], list[float]] = {}
        for begin, *others in entries:
            for line in others:
                if line.box:
                    further.setdefault((line.page, line.column), []).append(line.box[0])
            place = begin.page, begin.column
            if begin.box and any((line.page, line.column) == place for line in others):
                first.setdefault(place, []).append(begin.box[0])
        edges = {
            place: (max(lefts), min(further[place]))
            for place, lefts in first.items()
            if len(further.get(place, ())) >= _ENOUGH_ENTRIES
        }
        gaps = [gap for one, other in pairwise(entries) if (gap := _step(one[-1], other[0])) is not None]
        return cls(edges, max(gaps) if len(gaps) >= _ENOUGH_ENTRIES else None)

    def is_out_of_hang(self, line: Line) -> bool:
        """Return True if a line stands left of where all further lines of entries begin, and these are indented."""
        edges = self.edges.get((line.page, line.column))
        if not line.box or not edges:
            return False
        first, further = edges
        return line.box[0] < further - 0.4 * line.size and further > first + 0.4 * line.size

    def is_far_below(self, above: Line, line: Line) -> bool:
        """Return True if the gap above a line is larger than any between two entries."""
        gap = _step(above, line)
        return gap is not None and self.largest_gap is not None and gap > 1.15 * self.largest_gap


def _begins_tail(last: list[Line], at: int, style: _EntryStyle | None) -> bool:
    """Return True if a line of the last entry is no part of the list: by its print, its place, or its words.

    `style` is that of the other entries, or None if they are too few to say where the list ends.
    """
    above, line = last[at - 1], last[at]
    if _is_separate(above, line):
        return True
    if not style or not _may_end(above.text):
        return False
    is_apart = style.is_out_of_hang(line) or style.is_far_below(above, line)
    return is_apart or _begins_biography(last[at : at + 2])


def _begins_biography(lines: list[Line]) -> bool:
    match = _BIOGRAPHY.search(" ".join(line.text for line in lines))
    return match is not None and match.start() < _NAME_LENGTH


def _is_separate(above: Line, line: Line) -> bool:
    step = _step(above, line)
    return abs(line.size - above.size) > 0.4 and (step is None or step > 1.8 * above.size)


def _by_number(lines: Sequence[Line]) -> list[int]:
    """Return the starts of entries that are numbered from the first line on: [1], 1., (1), 1), 1."""
    numbered = [
        [(i, int(match[1])) for i, line in enumerate(lines) if (match := pattern.match(line.text))]
        for pattern in _NUMBERS
    ]
    raised = [(i, int(number)) for i, line in enumerate(lines) if (number := _raised_number(line))]
    best = max(map(_chain, [*numbered, raised]), key=len)
    return best if len(best) >= 2 and best[0] <= 3 else []


def _raised_number(line: Line) -> str:
    """Return the number that is set above the line at its beginning, or an empty text."""
    start, end = line.superscripts[0] if line.superscripts else (0, 0)
    number = line.text[start:end].strip()
    return (
        number if start == 0 and number.isdecimal() and len(number) <= 3 and line.text[end:].strip() else ""
    )


def _chain(numbered: list[tuple[int, int]]) -> list[int]:
    """Return the lines with the next number in sequence; a single missing number is skipped."""
    if not numbered:
        return []
    later = Counter(number for _, number in numbered)
    chain, expected = list[int](), 1 if later[1] else numbered[0][1]
    for i, number in numbered:
        later[number] -= 1
        if number == expected or (number == expected + 1 and not later[expected]):
            chain.append(i)
            expected = number + 1
    return chain


def _by_label(lines: Sequence[Line]) -> list[int]:
    """Return the starts of entries with a label, [McC00] or [McCallum et al., 2000], on one line or two."""
    starts = [
        i
        for i, line in enumerate(lines)
        if _LABEL.match(line.text)
        or (
            _OPEN_LABEL.match(line.text)
            and "]" in "".join(following.text for following in lines[i + 1 : i + 2])
        )
    ]
    return starts if starts and starts[0] <= 2 and (len(starts) >= 2 or len(lines) < 8) else []


def _by_position(lines: Sequence[Line]) -> list[int]:
    """Return the starts of entries with a hanging indent, below a gap, or with an indented first line."""
    indents = _indents(lines)
    further = [indent for indent in indents if indent >= 0.5]
    ruled = median(further) + 0.5 if further else 0.5
    hanging = [
        i
        for i, indent in enumerate(indents)
        if lines[i].text and (indent < 0.5 or (indent > ruled and _is_below_rule(lines, i)))
    ]
    indented = [i for i, indent in enumerate(indents) if indent >= 0.5]
    # Without an indent each line would be an entry: paragraphs of Word files and web pages have blank lines alone.
    if further and _is_plausible(lines, hanging, at_most=0.8):
        return hanging
    below_gap = _below_gaps(lines)
    if _is_plausible(lines, below_gap, at_most=0.8):
        return below_gap
    if _is_plausible(lines, indented, at_most=0.6) and indented[0] == 0:
        return indented
    return []


def _is_below_rule(lines: Sequence[Line], at: int) -> bool:
    """Return True for an entry whose author is a drawn rule: it begins with its year, right of all further lines."""
    return at > 0 and bool(_BEGINS_WITH_YEAR.match(lines[at].text)) and _may_end(lines[at - 1].text)


def _is_plausible(lines: Sequence[Line], starts: list[int], at_most: float) -> bool:
    """Return True if there are enough starts, not too many, and most of them begin like references."""
    if len(starts) < 2 or starts[0] > 1 or not 0.08 * len(lines) <= len(starts) <= at_most * len(lines):
        return False
    plausible = sum(_begins_entry(lines[i].text) for i in starts)
    dated = sum(
        bool(YEAR_OR_STATUS.search(" ".join(line.text for line in lines[start:end])))
        for start, end in pairwise([*starts, len(lines)])
    )
    return plausible >= 0.8 * len(starts) and dated >= 0.6 * len(starts)


def _begins_entry(text: str) -> bool:
    return bool(_REPEATED_AUTHOR.match(text) or _BULLET.match(text) or _BEGINS_WITH_YEAR.match(text)) or (
        text[:1].isupper() or text[:1] in "\"“‘'" or bool(_BEGINS_WITH_PARTICLE.match(text))
    )


def _indents(lines: Sequence[Line]) -> list[float]:
    """Return the distance of each line from the left edge of the list in its column, in ems."""
    if not all(line.box for line in lines):
        edge = min((line.indent for line in lines if line.text), default=0.0)
        return [line.indent - edge for line in lines]
    lefts: dict[tuple[int, int], list[float]] = {}
    for line in lines:
        assert line.box
        lefts.setdefault((line.page, line.column), []).append(line.box[0])
    hang = _usual_hang(lefts)
    edges = {column: _edge(column, lefts, hang) for column in lefts}
    return [(line.box[0] - edges[line.page, line.column]) / max(line.size, 1.0) for line in lines if line.box]


def _usual_hang(lefts: dict[tuple[int, int], list[float]]) -> float:
    """Return the most frequent distance between the first and the other lines of an entry."""
    distances = Counter(
        round(left - min(column)) for column in lefts.values() for left in column if left - min(column) > 3
    )
    return float(distances.most_common(1)[0][0]) if distances else 0.0


def _edge(own_column: tuple[int, int], lefts: dict[tuple[int, int], list[float]], hang: float) -> float:
    """Return the left edge of the list in a column.

    A column that holds only the rest of one entry has no first line. Its edge is then taken from another page,
    which may be shifted: left and right pages have different margins.
    """
    own = min(lefts[own_column])
    if not hang or _has_both_indents(lefts[own_column]):
        return own
    for (page, column), column_lefts in lefts.items():
        if column == own_column[1] and page != own_column[0] and _has_both_indents(column_lefts):
            edge = min(column_lefts) + _shift(own_column[0], page, lefts)
            if abs(own - edge - hang) < 3:
                return edge
    return own


def _has_both_indents(lefts: list[float]) -> bool:
    """Return True if a column has both first and further lines of entries."""
    return max(lefts) - min(lefts) > 3


def _shift(page: int, other: int, lefts: dict[tuple[int, int], list[float]]) -> float:
    for (number, column), here in lefts.items():
        there = lefts.get((other, column), [])
        if number == page and there and _has_both_indents(here) and _has_both_indents(there):
            return min(here) - min(there)
    return 0.0


def _below_gaps(lines: Sequence[Line]) -> list[int]:
    """Return the lines after a larger gap than between lines of an entry; in plain text, after a blank line."""
    if not all(line.box for line in lines):
        return [i for i, line in enumerate(lines) if line.text and (i == 0 or not lines[i - 1].text)]
    steps = [_step(a, b) for a, b in pairwise(lines)]
    sorted_steps = sorted(step for step in steps if step is not None)
    if not sorted_steps:
        return []
    usual = sorted_steps[len(sorted_steps) // 4]
    starts = [0]
    for i, step in enumerate(steps, start=1):
        if step is None:  # a new column or page: decided by the words
            if _may_end(lines[i - 1].text) and _BEGINS_WITH_AUTHOR.match(lines[i].text):
                starts.append(i)
        elif step > 1.2 * usual:
            starts.append(i)
    return starts


def _step(above: Line, below: Line) -> float | None:
    if not above.box or not below.box or (above.page, above.column) != (below.page, below.column):
        return None
    step = below.box[3] - above.box[3]
    return step if step > 0 else None


def _may_end(text: str) -> bool:
    return bool(_SENTENCE_END.search(text[-200:].rstrip()))


def _by_words(lines: Sequence[Line]) -> list[int]:
    """Return the lines that begin with an author, after an entry that has its year and has ended."""
    starts, dated, before = list[int](), False, ""
    width = median(len(line.text) for line in lines) if lines else 0
    for i, line in enumerate(lines):
        if not line.text:
            continue
        short = len(before) < 0.95 * width or before.endswith((".", "]"))
        if not starts or (dated and short and _may_end(before) and _begins_with_author(line.text)):
            starts.append(i)
            dated = False
        dated, before = dated or bool(YEAR_OR_STATUS.search(line.text)), line.text
    return _with_years(lines, starts)


def _begins_with_author(text: str) -> bool:
    return bool(_BEGINS_WITH_AUTHOR.match(text) or _REPEATED_AUTHOR.match(text))


def _with_years(lines: Sequence[Line], starts: list[int]) -> list[int]:
    """Drop starts of entries without a year: they belong to the entry before, as a publisher does."""
    spans = pairwise([*starts, len(lines)])
    dated = [
        start for start, end in spans if any(YEAR_OR_STATUS.search(line.text) for line in lines[start:end])
    ]
    return sorted({*starts[:1], *dated})
