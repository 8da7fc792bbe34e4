"""A database on a Postgres server, which many machines share: the same tables, statements and promises as SQLite.

A plain transaction takes one advisory lock, so that writers come one after the other, as in SQLite: the stores count
on that. What many workers do at once uses `row_locks`, where others wait only for the rows that are changed.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from random import randrange
from threading import RLock
from typing import Any, TypeVar, cast
from urllib.parse import urlsplit

from wayhound.errors import MissingExtra, UsageError, WorkspaceError, WorkspaceLocked
from wayhound.store.database import Database, Rows, check_version, migrate, statements, storable
from wayhound.store.dialect import translate, translate_table, with_literals

try:
    import psycopg
    from psycopg import errors, pq
    from psycopg.abc import AdaptContext, Buffer
    from psycopg.adapt import Dumper, Loader
    from psycopg.sql import Literal
    from psycopg.types.numeric import Int8Dumper
except ImportError:
    raise MissingExtra("A workspace on a Postgres server", "psycopg", "postgres") from None

Result = TypeVar("Result")

OLDEST_SERVER = 130_000
LOCK_SECONDS = 60
CONNECT_SECONDS = 10
PATIENCE_SECONDS = 300.0
"""A server that restarts is waited for so long; after that a command ends with a clear message."""

MOST_SKEW_SECONDS = 120.0
MANY_ROWS = 1_000
SLOTS = 256
WRITERS_LOCK = 0x57415948  # "WAYH": the advisory lock of plain transactions

# A machine that is cut off must not keep others waiting for its locks: the server notices after half a minute.
_SESSION = {
    "client_encoding": "UTF8",
    "timezone": "UTC",
    "lock_timeout": f"{LOCK_SECONDS}s",
    "idle_in_transaction_session_timeout": "10min",
    "tcp_keepalives_idle": "10",
    "tcp_keepalives_interval": "5",
    "tcp_keepalives_count": "3",
    "tcp_user_timeout": "25000",
}
_LOST = (errors.OperationalError, errors.InterfaceError)
_BEGIN = b"BEGIN"
_BEGIN_ALONE = f"BEGIN; SELECT pg_advisory_xact_lock({WRITERS_LOCK})".encode()


class ConnectionLost(WorkspaceError):  # noqa: N818 - reads as what happened
    """The server went away in the middle of a transaction, which may or may not have been committed."""


class TryAgain(WorkspaceLocked):
    """Another transaction got in the way, and this one was rolled back as a whole."""


class PostgresDatabase(Database):
    """One connection to one database of a Postgres server, with all migrations applied.

    A connection that breaks between two transactions is made anew, for as long as `patience_seconds`. It may be
    used by several threads, unlike SQLite's: one waits until the transaction of another is over.
    """

    is_server = True

    def __init__(
        self, url: str, *, read_only: bool = False, patience_seconds: float = PATIENCE_SECONDS
    ) -> None:
        """Connect to the database at `url`. Raises WorkspaceError if it cannot be used."""
        self.url = url
        self.name = public_name(url)
        self._read_only = read_only
        self._patience_seconds = patience_seconds
        self._depth = 0
        self.lock = RLock()
        self.slot = randrange(SLOTS)  # noqa: S311 - two in one slot wait for each other, no more
        self.connection = self._connect()
        try:
            if read_only:
                check_version(self)
            else:
                migrate(self)
        except BaseException:
            self.connection.close()
            raise

    def _connect(self) -> psycopg.Connection[Any]:
        session = _SESSION | ({"default_transaction_read_only": "on"} if self._read_only else {})
        try:
            connection = psycopg.connect(
                self.url,
                autocommit=True,
                connect_timeout=CONNECT_SECONDS,
                application_name="wayhound",
                prepare_threshold=2,
                keepalives_idle=10,
                keepalives_interval=5,
                keepalives_count=3,
                tcp_user_timeout=20_000,
                cursor_factory=psycopg.RawCursor,
            )
        except psycopg.Error as error:
            raise explain(error, self.name) from error
        if connection.info.server_version < OLDEST_SERVER:
            connection.close()
            raise WorkspaceError(
                f"{self.name} is Postgres {connection.info.server_version // 10_000}, and Wayhound needs 13 or newer."
            )
        connection.server_cursor_factory = psycopg.RawServerCursor
        _adapt(connection)
        for setting, value in session.items():
            connection.execute(f"SET {setting} = '{value}'".encode(), prepare=False)
        return connection

    def execute(self, sql: str, values: Sequence[Any] = ()) -> Rows:
        """Run one statement, in the open transaction or in one of its own. Raises WorkspaceError.

        A statement that writes, outside of a transaction, waits for other writers as a transaction does.
        """
        with self.lock:
            if self._depth:
                return self.execute_alone(sql, values)
            if sql.lstrip()[:6].upper() in _WRITES:
                with self.transaction():
                    return self.execute_alone(sql, values)
            return self.again(lambda: self.execute_alone(sql, values))

    def execute_alone(self, sql: str, values: Sequence[Any]) -> Rows:
        """Run one statement as it is; one that writes waits for no writers but those of the same rows."""
        try:
            return self.connection.execute(cast("Any", translate(sql)), values or None)
        except (UnicodeEncodeError, errors.DataError) as error:
            cleaned = [without_nul(storable(value)) for value in values]
            if cleaned == list(values):
                raise
            if isinstance(error, psycopg.Error) and error.sqlstate:
                raise  # the server has refused it, and with it the transaction
            return self.execute_alone(sql, cleaned)
        except psycopg.Error as error:
            raise self._explain(error) from error

    def again(self, work: Callable[[], Result]) -> Result:
        """Do something that may be done twice, and do it again with a new connection if that breaks.

        Raises WorkspaceError if there is none after `patience_seconds`.
        """
        until, pause = time.monotonic() + self._patience_seconds, 0.05
        while True:
            with (
                self.lock
            ):  # until the connection is closed: then another thread may open the next one, and use it
                try:
                    if self.connection.closed:
                        self.connection = self._connect()
                    return work()
                except WorkspaceError as error:
                    was_rolled_back = isinstance(error, TryAgain)
                    if self._depth or time.monotonic() > until or not (was_rolled_back or is_away(error)):
                        raise
                    if not was_rolled_back:
                        self.connection.close()
            time.sleep(pause)
            pause = min(2 * pause, 2.0)

    def stream(self, sql: str, values: Sequence[Any] = ()) -> Iterator[Any]:
        """Yield the rows of a query as they were when it began: the server keeps them until they are fetched."""

        def declare() -> psycopg.ServerCursor[Any]:
            with self.plain_errors():
                # the types of values are not known to the server before it declares a cursor: they are written out
                literals = [
                    Literal(without_nul(storable(value))).as_string(self.connection) for value in values
                ]
                cursor = self.connection.cursor(f"stream_{time.monotonic_ns()}", withhold=True)
                cursor.itersize = 200
                cursor.execute(cast("Any", with_literals(translate(sql), literals)))
                return cursor

        with self.plain_errors(), self.again(declare) as cursor:
            yield from cursor

    @contextmanager
    def transaction(self) -> Iterator[None]:
        with self._transaction(_BEGIN_ALONE):
            yield

    @contextmanager
    def row_locks(self) -> Iterator[None]:
        with self._transaction(_BEGIN):
            yield

    @contextmanager
    def _transaction(self, begin: bytes) -> Iterator[None]:
        with self.lock:
            self.again(lambda: self._begin(begin))
            self._depth = 1
            try:
                yield
                with self.plain_errors():
                    self.connection.execute(b"COMMIT", prepare=False)
            except BaseException:
                with suppress(psycopg.Error):
                    if not self.connection.closed:
                        self.connection.execute(b"ROLLBACK", prepare=False)
                raise
            finally:
                self._depth = 0

    def _begin(self, begin: bytes) -> None:
        try:
            self.connection.execute(begin, prepare=False)
        except psycopg.Error as error:
            explained = self._explain(error)
            if not self.connection.closed:
                self.connection.execute(b"ROLLBACK", prepare=False)
            raise explained from error

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        with self._transaction(b"BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"):
            yield

    @contextmanager
    def bulk_load(self, tables: Sequence[str]) -> Iterator[None]:
        with self.transaction():
            for table in tables:
                self.execute(f"ALTER TABLE {table} DISABLE TRIGGER USER")
            yield
            for table in tables:
                self.execute(f"ALTER TABLE {table} ENABLE TRIGGER USER")
                if self.execute(_IDENTITY, (table,)).fetchone():  # the next number comes after those copied
                    self.execute(
                        f"SELECT setval(pg_get_serial_sequence('{table}', 'id'), "  # noqa: S608
                        f"(SELECT coalesce(max(id), 0) + 1 FROM {table}), false)"
                    )

    def insert_rows(self, table: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
        names = ", ".join(f'"{name}"' for name in columns)
        with (
            self.plain_errors(),
            self.connection.cursor() as cursor,
            cursor.copy(f"COPY {table} ({names}) FROM STDIN".encode()) as copy,
        ):
            for row in rows:
                copy.write_row([without_nul(storable(value)) for value in row])
        if cursor.rowcount >= MANY_ROWS:
            # until the server counts the rows itself, it would plan as for an empty table
            self.execute(f"ANALYZE {table}")

    def version(self) -> tuple[int | str, int]:
        # changes with every transaction that writes, those of this connection included
        return str(self.execute("SELECT CAST(pg_current_snapshot() AS TEXT)").fetchone()[0]), 0

    def has_table(self, name: str) -> bool:
        # a look at the catalogue itself: to_regclass may answer from a cache that is older than the lock just taken
        sql = "SELECT 1 FROM pg_catalog.pg_tables WHERE schemaname = current_schema() AND tablename = ?"
        return self.execute(sql, (name,)).fetchone() is not None

    def script(self, sql: str) -> Iterator[str]:
        for statement in statements(sql):
            yield from translate_table(statement)

    def check_clock(self, now: float) -> None:
        """Raise WorkspaceError if `now`, by the clock of this machine, is far from the server's time."""
        sql = "SELECT CAST(extract(epoch FROM clock_timestamp()) AS DOUBLE PRECISION)"
        ahead = now - float(self.execute(sql).fetchone()[0])
        if abs(ahead) > MOST_SKEW_SECONDS:
            raise WorkspaceError(
                f"The clock of this machine is {abs(ahead) / 60:,.0f} minutes {'ahead of' if ahead > 0 else 'behind'} "
                f"that of the database server, so its pages would get wrong times. Set both clocks; use NTP. "
                f"({self.name})"
            )

    @contextmanager
    def plain_errors(self) -> Iterator[None]:
        try:
            yield
        except psycopg.Error as error:
            raise self._explain(error) from error

    def _explain(self, error: psycopg.Error) -> Exception:
        if self.connection.closed or isinstance(error, errors.AdminShutdown | errors.CrashShutdown):
            self.connection.close()
            return ConnectionLost(
                f"The connection to {self.name} was lost. Check that the server runs and can be reached; the same "
                "command goes on where this one ended."
            )
        return explain(error, self.name)

    def close(self) -> None:
        self.connection.close()


