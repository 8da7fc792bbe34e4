from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from wayhound.app.papers.library import PaperLibrary
from wayhound.workspace import Workspace


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    with Workspace.create(tmp_path / "w") as opened:
        yield opened


@pytest.fixture
def library(workspace: Workspace) -> PaperLibrary:
    return PaperLibrary(workspace)
