"""A linear-chain conditional random field over paths, with rules on which state may follow which.

Our own, because foraging needs what token taggers lack: states that must alternate (pages and links), and one
forward step for all links of a page at once. Equation numbers are those of Vydiswaran & Sarawagi (2005).

Training spends its time in forward–backward, in probabilities, over the distinct prefixes of many chains. Taught chains
share beginnings: every link of a page is taught with the whole path to that page. The forward variables of a shared
prefix are equal, and expected counts are linear in the backward ones, so a prefix is processed once, however many
chains have it. Probabilities are scaled at each position (Rabiner 1989, section V.A), so that one matrix product
advances all prefixes of one length.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Self

import numpy as np
from scipy.sparse import csr_array

from wayhound.errors import NotFitted, TeachingError
from wayhound.learn.arrays import Bools, Floats, Ints
from wayhound.learn.chain import (
    Chains,
    Posteriors,
    Rules,
    TransitionScores,
    best_path,
    expected_transitions,
    forward,
    log_total,
    pair_marginals,
)

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
        peak = np.maximum(
            transitions.max(axis=(-2, -1), keepdims=True), np.finfo(float).min
        )  # if there is no transition at all
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


class Likelihood:
    """The penalised negative log-likelihood of labelled chains.

    The flat vector holds the weights of states (features, S), of the allowed transitions, and of the edge
    features on each of those.
    """

    def __init__(self, chains: Chains, labels: Ints, weights: Floats | None, rules: Rules) -> None:
        self.chains = chains
        self.labels = labels
        self.rules = rules
        self.weights = np.ones(len(chains)) if weights is None else np.asarray(weights, dtype=np.float64)
        self.row_of_position = chains.row_of_position()
        self.features_by_column = chains.features.T.tocsr()
        self.n_features = chains.features.shape[1]
        self.n_edge_features = 0 if chains.edges is None else chains.edges.shape[1]
        self.precision = np.zeros(self.size)

    def set_prior(self, prior_variance: float, transition_variance: float) -> None:
        """Put a Gaussian prior of mean 0 on every weight."""
        self.precision = np.full(self.size, 1 / prior_variance)
        first = self.n_features * self.rules.n_states
        self.precision[first : first + int(self.rules.allowed.sum())] = 1 / transition_variance

    @property
    def size(self) -> int:
        n_transitions = int(self.rules.allowed.sum())
        return self.n_features * self.rules.n_states + n_transitions * (1 + self.n_edge_features)

    def unpack(self, flat: Floats) -> tuple[Floats, Floats, Floats]:
        """Return the weights of states (features, S), transitions (S, S) and edges (edge features, S, S)."""
        n_states, n_transitions = self.rules.n_states, int(self.rules.allowed.sum())
        cut = self.n_features * n_states
        transition_weights = np.zeros((n_states, n_states))
        transition_weights[self.rules.allowed] = flat[cut : cut + n_transitions]
        edge_weights = np.zeros((self.n_edge_features, n_states, n_states))
        edge_weights[:, self.rules.allowed] = flat[cut + n_transitions :].reshape(
            self.n_edge_features, n_transitions
        )
        return flat[:cut].reshape(self.n_features, n_states), transition_weights, edge_weights

    def value_and_gradient(self, flat: Floats) -> tuple[float, Floats]:
        """Return the objective, and expected minus observed counts plus the pull of the prior."""
        log_z, expected = self.expected(flat)
        value = log_z - float(self.observed @ flat) + float(self.precision @ flat**2) / 2
        return value, expected - self.observed + self.precision * flat

    def expected(self, flat: Floats) -> tuple[float, Floats]:
        """Return the weighted sum of log Z over all chains, and the expectation of F(x, y), (size,)."""
        return self.expected_by_prefixes(flat) or self.expected_by_logs(flat)

    def expected_by_prefixes(self, flat: Floats) -> tuple[float, Floats] | None:
        """Return what `expected` does, or None where probabilities would underflow."""
        state_weights, transition_weights, edge_weights = self.unpack(flat)
        at = self._prefixes.positions
        scores = np.asarray(self.chains.features @ state_weights)[self.row_of_position[at]]
        counts = self._prefixes.expect(scores, self._transitions(at, transition_weights, edge_weights))
        if counts is None:
            return None
        transitions, edges = counts.transitions, np.zeros_like(edge_weights)
        if self.chains.edges is not None:
            transitions = counts.transitions.sum(axis=0)
            edges = self._edge_counts(at, counts.transitions.reshape(len(at), -1))
        return counts.log_total, self._pack(self._row_sums_of_prefixes @ counts.states, transitions, edges)

    def expected_by_logs(self, flat: Floats) -> tuple[float, Floats]:
        """Return what `expected` does, chain by chain in logarithms, for weights of any size."""
        state_weights, transition_weights, edge_weights = self.unpack(flat)
        scores = self._scores(state_weights)
        states = np.zeros_like(scores)
        transition_counts, edge_counts = np.zeros_like(transition_weights), np.zeros_like(edge_weights)
        log_z = 0.0
        for chains, at in self.chains.by_length():
            transitions = TransitionScores(self._transitions(at, transition_weights, edge_weights))
            posteriors = Posteriors.infer(scores[at], transitions, self._starts, self._ends)
            log_z += float(self.weights[chains] @ posteriors.log_total)
            states[at] = posteriors.states * self.weights[chains][:, None, None]
            if self.chains.edges is None:
                transition_counts += expected_transitions(posteriors.alpha, states[at], transitions)
            else:
                pairs = _pairs(posteriors.alpha, states[at], transitions)
                transition_counts += pairs.sum(axis=(0, 1))
                edge_counts += self._edge_counts(at[:, 1:].ravel(), pairs.reshape(-1, transition_counts.size))
        by_row = self._row_sums(self.row_of_position) @ states
        return log_z, self._pack(by_row, transition_counts, edge_counts)

    @cached_property
    def observed(self) -> Floats:
        """The weighted F(x, y) of the taught labels, (size,)."""
        by_position = np.repeat(self.weights, self.chains.lengths)
        states = np.zeros((len(self.labels), self.rules.n_states))
        states[np.arange(len(states)), self.labels] = by_position
        into = np.delete(np.arange(len(states)), self.chains.starts())
        taken = self.labels[into - 1] * self.rules.n_states + self.labels[into]
        pairs = csr_array(
            (by_position[into], (np.arange(len(into)), taken)), shape=(len(into), self.rules.n_states**2)
        )
        transitions: Floats = np.asarray(pairs.sum(axis=0)).reshape(self.rules.allowed.shape)
        by_row = self._row_sums(self.row_of_position) @ states
        return self._pack(by_row, transitions, self._edge_counts(into, pairs))

    def log_likelihoods(
        self, state_weights: Floats, transition_weights: Floats, edge_weights: Floats
    ) -> Floats:
        """Return log P(y | x) of each chain, (n_chains,)."""
        scores = self._scores(state_weights)
        logs = np.empty(len(self.chains))
        for chains, at in self.chains.by_length():
            transitions = TransitionScores(self._transitions(at, transition_weights, edge_weights))
            total = log_total(forward(scores[at], transitions, self._starts), self._ends)
            logs[chains] = self._score_of_labels(scores, at, transitions) - total
        return logs

    @cached_property
    def _prefixes(self) -> Prefixes:
        return Prefixes.from_chains(self.chains, self.weights, self.rules)

    @cached_property
    def _row_sums_of_prefixes(self) -> csr_array:
        return self._row_sums(self.row_of_position[self._prefixes.positions])

    def _row_sums(self, rows: Ints) -> csr_array:
        """Return the matrix that adds up everything that shows the same row of features."""
        ones = np.ones(len(rows)), (rows, np.arange(len(rows)))
        return csr_array(ones, shape=(self.chains.features.shape[0], len(rows)))

    @cached_property
    def _starts(self) -> Floats:
        return log_mask(self.rules.starts)

    @cached_property
    def _ends(self) -> Floats:
        return log_mask(self.rules.ends)

    def _scores(self, state_weights: Floats) -> Floats:
        return np.asarray(self.chains.features @ state_weights, dtype=np.float64)[self.row_of_position]

    def _transitions(self, at: Ints, transition_weights: Floats, edge_weights: Floats) -> Floats:
        """Return one matrix of scores for all transitions, or one for the transition into each of `at`."""
        plain = np.where(self.rules.allowed, transition_weights, -np.inf)
        if self.chains.edges is None:
            return plain
        n_states = self.rules.n_states
        extra = self.chains.edges[at.ravel()] @ edge_weights.reshape(-1, n_states * n_states)
        return np.asarray(plain + np.asarray(extra).reshape(*at.shape, n_states, n_states))

    def _edge_counts(self, into: Ints, pairs: Floats | csr_array) -> Floats:
        """Return counts (edge features, S, S), from the transitions `pairs` (n, S · S) into those positions."""
        n_states = self.rules.n_states
        if self.chains.edges is None:
            return np.zeros((0, n_states, n_states))
        counts = self.chains.edges[into].T.tocsr() @ pairs
        dense = counts.toarray() if isinstance(counts, csr_array) else counts
        return np.asarray(dense).reshape(-1, n_states, n_states)

    def _pack(self, state_by_row: Floats, transition: Floats, edge: Floats) -> Floats:
        allowed, state = self.rules.allowed, np.asarray(self.features_by_column @ state_by_row)
        return np.concatenate((state.ravel(), transition[allowed], edge[:, allowed].ravel()))

    def _score_of_labels(self, scores: Floats, at: Ints, transitions: TransitionScores) -> Floats:
        """Return W · F(x, y) of the taught labelling, (N,)."""
        labels, chain = self.labels[at], np.arange(len(at))
        total = scores[at[:, 0], labels[:, 0]]
        for position in range(1, at.shape[1]):
            step, here, before = transitions.into(position), labels[:, position], labels[:, position - 1]
            taken = step[before, here] if step.ndim == 2 else step[chain, before, here]
            total = total + scores[at[:, position], here] + taken
        return np.asarray(total, dtype=np.float64)


def log_mask(mask: Bools) -> Floats:
    """Return 0 where the mask is true, and minus infinity elsewhere."""
    return np.where(mask, 0.0, -np.inf)


def _pairs(alpha: Floats, marginals: Floats, transitions: TransitionScores) -> Floats:
    """Return the probability of every transition, (N, L - 1, S, S)."""
    n_chains, length, n_states = alpha.shape
    pairs = np.empty((n_chains, length - 1, n_states, n_states))
    for position in range(1, length):
        pairs[:, position - 1] = pair_marginals(alpha, marginals, transitions, position)
    return pairs


class ChainCRF:
    """P(y | x) ∝ exp(W · F(x, y)) (Eq. 1), trained by L-BFGS under a Gaussian prior on the weights.

    `transition_variance` is the prior of plain transitions, None for the same as features: every trail informs
    them, but the paths of a few taught sites need not be those of others, so they deserve a tighter prior.

    After `fit`: `state_weights_` (features, S), `transition_weights_` (S, S; 0 where a transition is not
    allowed), `edge_weights_` (edge features, S, S) and `objective_`, the penalised negative log-likelihood.
    """

    def __init__(
        self,
        rules: Rules,
        prior_variance: float = 10.0,
        transition_variance: float | None = None,
        max_iterations: int = 200,
        tolerance: float = 1e-4,
    ) -> None:
        self.rules = rules
        self.prior_variance = prior_variance
        self.transition_variance = transition_variance
        self.max_iterations = max_iterations
        self.tolerance = tolerance

    def fit(self, chains: Chains, labels: Ints, weights: Floats | None = None) -> Self:
        """Learn from the state of every position (positions,); `weights` (n_chains,) is how much a chain counts.

        Raises TeachingError if there are no chains, or one holds a transition that the rules forbid.
        """
        _check_labels(chains, labels, self.rules)
        problem = Likelihood(chains, labels, weights, self.rules)
        problem.set_prior(self.prior_variance, self.transition_variance or self.prior_variance)
        from scipy.optimize import minimize  # noqa: PLC0415 - only training needs it, and it loads slowly

        optimum = minimize(
            problem.value_and_gradient,
            np.zeros(problem.size),
            jac=True,
            method="L-BFGS-B",
            options={"maxiter": self.max_iterations, "gtol": self.tolerance, "ftol": 1e-9, "maxcor": 8},
        )
        self.state_weights_, self.transition_weights_, self.edge_weights_ = problem.unpack(optimum.x)
        self.objective_ = float(optimum.fun)
        return self

    def scores(self, features: csr_array) -> Floats:
        """Return W · f of the state features alone, (rows, S)."""
        return np.asarray(features @ self._fitted().state_weights_, dtype=np.float64)

    def transitions(self, edges: csr_array | None = None) -> Floats:
        """Return transition scores, minus infinity where the rules forbid one: (S, S), or with `edges` (n, S, S)."""
        plain = np.where(self.rules.allowed, self._fitted().transition_weights_, -np.inf)
        if edges is None:
            return plain
        n_states = self.rules.n_states
        extra = edges @ self.edge_weights_.reshape(-1, n_states * n_states)
        return np.asarray(plain + extra.reshape(-1, n_states, n_states), dtype=np.float64)

    def decode(self, chains: Chains) -> Ints:
        """Return the best labelling (Eq. 2), (positions,)."""
        scores = self.scores(chains.features)[chains.row_of_position()]
        states = np.empty(chains.n_positions, dtype=np.int64)
        for _, at in chains.by_length():
            states[at] = best_path(scores[at], self._transitions(chains, at), self.log_starts, self.log_ends)
        return states

    def marginals(self, chains: Chains) -> Floats:
        """Return the probability of each state at each position given the whole chain, (positions, S)."""
        scores = self.scores(chains.features)[chains.row_of_position()]
        marginals = np.empty((chains.n_positions, self.rules.n_states))
        for _, at in chains.by_length():
            transitions = self._transitions(chains, at)
            marginals[at] = Posteriors.infer(scores[at], transitions, self.log_starts, self.log_ends).states
        return marginals

    def log_likelihoods(self, chains: Chains, labels: Ints) -> Floats:
        """Return log P(y | x) of each chain, (n_chains,)."""
        fitted = self._fitted()
        problem = Likelihood(chains, labels, None, self.rules)
        return problem.log_likelihoods(
            fitted.state_weights_, fitted.transition_weights_, fitted.edge_weights_
        )

    @property
    def log_starts(self) -> Floats:
        return log_mask(self.rules.starts)

    @property
    def log_ends(self) -> Floats:
        return log_mask(self.rules.ends)

    def _transitions(self, chains: Chains, at: Ints) -> TransitionScores:
        if chains.edges is None:
            return TransitionScores(self.transitions())
        n_states = self.rules.n_states
        scores = self.transitions(chains.edges[at.ravel()])
        return TransitionScores(scores.reshape(*at.shape, n_states, n_states))

    def _fitted(self) -> Self:
        if not hasattr(self, "state_weights_"):
            raise NotFitted("This path model has not been fitted: call fit first.")
        return self


def _check_labels(chains: Chains, labels: Ints, rules: Rules) -> None:
    if len(chains) == 0:
        raise TeachingError("There are no trails to learn from.")
    if len(labels) != chains.n_positions:
        raise ValueError("one label is needed for every position")
    for _, at in chains.by_length():
        states = labels[at]
        begins, ends = rules.starts[states[:, 0]], rules.ends[states[:, -1]]
        if not (begins.all() and ends.all() and rules.allowed[states[:, :-1], states[:, 1:]].all()):
            raise TeachingError("A trail holds a transition that the model's rules do not allow.")
