"""A linear-chain conditional random field over paths, with rules on which state may follow which.

Our own, because foraging needs what token taggers lack: states that must alternate (pages and links), and one
forward step for all links of a page at once. Equation numbers are those of Vydiswaran & Sarawagi (2005).

Training spends its time in forward–backward over the prefixes that taught chains share (`prefixes.py`).
"""

from __future__ import annotations

from functools import cached_property
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
from wayhound.learn.prefixes import Prefixes


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
