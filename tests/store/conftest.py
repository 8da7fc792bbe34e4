"""Every store that must keep the contract."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from wayhound.store.database import Database
from wayhound.store.forage import ForageStore


@pytest.fixture(params=["in memory", "on disk"])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Database]:
    with Database(tmp_path / "wayhound.db" if request.param == "on disk" else None) as opened:
        yield opened


@pytest.fixture
def store(database: Database) -> ForageStore:
    return ForageStore(database)
