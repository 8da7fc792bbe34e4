"""One portal over one small collection for all tests that only read."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, sync_playwright

from tests.portal.browsing import CHROMIUM, FLAGS
from tests.portal.collection import make_collection
from tests.portal.served import Served, serve_portal
from wayhound.app.index import build
from wayhound.workspace import Workspace


@pytest.fixture(scope="session")
def collection(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = make_collection(tmp_path_factory.mktemp("portal") / "workspace")
    with Workspace.open(folder) as workspace:
        build(workspace)
    return folder


@pytest.fixture(scope="session")
def portal(collection: Path) -> Iterator[Served]:
    with serve_portal(collection) as served:
        yield served


@pytest.fixture
def own_collection(tmp_path: Path) -> Path:
    """A workspace that a test may change."""
    return make_collection(tmp_path / "workspace")


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Closed with its module: as long as it is there, nothing else in this process may run an event loop."""
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield running
        running.close()
