"""Which states a hidden Markov model has, and how often each step between them was taken.

Learned from labelled sequences as in section 4.2.1 of McCallum, Nigam, Rennie & Seymore (2000): a maximally
specific model is made general by merging states of one class. Kept apart from emissions and inference, so
that every way of merging works on counts alone.

Beyond the paper, the steps may be of several kinds, told apart by the gap between two words (a line break, a
comma): each kind is counted, and later given probabilities, by itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.sparse import coo_array, csr_array

from trailmark.learn.chain import Floats, Ints


@dataclass(frozen=True, slots=True)
class Structure:
    """S states. `classes` (S,) names the class of each; `starts` (S,), `steps` (K times S, S), `ends` (S,)
    count.

    `steps` holds a sparse matrix for each kind of gap: a maximally specific model has a state for every word.
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
        """Transitions with a count, those from the initial and into the final state included."""
        between = int((self.all_steps().data > 0).sum())
        return int((self.starts > 0).sum() + (self.ends > 0).sum()) + between

    def all_steps(self) -> csr_array:
        """The counts of steps, whatever the gap, (S, S)."""
        return csr_array(sum(self.steps[1:], start=self.steps[0]))

    def merged(self, groups: Ints) -> Structure:
        """The same counts with the states of one group made one. `groups` (S,) numbers them from 0."""
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
    """A state for every word (figure 8). `gaps` gives the kind of gap before each word; the first is not
    used.
    """
    paths, first = [], 0
    for sequence in labels:
        paths.append(np.arange(first, first + len(sequence)))
        first += len(sequence)
    return count_paths(paths, np.concatenate(labels), gaps, n_gaps)


def count_paths(
    paths: Sequence[Ints], classes: Ints, gaps: Sequence[Ints] | None = None, n_gaps: int = 1
) -> Structure:
    """The structure whose counts are those of `paths`, each an array of states."""
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
    """The model with a single state for each class that occurs."""
    return structure.merged(np.unique(structure.classes, return_inverse=True)[1].astype(np.int64))


def merge_neighbours(structure: Structure) -> Structure:
    """Neighbour-merging: states that share a transition and a class become one, with a loop to itself."""
    union = _Union(structure.n_states)
    steps = structure.all_steps().tocoo()
    same = structure.classes[steps.row] == structure.classes[steps.col]
    for source, target in zip(steps.row[same], steps.col[same], strict=True):
        union.join(int(source), int(target))
    return structure.merged(union.groups())


def merge_v(structure: Structure, max_states: int = 0) -> Structure:
    """V-merging: states of one class with a common state before or after them become one, round after round.

    Ends when nothing is left to merge, or sooner: as soon as no more than `max_states` are left.
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
    """For every state, the others that it has a transition to."""
    rows = np.split(steps.indices.astype(np.int64), steps.indptr[1:-1])
    return [row[row != state] for state, row in enumerate(rows)]


def _join_fans(union: _Union, classes: Ints, fans: Sequence[Ints]) -> None:
    for fan in fans:
        first: dict[int, int] = {}
        for state in fan.tolist():
            union.join(first.setdefault(int(classes[state]), state), state)


class _Union:
    """Disjoint sets, joined one pair at a time."""

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
        """A number from 0 for the set of each item, in order of first appearance."""
        roots = [self.find(item) for item in range(len(self._parent))]
        return np.unique(roots, return_inverse=True)[1].astype(np.int64)
