"""A search over merges of states, in place of the hand of section 4.3.2 of McCallum et al. (2000).

States of one class are merged one pair at a time, always the pair whose merging makes the labelled paths
least less likely. That gives a model of every size; which size is best is for held-out texts to say (figure
9).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from heapq import heapify, heappop, heappush
from itertools import combinations

import numpy as np

from trailmark.learn.chain import Floats, Ints
from trailmark.learn.hmm_structure import Structure


def merge_path(structure: Structure) -> Iterator[Structure]:
    """The structure itself, then one state fewer each time, down to one state a class."""
    search = _Search(structure)
    yield structure
    while search.merge_best():
        yield structure.merged(search.groups())


def merge_to(structure: Structure, n_states: int) -> Structure:
    """The structure of that path with at most `n_states`, or the smallest that there is."""
    search = _Search(structure)
    while search.n_left > n_states and search.merge_best():
        pass
    return structure.merged(search.groups())


def costs_by_size(structure: Structure, cost: Callable[[Structure], float], stride: int) -> dict[int, float]:
    """What every `stride`-th structure of the path costs (held-out error, say), by its number of states."""
    path = list(merge_path(structure))
    return {one.n_states: cost(one) for one in [*path[::-1][::stride], structure]}


class _Search:
    """Counts of steps among the states that are left, and what each merge would cost.

    `counts` (K, S + 1, S + 1): the last row is the initial state, the last column the final one.
    """

    def __init__(self, structure: Structure) -> None:
        n_states = structure.n_states
        self.counts = np.zeros((len(structure.steps), n_states + 1, n_states + 1))
        for kind, steps in enumerate(structure.steps):
            self.counts[kind, :n_states, :n_states] = steps.toarray()
        self.counts[0, n_states, :n_states] = structure.starts
        self.counts[0, :n_states, n_states] = structure.ends
        self.into = np.arange(n_states)
        self.n_left = n_states
        self._queue = [(self.loss(one, other), one, other) for one, other in _same_class(structure.classes)]
        heapify(self._queue)

    def groups(self) -> Ints:
        return np.unique(self.into, return_inverse=True)[1].astype(np.int64)

    def merge_best(self) -> bool:
        """Merge the pair that costs least; false when no two states of a class are left.

        A merge changes the cost of others. A cost is therefore worked out again when its pair comes up, and
        the pair goes back into the queue if another is cheaper now.
        """
        while self._queue:
            _, one, other = heappop(self._queue)
            if self.into[one] != one or self.into[other] != other:
                continue
            loss = self.loss(one, other)
            if self._queue and loss > self._queue[0][0]:
                heappush(self._queue, (loss, one, other))
                continue
            self._merge(one, other)
            return True
        return False

    def loss(self, one: int, other: int) -> float:
        """How much log-likelihood of the counted paths is lost by making two states one."""
        rows = self.counts[:, [one, other]]
        joined = rows.sum(axis=1)
        joined[:, one] += joined[:, other]
        joined[:, other] = 0.0
        own = _row_score(rows).sum() - _row_score(joined).sum()
        columns = self.counts[:, :, [one, other]].copy()
        columns[:, [one, other]] = 0.0
        return float(own + _xlogx(columns).sum() - _xlogx(columns.sum(axis=2)).sum())

    def _merge(self, one: int, other: int) -> None:
        self.counts[:, one] += self.counts[:, other]
        self.counts[:, other] = 0.0
        self.counts[:, :, one] += self.counts[:, :, other]
        self.counts[:, :, other] = 0.0
        self.into[self.into == other] = one
        self.n_left -= 1


def _same_class(classes: Ints) -> Iterator[tuple[int, int]]:
    for one in np.unique(classes):
        yield from combinations(np.flatnonzero(classes == one).tolist(), 2)


def _row_score(rows: Floats) -> Floats:
    """Σ_c n_c log(n_c / n): the log-likelihood of the steps counted in each row."""
    score: Floats = _xlogx(rows).sum(axis=-1) - _xlogx(rows.sum(axis=-1))
    return score


def _xlogx(counts: Floats) -> Floats:
    return np.asarray(counts * np.log(np.where(counts > 0, counts, 1.0)))
