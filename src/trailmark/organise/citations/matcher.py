"""Citations as they come: each joins the group of the paper that it is to, or founds one."""

from __future__ import annotations

from collections.abc import Iterable

from trailmark.learn.pair_classifier import PairClassifier
from trailmark.organise.citations.blocking import BlockIndex
from trailmark.organise.citations.citation import Citation
from trailmark.organise.citations.clustering import spokesmen
from trailmark.organise.citations.features import WordWeights, pair_features
from trailmark.organise.citations.grouping import THRESHOLD
from trailmark.organise.citations.normal import NormalCitation, normalise
from trailmark.organise.citations.weights import shipped_classifier


class Matcher:
    """Groups of citations, and of the papers held, which are added like citations.

    >>> matcher = Matcher()
    >>> first = matcher.add(Citation(title="Hops to the goal", authors="A. Lind", year="1999"))
    >>> first == matcher.add(Citation(title="Hops to the Goal.", authors="Lind, A.", year="(1999)"))
    True
    """

    def __init__(self, classifier: PairClassifier | None = None, threshold: float = THRESHOLD) -> None:
        self.classifier = classifier or shipped_classifier()
        self.threshold = threshold
        self._weights = WordWeights()
        self._index = BlockIndex()
        self._members: dict[int, list[NormalCitation]] = {}
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

    def _put(self, normal: NormalCitation, group: int) -> int:
        self._weights.count([normal])
        self._index.add(normal, group)
        self._members.setdefault(group, []).append(normal)
        self._next = max(self._next, group + 1)
        return group

    def _best(self, normal: NormalCitation) -> int | None:
        candidates = self._index.groups(normal)
        agreed = [(self._agreement(normal, group), -group) for group in candidates]
        likelihood, group = max(agreed, default=(0.0, 0))
        return -group if agreed and likelihood >= self.threshold else None

    def _agreement(self, normal: NormalCitation, group: int) -> float:
        members = self._members[group]
        asked = (members[at] for at in spokesmen(range(len(members))))
        features = [pair_features(normal, member, self._weights) for member in asked]
        return float(self.classifier.probabilities(features).mean())
