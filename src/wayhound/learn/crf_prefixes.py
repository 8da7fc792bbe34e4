"""Forward-backward over the distinct prefixes of many chains, in probabilities: what training a CRF spends its time on.

Taught chains begin alike: every link of a page is taught with the whole path to that page. The forward variables of
a shared beginning are the same for all, and expected counts are linear in the backward ones, so a prefix is gone
through once, however many chains have it. Probabilities are scaled at each position (Rabiner 1989, section V.A), so
that one matrix product does a step of all prefixes of one length.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy.sparse import csr_array

from wayhound.learn.chain import Bools, Floats, Ints


@dataclass(frozen=True, slots=True)
class Chains:
    """Sequences laid end to end.

    `features` (rows, n_features) holds what is seen, `rows` (positions,) which row each position shows: the
    start page of a site is one row, however many trails begin there. With no `rows`, every position has its
    own. `lengths` (n_chains,) cuts the positions into chains. `edges` (positions, n_edge_features), if any,
    holds what is seen on the step *into* each position (section 2.4.1: anchor words as transition features);
    that of a chain's first position is not used.
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

    def shown(self) -> Ints:
        """The row of `features` that each position shows, (positions,)."""
        return np.arange(self.n_positions) if self.rows is None else self.rows

    def starts(self) -> Ints:
        """The first position of each chain, (n_chains,)."""
        return np.concatenate(([0], np.cumsum(self.lengths)[:-1])).astype(np.int64)

    def by_length(self) -> Iterator[tuple[Ints, Ints]]:
        """For each length: the numbers of its chains (N,), and their positions (N, L)."""
        starts = self.starts()
        for length in np.unique(self.lengths):
            chains = np.flatnonzero(self.lengths == length)
            yield chains, starts[chains][:, None] + np.arange(length)


@dataclass(frozen=True, slots=True)
class Rules:
    """Which states may follow which (S, S), begin (S,) and end (S,) a chain."""

    allowed: Bools
    starts: Bools
    ends: Bools

    @classmethod
    def free(cls, n_states: int) -> Rules:
        every = np.ones(n_states, dtype=bool)
        return cls(np.ones((n_states, n_states), dtype=bool), every, every)

    @property
    def n_states(self) -> int:
        return len(self.starts)


# No entry may fall below this before it is scaled. What exp rounds to 0 is below 1e-307, so it is then less than
# 1e-57 of whatever it would have been added to, and quotients by an entry stay far from overflow.
_TINY = 1e-250


@dataclass(frozen=True, slots=True)
class Level:
    """The prefixes of one length, those with the same parent side by side.

    `first` is the number of the first one, `parents` (n,) their prefixes one shorter. `having` are the parents
    that occur, and `bounds` where the children of each begin.
    """

    first: int
    parents: Ints
    having: Ints
    bounds: Ints

    @property
    def own(self) -> slice:
        return slice(self.first, self.first + len(self.parents))

    def to_parents(self, values: Floats) -> Floats:
        """The sum over the children of each of `having`."""
        return np.add.reduceat(values, self.bounds, axis=0)


@dataclass(frozen=True, slots=True)
class Prefixes:
    """The distinct prefixes of some chains, shorter ones first.

    `positions` (n,) is a position that shows what each ends with; `ending` (n,) the weight of the chains that are
    it, `passing` (n,) of those that begin with it. `reached` (n, S) are the states that the rules let it end in.
    """

    levels: Sequence[Level]
    positions: Ints
    ending: Floats
    passing: Floats
    reached: Bools
    ends: Bools

    @classmethod
    def of(cls, chains: Chains, weights: Floats, rules: Rules) -> Prefixes:
        levels, node_of = _levels(chains)
        n_nodes = levels[-1].own.stop
        positions = np.empty(n_nodes, dtype=np.int64)
        positions[node_of] = np.arange(len(node_of))
        last = node_of[chains.starts() + chains.lengths - 1]
        ending = np.bincount(last, weights, n_nodes).astype(np.float64)
        passing = np.bincount(node_of, np.repeat(weights, chains.lengths), n_nodes).astype(np.float64)
        return cls(levels, positions, ending, passing, _reached(levels, rules, n_nodes), rules.ends)

    def expect(self, scores: Floats, steps: Floats) -> Expected | None:
        """What the chains are expected to hold by `scores` (n, S) of each prefix's end.

        `steps` are the scores of steps, minus infinity where there is none: (S, S), or (n, S, S), one matrix for
        the step into each prefix. None if a number became too small: then logarithms have to do.
        """
        own = np.where(self.reached, scores, -np.inf)
        top = own.max(axis=1, keepdims=True)
        peak = np.maximum(
            steps.max(axis=(-2, -1), keepdims=True), np.finfo(float).min
        )  # if there is no step at all
        pass_ = _Pass(self, np.exp(own - top), np.exp(steps - peak))
        if not pass_.forward():
            return None
        entered = self.passing.copy()
        entered[self.levels[0].own] = 0.0  # no step leads into a first position
        scale = float(self.passing @ (np.log(pass_.scales) + top)[:, 0])
        return pass_.backward(scale + float((entered * peak.ravel()).sum()))


