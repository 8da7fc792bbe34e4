from __future__ import annotations

import json
from pathlib import Path
from typing import get_args

import pytest

from wayhound.app.evaluate.evaluation import (
    Evaluation,
    EvaluationTask,
    irrelevant_slope,
    means,
    measure,
    recommend,
)
from wayhound.app.evaluate.lessons import make_trails
from wayhound.app.evaluate.strategies import ORACLE, STRATEGIES, Lesson, Taught, tune_q_spider
from wayhound.app.evaluate.world import World, join_worlds, load_worlds, oracle, walk
from wayhound.archive.site_folder import write_site_folder
from wayhound.cli import run
from wayhound.errors import ArchiveError, UsageError
from wayhound.fetched import Fetched
from wayhound.forage.scorer import StrategyInput
from wayhound.forage.scorers import SCORERS
from wayhound.paths.q_model import TUNED, QSettings
from wayhound.trail import FAIL, GOAL

PAGES = {
    "/": ["/people", "/news", "/old"],
    "/people": ["/p1", "/p2", "/p3", "/", "/missing"],
    "/news": ["/n1", "/n2", "/n3", "/n4"],
    **{f"/n{n}": ["/news"] for n in range(1, 5)},
    **{f"/p{n}": [] for n in range(1, 4)},
    "/island": ["/p4"],
    "/p4": [],
}
LABELS = {"/people": "people", **{f"/p{n}": "person" for n in range(1, 5)}}


def folder_of(tmp_path: Path, name: str) -> Path:
    host = f"http://{name}.example"
    responses = [
        (Fetched(host + path, 200, body=_html(path, links), content_type="text/html"), 0.0)
        for path, links in PAGES.items()
    ]
    moved = Fetched(f"{host}/old", 301, headers=(("Location", f"{host}/people"),), location=f"{host}/people")
    labels = {host + path: label for path, label in LABELS.items()}
    provenance = {"source": "made for a test", "labels_by": "the test"}
    write_site_folder(tmp_path / name, f"{host}/", [*responses, (moved, 0.0)], labels, provenance)
    return tmp_path / name


def _html(path: str, links: list[str]) -> bytes:
    return f"<title>{path}</title>{''.join(f'<a href={link!r}>{link}</a> ' for link in links)}".encode()


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World.load(folder_of(tmp_path, "a"))


def test_a_site_whose_start_page_leads_out_of_the_archive_is_an_error(tmp_path: Path) -> None:
    start, gone = "http://a.example/", "http://a.example/gone"
    moved = Fetched(start, 301, headers=(("Location", gone),), location=gone)
    write_site_folder(tmp_path / "a", start, [(moved, 0.0)], {}, {})
    with pytest.raises(ArchiveError, match="does not hold the page that its start page leads to"):
        World.load(tmp_path / "a")


def paths(urls: object) -> list[str]:
    assert isinstance(urls, tuple | list)
    return ["/" + url.split("/", 3)[3] for url in urls]


def test_a_world_is_closed_and_links_point_behind_redirects(world: World) -> None:
    start = world.pages[world.site.start]
    assert paths([link.url for link in start.links]) == ["/people", "/news", "/people"]
    assert len(world.depths) == 10
    assert len(world.goals("person")) == 4
    assert len(world.reachable_goals("person")) == 3


def test_the_oracle_goes_straight_to_the_nearest_goal(world: World) -> None:
    assert paths(oracle(world, "person").urls) == ["/", "/people", "/p1", "/p2", "/p3"]


def test_a_strategy_walks_every_page_once(world: World) -> None:
    taken = walk(world, STRATEGIES["breadth-first"](Lesson([], "person", 1)))
    assert sorted(taken.urls) == sorted(world.depths)


def test_measures_are_those_of_the_walk(world: World) -> None:
    best = oracle(world, "person")
    taken = walk(world, STRATEGIES["breadth-first"](Lesson([], "person", 1)))
    outcome = measure(EvaluationTask(world, "person"), "breadth-first", "trails", taken, best)
    assert outcome.pages_to == {"50": 5, "75": 6, "90": 6, "95": 6}
    assert outcome.ratio["75"] == 6 / 5
    assert outcome.harvest["75"] == 3 / 6
    assert outcome.curve == (0, 0, 0, 1, 2, 3, 3, 3, 3, 3)
    assert outcome.auc == pytest.approx(sum(outcome.curve) / 30)
    assert (outcome.goals, outcome.reachable, outcome.fetched) == (4, 3, 10)


