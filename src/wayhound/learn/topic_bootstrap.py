"""Finds the documents that fit nowhere: extra leaves under every interior node (section 5.4 of the paper)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from scipy.sparse import csr_array

from wayhound.errors import NotFitted
from wayhound.learn.naive_bayes import Bools, Floats, Ints, class_counts, log_sum_exp, softmax
from wayhound.learn.shrinkage import NO_NODE, Shrinkage, node_estimates
from wayhound.learn.topic_links import NoSpread, Spread

_WEIGHT_STEPS = 2  # λ move along with the classes (Table 7); they need not settle before the classes do


@dataclass(frozen=True, slots=True)
class Round:
    """How one round of EM went: the log-likelihood of all documents, and the share that changed its class."""

    log_likelihood: float
    moved: float


class HierarchicalNaiveBayes:
    """Naive Bayes over the leaves of a tree, bootstrapped from preliminary labels.

    `paths` (C, K) as in `Shrinkage`. `hold` is the share of a preliminary label that its document teaches in
    every round: at 0, as in the paper, EM may leave the labels behind, at 1 it only adds the other documents.
    `temper` below 1 softens the evidence of the words, which naive Bayes counts as if they were independent.
    EM ends when less than `tolerance` of the documents change their class. A class that no document is
    labelled with stays empty: nothing is known of it, and EM would fill it with whatever is left over.

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
        """Learn from counts (n, V) and preliminary labels `start` (n, C), rows of zeros where there are none.

        Documents that are `fixed` (n,) keep their label in every round. `weights` (n,) say how much each
        document teaches, all alike if not given. `spread` lets linked documents share their words.
        """
        run = _Run(self, counts, rng, spread or NoSpread(), np.asarray(start.any(axis=0)))
        lesson = np.ones((counts.shape[0], 1)) if weights is None else weights[:, None]
        held = self._held(start, fixed)
        self.memberships_ = start
        self.trace_: list[Round] = []
        self.converged_ = False
        while not self.converged_ and len(self.trace_) <= self.max_iterations:
            taught = held * start + (1 - held) * self.memberships_ if self.trace_ else start
            run.maximise(lesson * taught)
            before, self.memberships_ = self.memberships_, run.expect()
            self.trace_.append(Round(run.log_likelihood, _moved(before, self.memberships_)))
            self.converged_ = self.trace_[-1].moved < self.tolerance
        self.log_words_, self.log_priors_ = run.log_words, run.log_priors
        self.weights_ = run.shrinkage.weights_
        return self

    def _held(self, start: Floats, fixed: Bools | None) -> Floats:
        """The share of its first label that each document keeps, (n, 1)."""
        held = np.where(start.sum(axis=1) > 0, self.hold, 0.0)
        return np.where(fixed, 1.0, held)[:, None] if fixed is not None else held[:, None]

    def scores(self, counts: csr_array) -> Floats:
        """What the words of each document say for each class, without the prior, (n, C)."""
        if not hasattr(self, "log_words_"):
            raise NotFitted("This topic model has not been trained yet.")
        return np.asarray(self.temper * (counts @ self.log_words_.T), dtype=np.float64)

    def predict(self, counts: csr_array) -> Floats:
        """P(c | d) of Eq. 12 with the shrunk estimates of Eq. 13, (n, C)."""
        return softmax(self.scores(counts) + self.log_priors_)


