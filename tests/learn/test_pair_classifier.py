from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import approx_fprime

from wayhound.errors import NotFitted
from wayhound.learn.logistic import PairClassifier, _loss


def pairs(n: int = 300) -> tuple[np.ndarray, np.ndarray]:
    """Two features that tell and one that does not."""
    rng = np.random.default_rng(0)
    x = rng.random((n, 3))
    return x, x[:, 0] + x[:, 1] + 0.02 * rng.standard_normal(n) > 1.0


def test_it_learns_which_features_tell() -> None:
    x, y = pairs()
    model = PairClassifier().fit(x, y)
    assert ((model.probabilities(x) > 0.5) == y).mean() > 0.93
    assert min(model.weights_[0], model.weights_[1]) > 5 * abs(model.weights_[2])


def test_probabilities_are_those_of_the_log_odds() -> None:
    x, y = pairs()
    model = PairClassifier().fit(x, y)
    assert np.allclose(model.probabilities(x), 1 / (1 + np.exp(-model.log_odds(x))))


def test_the_gradient_is_that_of_the_loss() -> None:
    x, y = pairs(40)
    arguments = (x, np.where(y, 1.0, -1.0), np.linspace(0.5, 2.0, 40), 0.3)
    point = np.array([0.4, -1.0, 2.0, 0.1])

    def value(weights: np.ndarray) -> float:
        return _loss(weights, *arguments)[0]

    assert np.allclose(_loss(point, *arguments)[1], approx_fprime(point, value), atol=1e-4)


def test_a_pair_counted_twice_is_a_pair_given_twice() -> None:
    x, y = pairs(50)
    counted = PairClassifier().fit(x, y, np.where(np.arange(50) < 10, 2.0, 1.0))
    given = PairClassifier().fit(np.concatenate((x, x[:10])), np.concatenate((y, y[:10])))
    assert np.allclose(counted.weights_, given.weights_, atol=1e-2)


def test_a_tighter_prior_gives_smaller_weights_and_inputs_stay() -> None:
    x, y = pairs()
    before = x.copy()
    loose, tight = PairClassifier(100.0).fit(x, y), PairClassifier(0.01).fit(x, y)
    assert np.abs(tight.weights_).sum() < np.abs(loose.weights_).sum()
    assert (x == before).all()


def test_asking_before_teaching_is_refused() -> None:
    with pytest.raises(NotFitted):
        PairClassifier().probabilities([[0.0]])
