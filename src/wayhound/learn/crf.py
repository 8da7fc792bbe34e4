"""A linear-chain conditional random field over paths, with rules on which state may follow which.

Our own because foraging needs what token taggers lack: states that must alternate (pages and links), and
one step forward for all links of a page at once. Equation numbers are those of Vydiswaran & Sarawagi (2005).
"""

from __future__ import annotations

from typing import Self

import numpy as np
from scipy.sparse import csr_array

from wayhound.errors import NotFitted, TeachingError
from wayhound.learn.chain import Floats, Ints, Steps, backward, best_path, forward, log_product, log_total
from wayhound.learn.crf_likelihood import Likelihood, log_mask
from wayhound.learn.crf_prefixes import Chains, Rules

__all__ = ["ChainCRF", "Chains", "Rules"]


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
        problem = Likelihood(chains, labels, weights, self.rules)
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
        problem = Likelihood(chains, labels, None, self.rules)
        return problem.log_likelihoods(fitted.state_weights_, fitted.step_weights_, fitted.edge_weights_)

    @property
    def log_starts(self) -> Floats:
        return log_mask(self.rules.starts)

    @property
    def log_ends(self) -> Floats:
        return log_mask(self.rules.ends)

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


def _shift(rows: Floats) -> Floats:
    """Rows with their largest entry at 0. Where every state is forbidden, all are left equally likely."""
    top = rows.max(axis=1, keepdims=True)
    return np.where(np.isfinite(top), rows - np.where(np.isfinite(top), top, 0.0), 0.0)
