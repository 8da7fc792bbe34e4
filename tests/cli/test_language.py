"""One language on the command line: an option means the same in every command, and the reference lists all."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import click
import pytest

from tests.servers import Served, serve
from wayhound.cli import run
from wayhound.cli.reference import OPTIONS, STRATEGIES, commands, reference
from wayhound.forage.scorers import SCORERS

ROOT = Path(__file__).parent.parent.parent
PAGES = {
    "/": "<title>Home</title><a href='/contact'>Contact</a>",
    "/contact": "<title>Contact us</title>Here",
}


def options() -> dict[str, dict[str, click.Option]]:
    """Every option by its name, with the commands that have it."""
    found: dict[str, dict[str, click.Option]] = defaultdict(dict)
    for name, command in commands():
        for param in command.params:
            if isinstance(param, click.Option) and not param.hidden:
                found[max(param.opts, key=len)][name] = param
    return found


def test_the_reference_is_written_from_the_commands() -> None:
    written = (ROOT / "docs" / "reference.md").read_text("utf-8")
    assert written == reference(), "run `python -m wayhound.cli.reference > docs/reference.md`"


@pytest.mark.parametrize("name", sorted(options()))
def test_an_option_takes_the_same_kind_of_value_in_every_command(name: str) -> None:
    assert len({_kind(param) for param in options()[name].values()}) == 1


def _kind(param: click.Option) -> str:
    """A flag, a number, a path, or a name: chosen from a few, or not."""
    if param.is_flag:
        return "flag"
    if isinstance(param.type, click.types.IntParamType | click.types.FloatParamType):
        return "number"
    return "path" if isinstance(param.type, click.Path) else "name"


def test_an_option_that_several_commands_have_is_explained_once() -> None:
    shared = {name for name, uses in options().items() if len(uses) > 1}
    assert shared == set(OPTIONS)


def test_every_option_has_a_help_text_that_ends_like_a_sentence() -> None:
    for name, uses in options().items():
        for command, param in uses.items():
            text = (param.help or "").partition("  [default")[0]
            assert text.endswith("."), f"{command} {name}: {param.help}"


def test_every_strategy_of_a_forage_is_explained() -> None:
    assert set(SCORERS) <= set(STRATEGIES)


@pytest.fixture
def workspace(tmp_path: Path) -> str:
    assert run(["init", str(tmp_path / "w")]) == 0
    return str(tmp_path / "w")


@pytest.mark.parametrize(
    ("former", "present"),
    [
        (["--goals", "1"], "--max-goals"),
        (["--goals=1"], "--max-goals"),
        (["--goal", "contact"], "--goal-pattern"),
        (["--one-goal"], "--best-goal"),
        (["--fresh"], "--new-run"),
    ],
)
def test_former_options_of_a_forage_work_with_a_note(
    former: list[str], present: str, workspace: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with serve(PAGES) as server:
        command = ["forage", f"{server}/", "-w", workspace, "--keyword", "contact", "--delay", "0"]
        assert run([*command, "--allow-private", *former]) == 0
    told = capsys.readouterr()
    assert f"Note: `{former[0].partition('=')[0]}` is now `{present}`." in told.err
    assert told.out.startswith("http://")


@pytest.mark.parametrize(
    ("former", "present", "complaint"),
    [
        (["teach", "--graph"], "trails graph", "No free session"),
        (["teach", "--play", "nothing.json"], "trails from-script", "nothing.json"),
        (["train", "--name", "other"], "--model", "no trails"),
        (["train", "--settings", "usual"], "default", "no trails"),
        (["explain", "--fetch", "acme.example"], "--again", "model"),
        (["topics", "correct", "d1", "--forget"], "undo", "no correction of d1"),
    ],
)
def test_other_former_spellings_are_understood(
    former: list[str], present: str, complaint: str, workspace: str, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    assert run([*former, "-w", workspace]) != 0
    told = capsys.readouterr().err
    assert f"is now `{present}`" in told
    assert complaint in told


def test_free_sessions_become_trails_under_the_former_option(
    workspace: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["teach", "--from-free", "-w", workspace]) == 0
    told = capsys.readouterr().err
    assert "`teach --from-free` is now `trails from-browsing`" in told
    assert "Added 0 trails." in told


def test_json_is_all_that_goes_to_stdout(workspace: str, capsys: pytest.CaptureFixture[str]) -> None:
    with serve(PAGES) as server:
        forage(server, workspace)
    capsys.readouterr()
    for command in (["status"], ["status", "--goals"], ["trails", "list"], ["papers", "list"]):
        assert run([*command, "--json", "-w", workspace]) == 0
        assert not [line for line in capsys.readouterr().out.splitlines() if line[:1] not in tuple('[{}] "')]


def forage(server: Served, workspace: str) -> None:
    command = ["forage", f"{server}/", "-w", workspace, "--keyword", "contact", "--delay", "0"]
    assert run([*command, "--allow-private"]) == 0
