"""The store of trails: kept whole, each page once, and mistakes can be taken back."""

from __future__ import annotations

import pytest

from tests.paths.trails import HOME, SITE, TO_GOAL, TO_NOWHERE, trail
from wayhound.errors import UsageError
from wayhound.store.database import Database
from wayhound.store.trails import TrailStore
from wayhound.trail import FAIL, GOAL, Trail

OTHER = "http://biology.example/"


@pytest.fixture
def trails(database: Database) -> TrailStore:
    return TrailStore(database)


def pages_kept(database: Database) -> int:
    return int(database.execute("SELECT count(*) FROM taught_page").fetchone()[0])


def test_a_trail_comes_back_as_it_was_added(database: Database, trails: TrailStore) -> None:
    number = trails.add(TO_GOAL, 5.0, "browser")
    kept = TrailStore(database).get(number)
    assert (kept.id, kept.trail, kept.taught_at, kept.source) == (number, TO_GOAL, 5.0, "browser")
    assert kept.trail.taught_by == "Ada"


def test_pages_that_trails_share_are_kept_once(database: Database, trails: TrailStore) -> None:
    trails.add(TO_GOAL, 0.0)
    trails.add(TO_NOWHERE, 0.0)
    assert pages_kept(database) == 4


def test_trails_come_in_order_and_by_site(trails: TrailStore) -> None:
    elsewhere = trail(OTHER, "", GOAL)
    trails.add_all([TO_GOAL, elsewhere, TO_NOWHERE], 1.0)
    assert trails.trails() == [TO_GOAL, elsewhere, TO_NOWHERE]
    assert [kept.trail for kept in trails.iterate(OTHER)] == [elsewhere]
    assert trails.sites() == {SITE: 2, OTHER: 1}
    assert trails.labels() == {GOAL: 2, FAIL: 1, "home": 1, "people": 1}
    assert len(trails) == 3


def test_a_trail_that_is_there_already_is_not_added_again(trails: TrailStore) -> None:
    trails.add(TO_GOAL, 0.0)
    added = trails.add_all([TO_GOAL, TO_NOWHERE, TO_NOWHERE], 1.0, "trails.jsonl")
    assert (len(added.ids), added.duplicates) == (1, 2)
    assert trails.trails() == [TO_GOAL, TO_NOWHERE]


def test_a_deleted_trail_may_be_added_anew(trails: TrailStore) -> None:
    trails.delete(trails.add(TO_GOAL, 0.0), 1.0)
    assert trails.add_all([TO_GOAL], 2.0).duplicates == 0
    assert len(trails) == 1


def test_all_trails_are_added_or_none(database: Database, trails: TrailStore) -> None:
    def bad() -> object:
        yield TO_GOAL
        raise UsageError("line 2 is bad")

    with pytest.raises(UsageError, match="line 2"):
        trails.add_all(bad(), 0.0)  # type: ignore[arg-type]
    assert len(trails) == pages_kept(database) == 0


def test_a_summary_tells_a_trail_in_a_line(trails: TrailStore) -> None:
    trails.add(TO_GOAL, 5.0, "browser")
    trails.add(Trail(SITE, ()), 6.0)
    first, begun = trails.summaries()
    assert (first.site, first.taught_by, first.source) == (SITE, "Ada", "browser")
    assert (first.end_url, first.end_title, first.steps) == (HOME.url, HOME.title, 3)
    assert first.labels == ("home", "people", GOAL)
    assert first.ending == GOAL
    assert (begun.steps, begun.ending, begun.end_url) == (0, "", "")
    assert trails.summaries(OTHER) == []


def test_a_step_is_relabelled_and_back(trails: TrailStore) -> None:
    number = trails.add(TO_GOAL, 0.0)
    trails.relabel(number, 1, "  the   staff ", 1.0)
    trails.relabel(number, 0, "", 2.0)
    assert [step.label for step in trails.get(number).trail.steps] == ["", "the staff", GOAL]
    assert trails.undo() is not None
    assert trails.undo() is not None
    assert trails.undo() is None
    assert trails.get(number).trail == TO_GOAL


def test_the_same_label_again_is_no_change(trails: TrailStore) -> None:
    trails.relabel(trails.add(TO_GOAL, 0.0), 1, "people", 1.0)
    assert trails.history() == []


def test_a_deleted_trail_is_shown_no_more_until_that_is_undone(trails: TrailStore) -> None:
    number = trails.add(TO_GOAL, 0.0)
    trails.delete(number, 3.0)
    assert trails.trails() == []
    assert trails.summaries() == []
    with pytest.raises(UsageError, match="has been deleted"):
        trails.get(number)
    with pytest.raises(UsageError, match="has been deleted"):
        trails.relabel(number, 0, "home", 4.0)
    undone = trails.undo()
    assert undone is not None
    assert (undone.kind, undone.trail_id) == ("delete", number)
    assert trails.trails() == [TO_GOAL]


def test_the_history_keeps_what_was_done_and_what_was_taken_back(trails: TrailStore) -> None:
    number = trails.add(TO_GOAL, 0.0)
    trails.relabel(number, 0, "start", 1.0)
    trails.delete(number, 2.0)
    trails.undo()
    last, first = trails.history()
    assert (last.kind, last.at, last.undone) == ("delete", 2.0, 1)
    assert (first.kind, first.step, first.before, first.after, first.undone) == (
        "relabel", 0, "home", "start", 0,
    )  # fmt: skip


@pytest.mark.parametrize(("step", "label", "words"), [(9, "x", "no step 9"), (0, "<Goal", "may not begin")])
def test_a_relabelling_that_cannot_be_is_told(trails: TrailStore, step: int, label: str, words: str) -> None:
    number = trails.add(TO_GOAL, 0.0)
    with pytest.raises(UsageError, match=words):
        trails.relabel(number, step, label, 1.0)
    assert trails.get(number).trail == TO_GOAL


def test_an_unknown_trail_is_told(trails: TrailStore) -> None:
    for ask in (trails.get, lambda n: trails.delete(n, 0.0), lambda n: trails.relabel(n, 0, "x", 0.0)):
        with pytest.raises(UsageError, match="is not in this workspace"):
            ask(7)
