"""A page of a PDF as a picture, with the place marked where something was read.

PDFs come from other sites and PDFium is not thread-safe: each picture is made by a process of its own with limits on
time and memory. The module is separate from `originals` so that this process imports no web framework.
"""

from __future__ import annotations

import struct
import sys
import tempfile
import zlib
from pathlib import Path
from typing import TYPE_CHECKING

from wayhound.documents.limits import MIB, ReadingLimits, run_limited
from wayhound.processes import python_command

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Pixels = npt.NDArray[np.uint8]

Box = tuple[float, float, float, float]
"""Left, top, right, bottom in points, from the upper left corner of the page."""

LIMITS = ReadingLimits(max_bytes=50 * MIB, wall_seconds=20.0, cpu_seconds=10)
SCALE = 1.5  # pixels for a point
_MOST_PIXELS = 2_000
_INK, _THICK, _MARGIN = (200, 60, 10), 3, 4
_OUT = "page.png"


def page_image(pdf: bytes, page: int, box: Box | None) -> bytes | None:
    """Return the picture as PNG; None if there is no such page or it cannot be rendered."""
    with tempfile.TemporaryDirectory() as folder:
        sides = [f"{side:.2f}" for side in box] if box else []
        command = python_command("wayhound.portal.page_image", str(page), *sides)
        code = run_limited(command, pdf, LIMITS, folder)
        out = Path(folder) / _OUT
        return out.read_bytes() if code == 0 and out.is_file() else None


def main() -> int:
    """Render a page of the PDF on standard input into a file of the current folder."""
    page, *sides = sys.argv[1:]
    box = tuple(map(float, sides))
    pixels = _render(sys.stdin.buffer.read(), int(page), box)
    if pixels is None:
        return 1
    Path(_OUT).write_bytes(_png(pixels))
    return 0


def _render(pdf: bytes, page: int, box: tuple[float, ...]) -> Pixels | None:
    import numpy as np  # noqa: PLC0415 - in the renderer process alone
    import pypdfium2  # type: ignore[import-untyped]  # noqa: PLC0415

    document = pypdfium2.PdfDocument(pdf)
    if not 1 <= page <= len(document):
        return None
    sheet = document[page - 1]
    scale = min(SCALE, _MOST_PIXELS / max(*sheet.get_size(), 1.0))
    bitmap = sheet.render(scale=scale, rev_byteorder=True, prefer_bgrx=False)
    pixels = np.array(bitmap.to_numpy()[..., :3], dtype=np.uint8)
    if len(box) == 4:
        _mark(pixels, [side * scale for side in box])
    return pixels


def _mark(pixels: Pixels, box: list[float]) -> None:
    """Draw the part of a frame around the place that is on the page."""
    height, width = pixels.shape[:2]
    left, top = (max(0, round(side) - _MARGIN) for side in box[:2])
    right, bottom = min(width, round(box[2]) + _MARGIN), min(height, round(box[3]) + _MARGIN)
    for rows, columns in (
        (slice(top, top + _THICK), slice(left, right)),
        (slice(max(top, bottom - _THICK), bottom), slice(left, right)),
        (slice(top, bottom), slice(left, left + _THICK)),
        (slice(top, bottom), slice(max(left, right - _THICK), right)),
    ):
        pixels[rows, columns] = _INK


def _png(pixels: Pixels) -> bytes:
    """Return PNG, RGB with 8 bits, no filter (RFC 2083)."""
    import numpy as np  # noqa: PLC0415 - in the renderer process alone

    height, width = pixels.shape[:2]
    rows = np.zeros((height, 1 + 3 * width), dtype=np.uint8)
    rows[:, 1:] = pixels.reshape(height, 3 * width)
    rgb_of_8_bits = (8, 2, 0, 0, 0)  # depth, colour type, compression, filter, interlace
    head = struct.pack(">IIBBBBB", width, height, *rgb_of_8_bits)
    data = zlib.compress(rows.tobytes(), 6)
    return b"\x89PNG\r\n\x1a\n" + _chunk(b"IHDR", head) + _chunk(b"IDAT", data) + _chunk(b"IEND", b"")


def _chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


if __name__ == "__main__":
    sys.exit(main())
