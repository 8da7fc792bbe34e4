"""Settings of all tests: none is timed, since a busy machine may pause anywhere."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import settings

from tests.postgres_server import PostgresServer, postgres_server, why_not

settings.register_profile("untimed", settings.default, deadline=None)
settings.load_profile("untimed")


@pytest.fixture(scope="session")
def server() -> Iterator[PostgresServer]:
    """A Postgres server for the tests of one process."""
    if reason := why_not():
        pytest.skip(reason)
    with postgres_server() as started:
        yield started
