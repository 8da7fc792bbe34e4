"""Groups from pairs: surest pairs first, and two groups merge only if their members agree on average.

A single wrong pair would otherwise chain two papers into one; here the other pairs between the two groups
outvote it (average linkage, with a few members of each group asked where groups are large).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Score = Callable[[Sequence[tuple[int, int]]], Floats]

ASKED = 5  # members of a group that speak for it


def cluster(n: int, pairs: Ints, probabilities: Floats, score: Score, threshold: float) -> list[int]:
    """The group of each of `n` things, numbered by first appearance.

    `probabilities` are those of `pairs`; `score` gives the probability of any others that are asked for.
    """
    likely = probabilities >= threshold
    pairs, probabilities = pairs[likely], probabilities[likely]
    merger = _Merger(n, dict(zip(map(tuple, pairs.tolist()), probabilities.tolist(), strict=True)), score)
    for at in np.lexsort((pairs[:, 1], pairs[:, 0], -probabilities)).tolist():
        merger.consider(int(pairs[at, 0]), int(pairs[at, 1]), threshold)
    return merger.groups()


def spokesmen(members: Sequence[int]) -> list[int]:
    """A few members of a group, evenly spread over it."""
    if len(members) <= ASKED:
        return list(members)
    return [members[(i * (len(members) - 1)) // (ASKED - 1)] for i in range(ASKED)]


class _Merger:
    def __init__(self, n: int, known: dict[tuple[int, ...], float], score: Score) -> None:
        self._known = known
        self._score = score
        self._group = list(range(n))
        self._members = {i: [i] for i in range(n)}
        self._refused: set[tuple[int, int, int]] = set()  # two groups, and their size when they were asked

    def consider(self, i: int, j: int, threshold: float) -> None:
        a, b = sorted((self._group[i], self._group[j]))
        if a == b:
            return
        first, second = self._members[a], self._members[b]
        asked = a, b, len(first) + len(second)
        if asked in self._refused:
            return
        if self._agreement(first, second) >= threshold:
            self._merge(a, b)
        else:
            self._refused.add(asked)

    def _agreement(self, first: list[int], second: list[int]) -> float:
        between = [(min(i, j), max(i, j)) for i in spokesmen(first) for j in spokesmen(second)]
        unknown = [pair for pair in between if pair not in self._known]
        if unknown:
            self._known.update(zip(unknown, self._score(unknown).tolist(), strict=True))
        return sum(self._known[pair] for pair in between) / len(between)

    def _merge(self, a: int, b: int) -> None:
        keep, drop = (a, b) if len(self._members[a]) >= len(self._members[b]) else (b, a)
        moved = self._members.pop(drop)
        for member in moved:
            self._group[member] = keep
        self._members[keep] += moved

    def groups(self) -> list[int]:
        numbers: dict[int, int] = {}
        return [numbers.setdefault(group, len(numbers)) for group in self._group]
