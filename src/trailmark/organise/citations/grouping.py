"""All citations at once: compare what shares a block, and merge what is most likely the same paper."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
import numpy.typing as npt

from trailmark.learn.pair_classifier import PairClassifier
from trailmark.organise.citations.blocking import candidate_pairs
from trailmark.organise.citations.citation import Citation
from trailmark.organise.citations.clustering import cluster
from trailmark.organise.citations.features import FEATURES, WordWeights, pair_features
from trailmark.organise.citations.normal import NormalCitation, normalise

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
Progress = Callable[[int, int], None]
THRESHOLD = 0.5
_TAUGHT_BLOCK = 200  # citations, all pairs of which are learned from
_AT_ONCE = 20_000  # pairs whose features are in memory together


class PairScorer:
    """Features and probabilities of pairs of one list of citations."""

    def __init__(self, citations: Sequence[NormalCitation]) -> None:
        self.citations = citations
        self.weights = WordWeights()
        self.weights.count(citations)

    def features(self, pairs: Sequence[tuple[int, int]] | Ints) -> Floats:
        """(pairs, features), named by `FEATURES`."""
        rows = [pair_features(self.citations[i], self.citations[j], self.weights) for i, j in pairs]
        return np.array(rows, dtype=np.float64).reshape(-1, len(FEATURES))

    def probabilities(
        self, classifier: PairClassifier, pairs: Ints, on_progress: Progress | None = None
    ) -> Floats:
        known = np.zeros(len(pairs))
        for start in range(0, len(pairs), _AT_ONCE):
            part = pairs[start : start + _AT_ONCE]
            known[start : start + len(part)] = classifier.probabilities(self.features(part.tolist()))
            if on_progress:
                on_progress(start + len(part), len(pairs))
        return known


def group_citations(
    citations: Sequence[Citation],
    classifier: PairClassifier,
    threshold: float = THRESHOLD,
    on_progress: Progress | None = None,
) -> list[int]:
    """The group of each citation, numbered by first appearance.

    `on_progress` is told now and then how many pairs of how many are compared.
    """
    return group_normal([normalise(each) for each in citations], classifier, threshold, on_progress)


def group_normal(
    citations: Sequence[NormalCitation],
    classifier: PairClassifier,
    threshold: float = THRESHOLD,
    on_progress: Progress | None = None,
) -> list[int]:
    """The same for citations in normal form. Those that are wholly alike are compared as one."""
    numbers: dict[NormalCitation, int] = {}
    alike = [numbers.setdefault(each, len(numbers)) for each in citations]
    scorer = PairScorer(list(numbers))
    scorer.weights.count(each for each, seen in zip(citations, _repeats(alike), strict=True) if seen)
    pairs = candidate_pairs(scorer.citations)
    groups = cluster(
        len(numbers),
        pairs,
        scorer.probabilities(classifier, pairs, on_progress),
        lambda asked: classifier.probabilities(scorer.features(asked)),
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
