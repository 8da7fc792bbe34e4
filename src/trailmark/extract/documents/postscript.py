"""PostScript, which is a program, is run by Ghostscript in its safe mode and read from what comes out."""

from __future__ import annotations

import shutil
import signal
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from trailmark.extract.documents.document import Document, Unread
from trailmark.extract.documents.limited import run_limited
from trailmark.extract.documents.limits import Limits
from trailmark.extract.documents.pdf import PdfReader
from trailmark.extract.documents.plain import read_plain

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
    with TemporaryDirectory(prefix="trailmark-") as folder:
        target = Path(folder, "converted")
        command = [program, *_SAFE, f"-sDEVICE={device}", f"-sOutputFile={target}", "-"]
        code = run_limited(command, body, limits, folder)
        if code is None or code == -signal.SIGXCPU:
            return Unread("too_slow", "Ghostscript needed more time for the file than is allowed.")
        converted = target.read_bytes() if target.exists() else b""
        if code or not converted:
            return Unread("broken", "Ghostscript cannot make sense of the PostScript file.")
        return converted
