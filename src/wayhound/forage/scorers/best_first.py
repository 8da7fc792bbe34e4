"""Best-first search by keywords, or by similarity to example pages.

A search by keywords recognises goals by all pages of a site together (`KeywordSearch`): a page is judged by where the
keywords are in its name, its URL and the link to it, and by what that says about the other pages of its list.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.resources import files
from typing import Self

from wayhound.errors import UsageError
from wayhound.forage.scorer import (
    NO_ANSWERS,
    FoundPage,
    GoalPattern,
    Rated,
    Reading,
    SiteReport,
    State,
    StrategyInput,
)
from wayhound.learn.odds import log_odds
from wayhound.page import Link, Page
from wayhound.paths.concepts import strip_accents
from wayhound.paths.traits import Keywords, url_shape
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


MAX_DOUBT = 0.8  # above this probability that a site has no goal, none is reported
LEAST_LIKELY = 0.15  # below this probability no page is likely, however few better ones there are
_MATCH = 0.3  # from here on a link of a page counts as one to more of the same
_SEVERAL = 2  # pages in a folder with a keyword: then its pages are goals rather than its index
_EPSILON = 1e-4  # keeps probabilities away from 0 and 1, so that their log odds are finite
PAGE_EVIDENCE = (
    "pattern", "name", "link", "end of URL", "folder", "one of several in folder", "end of URL beside folder",
    "list", "start", "links to more", "pages with keyword", "links", "entry of matching page",
)  # fmt: skip
SITE_EVIDENCE = ("best", "sum", "pages", "pattern")


@dataclass(frozen=True, slots=True)
class KeywordWeights:
    """Weights of the evidence that a page is a goal and that a site has none, each after a bias.

    `bench.keywords --recognition --write` fits them on recorded sites; they know neither goals nor words.
    """

    pages: tuple[float, ...]
    none: tuple[float, ...]


@lru_cache(maxsize=1)
def keyword_weights() -> KeywordWeights:
    """Return the weights that the package ships, read once."""
    text = files("wayhound.paths").joinpath("data", "keywords.json").read_text(encoding="utf-8")
    data = json.loads(text)
    pages, none = (
        tuple(float(data[part][name]) for name in ("bias", *names))
        for part, names in (("pages", PAGE_EVIDENCE), ("none", SITE_EVIDENCE))
    )
    return KeywordWeights(pages, none)


@dataclass(frozen=True, slots=True)
class _KeywordPage:
    """The matches of a page with the keywords, and the list that it belongs to."""

    url: str
    pattern: float
    name: float
    link: float
    end: float  # whether the last part of the URL has a keyword
    folder: float  # whether an earlier part has
    list_key: Hashable  # None for the start page
    parent: float  # how well the page that it was found on matches by its name or URL; 0 for the start page
    shape: str  # of its URL
    more: float  # the share of its links that match
    links: float


_FoundBy = tuple[str, str, float, float]
"""The page that a link is on, its region, how well it matches, and how well that page does."""


@dataclass
class KeywordSearch(BestFirst):
    """Follows links as `BestFirst` does, and recognises goals by the keywords.

    While a site is foraged, a page with a keyword in its URL or title counts as a goal, as before any report.
    """

    weights: KeywordWeights = field(default_factory=keyword_weights)
    pages: list[_KeywordPage] = field(default_factory=list, init=False)

    def start(self, site: Site) -> State:  # noqa: ARG002
        return None

    def read(self, state: State, page: Page) -> Reading:
        reading = super().read(None, page)
        found_by: _FoundBy | None = state
        name, _ = reading.state
        folder, _, end = _folded_path(page.url).rpartition("/")
        matching = sum(self.keywords.in_link(link) > _MATCH for link in page.links)
        self.pages.append(
            _KeywordPage(
                url=page.url,
                pattern=reading.goal,
                name=name,
                link=found_by[2] if found_by else self.keywords.in_link(Link(page.url)),
                end=float(self._has_keyword(end)),
                folder=float(self._has_keyword(folder)),
                list_key=found_by[:2] if found_by else None,
                parent=found_by[3] if found_by else 0.0,
                shape=url_shape(page.url),
                more=matching / max(len(page.links), 1),
                links=math.log1p(len(page.links)),
            )
        )
        # a start page is named after the whole site, and links to all of it
        match = max(name, float(self._has_keyword(page.url.lower()))) if found_by else 0.0
        return Reading((reading.state, page.url, match), goal=reading.goal)

    def _has_keyword(self, text: str) -> bool:
        return any(term in text for term in self.keywords.terms)

    def rate(self, reading: Reading, links: Sequence[Link]) -> list[Rated]:
        state, url, match = reading.state
        rated = super().rate(Reading(state), links)
        return [
            Rated(new.score, (url, link.region, self.keywords.in_link(link), match))
            for link, new in zip(links, rated, strict=True)
        ]

    def evidence(self) -> list[tuple[float, ...]]:
        """Return the evidence of each page read so far, in the order of `PAGE_EVIDENCE`."""
        in_lists: Counter[Hashable] = Counter()
        matching: Counter[Hashable] = Counter()
        alike = Counter(page.shape for page in self.pages)
        for page in self.pages:
            in_lists[page.list_key] += 1
            matching[page.list_key] += int(page.pattern)
        several = float(sum(page.folder for page in self.pages) >= _SEVERAL)
        with_keyword = math.log1p(sum(page.pattern for page in self.pages))
        return [
            (
                page.pattern,
                page.name,
                page.link,
                page.end,
                page.folder,
                page.folder * several,
                page.end * several,
                (matching[page.list_key] - page.pattern) / max(in_lists[page.list_key] - 1, 1),
                float(page.list_key is None),
                page.more,
                page.pattern * with_keyword,
                page.links,
                (1 - page.pattern) * page.parent * math.log1p(alike[page.shape]),
            )
            for page in self.pages
        ]

    def site_evidence(self, probabilities: Sequence[float]) -> tuple[float, ...]:
        """Return the evidence about the site as a whole, in the order of `SITE_EVIDENCE`."""
        return (
            log_odds(max(probabilities, default=0.0), _EPSILON),
            math.log1p(sum(probabilities)),
            math.log1p(len(self.pages)),
            float(any(page.pattern for page in self.pages)),
        )

    def probabilities(self) -> list[float]:
        """Return the probability of each page read so far that it is a goal."""
        return [_probability(self.weights.pages, row) for row in self.evidence()]

    def report(
        self, threshold: float | None = None, *, answers: Mapping[str, bool] = NO_ANSWERS
    ) -> SiteReport:
        """Return the goals and the likely goals among the pages read so far.

        Goals are as many of the likeliest pages as have the best expected F1, or those of at least `threshold`; none
        if the site probably has none. Likely pages are those that would be goals without that doubt, and others
        at least half as likely as the last of them, from `LEAST_LIKELY` on. Answered pages are what the answer says.
        """
        by_words = self.probabilities()
        none = _probability(self.weights.none, self.site_evidence(by_words))
        given = [
            float(answers.get(page.url, probability))
            for page, probability in zip(self.pages, by_words, strict=True)
        ]
        if any(answers.get(page.url) for page in self.pages):
            none = 0.0
        found = [FoundPage(page.url, own) for page, own in zip(self.pages, given, strict=True) if own > 0]
        found.sort(key=lambda page: -page.probability)
        count = (
            _best_expected_f1([page.probability for page in found])
            if threshold is None
            else sum(page.probability >= threshold for page in found)
        )
        goals = 0 if none > MAX_DOUBT else count
        least = max(LEAST_LIKELY, found[count - 1].probability / 2) if count else 1.0
        likely = [page for page in found[goals:] if page.probability >= least]
        return SiteReport(tuple(found[:goals]), tuple(likely), none)


def _best_expected_f1(ordered: Sequence[float]) -> int:
    """Return how many of the likeliest pages, best first, to call goals for the best expected F1."""
    total, best, count, right = sum(ordered), 0.0, 0, 0.0
    for number, probability in enumerate(ordered, start=1):
        right += probability
        if 2 * right / (number + total) > best:
            best, count = 2 * right / (number + total), number
    return count


def _probability(weights: Sequence[float], evidence: Sequence[float]) -> float:
    total = weights[0] + sum(weight * value for weight, value in zip(weights[1:], evidence, strict=True))
    return 0.5 * (1.0 + math.tanh(0.5 * total))


def _folded_path(url: str) -> str:
    """Return the path and query of a URL without slashes at its ends, in lower case and without accents."""
    return strip_accents(url.partition("://")[2].partition("/")[2].rstrip("/").lower())


def make_best_first(strategy_input: StrategyInput) -> BestFirst:
    """Return the scorer: one that recognises goals by the keywords if these alone say what a goal is.

    Raises UsageError without keywords and examples.
    """
    of_words = GoalPattern.for_words(strategy_input.keywords)
    if strategy_input.keywords and not strategy_input.examples and strategy_input.goal == of_words:
        return KeywordSearch.from_input(strategy_input)
    return BestFirst.from_input(strategy_input)


def _page_words(page: Page) -> Counter[str]:
    return Counter([*words(page.title), *words(" ".join(page.keywords)), *page.tokens])


def _link_words(link: Link) -> Counter[str]:
    return Counter([*words(link.text), *url_tokens(link.url), *link.before, *link.after])
