"""What models say is put in words, and charts say what they show."""

from __future__ import annotations

import pytest

from wayhound.store.runs import Course
from wayhound.studio.charts import MOST_POINTS, goals_chart, line_chart, outcome_bars, speed_chart
from wayhound.wording.reasons import reason_words
from wayhound.wording.studio_labels import ending_told, fault_told, label_words, reasons


@pytest.mark.parametrize(
    ("label", "words"),
    [
        ("Goal", "a goal"),
        ("<Goal", "one click before a goal"),
        ("<<<Goal", "three or more clicks before a goal"),
        ("Fail", "not this way"),
        ("<Fail", "on a way that leads nowhere"),
        ("list of people", "list of people"),
        ("<list", "before list"),
        ("", ""),
    ],
)
def test_labels_are_told_in_words(label: str, words: str) -> None:
    assert label_words(label) == words


def test_reasons_name_the_word_and_where_it_stands() -> None:
    assert reason_words("says people") == "“people” in the link"
    assert reason_words("on title staff") == "“staff” in the title of the page around it"
    assert reason_words("alike 4") == "about 16 links stand like it"
    assert reason_words("way up 2") == "its address lies 2 folders up"
    assert reason_words("depth 3") == "clicks: 3 from the start"
    assert reason_words("is document") == "it is a document"
    assert reason_words("is image/png") == "it is a file of the type image/png"
    assert reason_words("page turned 3") == "page turned 3"
    assert reason_words("length 1") == "one word in the link"
    assert reason_words("the way here") == "the way here"
    assert reasons([("body x", 0.5), ("the way here", -1.0)]) == "“x” in its text +0.50, the way here -1.00"


def test_a_chart_of_nothing_and_of_one_page_can_be_drawn() -> None:
    assert goals_chart(Course()).told == "0 goals on 0 pages"
    assert speed_chart(Course(((1, 0),))).points == ""
    assert outcome_bars({}) == []


def test_a_long_course_is_thinned_but_keeps_its_end() -> None:
    chart = line_chart("x", [(at, at // 10) for at in range(5000)], "pages", "")
    assert len(chart.points.split()) == MOST_POINTS
    assert chart.points.split()[-1] == "352.0,10.0"


def test_the_charts_of_a_course_tell_its_sums() -> None:
    course = Course(((3, 1), (2, 0), (0, 0)), (4, 1), 10.0)
    assert goals_chart(course).told == "1 goal on 5 pages"
    assert len(goals_chart(course).points.split()) == 4
    assert speed_chart(course).told == "0.5 pages a second on average"
    assert speed_chart(course).top_label == "0.8"


def test_lines_stay_within_the_chart() -> None:
    chart = line_chart("x", [(0, 0), (2, 5), (4, 3)], "pages", "")
    for point in chart.points.split():
        x, y = map(float, point.split(","))
        assert 40 <= x <= 352
        assert 10 <= y <= 146


def test_what_would_let_a_request_through_is_said_as_it_is_done_in_the_studio() -> None:
    assert "--allow-private" not in fault_told("private_address")
    assert ending_told("start page failed (private_address)").endswith("wayhound.toml lets it")
