"""What links of one kind turned out to be worth on this site, and what that says of those still waiting.

A taught score is a guess that was made on other sites. Links that stand alike (in one list of a page, say)
mostly lead to pages that are alike, so what the fetched ones turned out to be worth soon tells more than the
guess.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field


@dataclass
class GroupMeans:
    """The mean worth of the links fetched so far, group by group.

    `weight` is how many fetched links the guess counts for: with that many fetched, guess and experience
    have an equal say.
    """

    weight: float = 2.0
    _sums: dict[Hashable, float] = field(default_factory=dict)
    _counts: dict[Hashable, int] = field(default_factory=dict)

    def learn(self, groups: Sequence[Hashable], worth: float) -> None:
        for group in groups:
            self._sums[group] = self._sums.get(group, 0.0) + worth
            self._counts[group] = self._counts.get(group, 0) + 1

    def revised(self, guess: float, groups: Sequence[Hashable]) -> float:
        """The guess after what was learned of its groups, the widest first: each narrows the one before."""
        score = guess
        for group in groups:
            fetched = self._counts.get(group, 0)
            if fetched:
                score = (self.weight * score + self._sums[group]) / (self.weight + fetched)
        return score
