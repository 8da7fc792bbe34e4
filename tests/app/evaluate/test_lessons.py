"""Lessons of a few trails, drawn at random, and how well goals are recognised after them."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from tests.app.evaluate.test_evaluate import folder_of
from tests.paths.small_sites import site_pages
from wayhound.app.evaluate.evaluation import Evaluation, Recognition, outcomes_to_json
from wayhound.app.evaluate.lessons import LessonSize, draw_sites, draw_trails
from wayhound.app.evaluate.world import World
from wayhound.cli import run
from wayhound.errors import UsageError
from wayhound.forage.scorer import FoundPage, SiteReport
from wayhound.site import Site


def world(name: str) -> World:
    pages = site_pages(name)
    labels = {url: "person" if "/staff/" in url and url.endswith("html") else "other" for url in pages}
    return World(name, Site(f"http://{name}.example/"), pages, labels)


WORLDS = [world(name) for name in ("s1", "s2", "s3")]
SIZE = LessonSize(2, 2)


def test_a_lesson_is_parsed_from_its_size() -> None:
    assert LessonSize.parse("3x5") == LessonSize(3, 5)
    assert str(LessonSize(3, 5)) == "3x5"
    for text in ("three", "0x3", "3x0"):
        with pytest.raises(UsageError, match="3x3"):
            LessonSize.parse(text)


def test_at_least_one_site_is_left_to_be_tested() -> None:
    assert len(draw_sites(WORLDS, "person", LessonSize(5, 3), [0])) == len(WORLDS) - 1


def test_the_same_seed_draws_the_same_lesson() -> None:
    first, second = (
        [trail.steps[-1].page.url for trail in draw_trails(WORLDS[0], "person", SIZE, [7])] for _ in range(2)
    )
    assert first == second


def test_as_many_trails_fail_as_the_size_says() -> None:
    trails = draw_trails(WORLDS[0], "person", LessonSize(1, 3), [0])
    assert [trail.reached_goal for trail in trails] == [True, True, False, False, False]


def test_without_its_goals_a_site_has_neither_the_pages_nor_links_to_them() -> None:
    cut = WORLDS[0].without("person")
    assert not cut.goals("person")
    assert not any(
        link.url in WORLDS[0].goals("person") for page in cut.pages.values() for link in page.links
    )


def test_a_site_whose_start_page_is_a_goal_cannot_do_without_goals() -> None:
    start = "http://s1.example/"
    with pytest.raises(UsageError, match="start page of s1 is labelled home"):
        World("s1", Site(start), site_pages("s1"), {start: "home"}).without("home")


def test_recognition_compares_reported_pages_with_the_goals_that_were_fetched() -> None:
    report = SiteReport((FoundPage("a", 0.9), FoundPage("b", 0.8)), (FoundPage("c", 0.4),), 0.1)
    recognition = Recognition.from_report(report, ["a", "b", "c"], {"a", "c", "d"})
    assert (recognition.reported, recognition.right, recognition.likely_right) == (2, 1, 1)
    assert (recognition.precision, recognition.recall, recognition.f1) == (0.5, 0.5, 0.5)


def test_nothing_reported_is_an_f1_of_zero_without_a_precision() -> None:
    recognition = Recognition.from_report(SiteReport((), (), 0.9), ["a"], {"a"})
    assert (recognition.precision, recognition.recall, recognition.f1) == (None, 0.0, 0.0)


def test_lessons_are_tested_on_every_site_that_is_not_taught_with_and_without_goals() -> None:
    evaluation = Evaluation(
        WORLDS,
        [],
        ["person"],
        ["oracle", "breadth-first", "adaptive"],
        lesson=SIZE,
        draws=2,
        without_goals=True,
    )
    outcomes = list(evaluation.run())
    assert len(outcomes) == len(evaluation)
    data = outcomes_to_json(outcomes)
    runs = [outcome for outcome in data["runs"] if outcome["strategy"] == "adaptive"]
    assert [(outcome["draw"], outcome["reachable"]) for outcome in runs] == [(0, 2), (0, 0), (1, 2), (1, 0)]
    assert all(outcome["lesson"] == "2x2" for outcome in runs)
    keys = {"reported", "right", "precision", "recall", "f1", "likely_reported", "likely_right"}
    assert keys <= runs[0].keys()
    row = next(row for row in data["means"] if row["strategy"] == "adaptive")
    assert {"nothing_reported", "false_goal_share", "f1"} <= row.keys()
    assert next(row for row in data["means"] if row["strategy"] == "oracle")["f1"] is None


def test_with_questions_goals_are_confirmed_and_none_is_reported_where_there_is_none() -> None:
    evaluation = Evaluation(
        WORLDS,
        [],
        ["person"],
        ["adaptive"],
        lesson=SIZE,
        without_goals=True,
        complete_lists=True,
        questions=3,
    )
    outcomes = {run.without_goals: run.recognition for run in evaluation.run()}
    with_goals, without = outcomes[False], outcomes[True]
    assert with_goals
    assert without
    assert (with_goals.right, with_goals.none_probability) == (with_goals.fetched_goals, 0.0)
    assert without.reported == 0
    assert without.none_probability > 0.5


def test_reports_before_and_after_each_answer_come_from_one_walk() -> None:
    evaluation = Evaluation(WORLDS, [], ["person"], ["adaptive"], lesson=SIZE, questions=2)
    [asked] = evaluation.run()
    [silent] = replace(evaluation, questions=0).run()
    assert len(asked.by_answers) == 3
    assert asked.by_answers[0] == silent.recognition
    assert asked.by_answers[-1] == asked.recognition
    assert asked.curve == silent.curve


def test_a_site_may_be_left_when_a_share_of_its_goals_is_fetched() -> None:
    whole = Evaluation(WORLDS, [], ["person"], ["adaptive"], lesson=SIZE, budget=1)
    left = replace(whole, until=50)
    assert [run.pages_to["50"] for run in left.run()] == [run.pages_to["50"] for run in whole.run()]
    [outcome] = left.run()
    assert outcome.fetched == outcome.pages_to["50"]
    assert outcome.fetched < outcome.pages


def test_a_site_without_goals_is_left_after_the_pages_in_which_goals_are_recognised() -> None:
    evaluation = Evaluation(WORLDS, [], ["person"], ["adaptive"], lesson=SIZE, budget=2, without_goals=True)
    assert [run.fetched for run in evaluation.run() if run.without_goals] == [2]


def test_answers_teach_the_sites_that_are_tested_after() -> None:
    """The first site has nothing to learn from; the second is recognised by a model that saw its answers."""
    evaluation = Evaluation(WORLDS, [], ["person"], ["adaptive"], lesson=LessonSize(1, 1), questions=3)
    alone = list(evaluation.run())
    passed = list(replace(evaluation, pass_answers=True).run())
    assert len(passed) == len(alone) == 2
    assert passed[0].by_answers == alone[0].by_answers
    doubts = [runs[1].by_answers[0].none_probability for runs in (alone, passed)]
    assert doubts[0] != doubts[1]


def test_the_command_passes_answers_on(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("a", "b", "c"):
        folder_of(tmp_path, name)
    command = ["evaluate", str(tmp_path), "--goal", "person", "--strategy", "adaptive", "--lesson", "1x1"]
    assert run([*command, "--questions", "2", "--pass-answers", "--json"]) == 0
    runs = json.loads(capsys.readouterr().out)["runs"]
    assert len(runs) == 2
    assert all(run["f1"] is not None for run in runs)


def test_the_command_draws_lessons(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("a", "b", "c"):
        folder_of(tmp_path, name)
    command = [
        "evaluate",
        str(tmp_path),
        "--goal",
        "person",
        "--strategy",
        "adaptive",
        "--strategy",
        "oracle",
    ]
    options = [
        "--questions",
        "1",
        "--complete-lists",
        "--lesson",
        "2x1",
        "--draws",
        "2",
        "--seed",
        "5",
        "--budget",
        "8",
    ]
    assert run([*command, *options, "--without-goals", "--blind-to-urls", "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert [(outcome["lesson"], outcome["draw"]) for outcome in data["runs"]] == [("2x1", 0)] * 4 + [
        ("2x1", 1)
    ] * 4
    assert run([*command, *options]) == 0
    assert "F1" in capsys.readouterr().out
    assert run([*command, "--lesson", "many"]) == 2
    assert "not the size of a lesson" in " ".join(capsys.readouterr().err.split())