def test_a_share_never_reached_is_null_and_counts_as_all_pages_in_a_mean(world: World) -> None:
    best = oracle(world, "person")
    nothing = measure(EvaluationTask(world, "person"), "lazy", "trails", best.__class__(best.urls[:2]), best)
    full = measure(EvaluationTask(world, "person"), "oracle", "trails", best, best)
    assert nothing.pages_to["75"] is None
    [lazy, _] = means([nothing, full])
    assert lazy["ratio"]["75"] == pytest.approx(10 / 5)


def test_trails_are_shortest_paths_with_milestones_and_as_many_that_fail(world: World) -> None:
    trails = make_trails(world, "person", 2)
    assert [[step.label for step in trail.steps] for trail in trails[:2]] == [["", "people", GOAL]] * 2
    assert [trail.steps[-1].label for trail in trails] == [GOAL, GOAL, FAIL, FAIL]
    assert all(trail.steps[0].page.url == world.site.start for trail in trails)
    assert all(
        step.link is not None and step.link.url == step.page.url
        for trail in trails
        for step in trail.steps[1:]
    )


def test_every_strategy_can_be_measured_on_goals_that_are_documents(tmp_path: Path) -> None:
    worlds = [World.load(folder_with_documents(tmp_path, name)) for name in ("a", "b")]
    trails = make_trails(worlds[0], "report", 2)
    assert [trail.steps[-1].page.kind for trail in trails if trail.reached_goal] == ["document"] * 2
    for name, strategy in STRATEGIES.items():
        taken = walk(worlds[1], strategy(Lesson(worlds[:1], "report", 2)))
        task = EvaluationTask(worlds[1], "report")
        outcome = measure(task, name, "trails", taken, oracle(worlds[1], "report"))
        assert outcome.reachable == 3, name
        assert outcome.pages_to["95"] is not None, name


def folder_with_documents(tmp_path: Path, name: str) -> Path:
    """The pages of people are PDF files here."""
    host = f"http://{name}.example"
    responses = [
        (Fetched(host + path, 200, body=b"%PDF-1.4\n" + path.encode(), content_type="application/pdf"), 0.0)
        if path.startswith("/p") and path != "/people"
        else (Fetched(host + path, 200, body=_html(path, links), content_type="text/html"), 0.0)
        for path, links in PAGES.items()
    ]
    labels = {host + path: "report" for path in PAGES if path.startswith("/p") and path != "/people"}
    write_site_folder(tmp_path / name, f"{host}/", responses, labels, {})
    return tmp_path / name


def test_a_site_that_is_tested_is_never_taught(tmp_path: Path) -> None:
    folders = [folder_of(tmp_path, name) for name in ("a", "b")]
    worlds = load_worlds([tmp_path, *folders])
    assert len(worlds) == 2
    evaluation = Evaluation(worlds, worlds, ["person"], ["breadth-first"])
    for world in worlds:
        assert world not in evaluation._teaching_for(world)
        assert len(evaluation._teaching_for(world)) == 1


def test_every_strategy_runs_and_reports_what_it_was_taught_from(tmp_path: Path) -> None:
    for name in ("a", "b", "c"):
        folder_of(tmp_path, name)
    worlds = load_worlds([tmp_path])
    for taught in get_args(Taught):
        outcomes = list(Evaluation(worlds[:1], worlds, ["person"], list(STRATEGIES), 2, taught).run())
        assert [outcome.strategy for outcome in outcomes] == list(STRATEGIES)
        assert all(outcome.fetched == 10 for outcome in outcomes)
        for outcome in outcomes:
            from_graphs = ("levels", "q-focused", "q-future", "q-paper", "url-only")
            assert outcome.taught == ("graphs" if outcome.strategy in from_graphs else taught)


