"""Naive Bayes over word counts, with hard or probabilistic labels, EM over unlabelled documents, and calibration.

Topics are filled from a few keywords each, so most documents have no label. Equation numbers are those of
McCallum, Nigam, Rennie & Seymore (2000), section 5.2.
"""

from __future__ import annotations

from typing import Self

import numpy as np
from scipy.sparse import csr_array

from wayhound.errors import NotFitted
from wayhound.learn.arrays import Floats, log_sum_exp, softmax


class NaiveBayes:
    """A multinomial for each class and a prior over classes, both smoothed by extra counts (Eq. 10 and 11).

    `smoothing=1` is Laplace smoothing. After `fit`: `log_words_` (C, V), log P(w | c); `log_priors_` (C,).
    """

    def __init__(self, smoothing: float = 1.0) -> None:
        self.smoothing = smoothing

    def fit(self, counts: csr_array, memberships: Floats) -> Self:
        """Learn from counts N(w, d) (n, V) and P(c | d) (n, C); a document with a row of zeros is ignored."""
        words = class_counts(counts, memberships) + self.smoothing
        priors = memberships.sum(axis=0) + 1.0
        self.log_words_ = np.log(words / words.sum(axis=1, keepdims=True))  # Eq. 10
        self.log_priors_ = np.log(priors / priors.sum())  # Eq. 11
        return self

    def joint(self, counts: csr_array) -> Floats:
        """Return log P(c) + log P(d | c), (n, C)."""
        if not hasattr(self, "log_words_"):
            raise NotFitted("This topic model has not been fitted: call fit first.")
        return np.asarray(counts @ self.log_words_.T + self.log_priors_, dtype=np.float64)

    def predict(self, counts: csr_array) -> Floats:
        """Return P(c | d) by Bayes' rule (Eq. 12), (n, C)."""
        return softmax(self.joint(counts))

    def log_posterior(self, counts: csr_array) -> float:
        """Return log P(documents | parameters) + log P(parameters), up to a constant: EM never lowers it.

        The extra counts of Eq. 10 and 11 are those of Dirichlet priors, so EM climbs the posterior of the
        parameters; the likelihood alone may fall.
        """
        documents = float(log_sum_exp(self.joint(counts)).sum())
        return documents + self.smoothing * float(self.log_words_.sum()) + float(self.log_priors_.sum())


class ExpectationMaximisation:
    """EM over labelled and unlabelled documents (section 5.2.2), with the labels as the starting point.

    The first classifier learns from the labelled documents alone; then all documents get probabilistic labels
    and train the next one. After `fit`: `model_`, the last classifier; `memberships_` (n, C); `trace_`, the log
    posterior after every round; `converged_`.
    """

    def __init__(self, smoothing: float = 1.0, max_iterations: int = 20, tolerance: float = 1e-5) -> None:
        self.smoothing = smoothing
        self.max_iterations = max_iterations
        self.tolerance = tolerance

    def fit(self, counts: csr_array, start: Floats) -> Self:
        """Learn from counts (n, V); `start` (n, C) is P(c | d), with rows of zeros for unlabelled documents."""
        self.model_ = NaiveBayes(self.smoothing).fit(counts, start)
        self.memberships_ = self.model_.predict(counts)
        self.trace_ = [self.model_.log_posterior(counts)]
        self.converged_ = False
        while not self.converged_ and len(self.trace_) <= self.max_iterations:
            self.model_ = NaiveBayes(self.smoothing).fit(counts, self.memberships_)  # M-step
            self.memberships_ = self.model_.predict(counts)  # E-step
            self.trace_.append(self.model_.log_posterior(counts))
            self.converged_ = self.trace_[-1] - self.trace_[-2] < self.tolerance * abs(self.trace_[-2])
        return self

    def predict(self, counts: csr_array) -> Floats:
        if not hasattr(self, "model_"):
            raise NotFitted("This topic model has not been fitted: call fit first.")
        return self.model_.predict(counts)


def class_counts(counts: csr_array, memberships: Floats) -> Floats:
    """Return Σ_d N(w, d) P(c | d), (C, V)."""
    return np.ascontiguousarray((counts.T @ memberships).T, dtype=np.float64)


# Bounds for the logarithm of the scale: naive Bayes is overconfident by far, hardly ever underconfident.
_LOG_SCALE_BOUNDS = (-4.0, 1.0)


class Temperature:
    """Calibration by temperature scaling: log joint probabilities are multiplied by one number.

    After `fit`: `scale_`, the number that maximises the likelihood of held-out labels, below 1 where the model
    was overconfident. The order of the classes does not change.
    """

    def fit(self, joint: Floats, labels: Floats) -> Self:
        """Learn from log P(c, d) (n, C) and P(c | d) (n, C) of documents that the model was not trained on."""
        from scipy.optimize import minimize_scalar  # noqa: PLC0415 - only training needs it, and it loads slowly

        def loss(log_scale: float) -> float:
            posterior = softmax(np.exp(log_scale) * joint)
            return -float((labels * np.log(np.maximum(posterior, 1e-300))).sum())

        optimum = minimize_scalar(loss, bounds=_LOG_SCALE_BOUNDS, method="bounded") if labels.any() else None
        self.scale_ = float(np.exp(optimum.x)) if optimum is not None else 1.0
        return self

    def predict(self, joint: Floats) -> Floats:
        """Return the calibrated P(c | d), (n, C)."""
        if not hasattr(self, "scale_"):
            raise NotFitted("The confidences have not been calibrated: call fit first.")
        return softmax(self.scale_ * joint)


def reliability(confidences: Floats, correct: Floats, n_bins: int = 10) -> list[tuple[float, float, int]]:
    """Return mean confidence, share correct and count for each bin of confidence that occurs."""
    bins = np.minimum((confidences * n_bins).astype(int), n_bins - 1)
    return [
        (
            float(confidences[bins == number].mean()),
            float(correct[bins == number].mean()),
            int((bins == number).sum()),
        )
        for number in np.unique(bins)
    ]


def calibration_error(confidences: Floats, correct: Floats) -> float:
    """Return the expected calibration error: |confidence - share correct|, averaged over documents."""
    bins = reliability(confidences, correct)
    return sum(count * abs(mean - share) for mean, share, count in bins) / max(len(correct), 1)
