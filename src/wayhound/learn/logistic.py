"""Multinomial logistic regression on dense or sparse rows: maximum entropy without a sequence."""

from __future__ import annotations

from typing import Self

import numpy as np
from scipy.sparse import csr_array

from wayhound.errors import NotFitted
from wayhound.learn.arrays import Floats, Ints, log_softmax, softmax

Rows = Floats | csr_array


class LogisticRegression:
    """P(class | row) ∝ exp(row · W + b), by L-BFGS under a Gaussian prior on W but not on b.

    With `reference`, class 0 has no weights of its own and always scores 0. Two classes are then ordinary
    binary logistic regression, and the scores of class 1 are its log odds.

    After `fit`: `weights_` (features, columns) and `bias_` (columns,), one column for each class that has
    weights.
    """

    def __init__(
        self,
        n_classes: int,
        prior_variance: float = 1.0,
        max_iterations: int = 100,
        *,
        reference: bool = False,
    ) -> None:
        self.n_classes = n_classes
        self.prior_variance = prior_variance
        self.max_iterations = max_iterations
        self.reference = reference

    def fit(self, rows: Rows, classes: Ints, weights: Floats | None = None) -> Self:
        """Learn from rows (N, features), their classes (N,), and how much each row counts (N,)."""
        from scipy.optimize import minimize  # noqa: PLC0415 - only training needs it, and it loads slowly

        loss = _Loss(self, rows, classes, np.ones(len(classes)) if weights is None else weights)
        optimum = minimize(
            loss.value_and_gradient,
            np.zeros(loss.size),
            jac=True,
            method="L-BFGS-B",
            options={"maxiter": self.max_iterations},
        )
        self.weights_, self.bias_ = loss.unpack(optimum.x)
        return self

    def scores(self, rows: Rows) -> Floats:
        """Return row · W + b, (N, columns)."""
        if not hasattr(self, "weights_"):
            raise NotFitted("This model has not been fitted: call fit first.")
        return np.asarray(rows @ self.weights_ + self.bias_)

    def probabilities(self, rows: Rows) -> Floats:
        """Return the probability of each class, (N, n_classes)."""
        return softmax(self.class_scores(self.scores(rows)))

    def class_scores(self, scores: Floats) -> Floats:
        """Return scores (N, columns) with those of the reference, if there is one: (N, n_classes)."""
        return np.hstack((np.zeros((len(scores), 1)), scores)) if self.reference else scores


class _Loss:
    """The penalised negative log-likelihood as a function of one flat vector, with its gradient."""

    def __init__(self, model: LogisticRegression, rows: Rows, classes: Ints, weights: Floats) -> None:
        self.model = model
        self.rows = rows
        self.by_column = rows.T.tocsr() if isinstance(rows, csr_array) else rows.T
        self.own = np.arange(len(classes)), classes
        self.weights = weights
        self.n_columns = model.n_classes - model.reference

    @property
    def size(self) -> int:
        return (int(self.rows.shape[1]) + 1) * self.n_columns

    def unpack(self, flat: Floats) -> tuple[Floats, Floats]:
        """Return weights (features, columns) and bias (columns,)."""
        return flat[: -self.n_columns].reshape(-1, self.n_columns), flat[-self.n_columns :]

    def value_and_gradient(self, flat: Floats) -> tuple[float, Floats]:
        table, bias = self.unpack(flat)
        logs = log_softmax(self.model.class_scores(np.asarray(self.rows @ table + bias)))
        value = -self.weights @ logs[self.own] + (table**2).sum() / (2 * self.model.prior_variance)
        errors = np.exp(logs)
        errors[self.own] -= 1
        errors *= self.weights[:, None]
        errors = errors[:, self.model.reference :]
        gradient = self.by_column @ errors + table / self.model.prior_variance
        return float(value), np.concatenate([np.ravel(gradient), errors.sum(axis=0)])
