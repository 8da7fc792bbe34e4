"""Citations as they come: each joins the group of the paper that it is to, or founds one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

import numpy as np
import numpy.typing as npt

from wayhound.citations.blocking import BlockIndex, candidate_pairs
from wayhound.citations.citation import Citation, NormalisedCitation, normalise
from wayhound.citations.pair_model import (
    FEATURES,
    WordWeights,
    match_probabilities,
    pair_features,
    shipped_classifier,
)
from wayhound.learn.logistic import LogisticRegression

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


Bools = npt.NDArray[np.bool_]
Progress = Callable[[int, int], None]
THRESHOLD = 0.5
_TAUGHT_BLOCK = 200  # citations, all pairs of which are learned from
_AT_ONCE = 20_000  # pairs whose features are in memory together


class PairScorer:
    """Features and probabilities of pairs of one list of citations."""

    def __init__(self, citations: Sequence[NormalisedCitation]) -> None:
        self.citations = citations
        self.weights = WordWeights()
        self.weights.count(citations)

    def features(self, pairs: Sequence[tuple[int, int]] | Ints) -> Floats:
        """(pairs, features), named by `FEATURES`."""
        rows = [pair_features(self.citations[i], self.citations[j], self.weights) for i, j in pairs]
        return np.array(rows, dtype=np.float64).reshape(-1, len(FEATURES))

    def probabilities(
        self, classifier: LogisticRegression, pairs: Ints, on_progress: Progress | None = None
    ) -> Floats:
        known = np.zeros(len(pairs))
        for start in range(0, len(pairs), _AT_ONCE):
            part = pairs[start : start + _AT_ONCE]
            known[start : start + len(part)] = match_probabilities(classifier, self.features(part.tolist()))
            if on_progress:
                on_progress(start + len(part), len(pairs))
        return known


def group_citations(
    citations: Sequence[Citation],
    classifier: LogisticRegression,
    threshold: float = THRESHOLD,
    on_progress: Progress | None = None,
) -> list[int]:
    """The group of each citation, numbered by first appearance.

    `on_progress` is told now and then how many pairs of how many are compared.
    """
    return group_normal([normalise(each) for each in citations], classifier, threshold, on_progress)


def group_normal(
    citations: Sequence[NormalisedCitation],
    classifier: LogisticRegression,
    threshold: float = THRESHOLD,
    on_progress: Progress | None = None,
) -> list[int]:
    """The same for citations in normal form. Those that are wholly alike are compared as one."""
    numbers: dict[NormalisedCitation, int] = {}
    alike = [numbers.setdefault(each, len(numbers)) for each in citations]
    scorer = PairScorer(list(numbers))
    scorer.weights.count(each for each, seen in zip(citations, _repeats(alike), strict=True) if seen)
    pairs = candidate_pairs(scorer.citations)
    groups = cluster(
        len(numbers),
        pairs,
        scorer.probabilities(classifier, pairs, on_progress),
        lambda asked: match_probabilities(classifier, scorer.features(asked)),
        threshold,
    )
    return [groups[number] for number in alike]


def training_pairs(
    citations: Sequence[Citation], papers: Sequence[str]
) -> tuple[Floats, npt.NDArray[np.bool_]]:
    """Features of the pairs that blocking finds, and whether both are to one of `papers`."""
    scorer = PairScorer([normalise(each) for each in citations])
    pairs = candidate_pairs(scorer.citations)
    names = np.array(papers)
    return scorer.features(pairs.tolist()), names[pairs[:, 0]] == names[pairs[:, 1]]


def _repeats(numbers: Sequence[int]) -> Iterator[bool]:
    """Whether each number has come before."""
    newest = -1
    for number in numbers:
        yield number <= newest
        newest = max(newest, number)


class CitationMatcher:
    """Groups of citations, and of the papers held, which are added like citations.

    >>> matcher = CitationMatcher()
    >>> first = matcher.add(Citation(title="Hops to the goal", authors="A. Lind", year="1999"))
    >>> first == matcher.add(Citation(title="Hops to the Goal.", authors="Lind, A.", year="(1999)"))
    True
    """

    def __init__(self, classifier: LogisticRegression | None = None, threshold: float = THRESHOLD) -> None:
        self.classifier = classifier or shipped_classifier()
        self.threshold = threshold
        self._weights = WordWeights()
        self._index = BlockIndex()
        self._members: dict[int, list[NormalisedCitation]] = {}
        self._next = 0

    def add(self, citation: Citation) -> int:
        """Put a citation where it belongs, and tell its group."""
        normal = normalise(citation)
        group = self._best(normal)
        return self._put(normal, self._next if group is None else group)

    def find(self, citation: Citation) -> int | None:
        """The group that a citation would join; nothing is changed."""
        return self._best(normalise(citation))

    def restore(self, grouped: Iterable[tuple[Citation, int]]) -> None:
        """Take over citations whose groups were settled before."""
        for citation, group in grouped:
            self._put(normalise(citation), group)

    def _put(self, normal: NormalisedCitation, group: int) -> int:
        self._weights.count([normal])
        self._index.add(normal, group)
        self._members.setdefault(group, []).append(normal)
        self._next = max(self._next, group + 1)
        return group

    def _best(self, normal: NormalisedCitation) -> int | None:
        candidates = self._index.groups(normal)
        agreed = [(self._agreement(normal, group), -group) for group in candidates]
        likelihood, group = max(agreed, default=(0.0, 0))
        return -group if agreed and likelihood >= self.threshold else None

    def _agreement(self, normal: NormalisedCitation, group: int) -> float:
        members = self._members[group]
        asked = (members[at] for at in spokesmen(range(len(members))))
        features = [pair_features(normal, member, self._weights) for member in asked]
        return float(match_probabilities(self.classifier, features).mean())
