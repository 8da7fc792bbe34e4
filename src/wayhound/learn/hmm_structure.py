"""The states of a hidden Markov model, found by merging: automatic where McCallum et al. (2000) merge by hand (4.3.2).

States of one class are merged one pair at a time, always the pair that costs the labelled paths the least
likelihood. That gives a model of every size; held-out texts choose among them (figure 9).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from itertools import combinations

import numpy as np
from scipy.sparse import coo_array, csr_array

from wayhound.learn.arrays import Floats, Ints


@dataclass(frozen=True, slots=True)
class Structure:
    """Transition counts among S states: `starts` (S,), `steps` (K times S, S), `ends` (S,).

    `classes` (S,) is the class of each state. `steps` holds a sparse matrix for each kind of gap, since a
    maximally specific model has a state for every word.
    """

    classes: Ints
    starts: Floats
    steps: tuple[csr_array, ...]
    ends: Floats

    @property
    def n_states(self) -> int:
        return len(self.classes)

    @property
    def n_transitions(self) -> int:
        """The number of transitions that occur, those from the initial and into the final state included."""
        between = int((self.all_steps().data > 0).sum())
        return int((self.starts > 0).sum() + (self.ends > 0).sum()) + between

    def all_steps(self) -> csr_array:
        """Return the counts over all kinds of gap, (S, S)."""
        return csr_array(sum(self.steps[1:], start=self.steps[0]))

    def merged(self, groups: Ints) -> Structure:
        """Return the counts with the states of one group merged; `groups` (S,) are numbered from 0."""
        n_groups = int(groups.max()) + 1
        ones = np.ones(self.n_states)
        into = csr_array((ones, (np.arange(self.n_states), groups)), shape=(self.n_states, n_groups))
        classes = np.zeros(n_groups, dtype=np.int64)
        classes[groups] = self.classes
        steps = tuple(csr_array(into.T @ kind @ into) for kind in self.steps)
        starts, ends = np.zeros(n_groups), np.zeros(n_groups)
        np.add.at(starts, groups, self.starts)
        np.add.at(ends, groups, self.ends)
        return Structure(classes, starts, steps, ends)


def maximally_specific(
    labels: Sequence[Ints], gaps: Sequence[Ints] | None = None, n_gaps: int = 1
) -> Structure:
    """Return a structure with a state for every word (figure 8).

    `gaps` gives the kind of gap before each word; the first of a text is not used.
    """
    paths, first = [], 0
    for sequence in labels:
        paths.append(np.arange(first, first + len(sequence)))
        first += len(sequence)
    return count_paths(paths, np.concatenate(labels), gaps, n_gaps)


def count_paths(
    paths: Sequence[Ints], classes: Ints, gaps: Sequence[Ints] | None = None, n_gaps: int = 1
) -> Structure:
    """Return the structure that counts the transitions of `paths`, each an array of states."""
    n_states = len(classes)
    starts, ends = np.zeros(n_states), np.zeros(n_states)
    np.add.at(starts, [int(path[0]) for path in paths], 1.0)
    np.add.at(ends, [int(path[-1]) for path in paths], 1.0)
    sources = np.concatenate([path[:-1] for path in paths])
    targets = np.concatenate([path[1:] for path in paths])
    kinds = np.zeros(len(sources)) if gaps is None else np.concatenate([gap[1:] for gap in gaps])
    steps = tuple(_count(sources[kinds == kind], targets[kinds == kind], n_states) for kind in range(n_gaps))
    return Structure(np.asarray(classes, dtype=np.int64), starts, steps, ends)


def _count(sources: Ints, targets: Ints, n_states: int) -> csr_array:
    return csr_array(coo_array((np.ones(len(sources)), (sources, targets)), shape=(n_states, n_states)))


def one_per_class(structure: Structure) -> Structure:
    """Return the structure with a single state for each class that occurs."""
    return structure.merged(np.unique(structure.classes, return_inverse=True)[1].astype(np.int64))


def merge_neighbours(structure: Structure) -> Structure:
    """Neighbour-merging: merge states that share a transition and a class into one with a self-loop."""
    union = _Union(structure.n_states)
    steps = structure.all_steps().tocoo()
    same = structure.classes[steps.row] == structure.classes[steps.col]
    for source, target in zip(steps.row[same], steps.col[same], strict=True):
        union.join(int(source), int(target))
    return structure.merged(union.groups())


def merge_v(structure: Structure, max_states: int = 0) -> Structure:
    """V-merging: merge states of one class with a common state before or after them, round after round.

    Stops when nothing is left to merge, or when at most `max_states` are left.
    """
    while structure.n_states > max_states:
        fewer = structure.merged(_v_groups(structure))
        if fewer.n_states == structure.n_states:
            break
        structure = fewer
    return structure


def _v_groups(structure: Structure) -> Ints:
    union = _Union(structure.n_states)
    steps = structure.all_steps()
    _join_fans(union, structure.classes, [np.flatnonzero(structure.starts), *_neighbours(steps)])
    _join_fans(union, structure.classes, [np.flatnonzero(structure.ends), *_neighbours(csr_array(steps.T))])
    return union.groups()


def _neighbours(steps: csr_array) -> list[Ints]:
    """Return, for every state, the others that it has a transition to."""
    rows = np.split(steps.indices.astype(np.int64), steps.indptr[1:-1])
    return [row[row != state] for state, row in enumerate(rows)]


def _join_fans(union: _Union, classes: Ints, fans: Sequence[Ints]) -> None:
    for fan in fans:
        first: dict[int, int] = {}
        for state in fan.tolist():
            union.join(first.setdefault(int(classes[state]), state), state)


class _Union:
    """Disjoint sets with path compression."""

    def __init__(self, size: int) -> None:
        self._parent = list(range(size))

    def find(self, item: int) -> int:
        root = item
        while self._parent[root] != root:
            root = self._parent[root]
        while self._parent[item] != root:
            self._parent[item], item = root, self._parent[item]
        return root

    def join(self, one: int, other: int) -> None:
        low, high = sorted((self.find(one), self.find(other)))
        self._parent[high] = low

    def groups(self) -> Ints:
        """Return a number from 0 for the set of each item."""
        roots = [self.find(item) for item in range(len(self._parent))]
        return np.unique(roots, return_inverse=True)[1].astype(np.int64)


def merge_path(structure: Structure) -> Iterator[Structure]:
    """Yield the structure itself, then one state fewer each time, down to one state per class."""
    search = _MergeSearch(structure)
    yield structure
    while search.merge_best():
        yield structure.merged(search.groups())


def merge_to(structure: Structure, n_states: int) -> Structure:
    """Return the first structure of `merge_path` with at most `n_states`, or its last."""
    search = _MergeSearch(structure)
    while search.n_left > n_states and search.merge_best():
        pass
    return structure.merged(search.groups())


def costs_by_size(structure: Structure, cost: Callable[[Structure], float], stride: int) -> dict[int, float]:
    """Return the cost (such as held-out error) of every `stride`-th structure of the path, by number of states."""
    path = list(merge_path(structure))
    return {smaller.n_states: cost(smaller) for smaller in [*path[::-1][::stride], structure]}


class _MergeSearch:
    """Transition counts among the remaining states, and a queue of what each merge would cost.

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
        """Merge the pair that costs least; return False when no two states of a class are left.

        A merge changes the cost of others. So a cost is recomputed when its pair comes up, and the pair goes
        back into the queue if another is cheaper now.
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
        """Return the log-likelihood of the counted paths that merging two states loses."""
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
    """Return Σ_c n_c log(n_c / n): the log-likelihood of the transitions counted in each row."""
    score: Floats = _xlogx(rows).sum(axis=-1) - _xlogx(rows.sum(axis=-1))
    return score


def _xlogx(counts: Floats) -> Floats:
    return np.asarray(counts * np.log(np.where(counts > 0, counts, 1.0)))
