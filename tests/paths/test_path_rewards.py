"""Equations 3 to 5 of Vydiswaran & Sarawagi (2005), worked by hand on a chain of three positions."""

from __future__ import annotations

import math

import numpy as np
import pytest

from wayhound.paths.samples import PathSample
from wayhound.paths.trainers import discounted, goal_end_probabilities, harvest_rewards
from wayhound.trail import FAIL, GOAL

# Two states, goal is the second. Transitions weigh e^w: from 0 to 0 and 1: 1 and 3; from 1: 1 and 1.
STEPS = np.log(np.array([[1.0, 3.0], [1.0, 1.0]]))
# The scores of positions: equal, then twice as much for state 0, then equal.
SCORES = np.log(np.array([[1.0, 1.0], [2.0, 1.0], [1.0, 1.0]]))


def test_the_expected_end_follows_equation_3() -> None:
    ends = goal_end_probabilities(SCORES, STEPS, goal=1)
    assert ends[2] == pytest.approx([0, 1])  # i = n: the goal itself
    assert ends[1] == pytest.approx([3 / 4, 1 / 2])  # from 0: 3 of 1 + 3; from 1: 1 of 1 + 1
    # from 0: weights 1·2 and 3·1; from 1: 1·2 and 1·1
    assert ends[0] == pytest.approx([(2 * 3 / 4 + 3 * 1 / 2) / 5, (2 * 3 / 4 + 1 * 1 / 2) / 3])


def test_positions_are_discounted_by_equation_4() -> None:
    ends = np.array([[0.6, 0.7], [0.75, 0.5], [0.0, 1.0]])
    total = 1 + 0.9 + 0.81
    expected = [(0 + 0.9 * 0.75 + 0.81 * 0.6) / total, (1 + 0.9 * 0.5 + 0.81 * 0.7) / total]
    assert discounted(ends, gamma=0.9) == pytest.approx(expected)


def test_forbidden_transitions_are_never_taken() -> None:
    only_forward = np.array([[-np.inf, 0.0], [0.0, -np.inf]])
    ends = goal_end_probabilities(np.zeros((3, 2)), only_forward, goal=1)
    assert ends.tolist() == [[0.0, 1.0], [1.0, 0.0], [0.0, 1.0]]


def test_transitions_may_differ_from_position_to_position() -> None:
    same = np.stack([STEPS] * 3)
    assert np.array_equal(goal_end_probabilities(SCORES, same, 1), goal_end_probabilities(SCORES, STEPS, 1))
    other = same.copy()
    other[2] = 0.0
    assert goal_end_probabilities(SCORES, other, 1)[1] == pytest.approx([0.5, 0.5])


def test_a_long_path_does_not_overflow() -> None:
    ends = goal_end_probabilities(np.full((50, 2), 700.0), STEPS, goal=1)
    assert all(math.isfinite(value) for value in ends.ravel())


def test_the_harvest_reward_is_the_mean_value_of_the_links_of_a_label() -> None:
    def to(label: str, worth: float, weight: float = 1.0) -> PathSample:
        return PathSample("s", (frozenset(), frozenset()), ("home", label), weight, worth)

    samples = [to("list", 0.9), to("list", 0.3, weight=2.0), to(FAIL, 0.0), to(GOAL, 1.0)]
    rewards = harvest_rewards(samples, (FAIL, GOAL, "home", "list"))
    assert rewards == pytest.approx([0, 1, 0, 0.5])
    sharp = harvest_rewards(samples, (FAIL, GOAL, "home", "list"), sharpness=2.0)
    assert sharp == pytest.approx([0, 1, 0, 0.25])
