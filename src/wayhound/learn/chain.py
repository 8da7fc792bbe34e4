"""Linear chains: how labelled sequences are stored, and inference over them in log space.

Separate from the models, so that inference can be tested by enumerating every path of a tiny chain. Scores are
unnormalised logarithms; minus infinity marks what is forbidden. Shapes: N chains, L positions, S states.
Equation numbers are those of Vydiswaran & Sarawagi (2005).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from wayhound.learn.arrays import Bools, Floats, Ints, log_sum_exp

_TINY = 1e-200  # far above where floats lose digits, so that quotients by it are still exact


@dataclass(frozen=True, slots=True)
class Chains:
    """Sequences laid end to end.

    `features` (rows, n_features) holds the observations, `rows` (positions,) the row that each position shows:
    the start page of a site is one row, however many trails begin there. Without `rows`, every position has
    its own. `lengths` (n_chains,) cuts the positions into chains. `edges` (positions, n_edge_features), if any,
    holds what is observed on the transition *into* each position (section 2.4.1: anchor words as transition
    features); that of a chain's first position is not used.
    """

    features: csr_array
    lengths: Ints
    rows: Ints | None = None
    edges: csr_array | None = None

    def __len__(self) -> int:
        return len(self.lengths)

    @property
    def n_positions(self) -> int:
        return int(self.lengths.sum())

    def row_of_position(self) -> Ints:
        """Return the row of `features` that each position shows, (positions,)."""
        return np.arange(self.n_positions) if self.rows is None else self.rows

    def starts(self) -> Ints:
        """Return the first position of each chain, (n_chains,)."""
        return np.concatenate(([0], np.cumsum(self.lengths)[:-1])).astype(np.int64)

    def by_length(self) -> Iterator[tuple[Ints, Ints]]:
        """Yield, for each length, the numbers of its chains (N,) and their positions (N, L)."""
        starts = self.starts()
        for length in np.unique(self.lengths):
            chains = np.flatnonzero(self.lengths == length)
            yield chains, starts[chains][:, None] + np.arange(length)


@dataclass(frozen=True, slots=True)
class Rules:
    """The allowed transitions (S, S), and the states that may begin (S,) and end (S,) a chain."""

    allowed: Bools
    starts: Bools
    ends: Bools

    @classmethod
    def free(cls, n_states: int) -> Rules:
        """Return rules that allow everything."""
        every = np.ones(n_states, dtype=bool)
        return cls(np.ones((n_states, n_states), dtype=bool), every, every)

    @property
    def n_states(self) -> int:
        return len(self.starts)


@dataclass(frozen=True, slots=True)
class TransitionScores:
    """Scores of going from state to state: one (S, S) matrix for all positions, or one each, (N, L, S, S).

    Rows are the states that a transition leaves, columns those that it enters; a position's matrix belongs to
    the transition into it.
    """

    log: Floats

    def into(self, position: int) -> Floats:
        return self.log if self.log.ndim == 2 else self.log[:, position]

    def forward(self, position: int, before: Floats) -> Floats:
        """Return log Σ_y' exp(before(y') + transition(y', y)): Eq. 6 without the new position's own score."""
        step = self.into(position)
        return log_product(before, step) if step.ndim == 2 else log_sum_exp(before[:, :, None] + step, axis=1)

    def backward(self, position: int, after: Floats) -> Floats:
        """Return log Σ_y exp(transition(y', y) + after(y)) for the transition into `position`."""
        step = self.into(position)
        return log_product(after, step.T) if step.ndim == 2 else log_sum_exp(after[:, None, :] + step, axis=2)


def log_product(rows: Floats, matrix: Floats) -> Floats:
    """Return log(exp(rows) @ exp(matrix)), (N, S).

    One matrix product does nearly all of it; entries that would underflow are computed as sums of logarithms.
    """
    top = _finite_max(rows)
    peak = max(float(matrix.max()), np.finfo(float).min)
    plain = np.exp(rows - top) @ np.exp(matrix - peak)
    with np.errstate(divide="ignore"):
        product: Floats = np.log(plain) + (top + peak)
    small = plain < _TINY  # not 0 alone: floats lose their digits before they vanish
    lost = small & (np.isfinite(rows).astype(float) @ np.isfinite(matrix) > 0) if small.any() else small
    if lost.any():
        again = lost.any(axis=1)
        product[again] = log_sum_exp(rows[again][:, :, None] + matrix, axis=1)
    return product


def forward(scores: Floats, transitions: TransitionScores, starts: Floats) -> Floats:
    """Return log α (Eq. 6), (N, L, S): the weight of all labellings of a prefix that end in each state."""
    alpha = np.empty_like(scores)
    alpha[:, 0] = scores[:, 0] + starts
    for position in range(1, scores.shape[1]):
        alpha[:, position] = transitions.forward(position, alpha[:, position - 1]) + scores[:, position]
    return alpha


def backward(scores: Floats, transitions: TransitionScores, ends: Floats) -> Floats:
    """Return log β, (N, L, S): the weight of all labellings of the rest after each state."""
    beta = np.empty_like(scores)
    beta[:, -1] = ends
    for position in range(scores.shape[1] - 1, 0, -1):
        beta[:, position - 1] = transitions.backward(position, beta[:, position] + scores[:, position])
    return beta


def log_total(alpha: Floats, ends: Floats) -> Floats:
    """Return log Z (Eq. 1), (N,)."""
    return log_sum_exp(alpha[:, -1] + ends)


@dataclass(frozen=True, slots=True)
class Posteriors:
    """Forward–backward over N chains of one length.

    `states` (N, L, S) is the probability of each state given the whole chain, `alpha` (N, L, S) is log α and
    `log_total` (N,) is log Z. A chain that the model cannot produce has log Z of minus infinity and leaves all
    states equally likely.
    """

    states: Floats
    alpha: Floats
    log_total: Floats

    @classmethod
    def infer(cls, scores: Floats, transitions: TransitionScores, starts: Floats, ends: Floats) -> Posteriors:
        alpha = forward(scores, transitions, starts)
        total = log_total(alpha, ends)
        beta = backward(scores, transitions, ends)
        possible = np.isfinite(total)
        if possible.all():
            return cls(np.exp(alpha + beta - total[:, None, None]), alpha, total)
        states = np.full(scores.shape, 1.0 / scores.shape[2])
        states[possible] = np.exp(alpha[possible] + beta[possible] - total[possible, None, None])
        return cls(states, alpha, total)


def best_path(scores: Floats, transitions: TransitionScores, starts: Floats, ends: Floats) -> Ints:
    """Return the best labelling of each chain (Eq. 2), (N, L), by Viterbi's algorithm; ties go to the lower state."""
    n_chains, length, n_states = scores.shape
    came_from = np.zeros((n_chains, length, n_states), dtype=np.int64)
    delta = scores[:, 0] + starts
    for position in range(1, length):
        ways = delta[:, :, None] + transitions.into(position)
        came_from[:, position] = ways.argmax(axis=1)
        delta = ways.max(axis=1) + scores[:, position]
    path = np.empty((n_chains, length), dtype=np.int64)
    path[:, -1] = (delta + ends).argmax(axis=1)
    rows = np.arange(n_chains)
    for position in range(length - 1, 0, -1):
        path[:, position - 1] = came_from[rows, position, path[:, position]]
    return path


def forward_step(alpha: Floats, transitions: Floats) -> Floats:
    """Advance one belief: log Σ_y' exp(alpha(y') + transition(y', y)) for `alpha` (S,).

    `transitions` is (S, T) for one result (1, T), or (n, S, T) for n of them, (n, T).
    """
    if transitions.ndim == 2:
        return log_product(alpha[None, :], transitions)
    return log_sum_exp(alpha[:, None] + transitions, axis=1)


def best_step(delta: Floats, transitions: Floats) -> Floats:
    """Advance the best labelling (Eq. 2) as `forward_step` does the sum over all of them."""
    best: Floats = (delta[:, None] + transitions).max(axis=-2)
    return best[None, :] if best.ndim == 1 else best


def shift_to_zero(rows: Floats) -> Floats:
    """Return rows with their largest entry at 0, so that nothing grows along a path: only ratios matter (Eq. 7)."""
    return np.asarray(rows - rows.max(axis=1, keepdims=True))


def pair_marginals(alpha: Floats, marginals: Floats, transitions: TransitionScores, position: int) -> Floats:
    """Return the probability of each transition into `position`, (N, S, S).

    Computed as P(y) · P(y' | y, prefix), so that nothing is exponentiated that could overflow.
    """
    joint = alpha[:, position - 1][:, :, None] + transitions.into(position)
    top = joint.max(axis=1, keepdims=True)
    weight = np.exp(joint - np.where(np.isfinite(top), top, 0.0))
    total = weight.sum(axis=1, keepdims=True)
    share = np.divide(weight, total, out=np.zeros_like(weight), where=total > 0)
    return np.asarray(share * marginals[:, position][:, None, :], dtype=np.float64)


def expected_transitions(alpha: Floats, marginals: Floats, transitions: TransitionScores) -> Floats:
    """Return the expected count of each transition over all chains, (S, S), for one matrix of transitions.

    Equal to the sum of `pair_marginals`, by matrix products; chains that underflow go through `pair_marginals`.
    """
    peak = float(transitions.log.max())
    exponentials = np.exp(transitions.log - peak)
    counts, added = np.zeros_like(exponentials), np.zeros_like(exponentials)
    for position in range(1, alpha.shape[1]):
        before, here = alpha[:, position - 1], marginals[:, position]
        weight = np.exp(before - _finite_max(before))
        reach = weight @ exponentials
        lost = np.unique(np.nonzero((reach < _TINY) & (here > 0))[0])
        if len(lost):
            added += pair_marginals(alpha[lost], marginals[lost], transitions, position).sum(axis=0)
            here = here.copy()
            here[lost] = 0.0
        counts += weight.T @ np.divide(here, reach, out=np.zeros_like(reach), where=reach >= _TINY)
    return counts * exponentials + added


def _finite_max(rows: Floats) -> Floats:
    top = rows.max(axis=1, keepdims=True)
    return np.where(np.isfinite(top), top, 0.0)
