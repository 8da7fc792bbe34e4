"""Writes what the store holds for other programs to read, a row at a time: JSON lines, CSV or Parquet."""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO

from trailmark.errors import UsageError, WorkspaceError
from trailmark.store.database import Database
from trailmark.store.tables import NESTED, TABLES, ColumnType

__all__ = ["FORMATS", "TABLES", "export", "in_csv", "write_rows"]

Row = tuple[Any, ...]
Columns = Mapping[str, ColumnType]

ROW_GROUP = 10_000
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n")


def export(
    database: Database, table: str, file_format: str, out: Path | BinaryIO, *, run_id: int | None = None
) -> int:
    """Write a table (`TABLES`) in a format (`FORMATS`) to a file or a stream; tells how many rows it had.

    A file appears whole or not at all. Records are not of a run, so `run_id` does not limit them.
    """
    for name, choices in ((table, TABLES), (file_format, FORMATS)):
        if name not in choices:
            raise UsageError(f"{name!r} cannot be exported; choose one of {', '.join(choices)}.")
    nested = table in NESTED and file_format == "jsonl"
    content = NESTED[table] if nested else TABLES[table]
    return write_rows(content.columns, content.rows(database, run_id), file_format, out)


def write_rows(columns: Columns, rows: Iterable[Row], file_format: str, out: Path | BinaryIO) -> int:
    """Write any rows with these columns, in the same way."""
    with _opened(out) as stream:
        return FORMATS[file_format](columns, rows, stream)


@contextmanager
def _opened(out: Path | BinaryIO) -> Iterator[BinaryIO]:
    """A stream to write to. A file is written beside its place and moved there when it is complete."""
    if not isinstance(out, Path):
        yield out
        return
    target = out.resolve()
    try:
        if target.exists() and not target.is_file():  # a pipe or a device must not be replaced
            with target.open("wb") as stream:
                yield stream
        else:
            with _draft_of(target) as stream:
                yield stream
    except BrokenPipeError:
        raise
    except OSError as error:
        raise WorkspaceError(f"{out} cannot be written: {error.strerror}.") from error


@contextmanager
def _draft_of(target: Path) -> Iterator[BinaryIO]:
    draft = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        with draft.open("wb") as stream:
            yield stream
        draft.replace(target)
    finally:
        draft.unlink(missing_ok=True)


def _write_jsonl(columns: Columns, rows: Iterable[Row], stream: BinaryIO) -> int:
    count = 0
    for row in _typed(columns, rows):
        line = json.dumps(dict(zip(columns, row, strict=True)), ensure_ascii=False)
        stream.write(line.encode() + b"\n")
        count += 1
    return count


def _write_csv(columns: Columns, rows: Iterable[Row], stream: BinaryIO) -> int:
    text = io.TextIOWrapper(stream, encoding="utf-8", newline="")
    writer = csv.writer(text)
    writer.writerow(columns)
    count = 0
    for row in _typed(columns, rows):
        writer.writerow([in_csv(value) for value in row])
        count += 1
    text.flush()
    text.detach()
    return count


def in_csv(value: Any) -> Any:
    """Text from a hostile page must not become a formula in a spreadsheet: an apostrophe keeps it text."""
    if isinstance(value, str) and value.startswith(_FORMULA_STARTS):
        return f"'{value}"
    return json.dumps(value) if isinstance(value, bool) else value


def _write_parquet(columns: Columns, rows: Iterable[Row], stream: BinaryIO) -> int:
    try:
        import pyarrow as pa  # noqa: PLC0415 - an extra
        from pyarrow import parquet  # noqa: PLC0415
    except ImportError:
        raise UsageError("Parquet needs an extra: pip install 'trailmark[parquet]'.") from None
    types = {"text": pa.string(), "integer": pa.int64(), "number": pa.float64(), "yes_no": pa.bool_()}
    schema = pa.schema([(name, types[kind]) for name, kind in columns.items()])
    typed, count = _typed(columns, rows), 0
    with parquet.ParquetWriter(pa.PythonFile(stream, mode="w"), schema, compression="zstd") as writer:
        while group := list(islice(typed, ROW_GROUP)):
            by_column = zip(zip(*group, strict=True), schema.types, strict=True)
            arrays = [pa.array(values, kind) for values, kind in by_column]
            writer.write_table(pa.Table.from_arrays(arrays, schema=schema))
            count += len(group)
    return count


def _typed(columns: Columns, rows: Iterable[Row]) -> Iterator[Row]:
    """Rows with truth values where SQLite has 0 and 1."""
    switches = [index for index, kind in enumerate(columns.values()) if kind == "yes_no"]
    for row in rows:
        values = list(row)
        for index in switches:
            values[index] = bool(values[index])
        yield tuple(values)


FORMATS: dict[str, Callable[[Columns, Iterable[Row], BinaryIO], int]] = {
    "jsonl": _write_jsonl,
    "csv": _write_csv,
    "parquet": _write_parquet,
}
