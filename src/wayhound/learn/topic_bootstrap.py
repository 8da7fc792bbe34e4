"""Naive Bayes over the leaves of a topic tree, bootstrapped from preliminary labels, and outlier detection.

Equations and sections are those of McCallum, Nigam, Rennie & Seymore (2000).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from scipy.sparse import csr_array

from wayhound.errors import NotFitted
from wayhound.learn.arrays import Bools, Floats, Ints, log_sum_exp, softmax
from wayhound.learn.naive_bayes import class_counts
from wayhound.learn.shrinkage import NO_NODE, Shrinkage, node_estimates
from wayhound.learn.topic_links import NoSpread, Spread

_WEIGHT_STEPS = 2  # λ and classes converge together (Table 7), so λ need not converge within a round


@dataclass(frozen=True, slots=True)
class Round:
    """One round of EM: the log-likelihood of all documents, and the share of them that changed class."""

    log_likelihood: float
    moved: float


class HierarchicalNaiveBayes:
    """Naive Bayes over the leaves of a tree, bootstrapped from preliminary labels.

    `paths` (C, K) as in `Shrinkage`. `hold` is the share of its preliminary label that a document keeps in every
    round: at 0, as in the paper, EM may overrule the labels; at 1 it only adds the other documents. `temper`
    below 1 weakens the evidence of the words, which naive Bayes counts as if they were independent. EM stops
    when less than `tolerance` of the documents change class. A class without labelled documents stays empty:
    nothing is known about it, and EM would fill it with leftovers.

    After `fit`: `log_words_` (C, V), `log_priors_` (C,), `weights_` (C, K + 1), `memberships_` (n, C),
    `trace_` with a `Round` for the labels alone and one for every round of EM, and `converged_`.
    """

    def __init__(
        self,
        paths: Ints,
        max_iterations: int = 1,
        tolerance: float = 0.02,
        n_folds: int = 3,
        hold: float = 0.5,
        temper: float = 1.0,
    ) -> None:
        self.paths = paths
        self.max_iterations = max_iterations
        self.tolerance = tolerance
        self.n_folds = n_folds
        self.hold = hold
        self.temper = temper

    def fit(
        self,
        counts: csr_array,
        start: Floats,
        rng: np.random.Generator,
        fixed: Bools | None = None,
        weights: Floats | None = None,
        spread: Spread | None = None,
    ) -> Self:
        """Learn from counts (n, V) and preliminary labels `start` (n, C), rows of zeros for unlabelled documents.

        `fixed` (n,) documents keep their label in every round. `weights` (n,) is how much each document counts;
        equal by default. `spread` shares words between linked documents.
        """
        run = _EMRun(self, counts, rng, spread or NoSpread(), np.asarray(start.any(axis=0)))
        weight = np.ones((counts.shape[0], 1)) if weights is None else weights[:, None]
        kept = self._kept_share(start, fixed)
        self.memberships_ = start
        self.trace_: list[Round] = []
        self.converged_ = False
        while not self.converged_ and len(self.trace_) <= self.max_iterations:
            labels = kept * start + (1 - kept) * self.memberships_ if self.trace_ else start
            run.maximise(weight * labels)
            before, self.memberships_ = self.memberships_, run.expect()
            self.trace_.append(Round(run.log_likelihood, _moved(before, self.memberships_)))
            self.converged_ = self.trace_[-1].moved < self.tolerance
        self.log_words_, self.log_priors_ = run.log_words, run.log_priors
        self.weights_ = run.shrinkage.weights_
        return self

    def _kept_share(self, start: Floats, fixed: Bools | None) -> Floats:
        """Return the share of its preliminary label that each document keeps, (n, 1)."""
        kept = np.where(start.sum(axis=1) > 0, self.hold, 0.0)
        return np.where(fixed, 1.0, kept)[:, None] if fixed is not None else kept[:, None]

    def scores(self, counts: csr_array) -> Floats:
        """Return the tempered log P(d | c), without the prior, (n, C)."""
        if not hasattr(self, "log_words_"):
            raise NotFitted("This topic model has not been fitted: call fit first.")
        return np.asarray(self.temper * (counts @ self.log_words_.T), dtype=np.float64)

    def predict(self, counts: csr_array) -> Floats:
        """Return P(c | d) of Eq. 12 with the shrunk estimates of Eq. 13, (n, C)."""
        return softmax(self.scores(counts) + self.log_priors_)


class _EMRun:
    """The state that EM carries from round to round."""

    def __init__(
        self,
        model: HierarchicalNaiveBayes,
        counts: csr_array,
        rng: np.random.Generator,
        spread: Spread,
        labelled: Bools,
    ) -> None:
        self.usable = labelled if labelled.any() else np.ones_like(labelled)
        self.temper, self.paths, self.spread, self.counts = model.temper, model.paths, spread, counts
        folds = rng.permutation(counts.shape[0]) % model.n_folds
        self.folds = [(rows := np.flatnonzero(folds == fold), counts[rows]) for fold in range(model.n_folds)]
        self.shrinkage = Shrinkage(model.paths)

    def maximise(self, memberships: Floats) -> None:
        """Run the M-step: word estimates of every node and λ (Eq. 10, 13–15), then the priors (Eq. 11)."""
        shared = self.spread.scatter(memberships)
        folds = np.stack([class_counts(counts, shared[rows]) for rows, counts in self.folds])
        if hasattr(self.shrinkage, "weights_"):
            weights, self.shrinkage = self.shrinkage.weights_, Shrinkage(self.paths, _WEIGHT_STEPS)
            self.shrinkage.fit(folds, weights)
        else:
            self.shrinkage.fit(folds)
        self.log_words = np.log(self.shrinkage.blend(folds.sum(axis=0)))
        priors = memberships.sum(axis=0) + 1.0
        self.log_priors = np.where(self.usable, np.log(priors / priors.sum()), -np.inf)

    def expect(self) -> Floats:
        """Run the E-step: return P(c | d) of every document (Eq. 12)."""
        gathered = self.spread.gather(np.asarray(self.counts @ self.log_words.T))
        joint = self.temper * gathered + self.log_priors
        self.log_likelihood = float(log_sum_exp(joint).sum())
        return softmax(joint)


def _moved(before: Floats, after: Floats) -> float:
    """Return the share of documents whose best class changed; those without a class before have moved."""
    same = (before.argmax(axis=1) == after.argmax(axis=1)) & (before.sum(axis=1) > 0)
    return 1.0 - float(same.mean()) if len(same) else 0.0


class OutsideLeaves:
    """Outlier detection: an extra leaf under every interior node, for documents that fit none of its leaves (5.4).

    The extra leaf's own estimate is uniform, mixed with those of its ancestors; the root stands for all
    documents, labelled or not. Ordinary and extra leaves learn from the preliminary labels alone: EM finds room
    for everything, so that nothing looks like an outlier after it. `paths` (C, K) and `interior` (I, K) name
    nodes as in `Shrinkage`, the first of `interior` being the root. `share` is the prior of lying outside.

    After `fit`: `log_words_` (C + I, V) and `log_priors_` (C + I,).
    """

    def __init__(self, paths: Ints, interior: Ints, share: float = 0.2, uniform: float = 0.02) -> None:
        self.paths = paths
        self.interior = interior
        self.share = share
        self.uniform = uniform

    def fit(self, counts: csr_array, start: Floats, rng: np.random.Generator) -> Self:
        """Learn from counts (n, V) and preliminary labels (n, C)."""
        inside = HierarchicalNaiveBayes(self.paths, max_iterations=0).fit(counts, start, rng)
        extra = np.log(
            self._words(class_counts(counts, start), np.asarray(counts.sum(axis=0), dtype=np.float64).ravel())
        )
        n_extra = len(self.interior)
        self.log_words_ = np.vstack([inside.log_words_, extra])
        self.log_priors_ = np.concatenate(
            [np.log(1 - self.share) + inside.log_priors_, np.full(n_extra, np.log(self.share / n_extra))]
        )
        return self

    def _words(self, labelled: Floats, everywhere: Floats) -> Floats:
        """Return the word estimates of the extra leaves, (I, V)."""
        n_words = labelled.shape[1]
        estimates = node_estimates(labelled, self.paths)
        estimates[0] = (everywhere + 1 / n_words) / (everywhere.sum() + 1)
        ancestors = np.stack([estimates[path[path != NO_NODE]].mean(axis=0) for path in self.interior])
        return np.asarray((1 - self.uniform) * ancestors + self.uniform / n_words)

    def predict(self, counts: csr_array) -> Floats:
        """Return the probability of each extra leaf, (n, I)."""
        if not hasattr(self, "log_words_"):
            raise NotFitted("The outlier model has not been fitted: call fit first.")
        joint = np.asarray(counts @ self.log_words_.T) + self.log_priors_
        return softmax(joint)[:, -len(self.interior) :]
