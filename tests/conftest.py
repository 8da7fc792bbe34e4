"""Settings of all tests: none is timed, since a busy machine may pause anywhere."""

from __future__ import annotations

import signal
from collections import Counter
from collections.abc import Iterator

import pytest
from hypothesis import settings

from tests.postgres_server import PostgresServer, postgres_server, why_not

settings.register_profile("untimed", settings.default, deadline=None)
settings.load_profile("untimed")

# A shell lets what it starts in the background ignore interrupts, and programs that tests start and interrupt would
# inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the files of few tests.

    A file is run by one process. Few tests are mostly slow ones, with browsers, processes and servers, and the last
    file of them would be waited for by all other processes.
    """
    tests = Counter(item.path for item in items)
    items.sort(key=lambda item: tests[item.path])


@pytest.fixture(scope="session")
def server() -> Iterator[PostgresServer]:
    """A Postgres server for the tests of one process."""
    if reason := why_not():
        pytest.skip(reason)
    with postgres_server() as started:
        yield started
