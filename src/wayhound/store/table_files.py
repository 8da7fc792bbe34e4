"""Files of tables for other programs, written a row at a time: JSON lines, CSV, XLSX or Parquet."""

from __future__ import annotations

import csv
import io
import json
import re
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, Literal
from xml.sax.saxutils import escape

from wayhound.errors import MissingExtra, WorkspaceError
from wayhound.files import atomic_file

ColumnType = Literal["text", "integer", "number", "yes_no", "time", "json"]
Row = tuple[Any, ...]
Columns = Mapping[str, ColumnType]

ROW_GROUP = 10_000
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n")


def write_rows(columns: Columns, rows: Iterable[Row], file_format: str, out: Path | BinaryIO) -> int:
    """Write rows in a format (`FORMATS`) to a file or a stream and return their number. A file appears whole or not."""
    with _opened(out) as stream:
        return FORMATS[file_format](columns, rows, stream)


@contextmanager
def _opened(out: Path | BinaryIO) -> Iterator[BinaryIO]:
    """Open a file for the block, which appears when it is complete; a stream is used as it is."""
    if not isinstance(out, Path):
        yield out
        return
    target = out.resolve()
    try:
        if target.exists() and not target.is_file():  # never replace a pipe or a device
            with target.open("wb") as stream:
                yield stream
        else:
            with atomic_file(target) as stream:
                yield stream
    except BrokenPipeError:
        raise
    except OSError as error:
        raise WorkspaceError(f"{out} cannot be written: {error.strerror}.") from error


def _write_jsonl(columns: Columns, rows: Iterable[Row], stream: BinaryIO) -> int:
    count = 0
    for row in _typed(columns, rows):
        line = json.dumps(dict(zip(columns, row, strict=True)), ensure_ascii=False)
        stream.write(line.encode() + b"\n")
        count += 1
    return count


def _write_csv(columns: Columns, rows: Iterable[Row], stream: BinaryIO) -> int:
    text = io.TextIOWrapper(stream, encoding="utf-8", newline="")
    try:
        writer = csv.writer(text)
        writer.writerow(columns)
        count = 0
        for row in _typed(columns, rows):
            writer.writerow([in_csv(value) for value in row])
            count += 1
        return count
    finally:
        text.detach()  # the caller closes the stream; the wrapper would, after an error as well


def in_csv(value: Any) -> Any:
    """Return a value for CSV. An apostrophe keeps text from a hostile page from becoming a formula."""
    if isinstance(value, str) and value.startswith(_FORMULA_STARTS):
        return f"'{value}"
    return json.dumps(value) if isinstance(value, bool) else value


def _write_parquet(columns: Columns, rows: Iterable[Row], stream: BinaryIO) -> int:
    pa = _pyarrow("Parquet")
    from pyarrow import parquet  # noqa: PLC0415

    schema, count = _arrow_schema(columns), 0
    with parquet.ParquetWriter(pa.PythonFile(stream, mode="w"), schema, compression="zstd") as writer:
        for group in _arrow_groups(columns, rows):
            writer.write_table(group)
            count += len(group)
    return count


def to_arrow(columns: Columns, rows: Iterable[Row]) -> Any:
    """Return rows as `pyarrow.Table`. Raises MissingExtra without pyarrow."""
    pa = _pyarrow("An Arrow table")
    groups = list(_arrow_groups(columns, rows))
    return pa.concat_tables(groups) if groups else _arrow_schema(columns).empty_table()


def _pyarrow(feature: str) -> Any:
    try:
        import pyarrow as pa  # noqa: PLC0415 - an extra
    except ImportError:
        raise MissingExtra(feature, "pyarrow", "parquet") from None
    return pa


def _arrow_schema(columns: Columns) -> Any:
    import pyarrow as pa  # noqa: PLC0415

    types = {
        "time": pa.timestamp("ms", "UTC"),
        "text": pa.string(),
        "integer": pa.int64(),
        "number": pa.float64(),
        "yes_no": pa.bool_(),
    }
    return pa.schema([(name, types[kind]) for name, kind in columns.items()])


