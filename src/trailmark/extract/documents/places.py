"""Where a part of running text stands: a box for each line that it is on, from the boxes of its words."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from trailmark.extract.documents.document import Box, Line


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
