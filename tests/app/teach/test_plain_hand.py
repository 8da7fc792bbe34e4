"""Without a browser, a lesson teaches the same by following its links."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from tests.app.teach.lessons import needs_browser
from wayhound.app.teach.playback import Script, play, play_by_fetching
from wayhound.errors import WayhoundError
from wayhound.samples import SampleServer
from wayhound.trail import Trail
from wayhound.workspace import Workspace

in_browser, where_there_is_one = needs_browser


def taught_plainly(script: Script, server: SampleServer, folder: Path) -> list[Trail]:
    with Workspace.create(folder) as workspace:
        asyncio.run(play_by_fetching(script, script.sites_at(server.port), workspace, lambda _: None))
        return workspace.stores.trails.trails()


@in_browser
@where_there_is_one
def test_trails_are_those_of_a_browser(server: SampleServer, tmp_path: Path) -> None:
    plain = taught_plainly(Script.sample(), server, tmp_path / "plain")
    with Workspace.create(tmp_path / "browser") as workspace:
        play(Script.sample(), workspace, samples=server)
        seen = workspace.stores.trails.trails()
    assert _ways(plain) == _ways(seen)


def _ways(trails: list[Trail]) -> list[list[tuple[str, str, str]]]:
    """URL, label and the text of the link of every step."""
    return [
        [(step.page.url, step.label, step.link.text if step.link else "") for step in trail.steps]
        for trail in trails
    ]


def test_a_link_that_is_not_there_is_told(server: SampleServer, tmp_path: Path) -> None:
    script = Script("lost", ("http://physics.localhost/",), (("click", "No such link"),), samples=True)
    with pytest.raises(WayhoundError, match="no link with the text No such link"):
        taught_plainly(script, server, tmp_path / "w")
