"""Latent semantic indexing, and clusters of documents in the reduced space.

After section 2.1 of Liu, Milios & Janssen (2004): TF-IDF, a truncated SVD, K-means, and EM for a mixture of
Gaussians that starts from the K-means clusters.
"""

from __future__ import annotations

from typing import Self

import numpy as np
from scipy.sparse import csr_array

from wayhound.errors import NotFitted
from wayhound.learn.arrays import Floats, Ints, log_sum_exp, softmax

_DENSE = 400  # documents or words up to which the exact decomposition is as fast as the iterative one
_BLOCK = 256  # rows compared with all others at once, so that memory stays bounded
_LEAST_VARIANCE = 1e-4  # of rows of length 1: a cluster of equal pages must not become infinitely sure


class LatentSpace:
    """TF-IDF weighted word counts, projected on the first singular vectors.

    After `fit`: `idf_` (V,), `components_` (V, rank). The rank is lowered to what the documents allow.
    """

    def __init__(self, rank: int = 50) -> None:
        self.rank = rank

    def fit(self, counts: csr_array) -> Self:
        """Learn from word counts (n, V)."""
        n_documents = counts.shape[0]
        documents_with = np.bincount(counts.indices[counts.data > 0], minlength=counts.shape[1])
        self.idf_ = np.log((1 + n_documents) / (1 + documents_with)) + 1.0
        weighted = self._weighted(counts)
        rank = max(1, min(self.rank, *weighted.shape))
        if min(weighted.shape) <= max(_DENSE, rank + 1):
            directions = np.linalg.svd(weighted.toarray(), full_matrices=False)[2][:rank]
        else:
            from scipy.sparse.linalg import svds  # noqa: PLC0415 - only training needs it

            start = np.ones(min(weighted.shape))  # instead of a random vector, so that a second fit is equal
            directions = svds(weighted, k=rank, v0=start)[2][::-1]
        self.components_ = np.ascontiguousarray(_signed(directions).T)
        return self

    def transform(self, counts: csr_array) -> Floats:
        """Return documents (n, V) in the reduced space, as rows of length 1 (n, rank); empty ones are zeros."""
        if not hasattr(self, "components_"):
            raise NotFitted("The latent space has not been fitted: call fit first.")
        return unit_rows(np.asarray(self._weighted(counts) @ self.components_))

    def _weighted(self, counts: csr_array) -> csr_array:
        """Return (1 + log tf) · idf, with rows of length 1."""
        data = (1.0 + np.log(np.maximum(counts.data, 1.0))) * self.idf_[counts.indices]
        weighted = csr_array((data * (counts.data > 0), counts.indices, counts.indptr), shape=counts.shape)
        norms = np.sqrt(np.asarray(weighted.multiply(weighted).sum(axis=1)).ravel())
        scale = np.repeat(1.0 / np.maximum(norms, 1e-12), np.diff(weighted.indptr))
        return csr_array((weighted.data * scale, weighted.indices, weighted.indptr), shape=weighted.shape)


def unit_rows(rows: Floats) -> Floats:
    """Return rows of length 1, so that products are cosines; rows of zeros stay."""
    return np.asarray(rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12))


def _signed(directions: Floats) -> Floats:
    """Return singular vectors with their largest entry positive: their sign is arbitrary."""
    largest = np.abs(directions).argmax(axis=1)
    signs = np.sign(directions[np.arange(len(directions)), largest])
    return np.asarray(directions * np.where(signs == 0, 1.0, signs)[:, None])


