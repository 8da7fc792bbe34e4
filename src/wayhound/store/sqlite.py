"""A database in an SQLite file or in memory, with its errors explained in plain words."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from importlib import resources
from pathlib import Path
from types import TracebackType
from typing import Any

from wayhound.errors import WayhoundError, WorkspaceError, WorkspaceLocked
from wayhound.store.database import Database, check_version, migrate, statements, storable

OLDEST_SQLITE = (3, 37, 0)  # STRICT tables
BUSY_SECONDS = 10.0

_NEW_TABLES = resources.files("wayhound.store") / "new_tables.sql"

_RESTORE = (
    "Restore the workspace from a backup (`wayhound workspace restore`). Without one, what was fetched is still in the "
    "archive, as WARC files; teach and forage again in a new workspace."
)
_ADVICE = {
    sqlite3.SQLITE_FULL: "The disk is full: {name} could not grow. Free some space and try again.",
    sqlite3.SQLITE_IOERR: "The disk refused to read or write {name} ({detail}). Check its space and health.",
    sqlite3.SQLITE_READONLY: (
        "{name} may not be written to. Check the permissions of file and folder; without write access, only "
        "`wayhound serve --read-only` works."
    ),
    sqlite3.SQLITE_PERM: "{name} may not be opened. Check the permissions of file and folder.",
    sqlite3.SQLITE_CANTOPEN: "{name} cannot be opened. Check that its folder exists and may be written to.",
    sqlite3.SQLITE_NOTADB: (
        "{name} is not a database: its beginning is damaged, or another file took its place. Its runs, trails and "
        f"records cannot be read. {_RESTORE}"
    ),
    sqlite3.SQLITE_CORRUPT: (
        "{name} is damaged ({detail}), so that some of its runs, trails and records cannot be read. First try "
        f"`wayhound doctor --repair`: it rebuilds damaged indexes, without loss. Else: {_RESTORE}"
    ),
}


class SqliteDatabase(Database):
    """One connection to one SQLite file, with all migrations applied."""

    is_server = False
    slot = 0  # there is one writer at a time

    def __init__(
        self, path: Path | None, *, read_only: bool = False, busy_seconds: float = BUSY_SECONDS
    ) -> None:
        """Open the file at `path`, or create it; without a path, keep everything in memory.

        With `read_only`, nothing is written, not even beside the file. Raises WorkspaceError if it cannot be used,
        WorkspaceLocked after `busy_seconds`.
        """
        self.name = str(path) if path else "The database in memory"
        self._transaction = _Transaction(self)
        with self.plain_errors():
            _check_sqlite()
            self.connection = (
                _connect_to_read(path, busy_seconds)
                if path and read_only
                else sqlite3.connect(path or ":memory:", timeout=busy_seconds, isolation_level=None)
            )
            try:
                if read_only:
                    check_version(self)
                else:
                    self._prepare()
            except BaseException:
                self.connection.close()
                raise

    def _prepare(self) -> None:
        if self.connection.execute("PRAGMA journal_mode").fetchone()[0] != "wal":
            self.connection.execute("PRAGMA journal_mode = WAL")
        # In WAL mode a commit reaches the operating system at once, so `kill -9` loses nothing; a power cut may lose
        # the last commits, but never damages the file.
        self.connection.execute("PRAGMA synchronous = NORMAL")
        self.connection.execute("PRAGMA foreign_keys = ON")
        # Fewer, larger checkpoints: each waits for the disk twice. The log stays near 16 MB.
        self.connection.execute("PRAGMA wal_autocheckpoint = 4000")
        if not self.has_table("migration"):
            self._create_tables()
        migrate(self)

    def _create_tables(self) -> None:
        """Give a new file the tables that most migrations together make, which takes a sixth of the time.

        SQLite reads the definitions of all tables again for each one that is altered.
        """
        with self.transaction():
            if not self.has_table("migration"):  # else another process was quicker
                for statement in self.script(_NEW_TABLES.read_text("utf-8")):
                    self.execute(statement)

    def execute(self, sql: str, values: Sequence[Any] = ()) -> sqlite3.Cursor:
        """Run one statement, in the open transaction or in one of its own.

        Raises WorkspaceError if the disk or the file is at fault.
        """
        try:
            return self.connection.execute(sql, values)
        except sqlite3.Error as error:
            raise self.explain(error) from error
        except UnicodeEncodeError:
            return self.execute(sql, [storable(value) for value in values])

    def stream(self, sql: str, values: Sequence[Any] = ()) -> Iterator[Any]:
        """Yield the rows of a query as they were when it began."""
        with self.plain_errors():
            for row in self.connection.execute(sql, values):  # noqa: UP028 - `yield from` would close the cursor too late
                yield row

    def transaction(self) -> _Transaction:
        """Return a context manager that takes the write lock at once, commits, and rolls back on any error."""
        return self._transaction

    def row_locks(self) -> _Transaction:
        return self._transaction  # SQLite has one lock for all

    def snapshot(self) -> _Transaction:
        return self._transaction

    @contextmanager
    def bulk_load(self, tables: Sequence[str]) -> Iterator[None]:
        of_tables = f"type = 'trigger' AND tbl_name IN ({', '.join('?' * len(tables))})"
        sql = f"SELECT name, sql FROM sqlite_schema WHERE {of_tables}"  # noqa: S608
        with self.transaction():
            triggers = self.execute(sql, tables).fetchall()
            for name, _ in triggers:
                self.execute(f"DROP TRIGGER {name}")
            yield
            for _, definition in triggers:
                self.execute(definition)

    def insert_rows(self, table: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
        names, marks = ", ".join(f'"{name}"' for name in columns), ", ".join("?" * len(columns))
        with self.plain_errors():
            cleaned = ([storable(value) for value in row] for row in rows)
            self.connection.executemany(f"INSERT INTO {table} ({names}) VALUES ({marks})", cleaned)  # noqa: S608

    def version(self) -> tuple[int | str, int]:
        seen = self.execute("PRAGMA data_version").fetchone()[0]  # changes of others
        return int(seen), self.connection.total_changes

    def has_table(self, name: str) -> bool:
        return self.execute("SELECT 1 FROM sqlite_schema WHERE name = ?", (name,)).fetchone() is not None

    def script(self, sql: str) -> Iterator[str]:
        return statements(sql)

    @contextmanager
    def plain_errors(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise self.explain(error) from error

    def explain(self, error: sqlite3.Error) -> Exception:
        return explain(error, self.name)

    def close(self) -> None:
        self.connection.close()


def explain(error: sqlite3.Error, name: str) -> Exception:
    """Return the error that a person should read; mistakes in our own SQL stay as they are."""
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return WorkspaceLocked(
            f"{name} is in use by another process. Wait until it has finished, or stop it."
        )
    advice = _ADVICE.get(code)
    return WorkspaceError(advice.format(name=name, detail=error)) if advice else error


class _Transaction:
    """A class and not a generator function, because it is entered for every page that is saved."""

    def __init__(self, database: SqliteDatabase) -> None:
        self._database = database

    def __enter__(self) -> None:
        self._database.execute("BEGIN IMMEDIATE")

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is None:
            try:
                self._database.execute("COMMIT")
            except WayhoundError:
                self._roll_back()
                raise
        else:
            self._roll_back()

    def _roll_back(self) -> None:
        # SQLite itself rolls back when the disk is full.
        if self._database.connection.in_transaction:
            self._database.execute("ROLLBACK")


def _connect_to_read(path: Path, busy_seconds: float) -> sqlite3.Connection:
    """Connect without write access.

    While a writer has the file open, its log and the index of that (`-wal`, `-shm`) are there to be read. Without a
    writer they are not, and may not be created, so the file is read as one that does not change. Whoever keeps such a
    connection must open it anew when the file changes: see `file_stamp`.
    """
    options = "mode=ro" if path.with_name(f"{path.name}-wal").exists() else "mode=ro&immutable=1"
    uri = f"{path.absolute().as_uri()}?{options}"
    return sqlite3.connect(uri, uri=True, timeout=busy_seconds, isolation_level=None)


def file_stamp(path: Path) -> tuple[int, ...]:
    """Return numbers that change when a database file is written, and when a writer opens or closes it."""
    try:
        status = path.stat()
    except OSError:
        return ()
    has_log = path.with_name(f"{path.name}-wal").exists()
    return (status.st_ino, has_log, *(() if has_log else (status.st_mtime_ns, status.st_size)))


def rename_database(old: Path, new: Path) -> None:
    """Rename a database file that no process has open.

    Leaving WAL mode needs the file alone, and writes what the log beside it (`-wal`) holds into the file, so that one
    rename moves everything. `Database` turns WAL mode on again. Raises WorkspaceLocked if it is in use.
    """
    # mode=rw: without it, SQLite would create a file that another process has just renamed
    with closing(sqlite3.connect(f"{old.absolute().as_uri()}?mode=rw", uri=True, timeout=1.0)) as connection:
        try:
            connection.execute("PRAGMA journal_mode = DELETE")
        except sqlite3.Error as error:
            raise explain(error, str(old)) from error
    old.rename(new)


def _check_sqlite() -> None:
    if sqlite3.sqlite_version_info < OLDEST_SQLITE:
        raise WorkspaceError(
            f"Python was built with SQLite {sqlite3.sqlite_version}, and Wayhound needs "
            f"{'.'.join(map(str, OLDEST_SQLITE))} or newer. Use a newer Python."
        )