_IDENTITY = (
    "SELECT 1 FROM information_schema.columns WHERE table_schema = current_schema() AND table_name = ? "
    "AND column_name = 'id' AND is_identity = 'YES'"
)
_WRITES = {"INSERT", "UPDATE", "DELETE"}


def public_name(url: str) -> str:
    """Return a database's address for messages: without the password."""
    parts = urlsplit(url)
    host = parts.netloc.rpartition("@")[2] or "this machine"
    return f"The database {parts.path.strip('/') or 'of the user'} on {host}"


def is_away(error: Exception) -> bool:
    """Return True if a server that starts, stops or cannot be reached is the cause."""
    if isinstance(error, ConnectionLost):
        return True
    cause = error.__cause__
    if not isinstance(cause, psycopg.OperationalError):
        return False
    return cause.sqlstate in (None, "57P03", "57P01", "57P02", "53300") and not _is_refusal(cause)


def _is_refusal(error: psycopg.Error) -> bool:
    """Return True for errors without a code that no waiting helps against."""
    text = str(error)
    return any(
        part in text
        for part in (
            "password authentication failed",
            "no password supplied",
            "does not exist",
            "no pg_hba.conf entry",
            "role ",
        )
    )


def explain(error: psycopg.Error, name: str) -> Exception:
    """Return the error that a person should read; mistakes in our own SQL stay as they are."""
    text = str(error).strip()
    in_use = f"{name} is in use by another process. Wait until it has finished, or stop it."
    if isinstance(error, errors.LockNotAvailable):
        return WorkspaceLocked(in_use)
    if (
        isinstance(error, errors.DeadlockDetected)
        or getattr(error.diag, "constraint_name", "") == "site_leased"
    ):
        return TryAgain(in_use)
    advices = (*_CONNECTING, *_ADVICE) if isinstance(error, psycopg.OperationalError) else _ADVICE
    for parts, advice in advices:
        if any(part in text for part in parts):
            return WorkspaceError(f"{name} {advice}")
    if isinstance(error, psycopg.ProgrammingError) and error.sqlstate is None:
        return UsageError(
            f"This is no address of a Postgres database: {text}. Write it as postgresql://USER@HOST:PORT/DATABASE."
        )
    if isinstance(error, psycopg.OperationalError):
        return WorkspaceError(
            f"{name} cannot be reached: {_reason(text)}. Check the address, that the server runs, and that this "
            "machine may connect to it."
        )
    return error


