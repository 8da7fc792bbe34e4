"""What the token models of papers see: words in lines, and how the lines stand on the page if that is
known.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median

from trailmark.extract.documents.document import Line

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
