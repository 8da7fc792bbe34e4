"""Finds the documents that fit nowhere: extra leaves under every interior node (section 5.4 of the paper)."""

from __future__ import annotations

from typing import Self

import numpy as np
from scipy.sparse import csr_array

from trailmark.errors import NotFitted
from trailmark.learn.naive_bayes import Floats, Ints, class_counts, normalise
from trailmark.learn.shrinkage import NO_NODE, node_estimates
from trailmark.learn.topic_bootstrap import HierarchicalNaiveBayes


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
        return normalise(joint)[:, -len(self.interior) :]
