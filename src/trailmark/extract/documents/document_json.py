"""Documents as plain data, for pipes and files: lists in a fixed order, since lines are many."""

from __future__ import annotations

from typing import Any

from trailmark.errors import ModelError
from trailmark.extract.documents.document import Document, DocumentPage, Line, Unread, Word

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
