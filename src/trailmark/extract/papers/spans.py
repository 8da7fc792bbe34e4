"""From characters of a text to the span that a record keeps: page, box, and place in the whole document."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from functools import cached_property

from trailmark.extract.documents.document import Document, Line
from trailmark.extract.documents.places import around, box_in_line
from trailmark.extract.papers.reference_cut import RawReference
from trailmark.record import Span

_Placed = tuple[Line, int, int]  # a line, and the first and last of its characters that belong


class SpanMaker:
    """Spans in one document, which is known by its URL."""

    def __init__(self, document: Document, url: str) -> None:
        self.document = document
        self.url = url

    def in_text(self, start: int, end: int) -> Span:
        """The span of the characters from `start` up to `end` of the document's running text."""
        offsets = self.document.offsets
        first, last = bisect_right(offsets, start) - 1, bisect_right(offsets, max(start, end - 1))
        lines = self.document.lines[first:last]
        return self._span(_cut(lines, offsets[first:last], start, end), start, end)

    def in_reference(self, reference: RawReference, start: int, end: int) -> Span | None:
        """The span of the characters from `start` up to `end` of a reference's text."""
        placed = _cut(reference.lines, reference.starts, start, end)
        if not placed:
            return None
        (first, begin, _), (last, _, stop) = placed[0], placed[-1]
        return self._span(placed, self._offset(first) + begin, self._offset(last) + stop)

    def _span(self, placed: Sequence[_Placed], start: int, end: int) -> Span:
        """The box is that of the lines on the first page alone."""
        page = placed[0][0].page if placed else 0
        boxes = [box_in_line(line, first, last) for line, first, last in placed if line.page == page]
        known = [box for box in boxes if box]
        return Span(self.url, start, end, page, around(known) if known else None)

    def _offset(self, line: Line) -> int:
        number = self._numbers.get(id(line))
        return self.document.offsets[number] if number is not None else 0

    @cached_property
    def _numbers(self) -> dict[int, int]:
        """The number of each line in the running text, by identity: equal lines stand in many places."""
        return {id(line): number for number, line in enumerate(self.document.lines)}


def _cut(lines: Sequence[Line], starts: Sequence[int], start: int, end: int) -> list[_Placed]:
    return [
        (line, max(0, start - at), min(len(line.text), end - at))
        for line, at in zip(lines, starts, strict=True)
        if at < end and at + len(line.text) > start
    ]
