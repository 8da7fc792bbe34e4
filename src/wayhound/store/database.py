"""A database of a workspace as the stores see it, whichever it is, and the migrations that give it its tables."""

from __future__ import annotations

import sqlite3
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any, Protocol, Self, TypeVar

from wayhound.errors import WorkspaceError

MIGRATIONS = resources.files("wayhound.store") / "migrations"


NO_LIMIT = 1 << 60
"""As the number of rows after LIMIT: all of them."""

Result = TypeVar("Result")


class Rows(Protocol):
    """The result of a statement, as both drivers return it."""

    def fetchone(self) -> Any: ...
    def fetchall(self) -> list[Any]: ...
    def __iter__(self) -> Iterator[Any]: ...
    @property
    def rowcount(self) -> int: ...


class Database(ABC):
    """One connection to one database with all migrations applied. The stores are built on it and share it.

    Statements are written once, in the SQL that SQLite and Postgres share, with `?` or `?1` for values;
    `wayhound.store.dialect` says how Postgres spells the rest. Use it from one thread.
    """

    name: str  # as messages call it
    is_server: bool  # True if other machines may work in it
    slot: int  # of the rows in which this connection counts

    @abstractmethod
    def execute(self, sql: str, values: Sequence[Any] = ()) -> Rows:
        """Run one statement, in the open transaction or in one of its own. Raises WorkspaceError."""

    @abstractmethod
    def stream(self, sql: str, values: Sequence[Any] = ()) -> Iterator[Any]:
        """Yield the rows of a query as they were when it began, however many; other statements may come between."""

    @abstractmethod
    def transaction(self) -> AbstractContextManager[None]:
        """Return a context manager that keeps all other writers out, commits, and rolls back on any error."""

    @abstractmethod
    def row_locks(self) -> AbstractContextManager[None]:
        """Return a transaction in which others wait for the rows that it changes alone, if the database can do so.

        For what many workers do at once. Other rows may change between two of its statements.
        """

    def check_clock(self, now: float) -> None:  # noqa: B027 - a file has no clock
        """Raise WorkspaceError if the database has a clock and `now` is far from it."""

    def again(self, work: Callable[[], Result]) -> Result:
        """Do something that may be done twice, and repeat it if the connection breaks; a file has no connection."""
        return work()

    @abstractmethod
    def snapshot(self) -> AbstractContextManager[None]:
        """Return a context manager in which every query sees the database as it was when the block began."""

    @abstractmethod
    def bulk_load(self, tables: Sequence[str]) -> AbstractContextManager[None]:
        """Return a transaction in which rows of these tables are inserted as they are: no trigger adds to them."""

    @abstractmethod
    def insert_rows(self, table: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
        """Insert rows in the fastest way that the database has."""

    @abstractmethod
    def version(self) -> tuple[int | str, int]:
        """Return a value that changes when others have changed the database, and one that changes when this one has."""

    @abstractmethod
    def has_table(self, name: str) -> bool: ...

    @abstractmethod
    def script(self, sql: str) -> Iterator[str]:
        """Yield the statements of a migration as this database takes them."""

    @abstractmethod
    def close(self) -> None: ...

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def open_database(file: Path, url: str = "", *, read_only: bool = False) -> Database:
    """Open the server database at `url`, or without one the SQLite file; a new one gets its tables.

    Raises WorkspaceError if it cannot be used, MissingExtra if `url` needs a driver that is not installed.
    """
    if url:
        from wayhound.store.postgres import PostgresDatabase  # noqa: PLC0415 - the driver is an extra

        return PostgresDatabase(url, read_only=read_only)
    from wayhound.store.sqlite import SqliteDatabase  # noqa: PLC0415 - imports this module

    return SqliteDatabase(file, read_only=read_only)


def migrate(database: Database, folder: Traversable = MIGRATIONS) -> None:
    """Apply the migrations that the database lacks, each in its own transaction.

    Raises WorkspaceError if a newer version has made the database.
    """
    migrations = _migrations(folder)
    newest = max(number for number, _ in migrations)
    done = applied(database)
    if done > newest:
        raise WorkspaceError(
            f"{database.name} was made by a newer version of Wayhound (its tables have version {done}, this one knows "
            f"{newest}). Install the newer version."
        )
    for number, file in migrations:
        if number > done:
            _apply(database, number, file)


def check_version(database: Database) -> None:
    """Raise WorkspaceError unless all migrations of this version, and no others, are applied."""
    newest, done = max(number for number, _ in _migrations(MIGRATIONS)), applied(database)
    if done != newest:
        raise WorkspaceError(
            f"{database.name} was made by another version of Wayhound (its tables have version {done}, this one has "
            f"{newest}). Open it once with write access, such as by `wayhound status`, or install the newer version."
        )


def _apply(database: Database, number: int, file: Traversable) -> None:
    with database.transaction():
        if applied(database) >= number:  # another process was quicker
            return
        for statement in database.script(file.read_text("utf-8")):
            database.execute(statement)
        database.execute("INSERT INTO migration (number, name) VALUES (?, ?)", (number, file.name))


def applied(database: Database) -> int:
    """Return the number of the last migration that was applied; 0 for a new database."""
    if not database.has_table("migration"):
        return 0
    return int(database.execute("SELECT coalesce(max(number), 0) FROM migration").fetchone()[0])


def _migrations(folder: Traversable) -> list[tuple[int, Traversable]]:
    """Return the migration files in order of the numbers in their names: `0001_ground.sql`."""
    numbered = ((int(file.name[:4]), file) for file in folder.iterdir() if file.name.endswith(".sql"))
    return sorted(numbered, key=lambda entry: entry[0])


def statements(script: str) -> Iterator[str]:
    """Yield the statements of a script; a trigger is one, with all that it does."""
    pending = ""
    for line in script.splitlines(keepends=True):
        pending += line
        if sqlite3.complete_statement(pending):
            yield pending
            pending = ""


def storable(value: Any) -> Any:
    """Replace lone surrogates, which hostile pages contain and UTF-8 cannot encode."""
    return value.encode("utf-8", "replace").decode("utf-8") if isinstance(value, str) else value
