"""Share words along links between documents: the works that a paper cites show what it is about."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.sparse import csr_array, diags_array

from wayhound.learn.arrays import Floats, Ints


class Spread(Protocol):
    """A linear map S that replaces the words of a document by a weighted sum over several documents.

    The counts S · N are never formed. Scores are linear in counts, so `gather` applies S to the scores of the
    E-step, and `scatter` its transpose to the memberships of the M-step.
    """

    def gather(self, scores: Floats) -> Floats: ...

    def scatter(self, memberships: Floats) -> Floats: ...


class NoSpread:
    """The identity: every document keeps its own words."""

    def gather(self, scores: Floats) -> Floats:
        return scores

    def scatter(self, memberships: Floats) -> Floats:
        return memberships


@dataclass(frozen=True, slots=True)
class LinkWeights:
    """The weights of a document's own words, and of those met on random walks of up to `rounds` steps.

    A document with k links weighs its own words by `own`, and what it meets at every step by `step` times
    k / (k + `doubt`): few links are weak evidence. One without links keeps its own words at weight 1.
    """

    own: float = 0.5
    step: float = 0.35
    rounds: int = 5
    doubt: float = 2.0

    def by_degree(self, degrees: Ints) -> tuple[Floats, Floats]:
        """Return the weights of own words and of each step, for documents with that many links."""
        linked = degrees > 0
        trust = np.where(linked, degrees / np.maximum(degrees + self.doubt, 1.0), 0.0)
        return np.where(linked, self.own, 1.0), self.step * trust

    def join(self, own: Floats, neighbours: Floats) -> Floats:
        """Return the scores of a new document (C,).

        `own` (C,) are the scores of its words; `neighbours` (k, C) the rows of `LinkSpread.neighbour_scores` of
        the documents that it links to.
        """
        own_weight, step_weight = self.by_degree(np.array(len(neighbours)))
        return np.asarray(
            own_weight * own + step_weight * neighbours.mean(axis=0) if len(neighbours) else own
        )


class LinkSpread:
    """Shares words along links; `links` (n, n) holds the weight of the link from row to column."""

    def __init__(self, links: csr_array, weights: LinkWeights | None = None) -> None:
        self._weights = weights or LinkWeights()
        total = np.asarray(links.sum(axis=1)).ravel()
        self._walk = csr_array(diags_array(1.0 / np.where(total > 0, total, 1.0)) @ links)
        self._back = csr_array(self._walk.T)
        degrees = np.diff(self._walk.indptr)
        self.linked = degrees > 0
        own, step = self._weights.by_degree(degrees)
        self._own, self._step = own[:, None], step[:, None]

    def gather(self, scores: Floats) -> Floats:
        return self._own * scores + self._step * self._walked(self._walk, scores)

    def scatter(self, memberships: Floats) -> Floats:
        return self._own * memberships + self._walked(self._back, self._step * memberships)

    def neighbour_scores(self, scores: Floats) -> Floats:
        """Return what a new document would receive over a link to each document, (n, C)."""
        total = reached = scores
        for _ in range(self._weights.rounds - 1):
            reached = np.asarray(self._walk @ reached)
            total = total + reached
        return total

    def _walked(self, walk: csr_array, values: Floats) -> Floats:
        """Return the sum of what is met at each step, (n, C)."""
        total = np.zeros_like(values)
        for _ in range(self._weights.rounds):
            values = np.asarray(walk @ values)
            total += values
        return total
