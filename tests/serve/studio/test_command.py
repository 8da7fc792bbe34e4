"""`trailmark studio` prints an address that lets in, and ends in good order."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from pathlib import Path

import httpx

from trailmark.cli import run
from trailmark.workspace import Workspace


def test_the_printed_address_opens_the_studio_and_ctrl_c_ends_it(tmp_path: Path) -> None:
    Workspace.create(tmp_path / "workspace").close()
    command = [sys.executable, "-m", "trailmark", "studio", "-w", str(tmp_path / "workspace"), "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        found = re.search(r"http://127\.0\.0\.1:\d+/\?token=\S+", process.stdout.readline())
        assert found is not None
        with httpx.Client(follow_redirects=True, timeout=30) as client:
            assert "Show it the way" in client.get(found[0]).text
        assert httpx.get(found[0].partition("?")[0], timeout=30).status_code == 403
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=30)
    assert "Traceback" not in said


def test_a_folder_that_is_no_workspace_is_told_in_a_sentence(tmp_path: Path) -> None:
    assert run(["studio", "-w", str(tmp_path)]) == 3
