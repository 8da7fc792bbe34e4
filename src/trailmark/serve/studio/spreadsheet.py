"""Tables for spreadsheets, in an encoding that all of them read, with no cell that could be a formula."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence

from starlette.responses import Response

_BYTE_ORDER_MARK = "\ufeff"  # without it, spreadsheets on Windows take UTF-8 for something else
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n")


def csv_text(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """The table as text, the names of its columns first."""
    out = io.StringIO(newline="")
    writer = csv.writer(out)
    writer.writerow(columns)
    writer.writerows([_safe(cell) for cell in row] for row in rows)
    return _BYTE_ORDER_MARK + out.getvalue()


def download(name: str, text: str) -> Response:
    """An answer that browsers save as a file of this name."""
    headers = {"content-disposition": f'attachment; filename="{name}"', "cache-control": "no-store"}
    return Response(text.encode(), headers=headers, media_type="text/csv")


def _safe(cell: object) -> object:
    """Text from a hostile page must not become a formula: an apostrophe keeps it text."""
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(_FORMULA_STARTS) else cell
