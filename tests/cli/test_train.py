"""`wayhound train` as a person types it, and what it says of models that cannot be used."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.app.evaluate.test_evaluate import folder_of
from tests.paths.trails import TO_GOAL, TO_NOWHERE
from wayhound.cli import run
from wayhound.learn.model_file import META_NAME
from wayhound.paths.spiders import SPIDERS, STRATEGY_NAMES
from wayhound.workspace import Workspace


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "untaught"
    assert run(["init", str(folder)]) == 0
    return folder


def report(capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    told: dict[str, Any] = json.loads(capsys.readouterr().out)
    return told


def test_the_report_tells_labels_rewards_and_features(
    trained: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    assert run(["train", "--show", "--json", "-w", str(trained)]) == 0
    told = report(capsys)
    labels = {label["label"]: label for label in told["labels"]}
    assert told["sites"] == ["http://physics.localhost/", "http://cs.localhost/"]
    assert labels["Goal"]["reward"] == 1.0
    assert 0.0 < labels["Goal"]["f1"] <= 1.0
    assert all(label["reward"] < 1.0 for name, label in labels.items() if name != "Goal")
    assert all(label["strongest"] for label in told["labels"])
    assert told["labels"][0]["label"] == "Goal"


def test_the_report_is_a_table_for_people(trained: Path, capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    assert run(["train", "--show", "-w", str(trained), "--features", "2"]) == 0
    shown = capsys.readouterr().out
    assert "Learned from 16 trails on 2 sites." in shown
    assert "Strategy: adaptive." in shown
    assert "Expect an F1 of about" in shown
    for heading in ("label", "precision", "recall", "F1", "reward", "strongest features"):
        assert heading in shown
    assert "On physics.localhost, held out:" in shown
    assert "breadth-first needed" in shown


@pytest.mark.parametrize("strategy", STRATEGY_NAMES)
def test_every_strategy_can_be_trained_and_loaded(strategy: str, trained: Path) -> None:
    command = ["train", "--strategy", strategy, "--model", f"by-{strategy}", "--settings", "default"]
    assert run([*command, "-w", str(trained)]) == 0
    assert run(["train", "--show", "--model", f"by-{strategy}", "-w", str(trained)]) == 0


def test_settings_are_chosen_by_the_trails_unless_they_are_given(
    trained: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["train", "--strategy", "naive-bayes", "--model", "nb", "--json", "-w", str(trained)]) == 0
    assert report(capsys)["chosen"] is True
    command = ["train", "--strategy", "naive-bayes", "--model", "nb", "--settings", "paper", "--json"]
    assert run([*command, "-w", str(trained)]) == 0
    told = report(capsys)
    assert told["chosen"] is False
    assert told["settings"]["combine"] == "sum"


def test_one_site_is_learned_without_figures_that_nothing_could_tell(
    workspace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with Workspace.open(workspace) as opened:
        opened.stores.trails.add_all([TO_GOAL, TO_NOWHERE], 0.0)
    assert run(["train", "--json", "-w", str(workspace)]) == 0
    told = report(capsys)
    assert told["all_labels"] is None
    assert all(label["precision"] is None for label in told["labels"])
    assert run(["train", "--show", "-w", str(workspace)]) == 0
    assert "nothing shows how well it does on other sites" in capsys.readouterr().out


def test_trails_without_an_ending_are_left_out(trained: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with Workspace.open(trained) as opened:
        opened.stores.trails.relabel(1, len(opened.stores.trails.get(1).trail.steps) - 1, "", 0.0)
    assert run(["train", "--settings", "default", "--json", "-w", str(trained)]) == 0
    told = report(capsys)
    assert (told["trails"], told["left_out"]) == (15, 1)


def test_nothing_to_learn_from_ends_with_a_sentence(
    workspace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["train", "-w", str(workspace)]) == 6
    assert "There are no trails yet" in capsys.readouterr().err
    with Workspace.open(workspace) as opened:
        opened.stores.trails.add(TO_NOWHERE, 0.0)
    assert run(["train", "-w", str(workspace)]) == 6
    assert "No trail ends at a goal" in capsys.readouterr().err


def damaged(folder: Path) -> None:
    [arrays] = folder.glob("arrays-*.npz")
    arrays.write_bytes(arrays.read_bytes()[:-100])


def foreign(folder: Path) -> None:
    told = json.loads((folder / META_NAME).read_text())
    (folder / META_NAME).write_text(json.dumps(told | {"kind": "topics"}))


def newer(folder: Path) -> None:
    told = json.loads((folder / META_NAME).read_text())
    (folder / META_NAME).write_text(json.dumps(told | {"version": 99}))


def edited(folder: Path) -> None:
    (folder / META_NAME).write_text((folder / META_NAME).read_text().replace("Goal", "Gold"))


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (damaged, "is damaged"),
        (foreign, "is of another kind"),
        (newer, "saved by a newer Wayhound"),
        (edited, "is damaged"),
    ],
)
def test_a_model_that_cannot_be_used_is_told_in_a_sentence(
    spoil: Any, words: str, trained: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    spoil(trained / "models" / "paths")
    assert run(["forage", "http://a.example/", "--model", "paths", "-w", str(trained)]) == 5
    said = capsys.readouterr().err.strip().splitlines()[-1]
    assert words in said


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["train", "--model", "../outside"], "cannot be the name of a model"),
        (
            ["train", "--show", "--model", "nobody"],
            "There is no model 'nobody' in this workspace; there are paths",
        ),
        (["forage", "http://a.example/", "--model", "nobody"], "There is no model 'nobody'"),
        (["forage", "http://a.example/", "--strategy", "maxent"], "no trained model for the strategy maxent"),
        (["forage", "http://a.example/", "--strategy", "maxent", "--model", "paths"], "was trained for"),
        (["forage", "http://a.example/", "--strategy", "random", "--model", "paths"], "takes no model"),
        (
            ["forage", "http://a.example/", "--model", "paths", "--goal-pattern", "x"],
            "recognises goals itself",
        ),
        (["explain", "http://a.example/", "--model", "nobody"], "There is no model 'nobody'"),
        (["explain", "mailto:a@b.example"], "not a web address"),
    ],
)
def test_bad_input_ends_with_one_clear_sentence(
    arguments: list[str], words: str, trained: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([*arguments, "-w", str(trained)]) == 2
    said = capsys.readouterr().err.strip().splitlines()[-1]
    assert words in said
    assert "Traceback" not in said


def test_a_name_that_another_kind_of_model_has_is_refused(
    trained: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    foreign(trained / "models" / "paths")
    assert run(["train", "-w", str(trained)]) == 2
    assert "a model of another kind" in capsys.readouterr().err


def test_a_workspace_without_a_model_says_what_comes_next(
    workspace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["forage", "http://a.example/", "--strategy", "path-learner", "-w", str(workspace)]) == 2
    assert "Next: wayhound train" in capsys.readouterr().err


KILLED_WHEN_LEARNED = """
import os, signal, sys
from pathlib import Path
from wayhound.app.train.training import train_and_measure
from wayhound.workspace import Workspace

