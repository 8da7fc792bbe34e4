"""A workspace that was taught the course pages of two sample departments, and the sample web to forage."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from wayhound.cli import run
from wayhound.samples import SampleServer, sample_web, serve_samples


@pytest.fixture(scope="session")
def once_trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("taught") / "workspace"
    assert run(["init", str(folder)]) == 0
    assert (
        run(
            [
                "trails",
                "from-samples",
                "physics",
                "cs",
                "--goal",
                "course",
                "--trails",
                "4",
                "-w",
                str(folder),
            ]
        )
        == 0
    )
    assert run(["train", "--settings", "default", "-w", str(folder)]) == 0
    return folder


@pytest.fixture
def trained(once_trained: Path, tmp_path: Path) -> Path:
    """A copy, to do with as the test likes."""
    return Path(shutil.copytree(once_trained, tmp_path / "workspace"))


@pytest.fixture(scope="session")
def samples() -> Iterator[SampleServer]:
    with serve_samples(sample_web()) as server:
        yield server
