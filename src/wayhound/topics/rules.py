"""What the keywords in a document say by themselves, and how far they are believed beside what was learned.

A topic that two documents teach has learned little more than those two documents: words that both happen to hold
speak for it as loudly as its keyword. In a small collection the keywords themselves know better.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from wayhound.learn.naive_bayes import Floats
from wayhound.topics.documents import TopicDocument
from wayhound.topics.tree import Topic, TopicTree
from wayhound.topics.vocabulary import folded_words


@dataclass(frozen=True, slots=True)
class KeywordRule:
    """A keyword of a topic, as the words that must stand in a document."""

    topic: Topic
    keyword: str
    words: tuple[str, ...]

    def matches(self, document: TopicDocument) -> bool:
        """In running text a phrase must stand in its order; where no order is known, all its words do."""
        if not all(word in document.bag for word in self.words):
            return False
        return len(self.words) == 1 or not document.sequence or _stands_in(self.words, document.sequence)

    def count(self, document: TopicDocument) -> float:
        """How often it stands in a document that it matches."""
        if len(self.words) == 1 or not document.sequence:
            return min(document.bag[word] for word in self.words)
        places = (at for at, word in enumerate(document.sequence) if word == self.words[0])
        return sum(document.sequence[at : at + len(self.words)] == self.words for at in places)


class KeywordRules:
    """The rules of a tree, in order: longer phrases first, as they say more; then as the file has them."""

    def __init__(self, tree: TopicTree) -> None:
        rules = [
            KeywordRule(topic, keyword, tuple(folded_words(keyword)))
            for topic in tree.topics
            for keyword in topic.keywords
        ]
        self.rules = tuple(sorted(rules, key=lambda rule: -len(rule.words)))
        self._leaves = tree.leaves

    @cached_property
    def _by_first_word(self) -> Mapping[str, tuple[int, ...]]:
        found: dict[str, tuple[int, ...]] = {}
        for number, rule in enumerate(self.rules):
            found[rule.words[0]] = (*found.get(rule.words[0], ()), number)
        return found

    def matching(self, document: TopicDocument) -> list[int]:
        """The numbers of all rules that match, the first in order first."""
        candidates = (number for word in document.bag for number in self._by_first_word.get(word, ()))
        return sorted(number for number in candidates if self.rules[number].matches(document))

    def most_exact(self, matched: Sequence[int]) -> Sequence[int]:
        """Of rules that match, those that speak for one leaf alone; all of them where there are none."""
        return [number for number in matched if self.shares[number].max() == 1.0] or matched

    @cached_property
    def shares(self) -> Floats:
        """What one match of each rule says for each leaf, (rules, leaves).

        The keyword of a leaf speaks for it alone, that of a topic with children for all leaves below in equal
        parts.
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
    """Which rules match which documents, and what labels that gives."""

    rules: KeywordRules
    of_documents: Sequence[Sequence[int]]

    @classmethod
    def of(cls, tree: TopicTree, documents: Iterable[TopicDocument]) -> KeywordMatches:
        rules = KeywordRules(tree)
        return cls(rules, [rules.matching(document) for document in documents])

    @property
    def coverage(self) -> float:
        """The share of documents with any keyword."""
        return sum(map(bool, self.of_documents)) / max(len(self.of_documents), 1)

    @cached_property
    def frequencies(self) -> Floats:
        """How many documents each rule matches, (rules,)."""
        every = [number for matched in self.of_documents for number in matched]
        return np.bincount(every, minlength=len(self.rules.rules)).astype(np.float64)

    @property
    def rarity(self) -> Floats:
        """What a match of each rule counts: log(documents / documents that match), (rules,)."""
        return np.log(max(len(self.of_documents), 1) / np.maximum(self.frequencies, 1.0)) + 1e-9

    def first(self) -> Floats:
        """The rule list as the paper has it: the first match alone decides, (documents, leaves)."""
        shares = self.rules.shares
        labels = np.zeros((len(self.of_documents), shares.shape[1]))
        for row, matched in zip(labels, self.of_documents, strict=True):
            if matched:
                row[:] = shares[matched[0]]
        return labels

    def votes(self) -> Floats:
        """All matches speak, rare keywords loudest, (n, leaves); those of leaves, where there are any.

        Each document with a match has one label in all, which its votes share.
        """
        shares = self.rules.shares * self.rarity[:, None]
        labels = np.zeros((len(self.of_documents), shares.shape[1]))
        for row, matched in zip(labels, self.of_documents, strict=True):
            if matched:
                spoken = shares[self.rules.most_exact(matched)].sum(axis=0)
                row[:] = spoken / spoken.sum()
        return labels


def _stands_in(phrase: tuple[str, ...], sequence: tuple[str, ...]) -> bool:
    start = -1
    try:
        while True:
            start = sequence.index(phrase[0], start + 1)
            if sequence[start : start + len(phrase)] == phrase:
                return True
    except ValueError:
        return False


_TOO_QUIET = 0.01


@dataclass(frozen=True)
class KeywordPrior:
    """`worth` (rules,) is what a match of each rule counts, `weight` from 0 to 1 how far all of them are believed."""

    rules: KeywordRules
    worth: Floats
    weight: float

    @classmethod
    def among(cls, matches: KeywordMatches, enough: float) -> KeywordPrior:
        """Believed by half where each topic has `enough` documents with a keyword, and by less with the square."""
        labels = matches.votes()
        taught = labels.any(axis=1).sum() / max(labels.any(axis=0).sum(), 1)
        weight = 1.0 / (1.0 + (taught / enough) ** 2)
        return cls(matches.rules, matches.rarity, weight if weight > _TOO_QUIET else 0.0)

    def join(
        self, document: TopicDocument, leaves: Floats, outside: Floats, matched: Sequence[int] | None = None
    ) -> tuple[Floats, Floats]:
        """The probabilities of leaves (C,) and of places outside (I,), as the keywords change them.

        Words that fit nowhere are no sign of anything where no topic has learned its words.
        """
        if not self.weight:
            return leaves, outside
        said = self.votes(document, self.rules.matching(document) if matched is None else matched)
        joined = self.weight * said + (1.0 - self.weight) * leaves if said.any() else leaves
        return joined, (1.0 - self.weight) * outside

    def votes(self, document: TopicDocument, matched: Sequence[int]) -> Floats:
        """What the rules that match say for each leaf, (C,); said four times, it counts twice."""
        if not matched:
            return np.zeros(self.rules.shares.shape[1])
        counts = np.sqrt([self.rules.rules[number].count(document) for number in matched])
        spoken = (counts * self.worth[list(matched)]) @ self.rules.shares[list(matched)]
        return np.asarray(spoken / spoken.sum(), dtype=np.float64)
