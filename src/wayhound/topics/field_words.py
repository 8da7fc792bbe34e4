"""The words of a field: how likely a document belongs to the field of a shipped tree at all.

Inside a collection, what is foreign can be told only where most documents are not. In a small or mixed one, a few
keywords that other sciences share would pull anything into the tree. So a shipped tree brings the words by which
papers of its field differ from other papers.
"""

from __future__ import annotations

import gzip
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib import resources
from math import exp, log

import numpy as np

from wayhound.learn.arrays import Floats
from wayhound.learn.logistic import LogisticRegression
from wayhound.topics.documents import TopicDocument
from wayhound.topics.tree import TopicTree, parse_tree, shipped_trees
from wayhound.topics.vocabulary import STOP_WORDS

_SHIPPED = "wayhound.topics.trees"
_SUFFIX = ".words.gz"
_MIN_DOCUMENTS = 3  # documents with a word before it has a weight: rarer ones are accidents
_SHRINK = 5.0  # words at the threshold that every document is given, so that a title of four decides little
_FAVOUR = 2.0  # weight that every document is given: a title alone is kept unless it is clearly foreign
_MAX_LOST = 0.08  # share of the field's own documents below the threshold
_SHARED_LEAVES = 0.5  # of a tree that people edited, from which it is still about the same field


@dataclass(frozen=True)
class FieldWords:
    """Log odds of words, field against other fields, with the mean that divides them and how steeply."""

    weights: Mapping[str, float]
    threshold: float = 0.0
    slope: float = 1.0

    @classmethod
    def learn(cls, inside: Sequence[TopicDocument], others: Sequence[Sequence[TopicDocument]]) -> FieldWords:
        """Learn from documents of the field and of `others`, a sequence for each other field.

        Threshold and slope are fitted on documents whose words were not counted: every second one of the field, and
        each other field with the words of the rest, so that a field which nobody taught is expected. The threshold
        is where the share `_MAX_LOST` of the field's own documents would be lost.
        """
        known, new = inside[::2], inside[1::2]
        words = cls(_log_odds(known, _joined(others)))
        threshold = float(np.quantile([words.mean(document) for document in new], _MAX_LOST))
        inner = [replace(words, threshold=threshold).evidence(document) for document in new]
        outer = list[float]()
        for number, field in enumerate(others):
            rest = _joined(other for at, other in enumerate(others) if at != number)
            words = cls(_log_odds(known, rest or field), threshold)
            outer += [words.evidence(document) for document in field]
        classes = np.array([1] * len(inner) + [0] * len(outer), dtype=np.int64)
        weights = np.where(classes == 1, 1 / max(1, len(inner)), 1 / max(1, len(outer))) * len(classes) / 2
        curve = LogisticRegression(2, prior_variance=1e4, reference=True)
        curve.fit(np.array([[value] for value in inner + outer]), classes, weights)
        return cls(_log_odds(inside, _joined(others)), threshold, float(curve.weights_[0, 0]))

    def mean(self, document: TopicDocument) -> float:
        """Return the mean weight of the document's words; words that nobody taught weigh 0."""
        listed = _words(document)
        return sum(self.weights.get(word, 0.0) for word in listed) / max(1, len(listed))

    def evidence(self, document: TopicDocument) -> float:
        """Return how far the mean is above the threshold, shrunk and in favour of documents of few words."""
        n_words = len(_words(document))
        return ((self.mean(document) - self.threshold) * n_words + _FAVOUR) / (n_words + _SHRINK)

    def outside(self, document: TopicDocument) -> float:
        """Return the probability that the document belongs to another field."""
        return 1 / (1 + exp(min(self.slope * self.evidence(document), 500.0)))

    def to_bytes(self) -> bytes:
        lines = [f"{self.threshold:.4f}\t{self.slope:.3f}"]
        lines += [f"{word}\t{weight:.2f}" for word, weight in sorted(self.weights.items())]
        return gzip.compress("\n".join(lines).encode(), mtime=0)

    @classmethod
    def from_bytes(cls, body: bytes) -> FieldWords:
        head, *lines = gzip.decompress(body).decode().splitlines()
        threshold, slope = map(float, head.split("\t"))
        pairs = (line.split("\t") for line in lines)
        return cls({word: float(weight) for word, weight in pairs}, threshold, slope)


def _joined(fields: Iterable[Sequence[TopicDocument]]) -> list[TopicDocument]:
    return [document for field in fields for document in field]


def _words(document: TopicDocument) -> list[str]:
    return [word for word in document.bag if len(word) > 1 and word not in STOP_WORDS and not word.isdigit()]


def _log_odds(inside: Sequence[TopicDocument], outside: Sequence[TopicDocument]) -> dict[str, float]:
    """Return log P(word | inside) / P(word | outside), with one added document on either side.

    A word is counted once a document, and shares are of all words: documents of one side may be titles, of the other
    abstracts.
    """
    here, there = (
        Counter(word for document in part for word in _words(document)) for part in (inside, outside)
    )
    n_here, n_there = max(1, here.total()), max(1, there.total())
    return {
        word: log((here[word] + 1) / n_here) - log((there[word] + 1) / n_there)
        for word in here.keys() | there.keys()
        if here[word] + there[word] >= _MIN_DOCUMENTS
    }


def with_field(words: FieldWords | None, document: TopicDocument, outside: Floats) -> Floats:
    """Return the probabilities of the places outside (I,), the root's first, with that of another field in it.

    What is of the field may still fit none of its topics, so the places share what is left as before.
    """
    if words is None:
        return outside
    foreign = words.outside(document)
    mixed = outside * (1.0 - foreign)
    mixed[0] += foreign
    return mixed


@cache
def shipped_field(name: str) -> FieldWords | None:
    """Return the words of a shipped tree's field, or None if it has none."""
    file = resources.files(_SHIPPED) / f"{name}{_SUFFIX}"
    return FieldWords.from_bytes(file.read_bytes()) if file.is_file() else None


def field_of(tree: TopicTree) -> str:
    """Return the name of the shipped tree that a tree was made from, or an empty text.

    People edit trees, so half of the leaves are enough.
    """
    own = {leaf.path for leaf in tree.leaves}
    for name, text in shipped_trees().items():
        shared = own & {leaf.path for leaf in parse_tree(text).leaves}
        if len(shared) >= _SHARED_LEAVES * len(own) and shipped_field(name):
            return name
    return ""
