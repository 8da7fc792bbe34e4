"""Settings of all tests: none is timed, since a busy machine may pause anywhere."""

from __future__ import annotations

import pytest
from hypothesis import settings

settings.register_profile("untimed", settings.default, deadline=None)
settings.load_profile("untimed")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """A browser is many processes, one of which may starve: its tests are tried twice, and the end names those."""
    for item in items:
        if item.get_closest_marker("browser"):
            item.add_marker(pytest.mark.flaky(reruns=1))
