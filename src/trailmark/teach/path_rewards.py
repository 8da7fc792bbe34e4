"""What a link to a page of each label is worth: two answers (section 3.1 of Vydiswaran & Sarawagi, 2005)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from trailmark.learn.chain import Floats
from trailmark.teach.path_samples import Sample
from trailmark.trail import GOAL


def harvest_rewards(samples: Sequence[Sample], labels: Sequence[str], sharpness: float = 1.0) -> Floats:
    """The mean over the taught links of each label (Eq. 5) of what really was behind them, (labels,)."""
    sums, counts = np.zeros(len(labels)), np.zeros(len(labels))
    for sample in samples:
        if sample.ends_in_link:
            label = labels.index(sample.labels[-1])
            sums[label] += sample.weight * sample.worth
            counts[label] += sample.weight
    rewards = np.divide(sums, counts, out=np.zeros_like(sums), where=counts > 0)
    rewards[labels.index(GOAL)] = 1.0
    return np.asarray(rewards**sharpness)


def end_by_position(scores: Floats, log_steps: Floats, goal: int) -> Floats:
    """R_i(y) of Eq. 3, (n, states): how likely a goal ends the chain, from each state at each position.

    `scores` (n, states) are those of the state features, `log_steps` (states, states) or (n, states, states)
    those of the steps into each position.
    """
    n, n_states = scores.shape
    ends = np.zeros((n, n_states))
    ends[-1, goal] = 1.0
    for at in range(n - 2, -1, -1):
        step = log_steps if log_steps.ndim == 2 else log_steps[at + 1]
        ways = step + scores[at + 1]
        top = ways.max(axis=1, keepdims=True)
        shares = np.exp(ways - np.where(np.isfinite(top), top, 0.0))
        ends[at] = shares @ ends[at + 1] / shares.sum(axis=1)
    return ends


def discounted(ends: Floats, gamma: float) -> Floats:
    """Eq. 4: positions weigh γ to the power of their distance from the end, (states,)."""
    weights = gamma ** np.arange(len(ends))[::-1]
    return np.asarray(weights @ ends / weights.sum())
