"""Multinomial logistic regression on dense or sparse rows: maximum entropy without a sequence."""

from __future__ import annotations

from typing import Self

import numpy as np
from scipy.sparse import csr_array

from wayhound.errors import NotFitted
from wayhound.learn.arrays import Floats, Ints, log_softmax, scale_columns, softmax

Rows = Floats | csr_array


class LogisticRegression:
    """P(class | row) ∝ exp(row · W + b), by L-BFGS under a Gaussian prior on W.

    With `reference`, class 0 has no weights of its own and always scores 0. Two classes are then ordinary
    binary logistic regression, and the scores of class 1 are its log odds. The bias has no prior unless
    `bias_scale` gives the standard deviation of one; with it, examples of a single class keep the bias finite.

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
        bias_scale: float | None = None,
    ) -> None:
        self.n_classes = n_classes
        self.prior_variance = prior_variance
        self.max_iterations = max_iterations
        self.reference = reference
        self.bias_scale = bias_scale

    def fit(self, rows: Rows, classes: Ints | Floats, weights: Floats | None = None) -> Self:
        """Learn from rows (N, features), their classes, and how much each row counts (N,).

        `classes` are numbers (N,), or the probabilities of the classes of each row (N, n_classes).
        """
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


def fit_log_odds(
    rows: csr_array,
    scales: Floats,
    truth: Floats,
    weights: Floats | None = None,
    *,
    bias_scale: float = 3.0,
) -> tuple[Floats, float]:
    """Fit binary logistic regression with a prior for each feature; return its weights (features,) and bias.

    `truth` (N,) is the probability that each row is of the class, `weights` (N,) how much each row counts.
    `scales` (features,) are the standard deviations of the priors: scaling a column by one under a prior of
    variance 1 is the same as that prior on the unscaled column.
    """
    model = LogisticRegression(2, max_iterations=200, reference=True, bias_scale=bias_scale)
    model.fit(scale_columns(rows, scales), np.stack((1 - truth, truth), axis=1), weights)
    return np.asarray(model.weights_[:, 0] * scales), float(model.bias_[0])


class _Loss:
    """The penalised negative log-likelihood as a function of one flat vector, with its gradient.

    A bias with a prior is optimised in units of its scale: then all parameters have the same prior, which L-BFGS
    needs fewer iterations for.
    """

    def __init__(
        self, model: LogisticRegression, rows: Rows, classes: Ints | Floats, weights: Floats
    ) -> None:
        self.model = model
        self.rows = rows
        self.by_column = rows.T.tocsr() if isinstance(rows, csr_array) else rows.T
        self.targets = classes if classes.ndim == 2 else np.eye(model.n_classes)[classes]  # (N, n_classes)
        self.weights = weights
        self.n_columns = model.n_classes - model.reference

    @property
    def size(self) -> int:
        return (int(self.rows.shape[1]) + 1) * self.n_columns

    def unpack(self, flat: Floats) -> tuple[Floats, Floats]:
        """Return weights (features, columns) and bias (columns,)."""
        bias = flat[-self.n_columns :]
        scale = self.model.bias_scale
        return flat[: -self.n_columns].reshape(-1, self.n_columns), bias if scale is None else bias * scale

    def value_and_gradient(self, flat: Floats) -> tuple[float, Floats]:
        table, bias = self.unpack(flat)
        logs = log_softmax(self.model.class_scores(np.asarray(self.rows @ table + bias)))
        fit = (self.targets * logs).sum(axis=1)
        value = -self.weights @ fit + (table**2).sum() / (2 * self.model.prior_variance)
        errors = (np.exp(logs) - self.targets) * self.weights[:, None]
        errors = errors[:, self.model.reference :]
        gradient = self.by_column @ errors + table / self.model.prior_variance
        bias_gradient = errors.sum(axis=0)
        if self.model.bias_scale is not None:
            scaled = flat[-self.n_columns :]
            value += scaled @ scaled / 2
            bias_gradient = bias_gradient * self.model.bias_scale + scaled
        return float(value), np.concatenate([np.ravel(gradient), bias_gradient])
