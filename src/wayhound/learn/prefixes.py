"""Forward–backward over the distinct prefixes of many chains at once, in scaled probabilities.

Taught chains share beginnings: every link of a page is taught with the whole path to that page. The forward variables
of a shared prefix are equal, and expected counts are linear in the backward ones, so a prefix is processed once,
however many chains have it. Probabilities are scaled at each position (Rabiner 1989, section V.A), so that one matrix
product advances all prefixes of one length.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy.sparse import csr_array

from wayhound.learn.arrays import Bools, Floats, Ints
from wayhound.learn.chain import Chains, Rules

# No entry may fall below this before it is scaled. What exp rounds to 0 is below 1e-307, so it is then less than
# 1e-57 of whatever it would have been added to, and quotients by an entry stay far from overflow.
_TINY = 1e-250


@dataclass(frozen=True, slots=True)
class Level:
    """The prefixes of one length, those with the same parent side by side.

    `first` is the number of the first one, `parents` (n,) the prefixes one shorter. `inner` are the parents
    that occur, and `bounds` where the children of each begin.
    """

    first: int
    parents: Ints
    inner: Ints
    bounds: Ints

    @property
    def own(self) -> slice:
        return slice(self.first, self.first + len(self.parents))

    def sum_by_parent(self, values: Floats) -> Floats:
        """Return the sum over the children of each of `inner`."""
        return np.add.reduceat(values, self.bounds, axis=0)


@dataclass(frozen=True, slots=True)
class Prefixes:
    """The distinct prefixes of some chains, shorter ones first.

    `positions` (n,) is a position that shows what each prefix ends with; `ending` (n,) the weight of the chains
    that equal it, `passing` (n,) of those that begin with it. `reached` (n, S) marks the states that the rules
    let it end in.
    """

    levels: Sequence[Level]
    positions: Ints
    ending: Floats
    passing: Floats
    reached: Bools
    ends: Bools

    @classmethod
    def from_chains(cls, chains: Chains, weights: Floats, rules: Rules) -> Prefixes:
        levels, prefix_of = _levels(chains)
        n_prefixes = levels[-1].own.stop
        positions = np.empty(n_prefixes, dtype=np.int64)
        positions[prefix_of] = np.arange(len(prefix_of))
        last = prefix_of[chains.starts() + chains.lengths - 1]
        ending = np.bincount(last, weights, n_prefixes).astype(np.float64)
        passing = np.bincount(prefix_of, np.repeat(weights, chains.lengths), n_prefixes).astype(np.float64)
        return cls(levels, positions, ending, passing, _reached(levels, rules, n_prefixes), rules.ends)

    def expect(self, scores: Floats, transitions: Floats) -> ExpectedCounts | None:
        """Return the expected counts of all chains, or None if a number became too small to go on.

        `scores` (n, S) are those of each prefix's last position; `transitions` are minus infinity where there
        is none: (S, S), or (n, S, S), one matrix for the transition into each prefix.
        """
        own = np.where(self.reached, scores, -np.inf)
        top = own.max(axis=1, keepdims=True)
        # finite even if there is no transition at all
        peak = np.maximum(transitions.max(axis=(-2, -1), keepdims=True), np.finfo(float).min)
        pass_ = _Pass(self, np.exp(own - top), np.exp(transitions - peak))
        if not pass_.forward():
            return None
        entered = self.passing.copy()
        entered[self.levels[0].own] = 0.0  # no transition leads into a first position
        scale = float(self.passing @ (np.log(pass_.scales) + top)[:, 0])
        return pass_.backward(scale + float((entered * peak.ravel()).sum()))


@dataclass(frozen=True, slots=True)
class ExpectedCounts:
    """`log_total` is the weighted sum of log Z; `states` (n, S) how often each prefix ends in each state.

    `transitions` counts each transition: (S, S) in all, or (n, S, S) into each prefix, as the scores were.
    """

    log_total: float
    states: Floats
    transitions: Floats


class _Pass:
    """One forward and one backward pass over the prefixes, on the exponentials of the scores."""

    def __init__(self, prefixes: Prefixes, own: Floats, transitions: Floats) -> None:
        self.prefixes = prefixes
        self.own = own
        self.transitions = transitions
        self.alpha = np.empty_like(own)
        self.scales = np.empty((len(own), 1))

    def forward(self) -> bool:
        """Compute α (Eq. 6), each scaled to a sum of 1; return False if a number became too small."""
        for depth, level in enumerate(self.prefixes.levels):
            here = self.own[level.own]
            if depth:
                here = here * self._from_parents(self.prefixes.levels[depth - 1], level)
            if (here[self.prefixes.reached[level.own]] < _TINY).any():
                return False
            self.scales[level.own] = here.sum(axis=1, keepdims=True)
            self.alpha[level.own] = here / self.scales[level.own]
        return True

    def _from_parents(self, before: Level, level: Level) -> Floats:
        alpha = self.alpha[before.own]
        if self.transitions.ndim == 2:
            return np.asarray((alpha @ self.transitions)[level.parents])
        return np.asarray((alpha[level.parents][:, None] @ self.transitions[level.own])[:, 0])

    def backward(self, scale: float) -> ExpectedCounts:
        """Sum β over all chains through a prefix, scaled so that α · β is the weight of those chains."""
        prefixes = self.prefixes
        ended = prefixes.ending > 0
        last = (self.alpha * prefixes.ends).sum(axis=1)
        beta = np.where(ended, prefixes.ending / np.where(ended, last, 1.0), 0.0)[:, None] * prefixes.ends
        taken = np.zeros_like(self.transitions)
        for before, level in zip(prefixes.levels[-2::-1], prefixes.levels[:0:-1], strict=True):
            after = self.own[level.own] * beta[level.own] / self.scales[level.own]
            self._add_to_parents(before, level, after, beta[before.own], taken)
        log_total = scale + float(prefixes.ending[ended] @ np.log(last[ended]))
        return ExpectedCounts(log_total, self.alpha * beta, taken * self.transitions)

    def _add_to_parents(
        self, before: Level, level: Level, after: Floats, beta: Floats, taken: Floats
    ) -> None:
        """Add what comes `after` each prefix of a level to its parent's `beta`, and the transitions to `taken`."""
        alpha = self.alpha[before.own]
        if self.transitions.ndim == 2:
            joined = level.sum_by_parent(after)
            beta[level.inner] += joined @ self.transitions.T
            taken += alpha[level.inner].T @ joined
        else:
            passed = (self.transitions[level.own] @ after[:, :, None])[:, :, 0]
            beta[level.inner] += level.sum_by_parent(passed)
            taken[level.own] = alpha[level.parents][:, :, None] * after[:, None, :]


