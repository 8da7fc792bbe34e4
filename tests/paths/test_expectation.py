"""The F1 to expect after lessons of each size."""

from __future__ import annotations

from wayhound.paths.expectation import expected_recognition, measured_expectations, measured_gains


def test_measured_sizes_are_as_measured_and_others_lie_between() -> None:
    table = measured_expectations()
    below, above = sorted(table)[:2]
    assert expected_recognition(below).f1 == table[below]["f1"]
    between = expected_recognition(below + 1).f1
    assert (
        min(table[below]["f1"], table[above]["f1"]) <= between <= max(table[below]["f1"], table[above]["f1"])
    )


def test_beyond_the_largest_lesson_nothing_more_is_promised() -> None:
    largest = max(measured_expectations())
    assert expected_recognition(100) == expected_recognition(largest)


def test_more_teaching_and_answers_are_not_expected_to_make_it_worse() -> None:
    for sites in range(1, 7):
        expected = expected_recognition(sites)
        assert 0 <= expected.low <= expected.high <= 1
        assert expected.with_one_more_site >= expected.f1
        assert expected.with_questions > expected.f1


def test_gains_of_answers_and_complete_lists_come_with_their_uncertainty() -> None:
    gains = measured_gains()
    assert gains.keys() == {"ten answers", "complete lists"}
    assert all(gain.error > 0 for gain in gains.values())
