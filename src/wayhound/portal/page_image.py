"""A page of a PDF as a picture, with the place marked where something was read.

PDFs come from other sites and PDFium is not thread-safe: a page is rendered once, by a process of its own with limits
on time and memory; frames are then drawn here. The module is separate from `originals` so that the renderer imports no
web framework.
"""

from __future__ import annotations

import struct
import sys
import tempfile
import zlib
from dataclasses import dataclass
from pathlib import Path

from wayhound.documents.limits import MIB, ReadingLimits, run_limited
from wayhound.processes import python_command

Box = tuple[float, float, float, float]
"""Left, top, right, bottom in points, from the upper left corner of the page."""

LIMITS = ReadingLimits(max_bytes=50 * MIB, wall_seconds=20.0, cpu_seconds=10)
SCALE = 1.5  # pixels for a point
_MOST_PIXELS = 2_000
_INK, _THICK, _MARGIN = bytes((200, 60, 10)), 3, 4
_OUT = "page.rows"
_HEAD = struct.Struct(">IId")


@dataclass(frozen=True, slots=True)
class PageImage:
    """A page in RGB of 8 bits. `rows` are compressed, each with the byte of its PNG filter (none) before it."""

    width: int
    height: int
    scale: float
    rows: bytes

    def png(self, box: Box | None) -> bytes:
        """Return the picture, with a frame around a place of the page."""
        return _png(self.width, self.height, self._framed(box) if box else self.rows)

    def _framed(self, box: Box) -> bytes:
        """Draw the part of a frame that is on the page."""
        rows = bytearray(zlib.decompress(self.rows))
        left, top, right, bottom = (round(side * self.scale) for side in box)
        left, top = max(0, left - _MARGIN), max(0, top - _MARGIN)
        right, bottom = min(self.width, right + _MARGIN), min(self.height, bottom + _MARGIN)
        if left >= right:
            return self.rows
        inner_left, inner_right = min(left + _THICK, right), max(right - _THICK, left)
        for y in range(top, bottom):
            is_edge = y < top + _THICK or y >= bottom - _THICK
            start = y * (1 + 3 * self.width) + 1
            for first, last in [(left, right)] if is_edge else [(left, inner_left), (inner_right, right)]:
                rows[start + 3 * first : start + 3 * last] = _INK * (last - first)
        return zlib.compress(rows, 1)


def render_page(pdf: bytes, page: int) -> PageImage | None:
    """Return a page; None if there is no such page or it cannot be rendered."""
    with tempfile.TemporaryDirectory() as folder:
        code = run_limited(python_command("wayhound.portal.page_image", str(page)), pdf, LIMITS, folder)
        out = Path(folder) / _OUT
        return _read(out.read_bytes()) if code == 0 and out.is_file() else None


def _read(rendered: bytes) -> PageImage | None:
    """Read the output of the renderer, which a hostile PDF may have taken over. None if it is not what it should be."""
    if len(rendered) < _HEAD.size:
        return None
    width, height, scale = _HEAD.unpack_from(rendered)
    if not (0 < width <= _MOST_PIXELS + 1 and 0 < height <= _MOST_PIXELS + 1 and 0 < scale <= SCALE):
        return None
    rows, size = rendered[_HEAD.size :], height * (1 + 3 * width)
    unpacking = zlib.decompressobj()
    try:
        unpacked = unpacking.decompress(rows, size + 1)
    except zlib.error:
        return None
    return PageImage(width, height, scale, rows) if len(unpacked) == size and unpacking.eof else None


def main() -> int:
    """Render a page of the PDF on standard input into a file of the current folder."""
    rendered = _render(sys.stdin.buffer.read(), int(sys.argv[1]))
    if rendered is None:
        return 1
    head = _HEAD.pack(rendered.width, rendered.height, rendered.scale)
    Path(_OUT).write_bytes(head + rendered.rows)
    return 0


def _render(pdf: bytes, page: int) -> PageImage | None:
    import numpy as np  # noqa: PLC0415 - in the renderer process alone
    import pypdfium2  # type: ignore[import-untyped]  # noqa: PLC0415

    document = pypdfium2.PdfDocument(pdf)
    if not 1 <= page <= len(document):
        return None
    sheet = document[page - 1]
    scale = min(SCALE, _MOST_PIXELS / max(*sheet.get_size(), 1.0))
    bitmap = sheet.render(scale=scale, rev_byteorder=True, prefer_bgrx=False)
    pixels = bitmap.to_numpy()[..., :3]
    height, width = pixels.shape[:2]
    rows = np.zeros((height, 1 + 3 * width), dtype=np.uint8)
    rows[:, 1:] = pixels.reshape(height, 3 * width)
    return PageImage(width, height, scale, zlib.compress(rows.tobytes(), 6))


def _png(width: int, height: int, rows: bytes) -> bytes:
    """Return PNG, RGB with 8 bits (RFC 2083)."""
    rgb_of_8_bits = (8, 2, 0, 0, 0)  # depth, colour type, compression, filter, interlace
    head = struct.pack(">IIBBBBB", width, height, *rgb_of_8_bits)
    return b"\x89PNG\r\n\x1a\n" + _chunk(b"IHDR", head) + _chunk(b"IDAT", rows) + _chunk(b"IEND", b"")


def _chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


if __name__ == "__main__":
    sys.exit(main())
