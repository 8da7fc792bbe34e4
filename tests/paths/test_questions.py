"""Questions go where models are uncertain and much is at stake, and they stop."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from wayhound.page import Link, Page
from wayhound.paths.questions import (
    PATIENCE,
    Candidate,
    Question,
    QuestionPicker,
    StopAsking,
    bootstrap_trails,
    vote_entropy,
)
from wayhound.trail import FAIL, GOAL, Step, Trail

probabilities = st.lists(st.floats(0, 1), min_size=1, max_size=5).map(tuple)
candidates = st.lists(
    st.builds(
        Candidate,
        key=st.text(min_size=1, max_size=4),
        site=st.sampled_from("ab"),
        probabilities=probabilities,
        group=st.sampled_from("xyz"),
        stake=st.floats(0.1, 10),
    ),
    min_size=1,
    max_size=12,
    unique_by=lambda candidate: candidate.key,
)


def ask(picker: QuestionPicker, pages: list[Candidate], answer: bool | None = None) -> Question:
    question = picker.next_question(pages)
    assert isinstance(question, Question)
    picker.record_answer(question, answer)
    return question


def page(key: str, *given_chances: float, group: str = "", site: str = "s", stake: float = 1.0) -> Candidate:
    return Candidate(key, site, given_chances, group or key, stake)


def test_the_uncertain_page_is_asked_before_the_certain_ones() -> None:
    question = QuestionPicker().next_question([page("no", 0.02), page("maybe", 0.45), page("yes", 0.97)])
    assert isinstance(question, Question)
    assert question.candidate.key == "maybe"


def test_a_divided_committee_is_more_uncertain_than_a_unanimous_one() -> None:
    assert vote_entropy((0.9, 0.1)) > vote_entropy((0.9, 0.9))
    assert vote_entropy((1.0, 1.0)) == 0.0
    assert vote_entropy((0.5,)) == 1.0


def test_of_two_equally_uncertain_pages_the_one_with_more_at_stake_is_asked() -> None:
    question = QuestionPicker().next_question([page("one", 0.5), page("fifteen alike", 0.5, stake=15)])
    assert isinstance(question, Question)
    assert question.candidate.key == "fifteen alike"


def test_two_pages_of_one_link_group_are_not_asked_in_a_row() -> None:
    picker = QuestionPicker()
    pages = [page("list 1", 0.5, group="list"), page("list 2", 0.5, group="list"), page("news", 0.4)]
    assert ask(picker, pages).candidate.group == "list"
    assert ask(picker, pages).candidate.key == "news"


def test_no_page_is_asked_twice_and_questions_stop_when_none_is_left() -> None:
    picker = QuestionPicker()
    pages = [page("one", 0.5), page("two", 0.5)]
    assert {ask(picker, pages).candidate.key, ask(picker, pages).candidate.key} == {"one", "two"}
    end = picker.next_question(pages)
    assert isinstance(end, StopAsking)
    assert "Every page" in end.reason


def test_consecutive_expected_answers_stop_the_questions_with_a_reason() -> None:
    picker = QuestionPicker()
    pages = [page(f"page {number}", 0.9) for number in range(20)]
    answers = 0
    while isinstance(question := picker.next_question(pages), Question):
        picker.record_answer(question, was_goal=True)
        answers += 1
    assert 3 <= answers < 20
    assert "as expected" in question.reason


def test_consecutive_rejections_alone_do_not_stop_the_questions() -> None:
    picker = QuestionPicker()
    pages = [page(f"page {number}", 0.1) for number in range(20)]
    for _ in range(20):
        question = picker.next_question(pages)
        assert isinstance(question, Question), question
        picker.record_answer(question, was_goal=False)


def test_questions_stop_after_several_of_little_value() -> None:
    picker = QuestionPicker()
    pages = [page("much", 0.5, stake=100), *(page(f"page {number}", 0.3) for number in range(20))]
    answers = 0
    while isinstance(question := picker.next_question(pages), Question):
        picker.record_answer(question, was_goal=answers % 2 == 0)
        answers += 1
    assert answers == 1 + PATIENCE
    assert "change much" in question.reason


def test_a_certain_model_stops_the_questions_soon() -> None:
    picker, pages = QuestionPicker(), [page(f"page {number}", 0.0) for number in range(30)]
    for _ in range(PATIENCE):
        ask(picker, pages, False)
    assert isinstance(picker.next_question(pages), StopAsking)


def test_an_unasked_answer_does_not_count_as_a_question_of_little_value() -> None:
    picker = QuestionPicker()
    assert ask(picker, [page("much", 0.5, stake=100)], True).value > 0
    for number in range(2 * PATIENCE):
        picker.record_answer(Question(page(f"said {number}", 0.5), 1.0, -1.0), None)
    assert isinstance(picker.next_question([page("little", 0.3)]), Question)


def test_a_surprise_keeps_the_questions_going() -> None:
    picker = QuestionPicker()
    pages = [page(f"page {number}", 0.9) for number in range(20)]
    for number in range(20):
        question = picker.next_question(pages)
        assert isinstance(question, Question), question
        picker.record_answer(question, was_goal=number % 3 != 0)


def test_an_unknown_answer_teaches_nothing_but_is_not_asked_again() -> None:
    picker = QuestionPicker()
    pages = [page("one", 0.5), page("two", 0.5)]
    first = ask(picker, pages, None)
    second = picker.next_question(pages)
    assert isinstance(second, Question)
    assert second.candidate.key != first.candidate.key


@given(candidates)
def test_questions_are_about_candidates_and_never_repeat(pages: list[Candidate]) -> None:
    picker, seen = QuestionPicker(), set()
    while isinstance(question := picker.next_question(pages), Question):
        assert question.candidate in pages
        assert question.candidate.key not in seen
        seen.add(question.candidate.key)
        picker.record_answer(question, None)
    assert isinstance(question, StopAsking)


def walk(site: str, ending: str, name: str) -> Trail:
    start, end = Page(site), Page(f"{site}{name}")
    return Trail(site, (Step(start), Step(end, Link(end.url), ending)))


def test_every_member_of_a_committee_sees_a_goal_and_the_first_sees_all() -> None:
    trails = [walk("http://a/", GOAL, "1"), walk("http://a/", FAIL, "2"), walk("http://b/", FAIL, "3")]
    views = bootstrap_trails(trails, 5, np.random.default_rng(1))
    assert views[0] == trails
    assert len(views) == 5
    for view in views:
        assert any(trail.reached_goal for trail in view)
        assert set(map(id, view)) <= set(map(id, trails))
    assert any(len(view) < len(trails) for view in views[1:])
