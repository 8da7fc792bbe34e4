"""What the keywords in a document say by themselves, and how far they are believed beside what was learned.

A topic that two documents teach has learned little more than those two documents: words that both happen to hold
speak for it as loudly as its keyword. In a small collection the keywords themselves know better.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from trailmark.learn.naive_bayes import Floats
from trailmark.organise.topics.documents import Document
from trailmark.organise.topics.rules import KeywordRules, Matches

_TOO_QUIET = 0.01


@dataclass(frozen=True)
class KeywordVoice:
    """`worth` (rules,) is what a match of each rule counts, `weight` from 0 to 1 how far all of them are believed."""

    rules: KeywordRules
    worth: Floats
    weight: float

    @classmethod
    def among(cls, matches: Matches, enough: float) -> KeywordVoice:
        """Believed by half where each topic has `enough` documents with a keyword, and by less with the square."""
        labels = matches.votes()
        taught = labels.any(axis=1).sum() / max(labels.any(axis=0).sum(), 1)
        weight = 1.0 / (1.0 + (taught / enough) ** 2)
        return cls(matches.rules, matches.rarity, weight if weight > _TOO_QUIET else 0.0)

    def join(
        self, document: Document, leaves: Floats, outside: Floats, matched: Sequence[int] | None = None
    ) -> tuple[Floats, Floats]:
        """The probabilities of leaves (C,) and of places outside (I,), as the keywords change them.

        Words that fit nowhere are no sign of anything where no topic has learned its words.
        """
        if not self.weight:
            return leaves, outside
        said = self.votes(document, self.rules.matching(document) if matched is None else matched)
        joined = self.weight * said + (1.0 - self.weight) * leaves if said.any() else leaves
        return joined, (1.0 - self.weight) * outside

    def votes(self, document: Document, matched: Sequence[int]) -> Floats:
        """What the rules that match say for each leaf, (C,); said four times, it counts twice."""
        if not matched:
            return np.zeros(self.rules.shares.shape[1])
        counts = np.sqrt([self.rules.rules[number].count(document) for number in matched])
        spoken = (counts * self.worth[list(matched)]) @ self.rules.shares[list(matched)]
        return np.asarray(spoken / spoken.sum(), dtype=np.float64)