@dataclass(frozen=True, slots=True)
class Expected:
    """`log_total` is log Z of all chains, by weight; `states` (n, S) how often each prefix ends in each state.

    `steps` is how often each step is taken: (S, S) in all, or (n, S, S) into each prefix, as the scores were.
    """

    log_total: float
    states: Floats
    steps: Floats


class _Pass:
    """Once forward and once backward over the prefixes, with the exponentials of scores and steps."""

    def __init__(self, prefixes: Prefixes, own: Floats, steps: Floats) -> None:
        self.prefixes = prefixes
        self.own = own
        self.steps = steps
        self.alpha = np.empty_like(own)
        self.scales = np.empty((len(own), 1))

    def forward(self) -> bool:
        """α (Eq. 6), each scaled to a sum of 1; whether every number was large enough."""
        for depth, level in enumerate(self.prefixes.levels):
            here = self.own[level.own]
            if depth:
                here = here * self._passed_on(self.prefixes.levels[depth - 1], level)
            if (here[self.prefixes.reached[level.own]] < _TINY).any():
                return False
            self.scales[level.own] = here.sum(axis=1, keepdims=True)
            self.alpha[level.own] = here / self.scales[level.own]
        return True

    def _passed_on(self, before: Level, level: Level) -> Floats:
        alpha = self.alpha[before.own]
        if self.steps.ndim == 2:
            return np.asarray((alpha @ self.steps)[level.parents])
        return np.asarray((alpha[level.parents][:, None] @ self.steps[level.own])[:, 0])

    def backward(self, scale: float) -> Expected:
        """β of all chains through a prefix, added up by weight; it is scaled so that α · β is their weight."""
        prefixes = self.prefixes
        ended = prefixes.ending > 0
        last = (self.alpha * prefixes.ends).sum(axis=1)
        beta = np.where(ended, prefixes.ending / np.where(ended, last, 1.0), 0.0)[:, None] * prefixes.ends
        taken = np.zeros_like(self.steps)
        for before, level in zip(prefixes.levels[-2::-1], prefixes.levels[:0:-1], strict=True):
            after = self.own[level.own] * beta[level.own] / self.scales[level.own]
            self._pass_back(before, level, after, beta[before.own], taken)
        log_total = scale + float(prefixes.ending[ended] @ np.log(last[ended]))
        return Expected(log_total, self.alpha * beta, taken * self.steps)

    def _pass_back(self, before: Level, level: Level, after: Floats, beta: Floats, taken: Floats) -> None:
        """Add what comes `after` each prefix of a level to `beta` of those before, and the steps between."""
        alpha = self.alpha[before.own]
        if self.steps.ndim == 2:
            joined = level.to_parents(after)
            beta[level.having] += joined @ self.steps.T
            taken += alpha[level.having].T @ joined
        else:
            beta[level.having] += level.to_parents((self.steps[level.own] @ after[:, :, None])[:, :, 0])
            taken[level.own] = alpha[level.parents][:, :, None] * after[:, None, :]


def _levels(chains: Chains) -> tuple[list[Level], Ints]:
    """The prefixes of each length, and which one each position ends, (positions,)."""
    starts, shown = chains.starts(), _shown(chains)
    n_shown = int(shown.max()) + 1
    node_of = np.empty(chains.n_positions, dtype=np.int64)
    levels: list[Level] = []
    first, parent_of = 0, np.zeros(len(chains), dtype=np.int64)
    for depth in range(int(chains.lengths.max())):
        alive = np.flatnonzero(chains.lengths > depth)
        at = starts[alive] + depth
        different, parent_of[alive] = np.unique(parent_of[alive] * n_shown + shown[at], return_inverse=True)
        node_of[at] = first + parent_of[alive]
        having, bounds = np.unique(different // n_shown, return_index=True)
        levels.append(Level(first, different // n_shown, having, bounds))
        first += len(different)
    return levels, node_of


def _shown(chains: Chains) -> Ints:
    """A number for what each position shows, its step with it if steps show something."""
    rows = chains.shown()
    if chains.edges is None:
        return rows
    steps = _numbered_rows(chains.edges)
    steps[chains.starts()] = 0
    _, number = np.unique(rows * (int(steps.max()) + 1) + steps, return_inverse=True)
    return np.asarray(number, dtype=np.int64)


def _numbered_rows(matrix: csr_array) -> Ints:
    """Equal numbers for equal rows."""
    kinds: dict[tuple[bytes, bytes], int] = {}
    cuts = [slice(*each) for each in pairwise(matrix.indptr.tolist())]
    held = ((matrix.indices[cut].tobytes(), matrix.data[cut].tobytes()) for cut in cuts)
    return np.array([kinds.setdefault(each, len(kinds)) for each in held], dtype=np.int64)


def _reached(levels: Sequence[Level], rules: Rules, n_nodes: int) -> Bools:
    reached = np.empty((n_nodes, rules.n_states), dtype=bool)
    reached[levels[0].own] = rules.starts
    for before, level in pairwise(levels):
        reached[level.own] = (reached[before.own] @ rules.allowed)[level.parents]
    return reached
