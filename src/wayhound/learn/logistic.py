"""Multinomial logistic regression on sparse rows: maximum entropy without any sequence."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array
from scipy.special import expit

from wayhound.errors import NotFitted
from wayhound.learn.chain import Floats, Ints


class PairClassifier:
    """P(same) = 1 / (1 + exp(-(w · x + b))), with a Gaussian prior on w but not on b.

    After `fit`: `weights_` (features,) and `bias_`.
    """

    def __init__(self, prior_variance: float = 10.0, max_iterations: int = 300) -> None:
        self.prior_variance = prior_variance
        self.max_iterations = max_iterations

    def fit(self, features: npt.ArrayLike, same: npt.ArrayLike, counts: npt.ArrayLike | None = None) -> Self:
        """Learn from pairs (pairs, features) and whether each is the same (pairs,), weighted by `counts`."""
        x = np.asarray(features, dtype=np.float64)
        signs = np.where(np.asarray(same, dtype=bool), 1.0, -1.0)
        share = np.ones(len(x)) if counts is None else np.asarray(counts, dtype=np.float64)
        from scipy.optimize import minimize  # noqa: PLC0415 - who only uses a model never needs it

        answer = minimize(
            _loss,
            np.zeros(x.shape[1] + 1),
            args=(x, signs, share, 1.0 / self.prior_variance),
            jac=True,
            method="L-BFGS-B",
            options={"maxiter": self.max_iterations},
        )
        self.weights_: Floats = answer.x[:-1]
        self.bias_ = float(answer.x[-1])
        return self

    def log_odds(self, features: npt.ArrayLike) -> Floats:
        """w · x + b of each pair, (pairs,)."""
        if not hasattr(self, "weights_"):
            raise NotFitted("This pair classifier has not been taught yet.")
        return np.asarray(np.asarray(features, dtype=np.float64) @ self.weights_ + self.bias_)

    def probabilities(self, features: npt.ArrayLike) -> Floats:
        """P(same) of each pair, (pairs,)."""
        return np.asarray(expit(self.log_odds(features)))


def _loss(flat: Floats, x: Floats, signs: Floats, share: Floats, decay: float) -> tuple[float, Any]:
    """The penalised negative log-likelihood and its gradient."""
    margins = signs * (x @ flat[:-1] + flat[-1])
    pull = -signs * expit(-margins) * share
    value = share @ np.logaddexp(0.0, -margins) + 0.5 * decay * flat[:-1] @ flat[:-1]
    gradient = np.append(pull @ x + decay * flat[:-1], pull.sum())
    return float(value), gradient


class Softmax:
    """P(class | row) ∝ exp(row · W + b), by L-BFGS under a Gaussian prior on W.

    After `fit`: `weights_` (features, classes) and `bias_` (classes,).
    """

    def __init__(self, n_classes: int, prior_variance: float = 1.0, max_iterations: int = 100) -> None:
        self.n_classes = n_classes
        self.prior_variance = prior_variance
        self.max_iterations = max_iterations

    def fit(self, rows: csr_array, classes: Ints, weights: Floats | None = None) -> Self:
        """Learn from rows (N, features), their classes (N,), and how much each counts (N,)."""
        n_features = rows.shape[1]
        counts = np.ones(len(classes)) if weights is None else weights
        columns = rows.T.tocsr()
        own = np.arange(len(classes))

        def value_and_gradient(flat: Floats) -> tuple[float, Floats]:
            table, bias = self._unpack(flat, n_features)
            logs = _log_softmax(rows @ table + bias)
            value = -counts @ logs[own, classes] + (table**2).sum() / (2 * self.prior_variance)
            errors = np.exp(logs)
            errors[own, classes] -= 1
            errors *= counts[:, None]
            gradient = columns @ errors + table / self.prior_variance
            return float(value), np.concatenate([gradient.ravel(), errors.sum(axis=0)])

        from scipy.optimize import minimize  # noqa: PLC0415 - who only uses a model never needs it

        answer = minimize(
            value_and_gradient,
            np.zeros((n_features + 1) * self.n_classes),
            jac=True,
            method="L-BFGS-B",
            options={"maxiter": self.max_iterations},
        )
        self.weights_, self.bias_ = self._unpack(answer.x, n_features)
        return self

    def probabilities(self, rows: csr_array) -> Floats:
        """(N, classes)."""
        if not hasattr(self, "weights_"):
            raise NotFitted("This model has not been fitted: call fit first.")
        return np.asarray(np.exp(_log_softmax(rows @ self.weights_ + self.bias_)))

    def _unpack(self, flat: Floats, n_features: int) -> tuple[Floats, Floats]:
        cut = n_features * self.n_classes
        return flat[:cut].reshape(n_features, self.n_classes), flat[cut:]


def _log_softmax(scores: Floats) -> Floats:
    shifted = scores - scores.max(axis=1, keepdims=True)
    return np.asarray(shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True)))
