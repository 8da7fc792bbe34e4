"""A linear-chain conditional random field over paths, with rules on which state may follow which.

Our own because foraging needs what token taggers lack: states that must alternate (pages and links), and
one step forward for all links of a page at once. Equation numbers are those of Vydiswaran & Sarawagi (2005).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self

import numpy as np
from scipy.sparse import csr_array

from trailmark.errors import NotFitted, TeachingError
from trailmark.learn.chain import (
    Bools,
    Floats,
    Ints,
    Steps,
    backward,
    best_path,
    expected_steps,
    forward,
    log_product,
    log_total,
    pair_marginals,
)


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

    def by_length(self) -> Iterator[tuple[Ints, Ints]]:
        """For each length: the numbers of its chains (N,), and their positions (N, L)."""
        starts = np.concatenate(([0], np.cumsum(self.lengths)[:-1])).astype(np.int64)
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


class ChainCRF:
    """P(y | x) ∝ exp(W · F(x, y)) (Eq. 1), trained by L-BFGS under a Gaussian prior on the weights.

    The weights of plain steps may have a prior of their own: every trail speaks to them, but the ways of a few
    taught sites need not be those of others. None gives them the same as words.

    After `fit`: `state_weights_` (features, S), `step_weights_` (S, S; 0 where a step is not allowed),
    `edge_weights_` (edge features, S, S) and `objective_`, the penalised negative log-likelihood reached.
    """

    def __init__(
        self,
        rules: Rules,
        prior_variance: float = 10.0,
        step_variance: float | None = None,
        max_iterations: int = 200,
        tolerance: float = 1e-4,
    ) -> None:
        self.rules = rules
        self.prior_variance = prior_variance
        self.step_variance = step_variance
        self.max_iterations = max_iterations
        self.tolerance = tolerance

    def fit(self, chains: Chains, labels: Ints, weights: Floats | None = None) -> Self:
        """Learn from the state of every position (positions,); chains count by `weights` (n_chains,)."""
        _check_labels(chains, labels, self.rules)
        problem = _Likelihood(chains, labels, weights, self.rules)
        problem.set_prior(self.prior_variance, self.step_variance or self.prior_variance)
        from scipy.optimize import minimize  # noqa: PLC0415 - who only uses a model never needs it

        answer = minimize(
            problem.value_and_gradient,
            np.zeros(problem.size),
            jac=True,
            method="L-BFGS-B",
            options={"maxiter": self.max_iterations, "gtol": self.tolerance, "ftol": 1e-9, "maxcor": 8},
        )
        self.state_weights_, self.step_weights_, self.edge_weights_ = problem.unpack(answer.x)
        self.objective_ = float(answer.fun)
        return self

    def scores(self, features: csr_array) -> Floats:
        """W · f of the state features alone, (rows, S)."""
        return np.asarray(features @ self._fitted().state_weights_, dtype=np.float64)

    def decode(self, chains: Chains) -> Ints:
        """The best labelling (Eq. 2), (positions,)."""
        scores = self.scores(chains.features)[chains.shown()]
        answer = np.empty(chains.n_positions, dtype=np.int64)
        for _, at in chains.by_length():
            answer[at] = best_path(scores[at], self._steps(chains, at), self.log_starts, self.log_ends)
        return answer

    def marginals(self, chains: Chains) -> Floats:
        """The probability of each state at each position given the whole chain, (positions, S)."""
        scores = self.scores(chains.features)[chains.shown()]
        answer = np.empty((chains.n_positions, self.rules.n_states))
        for _, rows in chains.by_length():
            steps = self._steps(chains, rows)
            alpha = forward(scores[rows], steps, self.log_starts)
            beta = backward(scores[rows], steps, self.log_ends)
            total = log_total(alpha, self.log_ends)
            answer[rows] = np.exp(alpha + beta - total[:, None, None])
        return answer

    def log_likelihoods(self, chains: Chains, labels: Ints) -> Floats:
        """log P(y | x) of each chain, (n_chains,)."""
        fitted = self._fitted()
        problem = _Likelihood(chains, labels, None, self.rules)
        return problem.log_likelihoods(fitted.state_weights_, fitted.step_weights_, fitted.edge_weights_)

    @property
    def log_starts(self) -> Floats:
        return _log_mask(self.rules.starts)

    @property
    def log_ends(self) -> Floats:
        return _log_mask(self.rules.ends)

    @property
    def log_steps(self) -> Floats:
        """Step weights with minus infinity where a step is not allowed, (S, S)."""
        return np.where(self.rules.allowed, self._fitted().step_weights_, -np.inf)

    def forward_step(self, alpha: Floats, scores: Floats, edges: csr_array | None = None) -> Floats:
        """One step of Eq. 6 from one belief `alpha` (S,) to each of the rows of `scores` (n, S), all in logs.

        Each row comes back shifted so that its largest entry is 0: only ratios matter (Eq. 7), and nothing
        grows along the path.
        """
        if edges is None:
            arrived = log_product(alpha[None, :], self.log_steps) + scores
        else:
            arrived = (
                Steps(self._edge_steps(edges)[:, None]).pass_on(0, np.tile(alpha, (len(scores), 1))) + scores
            )
        return _shift(arrived)

    def best_step(self, delta: Floats, scores: Floats, edges: csr_array | None = None) -> Floats:
        """The same step for δ (Eq. 2): the best way to each state instead of all ways."""
        if edges is None:
            arrived = (delta[:, None] + self.log_steps).max(axis=0)[None, :] + scores
        else:
            arrived = (delta[None, :, None] + self._edge_steps(edges)).max(axis=1) + scores
        return _shift(arrived)

    def _edge_steps(self, edges: csr_array) -> Floats:
        n_states = self.rules.n_states
        extra = edges @ self._fitted().edge_weights_.reshape(-1, n_states * n_states)
        return np.asarray(self.log_steps + extra.reshape(-1, n_states, n_states), dtype=np.float64)

    def _steps(self, chains: Chains, at: Ints) -> Steps:
        if chains.edges is None:
            return Steps(self.log_steps)
        n_states = self.rules.n_states
        return Steps(self._edge_steps(chains.edges[at.ravel()]).reshape(*at.shape, n_states, n_states))

    def _fitted(self) -> Self:
        if not hasattr(self, "state_weights_"):
            raise NotFitted("This path model has not been taught yet.")
        return self


class _Likelihood:
    """The penalised negative log-likelihood as a function of one flat vector of weights, and its gradient."""

    def __init__(self, chains: Chains, labels: Ints, weights: Floats | None, rules: Rules) -> None:
        self.chains = chains
        self.labels = labels
        self.rules = rules
        self.weights = np.ones(len(chains)) if weights is None else np.asarray(weights, dtype=np.float64)
        self.groups = list(chains.by_length())
        self.shown = chains.shown()
        by_row = np.ones(len(self.shown)), (self.shown, np.arange(len(self.shown)))
        self.gather = csr_array(by_row, shape=(chains.features.shape[0], len(self.shown)))
        self.features_by_column = chains.features.T.tocsr()
        self.n_features = chains.features.shape[1]
        self.n_edge_features = 0 if chains.edges is None else chains.edges.shape[1]
        self.starts, self.ends = _log_mask(rules.starts), _log_mask(rules.ends)
        self.taught_steps = self._taught_steps()
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

    def pack(self, state: Floats, step: Floats, edge: Floats) -> Floats:
        allowed = self.rules.allowed
        return np.concatenate((state.ravel(), step[allowed], edge[:, allowed].ravel()))

    def value_and_gradient(self, flat: Floats) -> tuple[float, Floats]:
        state_weights, step_weights, edge_weights = self.unpack(flat)
        scores = self._scores(state_weights)
        surprise = np.zeros_like(scores)
        step_gradient, edge_gradient = np.zeros_like(step_weights), np.zeros_like(edge_weights)
        value = float(self.precision @ flat**2) / 2
        for chains, at in self.groups:
            steps = self._steps(at, step_weights, edge_weights)
            weight = self.weights[chains][:, None, None]
            alpha = forward(scores[at], steps, self.starts)
            total = log_total(alpha, self.ends)
            marginals = np.exp(alpha + backward(scores[at], steps, self.ends) - total[:, None, None])
            value -= float(self.weights[chains] @ (self._gold(scores, at, steps) - total))
            surprise[at] = marginals * weight
            if self.chains.edges is None:
                step_gradient += expected_steps(alpha, marginals * weight, steps)
            else:
                self._add_edges(step_gradient, edge_gradient, at, _pairs(alpha, marginals * weight, steps))
        surprise[np.arange(len(surprise)), self.labels] -= np.repeat(self.weights, self.chains.lengths)
        state_gradient = np.asarray(self.features_by_column @ (self.gather @ surprise))
        gradient = self.pack(state_gradient, step_gradient, edge_gradient) - self.taught_steps
        return value, gradient + self.precision * flat

    def _scores(self, state_weights: Floats) -> Floats:
        return np.asarray(self.chains.features @ state_weights, dtype=np.float64)[self.shown]

    def _add_edges(self, step_gradient: Floats, edge_gradient: Floats, at: Ints, pairs: Floats) -> None:
        """Add the steps in `pairs` (N, L - 1, S, S), and what was seen on them, to the two gradients."""
        step_gradient += pairs.sum(axis=(0, 1))
        seen = _rows(self.chains.edges, at[:, 1:].ravel()).T.tocsr()
        edge_gradient += np.asarray(seen @ pairs.reshape(-1, step_gradient.size)).reshape(edge_gradient.shape)

    def _taught_steps(self) -> Floats:
        """The part of F(x, y) that belongs to steps, summed over what was taught: it depends on no weight."""
        n_states = self.rules.n_states
        step, edge = np.zeros((n_states, n_states)), np.zeros((self.n_edge_features, n_states, n_states))
        for chains, at in self.groups:
            taught = self.labels[at]
            if self.chains.edges is None:
                weight = np.repeat(self.weights[chains], at.shape[1] - 1)
                np.add.at(step, (taught[:, :-1].ravel(), taught[:, 1:].ravel()), weight)
                continue
            pairs = np.zeros((*taught[:, 1:].shape, n_states, n_states))
            chain, position = np.indices(taught[:, 1:].shape)
            pairs[chain, position, taught[:, :-1], taught[:, 1:]] = self.weights[chains][:, None]
            self._add_edges(step, edge, at, pairs)
        return self.pack(np.zeros((self.n_features, n_states)), step, edge)

    def log_likelihoods(self, state_weights: Floats, step_weights: Floats, edge_weights: Floats) -> Floats:
        scores = self._scores(state_weights)
        answer = np.empty(len(self.chains))
        for chains, at in self.groups:
            steps = self._steps(at, step_weights, edge_weights)
            total = log_total(forward(scores[at], steps, self.starts), self.ends)
            answer[chains] = self._gold(scores, at, steps) - total
        return answer

    def _steps(self, at: Ints, step_weights: Floats, edge_weights: Floats) -> Steps:
        plain = np.where(self.rules.allowed, step_weights, -np.inf)
        if self.chains.edges is None:
            return Steps(plain)
        n_states = self.rules.n_states
        extra = self.chains.edges[at.ravel()] @ edge_weights.reshape(-1, n_states * n_states)
        return Steps(plain + np.asarray(extra).reshape(*at.shape, n_states, n_states))

    def _gold(self, scores: Floats, at: Ints, steps: Steps) -> Floats:
        """W · F(x, y) of the labelling that was taught, (N,)."""
        labels, chain = self.labels[at], np.arange(len(at))
        total = scores[at[:, 0], labels[:, 0]]
        for position in range(1, at.shape[1]):
            step, here, before = steps.into(position), labels[:, position], labels[:, position - 1]
            taken = step[before, here] if step.ndim == 2 else step[chain, before, here]
            total = total + scores[at[:, position], here] + taken
        return np.asarray(total, dtype=np.float64)


def _pairs(alpha: Floats, marginals: Floats, steps: Steps) -> Floats:
    """How likely every step is, (N, L - 1, S, S)."""
    n_chains, length, n_states = alpha.shape
    pairs = np.empty((n_chains, length - 1, n_states, n_states))
    for position in range(1, length):
        pairs[:, position - 1] = pair_marginals(alpha, marginals, steps, position)
    return pairs


def _rows(matrix: csr_array | None, rows: Ints) -> csr_array:
    assert matrix is not None
    return matrix[rows]


def _check_labels(chains: Chains, labels: Ints, rules: Rules) -> None:
    if len(chains) == 0:
        raise TeachingError("There are no trails to learn from.")
    if len(labels) != chains.n_positions:
        raise ValueError("one label is needed for every position")
    for _, at in chains.by_length():
        taught = labels[at]
        begins, ends = rules.starts[taught[:, 0]], rules.ends[taught[:, -1]]
        if not (begins.all() and ends.all() and rules.allowed[taught[:, :-1], taught[:, 1:]].all()):
            raise TeachingError("A trail holds a step that the model's rules do not allow.")


def _log_mask(mask: Bools) -> Floats:
    return np.where(mask, 0.0, -np.inf)


def _shift(rows: Floats) -> Floats:
    """Rows with their largest entry at 0. Where every state is forbidden, all are left equally likely."""
    top = rows.max(axis=1, keepdims=True)
    return np.where(np.isfinite(top), rows - np.where(np.isfinite(top), top, 0.0), 0.0)
