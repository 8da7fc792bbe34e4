"""Hierarchical shrinkage: word estimates of a sparse leaf, smoothed by those of its ancestors.

Equation numbers are those of McCallum, Nigam, Rennie & Seymore (2000), section 5.2.3.
"""

from __future__ import annotations

from typing import Self

import numpy as np

from wayhound.errors import NotFitted
from wayhound.learn.arrays import Floats, Ints

NO_NODE = -1
_HARDLY_EVER = 1e-6  # expected occurrences below this cannot move a weight
_LEAST_UNIFORM = 1e-6  # the least weight of the uniform estimate, so that no word is impossible


class Shrinkage:
    """Mixture weights λ of every leaf over its own estimate, those of its ancestors, and the uniform one.

    `paths` (C, K) names the nodes from each leaf up to the root, padded with `NO_NODE`; nodes are numbered
    from 0. After `fit`: `weights_` (C, K + 1), the last column for the uniform estimate, and
    `log_likelihoods_`, of the held-out words after every round; it never falls.
    """

    def __init__(self, paths: Ints, max_iterations: int = 30, tolerance: float = 1e-4) -> None:
        self.paths = paths
        self.max_iterations = max_iterations
        self.tolerance = tolerance

    def fit(self, folds: Floats, start: Floats | None = None) -> Self:
        """Learn λ from the word counts of each class in each fold of the documents, (F, C, V).

        Each fold in turn is the held-out data ℋ of Eq. 14 and 15 for estimates from the others, so that small
        classes lose no words to it. `start` (C, K + 1) are the initial weights; equal ones by default.
        """
        self.weights_ = uniform_weights(self.paths) if start is None else start.copy()
        leaves = _held_out(folds, self.paths)
        self.log_likelihoods_: list[float] = []
        for _ in range(self.max_iterations):
            before = self.weights_.copy()
            self.log_likelihoods_.append(self._step(leaves))
            if np.abs(self.weights_ - before).max(initial=0.0) < self.tolerance:
                break
        return self

    def _step(self, leaves: list[tuple[Floats, Floats]]) -> float:
        """Run one E- and M-step for all leaves; return the log-likelihood of the weights before it."""
        log_likelihood = 0.0
        for leaf, (estimates, occurrences) in enumerate(leaves):
            if not len(occurrences):
                continue  # no held-out words for this class: its weights stay
            parts = self.weights_[leaf][:, None] * estimates
            total = parts.sum(axis=0)
            responsible = (parts / total) @ occurrences  # Eq. 14, summed over ℋ
            self.weights_[leaf] = responsible / responsible.sum()  # Eq. 15
            log_likelihood += float(np.log(total) @ occurrences)
        return log_likelihood

    def blend(self, counts: Floats) -> Floats:
        """Return P̌(w | c) of Eq. 13 for every leaf, (C, V), from the word counts of the leaves."""
        if not hasattr(self, "weights_"):
            raise NotFitted("The shrinkage weights have not been fitted: call fit first.")
        estimates = node_estimates(counts, self.paths)
        uniform = np.maximum(self.weights_[:, -1:], _LEAST_UNIFORM) / counts.shape[1]
        blended = np.repeat(uniform, counts.shape[1], axis=1)
        for leaf, level in zip(*np.nonzero(self.paths != NO_NODE), strict=True):
            blended[leaf] += self.weights_[leaf, level] * estimates[self.paths[leaf, level]]
        return np.asarray(blended / blended.sum(axis=1, keepdims=True), dtype=np.float64)


def uniform_weights(paths: Ints) -> Floats:
    """Return the initial λ: equal along each path, the uniform estimate included (Table 7)."""
    present = np.hstack([paths != NO_NODE, np.ones((len(paths), 1), dtype=bool)])
    return np.asarray(present / present.sum(axis=1, keepdims=True), dtype=np.float64)


def node_estimates(counts: Floats, paths: Ints) -> Floats:
    """Return maximum-likelihood word estimates P^a of every node from the union of its leaves, (nodes, V).

    A node whose leaves hold no words gets the uniform estimate.
    """
    totals = np.zeros((paths.max(initial=0) + 1, counts.shape[1]))
    for leaf, level in zip(*np.nonzero(paths != NO_NODE), strict=True):
        totals[paths[leaf, level]] += counts[leaf]
    sums = totals.sum(axis=1, keepdims=True)
    empty = sums[:, 0] <= 0
    totals[empty], sums[empty] = 1.0, counts.shape[1]
    return np.asarray(totals / sums, dtype=np.float64)


def _held_out(folds: Floats, paths: Ints) -> list[tuple[Floats, Floats]]:
    """Return, for each leaf, the estimates along its path and the uniform one (K + 1, n), and held-out counts (n,)."""
    total = folds.sum(axis=0)
    gathered: list[list[tuple[Floats, Floats]]] = [[] for _ in paths]
    for fold in folds:
        estimates = node_estimates(np.maximum(total - fold, 0.0), paths)  # rounding may go below zero
        for leaf, path in enumerate(paths):
            words = np.flatnonzero(fold[leaf] > _HARDLY_EVER)
            gathered[leaf].append((_along(estimates, path, words), fold[leaf, words]))
    return [(np.hstack([e for e, _ in parts]), np.concatenate([n for _, n in parts])) for parts in gathered]


def _along(estimates: Floats, path: Ints, words: Ints) -> Floats:
    levels = np.zeros((len(path) + 1, len(words)))
    present = path != NO_NODE
    levels[:-1][present] = estimates[np.ix_(path[present], words)]
    levels[-1] = 1.0 / estimates.shape[1]
    return levels
