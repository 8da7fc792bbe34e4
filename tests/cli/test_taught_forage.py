"""Taught on two sample departments, a forage of a third: goals by the path, few pages, and reasons for all."""

from __future__ import annotations

import csv
import io
import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from tests.cli.taught import LOOPBACK, start_of, true_goals
from tests.servers import serve
from wayhound.app.order import Order
from wayhound.app.review import Review
from wayhound.cli import run
from wayhound.paths.spiders import SPIDERS
from wayhound.samples import SampleServer, sample_web, serve_samples
from wayhound.workspace import Workspace

BY_MODEL = ["--strategy", "adaptive"]


def forage(start: str, workspace: Path, *options: str) -> int:
    return run(["forage", start, "-w", str(workspace), *LOOPBACK, *options])


def rows(capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def exported(workspace: Path, table: str, capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    capsys.readouterr()
    assert run(["export", table, "-w", str(workspace)]) == 0
    return rows(capsys)


def pages_until(visits: list[dict[str, Any]], wanted: set[str], share: float) -> int:
    """How many pages were fetched until this share of the wanted ones was."""
    found = 0
    for number, visit in enumerate((each for each in visits if each["spent"]), start=1):
        found += visit["url"] in wanted
        if found >= share * len(wanted):
            return number
    raise AssertionError(f"only {found} of {len(wanted)} were fetched")


def test_a_third_department_needs_fewer_pages_than_breadth_first(
    trained: Path, samples: SampleServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    start, goals = start_of(samples, "math"), true_goals(samples, "math", "course")
    assert forage(start, trained, *BY_MODEL) == 0
    taught = pages_until(exported(trained, "visits", capsys), goals, 0.75)
    assert run(["init", str(tmp_path / "plain")]) == 0
    assert forage(start, tmp_path / "plain") == 0
    plain = pages_until(exported(tmp_path / "plain", "visits", capsys), goals, 0.75)
    assert taught <= 0.6 * plain


def test_goals_are_recognised_by_the_path_and_not_by_a_pattern(
    trained: Path, samples: SampleServer, capsys: pytest.CaptureFixture[str]
) -> None:
    goals = true_goals(samples, "math", "course")
    assert forage(start_of(samples, "math"), trained, *BY_MODEL, "--budget", "60") == 0
    found = {row["url"] for row in exported(trained, "goals", capsys)}
    assert len(found & goals) >= 0.75 * len(goals)
    assert len(found & goals) >= 0.75 * len(found)


def test_every_goal_is_told_with_path_labels_probability_and_reasons(
    trained: Path, samples: SampleServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    start = start_of(samples, "math")
    assert forage(start, trained, *BY_MODEL, "--budget", "30") == 0
    goals = exported(trained, "goals", capsys)
    assert goals
    for goal in goals:
        assert goal["tier"] in ("goal", "likely")
        assert 0 < goal["probability"] <= 1
        assert goal["path"][0]["url"] == start
        assert goal["path"][-1]["url"] == goal["url"]
        assert goal["path"][-1]["label"] == "Goal"
        assert all(step["link"] for step in goal["path"][1:])
        assert goal["why"]
    assert run(["export", "goals", "-w", str(trained), "--out", str(tmp_path / "goals.csv")]) == 0
    flat = list(csv.DictReader(io.StringIO((tmp_path / "goals.csv").read_text("utf-8"))))
    assert [row["url"] for row in flat] == [goal["url"] for goal in goals]
    assert all(row["path"] and row["labels"].endswith("Goal") and row["why"] for row in flat)
    capsys.readouterr()
    assert run(["status", "--goals", "-w", str(trained)]) == 0
    shown = capsys.readouterr().out
    assert "because of" in shown
    assert goals[0]["url"] in shown
    assert run(["status", "--goals", "--json", "-w", str(trained)]) == 0
    assert [row["url"] for row in rows(capsys)] == [goal["url"] for goal in goals]


def test_the_same_order_goes_on_and_a_model_trained_anew_begins_a_new_run(
    trained: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with serve_samples(sample_web()) as server:
        start = start_of(server, "math")
        assert forage(start, trained, *BY_MODEL, "--budget", "5") == 0
        assert forage(start, trained, "--model", "paths", "--budget", "9") == 0
        pages = {path: asked for (_, path), asked in server.counts.items() if path != "/robots.txt"}
        assert sum(pages.values()) == 9
        assert run(["train", "--settings", "default", "-w", str(trained)]) == 0
        assert forage(start, trained, *BY_MODEL, "--budget", "9") == 0
        assert len(status(trained, capsys)) == 1  # the same trails taught the same model
        assert run(["trails", "delete", "1", "-w", str(trained)]) == 0
        assert run(["train", "--settings", "default", "-w", str(trained)]) == 0
        assert forage(start, trained, *BY_MODEL, "--budget", "2") == 0
    assert [run["progress"]["spent"] for run in status(trained, capsys)] == [2, 9]
    assert {run["order"]["model"] for run in status(trained, capsys)} == {"paths"}


def status(workspace: Path, capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    capsys.readouterr()
    assert run(["status", "--json", "-w", str(workspace)]) == 0
    told: list[dict[str, Any]] = json.loads(capsys.readouterr().out)
    return told


def test_worker_processes_forage_by_the_model_and_keep_the_reasons(
    trained: Path, samples: SampleServer, capsys: pytest.CaptureFixture[str]
) -> None:
    starts = [start_of(samples, name) for name in ("math", "biology")]
    command = [
        "forage",
        *starts,
        "-w",
        str(trained),
        *LOOPBACK,
        *BY_MODEL,
        "--budget",
        "25",
        "--workers",
        "2",
    ]
    assert run([*command, "--json"]) == 0
    printed = rows(capsys)
    goals = exported(trained, "goals", capsys)
    assert {row["url"] for row in printed} == {goal["url"] for goal in goals}
    assert all(goal["why"] for goal in goals)
    assert all(row["why"] for row in printed)


def test_one_goal_a_site_stops_when_no_link_outscores_it(
    trained: Path, samples: SampleServer, capsys: pytest.CaptureFixture[str]
) -> None:
    assert forage(start_of(samples, "math"), trained, *BY_MODEL, "--one-goal") == 0
    [run] = status(trained, capsys)
    [site] = run["sites"]
    assert site["reason"] == "no link outscores the goal found"
    assert site["goals"] >= 1
    visits = exported(trained, "visits", capsys)
    best = max(visit["goal"] for visit in visits if visit["is_goal"])
    first = next(number for number, visit in enumerate(visits) if visit["is_goal"])
    assert all(visit["score"] > visits[first]["goal"] for visit in visits[first + 1 :])
    assert best == max(visit["goal"] for visit in visits)


def test_a_crash_in_the_middle_ends_with_the_same_pages_and_goals(
    trained: Path, samples: SampleServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Stopped after every few pages and told again, the forage takes the pages that it takes at one go."""
    start = start_of(samples, "math")
    for budget in ("4", "11", "20"):
        assert forage(start, trained, *BY_MODEL, "--budget", budget) == 0
    in_parts = exported(trained, "visits", capsys)
    assert forage(start, trained, *BY_MODEL, "--budget", "20", "--new-run") == 0
    at_once = exported(trained, "visits", capsys)
    assert in_parts
    assert [visit["url"] for visit in in_parts] == [visit["url"] for visit in at_once]
    assert [visit["goal"] for visit in in_parts] == [visit["goal"] for visit in at_once]
    assert [visit["tier"] for visit in in_parts] == [visit["tier"] for visit in at_once]
    assert [visit["probability"] for visit in in_parts] == [visit["probability"] for visit in at_once]


def test_reasons_are_kept_for_pages_that_may_be_goals(trained: Path, samples: SampleServer) -> None:
    assert forage(start_of(samples, "math"), trained, *BY_MODEL, "--budget", "30") == 0
    with sqlite3.connect(trained / "wayhound.db") as database:
        [kept] = database.execute("SELECT count(*) FROM goal_reason").fetchone()
        [goals] = database.execute(
            "SELECT count(*) FROM visit WHERE goal >= 0.1 AND outcome = 'ok'"
        ).fetchone()
    database.close()
    assert kept == goals > 0


def test_a_model_of_the_strategy_adaptive_is_trained_followed_and_explained(
    trained: Path, samples: SampleServer, capsys: pytest.CaptureFixture[str]
) -> None:
    start, goals = start_of(samples, "math"), true_goals(samples, "math", "course")
    command = [
        "train",
        "--strategy",
        "adaptive",
        "--model",
        "few",
        "--settings",
        "default",
        "-w",
        str(trained),
    ]
    assert run(command) == 0
    by_model = ["--strategy", "adaptive", "--model", "few"]
    assert forage(start, trained, *by_model, "--budget", "60") == 0
    reported = exported(trained, "goals", capsys)
    urls = {row["url"] for row in reported}
    assert len(urls & goals) >= 0.75 * len(goals)
    assert len(urls & goals) >= 0.75 * len(urls)
    assert all(row["probability"] >= 0.5 and row["why"] for row in reported)
    assert run(["explain", reported[0]["url"], "--model", "few", "-w", str(trained)]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "#" not in shown.replace("&#", "")
    assert "@" not in shown


def test_another_probability_cuts_a_finished_run_anew_without_a_fetch(
    trained: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with serve_samples(sample_web()) as server:
        start = start_of(server, "math")
        assert forage(start, trained, "--budget", "25") == 0
        before = exported(trained, "goals", capsys)
        asked = server.counts.total()
        assert forage(start, trained, "--budget", "25", "--min-probability", "0.01") == 0
        lower = exported(trained, "goals", capsys)
        assert forage(start, trained, "--budget", "25") == 0
        again = exported(trained, "goals", capsys)
        assert server.counts.total() == asked
    assert sum(row["tier"] == "goal" for row in lower) > sum(row["tier"] == "goal" for row in before)
    assert again == before


def test_a_site_without_goals_is_told_with_how_sure_that_is(
    trained: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pages = {"/": "<title>Nothing</title><a href='/a'>Imprint</a>", "/a": "<title>Imprint</title>"}
    with serve(pages) as site:
        assert forage(f"{site}/", trained) == 0
        said = capsys.readouterr().err
        [row] = exported(trained, "sites", capsys)
    assert row["goals"] == 0
    assert row["none_probability"] > 0.9
    assert "probably none" in said
    assert "after 2 pages" in said


def test_what_a_person_said_about_a_page_counts_more_than_the_model(
    trained: Path, samples: SampleServer, capsys: pytest.CaptureFixture[str]
) -> None:
    start = start_of(samples, "math")
    assert forage(start, trained, "--budget", "25") == 0
    wrong = next(row for row in exported(trained, "goals", capsys) if row["tier"] == "goal")
    missed = next(
        row
        for row in exported(trained, "visits", capsys)
        if not row["tier"] and row["outcome"] == "ok" and row["depth"]
    )
    with Workspace.open(trained) as workspace:
        review = Review(workspace, 1)
        review.answer(start, wrong["number"], "Fail", 1.0)
        review.answer(start, missed["number"], "Goal", 2.0)
    told = {row["url"]: row["tier"] for row in exported(trained, "goals", capsys)}
    assert wrong["url"] not in told
    assert told[missed["url"]] == "confirmed"


@pytest.mark.parametrize("strategy", sorted(SPIDERS))
def test_spiders_forage_by_the_same_command_and_in_the_same_order_again(
    strategy: str, trained: Path, samples: SampleServer, capsys: pytest.CaptureFixture[str]
) -> None:
    start = start_of(samples, "math")
    assert run(["train", "-w", str(trained), "--strategy", strategy, "--model", strategy]) == 0
    orders = []
    for _ in range(2):
        assert forage(start, trained, "--model", strategy, "--budget", "40", "--new-run") in (0, 3)
        orders.append([visit["url"] for visit in exported(trained, "visits", capsys)][-40:])
    assert orders[0] == orders[1]
    assert len(orders[0]) > 15


def test_words_help_a_model_to_find_the_way_and_say_nothing_about_goals(
    trained: Path, samples: SampleServer, capsys: pytest.CaptureFixture[str]
) -> None:
    start = start_of(samples, "math")
    words = ["--model", "paths", "--keyword", "preprint"]
    assert forage(start, trained, *words, "--budget", "12") == 0
    assert "by the model paths and the words preprint" in capsys.readouterr().err
    visits = exported(trained, "visits", capsys)
    assert not any(visit["is_goal"] and visit["goal"] == 1.0 for visit in visits)
    path_learner = ["train", "--strategy", "path-learner", "--model", "paper", "--settings", "default"]
    assert run([*path_learner, "-w", str(trained)]) == 0
    assert forage(start, trained, "--model", "paper", "--keyword", "preprint") == 2
    assert "takes no words" in capsys.readouterr().err


def test_a_model_that_was_taught_one_goal_a_site_looks_for_one_and_says_so(
    tmp_path: Path, samples: SampleServer, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "one"
    assert run(["init", str(folder)]) == 0
    taught = [
        "trails",
        "from-samples",
        "physics",
        "cs",
        "--goal",
        "course",
        "--trails",
        "1",
        "-w",
        str(folder),
    ]
    assert run(taught) == 0
    assert run(["train", "--settings", "default", "-w", str(folder)]) == 0
    with Workspace.open(folder) as workspace:
        assert workspace.forage_models.last().one_goal
    capsys.readouterr()
    start = start_of(samples, "math")
    assert forage(start, folder, "--budget", "12") == 0
    assert "One goal a site, as on the sites that were taught" in capsys.readouterr().err
    assert forage(start, folder, "--budget", "12", "--all-goals") == 0
    assert "One goal a site" not in capsys.readouterr().err
    with Workspace.open(folder) as workspace:
        last, first = workspace.stores.forage.runs()
        orders = [Order.from_identity(each.identity) for each in (first, last)]
    assert [(order.best_goal_only, order.all_goals) for order in orders] == [(True, False), (False, True)]
