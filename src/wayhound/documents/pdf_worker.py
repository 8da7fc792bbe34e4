"""The process that reads PDFs for `pdf.PdfReader`: limited in memory and time, confined, and driven through pipes.

A request is a frame of JSON (`max_pages`, `seconds`, `cpu_seconds`) and a frame with the file; the answer is a
frame of JSON. A frame is its length in four bytes, then its bytes.
"""

from __future__ import annotations

import gc
import json
import os
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any, BinaryIO

import pypdfium2 as pdfium  # type: ignore[import-untyped]
import pypdfium2.raw as pdfium_c  # type: ignore[import-untyped]

from wayhound.documents.document import Document, DocumentPage, PageTrouble, Unread, to_data
from wayhound.documents.headings import is_introduction_heading, is_references_heading, may_be_heading
from wayhound.documents.margins import mark_margins, without_line_numbers
from wayhound.documents.pdf import FRAME_LENGTH
from wayhound.documents.pdf_layout import are_loose, find_gutter, join_runs, page_lines
from wayhound.documents.pdf_metadata import stated_fields
from wayhound.documents.pdf_text import PageText, TextRun
from wayhound.documents.plain_text import is_garbled
from wayhound.processes import allow_cpu, limit_process
from wayhound.sandbox import confine_process

_FRONT_PAGES = 2  # pages that title, authors and abstract may be on
_REFERENCE_PAGES = 12  # pages after a heading of references that may belong to it
_MIN_LETTERS = 8  # a page with fewer counts as empty
_NOTES: dict[PageTrouble, str] = {
    "broken": "could not be loaded",
    "no_text": "hold no text",
    "not_read": "were not read, because the time was up",
}


