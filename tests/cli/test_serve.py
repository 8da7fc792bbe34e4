"""`wayhound serve` as a person runs it: what it says, what it serves, and how it ends."""

from __future__ import annotations

import ctypes
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.portal.collection import make_collection
from wayhound.cli import run
from wayhound.portal.library import WorkspaceAccess
from wayhound.portal.portal import PortalSettings
from wayhound.portal.processes import ServerProcesses
from wayhound.record import Record, Value
from wayhound.samples import sample_web
from wayhound.web.app import WebSettings, open_socket
from wayhound.workspace import Workspace

FOUND_SECONDS = 120.0  # far more than the two seconds of a quiet machine


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    return make_collection(tmp_path / "workspace")


def obey_modes() -> None:
    """Give up the right of root to write what its mode does not allow; for others, this changes nothing."""
    drop_from_bounding_set, dac_override = 24, 1
    ctypes.CDLL(None).prctl(drop_from_bounding_set, dac_override, 0, 0, 0)


@contextmanager
def serving(
    folder: Path, *options: str, as_anybody: bool = False
) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """The command in a process of its own, and the address that it says."""
    command = [sys.executable, "-m", "wayhound", "serve", "-w", str(folder), "--port", "0", *options]
    process = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=obey_modes if as_anybody else None,  # noqa: PLW1509 - one call of the kernel, no locks
    )
    try:
        assert process.stdout is not None
        said = process.stdout.readline()
        told = re.search(r"http://127\.0\.0\.1:\d+(?=/)", said)
        assert told is not None, process.communicate()[1]
        yield process, told[0]
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)


def read(url: str) -> str:
    with urllib.request.urlopen(url, timeout=60) as answer:
        return str(answer.read().decode())


def children(pid: int) -> list[int]:
    return [int(each) for each in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def is_running(pid: int) -> bool:
    status = Path(f"/proc/{pid}/stat")
    return status.exists() and status.read_text().rpartition(")")[2].split()[0] != "Z"


def wait_for(condition: object, *, seconds: float = FOUND_SECONDS) -> bool:
    assert callable(condition)
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if condition():
            return True
        time.sleep(0.1)
    return False


def test_it_indexes_serves_and_ends_in_good_order_at_an_interrupt(workspace: Path) -> None:
    with serving(workspace, "--name", "Quay papers", "--workers", "2") as (process, url):
        assert "Quay papers" in read(f"{url}/")
        assert '"total":6' in read(f"{url}/search.json?q=learning")
        servers = children(process.pid)
        assert len(servers) == 2
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=60)
        assert process.returncode == 0
    assert "Indexed 14 records and 1 work only cited" in said
    assert said.rstrip().endswith("Stopped.")
    assert "Traceback" not in said
    assert not any(map(is_running, servers))


def test_the_address_is_told_when_all_processes_have_read_the_collection(workspace: Path) -> None:
    with serving(workspace, "--workers", "2") as (process, _):
        servers = children(process.pid)
        assert len(servers) == 2
        for server in servers:
            opened = [os.path.realpath(file) for file in Path(f"/proc/{server}/fd").iterdir()]
            assert any(name.endswith("wayhound.db") for name in opened)


def test_a_process_that_cannot_start_is_not_waited_for(tmp_path: Path) -> None:
    settings = PortalSettings(), WebSettings()
    with open_socket("127.0.0.1", 0) as listening:
        access = WorkspaceAccess(tmp_path / "none")
        with ServerProcesses(access, *settings, listening, count=1) as processes:
            processes.wait()


def test_what_is_saved_while_it_runs_is_found(workspace: Path) -> None:
    with serving(workspace, "--processes", "1") as (_, url):
        with Workspace.open(workspace) as opened:
            opened.stores.records.save(
                [Record("contact", "new", {"organisation": (Value("Freshly Added Works"),)})]
            )
        assert wait_for(lambda: "Freshly Added Works" in read(f"{url}/search.json?q=freshly"))


def test_no_server_is_left_behind_when_the_command_is_killed(workspace: Path) -> None:
    with serving(workspace, "--workers", "2") as (process, url):
        read(f"{url}/about")
        servers = children(process.pid)
        process.kill()
        process.communicate(timeout=60)
        assert wait_for(lambda: not any(map(is_running, servers)))


def test_a_server_that_dies_is_started_again(workspace: Path) -> None:
    with serving(workspace, "--processes", "1") as (process, url):
        read(f"{url}/about")
        (first,) = children(process.pid)
        os.kill(first, signal.SIGKILL)
        assert wait_for(lambda: children(process.pid) not in ([], [first]))
        assert "About" in read(f"{url}/about")


