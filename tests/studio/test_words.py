"""Results of models in words, and descriptions of charts."""

from __future__ import annotations

import pytest

from wayhound.errors import PageUnavailable, UsageError
from wayhound.store.protocol import SiteSummary
from wayhound.store.runs import Course
from wayhound.studio.charts import MOST_POINTS, goals_chart, line_chart, outcome_bars, speed_chart
from wayhound.wording.faults import format_ending, format_error, format_fault
from wayhound.wording.quantities import format_label, format_probability
from wayhound.wording.reasons import format_reason, format_reasons
from wayhound.wording.runs import format_rendered, format_verdict


@pytest.mark.parametrize(
    ("label", "words"),
    [
        ("Goal", "a goal"),
        ("<Goal", "one click before a goal"),
        ("<<<Goal", "three or more clicks before a goal"),
        ("Fail", "a rejected page"),
        ("<Fail", "on the way to a rejected page"),
        ("list of people", "list of people"),
        ("<list", "on the way to list"),
        ("", ""),
    ],
)
def test_labels_are_told_in_words(label: str, words: str) -> None:
    assert format_label(label) == words


def test_reasons_name_the_word_and_where_it_stands() -> None:
    assert format_reason("says people") == "“people” in the link"
    assert format_reason("on title staff") == "“staff” in the title of the page around it"
    assert format_reason("alike 4") == "about 16 links at its place"
    assert format_reason("alike 0") == "the only link at its place"
    assert format_reason("way up 1") == "its address leads up 1 folder"
    assert format_reason("way 0 3") == "its address leads up no folder and down 3 or more folders"
    assert format_reason("way elsewhere") == "its address is on another host"
    assert format_reason("depth 0") == "it is the start page"
    assert format_reason("depth 3") == "3 clicks from the start page"
    assert format_reason("is document") == "it is a document"
    assert format_reason("is image/png") == "it is a file of the type image/png"
    assert format_reason("page turned 3") == "page turned 3"
    assert format_reason("length 1") == "one word in the link"
    assert format_reason("the way here") == "the way here"
    assert (
        format_reasons([("body x", 0.5), ("the way here", -1.0)])
        == "“x” in its text +0.50, the way here -1.00"
    )


def test_a_chart_of_nothing_and_of_one_page_can_be_drawn() -> None:
    assert goals_chart(Course()).summary == "0 goals on 0 pages"
    assert speed_chart(Course(((1, 0),))).points == ""
    assert outcome_bars({}) == []


def test_a_long_course_is_thinned_but_keeps_its_end() -> None:
    chart = line_chart("x", [(at, at // 10) for at in range(5000)], "pages", "")
    assert len(chart.points.split()) == MOST_POINTS
    assert chart.points.split()[-1] == "352.0,10.0"


def test_the_charts_of_a_course_tell_its_sums() -> None:
    course = Course(((3, 1), (2, 0), (0, 0)), (4, 1), 10.0)
    assert goals_chart(course).summary == "1 goal on 5 pages"
    assert len(goals_chart(course).points.split()) == 4
    assert speed_chart(course).summary == "0.5 on average"
    assert speed_chart(course).top_label == "0.8"


def test_lines_stay_within_the_chart() -> None:
    chart = line_chart("x", [(0, 0), (2, 5), (4, 3)], "pages", "")
    for point in chart.points.split():
        x, y = map(float, point.split(","))
        assert 40 <= x <= 352
        assert 10 <= y <= 146


def test_the_remedy_for_a_refused_address_fits_the_surface() -> None:
    assert "--allow-private" not in format_fault("private_address", "studio")
    assert "--allow-private" in format_fault("private_address", "command line")
    ending = format_ending("start page failed (private_address)", "studio")
    assert ending.endswith("allow_private = true in wayhound.toml permits it")


def test_an_error_names_the_command_or_the_page_that_helps() -> None:
    error = UsageError("There is no trained model here.", next_step="train")
    assert format_error(error, "command line") == "There is no trained model here. Next: wayhound train"
    assert format_error(error, "studio") == "There is no trained model here. Next: Train."
    assert format_error(UsageError("No."), "studio") == "No."
    unread = PageUnavailable("http://a.example/", "robots")
    assert format_error(unread, "studio") == "http://a.example/ could not be read: robots.txt disallows it."


def test_pages_read_in_a_browser_are_told_by_site_and_kind() -> None:
    assert format_rendered([]) == []
    pages = [("http://a.example/", f"http://a.example/people/{name}") for name in ("ann", "bob")]
    pages += [("http://a.example/", "http://a.example/"), ("http://b.example/", "http://b.example/#/news")]
    assert format_rendered(pages) == [
        "Read in a browser, because scripts make them: 4 pages of 2 sites",
        "  a.example: 2 × /people/*, 1 × /",
        "  b.example: 1 × /#/*",
    ]
    assert format_rendered(pages, most=1)[1:] == ["  a.example: 2 × /people/*, …", "  and 1 more site"]


@pytest.mark.parametrize(
    ("pages", "reason", "verdict"),
    [
        (9, "no links left", "probably none (93% after 9 pages)"),
        (0, "start page failed (dns)", ""),
        (1, "no links left (needs_browser)", ""),
    ],
)
def test_a_site_of_which_nothing_could_be_read_is_not_judged(pages: int, reason: str, verdict: str) -> None:
    site = SiteSummary("http://a.example/", "done", reason, 9, 9, 0, 0, 0.93, None, pages, 0)
    assert format_verdict(site) == verdict


@pytest.mark.parametrize(
    ("probability", "words"),
    [
        (0.0, "0%"),
        (0.004, "<1%"),
        (0.005, "<1%"),
        (0.93, "93%"),
        (0.994, "99%"),
        (0.9951, ">99%"),
        (1.0, "100%"),
    ],
)
def test_no_probability_is_rounded_to_impossible_or_certain(probability: float, words: str) -> None:
    assert format_probability(probability) == words
