"""A lesson in a file is played with real clicks and keys; a file that cannot be played says why."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest
from click.testing import CliRunner

from tests.app.teach.lessons import Classroom, Lesson, needs_browser, trails_of
from tests.servers import serve
from wayhound.app.teach.hand import Hand
from wayhound.app.teach.playback import Script, perform, play, play_by_fetching, read_script
from wayhound.cli import cli
from wayhound.errors import UsageError, WayhoundError
from wayhound.samples import SampleServer
from wayhound.trail import Trail
from wayhound.workspace import Workspace

in_browser, where_there_is_one = needs_browser


@in_browser
@where_there_is_one
def test_the_sample_lesson_teaches_all_that_it_shows_with_and_without_a_browser(
    server: SampleServer, tmp_path: Path
) -> None:
    said: list[str] = []
    script = Script.sample()
    with Workspace.create(tmp_path / "w") as workspace:
        taught = play(script, workspace, samples=server, say=said.append)
    actions = Counter(action for action, _ in script.steps)
    assert (taught.ending, taught.goals, taught.failures) == ("done", actions["goal"], actions["reject"])
    assert len(said) == len(script.steps)
    trails = trails_of(tmp_path / "w")
    assert {trail.site for trail in trails} == {
        site.removesuffix("/") + f":{server.port}/" for site in script.sites
    }
    assert sum(trail.reached_goal for trail in trails) == actions["goal"]
    for trail in trails:
        for before, after in pairwise(trail.steps):
            assert after.link in before.page.links
    assert ways(taught_plainly(script, server, tmp_path / "plain")) == ways(trails)


def taught_plainly(script: Script, server: SampleServer, folder: Path) -> list[Trail]:
    """Play a lesson without a browser, by following its links."""
    with Workspace.create(folder) as workspace:
        asyncio.run(play_by_fetching(script, script.sites_at(server.port), workspace, lambda _: None))
        return workspace.stores.trails.trails()


def ways(trails: list[Trail]) -> list[list[tuple[str, str, str]]]:
    """URL, label and the text of the link of every step."""
    return [
        [(step.page.url, step.label, step.link.text if step.link else "") for step in trail.steps]
        for trail in trails
    ]


def test_a_link_that_is_not_there_is_told(server: SampleServer, tmp_path: Path) -> None:
    script = Script("lost", ("http://physics.localhost/",), (("click", "No such link"),), samples=True)
    with pytest.raises(WayhoundError, match="no link with the text No such link"):
        taught_plainly(script, server, tmp_path / "w")


@in_browser
@where_there_is_one
def test_a_lesson_is_played_from_the_command_line_and_its_graph_printed(tmp_path: Path) -> None:
    Workspace.create(tmp_path / "w").close()
    with serve({"/": "<title>Home</title><a href='/a'>A</a>", "/a": "<title>A</title><p>Text"}) as site:
        lesson = {"way": "free", "sites": [f"{site}/"], "steps": [{"click": "A"}, {"goal": True}]}
        (tmp_path / "lesson.json").write_text(json.dumps(lesson))
        where = ["-w", str(tmp_path / "w")]
        played = CliRunner().invoke(cli, ["trails", "from-script", str(tmp_path / "lesson.json"), *where])
        assert played.exit_code == 0, played.output
        graph = json.loads(CliRunner().invoke(cli, ["trails", "graph", *where]).stdout)
    assert [(page["title"], page["label"]) for page in graph["pages"]] == [("Home", "T1"), ("A", "T0")]
    assert "1 useful page" in played.output
    assert "The workspace has 1 trail" in played.output
    with Workspace.open(tmp_path / "w") as workspace:
        assert workspace.stores.teaching.unfinished() is None
        [trail] = workspace.stores.trails.trails()
        workspace.database.execute("DELETE FROM trail")  # as free sessions were kept before they made trails
    assert trail.reached_goal
    assert "Added 1 trail." in CliRunner().invoke(cli, ["trails", "from-browsing", *where]).output
    assert trails_of(tmp_path / "w") == [trail]


@in_browser
@where_there_is_one
def test_a_step_that_comes_to_nothing_is_named(classroom: Classroom, tmp_path: Path) -> None:
    async def story(lesson: Lesson) -> None:
        hasty = Hand(lesson.recorder, lesson.saver, patience_seconds=1.0)
        await lesson.hand.arrived()
        with pytest.raises(WayhoundError, match=r"Step 2 .*Publications"):
            await perform([("say", "Here"), ("click", "Publications")], hasty, lambda _: None)

    with serve({"/": "<p>Nothing"}) as site:
        classroom.teach(tmp_path / "w", [f"{site}/"], story)


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("not JSON", ""),
        ("[]", ""),
        ('{"sites": []}', "it has no 'steps'"),
        (
            '{"sites": ["http://a.example/"], "steps": [{"jump": true}]}',
            "no step 'jump'; the steps are say, click",
        ),
        ('{"sites": ["http://a.example/"], "steps": [{"click": "a", "back": true}]}', ""),
        ('{"sites": 7, "steps": []}', ""),
    ],
)
def test_a_file_that_is_no_lesson_is_refused_in_words(text: str, fault: str) -> None:
    with pytest.raises(UsageError, match=rf"lesson\.json is not a valid teaching script: .*{fault}"):
        Script.read(text, "lesson.json")


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"none\.json cannot be read: No such file or directory\.$"):
        read_script(tmp_path / "none.json")


def test_a_file_that_is_no_text_is_told(tmp_path: Path) -> None:
    (tmp_path / "lesson.json").write_bytes(b"\xcb\x00")
    with pytest.raises(
        UsageError, match=r"lesson\.json is not a teaching script: it is not text in UTF-8\.$"
    ):
        read_script(tmp_path / "lesson.json")


def test_scripts_that_say_fail_still_reject() -> None:
    text = '{"sites": ["http://a.example/"], "steps": [{"fail": true}, {"reject": true}]}'
    assert Script.read(text, "lesson.json").steps == (("reject", ""), ("reject", ""))
