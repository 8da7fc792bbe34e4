"""Reading of files of any kind: bytes in, a document or a reason out."""

from __future__ import annotations

import re
import shutil
import signal
import subprocess
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Lock
from types import TracebackType
from typing import Self

from wayhound.documents.document import Document, Unread
from wayhound.documents.limits import DEFAULT_LIMITS, ReadingLimits, run_limited
from wayhound.documents.markup import read_docx, read_html
from wayhound.documents.pdf import PdfReader
from wayhound.documents.plain_text import is_markup, read_plain
from wayhound.files import DecompressionError, decompress
from wayhound.sandbox import sparse_environment

_TEX_DASH = re.compile(r"(?<=\d)\{(?=\d)")
_GHOSTSCRIPT_OPTIONS = ("-q", "-dSAFER", "-dBATCH", "-dNOPAUSE", "-dNOPLATFONTS")
_OCR_DPI = 300  # for which Tesseract's models were trained
_OCR_PAGES = 60  # a page takes some four CPU seconds
_OCR_PAGE_SECONDS = 15  # of a page, on average
_NOT_LANGUAGES = frozenset({"osd", "equ"})  # of Tesseract's models
NEEDS_OCR = frozenset({"scanned", "no_text", "garbled", "no_tesseract"})
"""Reasons why a file was not read that OCR can help with."""


def read_postscript(
    body: bytes, pdf: PdfReader, limits: ReadingLimits, ghostscript: str | None = None
) -> Document | Unread:
    """Convert to PDF, which has positions and sizes, and read that; or else Ghostscript's own text output.

    Fonts of old PostScript often do not say which letters they draw, so the text must look like a language.
    """
    program = ghostscript or shutil.which("gs")
    if not program:
        return Unread("no_ghostscript", "Reading PostScript needs Ghostscript (gs), which is not installed.")
    if len(body) > limits.max_bytes:
        return limits.too_big(len(body))
    converted = _converted(program, "pdfwrite", body, limits)
    if isinstance(converted, Unread):
        return converted
    outcome = pdf.read(converted)
    if isinstance(outcome, Unread) and outcome.reason in NEEDS_OCR:
        return _read_text_output(program, body, limits, outcome)
    return _with_dashes(replace(outcome, kind="postscript")) if isinstance(outcome, Document) else outcome


def _with_dashes(document: Document) -> Document:
    """Return the document with the dashes of page ranges, which TeX's fonts have in the place of a brace."""
    pages = tuple(
        replace(page, lines=tuple(replace(line, text=_TEX_DASH.sub("–", line.text)) for line in page.lines))
        for page in document.pages
    )
    return replace(document, pages=pages)


def _read_text_output(program: str, body: bytes, limits: ReadingLimits, first: Unread) -> Document | Unread:
    text = _converted(program, "txtwrite", body, limits)
    outcome = text if isinstance(text, Unread) else read_plain(text, limits, "postscript")
    if isinstance(outcome, Unread):
        detail = "The fonts of the PostScript file do not say which letters they draw, or it holds pictures."
        return Unread("garbled", detail, first.n_pages)
    return replace(outcome, notes=(*outcome.notes, "The positions and sizes of the text are unknown."))


def _converted(program: str, device: str, body: bytes, limits: ReadingLimits) -> bytes | Unread:
    """Return the output of a Ghostscript device. Ghostscript reads from a pipe and may write one file."""
    with TemporaryDirectory(prefix="wayhound-") as folder:
        target = Path(folder, "converted")
        command = [program, *_GHOSTSCRIPT_OPTIONS, f"-sDEVICE={device}", f"-sOutputFile={target}", "-"]
        code = run_limited(command, body, limits, folder)
        if code is None or code == -signal.SIGXCPU:
            return Unread("too_slow", "Converting the PostScript file took longer than is allowed.")
        converted = target.read_bytes() if target.exists() else b""
        if code or not converted:
            return Unread("broken", "Ghostscript cannot read the PostScript file.")
        return converted


def read_by_ocr(
    body: bytes, pdf: PdfReader, limits: ReadingLimits, first: Unread | None
) -> Document | Unread:
    """Draw the pages of a PDF or PostScript file, recognise their text, and read that with its positions.

    `first` is the outcome of reading without OCR, which is kept if no text is recognised.
    """
    ghostscript, tesseract = shutil.which("gs"), shutil.which("tesseract")
    if not ghostscript or not tesseract:
        missing = " and ".join(
            name for name, path in (("Tesseract", tesseract), ("Ghostscript (gs)", ghostscript)) if not path
        )
        return Unread("no_tesseract", f"The pages are pictures. OCR needs {missing}, not installed here.")
    with TemporaryDirectory(prefix="wayhound-") as folder:
        draw = [ghostscript, *_GHOSTSCRIPT_OPTIONS, "-sDEVICE=jpeggray", "-dJPEGQ=90", f"-r{_OCR_DPI}"]
        last = [f"-dLastPage={_OCR_PAGES}", f"-sOutputFile={folder}/%04d.jpg", "-"]
        drawn = run_limited([*draw, *last], body, _for_pages(limits, _OCR_PAGES), folder)
        pictures = sorted(Path(folder).glob("*.jpg"))
        if drawn or not pictures:
            return first or Unread("broken", "Ghostscript cannot draw the pages for OCR.")
        Path(folder, "pages.txt").write_text("".join(f"{path}\n" for path in pictures))
        recognise = [tesseract, f"{folder}/pages.txt", f"{folder}/recognised", "--dpi", str(_OCR_DPI)]
        options = ["-l", _ocr_languages(tesseract), "-c", "textonly_pdf=1", "pdf"]
        code = run_limited([*recognise, *options], b"", _for_pages(limits, len(pictures)), folder)
        if code is None or code == -signal.SIGXCPU:
            return Unread("too_slow", f"OCR of {len(pictures)} pages took longer than is allowed.")
        target = Path(folder, "recognised.pdf")
        outcome = pdf.read(target.read_bytes()) if target.exists() and not code else first
    if isinstance(outcome, Document):
        return _as_scan(outcome, first.n_pages if first else 0)
    return first or Unread("scanned", "OCR found no text on the pages.")