def test_settings_of_the_spider_are_tuned_on_the_taught_sites_alone(tmp_path: Path) -> None:
    for name in ("a", "b", "c"):
        folder_of(tmp_path, name)
    sites = [world.recorded("person") for world in load_worlds([tmp_path])]
    assert tune_q_spider(sites) in TUNED
    assert tune_q_spider(sites[:1]) == QSettings()  # there is none to hold out


def test_whole_sites_teach_the_path_to_every_goal(world: World) -> None:
    few, all_of_them = Lesson([world], "person", 1), Lesson([world], "person", 1, "graphs")
    assert sum(trail.reached_goal for trail in few.trails) == 1
    assert sum(trail.reached_goal for trail in all_of_them.trails) == 3
    assert sum(not trail.reached_goal for trail in all_of_them.trails) == 3


def test_a_folder_without_sites_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no site folder"):
        load_worlds([tmp_path])


def test_the_command_prints_tables_or_every_figure_as_json_and_draws_a_picture(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("a", "b"):
        folder_of(tmp_path / "sites", name)
    plot_path = tmp_path / "e.png"
    command = ["evaluate", str(tmp_path / "sites"), "--goal", "person", "--strategy", "breadth-first"]
    options = ["--strategy", "oracle", "--strategy", "best-first"]
    assert run([*command, *options]) == 0
    assert "breadth-first" in capsys.readouterr().out
    assert run([*command, *options, "--json", "--plot", str(plot_path)]) == 0
    written = json.loads(capsys.readouterr().out)
    assert len(written["runs"]) == 6
    wanted = (
        "site goal strategy taught lesson draw goals reachable fetched pages_to ratio harvest auc curve cpu_seconds "
        "training_seconds "
        "reported right precision recall f1 likely_reported likely_right none_probability"
    )
    assert written["runs"][0].keys() == set(wanted.split())
    wanted = (
        "goal strategy taught lesson pages_to_vs_breadth_first ratio auc training_seconds cpu_ms_per_page "
        "precision recall f1 nothing_reported false_goal_share"
    )
    assert written["means"][0].keys() == set(wanted.split())
    assert plot_path.read_bytes().startswith(b"\x89PNG")


def test_an_unknown_goal_label_is_reported_with_the_known_ones(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder_of(tmp_path, "a")
    command = ["evaluate", str(tmp_path), "--strategy", "breadth-first"]
    assert run([*command, "--goal", "persn"]) == 2
    errors = " ".join(capsys.readouterr().err.split())
    assert "No reachable page is labelled persn." in errors
    assert "person" in errors.partition("Their labels are:")[2]
    assert run([*command, "--goal", "persn", "--goal", "person"]) == 0
    output = capsys.readouterr()
    assert "labelled persn" in " ".join(output.err.split())
    assert "breadth-first" in output.out


def test_a_strategy_is_recommended_by_the_pages_that_it_needs(tmp_path: Path) -> None:
    for name in ("a", "b"):
        folder_of(tmp_path, name)
    worlds = load_worlds([tmp_path])
    outcomes = list(
        Evaluation(worlds, [], ["person"], ["breadth-first", "path-learner", "levels", ORACLE]).run()
    )
    assert recommend(outcomes) in ("breadth-first", "path-learner")
    assert recommend([run for run in outcomes if run.strategy == "breadth-first"]) is None
    assert all(0 <= irrelevant_slope(run) <= 1 for run in outcomes)
    assert all(
        irrelevant_slope(run) == pytest.approx(1 - 3 / 5) for run in outcomes if run.strategy == ORACLE
    )


def test_sites_are_joined_by_a_directory_page(tmp_path: Path) -> None:
    worlds = [World.load(folder_of(tmp_path, name)) for name in ("a", "b")]
    joined = join_worlds(worlds)
    assert len(joined.depths) == 1 + sum(len(world.depths) for world in worlds)
    urls = walk(joined, SCORERS["breadth-first"](StrategyInput())).urls
    assert set(urls) == set(joined.depths)
    assert {url.split("/")[2] for url in urls} == {"directory.example", "a.example", "b.example"}
