from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.learn.estimator_checks import EstimatorCase, check_estimator
from wayhound.learn.arrays import Floats, Ints
from wayhound.learn.shrinkage import NO_NODE, Shrinkage, node_estimates, uniform_weights

# A root, number 0, with two leaves.
PATHS = np.array([[1, 0], [2, 0]])
# Two words, two folds of the documents, two leaves.
FOLDS = np.array([[[2.0, 0], [0, 2]], [[1, 1], [0, 2]]])


def test_one_step_follows_equations_14_and_15_worked_by_hand() -> None:
    # Fold 1 held out for leaf 0: its first word twice. Fold 2 estimates leaf (1/2, 1/2), root (1/4, 3/4), and the
    # uniform estimate is (1/2, 1/2): with equal weights β = (2/5, 1/5, 2/5), twice.
    # Fold 2 held out: both words once. Fold 1 estimates leaf (1, 0), root (1/2, 1/2): β = (1/2, 1/4, 1/4) for the
    # first word and (0, 1/2, 1/2) for the second.
    by_hand = np.array([2 * 2 / 5 + 1 / 2, 2 * 1 / 5 + 1 / 4 + 1 / 2, 2 * 2 / 5 + 1 / 4 + 1 / 2]) / 4
    model = Shrinkage(PATHS, max_iterations=1).fit(FOLDS)
    assert model.weights_[0] == pytest.approx(by_hand)


def test_blending_follows_equation_13_worked_by_hand() -> None:
    model = Shrinkage(PATHS)
    model.weights_ = np.array([[0.5, 0.3, 0.2], [0.5, 0.3, 0.2]])
    counts = np.array([[3.0, 1], [0, 4]])  # leaf 0 estimates (3/4, 1/4), the root (3/8, 5/8)
    first = 0.5 * 3 / 4 + 0.3 * 3 / 8 + 0.2 / 2
    assert model.blend(counts)[0] == pytest.approx([first, 1 - first])


def test_weights_begin_equal_along_each_path() -> None:
    uneven = np.array([[1, 0, NO_NODE], [3, 2, 0]])
    assert uniform_weights(uneven) == pytest.approx(np.array([[1 / 3, 1 / 3, 0, 1 / 3], [1 / 4] * 4]))


def test_a_node_is_estimated_from_the_union_of_its_leaves() -> None:
    estimates = node_estimates(np.array([[3.0, 1], [0, 4]]), PATHS)
    assert estimates == pytest.approx(np.array([[3 / 8, 5 / 8], [3 / 4, 1 / 4], [0, 1]]))


def test_a_node_without_words_emits_all_words_equally() -> None:
    assert node_estimates(np.array([[0.0, 0], [0, 4]]), PATHS)[1] == pytest.approx([0.5, 0.5])


def test_a_class_without_held_out_words_keeps_its_weights() -> None:
    folds = FOLDS.copy()
    folds[:, 1] = 0
    assert Shrinkage(PATHS).fit(folds).weights_[1] == pytest.approx([1 / 3] * 3)


def test_a_tree_of_one_level_shrinks_towards_the_root() -> None:
    model = Shrinkage(PATHS).fit(FOLDS)
    assert model.weights_.sum(axis=1) == pytest.approx(1)


@st.composite
def held_out(draw: st.DrawFn) -> tuple[Ints, Floats]:
    rng = np.random.default_rng(draw(st.integers(0, 10_000)))
    paths = np.array([[1, 0, NO_NODE], [3, 2, 0], [4, 2, 0]])[: draw(st.integers(1, 3))]
    shape = (draw(st.integers(2, 4)), len(paths), draw(st.integers(2, 8)))
    return paths, rng.gamma(draw(st.floats(0.05, 2.0)), 1.0, shape)


@given(held_out())
def test_weights_sum_to_one_and_missing_levels_have_none(case: tuple[Ints, Floats]) -> None:
    paths, folds = case
    weights = Shrinkage(paths).fit(folds).weights_
    assert weights.sum(axis=1) == pytest.approx(1)
    assert (weights >= 0).all()
    assert (weights[:, :-1][paths == NO_NODE] == 0).all()


@given(held_out())
def test_the_likelihood_of_held_out_words_never_falls(case: tuple[Ints, Floats]) -> None:
    paths, folds = case
    model = Shrinkage(paths, max_iterations=20, tolerance=0.0).fit(folds)
    assert (np.diff(model.log_likelihoods_) >= -1e-9 * abs(model.log_likelihoods_[0])).all()


@given(held_out())
def test_blended_estimates_are_distributions_without_zeros(case: tuple[Ints, Floats]) -> None:
    paths, folds = case
    blended = Shrinkage(paths).fit(folds).blend(folds.sum(axis=0))
    assert blended.sum(axis=1) == pytest.approx(1)
    assert (blended > 0).all()


def test_without_held_out_data_all_weight_would_go_to_the_leaf() -> None:
    """This is why the words that weigh the estimates must not be those that made them."""
    rng = np.random.default_rng(0)
    half = rng.poisson(1.0, (2, 40)).astype(float)
    seen_twice = np.stack([half, half])  # held-out words equal the training words
    honest = np.stack([half, rng.poisson(1.0, (2, 40)).astype(float)])
    memorised = Shrinkage(PATHS, max_iterations=300).fit(seen_twice).weights_[:, 0]
    learned = Shrinkage(PATHS, max_iterations=300).fit(honest).weights_[:, 0]
    assert (memorised > 0.99).all()
    assert (learned < 0.9).all()


def test_the_estimator_keeps_its_contract() -> None:
    case = EstimatorCase(
        lambda: Shrinkage(PATHS.copy()),
        {"folds": FOLDS.copy()},
        lambda model, inputs, rng: model.fit(inputs["folds"]),
        lambda model, inputs: model.blend(inputs["folds"].sum(axis=0)),
    )
    check_estimator(case)
