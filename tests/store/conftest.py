"""Every database and every store that must keep the contract."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.postgres_server import PostgresServer
from wayhound.store.database import Database
from wayhound.store.forage import ForageStore
from wayhound.store.sqlite import SqliteDatabase
from wayhound.store.stores import Stores


@pytest.fixture(scope="session")
def shared_database(server: PostgresServer) -> Iterator[Database]:
    from wayhound.store.postgres import PostgresDatabase

    with PostgresDatabase(server.create()) as opened:
        yield opened


@pytest.fixture
def postgres(shared_database: Database) -> Database:
    """An empty database on the server. Deleting rows takes a tenth of the time that a new database takes."""
    tables = [
        name
        for (name,) in shared_database.execute(
            "SELECT tablename FROM pg_tables WHERE schemaname = 'public' AND tablename <> 'migration'"
        )
    ]
    sequences = [
        name
        for (name,) in shared_database.execute(
            "SELECT sequencename FROM pg_sequences WHERE last_value IS NOT NULL"
        )
    ]
    with shared_database.transaction():
        shared_database.execute("SET LOCAL session_replication_role = replica")  # no triggers, no references
        for name in tables:
            shared_database.execute(f"DELETE FROM {name}")
        for name in sequences:
            shared_database.execute(f"ALTER SEQUENCE {name} RESTART")
    return shared_database


@pytest.fixture(params=["in memory", "on disk", "postgres"])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Database]:
    if request.param == "postgres":
        yield request.getfixturevalue("postgres")
        return
    with SqliteDatabase(tmp_path / "wayhound.db" if request.param == "on disk" else None) as opened:
        yield opened


@pytest.fixture
def store(database: Database) -> ForageStore:
    return Stores(database).forage
