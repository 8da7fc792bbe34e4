"""The arithmetic of linear chains in log space, for many chains of one length at once.

Kept apart from the CRF so that it can be checked by enumerating every path of a tiny chain. Scores are
unnormalised logarithms; minus infinity stands for what is forbidden. Shapes: N chains, L positions, S states.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

_TINY = 1e-200  # far above where numbers lose digits, so that quotients by it keep theirs


@dataclass(frozen=True, slots=True)
class Steps:
    """The scores of going from state to state: one (S, S) matrix for all steps, or (N, L, S, S), one each.

    Row is where a step comes from, column where it goes; a position's matrix belongs to the step into it.
    """

    log: Floats

    def into(self, position: int) -> Floats:
        return self.log if self.log.ndim == 2 else self.log[:, position]

    def pass_on(self, position: int, before: Floats) -> Floats:
        """log Σ_y' exp(before(y') + step(y', y)), the sum of Eq. 6 ahead of the new position's own score."""
        step = self.into(position)
        return log_product(before, step) if step.ndim == 2 else _log_sum(before[:, :, None] + step, axis=1)

    def pass_back(self, position: int, after: Floats) -> Floats:
        """log Σ_y exp(step(y', y) + after(y)) for the step into `position`."""
        step = self.into(position)
        return log_product(after, step.T) if step.ndim == 2 else _log_sum(after[:, None, :] + step, axis=2)


def log_product(rows: Floats, matrix: Floats) -> Floats:
    """log(exp(rows) @ exp(matrix)), (N, S), by one matrix product; what nearly vanishes is done the long way."""
    top = _finite_max(rows)
    peak = max(float(matrix.max()), np.finfo(float).min)
    plain = np.exp(rows - top) @ np.exp(matrix - peak)
    with np.errstate(divide="ignore"):
        product: Floats = np.log(plain) + (top + peak)
    gone = plain < _TINY  # not 0 alone: numbers lose their digits before they vanish
    lost = gone & (np.isfinite(rows).astype(float) @ np.isfinite(matrix) > 0) if gone.any() else gone
    if lost.any():
        again = lost.any(axis=1)
        product[again] = _log_sum(rows[again][:, :, None] + matrix, axis=1)
    return product


def forward(scores: Floats, steps: Steps, starts: Floats) -> Floats:
    """log α (Eq. 6), (N, L, S): the weight of all labellings of a prefix that end in each state."""
    alpha = np.empty_like(scores)
    alpha[:, 0] = scores[:, 0] + starts
    for position in range(1, scores.shape[1]):
        alpha[:, position] = steps.pass_on(position, alpha[:, position - 1]) + scores[:, position]
    return alpha


def backward(scores: Floats, steps: Steps, ends: Floats) -> Floats:
    """log β, (N, L, S): the weight of all labellings of the rest after each state."""
    beta = np.empty_like(scores)
    beta[:, -1] = ends
    for position in range(scores.shape[1] - 1, 0, -1):
        beta[:, position - 1] = steps.pass_back(position, beta[:, position] + scores[:, position])
    return beta


def log_total(alpha: Floats, ends: Floats) -> Floats:
    """log Z (Eq. 1), (N,)."""
    return _log_sum(alpha[:, -1] + ends, axis=1)


def best_path(scores: Floats, steps: Steps, starts: Floats, ends: Floats) -> Ints:
    """The best labelling of each chain (Eq. 2), (N, L); ties go to the lower state."""
    n_chains, length, n_states = scores.shape
    came_from = np.zeros((n_chains, length, n_states), dtype=np.int64)
    delta = scores[:, 0] + starts
    for position in range(1, length):
        ways = delta[:, :, None] + steps.into(position)
        came_from[:, position] = ways.argmax(axis=1)
        delta = ways.max(axis=1) + scores[:, position]
    path = np.empty((n_chains, length), dtype=np.int64)
    path[:, -1] = (delta + ends).argmax(axis=1)
    rows = np.arange(n_chains)
    for position in range(length - 1, 0, -1):
        path[:, position - 1] = came_from[rows, position, path[:, position]]
    return path


def pair_marginals(alpha: Floats, marginals: Floats, steps: Steps, position: int) -> Floats:
    """How likely each step into `position` is, (N, S, S).

    Written as P(y) · P(y' | y, prefix), so that nothing is exponentiated that could overflow.
    """
    joint = alpha[:, position - 1][:, :, None] + steps.into(position)
    top = joint.max(axis=1, keepdims=True)
    weight = np.exp(joint - np.where(np.isfinite(top), top, 0.0))
    total = weight.sum(axis=1, keepdims=True)
    share = np.divide(weight, total, out=np.zeros_like(weight), where=total > 0)
    return np.asarray(share * marginals[:, position][:, None, :], dtype=np.float64)


def expected_steps(alpha: Floats, marginals: Floats, steps: Steps) -> Floats:
    """Expected number of times each step is taken over all chains, (S, S), for one matrix of steps.

    The same as summing `pair_marginals`, by matrix products; chains that underflow are done the long way.
    """
    peak = float(steps.log.max())
    exp_steps = np.exp(steps.log - peak)
    counts, added = np.zeros_like(exp_steps), np.zeros_like(exp_steps)
    for position in range(1, alpha.shape[1]):
        before, now = alpha[:, position - 1], marginals[:, position]
        weight = np.exp(before - _finite_max(before))
        reach = weight @ exp_steps
        lost = np.unique(np.nonzero((reach < _TINY) & (now > 0))[0])
        if len(lost):
            added += pair_marginals(alpha[lost], marginals[lost], steps, position).sum(axis=0)
            now = now.copy()
            now[lost] = 0.0
        counts += weight.T @ np.divide(now, reach, out=np.zeros_like(reach), where=reach >= _TINY)
    return counts * exp_steps + added


def _finite_max(rows: Floats) -> Floats:
    top = rows.max(axis=1, keepdims=True)
    return np.where(np.isfinite(top), top, 0.0)


def _log_sum(terms: Floats, axis: int) -> Floats:
    top = terms.max(axis=axis, keepdims=True)
    top = np.where(np.isfinite(top), top, 0.0)
    with np.errstate(divide="ignore"):
        total = np.log(np.exp(terms - top).sum(axis=axis))
    return np.asarray(total + np.squeeze(top, axis=axis), dtype=np.float64)
