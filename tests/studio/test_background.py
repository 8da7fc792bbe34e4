"""A job that a crash left behind neither blocks its kind nor lets a stranger's process be stopped."""

from __future__ import annotations

import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.studio.conftest import Visitor
from wayhound.processes import process_runs, process_start
from wayhound.store.jobs import Job
from wayhound.studio.app import JOB_PAGES
from wayhound.studio.background import Background
from wayhound.studio.jobs import JOBS
from wayhound.workspace import Workspace


@pytest.fixture
def stranger() -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    yield process
    process.kill()
    process.communicate()


def _left_behind(workspace: Workspace, pid: int, start: str) -> Job:
    jobs = workspace.stores.jobs
    number = jobs.begin("train", "Learning.", 1.0)
    jobs.set_process(number, pid, start)
    job = jobs.get(number)
    assert job is not None
    return job


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="nothing here tells when a process started")
def test_a_process_is_known_by_its_number_and_its_start(stranger: subprocess.Popen[bytes]) -> None:
    start = process_start(stranger.pid)
    assert start
    assert process_runs(stranger.pid, start)
    assert process_runs(stranger.pid)
    assert not process_runs(stranger.pid, "1")


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="nothing here tells when a process started")
def test_a_stranger_with_the_number_of_a_dead_job_does_not_block_its_kind(
    tmp_path: Path, stranger: subprocess.Popen[bytes]
) -> None:
    with Workspace.create(tmp_path / "workspace") as workspace:
        job = _left_behind(workspace, stranger.pid, "1")
        Background(workspace.folder).clean_up(workspace)
        ended = workspace.stores.jobs.get(job.id)
        assert ended is not None
        assert ended.state == "failed"


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="nothing here tells when a process started")
def test_stopping_a_dead_job_leaves_a_stranger_alone(
    tmp_path: Path, stranger: subprocess.Popen[bytes]
) -> None:
    with Workspace.create(tmp_path / "workspace") as workspace:
        background = Background(workspace.folder)
        background.stop(workspace, _left_behind(workspace, stranger.pid, "1"))
        stranger.communicate(b"\n")
        assert stranger.returncode == 0  # it ended by itself
        assert workspace.stores.jobs.running() == []


def test_stopping_a_job_ends_its_own_process(tmp_path: Path, stranger: subprocess.Popen[bytes]) -> None:
    with Workspace.create(tmp_path / "workspace") as workspace:
        own = _left_behind(workspace, stranger.pid, process_start(stranger.pid))
        Background(workspace.folder).stop(workspace, own)
        assert stranger.wait(60) != 0


def test_a_long_list_of_sites_reaches_the_job_whole(visitor: Visitor) -> None:
    seeds = "\n".join(f"http://127.0.0.1:9/a-start-page/of-department-{number}/" for number in range(10_000))
    page = visitor.send("/runs", "/runs", sites=seeds, words="x", budget=1, delay=3600)
    job = re.search(r'data-job="(\d+)"', page)
    assert job is not None
    end = time.monotonic() + 240
    while not (told := visitor.client.get(f"/jobs/{job[1]}.json").json())["total"]:
        assert told["state"] == "running", told
        assert time.monotonic() < end, "the job takes too long"
        time.sleep(0.2)
    assert told["total"] == 10_000
    visitor.send("/runs", f"/jobs/{job[1]}/stop")


def test_a_form_of_the_studio_that_is_longer_than_any_list_is_refused(visitor: Visitor) -> None:
    assert visitor.client.post("/runs", data={"sites": "x" * 2_100_000}).status_code == 413


def test_every_kind_of_job_has_a_page_to_return_to_when_it_is_stopped() -> None:
    assert set(JOB_PAGES) == set(JOBS)
