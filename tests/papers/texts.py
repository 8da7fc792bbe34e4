"""Texts for tests of papers: the words of lines, and documents from plain text or from lines with boxes."""

from __future__ import annotations

from collections.abc import Iterable

from wayhound.documents.document import Document, DocumentPage, Line
from wayhound.documents.plain_text import read_plain
from wayhound.papers.tokens import TokenLine, token_line


def token_lines(text: str) -> list[TokenLine]:
    return [token_line(line) for line in text.splitlines()]


def plain(text: str) -> Document:
    document = read_plain(text.encode())
    assert isinstance(document, Document)
    return document


def placed(
    texts: Iterable[str], x: float = 72, y: float = 100, size: float = 10, page: int = 1, column: int = 0
) -> list[Line]:
    """Lines one below the other; leading blanks become an indent of half an em each."""
    lines = []
    for number, text in enumerate(texts):
        left = x + 0.5 * size * (len(text) - len(text.lstrip()))
        top = y + 1.2 * size * number
        box = (left, top, left + 0.5 * size * len(text.strip()), top + size)
        lines.append(Line(text.strip(), page, box, size, column=column))
    return lines


def laid_out(*pages: Iterable[Line]) -> Document:
    return Document(
        "pdf",
        tuple(DocumentPage(number, 595, 842, tuple(lines)) for number, lines in enumerate(pages, start=1)),
    )
