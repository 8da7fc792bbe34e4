"""Turn documents into counts of the words worth counting."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache

import numpy as np
from scipy.sparse import csr_array

from wayhound.text.words import singular, words

MAX_DOCUMENT_WORDS = 200.0

# English only. In other languages the commonest words play the same part, and shrinkage discounts them.
STOP_WORDS = frozenset(
    """
    a about above after again against all also although always am among an and any are as at be because
    been before being below between both but by can cannot could did do does doing done down due during
    each either et etc even ever every few for from further had has have having he her here hers him his
    how however i if in into is it its itself just least less let like made make many may me might more
    most much must my neither no nor not now of off on once one only onto or other others our ours out
    over own per quite rather same several shall she should since so some still such than that the their
    theirs them then there these they this those three through thus to together too toward towards two
    under until up upon us use used using various very via was we well were what when where whether which
    while who whom whose why will with within without would yet you your yours
    """.split()
)


_singular = lru_cache(maxsize=100_000)(singular)


def singular_words(text: str) -> list[str]:
    """Return the words of a text in lower case and in the singular."""
    return [_singular(word) for word in words(text)]


class TopicVocabulary:
    """The words that are counted, each with its column."""

    def __init__(self, listed: Sequence[str]) -> None:
        self.words = tuple(listed)
        self._columns = {word: column for column, word in enumerate(self.words)}

    @classmethod
    def from_bags(cls, bags: Iterable[Mapping[str, float]], min_documents: int) -> TopicVocabulary:
        """Collect the words that occur in at least `min_documents` documents, sorted, without stop words.

        If that leaves none, as in a handful of documents, every word is kept.
        """
        documents = Counter(word for bag in bags for word in bag)
        usable = {word for word in documents if len(word) > 1 and word not in STOP_WORDS}
        common = {word for word in usable if documents[word] >= min_documents}
        return cls(sorted(common or usable))

    def __len__(self) -> int:
        return len(self.words)

    def __contains__(self, word: object) -> bool:
        return word in self._columns

    def column(self, word: str) -> int:
        return self._columns[word]

    def counts(self, bags: Iterable[Mapping[str, float]], max_words: float = MAX_DOCUMENT_WORDS) -> csr_array:
        """Return counts (documents, words). A document of more than `max_words` is scaled down to that length.

        Naive Bayes takes the words of a document to be independent, so it is far too sure of long documents,
        and these would outweigh the short ones in EM.
        """
        columns: list[int] = []
        values: list[float] = []
        ends = [0]
        for bag in bags:
            counted = [(self._columns[word], count) for word, count in bag.items() if word in self._columns]
            scale = min(1.0, max_words / max(sum(count for _, count in counted), 1e-9))
            columns += [column for column, _ in counted]
            values += [count * scale for _, count in counted]
            ends.append(len(columns))
        parts = np.asarray(values, dtype=np.float64), np.asarray(columns, dtype=np.int64), np.asarray(ends)
        return csr_array(parts, shape=(len(ends) - 1, len(self.words)))


def word_counts(listed: Iterable[str]) -> dict[str, float]:
    """Return how often each word occurs in a list."""
    return {word: float(count) for word, count in Counter(listed).items()}


def scale_weights(weights: Mapping[str, float]) -> dict[str, float]:
    """Return word weights, such as tf-idf, scaled to a mean of 1 so that they can stand in for counts."""
    combined: dict[str, float] = {}
    for word, weight in _singular_weights(weights):
        combined[word] = combined.get(word, 0.0) + weight
    total = sum(combined.values())
    return {word: weight * len(combined) / total for word, weight in combined.items()} if total > 0 else {}


def _singular_weights(weights: Mapping[str, float]) -> Iterator[tuple[str, float]]:
    for text, weight in weights.items():
        if weight > 0:
            yield from ((word, weight) for word in singular_words(text))
