"""Opens the workspace's SQLite file, applies migrations, and explains errors in plain words."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from wayhound.errors import WayhoundError, WorkspaceError, WorkspaceLocked

OLDEST_SQLITE = (3, 37, 0)  # STRICT tables
BUSY_SECONDS = 10.0
MIGRATIONS = resources.files("wayhound.store") / "migrations"

_ADVICE = {
    sqlite3.SQLITE_FULL: "The disk is full: {name} could not grow. Free some space and try again.",
    sqlite3.SQLITE_IOERR: "The disk refused to read or write {name} ({detail}). Check its space and health.",
    sqlite3.SQLITE_READONLY: "{name} may not be written to. Check the permissions of file and folder.",
    sqlite3.SQLITE_PERM: "{name} may not be opened. Check the permissions of file and folder.",
    sqlite3.SQLITE_CANTOPEN: "{name} cannot be opened. Check that its folder exists and may be written to.",
    sqlite3.SQLITE_NOTADB: "{name} is not a database. Move it away, or choose another workspace folder.",
    sqlite3.SQLITE_CORRUPT: "{name} is damaged ({detail}). Restore it from a copy.",
}


class Database:
    """One connection to one SQLite file, with all migrations applied.

    The stores are built on it; they share its connection, and so its transactions. Use it from one thread.
    """

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
                    _check_version(self)
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
        migrate(self)

    def execute(self, sql: str, values: Sequence[Any] = ()) -> sqlite3.Cursor:
        """Run one statement, in the open transaction or in one of its own.

        Raises WorkspaceError if the disk or the file is at fault.
        """
        try:
            return self.connection.execute(sql, values)
        except sqlite3.Error as error:
            raise self.explain(error) from error
        except UnicodeEncodeError:
            return self.execute(sql, [_storable(value) for value in values])

    def stream(self, sql: str, values: Sequence[Any] = ()) -> Iterator[Any]:
        """Yield the rows of a query as they were when it began."""
        with self.plain_errors():
            for row in self.connection.execute(sql, values):  # noqa: UP028 - `yield from` would close the cursor too late
                yield row

    def transaction(self) -> _Transaction:
        """Return a context manager that takes the write lock at once, commits, and rolls back on any error."""
        return self._transaction

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

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


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

    def __init__(self, database: Database) -> None:
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


def migrate(database: Database, folder: Traversable = MIGRATIONS) -> None:
    """Apply the migrations that the file lacks, each in its own transaction.

    Raises WorkspaceError if a newer version has made the file.
    """
    migrations = _migrations(folder)
    newest = max(number for number, _ in migrations)
    done = _applied(database)
    if done > newest:
        raise WorkspaceError(
            f"{database.name} was made by a newer version of Wayhound (its tables have version {done}, this one knows "
            f"{newest}). Install the newer version."
        )
    for number, file in migrations:
        if number > done:
            _apply(database, number, file)


def _check_version(database: Database) -> None:
    newest, done = max(number for number, _ in _migrations(MIGRATIONS)), _applied(database)
    if done != newest:
        raise WorkspaceError(
            f"{database.name} was made by another version of Wayhound (its tables have version {done}, this one has "
            f"{newest}). Open it once with write access, such as by `wayhound status`, or install the newer version."
        )


def _apply(database: Database, number: int, file: Traversable) -> None:
    with database.transaction():
        if _applied(database) >= number:  # another process was quicker
            return
        for statement in _statements(file.read_text("utf-8")):
            database.execute(statement)
        database.execute("INSERT INTO migration (number, name) VALUES (?, ?)", (number, file.name))


def _applied(database: Database) -> int:
    """Return the number of the last migration that was applied; 0 for a new file."""
    exists = database.execute("SELECT 1 FROM sqlite_schema WHERE name = 'migration'").fetchone()
    if not exists:
        return 0
    return int(database.execute("SELECT coalesce(max(number), 0) FROM migration").fetchone()[0])


def _migrations(folder: Traversable) -> list[tuple[int, Traversable]]:
    """Return the migration files in order of the numbers in their names: `0001_ground.sql`."""
    numbered = ((int(file.name[:4]), file) for file in folder.iterdir() if file.name.endswith(".sql"))
    return sorted(numbered, key=lambda entry: entry[0])


def _statements(script: str) -> Iterator[str]:
    pending = ""
    for line in script.splitlines(keepends=True):
        pending += line
        if sqlite3.complete_statement(pending):
            yield pending
            pending = ""


def _storable(value: Any) -> Any:
    """Replace lone surrogates, which hostile pages contain and UTF-8 cannot encode."""
    return value.encode("utf-8", "replace").decode("utf-8") if isinstance(value, str) else value


def _check_sqlite() -> None:
    if sqlite3.sqlite_version_info < OLDEST_SQLITE:
        raise WorkspaceError(
            f"Python was built with SQLite {sqlite3.sqlite_version}, and Wayhound needs "
            f"{'.'.join(map(str, OLDEST_SQLITE))} or newer. Use a newer Python."
        )
