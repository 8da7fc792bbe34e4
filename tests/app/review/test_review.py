"""Answers become trails, retraining asks anew, and only sites whose results change are named."""

from __future__ import annotations

import time
from collections.abc import Sequence

import pytest

from tests.app.review.conftest import Taught
from tests.app.review.taught import FORAGED, GOAL_LABEL, label_of, start_of
from wayhound.app.review import MOST_OF_A_LIST, Review, ReviewQuestion, change_of, prepare, retrain
from wayhound.app.visited_site import read_site
from wayhound.errors import UsageError
from wayhound.forage.scorer import Rated, Reading
from wayhound.page import Link
from wayhound.paths.questions import PATIENCE, StopAsking
from wayhound.trail import FAIL, GOAL


def quiet(*_: object) -> None:
    """Nobody watches."""


def ask(review: Review) -> ReviewQuestion:
    asked = review.next_question()
    assert isinstance(asked, ReviewQuestion), asked
    return asked


def test_before_questions_are_prepared_there_is_none(taught: Taught) -> None:
    assert Review(taught.workspace, taught.run_id).next_question() is None


def test_answers_become_trails_and_retraining_goes_on_from_them(taught: Taught) -> None:
    workspace, run_id = taught.workspace, taught.run_id
    prepare(workspace, run_id, on_progress=quiet)
    review, before, seen = Review(workspace, run_id), len(workspace.stores.trails), set()
    for _ in range(3):
        asked = ask(review)
        label = GOAL if label_of(taught.web, asked.candidate.url) == GOAL_LABEL else FAIL
        trail_id = review.answer(asked.candidate.site, asked.candidate.number, label, time.time())
        assert trail_id is not None
        trail = workspace.stores.trails.get(trail_id).trail
        assert trail.steps[-1].label == label
        assert trail.steps[-1].page.url == asked.candidate.url
        assert trail.steps[0].page.url == asked.candidate.site
        assert all(step.link is not None for step in trail.steps[1:])
        seen.add(asked.candidate.url)
    assert len(seen) == 3
    assert len(workspace.stores.trails) == before + 3

    retrain(workspace, run_id, at=time.time(), on_progress=quiet)
    following = review.next_question()
    assert isinstance(following, StopAsking) or following.candidate.url not in seen  # type: ignore[union-attr]


def test_a_page_that_nobody_can_judge_is_passed_over_without_a_trail(taught: Taught) -> None:
    prepare(taught.workspace, taught.run_id, on_progress=quiet)
    review, before = Review(taught.workspace, taught.run_id), len(taught.workspace.stores.trails)
    first = ask(review).candidate
    assert review.answer(first.site, first.number, "", time.time()) is None
    assert ask(review).candidate != first
    assert len(taught.workspace.stores.trails) == before


def test_the_last_answer_can_be_taken_back_and_is_asked_again(taught: Taught) -> None:
    prepare(taught.workspace, taught.run_id, on_progress=quiet)
    review, before = Review(taught.workspace, taught.run_id), len(taught.workspace.stores.trails)
    first = ask(review).candidate
    review.answer(first.site, first.number, GOAL, time.time())
    taken = review.undo(time.time())
    assert [each.url for each in taken] == [first.url]
    assert len(taught.workspace.stores.trails) == before
    assert ask(review).candidate == first
    assert review.undo(time.time()) == []


def test_rejecting_a_found_goal_makes_a_trail_that_fails(taught: Taught) -> None:
    start = start_of(taught.web, FORAGED)
    goal = next(
        visit for visit in taught.workspace.stores.forage.visits_of(taught.run_id, start) if visit.is_goal
    )
    trail_id = Review(taught.workspace, taught.run_id).reject(start, goal.number, time.time())
    assert trail_id is not None
    trail = taught.workspace.stores.trails.get(trail_id).trail
    assert (trail.steps[-1].page.url, trail.steps[-1].label) == (goal.url, FAIL)


def test_rejecting_a_link_group_rejects_pages_whose_links_stand_alike(taught: Taught) -> None:
    workspace, start = taught.workspace, start_of(taught.web, FORAGED)
    walked = read_site(workspace, taught.run_id, start)
    number = max(walked.pages, key=lambda each: len(walked.same_list(each)))
    before = {summary.id for summary in workspace.stores.trails.summaries()}
    made = Review(workspace, taught.run_id).reject_list(start, number, time.time())
    new = [summary for summary in workspace.stores.trails.summaries() if summary.id not in before]
    assert made == len(new) > 1
    assert {summary.ending for summary in new} == {FAIL}
    ends = {walked.pages[each].url for each in walked.same_list(number)}
    assert {summary.end_url for summary in new} <= ends


def longest_list(taught: Taught) -> tuple[str, int, list[int]]:
    start = start_of(taught.web, FORAGED)
    walked = read_site(taught.workspace, taught.run_id, start)
    number = max(walked.pages, key=lambda each: len(walked.same_list(each)))
    return start, number, walked.same_list(number)[:MOST_OF_A_LIST]


