"""Documents as plain data, for pipes and files: lists in a fixed order, since lines are many."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

from wayhound.errors import ModelError

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


FORMAT = 1


def to_data(outcome: Document | Unread) -> dict[str, Any]:
    """Data that `json` can write, and `from_data` reads."""
    if isinstance(outcome, Unread):
        return {"format": FORMAT, "unread": [outcome.reason, outcome.detail, outcome.n_pages]}
    pages = [
        [page.number, page.width, page.height, [_line_data(line) for line in page.lines], page.trouble]
        for page in outcome.pages
    ]
    return {"format": FORMAT, "kind": outcome.kind, "pages": pages, "notes": outcome.notes}


def from_data(data: dict[str, Any]) -> Document | Unread:
    if data.get("format") != FORMAT:
        raise ModelError(f"Documents of format {data.get('format')} cannot be read: only {FORMAT} is known.")
    if "unread" in data:
        return Unread(*data["unread"])
    pages = tuple(
        DocumentPage(number, width, height, tuple(_line(each, number) for each in lines), trouble)
        for number, width, height, lines, trouble in data["pages"]
    )
    return Document(data["kind"], pages, tuple(data["notes"]))


def _line_data(line: Line) -> list[Any]:
    face = line.bold + 2 * line.italic + 4 * (line.role == "margin")
    words = [(word.text, *word.box, word.size) for word in line.words]
    return [line.text, line.box, line.size, face, line.column, line.indent, line.superscripts, words]


def _line(data: list[Any], page: int) -> Line:
    text, box, size, face, column, indent, marks, words = data
    return Line(
        text,
        page,
        tuple(box) if box else None,
        size,
        bool(face & 1),
        bool(face & 2),
        column,
        indent,
        "margin" if face & 4 else "text",
        tuple((start, end) for start, end in marks),
        tuple(Word(word[0], (word[1], word[2], word[3], word[4]), word[5]) for word in words),
    )
