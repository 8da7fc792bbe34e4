"""Documents as read: pages of lines with their places, or the reason why there is no text."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

Box = tuple[float, float, float, float]
"""Left, top, right, bottom in points, from the upper left corner of the page."""

DocumentKind = Literal["pdf", "postscript", "text"]
LineRole = Literal["text", "margin"]
PageTrouble = Literal[
    "broken",  # the page could not be loaded
    "no_text",  # loaded, but it holds no text: blank, or a picture
    "not_read",  # beyond the limit of pages or time
]
UnreadReason = Literal[
    "empty",  # no bytes at all
    "not_a_document",  # neither PDF nor PostScript nor text
    "encrypted",  # cannot be opened without a password
    "broken",  # damaged past reading
    "scanned",  # pages without text
    "garbled",  # text came out that no one could read
    "too_big",  # more bytes, or more memory, than is allowed
    "too_slow",  # more time than is allowed
    "crashed",  # the reading process died of it
    "no_ghostscript",  # PostScript needs a program that is not installed
]


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a line whose box is known."""

    text: str
    box: Box
    size: float


@dataclass(frozen=True, slots=True)
class Line:
    """A line as a reader sees it.

    `column` is 0 where a line crosses columns or there is only one; `indent` is the distance from the left
    edge of the column in ems. `superscripts` are character ranges of `text`. Where the source has no layout,
    as plain text, `box` is missing and sizes are 0. A word cut at the end of the line keeps its hyphen.
    """

    text: str
    page: int = 1
    box: Box | None = None
    size: float = 0.0
    bold: bool = False
    italic: bool = False
    column: int = 0
    indent: float = 0.0
    role: LineRole = "text"
    superscripts: tuple[tuple[int, int], ...] = ()
    words: tuple[Word, ...] = ()


@dataclass(frozen=True, slots=True)
class DocumentPage:
    """A page, from 1, with its lines in reading order; `trouble` says why there are none."""

    number: int
    width: float = 0.0
    height: float = 0.0
    lines: tuple[Line, ...] = ()
    trouble: PageTrouble | None = None


@dataclass(frozen=True)
class Document:
    """A file with text. Running heads, page numbers and the like are lines whose role is `margin`.

    Every page of the file is in `pages`, with its trouble where it has no lines; only where a file has more
    than may be read at all do `notes` tell of the rest. Each note is a sentence.
    """

    kind: DocumentKind
    pages: tuple[DocumentPage, ...]
    notes: tuple[str, ...] = ()

    @property
    def troubled(self) -> tuple[DocumentPage, ...]:
        return tuple(page for page in self.pages if page.trouble)

    def all_lines(self) -> Iterator[Line]:
        for page in self.pages:
            yield from page.lines

    @cached_property
    def lines(self) -> tuple[Line, ...]:
        """The lines of the running text, margins set aside."""
        return tuple(line for line in self.all_lines() if line.role == "text")

    @cached_property
    def text(self) -> str:
        """The running text, line by line."""
        return "\n".join(line.text for line in self.lines)

    @cached_property
    def offsets(self) -> tuple[int, ...]:
        """Where each of `lines` begins in `text`."""
        offsets, at = list[int](), 0
        for line in self.lines:
            offsets.append(at)
            at += len(line.text) + 1
        return tuple(offsets)


@dataclass(frozen=True, slots=True)
class Unread:
    """A file whose text cannot be had: a reason code, and a sentence for people."""

    reason: UnreadReason
    detail: str
    n_pages: int = 0
