"""A throw-away Postgres server on a socket in a temporary folder, for tests and benches."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from itertools import count
from pathlib import Path

FAST: Mapping[str, str] = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"}
"""For tests: nothing outlives the server anyway."""


@cache
def programs() -> Path | None:
    """Return the folder of the server's programs; None if it is not installed."""
    found = shutil.which("initdb")
    folders = [Path(found).parent] if found else []
    folders += sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    return next((folder for folder in folders if (folder / "initdb").exists()), None)


def why_not() -> str:
    """Return why no server can be started here; empty if one can."""
    if programs() is None:
        return "Postgres is not installed (scripts/install-postgres)"
    try:
        import psycopg  # noqa: F401
    except ImportError:
        return "psycopg is not installed (the extra postgres)"
    return ""


@dataclass
class PostgresServer:
    """A server that runs; `url` names a database of it."""

    folder: Path
    settings: Mapping[str, str]
    process: subprocess.Popen[bytes] | None = None
    _numbers: Iterator[int] = field(default_factory=count)

    def url(self, database: str = "postgres") -> str:
        port = f"&port={self.settings['port']}" if "port" in self.settings else ""
        return f"postgresql://wayhound@/{database}?host={self.folder}{port}"

    def start(self) -> None:
        options = {"listen_addresses": "", "unix_socket_directories": str(self.folder), **self.settings}
        given = [part for name, value in options.items() for part in ("-c", f"{name}={value}")]
        log = (self.folder / "log").open("ab")
        self.process = subprocess.Popen(
            [_program("postgres"), "-D", str(self.folder / "data"), *given],
            stdout=log, stderr=log, stdin=subprocess.DEVNULL, user=_user(), cwd=self.folder,
        )  # fmt: skip
        log.close()
        self._await()

    def _await(self) -> None:
        import psycopg

        for _ in range(1_000):
            try:
                psycopg.connect(self.url(), connect_timeout=10).close()
            except psycopg.OperationalError:
                if self.process is None or self.process.poll() is not None:
                    raise RuntimeError((self.folder / "log").read_text()[-2_000:]) from None
                _pause()
            else:
                return
        raise RuntimeError("the server does not answer")

    def stop(self, *, kill: bool = False) -> None:
        """Stop it at once, as a machine does that is switched off (`kill`), or in order."""
        if self.process is not None:
            if kill:
                subprocess.run(
                    [_program("pg_ctl"), "-D", str(self.folder / "data"), "-m", "immediate", "stop"],
                    user=_user(), check=True, capture_output=True, cwd=self.folder,
                )  # fmt: skip
            else:
                self.process.send_signal(2)  # fast shutdown
            self.process.wait(60)
            self.process = None

    def create(self, template: str = "template1") -> str:
        """Create a database, as a copy of another, and return its URL."""
        import psycopg

        name = f"made_{os.getpid()}_{next(self._numbers)}"
        with psycopg.connect(self.url(), autocommit=True) as connection:
            connection.execute(f'CREATE DATABASE "{name}" TEMPLATE "{template}"'.encode())
        return self.url(name)


@contextmanager
def postgres_server(settings: Mapping[str, str] = FAST) -> Iterator[PostgresServer]:
    """Start a server with the user `wayhound`, who needs no password, and stop it after the block."""
    with tempfile.TemporaryDirectory(prefix="wayhound-pg-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        if user := _user():
            shutil.chown(folder, user)
        folder.chmod(0o755)
        subprocess.run(
            [_program("initdb"), "-D", str(folder / "data"), "-U", "wayhound", "-A", "trust", "-E", "UTF8",
             "--locale=C", "--no-sync", "--no-instructions"],
            user=user, check=True, capture_output=True, cwd=folder,
        )  # fmt: skip
        server = PostgresServer(folder, settings)
        server.start()
        try:
            yield server
        finally:
            server.stop()


def _program(name: str) -> str:
    folder = programs()
    assert folder is not None
    return str(folder / name)


def _user() -> str | None:
    """Return the user to run as: the server refuses to be run by root."""
    return "postgres" if os.geteuid() == 0 else None


def _pause() -> None:
    import time

    time.sleep(0.02)
