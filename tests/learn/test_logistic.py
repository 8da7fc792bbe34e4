"""Logistic regression with two classes against a reference, and with several classes."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import approx_fprime
from scipy.sparse import csr_array

from tests.learn.estimator_checks import EstimatorCase, check_estimator
from wayhound.errors import NotFitted
from wayhound.learn.logistic import LogisticRegression, _Loss, fit_log_odds


def binary(prior_variance: float = 10.0) -> LogisticRegression:
    return LogisticRegression(2, prior_variance, max_iterations=300, reference=True)


def pairs(n: int = 300) -> tuple[np.ndarray, np.ndarray]:
    """Two features that matter and one that does not."""
    rng = np.random.default_rng(0)
    x = rng.random((n, 3))
    return x, (x[:, 0] + x[:, 1] + 0.02 * rng.standard_normal(n) > 1.0).astype(int)


def test_it_learns_which_features_matter() -> None:
    x, y = pairs()
    model = binary().fit(x, y)
    assert ((model.probabilities(x)[:, 1] > 0.5) == y).mean() > 0.93
    weights = model.weights_[:, 0]
    assert min(weights[0], weights[1]) > 5 * abs(weights[2])


def test_scores_against_a_reference_are_log_odds() -> None:
    x, y = pairs()
    model = binary().fit(x, y)
    assert np.allclose(model.probabilities(x)[:, 1], 1 / (1 + np.exp(-model.scores(x)[:, 0])))


@pytest.mark.parametrize("reference", [True, False])
def test_the_gradient_is_that_of_the_loss(reference: bool) -> None:
    x, y = pairs(40)
    model = LogisticRegression(2, 1 / 0.3, reference=reference)
    loss = _Loss(model, x, y, np.linspace(0.5, 2.0, 40))
    point = np.array([0.4, -1.0, 2.0, 0.1, 0.3, -0.2, 0.7, 0.5])[: loss.size]

    def value(weights: np.ndarray) -> float:
        return loss.value_and_gradient(weights)[0]

    assert np.allclose(loss.value_and_gradient(point)[1], approx_fprime(point, value), atol=1e-4)


def test_a_row_counted_twice_is_a_row_passed_twice() -> None:
    x, y = pairs(50)
    counted = binary().fit(x, y, np.where(np.arange(50) < 10, 2.0, 1.0))
    repeated = binary().fit(np.concatenate((x, x[:10])), np.concatenate((y, y[:10])))
    assert np.allclose(counted.weights_, repeated.weights_, atol=1e-2)


def test_a_tighter_prior_gives_smaller_weights_and_inputs_stay() -> None:
    x, y = pairs()
    before = x.copy()
    loose, tight = binary(100.0).fit(x, y), binary(0.01).fit(x, y)
    assert np.abs(tight.weights_).sum() < np.abs(loose.weights_).sum()
    assert (x == before).all()


def test_two_classes_of_half_the_prior_variance_are_one_against_a_reference() -> None:
    x, y = pairs(60)
    against_reference = binary(10.0).fit(x, y)
    symmetric = LogisticRegression(2, 5.0, max_iterations=300).fit(x, y)
    assert np.allclose(symmetric.probabilities(x), against_reference.probabilities(x), atol=1e-3)


def test_the_optimum_has_no_gradient() -> None:
    draw = np.random.default_rng(1)
    rows = csr_array((draw.random((40, 5)) < 0.4).astype(float))
    classes = draw.integers(0, 3, 40)
    counts = draw.random(40) + 0.5
    model = LogisticRegression(3, prior_variance=2.0, max_iterations=500).fit(rows, classes, counts)
    errors = model.probabilities(rows)
    errors[np.arange(40), classes] -= 1
    gradient = rows.T @ (errors * counts[:, None]) + model.weights_ / 2.0
    assert np.abs(gradient).max() < 1e-3
    assert np.abs((errors * counts[:, None]).sum(axis=0)).max() < 1e-3


def test_probabilities_sum_to_one_and_follow_the_evidence() -> None:
    rows = csr_array(np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.0, 1.0]]))
    model = LogisticRegression(2, prior_variance=10.0).fit(rows, np.array([0, 0, 1, 1]))
    probabilities = model.probabilities(rows)
    assert probabilities.sum(axis=1) == pytest.approx(1.0)
    assert probabilities[0, 0] > 0.8
    assert probabilities[2, 1] > 0.8


def test_use_before_fit_raises_not_fitted() -> None:
    with pytest.raises(NotFitted):
        LogisticRegression(2).probabilities(csr_array(np.ones((1, 1))))
    with pytest.raises(NotFitted):
        binary().probabilities(np.array([[0.0]]))


@pytest.mark.parametrize("reference", [True, False])
def test_the_estimator_keeps_its_contract(reference: bool) -> None:
    draw = np.random.default_rng(2)
    inputs = {
        "rows": csr_array((draw.random((12, 4)) < 0.5).astype(float)),
        "classes": draw.integers(0, 3, 12),
    }
    check_estimator(
        EstimatorCase(
            lambda: LogisticRegression(3, reference=reference),
            inputs,
            lambda model, data, rng: model.fit(data["rows"], data["classes"]),
            lambda model, data: model.probabilities(data["rows"]),
        )
    )


def test_probabilities_of_classes_count_as_rows_of_each_class() -> None:
    x, _ = pairs(40)
    truth = np.linspace(0.0, 1.0, 40)
    soft = binary(1.0).fit(x, np.stack((1 - truth, truth), axis=1))
    twice = binary(1.0).fit(np.concatenate((x, x)), np.repeat([0, 1], 40), np.concatenate((1 - truth, truth)))
    assert np.allclose(soft.weights_, twice.weights_, atol=1e-4)


ROWS = csr_array(np.array([[1.0, 0.0], [1.0, 1.0], [0.0, 1.0], [0.0, 0.0]]))
TRUTH = np.array([1.0, 1.0, 0.0, 0.0])


def test_the_feature_that_separates_the_classes_weighs_most() -> None:
    weights, bias = fit_log_odds(ROWS, np.ones(2), TRUTH)
    assert weights[0] > abs(weights[1])
    assert ((ROWS @ weights + bias) > 0).tolist() == [True, True, False, False]


def test_a_narrow_prior_keeps_the_weight_of_its_feature_small() -> None:
    wide, narrow = (fit_log_odds(ROWS, np.array([scale, 1.0]), TRUTH)[0] for scale in (1.0, 0.1))
    assert 0 < narrow[0] < wide[0]


def test_without_evidence_weights_and_bias_stay_at_zero() -> None:
    weights, bias = fit_log_odds(ROWS, np.ones(2), TRUTH, np.zeros(4))
    assert [*weights, bias] == pytest.approx([0.0, 0.0, 0.0])


def test_a_prior_keeps_the_bias_finite_with_examples_of_one_class() -> None:
    _, narrow = fit_log_odds(ROWS, np.ones(2), np.ones(4), bias_scale=1.0)
    _, wide = fit_log_odds(ROWS, np.ones(2), np.ones(4), bias_scale=3.0)
    assert 0 < narrow < wide < 10


def test_the_gradient_with_a_prior_for_each_feature_vanishes_at_the_optimum() -> None:
    scales = np.array([0.5, 2.0])
    weights, bias = fit_log_odds(ROWS, scales, TRUTH)
    errors = 1 / (1 + np.exp(-(ROWS @ weights + bias))) - TRUTH
    assert np.asarray(ROWS.T @ errors) + weights / scales**2 == pytest.approx(np.zeros(2), abs=1e-3)
    assert errors.sum() + bias / 9 == pytest.approx(0.0, abs=1e-3)
