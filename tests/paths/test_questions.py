"""Questions go where models are in doubt and much hangs on the answer, and they end."""

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

chances = st.lists(st.floats(0, 1), min_size=1, max_size=5).map(tuple)
candidates = st.lists(
    st.builds(
        Candidate,
        key=st.text(min_size=1, max_size=4),
        site=st.sampled_from("ab"),
        probabilities=chances,
        group=st.sampled_from("xyz"),
        stake=st.floats(0.1, 10),
    ),
    min_size=1,
    max_size=12,
    unique_by=lambda each: each.key,
)


def asked(asking: QuestionPicker, pages: list[Candidate], answer: bool | None = None) -> Question:
    question = asking.next_question(pages)
    assert isinstance(question, Question)
    asking.record_answer(question, answer)
    return question


def page(key: str, *given_chances: float, group: str = "", site: str = "s", stake: float = 1.0) -> Candidate:
    return Candidate(key, site, given_chances, group or key, stake)


def test_the_page_in_doubt_is_asked_before_the_sure_ones() -> None:
    question = QuestionPicker().next_question([page("no", 0.02), page("maybe", 0.45), page("yes", 0.97)])
    assert isinstance(question, Question)
    assert question.candidate.key == "maybe"


def test_a_committee_at_odds_is_in_more_doubt_than_one_that_agrees() -> None:
    assert vote_entropy((0.9, 0.1)) > vote_entropy((0.9, 0.9))
    assert vote_entropy((1.0, 1.0)) == 0.0
    assert vote_entropy((0.5,)) == 1.0


def test_of_two_equal_doubts_the_one_on_which_more_hangs_is_asked() -> None:
    question = QuestionPicker().next_question([page("one", 0.5), page("fifteen alike", 0.5, stake=15)])
    assert isinstance(question, Question)
    assert question.candidate.key == "fifteen alike"


def test_two_pages_of_one_link_group_are_not_asked_in_a_row() -> None:
    asking = QuestionPicker()
    pages = [page("list 1", 0.5, group="list"), page("list 2", 0.5, group="list"), page("news", 0.4)]
    assert asked(asking, pages).candidate.group == "list"
    assert asked(asking, pages).candidate.key == "news"


def test_no_page_is_asked_twice_and_asking_ends_when_none_is_left() -> None:
    asking = QuestionPicker()
    pages = [page("one", 0.5), page("two", 0.5)]
    assert {asked(asking, pages).candidate.key, asked(asking, pages).candidate.key} == {"one", "two"}
    end = asking.next_question(pages)
    assert isinstance(end, StopAsking)
    assert "Every page" in end.reason


def test_answers_as_expected_one_after_the_other_end_the_asking_in_words() -> None:
    asking = QuestionPicker()
    pages = [page(f"page {number}", 0.9) for number in range(20)]
    answers = 0
    while isinstance(question := asking.next_question(pages), Question):
        asking.record_answer(question, was_goal=True)
        answers += 1
    assert 3 <= answers < 20
    assert "as expected" in question.reason


def test_where_goals_are_rare_a_row_of_noes_is_no_reason_to_stop() -> None:
    asking = QuestionPicker()
    pages = [page(f"page {number}", 0.1) for number in range(20)]
    for _ in range(20):
        question = asking.next_question(pages)
        assert isinstance(question, Question), question
        asking.record_answer(question, was_goal=False)


def test_asking_ends_when_questions_have_been_worth_little_for_a_while() -> None:
    asking = QuestionPicker()
    pages = [page("much", 0.5, stake=100), *(page(f"page {number}", 0.3) for number in range(20))]
    answers = 0
    while isinstance(question := asking.next_question(pages), Question):
        asking.record_answer(question, was_goal=answers % 2 == 0)
        answers += 1
    assert answers == 1 + PATIENCE
    assert "change much" in question.reason


def test_a_model_that_is_sure_of_everything_is_not_questioned_for_long() -> None:
    asking, pages = QuestionPicker(), [page(f"page {number}", 0.0) for number in range(30)]
    for _ in range(PATIENCE):
        asked(asking, pages, False)
    assert isinstance(asking.next_question(pages), StopAsking)


def test_what_nobody_asked_for_is_no_question_that_was_worth_little() -> None:
    asking = QuestionPicker()
    assert asked(asking, [page("much", 0.5, stake=100)], True).value > 0
    for number in range(2 * PATIENCE):
        asking.record_answer(Question(page(f"said {number}", 0.5), 1.0, -1.0), None)
    assert isinstance(asking.next_question([page("little", 0.3)]), Question)


def test_a_surprise_keeps_the_asking_going() -> None:
    asking = QuestionPicker()
    pages = [page(f"page {number}", 0.9) for number in range(20)]
    for number in range(20):
        question = asking.next_question(pages)
        assert isinstance(question, Question), question
        asking.record_answer(question, was_goal=number % 3 != 0)


def test_a_person_who_cannot_say_teaches_nothing_but_is_not_asked_again() -> None:
    asking = QuestionPicker()
    pages = [page("one", 0.5), page("two", 0.5)]
    first = asked(asking, pages, None)
    second = asking.next_question(pages)
    assert isinstance(second, Question)
    assert second.candidate.key != first.candidate.key


@given(candidates)
def test_what_is_asked_was_offered_and_never_before(pages: list[Candidate]) -> None:
    asking, seen = QuestionPicker(), set()
    while isinstance(question := asking.next_question(pages), Question):
        assert question.candidate in pages
        assert question.candidate.key not in seen
        seen.add(question.candidate.key)
        asking.record_answer(question, None)
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
