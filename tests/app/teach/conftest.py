"""One browser for all lessons."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.app.teach.lessons import Classroom
from wayhound.samples import SampleServer, sample_web, serve_samples


@pytest.fixture(scope="session")
def classroom() -> Iterator[Classroom]:
    room = Classroom()
    yield room
    room.close()


@pytest.fixture(scope="session")
def server() -> Iterator[SampleServer]:
    with serve_samples(sample_web()) as running:
        yield running
