"""Citation matching as McCallum et al. (2000, section 2) describe it, the baseline to beat.

A citation joins the group of the citation that it matches best by words, if the score is above a threshold,
and else founds one. The score counts the words of high-content fields, authors and titles, that both share,
against the lengths of both (the Baseline Simple of Giles et al. 1998).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence

from wayhound.citations.citation import Citation, guess_fields
from wayhound.text.folding import plain_words

CONTENT_WEIGHT = 2  # a word of authors or title counts as much as two of the rest


class WordMatcher:
    """The seed's matcher: `add` tells the group of each citation in turn."""

    def __init__(self, threshold: float = 0.6) -> None:
        self.threshold = threshold
        self._bags: list[Counter[str]] = []
        self._groups: list[int] = []
        self._with_word: defaultdict[str, list[int]] = defaultdict(list)

    def add(self, citation: Citation) -> int:
        bag = word_bag(citation)
        best, score = self._best(bag)
        group = self._groups[best] if score >= self.threshold else len(self._bags)
        for word in bag:
            self._with_word[word].append(len(self._bags))
        self._bags.append(bag)
        self._groups.append(group)
        return group

    def add_all(self, citations: Sequence[Citation]) -> list[int]:
        return [self.add(each) for each in citations]

    def _best(self, bag: Counter[str]) -> tuple[int, float]:
        """The best match so far; the earliest where several are as good."""
        shared: Counter[int] = Counter()
        for word, weight in bag.items():
            for other in self._with_word[word]:
                shared[other] += min(weight, self._bags[other][word])
        length = bag.total()
        scored = ((2 * count / (length + self._bags[at].total()), -at) for at, count in shared.items())
        score, at = max(scored, default=(0.0, 0))
        return -at, score


def word_bag(citation: Citation) -> Counter[str]:
    """The words of a citation; those of high-content fields weigh more."""
    given = guess_fields(citation) if citation.is_raw else citation
    bag = Counter(dict.fromkeys(plain_words(given.all_text), 1))
    bag.update(dict.fromkeys(plain_words(f"{given.authors} {given.title}"), CONTENT_WEIGHT - 1))
    return bag
