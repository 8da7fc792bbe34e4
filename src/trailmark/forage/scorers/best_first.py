"""Most alike first: links near words that the wanted pages use."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Self

from trailmark.errors import UsageError
from trailmark.forage.brief import Brief
from trailmark.forage.goals import GoalPattern
from trailmark.forage.scorer import Rated, Reading, State
from trailmark.page import Link, Page
from trailmark.site import Site
from trailmark.url import url_tokens


@dataclass
class BestFirst:
    """TF-IDF cosine to example pages or keywords.

    A link's score is the mean of two likenesses: of the page it stands on, and of its own words. How rare
    a word is (the IDF) is learned from the pages read so far, so words of a site's every page fade away.
    """

    wanted: Counter[str]
    goal: GoalPattern = field(default_factory=GoalPattern)
    _pages_with: Counter[str] = field(default_factory=Counter, init=False)
    _pages: int = field(default=0, init=False)

    _wanted_norm: float = field(default=0.0, init=False)

    @classmethod
    def from_brief(cls, brief: Brief) -> Self:
        words = Counter(word for keyword in brief.keywords for word in keyword.lower().split())
        for page in brief.examples:
            words.update(_page_words(page))
        if not words:
            raise UsageError("The strategy best-first needs keywords or example pages to compare with.")
        return cls(words, brief.goal)

    def start(self, site: Site) -> State:  # noqa: ARG002
        return 0.0

    def read(self, state: State, page: Page) -> Reading:  # noqa: ARG002
        words = Counter(_page_words(page))
        self._pages += 1
        self._pages_with.update(words.keys())
        self._wanted_norm = self._norm(self.wanted)
        return Reading(self._likeness(words), goal=self.goal.probability(page))

    def rate(self, reading: Reading, links: Sequence[Link]) -> list[Rated]:
        page = reading.state
        return [Rated(0.5 * page + 0.5 * self._likeness(Counter(_link_words(link))), page) for link in links]

    def combine(self, known: float, new: float) -> float:
        return max(known, new)

    def _likeness(self, words: Counter[str]) -> float:
        """Cosine between the wanted words and these, weighted by (1 + log tf) · idf."""
        shared = words.keys() & self.wanted.keys()
        if not shared:
            return 0.0
        dot = sum(
            self._weight(word, words[word]) * self._weight(word, self.wanted[word]) for word in sorted(shared)
        )
        return min(1.0, dot / (self._norm(words) * self._wanted_norm))

    def _norm(self, words: Counter[str]) -> float:
        return math.sqrt(sum(self._weight(word, count) ** 2 for word, count in words.items()))

    def _weight(self, word: str, count: int) -> float:
        idf = math.log((2 + self._pages) / (1 + self._pages_with[word]))
        return (1.0 + math.log(count)) * max(idf, 0.01)


def _page_words(page: Page) -> Iterable[str]:
    yield from page.title.lower().split()
    yield from (word.lower() for word in page.keywords)
    yield from page.tokens


def _link_words(link: Link) -> Iterable[str]:
    yield from link.text.lower().split()
    yield from url_tokens(link.url)
    yield from link.before
    yield from link.after
