"""Best-first search by keywords, or by similarity to example pages."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Self

from wayhound.errors import UsageError
from wayhound.forage.scorer import GoalPattern, Rated, Reading, State, StrategyInput
from wayhound.page import Link, Page
from wayhound.paths.traits import Keywords
from wayhound.site import Site
from wayhound.text.words import words
from wayhound.url import url_tokens


@dataclass
class BestFirst:
    """Scores links by keywords, and by the TF-IDF cosine to example pages.

    A link's similarity is the mean of two: of the page it is on, and of its own words. IDF is learned from the pages
    read so far, so words that are on every page of a site lose their weight. That would fade just the navigation
    words that people give as keywords, so these are matched instead (`Keywords`).
    """

    keywords: Keywords
    wanted: Counter[str] = field(default_factory=Counter)
    goal: GoalPattern = field(default_factory=GoalPattern)
    _pages: int = field(default=0, init=False)
    _pages_with: Counter[str] = field(default_factory=Counter, init=False)
    _wanted_norm: float = field(default=0.0, init=False)

    @classmethod
    def from_input(cls, strategy_input: StrategyInput) -> Self:
        """Return the scorer. Raises UsageError without keywords and examples."""
        keywords = Keywords.from_words(strategy_input.keywords)
        wanted: Counter[str] = Counter()
        for page in strategy_input.examples:
            wanted.update(_page_words(page))
        if not keywords and not wanted:
            raise UsageError("The strategy best-first needs keywords or example pages to compare with.")
        return cls(keywords, wanted, strategy_input.goal)

    def start(self, site: Site) -> State:  # noqa: ARG002
        return None

    def read(self, state: State, page: Page) -> Reading:  # noqa: ARG002
        similarity = self._read_similarity(page) if self.wanted else 0.0
        return Reading((self.keywords.in_name(page), similarity), goal=self.goal.probability(page))

    def _read_similarity(self, page: Page) -> float:
        counts = _page_words(page)
        self._pages += 1
        self._pages_with.update(counts.keys())
        self._wanted_norm = self._norm(self.wanted)
        return self._similarity(counts)

    def rate(self, reading: Reading, links: Sequence[Link]) -> list[Rated]:
        name, similarity = reading.state
        if not self.wanted:
            return [Rated(self.keywords.in_link(link, name)) for link in links]
        similarities = [0.5 * similarity + 0.5 * self._similarity(_link_words(link)) for link in links]
        if not self.keywords:
            return [Rated(score) for score in similarities]
        matches = [self.keywords.in_link(link, name) for link in links]
        return [Rated(0.5 * match + 0.5 * score) for match, score in zip(matches, similarities, strict=True)]

    def combine(self, current: float, new: float) -> float:
        return max(current, new)

    def _similarity(self, counts: Counter[str]) -> float:
        """Return the cosine between the wanted words and these, weighted by (1 + log tf) · idf."""
        shared = [word for word in counts if word in self.wanted]
        if not shared:
            return 0.0
        dot = sum(self._weight(word, counts[word]) * self._weight(word, self.wanted[word]) for word in shared)
        return min(1.0, dot / (self._norm(counts) * self._wanted_norm))

    def _norm(self, counts: Counter[str]) -> float:
        return math.sqrt(sum(self._weight(word, count) ** 2 for word, count in counts.items()))

    def _weight(self, word: str, count: int) -> float:
        idf = math.log((2 + self._pages) / (1 + self._pages_with[word]))
        return (1.0 + math.log(count)) * max(idf, 0.01)  # a word of every page still has a little weight


def _page_words(page: Page) -> Counter[str]:
    return Counter([*words(page.title), *words(" ".join(page.keywords)), *page.tokens])


def _link_words(link: Link) -> Counter[str]:
    return Counter([*words(link.text), *url_tokens(link.url), *link.before, *link.after])
