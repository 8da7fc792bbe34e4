"""A hidden Markov model of hops: the state of a page is how many clicks a target is away, its word is a cluster.

Equation numbers are those of Liu, Milios & Janssen (2004). In Eq. 3, δ(s', t) is meant, since the maximum is over
the state before.
"""

from __future__ import annotations

from typing import Literal, Self

import numpy as np

from wayhound.errors import NotFitted
from wayhound.learn.arrays import Bools, Floats, Ints

Normalised = Literal["column", "row"]


def possible_steps(n_states: int) -> Bools:
    """Return which steps T_i → T_j can be, (n, n): (n² + 3n − 2) / 2 of them.

    From T_3 a click cannot lead to T_1: then the page would be a T_2.
    """
    states = np.arange(n_states)
    return np.asarray(states[None, :] >= states[:, None] - 1)


def visit_order(n_states: int) -> Ints:
    """Return the Url_order matrix (n, n): the rank of each possible step T_i → T_j, 0 first; −1 if impossible.

    Steps into a lower state go first; among these, steps from a lower one.
    """
    order = np.full((n_states, n_states), -1, dtype=np.int64)
    steps = sorted((into, source) for source, into in zip(*np.nonzero(possible_steps(n_states)), strict=True))
    for rank, (into, source) in enumerate(steps):
        order[source, into] = rank
    return order


class HopHMM:
    """Counts of links between states and of clusters in states, as probabilities.

    By Eq. 1, a_ij is the share of the links into T_j that come from T_i (`normalised="column"`); with "row" it is
    the share of the links from T_i that lead to T_j, which is a transition probability in the usual sense.

    After `fit`: `starts_` (S,), `transitions_` (S, S; 0 for impossible steps), `emissions_` (S, K).
    """

    def __init__(
        self,
        n_states: int = 5,
        n_kinds: int = 5,
        *,
        smoothing: float = 1.0,
        normalised: Normalised = "column",
    ) -> None:
        self.n_states = n_states
        self.n_kinds = n_kinds
        self.smoothing = smoothing
        self.normalised = normalised

    def fit(self, states: Ints, kinds: Ints, links: Ints) -> Self:
        """Learn from the state (n,) and cluster (n,) of each page, and links (m, 2) as pairs of page numbers.

        `smoothing` is added to every count of a possible step and of a cluster: few pages are no proof that
        something never happens.
        """
        possible = possible_steps(self.n_states)
        steps = np.zeros((self.n_states, self.n_states))
        np.add.at(steps, (states[links[:, 0]], states[links[:, 1]]), 1.0)
        steps = np.where(possible, steps + self.smoothing, 0.0)
        axis = 0 if self.normalised == "column" else 1
        self.transitions_ = _shares(steps, axis)  # Eq. 1
        emissions = np.full((self.n_states, self.n_kinds), float(self.smoothing))
        np.add.at(emissions, (states, kinds), 1.0)
        self.emissions_ = _shares(emissions, 1)  # Eq. 2, each row of B sums to one (Fig. 3)
        self.starts_ = np.full(self.n_states, 1.0 / self.n_states)
        return self

    def begin(self) -> Floats:
        """Return log π, (S,)."""
        return np.asarray(np.log(self._fitted().starts_))

    def observe(self, beliefs: Floats, kinds: Floats) -> Floats:
        """Return beliefs (n, S) or (S,) after the clusters: log Σ_c P(c) b_ic is added (Eq. 4 and 5).

        `kinds` (n, K) or (K,) is the probability of each cluster, with one 1 where the cluster is known.
        """
        with np.errstate(divide="ignore"):
            return np.asarray(beliefs + np.log(kinds @ self._fitted().emissions_.T))

    def best_step(self, delta: Floats) -> tuple[Floats, Ints]:
        """Return max_j δ(j) a_ji as logarithms (S,), and ψ, the state j that attains it (S,) (Eq. 5 and 6)."""
        ways = delta[:, None] + self._log_transitions()
        return np.asarray(ways.max(axis=0)), np.asarray(ways.argmax(axis=0))

    def sum_step(self, alpha: Floats) -> Floats:
        """Return Σ_j α(j) a_ji as logarithms, (S,)."""
        top = alpha.max()
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(np.exp(alpha - top) @ self._fitted().transitions_) + top)

    def _log_transitions(self) -> Floats:
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self._fitted().transitions_))

    def _fitted(self) -> Self:
        if not hasattr(self, "transitions_"):
            raise NotFitted("The hop model has not been fitted: call fit first.")
        return self


def _shares(counts: Floats, axis: int) -> Floats:
    """Return counts as shares along an axis; where there is nothing to count, all are equal."""
    totals = counts.sum(axis=axis, keepdims=True)
    equal = 1.0 / counts.shape[axis]
    return np.where(totals > 0, counts / np.where(totals > 0, totals, 1.0), equal)
