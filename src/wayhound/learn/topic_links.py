"""Lets linked documents share their words: what a paper cites says what it is about."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.sparse import csr_array, diags_array

from wayhound.learn.naive_bayes import Floats, Ints


class Spread(Protocol):
    """A linear map S that makes the words of one document those of several: its row says whose, and how much.

    Counts S · N are never formed. Scores are linear in counts, so `gather` can apply S to the scores of the
    E-step instead, and `scatter` its transpose to the memberships of the M-step.
    """

    def gather(self, scores: Floats) -> Floats: ...

    def scatter(self, memberships: Floats) -> Floats: ...


class NoSpread:
    """Every document has its own words and no others."""

    def gather(self, scores: Floats) -> Floats:
        return scores

    def scatter(self, memberships: Floats) -> Floats:
        return memberships


@dataclass(frozen=True, slots=True)
class LinkWeights:
    """How much a document's own words count, and those met on random walks of up to `rounds` steps.

    A document with links counts its own words by `own`, and what it meets at every step by `step`, less where
    the links are few: with k of them by k / (k + `doubt`) of it. One without links keeps its own words whole.
    """

    own: float = 0.5
    step: float = 0.35
    rounds: int = 5
    doubt: float = 2.0

    def of(self, degrees: Ints) -> tuple[Floats, Floats]:
        """The weights of own words and of each step, for documents with so many links."""
        linked = degrees > 0
        trust = np.where(linked, degrees / np.maximum(degrees + self.doubt, 1.0), 0.0)
        return np.where(linked, self.own, 1.0), self.step * trust

    def join(self, own: Floats, met: Floats) -> Floats:
        """The scores of a newcomer (C,), from its own words and from what `LinkSpread.met` says of the
        documents that it links to, (k, C)."""
        own_weight, step_weight = self.of(np.array(len(met)))
        return np.asarray(own_weight * own + step_weight * met.mean(axis=0) if len(met) else own)


class LinkSpread:
    """Shares words along links; `links` (n, n) holds the weight of the link from each document to each."""

    def __init__(self, links: csr_array, weights: LinkWeights | None = None) -> None:
        self._weights = weights or LinkWeights()
        total = np.asarray(links.sum(axis=1)).ravel()
        self._walk = csr_array(diags_array(1.0 / np.where(total > 0, total, 1.0)) @ links)
        self._back = csr_array(self._walk.T)
        degrees = np.diff(self._walk.indptr)
        self.linked = degrees > 0
        own, step = self._weights.of(degrees)
        self._own, self._step = own[:, None], step[:, None]

    def gather(self, scores: Floats) -> Floats:
        return self._own * scores + self._step * self._walked(self._walk, scores)

    def scatter(self, memberships: Floats) -> Floats:
        return self._own * memberships + self._walked(self._back, self._step * memberships)

    def met(self, scores: Floats) -> Floats:
        """What a newcomer with a link to a document would meet over it, for every document, (n, C)."""
        total = reached = scores
        for _ in range(self._weights.rounds - 1):
            reached = np.asarray(self._walk @ reached)
            total = total + reached
        return total

    def _walked(self, walk: csr_array, values: Floats) -> Floats:
        """The sum of what is met at each step, (n, C)."""
        total = np.zeros_like(values)
        for _ in range(self._weights.rounds):
            values = np.asarray(walk @ values)
            total += values
        return total
