"""Keyword rules: which documents a tree's keywords match, and the prior over topics that the matches give.

A topic with two labelled documents has learned little beyond those two: any word that both happen to share
counts as much as its keyword. So in a small collection the keywords act as a prior beside the learned words.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from wayhound.learn.arrays import Floats
from wayhound.topics.documents import TopicDocument
from wayhound.topics.tree import Topic, TopicTree
from wayhound.topics.vocabulary import singular_words


@dataclass(frozen=True, slots=True)
class KeywordRule:
    """A keyword of a topic, as the words that a document must contain."""

    topic: Topic
    keyword: str
    words: tuple[str, ...]

    def matches(self, document: TopicDocument) -> bool:
        """Return True if the document contains the phrase, or all its words where their order is unknown."""
        if not all(word in document.bag for word in self.words):
            return False
        return len(self.words) == 1 or not document.sequence or _contains(document.sequence, self.words)

    def count(self, document: TopicDocument) -> float:
        """Return how often the keyword occurs in a document that it matches."""
        if len(self.words) == 1 or not document.sequence:
            return min(document.bag[word] for word in self.words)
        starts = (at for at, word in enumerate(document.sequence) if word == self.words[0])
        return sum(document.sequence[at : at + len(self.words)] == self.words for at in starts)


def _contains(sequence: tuple[str, ...], phrase: tuple[str, ...]) -> bool:
    start = -1
    try:
        while True:
            start = sequence.index(phrase[0], start + 1)
            if sequence[start : start + len(phrase)] == phrase:
                return True
    except ValueError:
        return False


class KeywordRules:
    """The rules of a tree: longer phrases first, because they are more specific, then in file order."""

    def __init__(self, tree: TopicTree) -> None:
        rules = [
            KeywordRule(topic, keyword, tuple(singular_words(keyword)))
            for topic in tree.topics
            for keyword in topic.keywords
        ]
        self.rules = tuple(sorted(rules, key=lambda rule: -len(rule.words)))
        self._leaves = tree.leaves

    @cached_property
    def _by_first_word(self) -> Mapping[str, tuple[int, ...]]:
        numbers: dict[str, tuple[int, ...]] = {}
        for number, rule in enumerate(self.rules):
            numbers[rule.words[0]] = (*numbers.get(rule.words[0], ()), number)
        return numbers

    def matching(self, document: TopicDocument) -> list[int]:
        """Return the numbers of all rules that match, in order."""
        candidates = (number for word in document.bag for number in self._by_first_word.get(word, ()))
        return sorted(number for number in candidates if self.rules[number].matches(document))

    def most_specific(self, matched: Sequence[int]) -> Sequence[int]:
        """Return the matches that belong to a single leaf, or all of them if there are none."""
        return [number for number in matched if self.leaf_shares[number].max() == 1.0] or matched

    @cached_property
    def leaf_shares(self) -> Floats:
        """The share of each leaf in one match of each rule, (rules, leaves).

        A leaf's keyword counts for that leaf alone, an interior topic's in equal parts for all leaves below it.
        """
        below = np.array(
            [
                [leaf.path[: len(rule.topic.path)] == rule.topic.path for leaf in self._leaves]
                for rule in self.rules
            ],
            dtype=np.float64,
        ).reshape(len(self.rules), len(self._leaves))
        return np.asarray(below / np.maximum(below.sum(axis=1, keepdims=True), 1.0), dtype=np.float64)


@dataclass(frozen=True)
class KeywordMatches:
    """The rules that match each document of a collection, and the preliminary labels that follow."""

    rules: KeywordRules
    by_document: Sequence[Sequence[int]]

    @classmethod
    def find(cls, tree: TopicTree, documents: Iterable[TopicDocument]) -> KeywordMatches:
        rules = KeywordRules(tree)
        return cls(rules, [rules.matching(document) for document in documents])

    @property
    def coverage(self) -> float:
        """The share of documents with any keyword."""
        return sum(map(bool, self.by_document)) / max(len(self.by_document), 1)

    @cached_property
    def frequencies(self) -> Floats:
        """The number of documents that each rule matches, (rules,)."""
        every = [number for matched in self.by_document for number in matched]
        return np.bincount(every, minlength=len(self.rules.rules)).astype(np.float64)

    @property
    def rarity(self) -> Floats:
        """Weight of a match of each rule, log(documents / documents that match), (rules,)."""
        return np.log(max(len(self.by_document), 1) / np.maximum(self.frequencies, 1.0)) + 1e-9

    def first(self) -> Floats:
        """Return labels by the rule list of the paper: the first match alone decides, (documents, leaves)."""
        shares = self.rules.leaf_shares
        labels = np.zeros((len(self.by_document), shares.shape[1]))
        for row, matched in zip(labels, self.by_document, strict=True):
            if matched:
                row[:] = shares[matched[0]]
        return labels

    def votes(self) -> Floats:
        """Return labels by a vote of all matches, weighted by rarity, (documents, leaves).

        Matches of single leaves outrank those of interior topics. Rows sum to 1, or to 0 without a match.
        """
        shares = self.rules.leaf_shares * self.rarity[:, None]
        labels = np.zeros((len(self.by_document), shares.shape[1]))
        for row, matched in zip(labels, self.by_document, strict=True):
            if matched:
                votes = shares[self.rules.most_specific(matched)].sum(axis=0)
                row[:] = votes / votes.sum()
        return labels


_MIN_PRIOR_WEIGHT = 0.01  # below this the prior changes no placement, and skipping it saves time


@dataclass(frozen=True)
class KeywordPrior:
    """A prior over leaves from a document's keywords.

    `worth` (rules,) is the weight of a match of each rule; `weight`, 0 to 1, is the share of the prior in the
    mixture with the learned probabilities.
    """

    rules: KeywordRules
    worth: Floats
    weight: float

    @classmethod
    def from_matches(cls, matches: KeywordMatches, enough_documents: float) -> KeywordPrior:
        """Weight the prior by how little was learned.

        The weight is 0.5 with `enough_documents` labelled documents a topic, and falls with their square.
        """
        labels = matches.votes()
        labelled = labels.any(axis=1).sum() / max(labels.any(axis=0).sum(), 1)
        weight = 1.0 / (1.0 + (labelled / enough_documents) ** 2)
        return cls(matches.rules, matches.rarity, weight if weight > _MIN_PRIOR_WEIGHT else 0.0)

    def mix(
        self, document: TopicDocument, leaves: Floats, outside: Floats, matched: Sequence[int] | None = None
    ) -> tuple[Floats, Floats]:
        """Return the probabilities of leaves (C,) and of places outside (I,), mixed with the prior.

        Outside probabilities shrink as well: unfamiliar words mean nothing where no topic knows its words yet.
        """
        if not self.weight:
            return leaves, outside
        prior = self.votes(document, self.rules.matching(document) if matched is None else matched)
        mixed = self.weight * prior + (1.0 - self.weight) * leaves if prior.any() else leaves
        return mixed, (1.0 - self.weight) * outside

    def votes(self, document: TopicDocument, matched: Sequence[int]) -> Floats:
        """Return the prior over leaves (C,); a keyword counts with the square root of its occurrences."""
        if not matched:
            return np.zeros(self.rules.leaf_shares.shape[1])
        counts = np.sqrt([self.rules.rules[number].count(document) for number in matched])
        votes = (counts * self.worth[list(matched)]) @ self.rules.leaf_shares[list(matched)]
        return np.asarray(votes / votes.sum(), dtype=np.float64)
