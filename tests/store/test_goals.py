"""Goals are told with the way that led there, its labels, and what spoke for them."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

import pytest

from tests.store.samples import begin, lease, visit_of
from wayhound.store.database import Database
from wayhound.store.export import export
from wayhound.store.forage import ForageStore
from wayhound.store.goals import GoalStore
from wayhound.store.protocol import Run

WHY = (("title publications", 2.5), ("says papers", 1.25))


@pytest.fixture
def run(store: ForageStore) -> Run:
    """A start page, a redirect behind a link, and a goal behind that; on a second site, a goal by pattern."""
    run = begin(store, sites=2)
    first = lease(store, run)
    store.save_visit(first, visit_of(first, 0, title="Home", label="home", goal=0.01))
    link: dict[str, Any] = {
        "parent": 0,
        "link_text": "Our\n people",
        "link_kind": "a",
        "score": 0.4,
        "depth": 1,
    }
    store.save_visit(first, visit_of(first, 1, outcome="redirect", **link))
    reached = {**link, "parent": 1, "link_kind": "redirect"}
    store.save_visit(first, visit_of(first, 2, title="People", label="people", **reached))
    goal = {"parent": 2, "link_text": "Papers", "link_kind": "a", "score": 0.9, "depth": 2}
    store.save_visit(
        first, visit_of(first, 3, title="Papers", label="Goal", goal=0.97, is_goal=True, why=WHY, **goal)
    )
    store.finish_site(first, "no links left")
    second = lease(store, run)
    store.save_visit(second, visit_of(second, 0, goal=1.0, is_goal=True))
    return run


def exported(database: Database, file_format: str) -> list[dict[str, Any]]:
    stream = io.BytesIO()
    export(database, "goals", file_format, stream)
    text = stream.getvalue().decode()
    if file_format == "csv":
        return list(csv.DictReader(io.StringIO(text)))
    return [json.loads(line) for line in text.splitlines()]


def test_a_goal_is_told_with_its_path_and_reasons(database: Database, run: Run) -> None:
    first, second = GoalStore(database).goals(run.id)
    assert first.clicks == "Our people › Papers"
    assert first.labels == "home › people › Goal"
    assert [step.score for step in first.path] == [0.0, 0.4, 0.9]
    assert (first.probability, first.why) == (0.97, WHY)
    assert (second.clicks, second.labels, second.why) == ("", "", ())


def test_goals_are_those_of_the_run_asked_for(database: Database, run: Run) -> None:
    assert len(list(GoalStore(database).goals())) == 2
    assert list(GoalStore(database).goals(run.id + 1)) == []


def test_a_goal_is_found_by_its_url(database: Database, run: Run) -> None:
    [found] = GoalStore(database).at("https://www.site0.example/3")
    assert found.title == "Papers"
    assert GoalStore(database).at("https://www.site0.example/2") == []


def test_the_export_carries_path_labels_probability_and_reasons(database: Database, run: Run) -> None:
    nested = exported(database, "jsonl")[0]
    assert [step["label"] for step in nested["path"]] == ["home", "people", "Goal"]
    assert nested["why"][0] == {"feature": "title publications", "weight": 2.5}
    assert nested["probability"] == 0.97
    flat = exported(database, "csv")[0]
    assert flat["path"] == "Our people › Papers"
    assert flat["labels"] == "home › people › Goal"
    assert flat["why"] == "title publications +2.50, says papers +1.25"


def test_reasons_go_with_the_visits_that_are_forgotten(store: ForageStore, database: Database) -> None:
    job = lease(store, begin(store, sites=1))
    store.save_visit(job, visit_of(job, 0, goal=1.0, is_goal=True, why=WHY))
    store.delete_visits_from(job, 0)
    store.save_visit(job, visit_of(job, 0))
    assert list(GoalStore(database).goals()) == []
    assert database.execute("SELECT count(*) FROM goal_reason").fetchone()[0] == 0


def test_some_goals_are_had_by_words_and_the_least_sure_first(database: Database, run: Run) -> None:
    store = GoalStore(database)
    assert store.count(run.id) == 2
    assert store.count(run.id, "PAPERS") == 1
    assert store.count(run.id, "site1.example") == 1
    assert store.count(run.id, "%") == 0  # as it stands, not as a pattern
    [surest] = store.page(run.id, unsure_first=True, limit=5, offset=1)
    assert surest.probability == 1.0
    [papers] = store.page(run.id, "papers", limit=5, offset=0)
    assert papers.clicks == "Our people › Papers"
