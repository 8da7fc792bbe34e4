"""Questions about the pages of one site."""

from __future__ import annotations

from tests.paths.test_site_recognition import recogniser
from wayhound.paths.site_recognition import next_question


def test_the_likeliest_page_is_asked_about_first_and_no_page_twice() -> None:
    site = recogniser()
    answers: dict[str, bool] = {}
    while (question := next_question(site, answers, most=5)) is not None:
        assert question.url not in answers
        answers[question.url] = False
    assert len(answers) == 5
    assert next(iter(answers)) in {"/people/0", "/people/1"}


def test_no_question_is_left_when_every_page_is_answered() -> None:
    site = recogniser()
    assert next_question(site, {page.url: False for page in site.pages}, most=100) is None
