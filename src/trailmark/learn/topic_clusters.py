"""Finds groups among documents by their words alone, for topics that nobody has named yet."""

from __future__ import annotations

from typing import Self

import numpy as np
from scipy.sparse import csr_array, diags_array

from trailmark.errors import NotFitted
from trailmark.learn.naive_bayes import Floats, Ints


class SphericalKMeans:
    """k-means by the cosine between documents and the mean directions of their groups.

    After `fit`: `centres_` (k, V) of length one, `groups_` (n,) and `closeness_` (n,), the cosine of each
    document to its centre.
    """

    def __init__(self, n_groups: int, max_iterations: int = 30) -> None:
        self.n_groups = n_groups
        self.max_iterations = max_iterations

    def fit(self, rows: csr_array, rng: np.random.Generator) -> Self:
        """`rows` (n, V) are vectors of length one, or empty."""
        self.centres_ = _first_centres(rows, min(self.n_groups, rows.shape[0]), rng)
        self.groups_ = np.full(rows.shape[0], -1, dtype=np.int64)
        for _ in range(self.max_iterations):
            before, self.groups_ = self.groups_, self.predict(rows)
            if np.array_equal(before, self.groups_):
                break
            self.centres_ = self._means(rows)
        likeness = np.asarray(rows @ self.centres_.T)
        self.closeness_ = likeness[np.arange(rows.shape[0]), self.groups_]
        return self

    def predict(self, rows: csr_array) -> Ints:
        if not hasattr(self, "centres_"):
            raise NotFitted("The groups have not been found yet.")
        return np.asarray((rows @ self.centres_.T).argmax(axis=1), dtype=np.int64)

    def _means(self, rows: csr_array) -> Floats:
        """The mean direction of each group; one that has lost its documents stays where it is."""
        of_group = csr_array((np.ones(len(self.groups_)), (self.groups_, np.arange(len(self.groups_)))),
                             shape=(len(self.centres_), len(self.groups_)))  # fmt: skip
        sums = (of_group @ rows).toarray()
        lengths = np.linalg.norm(sums, axis=1, keepdims=True)
        return np.where(lengths > 0, sums / np.maximum(lengths, 1e-12), self.centres_)


def _first_centres(rows: csr_array, n_groups: int, rng: np.random.Generator) -> Floats:
    """Documents far from those chosen before, by chance in proportion to their distance (k-means++)."""
    chosen = [int(rng.integers(rows.shape[0]))]
    nearest = np.zeros(rows.shape[0])
    for _ in range(n_groups - 1):
        nearest = np.maximum(nearest, np.asarray((rows @ rows[[chosen[-1]]].T).toarray()).ravel())
        distance = np.maximum(1.0 - nearest, 1e-12)
        chosen.append(int(rng.choice(rows.shape[0], p=distance / distance.sum())))
    return np.asarray(rows[chosen].toarray(), dtype=np.float64)


def unit_rows(counts: csr_array) -> csr_array:
    """Counts (n, V) as vectors of length one, rare words weighing more (tf-idf)."""
    documents = np.maximum(np.bincount(counts.indices, minlength=counts.shape[1]), 1)
    weighted = csr_array(counts @ diags_array(np.log(max(counts.shape[0], 1) / documents) + 1e-9))
    lengths = np.sqrt(np.asarray(weighted.power(2).sum(axis=1)).ravel())
    return csr_array(diags_array(1.0 / np.maximum(lengths, 1e-12)) @ weighted)
