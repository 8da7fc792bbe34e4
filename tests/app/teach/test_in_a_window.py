"""A session in a window, on a virtual screen, records the same as a headless one."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.app.teach.lessons import needs_browser
from wayhound.app.teach.playback import Script, play
from wayhound.net.browser import BrowserOptions
from wayhound.samples import SampleServer
from wayhound.workspace import Workspace

in_browser, where_there_is_one = needs_browser


@pytest.fixture
def screen(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    program = shutil.which("Xvfb")
    if program is None:
        pytest.skip("there is no Xvfb, a screen that nobody looks at")
    read, write = os.pipe()
    arguments = [program, "-displayfd", str(write), "-screen", "0", "1280x900x24", "-nolisten", "tcp"]
    with subprocess.Popen(arguments, pass_fds=[write], stderr=subprocess.DEVNULL) as server:
        os.close(write)
        with os.fdopen(read) as told:
            monkeypatch.setenv("DISPLAY", f":{told.readline().strip()}")
        yield
        server.terminate()


@in_browser
@where_there_is_one
def test_a_lesson_is_recorded_in_a_window(screen: None, server: SampleServer, tmp_path: Path) -> None:
    lesson = Script(
        "one paper",
        ("http://physics.localhost/",),
        (("click", "Publications"), ("mark", "list"), ("click", "2024"), ("goal", ""), ("done", "")),
        samples=True,
    )
    with Workspace.create(tmp_path / "w") as workspace:
        taught = play(lesson, workspace, BrowserOptions(headless=False), samples=server)
        [trail] = workspace.stores.trails.trails()
    assert taught.ending == "done"
    assert [(step.label, step.link and step.link.text) for step in trail.steps] == [
        ("", None),
        ("list", "Publications"),
        ("Goal", "2024"),
    ]
