"""What a token model answers, whichever it is: a field for every word, and how sure it is of each run of
words.
"""

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
    """A word between spaces, with its punctuation; `start` counts characters into the text of its line."""

    text: str
    start: int = 0

    @property
    def end(self) -> int:
        return self.start + len(self.text)


@dataclass(frozen=True, slots=True)
class Layout:
    """How a line stands on its page, in numbers that do not depend on paper or type size.

    `size` is the type size over that of most lines given; `depth` where the line stands from the top of the
    page (0) to its foot (1); `off_centre` how far its middle is from the page's, as a share of the page's
    width.
    """

    size: float = 1.0
    depth: float = 0.0
    off_centre: float = 0.0
    bold: bool = False
    italic: bool = False


@dataclass(frozen=True, slots=True)
class TokenLine:
    """The words of one line; no `layout` where the source has none."""

    tokens: tuple[Token, ...]
    layout: Layout | None = None

    @property
    def words(self) -> tuple[str, ...]:
        return tuple(token.text for token in self.tokens)

    def __len__(self) -> int:
        return len(self.tokens)


def token_line(text: str, layout: Layout | None = None) -> TokenLine:
    return TokenLine(tuple(Token(word[0], word.start()) for word in _WORD.finditer(text)), layout)


def reference_line(text: str) -> TokenLine:
    """The words of a reference; volume and pages that are printed as one, as in 77(2):257–286, are two."""
    return TokenLine(tuple(Token(word[0], word.start()) for word in _REFERENCE_WORD.finditer(text)))


def token_lines(text: str) -> list[TokenLine]:
    """The lines of plain text; empty ones are kept, as lines without words."""
    return [token_line(line) for line in text.splitlines()]


def document_lines(lines: Sequence[Line], page_size: tuple[float, float] = (0.0, 0.0)) -> list[TokenLine]:
    """Lines as read from a document, one for one, with their layout where they have boxes."""
    usual = median([line.size for line in lines if line.size] or [0.0])
    return [token_line(line.text, _layout(line, usual, *page_size)) for line in lines]


def first_words(lines: Sequence[TokenLine], most: int) -> list[TokenLine]:
    """The lines without the words beyond the first `most`: there are texts without end, and without lines."""
    kept, left = list[TokenLine](), most
    for line in lines:
        kept.append(line if len(line) <= left else TokenLine(line.tokens[:left], line.layout))
        left = max(0, left - len(line))
    return kept


def all_words(lines: Iterable[TokenLine]) -> list[str]:
    return [token.text for line in lines for token in line.tokens]


def _layout(line: Line, usual_size: float, width: float, height: float) -> Layout | None:
    if line.box is None or not (usual_size and width and height):
        return None
    left, top, right, _ = line.box
    off_centre = ((left + right) / 2 - width / 2) / width
    return Layout(line.size / usual_size, top / height, off_centre, line.bold, line.italic)


TextKind = Literal["header", "reference"]


@dataclass(frozen=True, slots=True)
class Segment:
    """Words [first, last) that are one field, and the probability that all of them are."""

    field: str
    first: int
    last: int
    confidence: float = 1.0


@dataclass(frozen=True, slots=True)
class Labelling:
    """The field of every word, and the runs of words of one field."""

    labels: tuple[str, ...]
    segments: tuple[Segment, ...]


@dataclass(frozen=True, slots=True)
class Hint:
    """What is known of a word from elsewhere: the log of how many times likelier it makes the field."""

    word: int
    field: str
    weight: float


class FieldModel(Protocol):
    """Finds the fields of headers, or of references."""

    def label(self, lines: Sequence[TokenLine], hints: Sequence[Hint] = ()) -> Labelling: ...


def checked_kind(said: object) -> TextKind:
    """What a model file says that it is for."""
    if said == "header":
        return "header"
    if said == "reference":
        return "reference"
    raise ModelError(f"This model is neither for headers nor for references, but for {said!r}.")


def runs(labels: Sequence[str]) -> Iterator[tuple[str, int, int]]:
    """The label, beginning and end of each run of equal labels."""
    first = 0
    for place in range(1, len(labels) + 1):
        if place == len(labels) or labels[place] != labels[first]:
            yield labels[first], first, place
            first = place
