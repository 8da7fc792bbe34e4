"""Where a text stands among the words of some lines, whatever their case, accents, marks and line ends."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from functools import cached_property

from wayhound.documents.document import Document, Line
from wayhound.documents.flow import bounding_box, box_in_line
from wayhound.papers.reference_cut import RawReference
from wayhound.record import Span
from wayhound.text.folding import letters_and_digits

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
        placed = _cut(reference.lines, reference.offsets, start, end)
        if not placed:
            return None
        (first, begin, _), (last, _, stop) = placed[0], placed[-1]
        return self._span(placed, self._offset(first) + begin, self._offset(last) + stop)

    def _span(self, placed: Sequence[_Placed], start: int, end: int) -> Span:
        """The box is that of the lines on the first page alone."""
        page = placed[0][0].page if placed else 0
        boxes = [box_in_line(line, first, last) for line, first, last in placed if line.page == page]
        known = [box for box in boxes if box]
        return Span(self.url, start, end, page, bounding_box(known) if known else None)

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


_MARKS = re.compile(r"^[\W\d_]+|[\W\d_]+$")  # footnote marks and commas around a name


def find_words(words: Sequence[str], text: str, start: int = 0) -> range | None:
    """The words that say the text, from `start` on; None where nothing does.

    >>> find_words(["A", "Mini-", "malist’s", "Guide*"], "a minimalist's guide")
    range(0, 4)
    """
    wanted = [letters for word in text.split() if (letters := letters_and_digits(word))]
    if not wanted:
        return None
    plain = [letters_and_digits(word) for word in words]
    for first in range(start, len(words)):
        if plain[first] and (stop := _match(plain, first, "".join(wanted))):
            return range(first, stop)
    return None


def _match(plain: Sequence[str], first: int, wanted: str) -> int | None:
    """The end of the words from `first` on that spell out the letters wanted, and no more."""
    at = first
    while wanted and at < len(plain):
        said = plain[at]
        if not wanted.startswith(said):
            said = _MARKS.sub("", said)
            if not said or not wanted.startswith(said):
                return None
        wanted = wanted.removeprefix(said)
        at += 1
    return at if not wanted else None