def _arrow_groups(columns: Columns, rows: Iterable[Row]) -> Iterator[Any]:
    """Yield tables of at most `ROW_GROUP` rows."""
    import pyarrow as pa  # noqa: PLC0415

    schema, typed = _arrow_schema(columns), _with_times(columns, _typed(columns, rows))
    while group := list(islice(typed, ROW_GROUP)):
        by_column = zip(zip(*group, strict=True), schema.types, strict=True)
        yield pa.Table.from_arrays([pa.array(values, kind) for values, kind in by_column], schema=schema)


def _typed(columns: Columns, rows: Iterable[Row]) -> Iterator[Row]:
    """Yield rows with True and False where SQLite has 1 and 0."""
    switches = [index for index, kind in enumerate(columns.values()) if kind == "yes_no"]
    for row in rows:
        values = list(row)
        for index in switches:
            values[index] = bool(values[index])
        yield tuple(values)


def _with_times(columns: Columns, rows: Iterable[Row]) -> Iterator[Row]:
    """Yield rows with times in place of their ISO 8601 texts."""
    times = [index for index, kind in enumerate(columns.values()) if kind == "time"]
    for row in rows:
        values = list(row)
        for index in times:
            values[index] = datetime.fromisoformat(values[index]) if values[index] else None
        yield tuple(values)


_XLSX_PARTS = {
    "[Content_Types].xml": '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default '
    'Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Override '
    'PartName="/xl/workbook.xml" '
    'ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/>'
    '<Override PartName="/xl/worksheets/sheet1.xml" '
    'ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.worksheet+xml"/></Types>',
    "_rels/.rels": '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship '
    'Id="rId1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" '
    'Target="xl/workbook.xml"/></Relationships>',
    "xl/_rels/workbook.xml.rels": '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
    '<Relationship Id="rId1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet" '
    'Target="worksheets/sheet1.xml"/></Relationships>',
    "xl/workbook.xml": '<workbook xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" '
    'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"><sheets><sheet name="Wayhound" '
    'sheetId="1" r:id="rId1"/></sheets></workbook>',
}
_XML_HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>'
_NOT_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_MAX_CELL = 32_767  # characters, as spreadsheets allow


def _write_xlsx(columns: Columns, rows: Iterable[Row], stream: BinaryIO) -> int:
    """Write a workbook of one sheet. Text is stored as text, so that nothing in it becomes a formula."""
    count = 0
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as book:
        for name, text in _XLSX_PARTS.items():
            book.writestr(name, _XML_HEAD + text)
        with book.open("xl/worksheets/sheet1.xml", "w", force_zip64=True) as sheet:
            head = '<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>'
            sheet.write(f"{_XML_HEAD}{head}{_xlsx_row(tuple(columns))}".encode())
            for row in _typed(columns, rows):
                sheet.write(_xlsx_row(row).encode())
                count += 1
            sheet.write(b"</sheetData></worksheet>")
    return count


def _xlsx_row(row: Row) -> str:
    return f"<row>{''.join(map(_xlsx_cell, row))}</row>"


def _xlsx_cell(value: Any) -> str:
    if value is None:
        return "<c/>"
    if isinstance(value, bool):
        return f'<c t="b"><v>{int(value)}</v></c>'
    if isinstance(value, int | float):
        return f"<c><v>{value}</v></c>"
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return f'<c t="inlineStr"><is><t xml:space="preserve">{escape(_NOT_XML.sub("", text)[:_MAX_CELL])}</t></is></c>'


FORMATS: dict[str, Callable[[Columns, Iterable[Row], BinaryIO], int]] = {
    "jsonl": _write_jsonl,
    "csv": _write_csv,
    "parquet": _write_parquet,
    "xlsx": _write_xlsx,
}
