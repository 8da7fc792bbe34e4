"""Positions of values in a document: spans of record sources, and words that spell a given text."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from functools import cached_property

from wayhound.documents.document import Document, Line
from wayhound.documents.flow import bounding_box, box_in_line
from wayhound.papers.reference_cut import RawReference
from wayhound.record import Span
from wayhound.text.words import letters_and_digits

_LinePart = tuple[Line, int, int]  # a line, and the range of its characters


class SpanMaker:
    """Makes the spans of one document, which is identified by its URL."""

    def __init__(self, document: Document, url: str) -> None:
        self.document = document
        self.url = url

    def in_text(self, start: int, end: int) -> Span:
        """Return the span of the characters [start, end) of `document.text`."""
        offsets = self.document.offsets
        first, last = bisect_right(offsets, start) - 1, bisect_right(offsets, max(start, end - 1))
        lines = self.document.lines[first:last]
        return self._span(_cut(lines, offsets[first:last], start, end), start, end)

    def in_reference(self, reference: RawReference, start: int, end: int) -> Span | None:
        """Return the span of the characters [start, end) of a reference's text."""
        parts = _cut(reference.lines, reference.offsets, start, end)
        if not parts:
            return None
        (first, begin, _), (last, _, stop) = parts[0], parts[-1]
        return self._span(parts, self._offset(first) + begin, self._offset(last) + stop)

    def _span(self, parts: Sequence[_LinePart], start: int, end: int) -> Span:
        """Return a span with the box of the lines on its first page."""
        page = parts[0][0].page if parts else 0
        boxes = [box_in_line(line, first, last) for line, first, last in parts if line.page == page]
        present = [box for box in boxes if box]
        return Span(self.url, start, end, page, bounding_box(present) if present else None)

    def _offset(self, line: Line) -> int:
        number = self._numbers.get(id(line))
        return self.document.offsets[number] if number is not None else 0

    @cached_property
    def _numbers(self) -> dict[int, int]:
        """The index of each line by identity: a document may have equal lines."""
        return {id(line): number for number, line in enumerate(self.document.lines)}


def _cut(lines: Sequence[Line], offsets: Sequence[int], start: int, end: int) -> list[_LinePart]:
    return [
        (line, max(0, start - offset), min(len(line.text), end - offset))
        for line, offset in zip(lines, offsets, strict=True)
        if offset < end and offset + len(line.text) > start
    ]


_MARKS = re.compile(r"^[\W\d_]+|[\W\d_]+$")  # footnote marks around a name


def find_words(words: Sequence[str], text: str, start: int = 0) -> range | None:
    """Return the range of words that spell the text, from `start` on; None if none do.

    Case, accents, punctuation, footnote marks and line ends are ignored.

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
    """Return the end of the words from `first` on that spell exactly these letters; None if they do not."""
    at = first
    while wanted and at < len(plain):
        letters = plain[at]
        if not wanted.startswith(letters):
            letters = _MARKS.sub("", letters)
            if not letters or not wanted.startswith(letters):
                return None
        wanted = wanted.removeprefix(letters)
        at += 1
    return at if not wanted else None
