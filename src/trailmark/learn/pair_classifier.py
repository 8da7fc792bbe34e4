"""Logistic regression on a few dense features: whether two things are the same."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import numpy.typing as npt
from scipy.special import expit

from trailmark.errors import NotFitted

Floats = npt.NDArray[np.float64]


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
