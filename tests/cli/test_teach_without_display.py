"""If no window can be opened, teaching happens in a page: `teach` and `demo --by-hand` print its address."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from html import unescape
from pathlib import Path

import httpx

from wayhound.cli import run
from wayhound.workspace import Workspace

NO_DISPLAY = {name: value for name, value in os.environ.items() if name not in ("DISPLAY", "WAYLAND_DISPLAY")}
BUSY_SECONDS = 300  # machines that run tests are busy
ADDRESS = re.compile(r"http://studio-\w+\.localhost(:\d+/teach\?token=\S+)")


@contextmanager
def started(*arguments: str, said: Path) -> Iterator[subprocess.Popen[str]]:
    with said.open("w") as told:
        command = [sys.executable, "-m", "wayhound", *arguments]
        with subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=told, text=True, env=NO_DISPLAY
        ) as process:
            try:
                yield process
            finally:
                process.send_signal(signal.SIGINT)
                process.wait(BUSY_SECONDS)


def printed_address(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    for line in process.stdout:
        if found := ADDRESS.search(line):
            return f"http://127.0.0.1{found[1]}"  # not every resolver knows names below localhost
    raise AssertionError("no address was printed")


def trails_in(folder: Path) -> int:
    with Workspace.open(folder) as workspace:
        return len(workspace.stores.trails)


def test_teach_opens_the_studio_with_the_sites_filled_in(tmp_path: Path) -> None:
    assert run(["init", str(tmp_path / "mine")]) == 0
    arguments = ["teach", "one.example", "https://two.example/a?b=1", "-w", str(tmp_path / "mine")]
    with (
        started(*arguments, said=tmp_path / "said") as process,
        httpx.Client(follow_redirects=True) as client,
    ):
        page = client.get(printed_address(process), timeout=BUSY_SECONDS).text
    assert "http://one.example/\nhttps://two.example/a?b=1</textarea>" in unescape(page)
    said = (tmp_path / "said").read_text()
    assert "no display" in said
    assert "ssh -L" in said
    assert "Traceback" not in said


def test_browsing_freely_is_chosen_in_the_page_when_it_was_asked_for(tmp_path: Path) -> None:
    assert run(["init", str(tmp_path / "mine")]) == 0
    arguments = ["teach", "one.example", "--free", "-w", str(tmp_path / "mine")]
    with (
        started(*arguments, said=tmp_path / "said") as process,
        httpx.Client(follow_redirects=True) as client,
    ):
        page = client.get(printed_address(process), timeout=BUSY_SECONDS).text
    assert re.search(r'value="free" checked', page)
    assert not re.search(r'value="trails" checked', page)


def test_the_demo_by_hand_is_taught_in_the_page_and_then_goes_on(tmp_path: Path) -> None:
    """A real browser is opened by the page; a goal is marked in it; Done lets the demo learn."""
    arguments = ["demo", "--by-hand", "--workspace", str(tmp_path / "demo")]
    with (
        started(*arguments, said=tmp_path / "said") as process,
        httpx.Client(follow_redirects=True) as client,
    ):
        address = printed_address(process)
        base = address.partition("/teach")[0]

        def send(path: str, **fields: str) -> str:
            key = re.search(
                r'name="form_key" value="(\w+)"', client.get(f"{base}/teach", timeout=BUSY_SECONDS).text
            )
            assert key is not None
            answer = client.post(
                f"{base}{path}",
                data={"form_key": key[1], **fields},
                timeout=BUSY_SECONDS,
                follow_redirects=fields.get("do") != "done",  # then the demo ends, and the studio with it
            )
            assert answer.status_code in {200, 303}, answer.text
            return answer.text

        sites = re.search(r"<textarea[^>]*>([^<]+)", client.get(address, timeout=BUSY_SECONDS).text)
        assert sites is not None
        send("/teach", urls=unescape(sites[1]))
        while not trails_in(tmp_path / "demo"):  # the browser may still be loading its first page
            send("/teach/do", do="goal")
        send("/teach/do", do="done")
        assert process.wait(BUSY_SECONDS) == 6  # a start page that is a goal teaches nothing
    said = (tmp_path / "said").read_text()
    assert "1 trail: 1 to a goal" in said
    assert "show some more" in said
    assert "Train: learn from these clicks" in said
    assert "Every page that was shown is a goal" in said
    assert "Traceback" not in said