def _reason(text: str) -> str:
    """Return the end of the last line that is no question of the driver's, such as: Connection refused."""
    lines = [line.strip() for line in text.splitlines() if not line.strip().endswith("?")]
    return lines[-1].rpartition("failed: ")[2].rstrip(".") if lines else "no answer"


_CONNECTING: tuple[tuple[tuple[str, ...], str], ...] = (
    (
        ("password authentication failed", "no password supplied"),
        "refused the user or the password. Correct them in the settings (database), or give the password by the "
        "environment variable PGPASSWORD or the file ~/.pgpass.",
    ),
    (
        ("no pg_hba.conf entry",),
        "does not let this machine in. Allow its address in the server's pg_hba.conf.",
    ),
    (
        ('" does not exist',),
        "does not exist, or its user does not. Create it on the server, such as by `createdb`, or correct the address.",
    ),
    (
        ("could not translate host name", "failed to resolve host", "Name or service not known"),
        "is on a host whose name is unknown. Correct the address in the settings (database).",
    ),
)
_ADVICE: tuple[tuple[tuple[str, ...], str], ...] = (
    (
        ("disk full", "No space left", "could not extend file"),
        "has no space left on its disk. Free some space.",
    ),
    (("permission denied", "must be owner"), "may not be written to by this user. Grant it the database."),
    (("read-only transaction",), "is open for reading alone, or is a standby. Use the primary server."),
    (("index row size", "index row requires"), "refused a row with a text that is too long for its index."),
)


# Values


def without_nul(value: Any) -> Any:
    return value.replace("\x00", "\ufffd") if isinstance(value, str) else value


class _BoolDumper(Dumper):
    """Writes True and False as 1 and 0: the columns hold numbers, as SQLite has no other."""

    oid = 21  # smallint

    def dump(self, obj: bool) -> Buffer:
        return b"1" if obj else b"0"


class _WholeNumericLoader(Loader):
    """Reads the sums of whole numbers as int; Postgres counts them in a type of its own."""

    format = pq.Format.TEXT

    def load(self, data: Buffer) -> int | float:
        text = bytes(data)
        return float(text) if b"." in text else int(text)


def _adapt(context: AdaptContext) -> None:
    context.adapters.register_dumper(bool, _BoolDumper)
    context.adapters.register_dumper(int, Int8Dumper)  # one type, so that statements are prepared once
    context.adapters.register_loader("numeric", _WholeNumericLoader)
