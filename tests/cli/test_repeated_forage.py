"""The same sites foraged again: which run goes on, what is said, and what changed."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.servers import Answer, Page, Served, serve
from wayhound.app.forage import run_limits
from wayhound.cli import run
from wayhound.workspace import Workspace

TAG = (("ETag", '"one"'),)
START = '<a href="/goal1">1</a><a href="/goal2">2</a>'


class Department:
    """A site whose pages a test may change."""

    def __init__(self, server: Served, pages: dict[str, Page], workspace: Path) -> None:
        self.server, self.pages, self.workspace = server, pages, str(workspace)

    def forage(self, *more: str) -> int:
        options = ["--goal-pattern", "/goal", "--delay", "0", "--allow-private", *more]
        return run(["forage", f"{self.server}/", "-w", self.workspace, *options])

    def runs(self) -> list[int]:
        with Workspace.open(Path(self.workspace)) as workspace:
            return sorted(each.id for each in workspace.stores.forage.runs())

    def leave_unfinished(self) -> None:
        """As if the last run had been killed before it came to its end."""
        with Workspace.open(Path(self.workspace)) as workspace:
            store = workspace.stores.forage
            last = store.runs()[0]
            database = workspace.database
            database.execute("UPDATE site SET state = 'waiting' WHERE run_id = ?", (last.id,))
            database.execute("UPDATE run SET sites_done = 0 WHERE id = ?", (last.id,))
            assert store.progress(last.id).done == 0


@pytest.fixture
def department(tmp_path: Path) -> Iterator[Department]:
    workspace = tmp_path / "mine"
    assert run(["init", str(workspace)]) == 0
    pages: dict[str, Page] = {
        "/": Answer(START, headers=TAG, if_same=()),
        "/goal1": Answer("<title>One</title>", headers=TAG, if_same=()),
    }
    with serve(pages) as server:
        yield Department(server, pages, workspace)


def test_the_same_command_does_nothing_more_and_again_walks_the_sites_once_more(
    department: Department, capsys: pytest.CaptureFixture[str]
) -> None:
    assert [department.forage(), department.forage()] == [0, 0]
    assert department.runs() == [1]
    assert "add --again" in capsys.readouterr().err
    assert department.forage("--again") == 0
    assert department.runs() == [1, 2]
    told = capsys.readouterr().err
    assert "Pages unchanged since run 1 need not be sent again." in told
    assert "2 of 2 pages had not changed and were not sent again." in told
    assert "Since run 1: no goal is new, changed or gone." in told
    assert "compare" in told


def test_again_begins_where_nothing_was_before(
    department: Department, capsys: pytest.CaptureFixture[str]
) -> None:
    assert department.forage("--again") == 0
    assert "Since run" not in capsys.readouterr().err
    assert department.runs() == [1]


@pytest.mark.parametrize("more", [["--again"], []], ids=["again", "plain"])
def test_a_repeated_run_that_was_not_finished_goes_on(department: Department, more: list[str]) -> None:
    assert [department.forage(), department.forage("--again")] == [0, 0]
    department.leave_unfinished()
    assert department.forage(*more) == 0
    assert department.runs() == [1, 2]
    assert department.forage("--again") == 0
    assert department.runs() == [1, 2, 3]


def test_a_fresh_run_goes_on_without_the_word(department: Department) -> None:
    assert [department.forage(), department.forage("--new-run")] == [0, 0]
    department.leave_unfinished()
    assert department.forage() == 0
    assert department.runs() == [1, 2]
    assert department.forage("--new-run") == 0
    assert department.runs() == [1, 2, 3]


@pytest.fixture
def changed(department: Department) -> Department:
    """A department that was foraged, changed, and foraged again."""
    assert department.forage("--again") == 0
    department.pages["/goal1"] = "<title>One</title><p>now with words"
    department.pages["/goal2"] = "<title>=Two</title>"
    assert department.forage("--again") == 0
    return department


def compared(department: Department, capsys: pytest.CaptureFixture[str], *more: str) -> tuple[str, str]:
    capsys.readouterr()
    assert run(["compare", "-w", department.workspace, *more]) == 0
    told = capsys.readouterr()
    return told.out, told.err


def test_compare_shows_what_changed_site_by_site(
    changed: Department, capsys: pytest.CaptureFixture[str]
) -> None:
    out, err = compared(changed, capsys)
    lines = [line.strip() for line in out.splitlines() if line]
    assert lines == [
        str(changed.server).removeprefix("http://"),
        f"changed  {changed.server}/goal1  One (+3 −0 words)",
        f"new      {changed.server}/goal2  =Two",
    ]
    assert "Run 2 against run 1: 1 goal new, 1 changed." in err


def test_compare_turned_round_tells_what_is_gone(
    changed: Department, capsys: pytest.CaptureFixture[str]
) -> None:
    out, err = compared(changed, capsys, "2", "1")
    assert f"gone     {changed.server}/goal2  =Two (no such page)" in out
    assert "Run 1 against run 2: 1 goal changed, 1 gone." in err


def test_compare_gives_json_lines_and_tables(
    changed: Department, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    out, _ = compared(changed, capsys, "1", "--json")
    rows: list[dict[str, Any]] = [json.loads(line) for line in out.splitlines()]
    assert [(row["kind"], row["words_added"]) for row in rows] == [("changed", 3), ("new", 0)]
    table = tmp_path / "changes.csv"
    compared(changed, capsys, "--out", str(table))
    with table.open(encoding="utf-8", newline="") as file:
        written = list(csv.DictReader(file))
    assert [list(row) for row in written] == [list(row) for row in rows]
    assert [row["title"] for row in written] == ["One", "'=Two"]  # no formula for spreadsheets


def test_status_sums_up_what_changed_in_the_last_run(
    changed: Department, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["status", "-w", changed.workspace]) == 0
    assert capsys.readouterr().out.count("Since run 1: 1 goal new, 1 changed.") == 1


def test_sites_that_were_not_walked_again_are_told(
    changed: Department, capsys: pytest.CaptureFixture[str]
) -> None:
    other = f"{changed.server.at('other.localhost')}/"
    command = [
        "forage",
        other,
        "-w",
        changed.workspace,
        "--goal-pattern",
        "/goal",
        "--delay",
        "0",
        "--allow-private",
    ]
    assert run([*command, "--again"]) == 0
    _, err = compared(changed, capsys, "2")
    assert "Left out: 1 site of run 2 that run 3 did not visit." in err


def test_only_the_sites_that_are_named_are_walked(
    department: Department, capsys: pytest.CaptureFixture[str]
) -> None:
    other = f"{department.server.at('other.localhost')}/"
    options = ["-w", department.workspace, "--goal-pattern", "/goal", "--delay", "0", "--allow-private"]
    assert run(["forage", f"{department.server}/", *options, "--budget", "1"]) == 0
    asked = department.server.requests.total()
    capsys.readouterr()
    assert run(["forage", other, *options, "--budget", "9"]) == 0
    first = capsys.readouterr().err
    with Workspace.open(Path(department.workspace)) as workspace:
        newest, *earlier = workspace.stores.forage.runs()
        assert [site.start for site in workspace.stores.forage.sites(newest.id)] == [other]
        assert workspace.stores.forage.progress(earlier[0].id).spent == 1
    assert f"--into {earlier[0].id}" in first
    assert department.server.requests.total() > asked
    assert run(["forage", other, *options, "--budget", "9", "--into", str(earlier[0].id)]) == 0
    with Workspace.open(Path(department.workspace)) as workspace:
        assert workspace.stores.forage.progress(earlier[0].id).sites == 2
    assert run(["forage", other, "-w", department.workspace, "--keyword", "x", "--into", "1"]) == 2
    assert "looks for something else" in capsys.readouterr().err


@pytest.mark.parametrize("arguments", [["7"], ["1", "7"]])
def test_a_run_that_is_not_there_is_refused(
    changed: Department, arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["compare", *arguments, "-w", changed.workspace]) == 2
    assert "There is no run 7 in this workspace. Next: wayhound status" in capsys.readouterr().err


def test_without_a_run_before_it_says_what_to_do(
    department: Department, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["compare", "-w", department.workspace]
    assert run(command) == 2
    assert "Nothing has been foraged yet" in capsys.readouterr().err
    assert department.forage() == 0
    assert run(command) == 2
    assert "Forage once more with --again" in capsys.readouterr().err


def test_a_workspace_that_holds_other_runs_compares_only_its_own_kind(
    department: Department, capsys: pytest.CaptureFixture[str]
) -> None:
    assert department.forage() == 0
    assert department.forage("--max-goals", "1", "--again") == 0
    assert "Since run" not in capsys.readouterr().err
    with Workspace.open(Path(department.workspace)) as workspace:
        assert [each.limits for each in workspace.stores.forage.runs()] == [run_limits(workspace.config)] * 2
