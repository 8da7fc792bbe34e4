"""The interface of a strategy: it reads pages along a path and rates the links on them.

All scores are expected discounted rewards: 1.0 is a goal now, 0.0 is never. So strategies can be compared, mixed
and cut off by one threshold.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Protocol, runtime_checkable

from wayhound.errors import UsageError
from wayhound.page import Link, Page
from wayhound.site import Site


@dataclass(frozen=True, slots=True)
class GoalPattern:
    """A regular expression for the URL or title of goal pages, ignoring case; an empty one matches nothing.

    Raises UsageError if the pattern cannot be compiled.
    """

    pattern: str = ""

    def __post_init__(self) -> None:
        try:
            re.compile(self.pattern)
        except re.error as error:
            raise UsageError(
                f"The goal pattern {self.pattern!r} is not a valid regular expression: {error}."
            ) from None

    @classmethod
    def for_words(cls, words: Sequence[str]) -> GoalPattern:
        """Return the pattern of pages with one of these words in their URL or title."""
        return cls("|".join(re.escape(word) for word in words))

    def probability(self, page: Page) -> float:
        if not self.pattern:
            return 0.0
        texts = (page.url, page.title)
        return float(any(re.search(self.pattern, text, re.IGNORECASE) for text in texts))

    def section(self, page: Page) -> str:
        """Return the fragment of the first part of a page that matches by its name or by the link to it."""
        if not self.pattern:
            return ""
        found = (
            fragment
            for fragment, text in page.sections
            if re.search(self.pattern, fragment, re.IGNORECASE)
            or re.search(self.pattern, text, re.IGNORECASE)
        )
        return next(found, "")


@dataclass(frozen=True, slots=True)
class StrategyInput:
    """Everything that a strategy may be made from; each takes what it needs."""

    goal: GoalPattern = field(default_factory=GoalPattern)
    keywords: tuple[str, ...] = ()
    examples: tuple[Page, ...] = ()
    seed: int = 0
    model: Any = None  # as `wayhound.workspace` loads it; the scorer checks the type


State = Any
"""A scorer's belief along one path: opaque to everything else, and never changed in place."""


@dataclass(frozen=True, slots=True)
class Reading:
    """The result of reading a page: the state after it, its label, and the probability that it is a goal."""

    state: State = None
    label: str = ""
    goal: float = 0.0


@dataclass(frozen=True, slots=True)
class Rated:
    """The score of a link, and the state with which the page behind it will be read.

    `groups` name sets of links that are expected to lead to similar pages, widest first. The rewards of fetched
    links revise the scores of the queued ones in their groups (`frontier.GroupMeans`). `named` is how far names alone
    recommend the link, in [0, 1]: a second order, for stretches in which the scores find nothing.
    """

    score: float
    state: State = None
    groups: tuple[Hashable, ...] = ()
    named: float = 0.0


Reason = tuple[str, float]
"""A token of a page or link, and its weight for the label or the score."""


class Scorer(Protocol):
    """A strategy. Its state travels along the path, so rating a page's links costs one step, not one path.

    A scorer must be deterministic: after a crash, a site's frontier is restored by replaying the saved visits.
    """

    def start(self, site: Site) -> State: ...

    def read(self, state: State, page: Page) -> Reading: ...

    def rate(self, reading: Reading, links: Sequence[Link]) -> list[Rated]: ...

    def combine(self, current: float, new: float) -> float:
        """Return the score of a queued link that is met again on another path."""
        ...


@runtime_checkable
class FileScorer(Protocol):
    """A scorer that can also take documents and other files for goals, by their URL and the path to them."""

    @property
    def file_kinds(self) -> tuple[str, ...]:
        """The kinds of files that can be goals (see `Page.kind`); empty if only pages can."""
        ...


@dataclass(frozen=True, slots=True)
class FoundPage:
    """A page, and the probability that it is a goal."""

    url: str
    probability: float


@dataclass(frozen=True, slots=True)
class SiteReport:
    """The goals of a site and the pages that may be goals, both best first.

    `none_probability` is the probability that the site has no goal, `goals_left` the number of goals that the rest of
    the budget is expected to find; None if nobody knows.
    """

    goals: tuple[FoundPage, ...]
    likely: tuple[FoundPage, ...]
    none_probability: float
    goals_left: float | None = None


NO_ANSWERS: Mapping[str, bool] = MappingProxyType({})


@runtime_checkable
class RecognisingScorer(Protocol):
    """A scorer that recognises goals by all pages of a site together, not by each page as it is read."""

    def report(
        self, threshold: float | None = None, *, answers: Mapping[str, bool] = NO_ANSWERS
    ) -> SiteReport:
        """Return the goals among the pages read so far: those of this probability, or the best cut.

        `answers` are what a person said about pages, by URL: True for a goal.
        """
        ...


@runtime_checkable
class AskingScorer(Protocol):
    """A scorer that recognises goals better if a person answers questions about pages of the site.

    Answers are True for a goal, by the URL of the page.
    """

    def next_question(self, answers: Mapping[str, bool], most: int) -> FoundPage | None:
        """Return the page to ask about next, or None if `most` are answered or no page is worth asking about."""
        ...

    def report(self, *, answers: Mapping[str, bool]) -> SiteReport:
        """Return the goals among the pages read so far, given these answers."""
        ...


@runtime_checkable
class ExplainingScorer(Protocol):
    """A scorer that can explain itself. Strategies without a model cannot."""

    def why_page(self, state: State, page: Page) -> list[Reason]: ...

    def why_link(self, reading: Reading, link: Link) -> list[Reason]: ...

    def expected(self, state: State) -> tuple[str, float]:
        """Return the expected label of the page behind a link, and the probability that it is a goal."""
        ...

    def follows_paths(self, state: State) -> bool:
        """Return True if the state holds evidence from the path to a page."""
        ...


def file_kinds(scorer: Scorer) -> tuple[str, ...]:
    """Return the kinds of files that can be goals to a scorer; none for most."""
    return scorer.file_kinds if isinstance(scorer, FileScorer) else ()
