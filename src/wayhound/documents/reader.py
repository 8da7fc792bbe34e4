"""Reading of files of any kind: bytes in, a document or a reason out."""

from __future__ import annotations

import re
import shutil
import signal
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
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

_TEX_DASH = re.compile(r"(?<=\d)\{(?=\d)")
_GHOSTSCRIPT_OPTIONS = ("-q", "-dSAFER", "-dBATCH", "-dNOPAUSE", "-dNOPLATFONTS")


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
    if isinstance(outcome, Unread) and outcome.reason in {"scanned", "garbled"}:
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

    def read(self, body: bytes) -> Document | Unread:
        """Return the document, or why it cannot be read. Raises MissingExtra if a needed package is missing."""
        if body.startswith(_GZIP):
            decompressed = _gunzip(body, self.limits)
            if isinstance(decompressed, Unread):
                return decompressed
            body = decompressed
        head = body[:_HEAD]
        if b"%PDF-" in head:
            return self._pdf_reader().read(body)
        if b"%!" in head[:64] or b"%!PS" in head:
            return read_postscript(body, self._pdf_reader(), self.limits, self.ghostscript)
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