def main() -> int:
    """Answer requests until the pipe is closed."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever a library prints must not get among the answers
    limit_process(int(sys.argv[1]))
    confine_process()
    gc.disable()  # the objects of a file have no cycles, and the process is replaced after some hundred files
    _send(answers, {"ready": True})
    while request := _receive(sys.stdin.buffer):
        options = json.loads(request)
        body = _receive(sys.stdin.buffer)
        allow_cpu(options["cpu_seconds"])
        try:
            outcome = read_pdf(body, options["max_pages"], options["seconds"])
        except MemoryError:
            outcome = Unread("too_big", "The PDF needs more memory than is allowed.")
        _send(answers, to_data(outcome))
    return 0


def _receive(stream: BinaryIO) -> bytes:
    length = stream.read(FRAME_LENGTH.size)
    return stream.read(FRAME_LENGTH.unpack(length)[0]) if len(length) == FRAME_LENGTH.size else b""


def _send(stream: BinaryIO, data: dict[str, Any]) -> None:
    frame = json.dumps(data, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
    stream.write(FRAME_LENGTH.pack(len(frame)) + frame)
    stream.flush()


@dataclass
class _ReadPage:
    width: float = 0.0
    height: float = 0.0
    runs: list[TextRun] = field(default_factory=list)
    trouble: PageTrouble | None = None
    has_picture: bool = False  # looked for only on pages without text


def read_pdf(body: bytes, max_pages: int, seconds: float) -> Document | Unread:
    """Read at most `max_pages` pages for at most `seconds`; pages not reached in time are marked as not read."""
    try:
        pdf = pdfium.PdfDocument(body)
    except pdfium.PdfiumError as error:
        return _refusal(error)
    try:
        n_pages = len(pdf)
        if n_pages < 1:
            return Unread("broken", "The PDF has no pages.")
        pages = list(_pages(pdf, min(n_pages, max_pages), time.monotonic() + seconds))
        outcome = _outcome(pages, n_pages)
        if isinstance(outcome, Unread):
            return outcome
        return replace(outcome, stated=tuple(stated_fields(_information(pdf), body).items()))
    finally:
        pdf.close()


def _information(pdf: pdfium.PdfDocument) -> dict[str, str]:
    """Return the title of the document information; empty if it cannot be read."""
    try:
        return {"Title": pdf.get_metadata_value("Title")}
    except (pdfium.PdfiumError, AssertionError, UnicodeDecodeError):
        return {}


def _refusal(error: pdfium.PdfiumError) -> Unread:
    if error.err_code in {pdfium_c.FPDF_ERR_PASSWORD, pdfium_c.FPDF_ERR_SECURITY}:
        return Unread("encrypted", "The PDF cannot be opened without a password.")
    return Unread("broken", "The PDF is too damaged to be opened.")


def _pages(pdf: pdfium.PdfDocument, n_pages: int, deadline: float) -> Iterator[_ReadPage]:
    selection = _WordSelection()
    for number in range(n_pages):
        if time.monotonic() > deadline:
            yield _ReadPage(trouble="not_read")
            continue
        try:
            page = PageText(pdf[number])
        except (pdfium.PdfiumError, AssertionError):  # pypdfium2 asserts that a page's counts agree
            yield _ReadPage(trouble="broken")
            continue
        if number == 0:
            page.restore_daggers()
        read = _read_page(page, number, selection)
        read.has_picture = read.trouble == "no_text" and page.has_picture()
        yield read
        page.close()


class _WordSelection:
    """Selects the runs whose words get boxes: before the introduction, and in references.

    Only there are fields read, and boxes of words cost more than the text itself.
    """

    def __init__(self) -> None:
        self._in_front = True
        self._references_until = 0

    def select(self, runs: list[TextRun], page: int) -> list[TextRun]:
        first = 0 if self._in_front or page < self._references_until else len(runs)
        last = len(runs)
        for at, run in enumerate(runs):
            if not may_be_heading(run.text):
                continue
            if is_references_heading(run.text):
                self._references_until = page + _REFERENCE_PAGES
                first = min(first, at)
            elif self._in_front and is_introduction_heading(run.text):
                self._in_front, last = False, at
        self._in_front = self._in_front and page + 1 < _FRONT_PAGES
        return runs[first : max(first, last)]


def _read_page(page: PageText, number: int, selection: _WordSelection) -> _ReadPage:
    runs = page.runs()
    page.add_words(runs if are_loose(runs) else selection.select(runs, number))
    letters = sum(len(run.text) for run in runs)
    trouble: PageTrouble | None = None if letters >= _MIN_LETTERS else "no_text"
    return _ReadPage(round(page.width, 1), round(page.height, 1), join_runs(runs), trouble)


def _outcome(read: list[_ReadPage], n_pages: int) -> Document | Unread:
    if not any(page.runs for page in read):
        return _without_text(read, n_pages)
    gutter = find_gutter((page.width, page.runs) for page in read)
    pages = (
        DocumentPage(
            number,
            page.width,
            page.height,
            page_lines(page.runs, number, page.width, gutter),
            page.trouble,
        )
        for number, page in enumerate(read, start=1)
    )
    document = Document("pdf", mark_margins(without_line_numbers(list(pages))), tuple(_notes(read, n_pages)))
    if is_garbled(document.text):
        detail = "The text of the PDF is unreadable: its fonts do not say which letters they draw."
        return Unread("garbled", detail, n_pages)
    return document


def _without_text(read: list[_ReadPage], n_pages: int) -> Unread:
    if all(page.trouble == "not_read" for page in read):
        return Unread("too_slow", "The time was up before the first page had been read.", n_pages)
    if all(page.trouble == "broken" for page in read):
        return Unread("broken", f"None of the PDF's {n_pages} pages can be loaded.", n_pages)
    pictures = sum(page.has_picture for page in read)
    if pictures:
        detail = f"None of the {n_pages} pages holds text, and {pictures} are pictures: a scan, which OCR can read."
        return Unread("scanned", detail, n_pages)
    detail = f"None of the {n_pages} pages holds text or pictures: blank, or with letters drawn as shapes."
    return Unread("no_text", detail, n_pages)


def _notes(read: list[_ReadPage], n_pages: int) -> Iterator[str]:
    for trouble, description in _NOTES.items():
        numbers = [str(number) for number, page in enumerate(read, start=1) if page.trouble == trouble]
        if numbers:
            shown = ", ".join(numbers[:10]) + (" …" if len(numbers) > 10 else "")
            yield f"{len(numbers)} of {n_pages} pages {description}: {shown}."
    if n_pages > len(read):
        yield f"Only the first {len(read)} of {n_pages} pages were read."


if __name__ == "__main__":
    sys.exit(main())