class _Run:
    """The state that EM carries from round to round."""

    def __init__(
        self,
        model: HierarchicalNaiveBayes,
        counts: csr_array,
        rng: np.random.Generator,
        spread: Spread,
        taught: Bools,
    ) -> None:
        self.known = taught if taught.any() else np.ones_like(taught)
        self.temper, self.paths, self.spread, self.counts = model.temper, model.paths, spread, counts
        turns = rng.permutation(counts.shape[0]) % model.n_folds
        self.parts = [(rows := np.flatnonzero(turns == turn), counts[rows]) for turn in range(model.n_folds)]
        self.shrinkage = Shrinkage(model.paths)

    def maximise(self, memberships: Floats) -> None:
        """M-step: word estimates of every node and λ (Eq. 10, 13–15), then the priors (Eq. 11)."""
        shared = self.spread.scatter(memberships)
        folds = np.stack([class_counts(part, shared[rows]) for rows, part in self.parts])
        if hasattr(self.shrinkage, "weights_"):
            weights, self.shrinkage = self.shrinkage.weights_, Shrinkage(self.paths, _WEIGHT_STEPS)
            self.shrinkage.fit(folds, weights)
        else:
            self.shrinkage.fit(folds)
        self.log_words = np.log(self.shrinkage.blend(folds.sum(axis=0)))
        priors = memberships.sum(axis=0) + 1.0
        self.log_priors = np.where(self.known, np.log(priors / priors.sum()), -np.inf)

    def expect(self) -> Floats:
        """E-step: P(c | d) of every document (Eq. 12)."""
        gathered = self.spread.gather(np.asarray(self.counts @ self.log_words.T))
        joint = self.temper * gathered + self.log_priors
        self.log_likelihood = float(log_sum_exp(joint).sum())
        return softmax(joint)


def _moved(before: Floats, after: Floats) -> float:
    """The share of documents with another best class than before; those without a class have moved."""
    same = (before.argmax(axis=1) == after.argmax(axis=1)) & (before.sum(axis=1) > 0)
    return 1.0 - float(same.mean()) if len(same) else 0.0


class OutsideLeaves:
    """A leaf without a topic under every interior node, for what belongs there but to none of its leaves.

    The own estimate of such a leaf is uniform, mixed with those of its ancestors; the root stands for all
    documents, labelled or not. Both sides are taught by the preliminary labels alone: EM finds room for
    everything, and after it nothing looks like an outlier. `paths` (C, K) and `interior` (I, K) name nodes as
    in `Shrinkage`, the first of `interior` being the root. `share` is what is expected to lie outside.

    After `fit`: `log_words_` (C + I, V) and `log_priors_` (C + I,).
    """

    def __init__(self, paths: Ints, interior: Ints, share: float = 0.2, uniform: float = 0.02) -> None:
        self.paths = paths
        self.interior = interior
        self.share = share
        self.uniform = uniform

    def fit(self, counts: csr_array, start: Floats, rng: np.random.Generator) -> Self:
        """Learn from counts (n, V) and preliminary labels (n, C)."""
        taught = HierarchicalNaiveBayes(self.paths, max_iterations=0).fit(counts, start, rng)
        extra = np.log(
            self._words(class_counts(counts, start), np.asarray(counts.sum(axis=0), dtype=np.float64).ravel())
        )
        n_extra = len(self.interior)
        self.log_words_ = np.vstack([taught.log_words_, extra])
        self.log_priors_ = np.concatenate(
            [np.log(1 - self.share) + taught.log_priors_, np.full(n_extra, np.log(self.share / n_extra))]
        )
        return self

    def _words(self, labelled: Floats, everywhere: Floats) -> Floats:
        """What the extra leaves say, (I, V)."""
        n_words = labelled.shape[1]
        estimates = node_estimates(labelled, self.paths)
        estimates[0] = (everywhere + 1 / n_words) / (everywhere.sum() + 1)
        ancestors = np.stack([estimates[path[path != NO_NODE]].mean(axis=0) for path in self.interior])
        return np.asarray((1 - self.uniform) * ancestors + self.uniform / n_words)

    def predict(self, counts: csr_array) -> Floats:
        """The probability of each extra leaf, (n, I)."""
        if not hasattr(self, "log_words_"):
            raise NotFitted("What lies outside the tree has not been learned yet.")
        joint = np.asarray(counts @ self.log_words_.T) + self.log_priors_
        return softmax(joint)[:, -len(self.interior) :]
