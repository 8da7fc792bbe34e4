"""The hidden Markov model of hops, against enumeration of all paths and the paper's own example."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.learn.estimator_checks import EstimatorCase, check_estimator
from wayhound.learn.arrays import Floats
from wayhound.learn.hop_hmm import HopHMM, possible_steps, visit_order

STATES = np.array([0, 1, 1, 2, 3, 3, 0])
KINDS = np.array([0, 1, 2, 1, 2, 2, 0])
LINKS = np.array([[1, 0], [2, 6], [3, 1], [3, 2], [4, 3], [5, 4], [0, 1], [1, 2], [6, 6]])


def fitted(normalised: str = "column", smoothing: float = 1.0) -> HopHMM:
    model = HopHMM(4, 3, smoothing=smoothing, normalised="row" if normalised == "row" else "column")
    return model.fit(STATES, KINDS, LINKS)


def test_it_keeps_the_contract_of_estimators() -> None:
    check_estimator(
        EstimatorCase(
            make=lambda: HopHMM(4, 3),
            inputs={"states": STATES, "kinds": KINDS, "links": LINKS},
            fit=lambda model, inputs, _: model.fit(**inputs),
            predict=lambda model, _: model.observe(model.begin(), np.eye(3)[0]),
        )
    )


@pytest.mark.parametrize("n", range(2, 12))
def test_the_possible_steps_are_as_many_as_the_paper_counts(n: int) -> None:
    assert possible_steps(n).sum() == (n**2 + 3 * n - 2) / 2


def test_one_click_never_brings_a_target_two_hops_nearer() -> None:
    possible = possible_steps(5)
    assert not possible[3, 1]
    assert not possible[3, 0]
    assert not possible[2, 0]
    assert possible[3, 2]
    assert possible[2, 2]
    assert possible[0, 4]


def test_pages_that_seem_nearer_are_visited_first() -> None:
    order = visit_order(3)
    assert order.tolist() == [[0, 2, 5], [1, 3, 6], [-1, 4, 7]]
    assert sorted(order[order >= 0]) == list(range(8))


def test_equation_1_divides_by_the_column() -> None:
    model = fitted(smoothing=0.0)
    # links into T1 come from T0 once, from T1 once, and from T2 twice
    assert model.transitions_[:, 1] == pytest.approx([0.25, 0.25, 0.5, 0])
    assert model.transitions_.sum(axis=0) == pytest.approx(np.ones(4))


def test_transitions_by_row_are_the_usual_ones() -> None:
    model = fitted("row", smoothing=0.0)
    assert model.transitions_[1] == pytest.approx([2 / 3, 1 / 3, 0, 0])
    assert model.transitions_.sum(axis=1) == pytest.approx(np.ones(4))


def test_clusters_are_counted_for_each_state() -> None:
    model = fitted(smoothing=0.0)
    assert model.emissions_ == pytest.approx(np.array([[1, 0, 0], [0, 0.5, 0.5], [0, 1, 0], [0, 0, 1]]))
    assert model.starts_ == pytest.approx([0.25] * 4)


def test_smoothing_leaves_impossible_steps_impossible() -> None:
    assert np.array_equal(fitted().transitions_ > 0, possible_steps(4))
    assert (fitted().emissions_ > 0).all()


def paths(model: HopHMM, kinds: list[int]) -> dict[tuple[int, ...], float]:
    """The probability of every path of states with these clusters."""
    weights = {}
    for path in product(range(model.n_states), repeat=len(kinds)):
        weight = model.starts_[path[0]] * model.emissions_[path[0], kinds[0]]
        for at in range(1, len(kinds)):
            weight *= model.transitions_[path[at - 1], path[at]] * model.emissions_[path[at], kinds[at]]
        weights[path] = weight
    return weights


@given(st.lists(st.integers(0, 2), min_size=1, max_size=4), st.sampled_from(["column", "row"]))
def test_beliefs_are_those_of_all_paths(kinds: list[int], normalised: str) -> None:
    model = fitted(normalised)
    alpha = delta = model.begin()
    came_from = None
    for at, kind in enumerate(kinds):
        if at:
            alpha, (delta, came_from) = model.sum_step(alpha), model.best_step(delta)
        seen = np.eye(3)[kind]
        alpha, delta = model.observe(alpha, seen), model.observe(delta, seen)
    every = paths(model, kinds)
    for state in range(4):
        ending = {path: weight for path, weight in every.items() if path[-1] == state}
        assert np.exp(alpha[state]) == pytest.approx(sum(ending.values()))
        assert np.exp(delta[state]) == pytest.approx(max(ending.values()))
        if came_from is not None:
            best = {
                path[-2] for path, weight in ending.items() if weight == pytest.approx(max(ending.values()))
            }
            assert came_from[state] in best


def test_an_uncertain_cluster_is_the_mean_of_what_each_would_say() -> None:
    model = fitted()
    chances: Floats = np.array([0.2, 0.5, 0.3])
    mixed = np.exp(model.observe(np.zeros(4), chances))
    assert mixed == pytest.approx(model.emissions_ @ chances)
