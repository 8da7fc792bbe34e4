"""Problems of trails are reported, and good trails have no remarks."""

from __future__ import annotations

from dataclasses import replace

from tests.paths.trails import trail
from wayhound.page import Page
from wayhound.paths.trail_check import check_trails, ended_trails
from wayhound.trail import FAIL, GOAL, Step, Trail

A, B = "http://a.example/", "http://b.example/"
GOOD = [
    *(trail(site, "home", "people", GOAL) for site in (A, B) for _ in range(3)),
    *(trail(site, "home", "", "", FAIL) for site in (A, B)),
]


def remarks(*trails: Trail) -> dict[str, str]:
    return {remark.name: remark.sentence for remark in check_trails(trails)}


def test_good_trails_have_no_remarks() -> None:
    assert remarks(*GOOD) == {}


def test_no_trails_and_no_goals_stop_training() -> None:
    [none] = check_trails([])
    assert none.weight == "stops"
    first = check_trails([trail(A, "home", FAIL), trail(B, "home", FAIL)])[0]
    assert (first.name, first.weight) == ("no-goal", "stops")


def test_missing_negative_trails_are_reported() -> None:
    problems = remarks(*(shown for shown in GOOD if shown.reached_goal))
    assert list(problems) == ["no-negative"]
    assert "Fail" in problems["no-negative"]


def test_few_goals_are_counted() -> None:
    assert "Only one trail reaches" in remarks(*GOOD[5:])["few-goals"]
    assert "Only 2 trails reach" in remarks(*GOOD[4:])["few-goals"]


def test_a_single_site_is_reported() -> None:
    assert A in remarks(*(shown for shown in GOOD if shown.site == A))["one-site"]


def test_a_site_with_most_of_the_trails_is_reported() -> None:
    problems = remarks(*GOOD, *[GOOD[0]] * 9)
    assert f"13 of 17 trails are from {A}" in problems["one-site-dominates"]


def test_a_site_without_a_goal_is_reported() -> None:
    problems = remarks(*GOOD, trail("http://c.example/", "home", FAIL))
    assert "http://c.example/" in problems["site-without-goal"]


def test_a_label_used_once_or_on_a_single_site_is_reported() -> None:
    once = trail(A, "home", "course", GOAL)
    assert "'course'" in remarks(*GOOD, once)["label-once"]
    assert A in remarks(*GOOD, once, once)["label-one-site"]


def test_labels_that_look_alike_are_reported() -> None:
    problems = remarks(*GOOD, *[trail(site, "Home", "peoples", GOAL) for site in (A, B) for _ in range(2)])
    assert (
        "'Home' and 'home'" in problems["labels-alike"]
        or "'people' and 'peoples'" in problems["labels-alike"]
    )
    assert sum(remark.name == "labels-alike" for remark in check_trails([*GOOD, trail(A, "Home")])) == 1


def test_a_trail_without_an_ending_is_reported_and_ignored() -> None:
    open_ended = trail(A, "home", "people")
    assert "One trail has no ending" in remarks(*GOOD, open_ended)["no-ending"]
    assert ended_trails([*GOOD, open_ended, Trail(A, ())]) == GOOD


def test_a_trail_that_continues_after_a_fail_is_reported() -> None:
    assert A in remarks(*GOOD, trail(A, "home", FAIL, GOAL))["goes-on-after-fail"]


def test_a_start_page_that_is_the_goal_is_reported() -> None:
    assert A in remarks(*GOOD, trail(A, GOAL))["goal-at-start"]


def test_a_page_that_is_both_goal_and_fail_is_reported() -> None:
    end = GOOD[0].steps[-1].page.url
    assert end in remarks(*GOOD, trail(A, "home", "people", FAIL))["goal-and-fail"]


def test_pages_without_words_are_reported() -> None:
    first, *rest = GOOD[0].steps
    silent = replace(GOOD[0], steps=(Step(Page(f"{A}silent"), None, "home"), *rest))
    assert first.page.title
    assert "One page has no words" in remarks(*GOOD, silent)["empty-pages"]


def test_documents_need_no_words() -> None:
    *before, end = GOOD[0].steps
    report = Page(f"{A}report.pdf", content_type="application/pdf")
    assert "empty-pages" not in remarks(*GOOD, replace(GOOD[0], steps=(*before, replace(end, page=report))))