def kill(what, done, of):
    if what == "learning from all trails" and done:
        os.kill(os.getpid(), signal.SIGKILL)

with Workspace.open(Path(sys.argv[1])) as workspace:
    train_and_measure(workspace, on_progress=kill)
"""


def test_a_training_that_is_killed_leaves_the_old_model_whole(trained: Path) -> None:
    before = sorted(path.read_bytes() for path in (trained / "models" / "paths").iterdir())
    training = subprocess.run([sys.executable, "-c", KILLED_WHEN_LEARNED, str(trained)], check=False)
    assert training.returncode == -signal.SIGKILL
    assert sorted(path.read_bytes() for path in (trained / "models" / "paths").iterdir()) == before


@pytest.mark.parametrize("strategy", sorted(SPIDERS))
def test_spiders_are_shown_and_explained_like_path_models(
    strategy: str, trained: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["train", "-w", str(trained), "--strategy", strategy, "--model", "spider"]) == 0
    capsys.readouterr()
    assert run(["train", "--show", "-w", str(trained), "--model", "spider"]) == 0
    shown = capsys.readouterr().out
    assert f"Strategy: {strategy}." in shown
    assert "reward" in shown
    assert "On physics.localhost, held out:" in shown
    with Workspace.open(trained) as workspace:
        start = workspace.stores.trails.trails()[0].steps[0].page.url
    assert run(["explain", start, "-w", str(trained), "--model", "spider", "--json"]) == 0
    explained = json.loads(capsys.readouterr().out)
    assert explained["links"]
    assert explained["links"][0]["why"]


def test_a_spider_learns_from_recorded_sites(
    workspace: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("a", "b"):
        folder_of(tmp_path / "sites", name)
    command = ["train", "-w", str(workspace), "--strategy", "q-spider", "--teach", str(tmp_path / "sites")]
    assert run(command) == 2
    assert "--goal LABEL" in capsys.readouterr().err
    assert run([*command, "--goal", "person", "--set", "bins=3"]) == 0
    shown = capsys.readouterr().out
    assert "Learned from 2 sites, recorded whole." in shown
    assert "bins 3" in shown
    assert "held out" in shown


def test_a_path_model_refuses_recorded_sites(
    workspace: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder_of(tmp_path / "sites", "a")
    assert run(["train", "-w", str(workspace), "--teach", str(tmp_path / "sites"), "--goal", "person"]) == 2
    assert "trails alone" in capsys.readouterr().err


def test_one_setting_can_be_changed_by_name(trained: Path, capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    command = ["train", "-w", str(trained), "--model", "edges", "--set", "topology=labels", "--json"]
    assert run(command) == 0
    assert report(capsys)["settings"]["topology"] == "labels"
    assert run(["train", "-w", str(trained), "--set", "topology=ring"]) == 2
    assert "topology" in capsys.readouterr().err
