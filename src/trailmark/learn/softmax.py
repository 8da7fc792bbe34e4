"""Multinomial logistic regression on sparse rows: maximum entropy without any sequence."""

from __future__ import annotations

from typing import Self

import numpy as np
from scipy.sparse import csr_array

from trailmark.errors import NotFitted
from trailmark.learn.chain import Floats, Ints


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
