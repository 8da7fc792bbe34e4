"""Tokens of headers and references, and the interface of the models that label them with fields."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Literal, Protocol

from wayhound.documents.document import Line
from wayhound.errors import ModelError

_WORD = re.compile(r"\S+")
_REFERENCE_WORD = re.compile(r"\S*?\d\)?(?::(?=\d)|,(?=\d+[-–—]))|\S+")


@dataclass(frozen=True, slots=True)
class Token:
    """A word between spaces, with its punctuation; `start` is its offset in the text of its line."""

    text: str
    start: int = 0

    @property
    def end(self) -> int:
        return self.start + len(self.text)


@dataclass(frozen=True, slots=True)
class LineLayout:
    """The layout of a line, independent of paper and type size.

    `size` is relative to the median type size; `depth` is the position from the top (0) to the bottom (1) of
    the page; `off_centre` is the distance of the line's middle from the page's, as a share of its width.
    """

    size: float = 1.0
    depth: float = 0.0
    off_centre: float = 0.0
    bold: bool = False
    italic: bool = False


@dataclass(frozen=True, slots=True)
class TokenLine:
    """The words of one line; no `layout` if the source has none."""

    tokens: tuple[Token, ...]
    layout: LineLayout | None = None

    @property
    def words(self) -> tuple[str, ...]:
        return tuple(token.text for token in self.tokens)

    def __len__(self) -> int:
        return len(self.tokens)


def token_line(text: str, layout: LineLayout | None = None) -> TokenLine:
    return TokenLine(tuple(Token(word[0], word.start()) for word in _WORD.finditer(text)), layout)


def reference_line(text: str) -> TokenLine:
    """Return the words of a reference; volume and pages printed without a space, 77(2):257–286, are two."""
    return TokenLine(tuple(Token(word[0], word.start()) for word in _REFERENCE_WORD.finditer(text)))


def document_lines(lines: Sequence[Line], page_size: tuple[float, float] = (0.0, 0.0)) -> list[TokenLine]:
    """Return the lines of a document, with layout for those that have boxes."""
    usual = median([line.size for line in lines if line.size] or [0.0])
    return [token_line(line.text, _layout(line, usual, *page_size)) for line in lines]


def truncated(lines: Sequence[TokenLine], max_words: int) -> list[TokenLine]:
    """Return the lines without the words after the first `max_words`: hostile files have endless lines."""
    kept, left = list[TokenLine](), max_words
    for line in lines:
        kept.append(line if len(line) <= left else TokenLine(line.tokens[:left], line.layout))
        left = max(0, left - len(line))
    return kept


def all_words(lines: Iterable[TokenLine]) -> list[str]:
    return [token.text for line in lines for token in line.tokens]


def _layout(line: Line, usual_size: float, width: float, height: float) -> LineLayout | None:
    if line.box is None or not (usual_size and width and height):
        return None
    left, top, right, _ = line.box
    off_centre = ((left + right) / 2 - width / 2) / width
    return LineLayout(line.size / usual_size, top / height, off_centre, line.bold, line.italic)


TextKind = Literal["header", "reference"]


@dataclass(frozen=True, slots=True)
class Segment:
    """Words [first, last) that form one field, and the probability that all of them belong to it."""

    field: str
    first: int
    last: int
    confidence: float = 1.0


@dataclass(frozen=True, slots=True)
class Labelling:
    """The field of every word, and the segments of words with one field."""

    labels: tuple[str, ...]
    segments: tuple[Segment, ...]


@dataclass(frozen=True, slots=True)
class Hint:
    """Evidence from outside the model: `weight` is added to the log score of the field at the word."""

    word: int
    field: str
    weight: float


class FieldModel(Protocol):
    """A model that labels the words of headers or references."""

    def label(self, lines: Sequence[TokenLine], hints: Sequence[Hint] = ()) -> Labelling: ...


def parse_kind(kind: object) -> TextKind:
    """Return the kind of text that a model file is for. Raises ModelError if it is unknown."""
    if kind == "header":
        return "header"
    if kind == "reference":
        return "reference"
    raise ModelError(f"This model is neither for headers nor for references, but for {kind!r}.")


def label_runs(labels: Sequence[str]) -> Iterator[tuple[str, int, int]]:
    """Yield label, start and end of each run of equal labels."""
    first = 0
    for place in range(1, len(labels) + 1):
        if place == len(labels) or labels[place] != labels[first]:
            yield labels[first], first, place
            first = place
