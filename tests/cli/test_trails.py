"""`wayhound trails` as a person types it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.paths.trails import SITE, TO_GOAL, TO_NOWHERE
from wayhound.cli import run
from wayhound.paths.trail_file import read_trails, write_trails


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "workspace"
    assert run(["init", str(folder)]) == 0
    return folder


@pytest.fixture
def taught(workspace: Path, tmp_path: Path) -> Path:
    """A workspace with two trails, numbers 1 and 2."""
    with (tmp_path / "trails.jsonl").open("wb") as stream:
        write_trails([TO_GOAL, TO_NOWHERE], stream)
    assert trails("import", str(tmp_path / "trails.jsonl"), at=workspace) == 0
    return workspace


def trails(*arguments: str, at: Path) -> int:
    return run(["trails", *arguments, "-w", str(at)])


def rows(capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def test_what_is_imported_is_listed_and_exported_as_it_was(
    taught: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    assert trails("list", "--json", at=taught) == 0
    first, second = rows(capsys)
    assert (first["labels"], first["ending"]) == (["home", "people", "Goal"], "Goal")
    assert (second["ending"], second["source"]) == ("Fail", "trails.jsonl")
    assert trails("export", "--out", str(tmp_path / "again.jsonl"), at=taught) == 0
    assert list(read_trails(tmp_path / "again.jsonl")) == [TO_GOAL, TO_NOWHERE]


def test_the_same_file_again_adds_nothing(
    taught: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert trails("import", str(tmp_path / "trails.jsonl"), at=taught) == 0
    assert "Added 0 trails, 2 already there" in capsys.readouterr().err


def test_a_bad_line_is_named_and_nothing_is_imported(
    workspace: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    good = tmp_path / "good.jsonl"
    with good.open("wb") as stream:
        write_trails([TO_GOAL], stream)
    bad = tmp_path / "bad.jsonl"
    bad.write_bytes(good.read_bytes() + b'{"trail": 5}\n')
    assert trails("import", str(good), str(bad), at=workspace) == 2
    said = capsys.readouterr().err.strip().splitlines()[-1]
    assert "bad.jsonl, line 6" in said
    assert trails("list", "--json", at=workspace) == 0
    assert rows(capsys) == []


def test_the_trails_go_through_a_pipe_to_another_workspace(
    taught: Path, tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    capfdbinary.readouterr()
    assert trails("export", "--site", SITE, at=taught) == 0
    (tmp_path / "piped.jsonl").write_bytes(capfdbinary.readouterr().out)
    assert list(read_trails(tmp_path / "piped.jsonl")) == [TO_GOAL, TO_NOWHERE]


def test_a_trail_is_shown_step_by_step(taught: Path, capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    assert trails("show", "1", at=taught) == 0
    shown = capsys.readouterr().out
    assert "Our people" in shown
    assert "by Ada" in shown
    assert trails("show", "1", "--json", at=taught) == 0
    [trail] = rows(capsys)
    assert [step["label"] for step in trail["steps"]] == ["home", "people", "Goal"]
    assert trail["steps"][1]["link"]["text"] == "Our people"


def test_what_is_done_to_trails_can_be_undone(taught: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert trails("relabel", "1", "1", "staff", at=taught) == 0
    assert trails("delete", "2", at=taught) == 0
    capsys.readouterr()
    trails("list", "--json", at=taught)
    assert [row["labels"] for row in rows(capsys)] == [["home", "staff", "Goal"]]
    assert trails("undo", at=taught) == 0
    assert "Undone: the deletion of trail 2." in capsys.readouterr().err
    assert trails("undo", at=taught) == 0
    trails("list", "--json", at=taught)
    assert [row["labels"][1] for row in rows(capsys)] == ["people", "Fail"]
    assert trails("undo", at=taught) == 2


def test_none_is_deleted_when_one_is_not_there(taught: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert trails("delete", "1", "9", at=taught) == 2
    assert "Trail 9 is not in this workspace" in capsys.readouterr().err
    assert trails("show", "1", at=taught) == 0


def test_the_check_says_what_is_missing(taught: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert trails("check", "--json", at=taught) == 0
    names = {row["name"] for row in rows(capsys)}
    assert {"one-site", "few-goals", "label-once"} <= names
    assert trails("check", at=taught) == 0
    assert "Show a second site" in " ".join(capsys.readouterr().out.split())


def test_the_check_fails_when_nothing_can_be_learned(
    workspace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert trails("check", at=workspace) == 6
    assert "There are no trails yet" in capsys.readouterr().out
    assert trails("list", at=workspace) == 0
    assert "There are no trails" in capsys.readouterr().err


def test_trails_are_made_from_labels_of_the_sample_web(
    workspace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["history", "linguistique", "--goal", "publications", "--trails", "3"]
    assert trails("from-samples", *arguments, at=workspace) == 0
    assert "history has no page labelled 'publications'" in capsys.readouterr().err
    trails("list", "--json", at=workspace)
    made = rows(capsys)
    assert {row["site"] for row in made} == {"http://linguistique.localhost/"}
    assert [row["ending"] for row in made] == ["Goal"] * 3 + ["Fail"] * 3


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["from-samples", "atlantis", "--goal", "publications"], "no site 'atlantis'"),
        (["from-samples", "history", "--goal", "unicorns"], "Labels are: contact, course"),
        (["import", "nowhere.jsonl"], "cannot be read"),
        (["show", "7"], "Trail 7 is not in this workspace"),
        (["relabel", "1", "9", "x"], "Trail 1 has no step 9"),
        (["relabel", "1", "0", "<Goal"], "may not begin with"),
    ],
)
def test_bad_input_ends_with_one_clear_sentence(
    arguments: list[str], words: str, taught: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert trails(*arguments, at=taught) == 2
    sentence = capsys.readouterr().err.strip().splitlines()[-1]
    assert words in sentence
    assert "Traceback" not in sentence
