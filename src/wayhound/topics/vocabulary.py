"""Turns documents into counts of the words that are worth counting."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache

import numpy as np
from scipy.sparse import csr_array

from wayhound.text.plurals import singular
from wayhound.words import words

LONGEST_DOCUMENT = 200.0

# Words without a topic. One list for English; in other languages the words that stand in most documents play
# the same part, and shrinkage takes care of them.
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


def folded_words(text: str) -> list[str]:
    return [_singular(word) for word in words(text)]


class TopicVocabulary:
    """The words that are counted, each with its column."""

    def __init__(self, listed: Sequence[str]) -> None:
        self.words = tuple(listed)
        self._columns = {word: column for column, word in enumerate(self.words)}

    @classmethod
    def of(cls, bags: Iterable[Mapping[str, float]], least_documents: int) -> TopicVocabulary:
        """All words in at least so many documents that are not on the stop list, in order of the alphabet.

        Where so many would leave nothing, as in a handful of documents, every word counts.
        """
        documents = Counter(word for bag in bags for word in bag)
        usable = {word for word in documents if len(word) > 1 and word not in STOP_WORDS}
        common = {word for word in usable if documents[word] >= least_documents}
        return cls(sorted(common or usable))

    def __len__(self) -> int:
        return len(self.words)

    def __contains__(self, word: object) -> bool:
        return word in self._columns

    def column(self, word: str) -> int:
        return self._columns[word]

    def counts(self, bags: Iterable[Mapping[str, float]], longest: float = LONGEST_DOCUMENT) -> csr_array:
        """Counts (documents, words). A document longer than `longest` words weighs no more than one so long.

        Naive Bayes takes the words of a document as independent; in a long one it grows far too sure, and
        long ones would drown short ones in EM.
        """
        columns: list[int] = []
        values: list[float] = []
        ends = [0]
        for bag in bags:
            known = [(self._columns[word], count) for word, count in bag.items() if word in self._columns]
            scale = min(1.0, longest / max(sum(count for _, count in known), 1e-9))
            columns += [column for column, _ in known]
            values += [count * scale for _, count in known]
            ends.append(len(columns))
        parts = np.asarray(values, dtype=np.float64), np.asarray(columns, dtype=np.int64), np.asarray(ends)
        return csr_array(parts, shape=(len(ends) - 1, len(self.words)))


def bag_of(listed: Iterable[str]) -> dict[str, float]:
    """How often each word stands in a list."""
    return {word: float(count) for word, count in Counter(listed).items()}


def even_bag(weights: Mapping[str, float]) -> dict[str, float]:
    """A weighted bag, as other tools write them, scaled so that a word weighs one on average."""
    folded: dict[str, float] = {}
    for word, weight in _folded(weights):
        folded[word] = folded.get(word, 0.0) + weight
    total = sum(folded.values())
    return {word: weight * len(folded) / total for word, weight in folded.items()} if total > 0 else {}


def _folded(weights: Mapping[str, float]) -> Iterator[tuple[str, float]]:
    for text, weight in weights.items():
        if weight > 0:
            yield from ((word, weight) for word in folded_words(text))
