"""Tables for spreadsheets, in an encoding that all of them read, with no cell that could be a formula."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence

from starlette.responses import Response

from trailmark.store.export import in_csv

_BYTE_ORDER_MARK = "\ufeff"  # without it, spreadsheets on Windows take UTF-8 for something else


def csv_text(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """The table as text, the names of its columns first."""
    out = io.StringIO(newline="")
    writer = csv.writer(out)
    writer.writerow(columns)
    writer.writerows([in_csv(cell) for cell in row] for row in rows)
    return _BYTE_ORDER_MARK + out.getvalue()


def download(name: str, text: str) -> Response:
    """An answer that browsers save as a file of this name."""
    headers = {"content-disposition": f'attachment; filename="{name}"', "cache-control": "no-store"}
    return Response(text.encode(), headers=headers, media_type="text/csv")
