"""A list of references, cut into single ones: by number or label, indent, gaps, or how they begin.

Each way marks the lines at which references begin; the first way that fits the list is taken.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
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
_REPEATED_AUTHOR = re.compile(r"[—–_-]{2,}[.,]?\s")


@dataclass(frozen=True, slots=True)
class RawReference:
    """One entry of a list: its label without brackets, its text without the label, healed; its lines.

    `lines[i]` begins at `offsets[i]` of `text`; below 0 for the first, which also holds the label.
    """

    text: str
    label: str = ""
    lines: tuple[Line, ...] = ()
    offsets: tuple[int, ...] = ()

    def regions(self, start: int, end: int) -> tuple[PageRegion, ...]:
        """Where the characters from `start` up to `end` stand: a box for each line."""
        return regions_of(self.lines, self.offsets, start, end)


def cut_references(lines: Sequence[Line], words: AbstractSet[str] = frozenset()) -> list[RawReference]:
    """The single references of a list. `words` of the document help to heal cut words."""
    lines = [line for line in lines if line.text.strip() or not line.box]
    starts = _by_number(lines) or _by_label(lines) or _by_place(lines) or _by_words(lines)
    entries = [lines[start:end] for start, end in pairwise([*starts, len(lines)])]
    return [reference for entry in _trimmed(entries) if (reference := _reference(entry, words))]


def _reference(entry: list[Line], words: AbstractSet[str]) -> RawReference | None:
    running = flow([line for line in entry if line.text], words)
    label, begin = _label_of(running.text)
    text = running.text[begin:]
    if sum(map(str.isalpha, text)) < 8:
        return None
    return RawReference(text, label, running.lines, tuple(offset - begin for offset in running.offsets))


def _label_of(text: str) -> tuple[str, int]:
    """The label and where the text behind it begins."""
    for pattern in (*_NUMBERS, _LABEL):
        if found := pattern.match(text):
            rest = text[found.end() :]
            return " ".join(found[1].split()), len(text) - len(rest.lstrip())
    bullet = _BULLET.match(text)
    return "", bullet.end() if bullet else 0


def _trimmed(entries: list[list[Line]]) -> list[list[Line]]:
    """The last entry must not run on into what comes after the list: other print, or far too many lines."""
    if not entries:
        return []
    *others, last = entries
    apart = (i for i, (above, line) in enumerate(pairwise(last), start=1) if _stands_apart(above, line))
    last = last[: next(apart, len(last))]
    longest = max((len(entry) for entry in others), default=0)
    return [*others, last[: longest + 2] if len(others) > 2 and len(last) > longest + 4 else last]


def _stands_apart(above: Line, line: Line) -> bool:
    step = _step(above, line)
    return abs(line.size - above.size) > 0.4 and (step is None or step > 1.8 * above.size)


def _by_number(lines: Sequence[Line]) -> list[int]:
    """Entries that count upwards from the first line on: [1], 1., (1), 1), 1."""
    chains = (_chain(lines, pattern) for pattern in _NUMBERS)
    best = max(chains, key=len)
    return best if len(best) >= 2 and best[0] <= 3 else []


def _chain(lines: Sequence[Line], pattern: re.Pattern[str]) -> list[int]:
    """The lines whose number is the next one; a single number that was lost may be skipped."""
    numbered = [(i, int(found[1])) for i, line in enumerate(lines) if (found := pattern.match(line.text))]
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
    """Entries that begin with a label in brackets, [McC00] or [McCallum et al., 2000], on one line or two."""
    starts = [
        i
        for i, line in enumerate(lines)
        if _LABEL.match(line.text)
        or (_OPEN_LABEL.match(line.text) and "]" in "".join(each.text for each in lines[i + 1 : i + 2]))
    ]
    return starts if starts and starts[0] <= 2 and (len(starts) >= 2 or len(lines) < 8) else []


def _by_place(lines: Sequence[Line]) -> list[int]:
    """Entries that hang: their first lines stand further left than the others, or below a gap."""
    offsets = _offsets(lines)
    hanging = [i for i, offset in enumerate(offsets) if offset < 0.5 and lines[i].text]
    indented = [i for i, offset in enumerate(offsets) if offset >= 0.5]
    if _plausible(lines, hanging, at_most=0.8):
        return hanging
    below_gap = _below_gaps(lines)
    if _plausible(lines, below_gap, at_most=0.8):
        return below_gap
    if _plausible(lines, indented, at_most=0.6) and indented[0] == 0:
        return indented
    return []


def _plausible(lines: Sequence[Line], starts: list[int], at_most: float) -> bool:
    """Whether there are enough starts, not too many, and most of them begin as references do."""
    if len(starts) < 2 or starts[0] > 1 or not 0.08 * len(lines) <= len(starts) <= at_most * len(lines):
        return False
    good = sum(_begins_entry(lines[i].text) for i in starts)
    whole = sum(
        bool(YEAR_OR_STATUS.search(" ".join(line.text for line in lines[start:end])))
        for start, end in pairwise([*starts, len(lines)])
    )
    return good >= 0.8 * len(starts) and whole >= 0.6 * len(starts)


def _begins_entry(text: str) -> bool:
    return bool(_REPEATED_AUTHOR.match(text) or _BULLET.match(text)) or (
        text[:1].isupper() or text[:1] in "\"“‘'" or bool(_BEGINS_WITH_PARTICLE.match(text))
    )


def _offsets(lines: Sequence[Line]) -> list[float]:
    """How far each line stands from the left edge of the list in its column, in ems."""
    if not all(line.box for line in lines):
        edge = min((line.indent for line in lines if line.text), default=0.0)
        return [line.indent - edge for line in lines]
    lefts: dict[tuple[int, int], list[float]] = {}
    for line in lines:
        assert line.box
        lefts.setdefault((line.page, line.column), []).append(line.box[0])
    hang = _usual_hang(lefts)
    edges = {place: _edge(place, lefts, hang) for place in lefts}
    return [(line.box[0] - edges[line.page, line.column]) / max(line.size, 1.0) for line in lines if line.box]


def _usual_hang(lefts: dict[tuple[int, int], list[float]]) -> float:
    """The commonest distance between the first and the other lines of an entry."""
    distances = Counter(
        round(left - min(column)) for column in lefts.values() for left in column if left - min(column) > 3
    )
    return float(distances.most_common(1)[0][0]) if distances else 0.0


def _edge(place: tuple[int, int], lefts: dict[tuple[int, int], list[float]], hang: float) -> float:
    """A column with the rest of one entry alone has no first line; then the other pages tell its edge.

    Left and right pages may be shifted against each other.
    """
    own = min(lefts[place])
    if not hang or _is_clear(lefts[place]):
        return own
    for (page, column), column_lefts in lefts.items():
        if column == place[1] and page != place[0] and _is_clear(column_lefts):
            edge = min(column_lefts) + _shift(place[0], page, lefts)
            if abs(own - edge - hang) < 3:
                return edge
    return own


def _is_clear(lefts: list[float]) -> bool:
    """Whether both first and other lines are there."""
    return max(lefts) - min(lefts) > 3


def _shift(page: int, other: int, lefts: dict[tuple[int, int], list[float]]) -> float:
    for (number, column), here in lefts.items():
        there = lefts.get((other, column), [])
        if number == page and there and _is_clear(here) and _is_clear(there):
            return min(here) - min(there)
    return 0.0


def _below_gaps(lines: Sequence[Line]) -> list[int]:
    """Lines further below the one before than lines of an entry are; in plain text, after a blank."""
    if not all(line.box for line in lines):
        return [i for i, line in enumerate(lines) if line.text and (i == 0 or not lines[i - 1].text)]
    steps = [_step(a, b) for a, b in pairwise(lines)]
    known = sorted(step for step in steps if step is not None)
    if not known:
        return []
    usual = known[len(known) // 4]
    starts = [0]
    for i, step in enumerate(steps, start=1):
        if step is None:  # a new column or page: by its words
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
    """Entries that begin with an author after one that has ended and has had its year."""
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
    """Without those that began at a publisher or the like: what has no year belongs to the one before."""
    spans = pairwise([*starts, len(lines)])
    dated = [
        start for start, end in spans if any(YEAR_OR_STATUS.search(line.text) for line in lines[start:end])
    ]
    return sorted({*starts[:1], *dated})
