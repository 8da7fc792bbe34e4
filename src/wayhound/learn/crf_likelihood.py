"""What training a chain CRF makes as small as it can: a function of one flat vector of weights, with its gradient.

Probabilities over the distinct prefixes of the chains do nearly always; where they would vanish, logarithms chain by
chain give the same numbers in more time.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
from scipy.sparse import csr_array

from wayhound.learn.chain import (
    Bools,
    Floats,
    Ints,
    Steps,
    backward,
    expected_steps,
    forward,
    log_total,
    pair_marginals,
)
from wayhound.learn.crf_prefixes import Chains, Prefixes, Rules


class Likelihood:
    """The penalised negative log-likelihood of labelled chains under the weights of a field.

    A flat vector holds the weights of states (features, S), of the steps that are allowed, and of what is seen on
    each of those.
    """

    def __init__(self, chains: Chains, labels: Ints, weights: Floats | None, rules: Rules) -> None:
        self.chains = chains
        self.labels = labels
        self.rules = rules
        self.weights = np.ones(len(chains)) if weights is None else np.asarray(weights, dtype=np.float64)
        self.shown = chains.shown()
        self.features_by_column = chains.features.T.tocsr()
        self.n_features = chains.features.shape[1]
        self.n_edge_features = 0 if chains.edges is None else chains.edges.shape[1]
        self.precision = np.zeros(self.size)

    def set_prior(self, prior_variance: float, step_variance: float) -> None:
        """A Gaussian prior of mean 0 on every weight."""
        self.precision = np.full(self.size, 1 / prior_variance)
        first = self.n_features * self.rules.n_states
        self.precision[first : first + int(self.rules.allowed.sum())] = 1 / step_variance

    @property
    def size(self) -> int:
        n_steps = int(self.rules.allowed.sum())
        return self.n_features * self.rules.n_states + n_steps * (1 + self.n_edge_features)

    def unpack(self, flat: Floats) -> tuple[Floats, Floats, Floats]:
        n_states, n_steps = self.rules.n_states, int(self.rules.allowed.sum())
        cut = self.n_features * n_states
        step_weights = np.zeros((n_states, n_states))
        step_weights[self.rules.allowed] = flat[cut : cut + n_steps]
        edge_weights = np.zeros((self.n_edge_features, n_states, n_states))
        edge_weights[:, self.rules.allowed] = flat[cut + n_steps :].reshape(self.n_edge_features, n_steps)
        return flat[:cut].reshape(self.n_features, n_states), step_weights, edge_weights

    def value_and_gradient(self, flat: Floats) -> tuple[float, Floats]:
        """The gradient is what the model expects to see less what was taught, and the pull of the prior."""
        log_total, expected = self.expected(flat)
        value = log_total - float(self.taught @ flat) + float(self.precision @ flat**2) / 2
        return value, expected - self.taught + self.precision * flat

    def expected(self, flat: Floats) -> tuple[float, Floats]:
        """log Z of all chains by weight, and what F(x, y) is expected to be, as long as the weights."""
        return self.expected_by_prefixes(flat) or self.expected_by_logs(flat)

    def expected_by_prefixes(self, flat: Floats) -> tuple[float, Floats] | None:
        """None where probabilities would vanish."""
        state_weights, step_weights, edge_weights = self.unpack(flat)
        at = self._prefixes.positions
        scores = np.asarray(self.chains.features @ state_weights)[self.shown[at]]
        found = self._prefixes.expect(scores, self._steps(at, step_weights, edge_weights))
        if found is None:
            return None
        steps, edges = found.steps, np.zeros_like(edge_weights)
        if self.chains.edges is not None:
            steps, edges = found.steps.sum(axis=0), self._on_steps(at, found.steps.reshape(len(at), -1))
        return found.log_total, self._pack(self._by_row_of_prefixes @ found.states, steps, edges)

    def expected_by_logs(self, flat: Floats) -> tuple[float, Floats]:
        """The same chain by chain, for weights of any size."""
        state_weights, step_weights, edge_weights = self.unpack(flat)
        scores = self._scores(state_weights)
        states = np.zeros_like(scores)
        step_counts, edge_counts, log_z = np.zeros_like(step_weights), np.zeros_like(edge_weights), 0.0
        for chains, at in self.chains.by_length():
            steps = Steps(self._steps(at, step_weights, edge_weights))
            alpha = forward(scores[at], steps, self._starts)
            total = log_total(alpha, self._ends)
            log_z += float(self.weights[chains] @ total)
            marginals = np.exp(alpha + backward(scores[at], steps, self._ends) - total[:, None, None])
            states[at] = marginals * self.weights[chains][:, None, None]
            if self.chains.edges is None:
                step_counts += expected_steps(alpha, states[at], steps)
            else:
                pairs = _pairs(alpha, states[at], steps)
                step_counts += pairs.sum(axis=(0, 1))
                edge_counts += self._on_steps(at[:, 1:].ravel(), pairs.reshape(-1, step_counts.size))
        return log_z, self._pack(self._by_row(self.shown) @ states, step_counts, edge_counts)

    @cached_property
    def taught(self) -> Floats:
        """F(x, y) of what was taught, by weight, as long as the weights."""
        by_position = np.repeat(self.weights, self.chains.lengths)
        states = np.zeros((len(self.labels), self.rules.n_states))
        states[np.arange(len(states)), self.labels] = by_position
        into = np.delete(np.arange(len(states)), self.chains.starts())
        taken = self.labels[into - 1] * self.rules.n_states + self.labels[into]
        pairs = csr_array(
            (by_position[into], (np.arange(len(into)), taken)), shape=(len(into), self.rules.n_states**2)
        )
        steps: Floats = np.asarray(pairs.sum(axis=0)).reshape(self.rules.allowed.shape)
        return self._pack(self._by_row(self.shown) @ states, steps, self._on_steps(into, pairs))

    def log_likelihoods(self, state_weights: Floats, step_weights: Floats, edge_weights: Floats) -> Floats:
        """log P(y | x) of each chain, (n_chains,)."""
        scores = self._scores(state_weights)
        answer = np.empty(len(self.chains))
        for chains, at in self.chains.by_length():
            steps = Steps(self._steps(at, step_weights, edge_weights))
            total = log_total(forward(scores[at], steps, self._starts), self._ends)
            answer[chains] = self._score_of_labels(scores, at, steps) - total
        return answer

    @cached_property
    def _prefixes(self) -> Prefixes:
        return Prefixes.of(self.chains, self.weights, self.rules)

    @cached_property
    def _by_row_of_prefixes(self) -> csr_array:
        return self._by_row(self.shown[self._prefixes.positions])

    def _by_row(self, rows: Ints) -> csr_array:
        """Adds up what shows the same row of features."""
        ones = np.ones(len(rows)), (rows, np.arange(len(rows)))
        return csr_array(ones, shape=(self.chains.features.shape[0], len(rows)))

    @cached_property
    def _starts(self) -> Floats:
        return log_mask(self.rules.starts)

    @cached_property
    def _ends(self) -> Floats:
        return log_mask(self.rules.ends)

    def _scores(self, state_weights: Floats) -> Floats:
        return np.asarray(self.chains.features @ state_weights, dtype=np.float64)[self.shown]

    def _steps(self, at: Ints, step_weights: Floats, edge_weights: Floats) -> Floats:
        """The scores of steps: one matrix for all, or one for the step into each position of `at`."""
        plain = np.where(self.rules.allowed, step_weights, -np.inf)
        if self.chains.edges is None:
            return plain
        n_states = self.rules.n_states
        extra = self.chains.edges[at.ravel()] @ edge_weights.reshape(-1, n_states * n_states)
        return np.asarray(plain + np.asarray(extra).reshape(*at.shape, n_states, n_states))

    def _on_steps(self, into: Ints, pairs: Floats | csr_array) -> Floats:
        """How often each thing is seen on each step, by the steps in `pairs` (n, S · S) into those positions."""
        n_states = self.rules.n_states
        if self.chains.edges is None:
            return np.zeros((0, n_states, n_states))
        counts = self.chains.edges[into].T.tocsr() @ pairs
        dense = counts.toarray() if isinstance(counts, csr_array) else counts
        return np.asarray(dense).reshape(-1, n_states, n_states)

    def _pack(self, state_by_row: Floats, step: Floats, edge: Floats) -> Floats:
        allowed, state = self.rules.allowed, np.asarray(self.features_by_column @ state_by_row)
        return np.concatenate((state.ravel(), step[allowed], edge[:, allowed].ravel()))

    def _score_of_labels(self, scores: Floats, at: Ints, steps: Steps) -> Floats:
        """W · F(x, y) of the labelling that was taught, (N,)."""
        labels, chain = self.labels[at], np.arange(len(at))
        total = scores[at[:, 0], labels[:, 0]]
        for position in range(1, at.shape[1]):
            step, here, before = steps.into(position), labels[:, position], labels[:, position - 1]
            taken = step[before, here] if step.ndim == 2 else step[chain, before, here]
            total = total + scores[at[:, position], here] + taken
        return np.asarray(total, dtype=np.float64)


def log_mask(mask: Bools) -> Floats:
    return np.where(mask, 0.0, -np.inf)


def _pairs(alpha: Floats, marginals: Floats, steps: Steps) -> Floats:
    """How likely every step is, (N, L - 1, S, S)."""
    n_chains, length, n_states = alpha.shape
    pairs = np.empty((n_chains, length - 1, n_states, n_states))
    for position in range(1, length):
        pairs[:, position - 1] = pair_marginals(alpha, marginals, steps, position)
    return pairs
