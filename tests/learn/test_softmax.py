from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

from wayhound.errors import NotFitted
from wayhound.learn.checks import EstimatorCase, check_estimator
from wayhound.learn.logistic import Softmax
from wayhound.learn.vocabulary import TokenVocabulary


def test_the_optimum_has_no_gradient() -> None:
    draw = np.random.default_rng(1)
    rows = csr_array((draw.random((40, 5)) < 0.4).astype(float))
    classes = draw.integers(0, 3, 40)
    counts = draw.random(40) + 0.5
    model = Softmax(3, prior_variance=2.0, max_iterations=500).fit(rows, classes, counts)
    errors = model.probabilities(rows)
    errors[np.arange(40), classes] -= 1
    gradient = rows.T @ (errors * counts[:, None]) + model.weights_ / 2.0
    assert np.abs(gradient).max() < 1e-3
    assert np.abs((errors * counts[:, None]).sum(axis=0)).max() < 1e-3


def test_probabilities_sum_to_one_and_follow_the_evidence() -> None:
    rows = csr_array(np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.0, 1.0]]))
    model = Softmax(2, prior_variance=10.0).fit(rows, np.array([0, 0, 1, 1]))
    chances = model.probabilities(rows)
    assert chances.sum(axis=1) == pytest.approx(1.0)
    assert chances[0, 0] > 0.8
    assert chances[2, 1] > 0.8


def test_asked_before_fit_it_says_so() -> None:
    with pytest.raises(NotFitted):
        Softmax(2).probabilities(csr_array(np.ones((1, 1))))


def test_a_vocabulary_keeps_what_several_sites_say() -> None:
    vocabulary = TokenVocabulary(2).fit([{"a", "b"}, {"a", "c"}, {"c"}], ["s1", "s2", "s2"])
    assert vocabulary.columns_ == {"a": 0}
    assert vocabulary.rows([{"a", "c"}, {"b"}]).toarray().tolist() == [[1.0], [0.0]]


def test_a_vocabulary_that_was_saved_counts_the_same_columns() -> None:
    fitted = TokenVocabulary(1).fit([{"b", "a"}, {"c"}], ["s", "s"])
    again = TokenVocabulary.of(list(fitted.columns_))
    assert again.columns_ == fitted.columns_
    assert again.rows([{"c", "a"}]).toarray().tolist() == [[1.0, 0.0, 1.0]]


def test_the_estimator_keeps_its_promises() -> None:
    draw = np.random.default_rng(2)
    inputs = {
        "rows": csr_array((draw.random((12, 4)) < 0.5).astype(float)),
        "classes": draw.integers(0, 3, 12),
    }
    check_estimator(
        EstimatorCase(
            lambda: Softmax(3),
            inputs,
            lambda model, given, rng: model.fit(given["rows"], given["classes"]),
            lambda model, given: model.probabilities(given["rows"]),
        )
    )
