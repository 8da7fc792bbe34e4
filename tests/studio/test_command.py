"""`wayhound studio` prints an address that lets in, and ends in good order."""

from __future__ import annotations

import os
import pty
import re
import signal
import subprocess
import sys
import time
from contextlib import ExitStack
from pathlib import Path

import httpx

from wayhound.cli import run
from wayhound.workspace import Workspace

ADDRESS = re.compile(r"http://(studio-[0-9a-f]{8}\.localhost):(\d+)/(\?token=[\w-]+)")


def test_the_printed_address_opens_the_studio_and_ctrl_c_ends_it(tmp_path: Path) -> None:
    Workspace.create(tmp_path / "workspace").close()
    command = [sys.executable, "-m", "wayhound", "studio", "-w", str(tmp_path / "workspace"), "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        found = ADDRESS.search(process.stdout.readline())
        assert found is not None
        loopback = f"http://127.0.0.1:{found[2]}/"
        with httpx.Client(
            follow_redirects=True, timeout=120, headers={"host": f"{found[1]}:{found[2]}"}
        ) as client:
            assert "Show it the way" in client.get(loopback + found[3]).text
            client.cookies.clear()
            assert client.get(loopback).status_code == 403
            assert client.get(loopback, headers={"host": "studio-00000000.localhost"}).status_code == 400
        assert "Show it the way" in httpx.get(loopback + found[3], follow_redirects=True, timeout=120).text
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=120)
    assert "Traceback" not in said


def test_a_folder_that_is_no_workspace_is_told_in_a_sentence(tmp_path: Path) -> None:
    assert run(["studio", "-w", str(tmp_path)]) == 3


def test_a_second_studio_takes_another_port_than_the_usual_one(tmp_path: Path) -> None:
    Workspace.create(tmp_path / "workspace").close()
    command = [sys.executable, "-m", "wayhound", "studio", "-w", str(tmp_path / "workspace")]
    addresses = []
    with ExitStack() as both:
        for _ in range(2):
            process = both.enter_context(subprocess.Popen(command, stdout=subprocess.PIPE, text=True))
            both.callback(process.terminate)
            assert process.stdout is not None
            found = ADDRESS.search(process.stdout.readline())
            assert found is not None
            addresses.append(found)
    assert addresses[0][1] != addresses[1][1]
    assert addresses[0][2] != addresses[1][2]


def test_it_opens_in_the_browser_of_whoever_sits_at_the_terminal(tmp_path: Path) -> None:
    Workspace.create(tmp_path / "workspace").close()
    opened, browser = tmp_path / "opened", tmp_path / "browser"
    browser.write_text(
        "#!/bin/sh\n"
        f'path="${{1#file://}}"; {{ stat -c %a "$(dirname "$path")"; cat "$path"; }} > {opened}.part\n'
        f"mv {opened}.part {opened}\n"
    )
    browser.chmod(0o755)
    command = [sys.executable, "-m", "wayhound", "studio", "-w", str(tmp_path / "workspace"), "--port", "0"]
    ours, theirs = pty.openpty()
    environment = {**os.environ, "DISPLAY": ":99", "BROWSER": f"{browser} %s"}
    with subprocess.Popen(command, stdout=theirs, stderr=subprocess.DEVNULL, env=environment) as process:
        end = time.monotonic() + 240
        while not opened.exists():
            assert time.monotonic() < end, "no browser was opened"
            time.sleep(0.1)
        process.terminate()
    os.close(theirs)
    os.close(ours)
    mode, page = opened.read_text().splitlines()
    assert mode == "700"
    assert ADDRESS.search(page)
