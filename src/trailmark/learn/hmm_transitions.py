"""From counted steps to probabilities of steps: the four ways of Table 3 of McCallum et al. (2000), and one
more.

Each way is a function from a structure to its `Transitions`; `TRANSITIONS` names them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from trailmark.learn.chain import Floats
from trailmark.learn.hmm_structure import Structure


@dataclass(frozen=True, slots=True)
class Transitions:
    """Probabilities. `starts` (S,), `steps` (K, S, S) for each kind of gap, `ends` (S,).

    At each word the text ends with `ends`, or goes on to another state: each row of a kind of `steps`,
    together with its entry of `ends`, sums to one, or is empty where a state was never left over such a
    gap.
    """

    starts: Floats
    steps: Floats
    ends: Floats


def full(structure: Structure) -> Transitions:
    """Every transition alike."""
    n_states = structure.n_states
    even = np.full((len(structure.steps), n_states, n_states), 1.0 / (n_states + 1))
    return Transitions(np.full(n_states, 1.0 / n_states), even, np.full(n_states, 1.0 / (n_states + 1)))


def self_loops(structure: Structure) -> Transitions:
    """Staying is as likely as it was in the data; all other transitions are alike."""
    n_states, n_gaps = structure.n_states, len(structure.steps)
    steps = structure.all_steps().toarray()
    staying = _share(np.diagonal(steps), steps.sum(axis=1) + structure.ends)
    each = (1.0 - staying) / n_states
    even = np.repeat(each[:, None], n_states, axis=1)
    np.fill_diagonal(even, staying)
    return Transitions(np.full(n_states, 1.0 / n_states), np.stack([even] * n_gaps), each)


def maximum_likelihood(structure: Structure) -> Transitions:
    """Eq. 5: every transition as likely as it was in the data."""
    return _normalised(structure.starts, _dense(structure), structure.ends)


def smoothed(structure: Structure) -> Transitions:
    """One added to every count, so that no transition is impossible."""
    return _normalised(structure.starts + 1.0, _dense(structure) + 1.0, structure.ends + 1.0)


def shrunk(structure: Structure, strength: float = 0.3) -> Transitions:
    """Counts drawn towards staying, or towards where steps over the same gap lead from all states.

    Adds to each state `strength` steps, half of them to itself. Better than adding one to every count when
    there are many states, and then also the unforeseen order of fields remains possible.
    """
    steps = _dense(structure)
    n_states = structure.n_states
    reached = steps.sum(axis=1) + 1.0 / n_states
    anywhere = reached / reached.sum(axis=1, keepdims=True)
    prior = 0.5 * np.eye(n_states)[None] + 0.5 * anywhere[:, None, :]
    even = strength / n_states
    return _normalised(structure.starts + even, steps + strength * prior, structure.ends + even)


TRANSITIONS: dict[str, Callable[[Structure], Transitions]] = {
    "full": full,
    "self": self_loops,
    "ml": maximum_likelihood,
    "smooth": smoothed,
    "shrunk": shrunk,
}


def _normalised(starts: Floats, steps: Floats, ends: Floats) -> Transitions:
    """Ends are as likely after a word, whatever the gap; the rest is shared among the steps over each gap."""
    ending = _share(ends, steps.sum(axis=(0, 2)) + ends)
    onward = _share(steps, steps.sum(axis=2, keepdims=True)) * (1.0 - ending)[None, :, None]
    return Transitions(starts / starts.sum(), onward, ending)


def _dense(structure: Structure) -> Floats:
    return np.stack([kind.toarray() for kind in structure.steps])


def _share(part: Floats, whole: Floats) -> Floats:
    part, whole = np.broadcast_arrays(part, whole)
    return np.divide(part, whole, out=np.zeros(part.shape), where=whole > 0)