class Clusters:
    """K-means, refined by EM for a mixture of Gaussians with diagonal covariances.

    After `fit`: `centres_` (K, dims), `labels_` (n,) of the training rows, `rows_` (n, dims) themselves, and with
    `em` `variances_` (K, dims), `weights_` (K,) and `log_likelihoods_`, of all rows after every round.
    """

    def __init__(
        self, n_clusters: int = 5, *, em: bool = True, max_iterations: int = 60, starts: int = 4
    ) -> None:
        self.n_clusters = n_clusters
        self.em = em
        self.max_iterations = max_iterations
        self.starts = starts

    def fit(self, rows: Floats, generator: np.random.Generator) -> Self:
        """Learn from rows (n, dims). Raises ValueError with fewer rows than clusters."""
        if len(rows) < self.n_clusters:
            raise ValueError(f"{len(rows)} rows cannot be put into {self.n_clusters} clusters")
        self.rows_ = rows.copy()
        tries = [self._k_means(rows, generator) for _ in range(self.starts)]
        _, self.centres_, self.labels_ = min(tries, key=lambda found: found[0])
        if self.em:
            self._fit_mixture(rows)
        return self

    def predict(self, rows: Floats, neighbours: int = 0) -> Ints:
        """Return the cluster of each row: the most frequent of its nearest training rows, or with 0 its own best.

        Among neighbours, ties go to the cluster of the nearest. Its own best is the most probable Gaussian, or
        without EM the nearest centre.
        """
        if not hasattr(self, "centres_"):
            raise NotFitted("The clusters have not been fitted: call fit first.")
        if not neighbours:
            scores = self._log_joint(rows) if self.em else -_squared_distances(rows, self.centres_)
            return np.asarray(scores.argmax(axis=1))
        k = min(neighbours, len(self.rows_))
        blocks = [rows[at : at + _BLOCK] for at in range(0, len(rows), _BLOCK)]
        nearest = np.vstack([_nearest(block, self.rows_, k) for block in blocks])
        votes = np.zeros((len(rows), self.n_clusters))
        for rank in range(k):
            # a little more for nearer ones: this decides ties and nothing else
            np.add.at(votes, (np.arange(len(rows)), self.labels_[nearest[:, rank]]), 1.0 + 1e-6 * (k - rank))
        return np.asarray(votes.argmax(axis=1))

    def _k_means(self, rows: Floats, generator: np.random.Generator) -> tuple[float, Floats, Ints]:
        """Return the squared distances summed, the centres (K, dims) and the labels (n,) of one start."""
        centres = self._spread(rows, generator)
        labels = np.full(len(rows), -1, dtype=np.int64)
        for _ in range(self.max_iterations):
            distances = _squared_distances(rows, centres)
            nearest = distances.argmin(axis=1)
            if np.array_equal(nearest, labels):
                break
            labels = nearest
            for number in range(self.n_clusters):
                own = labels == number
                if own.any():
                    centres[number] = rows[own].mean(axis=0)
        return float(_squared_distances(rows, centres).min(axis=1).sum()), centres, labels

    def _spread(self, rows: Floats, generator: np.random.Generator) -> Floats:
        """Draw first centres far from each other (K-means++)."""
        chosen = [int(generator.integers(len(rows)))]
        while len(chosen) < self.n_clusters:
            distances = _squared_distances(rows, rows[chosen]).min(axis=1)
            distances[chosen] = 0.0
            total = distances.sum()
            if total > 0:
                chosen.append(int(generator.choice(len(rows), p=distances / total)))
            else:  # all rows are equal to a centre: any others will do
                chosen.append(next(number for number in range(len(rows)) if number not in chosen))
        return rows[chosen].copy()

    def _fit_mixture(self, rows: Floats) -> None:
        memberships = np.eye(self.n_clusters)[self.labels_]
        self.log_likelihoods_: list[float] = []
        for _ in range(self.max_iterations):
            self._maximise(rows, memberships)
            joint = self._log_joint(rows)
            memberships = softmax(joint)
            self.log_likelihoods_.append(float(log_sum_exp(joint).sum()))
            if len(self.log_likelihoods_) > 1:
                gain = self.log_likelihoods_[-1] - self.log_likelihoods_[-2]
                if gain < 1e-6 * abs(self.log_likelihoods_[-1]):
                    break
        self.labels_ = np.asarray(memberships.argmax(axis=1))

    def _maximise(self, rows: Floats, memberships: Floats) -> None:
        sizes = np.maximum(memberships.sum(axis=0), 1e-9)
        self.weights_ = sizes / sizes.sum()
        self.centres_ = memberships.T @ rows / sizes[:, None]
        squares = memberships.T @ rows**2 / sizes[:, None]
        self.variances_ = np.maximum(squares - self.centres_**2, _LEAST_VARIANCE)

    def _log_joint(self, rows: Floats) -> Floats:
        """Return log P(cluster) + log P(row | cluster), (n, K)."""
        precisions = 1.0 / self.variances_
        quadratic = rows**2 @ precisions.T - 2 * rows @ (precisions * self.centres_).T
        quadratic += (precisions * self.centres_**2).sum(axis=1)
        volumes = np.log(2 * np.pi * self.variances_).sum(axis=1)
        return np.asarray(np.log(self.weights_) - 0.5 * (quadratic + volumes))


def _nearest(rows: Floats, others: Floats, k: int) -> Ints:
    """Return the numbers of the k nearest others of each row, (n, k), nearest first."""
    return np.asarray(np.argsort(_squared_distances(rows, others), axis=1, kind="stable")[:, :k])


def _squared_distances(rows: Floats, others: Floats) -> Floats:
    products = rows @ others.T
    distances = (rows**2).sum(axis=1)[:, None] - 2 * products + (others**2).sum(axis=1)
    return np.asarray(np.maximum(distances, 0.0))
