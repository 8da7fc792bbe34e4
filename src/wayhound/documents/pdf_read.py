"""One PDF, from bytes to a document or the reason why not; to be run in a process that may die of it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field

import pypdfium2 as pdfium  # type: ignore[import-untyped]
import pypdfium2.raw as pdfium_c  # type: ignore[import-untyped]

from wayhound.documents.document import Document, DocumentPage, PageTrouble, Unread
from wayhound.documents.headings import is_introduction_heading, is_references_heading, may_be_heading
from wayhound.documents.margins import set_margins_aside
from wayhound.documents.pdf_layout import find_gutter, lines_of_page, sewn, stretched
from wayhound.documents.pdf_pieces import PageText, Piece
from wayhound.documents.plain_text import is_garbled

_FIRST_PAGES = 2  # on which a title and the like may stand
_REFERENCE_PAGES = 12  # that a heading of references may lead
_LEAST_LETTERS = 8  # a page with fewer has no text worth the name
_NOTES: dict[PageTrouble, str] = {
    "broken": "could not be loaded",
    "no_text": "hold no text",
    "not_read": "were not read for want of time",
}


@dataclass
class _ReadPage:
    width: float = 0.0
    height: float = 0.0
    pieces: list[Piece] = field(default_factory=list)
    trouble: PageTrouble | None = None


def read_pdf(body: bytes, most_pages: int, seconds: float) -> Document | Unread:
    """Reads pages until `most_pages` or the time is spent; the others stand in the document as not read."""
    try:
        pdf = pdfium.PdfDocument(body)
    except pdfium.PdfiumError as error:
        return _refusal(error)
    try:
        n_pages = len(pdf)
        if n_pages < 1:
            return Unread("broken", "The PDF has no pages.")
        pages = list(_pages(pdf, min(n_pages, most_pages), time.monotonic() + seconds))
        return _outcome(pages, n_pages)
    finally:
        pdf.close()


def _refusal(error: pdfium.PdfiumError) -> Unread:
    if error.err_code in {pdfium_c.FPDF_ERR_PASSWORD, pdfium_c.FPDF_ERR_SECURITY}:
        return Unread("encrypted", "The PDF cannot be opened without a password.")
    return Unread("broken", "The PDF is too damaged to be opened.")


def _pages(pdf: pdfium.PdfDocument, n_pages: int, deadline: float) -> Iterator[_ReadPage]:
    wanted = _WantedWords()
    for number in range(n_pages):
        if time.monotonic() > deadline:
            yield _ReadPage(trouble="not_read")
            continue
        try:
            page = PageText(pdf[number])
        except (pdfium.PdfiumError, AssertionError):  # the latter when a page's own counts do not agree
            yield _ReadPage(trouble="broken")
            continue
        yield _read_page(page, number, wanted)
        page.close()


class _WantedWords:
    """Words get boxes where fields will be read: before the introduction, and among references."""

    def __init__(self) -> None:
        self._in_front = True
        self._references_until = 0

    def among(self, pieces: list[Piece], page: int) -> list[Piece]:
        first = 0 if self._in_front or page < self._references_until else len(pieces)
        last = len(pieces)
        for at, piece in enumerate(pieces):
            if not may_be_heading(piece.text):
                continue
            if is_references_heading(piece.text):
                self._references_until = page + _REFERENCE_PAGES
                first = min(first, at)
            elif self._in_front and is_introduction_heading(piece.text):
                self._in_front, last = False, at
        self._in_front = self._in_front and page + 1 < _FIRST_PAGES
        return pieces[first : max(first, last)]


def _read_page(page: PageText, number: int, wanted: _WantedWords) -> _ReadPage:
    pieces = page.pieces()
    page.add_words(pieces if stretched(pieces) else wanted.among(pieces, number))
    letters = sum(len(piece.text) for piece in pieces)
    trouble: PageTrouble | None = None if letters >= _LEAST_LETTERS else "no_text"
    return _ReadPage(round(page.width, 1), round(page.height, 1), sewn(pieces), trouble)


def _outcome(read: list[_ReadPage], n_pages: int) -> Document | Unread:
    if not any(page.pieces for page in read):
        return _without_text(read, n_pages)
    gutter = find_gutter((page.width, page.pieces) for page in read)
    pages = (
        DocumentPage(
            number,
            page.width,
            page.height,
            lines_of_page(page.pieces, number, page.width, gutter),
            page.trouble,
        )
        for number, page in enumerate(read, start=1)
    )
    document = Document("pdf", set_margins_aside(list(pages)), tuple(_notes(read, n_pages)))
    if is_garbled(document.text):
        detail = "The text of the PDF is not readable: its fonts do not say which letters they draw."
        return Unread("garbled", detail, n_pages)
    return document


def _without_text(read: list[_ReadPage], n_pages: int) -> Unread:
    if all(page.trouble == "not_read" for page in read):
        return Unread("too_slow", "The time was spent before the first page had been read.", n_pages)
    if all(page.trouble == "broken" for page in read):
        return Unread("broken", f"None of the PDF's {n_pages} pages can be loaded.", n_pages)
    detail = f"None of the {n_pages} pages holds text: they are blank or pictures, and need OCR first."
    return Unread("scanned", detail, n_pages)


def _notes(read: list[_ReadPage], n_pages: int) -> Iterator[str]:
    for trouble, what in _NOTES.items():
        numbers = [str(number) for number, page in enumerate(read, start=1) if page.trouble == trouble]
        if numbers:
            shown = ", ".join(numbers[:10]) + (" …" if len(numbers) > 10 else "")
            yield f"{len(numbers)} of {n_pages} pages {what}: {shown}."
    if n_pages > len(read):
        yield f"Only the first {len(read)} of {n_pages} pages were read."