def test_the_rejection_of_a_list_counts_as_answers_and_is_taken_back_as_a_whole(taught: Taught) -> None:
    workspace, (start, number, members) = taught.workspace, longest_list(taught)
    review, before, at = Review(workspace, taught.run_id), len(workspace.stores.trails), time.time()
    review.reject_list(start, number, at)
    assert workspace.stores.review.answered_since(at - 1) == len(members) > 1
    assert review.rejections() == {(start, each): len(members) for each in members}

    taken = review.undo_for(start, members[-1], time.time())
    assert {each.number for each in taken} == set(members)
    assert len(workspace.stores.trails) == before
    assert review.rejections() == {}


def test_a_rejected_list_is_rejected_elsewhere_too_after_retraining_and_undo_restores_all(
    taught: Taught,
) -> None:
    workspace, (start, number, members) = taught.workspace, longest_list(taught)
    review, store = Review(workspace, taught.run_id), workspace.stores.review
    prepare(workspace, taught.run_id, on_progress=quiet)
    before = store.candidates(taught.run_id)

    review.reject_list(start, number, time.time())
    retrain(workspace, taught.run_id, at=time.time(), on_progress=quiet)
    [change] = store.changes(taught.run_id)
    said = {_url(taught, start, each) for each in members}
    assert change.site == start
    assert set(change.lost) - said, "pages of the list on which nothing was said are lost too"

    review.undo_for(start, number, time.time())
    retrain(workspace, taught.run_id, at=time.time(), on_progress=quiet)
    assert store.changes(taught.run_id) == []
    assert store.candidates(taught.run_id) == before


def test_the_last_word_on_a_page_counts_and_leaves_its_list_alone(taught: Taught) -> None:
    workspace, (start, number, members) = taught.workspace, longest_list(taught)
    review, before = Review(workspace, taught.run_id), len(workspace.stores.trails)
    review.reject_list(start, number, time.time())
    review.answer(start, number, GOAL, time.time())
    assert len(workspace.stores.trails) == before + len(members)
    assert review.rejections().keys() == {(start, each) for each in members[1:]}
    review.reject(start, number, time.time())
    ends = [
        each.ending
        for each in workspace.stores.trails.summaries()
        if each.end_url == _url(taught, start, number)
    ]
    assert ends == [FAIL]


def test_what_a_trail_teaches_as_a_goal_is_not_rejected_behind_its_back(taught: Taught) -> None:
    workspace, (start, number, members) = taught.workspace, longest_list(taught)
    walked = read_site(workspace, taught.run_id, start)
    trail = workspace.stores.trails.add(walked.trail(members[-1], GOAL), time.time(), "test")
    before = len(workspace.stores.trails)
    with pytest.raises(UsageError, match=f"Trail {trail} teaches that .* is a goal"):
        Review(workspace, taught.run_id).reject_list(start, number, time.time())
    assert len(workspace.stores.trails) == before


def test_taking_back_does_not_stumble_over_a_trail_that_was_deleted_elsewhere(taught: Taught) -> None:
    start, number, _ = longest_list(taught)
    review = Review(taught.workspace, taught.run_id)
    trail = review.reject(start, number, time.time())
    assert trail is not None
    taught.workspace.stores.trails.delete(trail, time.time())
    assert review.rejections() == {}
    assert len(review.undo(time.time())) == 1


def test_what_was_said_without_being_asked_does_not_end_the_asking(taught: Taught) -> None:
    prepare(taught.workspace, taught.run_id, on_progress=quiet)
    review = Review(taught.workspace, taught.run_id)
    sure = sorted(taught.workspace.stores.review.candidates(taught.run_id), key=lambda each: each.chances)
    for each in sure[: PATIENCE + 1]:
        review.reject(each.site, each.number, time.time())
    following = review.next_question()
    assert not (isinstance(following, StopAsking) and "as expected" in following.reason)


def _url(taught: Taught, start: str, number: int) -> str:
    return read_site(taught.workspace, taught.run_id, start).pages[number].url


class Changed:
    """A scorer that finds no goal anywhere."""

    def start(self, site: object) -> None: ...

    def read(self, state: object, page: object) -> Reading:
        return Reading()

    def rate(self, reading: object, links: Sequence[Link]) -> list[Rated]:
        return [Rated(0.0) for _ in links]

    def combine(self, current: float, new: float) -> float:
        return current


def test_the_model_that_walked_a_site_changes_nothing_of_it_and_another_does(taught: Taught) -> None:
    prepare(taught.workspace, taught.run_id, on_progress=quiet)
    assert taught.workspace.stores.review.changes(taught.run_id) == []
    walked = read_site(taught.workspace, taught.run_id, start_of(taught.web, FORAGED))
    [change] = change_of(taught.run_id, walked, Changed())
    assert set(change.lost) == {
        walked.visits[number].url for number in walked.pages if walked.visits[number].tier == "goal"
    }
    assert change.lost
    assert change.gained == ()


def test_an_unknown_visit_is_refused_in_words(taught: Taught) -> None:
    review = Review(taught.workspace, taught.run_id)
    with pytest.raises(UsageError, match="has no visit 999"):
        review.answer(start_of(taught.web, FORAGED), 999, GOAL, time.time())
