"""What a strategy is: something that reads pages along a path and rates the links on them.

All scores are in one currency, expected discounted reward: 1.0 is a goal now, 0.0 is never. So strategies
can be compared, mixed and cut off by one threshold.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

from wayhound.errors import UsageError
from wayhound.page import Link, Page
from wayhound.site import Site


@dataclass(frozen=True, slots=True)
class GoalPattern:
    """A pattern that a goal page's URL or title matches, whatever the case; empty matches nothing."""

    pattern: str = ""

    def __post_init__(self) -> None:
        try:
            re.compile(self.pattern)
        except re.error as error:
            raise UsageError(f"The goal pattern {self.pattern!r} cannot be read: {error}.") from None

    def probability(self, page: Page) -> float:
        if not self.pattern:
            return 0.0
        found = re.search(self.pattern, page.url, re.IGNORECASE) or re.search(
            self.pattern, page.title, re.IGNORECASE
        )
        return 1.0 if found else 0.0


@dataclass(frozen=True, slots=True)
class StrategyInput:
    """Each strategy takes what it needs: words or pages that tell the goal, a seed, or a taught model."""

    goal: GoalPattern = field(default_factory=GoalPattern)
    keywords: tuple[str, ...] = ()
    examples: tuple[Page, ...] = ()
    seed: int = 0
    model: Any = None  # as `wayhound.workspace` loaded it; its scorer knows the type


State = Any
"""A scorer's belief along one path; opaque to everybody else and never changed in place."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What a scorer makes of a page: its label, the probability that it is a goal, the belief after it."""

    state: State = None
    label: str = ""
    goal: float = 0.0


@dataclass(frozen=True, slots=True)
class Rated:
    """The score of a link and the belief behind it, with which the page it leads to will be read.

    `groups` name the links that are expected to lead to like pages, the widest group first. What the fetched
    ones turn out to be worth revises the scores of those that wait (`group_means.py`).
    """

    score: float
    state: State = None
    groups: tuple[Hashable, ...] = ()


Reason = tuple[str, float]
"""Something that was seen on a page or a link, and how much it spoke for the label or the score."""


class Scorer(Protocol):
    """A strategy. It carries its belief along the path: rating a page's links costs one step, not one path.

    A scorer must answer the same when it is told the same things in the same order: after a crash a site's
    frontier is built again by telling it the saved visits.
    """

    def start(self, site: Site) -> State: ...

    def read(self, state: State, page: Page) -> Reading: ...

    def rate(self, reading: Reading, links: Sequence[Link]) -> list[Rated]: ...

    def combine(self, known: float, new: float) -> float:
        """The score of a waiting link that is met again on another path."""
        ...


@runtime_checkable
class FileScorer(Protocol):
    """A scorer to whom goals may be documents or other files: it reads them too, by their address and the path."""

    @property
    def file_kinds(self) -> tuple[str, ...]:
        """The kinds of files that may be goals (`Page.kind`); none if goals are pages."""
        ...


@runtime_checkable
class ExplainingScorer(Protocol):
    """A scorer that can say why. Strategies without a model have nothing to tell."""

    def why_page(self, state: State, page: Page) -> list[Reason]: ...

    def why_link(self, reading: Reading, link: Link) -> list[Reason]: ...

    def expected(self, state: State) -> tuple[str, float]:
        """The label of the page behind a link, before it is read, and the probability that it is a goal."""
        ...

    def follows_paths(self, state: State) -> bool:
        """Whether what is expected of a page comes from a path that led to it."""
        ...


def file_kinds(scorer: Scorer) -> tuple[str, ...]:
    """The kinds of files that may be goals to a scorer; to most, files are nothing that could be read."""
    return scorer.file_kinds if isinstance(scorer, FileScorer) else ()
