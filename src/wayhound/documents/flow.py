"""Lines as running text: words cut at the end of a line made whole, and the way back to the lines."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from wayhound.documents.document import Box, Line


@dataclass(frozen=True, slots=True)
class Place:
    """A part of a page; no box where the source has no layout."""

    page: int
    box: Box | None


def places_of(lines: Sequence[Line], starts: Sequence[int], start: int, end: int) -> tuple[Place, ...]:
    """The places of the characters from `start` up to `end`, where `starts` is where each line begins."""
    first = max(0, bisect_right(starts, start) - 1)
    last = max(first + 1, bisect_right(starts, end - 1))
    return tuple(
        Place(line.page, box_in_line(line, start - at, end - at))
        for line, at in zip(lines[first:last], starts[first:last], strict=True)
    )


def box_in_line(line: Line, start: int, end: int) -> Box | None:
    """The box around the words that the characters from `start` up to `end` touch; else that of the line."""
    found, at = list[Box](), 0
    for word in line.words:
        begin = line.text.find(word.text, at)
        if begin < 0:
            continue  # spelled otherwise since it was repaired
        at = begin + len(word.text)
        if begin < end and at > start:
            found.append(word.box)
    return around(found) if found else line.box


def around(boxes: Sequence[Box]) -> Box:
    lefts, tops, rights, bottoms = zip(*boxes, strict=True)
    return (min(lefts), min(tops), max(rights), max(bottoms))


_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_CUT = re.compile(r"([^\W\d_]+)[-\u2010]$")
_TAIL = 80  # characters at the end of a line that are looked at
_OPEN_ADDRESS = re.compile(r"(?:://|www\.)\S*[/._=?&~-]$")


@dataclass(frozen=True)
class Flow:
    """`starts[i]` is where `lines[i]` begins in `text`; `superscripts` are ranges of `text`."""

    text: str
    lines: tuple[Line, ...]
    starts: tuple[int, ...]
    superscripts: tuple[tuple[int, int], ...] = ()

    def line_at(self, offset: int) -> Line:
        return self.lines[max(0, bisect_right(self.starts, offset) - 1)]

    def places(self, start: int, end: int) -> tuple[Place, ...]:
        """Where the characters from `start` up to `end` stand: a box for each line."""
        return places_of(self.lines, self.starts, start, end)


def words_of(lines: Sequence[Line]) -> frozenset[str]:
    """Whole words and compounds, in lower case: what a document says of how its words are spelled."""
    words, cut = set[str](), False
    for line in lines:
        found = _WORD.findall(line.text.lower())
        last = len(found) - 1 if (goes_on := bool(_CUT.search(line.text[-_TAIL:]))) else len(found)
        words.update(found[cut:last])
        cut = goes_on
    return frozenset(words)


def flow(lines: Sequence[Line], words: AbstractSet[str] = frozenset()) -> Flow:
    """One text out of many lines. `words`, of the whole document, tell a cut word from a compound."""
    parts, starts, marks, at = list[str](), list[int](), list[tuple[int, int]](), 0
    for line, text in zip(lines, _joined(lines, words), strict=True):
        starts.append(at)
        marks += [(at + start, at + end) for start, end in line.superscripts]
        parts.append(text)
        at += len(text)
    return Flow("".join(parts).rstrip(), tuple(lines), tuple(starts), tuple(marks))


def _joined(lines: Sequence[Line], words: AbstractSet[str]) -> Iterator[str]:
    """Each line's text, with a blank behind it, or less, where the next line goes on with the same word."""
    for number, line in enumerate(lines):
        after = lines[number + 1].text if number + 1 < len(lines) else ""
        cut = _CUT.search(line.text[-_TAIL:])
        if cut and after[:1].isalnum():
            yield line.text if _is_compound(cut[1], after, words) else line.text[:-1]
        elif _OPEN_ADDRESS.search(line.text[-_TAIL:]) or (
            line.text[-2:-1].isdigit() and line.text[-1:] in "-–"
        ):
            yield line.text
        else:
            yield line.text + " "


def _is_compound(stem: str, after: str, words: AbstractSet[str]) -> bool:
    """Whether the hyphen belongs to the word: Shawe-Taylor, actor-critic, but not esti-mate."""
    if not after[0].islower():
        return True
    found = _WORD.match(after)
    rest, stem = found[0] if found else "", stem.lower()
    if stem + rest in words:
        return False
    if f"{stem}-{rest}" in words:
        return True
    head, hyphen, _ = rest.partition("-")
    return stem in words and head in words and len(stem) > 2 and (len(head) > 2 or bool(hyphen))