def _as_scan(document: Document, n_pages: int) -> Document:
    notes = ["The text was recognised by OCR, with its errors."]
    if n_pages > len(document.pages):
        notes.append(f"Only the first {len(document.pages)} of {n_pages} pages were recognised.")
    return replace(document, kind="scan", notes=(*document.notes, *notes))


def _for_pages(limits: ReadingLimits, n_pages: int) -> ReadingLimits:
    seconds = max(limits.cpu_seconds, _OCR_PAGE_SECONDS * n_pages)
    return replace(limits, cpu_seconds=seconds, wall_seconds=2.0 * seconds)


@lru_cache(maxsize=1)
def _ocr_languages(tesseract: str) -> str:
    """Return the installed languages: people install those that their papers are in."""
    listed = subprocess.run(  # noqa: S603 - a program of the system, without input
        [tesseract, "--list-langs"], capture_output=True, text=True, check=False, env=sparse_environment()
    ).stdout.split("\n")[1:]
    return (
        "+".join(sorted(set(listed) - _NOT_LANGUAGES - {""}, key=lambda name: (name != "eng", name))) or "eng"
    )


_GZIP, _ZIP = b"\x1f\x8b", b"PK\x03\x04"
_HEAD = 1_024  # bytes in which PDF readers and printers look for the signature of a file


class DocumentReader:
    """Reads PDF, PostScript, Word files (DOCX), papers as web pages and plain text, also compressed with gzip.

    Files are recognised by content, not by name.
    Several threads may use one reader; `workers` PDFs are read at a time. Close it, or use it in a `with`.

    >>> with DocumentReader() as reader:
    ...     reader.read(b"A line.").lines[0].text
    'A line.'
    """

    def __init__(
        self,
        limits: ReadingLimits = DEFAULT_LIMITS,
        workers: int = 1,
        ghostscript: str | None = None,
    ) -> None:
        self.limits = limits
        self.workers = workers
        self.ghostscript = ghostscript
        self._lock = Lock()
        self._pdf: PdfReader | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        with self._lock:
            if self._pdf:
                self._pdf.close()

    def read(self, body: bytes, *, ocr: bool = False) -> Document | Unread:
        """Return the document, or why it cannot be read. Raises MissingExtra if a needed package is missing.

        With `ocr`, pages that are pictures are recognised by Tesseract, which takes seconds for each.
        """
        if body.startswith(_GZIP):
            decompressed = _gunzip(body, self.limits)
            if isinstance(decompressed, Unread):
                return decompressed
            body = decompressed
        head = body[:_HEAD]
        if b"%PDF-" in head:
            outcome = self._pdf_reader().read(body)
            return self._recognised(body, outcome) if ocr else outcome
        if b"%!" in head[:64] or b"%!PS" in head:
            outcome = read_postscript(body, self._pdf_reader(), self.limits, self.ghostscript)
            return self._recognised(body, outcome) if ocr else outcome
        if body.startswith(_ZIP):
            return read_docx(body, self.limits)
        return read_html(body, self.limits) if is_markup(body) else read_plain(body, self.limits)

    def read_all(self, bodies: Iterable[bytes]) -> Iterator[Document | Unread]:
        """Yield the outcome of each file in order; `workers` files are read at a time."""
        pending: deque[Future[Document | Unread]] = deque()
        with ThreadPoolExecutor(self.workers) as threads:
            for body in bodies:
                pending.append(threads.submit(self.read, body))
                if len(pending) > self.workers:
                    yield pending.popleft().result()
            while pending:
                yield pending.popleft().result()

    def _recognised(self, body: bytes, outcome: Document | Unread) -> Document | Unread:
        """Return what OCR reads in a file without text on most of its pages; of any other file, the outcome."""
        if isinstance(outcome, Unread):
            if outcome.reason not in NEEDS_OCR:
                return outcome
            return read_by_ocr(body, self._pdf_reader(), self.limits, outcome)
        if 2 * sum(page.trouble == "no_text" for page in outcome.pages) <= len(outcome.pages):
            return outcome
        recognised = read_by_ocr(body, self._pdf_reader(), self.limits, None)
        return recognised if isinstance(recognised, Document) else outcome

    def _pdf_reader(self) -> PdfReader:
        with self._lock:
            if self._pdf is None:
                self._pdf = PdfReader(self.limits, self.workers)
            return self._pdf


def _gunzip(body: bytes, limits: ReadingLimits) -> bytes | Unread:
    try:
        content, complete = decompress(body, "gzip", limits.max_bytes)
    except DecompressionError:
        return Unread("broken", "The file is compressed with gzip, but damaged.")
    if len(content) > limits.max_bytes:
        return Unread("too_big", f"Decompressed, the file has more than {limits.max_bytes / 1e6:.0f} MB.")
    return (
        content if complete else Unread("broken", "The file is compressed with gzip, but its end is missing.")
    )
