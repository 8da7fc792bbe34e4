"""A linear-chain conditional random field over paths, with rules on which state may follow which.

Our own, because foraging needs what token taggers lack: states that must alternate (pages and links), and one
forward step for all links of a page at once. Equation numbers are those of Vydiswaran & Sarawagi (2005).
"""

from __future__ import annotations

from typing import Self

import numpy as np
from scipy.sparse import csr_array

from wayhound.errors import NotFitted, TeachingError
from wayhound.learn.arrays import Floats, Ints
from wayhound.learn.chain import Chains, Posteriors, Rules, TransitionScores, best_path
from wayhound.learn.crf_likelihood import Likelihood, log_mask


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