def _levels(chains: Chains) -> tuple[list[Level], Ints]:
    """Return the prefixes of each length, and the number of the prefix that each position ends, (positions,)."""
    starts, observations = chains.starts(), _observations(chains)
    n_observations = int(observations.max()) + 1
    prefix_of = np.empty(chains.n_positions, dtype=np.int64)
    levels: list[Level] = []
    first, parent_of = 0, np.zeros(len(chains), dtype=np.int64)
    for depth in range(int(chains.lengths.max())):
        alive = np.flatnonzero(chains.lengths > depth)
        at = starts[alive] + depth
        distinct, parent_of[alive] = np.unique(
            parent_of[alive] * n_observations + observations[at], return_inverse=True
        )
        prefix_of[at] = first + parent_of[alive]
        inner, bounds = np.unique(distinct // n_observations, return_index=True)
        levels.append(Level(first, distinct // n_observations, inner, bounds))
        first += len(distinct)
    return levels, prefix_of


def _observations(chains: Chains) -> Ints:
    """Return equal numbers for positions that show the same row, and the same edge if there are edges."""
    rows = chains.row_of_position()
    if chains.edges is None:
        return rows
    edges = _row_numbers(chains.edges)
    edges[chains.starts()] = 0
    _, number = np.unique(rows * (int(edges.max()) + 1) + edges, return_inverse=True)
    return np.asarray(number, dtype=np.int64)


def _row_numbers(matrix: csr_array) -> Ints:
    """Return equal numbers for equal rows."""
    numbers: dict[tuple[bytes, bytes], int] = {}
    cuts = [slice(*bounds) for bounds in pairwise(matrix.indptr.tolist())]
    rows = ((matrix.indices[cut].tobytes(), matrix.data[cut].tobytes()) for cut in cuts)
    return np.array([numbers.setdefault(row, len(numbers)) for row in rows], dtype=np.int64)


def _reached(levels: Sequence[Level], rules: Rules, n_prefixes: int) -> Bools:
    reached = np.empty((n_prefixes, rules.n_states), dtype=bool)
    reached[levels[0].own] = rules.starts
    for before, level in pairwise(levels):
        reached[level.own] = (reached[before.own] @ rules.allowed)[level.parents]
    return reached
