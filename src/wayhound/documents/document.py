"""A document that has been read: pages of lines, and their form as JSON for pipes and files."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

from wayhound.errors import ModelError

Box = tuple[float, float, float, float]
"""Left, top, right, bottom in points, from the upper left corner of the page."""

DocumentKind = Literal["pdf", "postscript", "scan", "text", "docx", "html"]
LineRole = Literal["text", "margin"]
PageTrouble = Literal[
    "broken",  # the page could not be loaded
    "no_text",  # loaded, but without text: blank, or a picture
    "not_read",  # beyond the limit of pages or time
]
UnreadReason = Literal[
    "empty",  # no bytes
    "not_a_document",  # neither PDF nor PostScript nor text
    "encrypted",  # needs a password
    "broken",  # too damaged to be read
    "scanned",  # pages that are pictures
    "no_text",  # pages with neither text nor pictures
    "garbled",  # unreadable text
    "too_big",  # more bytes, or more memory, than allowed
    "too_slow",  # more time than allowed
    "crashed",  # the reading process crashed
    "no_ghostscript",  # PostScript needs a program that is not installed
    "no_tesseract",  # and so does OCR
]


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a line whose box is known."""

    text: str
    box: Box
    size: float


@dataclass(frozen=True, slots=True)
class Line:
    """A line of text in reading order.

    `column` is 0 for lines across columns and on pages with one column; `indent` is the distance from the
    left edge of the column in ems. `superscripts` are character ranges of `text`. Sources without layout,
    such as plain text, have no `box`, and sizes are 0. A word cut at the end of the line keeps its hyphen.
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
    """A page, numbered from 1, with its lines in reading order; `trouble` is the reason if there are none."""

    number: int
    width: float = 0.0
    height: float = 0.0
    lines: tuple[Line, ...] = ()
    trouble: PageTrouble | None = None


@dataclass(frozen=True)
class Document:
    """A file with text. Running heads and page numbers are lines with the role `margin`.

    `pages` has every page of the file, with its trouble if it has no lines; pages beyond the limit are
    counted in `notes`. Each note is a sentence. `stated` are fields with values that the file states about itself.
    """

    kind: DocumentKind
    pages: tuple[DocumentPage, ...]
    notes: tuple[str, ...] = ()
    stated: tuple[tuple[str, tuple[str, ...]], ...] = ()

    def all_lines(self) -> Iterator[Line]:
        for page in self.pages:
            yield from page.lines

    @cached_property
    def lines(self) -> tuple[Line, ...]:
        """The lines of the running text, without margins."""
        return tuple(line for line in self.all_lines() if line.role == "text")

    @cached_property
    def text(self) -> str:
        """`lines`, joined by line ends."""
        return "\n".join(line.text for line in self.lines)

    @cached_property
    def offsets(self) -> tuple[int, ...]:
        """The offset of each of `lines` in `text`."""
        offsets, offset = list[int](), 0
        for line in self.lines:
            offsets.append(offset)
            offset += len(line.text) + 1
        return tuple(offsets)


@dataclass(frozen=True, slots=True)
class Unread:
    """A file without usable text: a reason code, and a sentence for people."""

    reason: UnreadReason
    detail: str
    n_pages: int = 0


FORMAT = 1


def to_data(outcome: Document | Unread) -> dict[str, Any]:
    """Return data for `json`. Lines become lists in a fixed order, since there are many of them."""
    if isinstance(outcome, Unread):
        return {"format": FORMAT, "unread": [outcome.reason, outcome.detail, outcome.n_pages]}
    pages = [
        [page.number, page.width, page.height, [_line_data(line) for line in page.lines], page.trouble]
        for page in outcome.pages
    ]
    data = {"format": FORMAT, "kind": outcome.kind, "pages": pages, "notes": outcome.notes}
    return data | ({"stated": outcome.stated} if outcome.stated else {})


def from_data(data: dict[str, Any]) -> Document | Unread:
    """Return what `to_data` was given. Raises ModelError for data of another format."""
    if data.get("format") != FORMAT:
        raise ModelError(
            f"Documents of format {data.get('format')} cannot be read; this version reads {FORMAT}."
        )
    if "unread" in data:
        return Unread(*data["unread"])
    pages = tuple(
        DocumentPage(number, width, height, tuple(_line(line, number) for line in lines), trouble)
        for number, width, height, lines, trouble in data["pages"]
    )
    stated = tuple((name, tuple(texts)) for name, texts in data.get("stated", ()))
    return Document(data["kind"], pages, tuple(data["notes"]), stated)


def _line_data(line: Line) -> list[Any]:
    flags = line.bold + 2 * line.italic + 4 * (line.role == "margin")
    words = [(word.text, *word.box, word.size) for word in line.words]
    return [line.text, line.box, line.size, flags, line.column, line.indent, line.superscripts, words]


def _line(data: list[Any], page: int) -> Line:
    text, box, size, flags, column, indent, superscripts, words = data
    return Line(
        text,
        page,
        tuple(box) if box else None,
        size,
        bool(flags & 1),
        bool(flags & 2),
        column=column,
        indent=indent,
        role="margin" if flags & 4 else "text",
        superscripts=tuple((start, end) for start, end in superscripts),
        words=tuple(Word(word[0], (word[1], word[2], word[3], word[4]), word[5]) for word in words),
    )
