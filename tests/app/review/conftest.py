"""The taught workspace is made once, and copied for every test that changes it."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.app.review.taught import taught_workspace
from wayhound.samples.server import SampleServer, serve_samples
from wayhound.samples.web import sample_web
from wayhound.workspace import Workspace


@dataclass(frozen=True)
class Taught:
    """A workspace, the run in which the third site was foraged, and the web it is about."""

    workspace: Workspace
    run_id: int
    web: SampleServer


@pytest.fixture(scope="session")
def web() -> Iterator[SampleServer]:
    with serve_samples(sample_web()) as server:
        yield server


@pytest.fixture(scope="session")
def original(web: SampleServer, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, int]:
    folder = tmp_path_factory.mktemp("review") / "workspace"
    return folder, taught_workspace(folder, web)


@pytest.fixture
def taught(original: tuple[Path, int], web: SampleServer, tmp_path: Path) -> Iterator[Taught]:
    folder, run_id = original
    shutil.copytree(folder, tmp_path / "workspace")
    with Workspace.open(tmp_path / "workspace") as workspace:
        yield Taught(workspace, run_id, web)
