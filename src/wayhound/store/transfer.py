"""Copies all rows of one database to another, of either kind, and compares counts and checksums."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from graphlib import TopologicalSorter
from hashlib import blake2b
from typing import Any

from wayhound.errors import UsageError, WorkspaceError
from wayhound.store.database import Database, storable
from wayhound.store.sqlite import SqliteDatabase

Progress = Callable[[int, int], None]
"""Called with the rows copied and the rows in all."""

_EVERY = 1_000  # rows


@dataclass
class _Sum:
    """The number of rows and a checksum that does not depend on their order."""

    rows: int = 0
    checksum: int = 0

    def add(self, row: tuple[Any, ...]) -> None:
        digest = blake2b(repr(row).encode("utf-8", "replace"), digest_size=8).digest()
        self.rows += 1
        self.checksum = (self.checksum + int.from_bytes(digest)) % (1 << 64)


def copy_rows(source: Database, target: Database, progress: Progress = lambda _done, _of: None) -> int:
    """Copy all rows in one transaction, read them again, and return their number.

    An interrupted copy leaves the target empty, so that it can be repeated. Raises UsageError if the target has rows,
    WorkspaceError if it does not hold the same after the copy.
    """
    columns = _columns()
    if taken := next((table for table in columns if _count(target, table)), None):
        raise UsageError(
            f"{target.name} is not empty: {taken} has rows. Choose an empty database, or remove what is there."
        )
    with source.snapshot(), target.bulk_load(list(columns)):
        total, done = sum(_count(source, table) for table in columns), 0
        sums = {table: _Sum() for table in columns}
        for table, names in columns.items():
            rows = _summed(_rows(source, table, names), sums[table])
            target.insert_rows(table, names, _with_progress(rows, done, total, progress))
            done += sums[table].rows
            progress(done, total)
        for table, names in columns.items():
            _compare(target, table, names, sums[table])
    return done


def _columns() -> dict[str, tuple[str, ...]]:
    """Return the columns of each table, tables that others refer to first."""
    columns, order = _schema()
    return {table: columns[table] for table in order}


@cache
def _schema() -> tuple[dict[str, tuple[str, ...]], tuple[str, ...]]:
    with SqliteDatabase(None) as model:
        tables = [
            name
            for (name,) in model.execute(
                "SELECT name FROM sqlite_schema WHERE type = 'table' AND name <> 'migration' ORDER BY name"
            )
        ]
        columns = {
            table: tuple(name for (name,) in model.execute("SELECT name FROM pragma_table_info(?)", (table,)))
            for table in tables
        }
        parents = {
            table: {
                other
                for (other,) in model.execute('SELECT "table" FROM pragma_foreign_key_list(?)', (table,))
            }
            for table in tables
        }
    return columns, tuple(TopologicalSorter(parents).static_order())


def _count(database: Database, table: str) -> int:
    return int(database.execute(f"SELECT count(*) FROM {table}").fetchone()[0])  # noqa: S608


def _rows(database: Database, table: str, names: Iterable[str]) -> Iterator[tuple[Any, ...]]:
    listed = ", ".join(f'"{name}"' for name in names)
    for row in database.stream(f"SELECT {listed} FROM {table}"):  # noqa: S608
        yield tuple(_common(value) for value in row)


def _common(value: Any) -> Any:
    """Return a value as both kinds of databases can hold it: Postgres refuses NUL in text."""
    return storable(value).replace("\x00", "\ufffd") if isinstance(value, str) else value


def _summed(rows: Iterable[tuple[Any, ...]], into: _Sum) -> Iterator[tuple[Any, ...]]:
    for row in rows:
        into.add(row)
        yield row


def _with_progress(
    rows: Iterable[tuple[Any, ...]], done: int, total: int, progress: Progress
) -> Iterator[tuple[Any, ...]]:
    for number, row in enumerate(rows, start=done + 1):
        if number % _EVERY == 0:
            progress(number, total)
        yield row


def _compare(database: Database, table: str, names: tuple[str, ...], expected: _Sum) -> None:
    found = _Sum()
    for row in _rows(database, table, names):
        found.add(row)
    if found != expected:
        raise WorkspaceError(
            f"The copy of {table} in {database.name} is not what was read: {found.rows:,} of {expected.rows:,} rows. "
            "Nothing was kept; try again."
        )
