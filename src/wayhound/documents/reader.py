"""The one door: bytes of any kind in, a document or the reason why there is none out."""

from __future__ import annotations

import shutil
import signal
import zlib
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
from wayhound.documents.limited import run_limited
from wayhound.documents.limits import DEFAULT_LIMITS, Limits
from wayhound.documents.pdf import PdfReader
from wayhound.documents.plain_text import read_plain

_SAFE = ("-q", "-dSAFER", "-dBATCH", "-dNOPAUSE", "-dNOPLATFONTS")


def read_postscript(
    body: bytes, pdf: PdfReader, limits: Limits, ghostscript: str | None = None
) -> Document | Unread:
    """By way of PDF, so that there are places and sizes; if that gives no text, by Ghostscript's own reading.

    Fonts of old PostScript often do not say which letters they draw: what comes out must pass for a language.
    """
    program = ghostscript or shutil.which("gs")
    if not program:
        return Unread(
            "no_ghostscript", "PostScript is read by Ghostscript (gs), which is not installed here."
        )
    if len(body) > limits.most_bytes:
        return limits.too_big(len(body))
    converted = _converted(program, "pdfwrite", body, limits)
    if isinstance(converted, Unread):
        return converted
    outcome = pdf.read(converted)
    if isinstance(outcome, Unread) and outcome.reason in {"scanned", "garbled"}:
        return _second_reading(program, body, limits, outcome)
    return replace(outcome, kind="postscript") if isinstance(outcome, Document) else outcome


def _second_reading(program: str, body: bytes, limits: Limits, first: Unread) -> Document | Unread:
    text = _converted(program, "txtwrite", body, limits)
    outcome = text if isinstance(text, Unread) else read_plain(text, limits, "postscript")
    if isinstance(outcome, Unread):
        detail = "The fonts of the PostScript file do not say which letters they draw, or it holds pictures."
        return Unread("garbled", detail, first.n_pages)
    return replace(outcome, notes=(*outcome.notes, "Places and sizes of the text are not known."))


def _converted(program: str, device: str, body: bytes, limits: Limits) -> bytes | Unread:
    """What Ghostscript's device makes of the file. It reads from a pipe and may write one file."""
    with TemporaryDirectory(prefix="wayhound-") as folder:
        target = Path(folder, "converted")
        command = [program, *_SAFE, f"-sDEVICE={device}", f"-sOutputFile={target}", "-"]
        code = run_limited(command, body, limits, folder)
        if code is None or code == -signal.SIGXCPU:
            return Unread("too_slow", "Ghostscript needed more time for the file than is allowed.")
        converted = target.read_bytes() if target.exists() else b""
        if code or not converted:
            return Unread("broken", "Ghostscript cannot make sense of the PostScript file.")
        return converted


_GZIP = b"\x1f\x8b"
_MOST_MEMBERS = 100  # each copies what is left of the file
_HEAD = 1_024  # in which readers of PDF and printers look for the file's mark


class DocumentReader:
    """Reads PDF, PostScript and plain text, each also packed with gzip; told apart by content, not by name.

    Several threads may use one reader; `workers` PDFs are read at a time. Close it, or use it in a `with`.

    >>> with DocumentReader() as reader:
    ...     reader.read(b"A line.").lines[0].text
    'A line.'
    """

    def __init__(
        self,
        limits: Limits = DEFAULT_LIMITS,
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
        """Never raises for what is in the file; UsageError when a package that is needed is not installed."""
        if body.startswith(_GZIP):
            unpacked = unpack(body, self.limits)
            if isinstance(unpacked, Unread):
                return unpacked
            body = unpacked
        head = body[:_HEAD]
        if b"%PDF-" in head:
            return self._pdf_reader().read(body)
        if b"%!" in head[:64] or b"%!PS" in head:
            return read_postscript(body, self._pdf_reader(), self.limits, self.ghostscript)
        return read_plain(body, self.limits)

    def read_all(self, bodies: Iterable[bytes]) -> Iterator[Document | Unread]:
        """The outcome of each file in turn, read as many at a time as there are workers."""
        waiting: deque[Future[Document | Unread]] = deque()
        with ThreadPoolExecutor(self.workers) as threads:
            for body in bodies:
                waiting.append(threads.submit(self.read, body))
                if len(waiting) > self.workers:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()

    def _pdf_reader(self) -> PdfReader:
        with self._lock:
            if self._pdf is None:
                self._pdf = PdfReader(self.limits, self.workers)
            return self._pdf


def unpack(body: bytes, limits: Limits) -> bytes | Unread:
    """The content of all members of a gzip file, as far as it is allowed to swell."""
    content = b""
    for _ in range(_MOST_MEMBERS):
        unpacker = zlib.decompressobj(wbits=31)
        try:
            content += unpacker.decompress(body, limits.most_bytes + 1 - len(content))
        except zlib.error:
            return Unread("broken", "The file is packed with gzip, but damaged.")
        if len(content) > limits.most_bytes:
            return Unread("too_big", f"Unpacked, the file has more than {limits.most_bytes / 1e6:.0f} MB.")
        if not unpacker.eof:
            return Unread("broken", "The file is packed with gzip, but its end is missing.")
        body = unpacker.unused_data
        if not body.startswith(_GZIP):  # what follows is padding
            return content
    return Unread("broken", "The file is packed with gzip in far too many parts.")
