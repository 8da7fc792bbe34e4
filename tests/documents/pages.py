"""PDF files for tests, with text at any position and in any order."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass

import pytest

WIDTH, HEIGHT = 595, 842
needs_ocr = pytest.mark.skipif(
    not (shutil.which("gs") and shutil.which("tesseract")), reason="Tesseract or Ghostscript is not installed"
)


@dataclass(frozen=True, slots=True)
class Shown:
    """Text with its baseline at `y` points from the top. Fonts: F1 upright, F2 bold, F3 with ligatures."""

    text: str
    x: float = 72
    y: float = 72
    size: float = 10
    font: str = "F1"
    matrix: str = "1 0 0 1"


def pdf_of(
    *pages: Sequence[Shown], rotate: int = 0, trailer: bytes = b"", extra: Sequence[bytes] = ()
) -> bytes:
    """A PDF with these pages. `extra` objects come last; `trailer` goes into the trailer as it is."""
    fonts = (
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Times-Roman /Encoding /WinAnsiEncoding >>",
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Times-Bold /Encoding /WinAnsiEncoding >>",
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Times-Roman /Encoding << /Differences [1 /fi /ffl] >> >>",
    )
    first = 3 + len(fonts)
    kids = " ".join(f"{first + 2 * i} 0 R" for i in range(len(pages)))
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Count {len(pages)} /Kids [{kids}] >>".encode(),
        *fonts,
    ]
    for i, page in enumerate(pages):
        content = b"\n".join(map(_show, page))
        attributes = f"/MediaBox [0 0 {WIDTH} {HEIGHT}] /Rotate {rotate} /Contents {first + 2 * i + 1} 0 R"
        resources = "/Resources << /Font << /F1 3 0 R /F2 4 0 R /F3 5 0 R >> >>"
        objects.append(f"<< /Type /Page /Parent 2 0 R {attributes} {resources} >>".encode())
        objects.append(stream(content))
    return assembled([*objects, *extra], trailer)


def scan_of(*pictures: tuple[int, int, bytes]) -> bytes:
    """A PDF whose pages are grey pictures, each given by its width, height and bytes."""
    kids = " ".join(f"{3 + 3 * i} 0 R" for i in range(len(pictures)))
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Count {len(pictures)} /Kids [{kids}] >>".encode(),
    ]
    for i, (width, height, body) in enumerate(pictures):
        content, picture = 4 + 3 * i, 5 + 3 * i
        attributes = f"/MediaBox [0 0 {WIDTH} {HEIGHT}] /Contents {content} 0 R"
        resources = f"/Resources << /XObject << /P {picture} 0 R >> >>"
        objects.append(f"<< /Type /Page /Parent 2 0 R {attributes} {resources} >>".encode())
        objects.append(stream(f"{WIDTH} 0 0 {HEIGHT} 0 0 cm /P Do".encode()))
        form = f"/Type /XObject /Subtype /Image /Width {width} /Height {height} /ColorSpace /DeviceGray"
        objects.append(stream(body, f"{form} /BitsPerComponent 8".encode()))
    return assembled(objects)


def stream(content: bytes, attributes: bytes = b"") -> bytes:
    return b"<< /Length %d %s >>\nstream\n%s\nendstream" % (len(content), attributes, content)


def assembled(objects: Sequence[bytes], trailer: bytes = b"") -> bytes:
    out, offsets = bytearray(b"%PDF-1.4\n"), list[int]()
    for number, content in enumerate(objects, start=1):
        offsets.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, content)
    start, size = len(out), len(objects) + 1
    out += b"xref\n0 %d\n0000000000 65535 f \n" % size
    out += b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    out += b"trailer\n<< /Size %d /Root 1 0 R %s >>\nstartxref\n%d\n%%%%EOF\n" % (size, trailer, start)
    return bytes(out)


def _show(shown: Shown) -> bytes:
    text = shown.text.encode("cp1252")
    for special in (b"\\", b"(", b")"):
        text = text.replace(special, b"\\" + special)
    place = f"BT /{shown.font} {shown.size} Tf {shown.matrix} {shown.x} {HEIGHT - shown.y} Tm ("
    return place.encode() + text + b") Tj ET"


def paragraph(
    lines: Sequence[str], x: float = 72, y: float = 100, size: float = 10, leading: float = 12
) -> list[Shown]:
    return [Shown(text, x, y + i * leading, size) for i, text in enumerate(lines)]


def drawn(body: bytes) -> tuple[int, int, bytes]:
    """Draw the page of a PDF, as a scanner would see it: width, height and grey values."""
    command = [
        "gs",
        "-q",
        "-dSAFER",
        "-dBATCH",
        "-dNOPAUSE",
        "-sDEVICE=pgmraw",
        "-r150",
        "-sOutputFile=-",
        "-",
    ]
    picture = subprocess.run(command, input=body, capture_output=True, check=True).stdout
    header = re.match(rb"P5\s(?:#.*\n)?(\d+) (\d+)\s255\s", picture)
    assert header
    return int(header[1]), int(header[2]), picture[header.end() :]


def bitmap_pdf_of(*lines: tuple[str, float]) -> bytes:
    """A PDF in a font of bitmaps, as old TeX files have it: lines of b, n and blanks, each with its size.

    The font has a size of one; its letters are as high as their pixels, of which 100 are an em.
    """
    glyphs = stream(b"50 0 0 0 45 69 d1 0 0 45 69 re f"), stream(b"50 0 0 0 45 43 d1 0 0 45 43 re f")
    font = (
        b"<< /Type /Font /Subtype /Type3 /FontBBox [0 0 0 0] /FontMatrix [1 0 0 1 0 0] /FirstChar 98 /LastChar 110 "
        b"/Encoding << /Differences [98 /b 110 /n] >> /CharProcs << /b 4 0 R /n 5 0 R >> /Resources << >> "
        b"/Widths [50 0 0 0 0 0 0 0 0 0 0 0 50] >>"
    )
    shown = b"\n".join(
        f"BT {size / 100} 0 0 {size / 100} {72 + 3.2 * size * word} {770 - 40 * row} Tm "
        f"/F1 1 Tf ({text}) Tj ET".encode()
        for row, (line, size) in enumerate(lines)
        for word, text in enumerate(line.split())
    )
    page = f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 {WIDTH} {HEIGHT}] /Contents 7 0 R "
    return assembled(
        [
            b"<< /Type /Catalog /Pages 2 0 R >>",
            b"<< /Type /Pages /Count 1 /Kids [6 0 R] >>",
            font,
            *glyphs,
            page.encode() + b"/Resources << /Font << /F1 3 0 R >> >> >>",
            stream(shown),
        ]
    )
