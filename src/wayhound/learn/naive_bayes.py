"""Naive Bayes over word counts, taught by hard or probabilistic labels, with EM over unlabelled documents.

Topics are filled from a few keywords a class, so most documents come without a label. Equation numbers are
those of McCallum, Nigam, Rennie & Seymore (2000), section 5.2.
"""

from __future__ import annotations

from typing import Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from wayhound.errors import NotFitted

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


class NaiveBayes:
    """A multinomial for each class and a prior over classes, both smoothed by extra counts (Eq. 10 and 11).

    Laplace smoothing is `smoothing=1`. After `fit`: `log_words_` (C, V), log P(w | c); `log_priors_` (C,).
    """

    def __init__(self, smoothing: float = 1.0) -> None:
        self.smoothing = smoothing

    def fit(self, counts: csr_array, memberships: Floats) -> Self:
        """Learn from counts N(w, d) (n, V) and P(c | d) (n, C); a document of all zeros does not count."""
        words = class_counts(counts, memberships) + self.smoothing
        priors = memberships.sum(axis=0) + 1.0
        self.log_words_ = np.log(words / words.sum(axis=1, keepdims=True))  # Eq. 10
        self.log_priors_ = np.log(priors / priors.sum())  # Eq. 11
        return self

    def joint(self, counts: csr_array) -> Floats:
        """log P(c) + log P(d | c), (n, C)."""
        if not hasattr(self, "log_words_"):
            raise NotFitted("This topic model has not been trained yet.")
        return np.asarray(counts @ self.log_words_.T + self.log_priors_, dtype=np.float64)

    def predict(self, counts: csr_array) -> Floats:
        """P(c | d) by Bayes' rule (Eq. 12), (n, C)."""
        return softmax(self.joint(counts))

    def log_posterior(self, counts: csr_array) -> float:
        """log P(documents | parameters) + log P(parameters), up to a constant: what EM never lets fall.

        The extra counts of Eq. 10 and 11 are those of Dirichlet priors, so that EM climbs the posterior of
        the parameters; the likelihood alone may fall.
        """
        documents = float(log_sum_exp(self.joint(counts)).sum())
        return documents + self.smoothing * float(self.log_words_.sum()) + float(self.log_priors_.sum())


class ExpectationMaximisation:
    """EM over labelled and unlabelled documents (section 5.2.2), from the labels as the starting point.

    The first classifier is taught by the labelled documents alone; then all documents get probabilistic
    labels and teach the next one. After `fit`: `model_`, the last classifier; `memberships_` (n, C);
    `trace_`, the log posterior after every round; `converged_`.
    """

    def __init__(self, smoothing: float = 1.0, max_iterations: int = 20, tolerance: float = 1e-5) -> None:
        self.smoothing = smoothing
        self.max_iterations = max_iterations
        self.tolerance = tolerance

    def fit(self, counts: csr_array, start: Floats) -> Self:
        """`start` (n, C) holds P(c | d) of the labelled documents, and rows of zeros for the others."""
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
            raise NotFitted("This topic model has not been trained yet.")
        return self.model_.predict(counts)


def class_counts(counts: csr_array, memberships: Floats) -> Floats:
    """Σ_d N(w, d) P(c | d), (C, V)."""
    return np.ascontiguousarray((counts.T @ memberships).T, dtype=np.float64)


def log_sum_exp(log: Floats) -> Floats:
    """log Σ_c exp of each row, (n,)."""
    highest = log.max(axis=1)
    return np.asarray(highest + np.log(np.exp(log - highest[:, None]).sum(axis=1)), dtype=np.float64)


def softmax(log: Floats) -> Floats:
    """Rows of logarithms as probabilities that sum to one."""
    shares = np.exp(log - log.max(axis=1, keepdims=True))
    return np.asarray(shares / shares.sum(axis=1, keepdims=True), dtype=np.float64)
