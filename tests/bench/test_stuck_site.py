"""A small version of the site on which a forage can get stuck."""

from __future__ import annotations

import pytest

from bench.institute import UNITS, build_institute
from bench.stuck_site import GOAL, institute_world, measure, teaching_worlds
from wayhound.app.evaluate.lessons import LessonSize
from wayhound.app.evaluate.world import World


@pytest.fixture(scope="module")
def institute() -> World:
    return institute_world(8, 4)


def test_every_profile_of_five_lists_can_be_reached(institute: World) -> None:
    assert len(institute.reachable_goals(GOAL)) == 8 * len(UNITS)
    assert len(institute.depths) == len(institute.pages) == 10 + 8 * len(UNITS) * 5


def test_the_institute_is_the_same_every_time() -> None:
    first, second = (build_institute(3, 2).pages for _ in range(2))
    assert first == second


def test_nearly_all_profiles_are_found_within_three_times_the_pages_of_the_oracle(institute: World) -> None:
    (outcome,) = measure(institute, teaching_worlds()[:2], LessonSize(2, 3), draws=1)
    assert outcome.ratio["95"] is not None
    assert outcome.ratio["95"] <= 3.0
