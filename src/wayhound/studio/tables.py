"""Long lists: pages of them, and CSV downloads of goals and sites."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import Response

from wayhound.store.export import export
from wayhound.store.table_files import in_csv
from wayhound.studio.studio import query_number
from wayhound.workspace import Workspace

_BYTE_ORDER_MARK = "\ufeff"  # without it, spreadsheets on Windows do not recognise UTF-8


def csv_text(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a table as CSV, with the column names in the first row."""
    out = io.StringIO(newline="")
    writer = csv.writer(out)
    writer.writerow(columns)
    writer.writerows([in_csv(cell) for cell in row] for row in rows)
    return _BYTE_ORDER_MARK + out.getvalue()


def download_table(workspace: Workspace, table: str, run_id: int, name: str, words: str = "") -> Response:
    """Return the table that `wayhound export` writes, in the same columns, or its rows that have these words."""
    stream = io.BytesIO()
    export(workspace.database, table, "csv", stream, run_id=run_id)
    text = stream.getvalue().decode()
    if words:
        rows = csv.reader(io.StringIO(text, newline=""))
        columns = next(rows)
        searched = [columns.index(column) for column in ("title", "url", "site")]
        found = (row for row in rows if any(words.lower() in row[index].lower() for index in searched))
        out = io.StringIO(newline="")
        csv.writer(out).writerows([columns, *found])
        text = out.getvalue()
    return download(name, _BYTE_ORDER_MARK + text)


def download(name: str, text: str) -> Response:
    """Return a response that browsers save as a file of this name."""
    headers = {"content-disposition": f'attachment; filename="{name}"', "cache-control": "no-store"}
    return Response(text.encode(), headers=headers, media_type="text/csv")


@dataclass(frozen=True, slots=True)
class Paging:
    """One page of a list. A page number past the end stands for the last page."""

    page: int
    pages: int
    total: int
    size: int

    @classmethod
    def of(cls, page: int, total: int, size: int) -> Paging:
        pages = max(1, -(-total // size))
        return cls(min(max(page, 1), pages), pages, total, size)

    @property
    def first(self) -> int:
        """Number of items before this page."""
        return (self.page - 1) * self.size

    @property
    def range(self) -> str:
        """`101 to 150 of 2,340`."""
        last = min(self.first + self.size, self.total)
        return f"{self.first + 1:,} to {last:,} of {self.total:,}"


def requested_page(request: Request) -> int:
    """Return the page number in the query of an address, by default 1."""
    return query_number(request, "page") or 1