def test_one_command_leads_from_pdf_files_to_a_portal(tmp_path: Path) -> None:
    papers = tmp_path / "papers"
    papers.mkdir()
    site = next(site for site in sample_web().sites if any(path.endswith(".pdf") for path in site.pages))
    chosen = [path for path in site.pages if path.endswith(".pdf")][:6]
    for number, path in enumerate(chosen):
        (papers / f"{number}.pdf").write_bytes(site.pages[path].body)
    folder = tmp_path / "new"
    command = [sys.executable, "-m", "wayhound", "serve", str(papers), "-w", str(folder), "--port", "0"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        lines = iter(process.stdout.readline, "")
        address = next(
            told[0] for line in lines if (told := re.search(r"http://127\.0\.0\.1:\d+(?=/)", line))
        )
        found = json.loads(read(f"{address}/search.json?q=type:paper"))
        assert found["total"] == len(chosen)
        details = json.loads(read(f"{address}{found['hits'][0]['url']}.json"))
        assert details["references"]
        assert details["archived_type"] == "pdf"
        assert json.loads(read(f"{address}/topics.json"))["children"]
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
    assert process.returncode == 0


def test_a_port_that_is_taken_is_told(workspace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        assert run(["serve", "-w", str(workspace), "--port", port]) == 2
    assert f"Port {port} is in use by another program" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--host", "203.0.113.7"], "is not an address of this machine"),
        (["--public-url", "papers.example.org"], "is not the address of a server"),
        (["--public-url", "https://papers.example.org/portal"], "is not the address of a server"),
    ],
)
def test_what_cannot_be_served_is_told(
    workspace: Path, capsys: pytest.CaptureFixture[str], options: list[str], sentence: str
) -> None:
    assert run(["serve", "-w", str(workspace), "--port", "0", *options]) == 2
    assert sentence in capsys.readouterr().err


def test_where_papers_stand_under_no_topic_it_is_told_how_they_come_there(
    tmp_path: Path, workspace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with Workspace.create(tmp_path / "bare") as bare:
        bare.stores.records.save([Record("document", "1", {"title": (Value("Hops to the goal"),)})])
    for folder in (tmp_path / "bare", workspace):
        run(["serve", "-w", str(folder), "--host", "203.0.113.7"])
        assert ("topics train" in capsys.readouterr().err) == (folder != workspace)


def test_a_folder_that_is_no_workspace_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["serve", "-w", str(tmp_path), "--port", "0"]) == 3
    assert "is not a workspace" in capsys.readouterr().err


# A workspace that may not be written


def listing(folder: Path) -> dict[str, tuple[int, int]]:
    """All files with size and time of the last change."""
    found = [folder, *folder.rglob("*")]
    return {str(path): (path.stat().st_size, path.stat().st_mtime_ns) for path in found}


def set_modes(folder: Path, of_folders: int, of_files: int) -> None:
    for path in (folder, *folder.rglob("*")):
        path.chmod(of_folders if path.is_dir() else of_files)


@pytest.fixture
def locked(workspace: Path) -> Iterator[Path]:
    """A workspace with an index, in a folder that everybody may read and nobody may write."""
    assert run(["index", "-w", str(workspace)]) == 0
    set_modes(workspace, 0o555, 0o444)
    yield workspace
    set_modes(workspace, 0o755, 0o644)


SENT = urllib.parse.urlencode({"kind": "site", "url": "https://new.example/", "note": "", "contact": ""})


def test_a_workspace_that_may_not_be_written_is_served_and_takes_submissions_beside_it(locked: Path) -> None:
    before = listing(locked)
    inbox = locked.parent / "submissions.db"
    options = ("--submissions", str(inbox), "--workers", "1")
    with serving(locked, *options, as_anybody=True) as (_, url):
        assert '"total":6' in read(f"{url}/search.json?q=learning")
        form = urllib.request.Request(f"{url}/submit", SENT.encode(), {"Origin": url})
        with urllib.request.urlopen(form, timeout=60) as answer:
            status = answer.url
        assert json.loads(read(f"{status}.json"))["state"] == "waiting"
    assert listing(locked) == before
    set_modes(locked, 0o755, 0o644)
    for _ in range(2):
        assert run(["submissions", "collect", str(inbox), "-w", str(locked)]) == 0
    with Workspace.open(locked) as workspace:
        [submission] = workspace.stores.submissions.all()
    assert (submission.url, status.rpartition("/")[2]) == ("https://new.example/", submission.token)


def test_a_read_only_portal_shows_what_another_process_writes_and_takes_nothing_itself(
    workspace: Path,
) -> None:
    assert run(["index", "-w", str(workspace)]) == 0
    with serving(workspace, "--read-only", "--workers", "1") as (_, url):
        form = urllib.request.Request(f"{url}/submit", SENT.encode(), {"Origin": url})
        with pytest.raises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(form, timeout=60)
        assert (refused.value.code, "takes no submissions" in refused.value.read().decode()) == (400, True)
        with Workspace.open(workspace) as opened:
            opened.stores.records.save(
                [Record("contact", "new", {"organisation": (Value("Zymurgy Works"),)})]
            )
        assert run(["index", "-w", str(workspace)]) == 0
        assert wait_for(lambda: '"total":1' in read(f"{url}/search.json?q=zymurgy"))
        assert "Zymurgy Works" in read(f"{url}/records/contact/new")
