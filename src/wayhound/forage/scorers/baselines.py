"""Baseline strategies that learn nothing: breadth-first, and a random order that can be repeated."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Self
from zlib import crc32

from wayhound.forage.scorer import GoalPattern, Rated, Reading, State, StrategyInput
from wayhound.page import Link, Page
from wayhound.site import Site


@dataclass(frozen=True)
class BreadthFirst:
    """Scores a link by its depth: 1 / (1 + clicks from the start)."""

    goal: GoalPattern = field(default_factory=GoalPattern)

    @classmethod
    def from_input(cls, strategy_input: StrategyInput) -> Self:
        return cls(strategy_input.goal)

    def start(self, site: Site) -> State:  # noqa: ARG002
        return 0

    def read(self, state: State, page: Page) -> Reading:
        return Reading(state, goal=self.goal.probability(page))

    def rate(self, reading: Reading, links: Sequence[Link]) -> list[Rated]:
        depth = reading.state + 1
        rated = Rated(1.0 / (1.0 + depth), depth)
        return [rated] * len(links)

    def combine(self, current: float, new: float) -> float:
        return max(current, new)


@dataclass(frozen=True)
class RandomOrder:
    """Scores a link by a hash of the seed and its URL, so that the order of arrival does not matter."""

    seed: int = 0
    goal: GoalPattern = field(default_factory=GoalPattern)

    @classmethod
    def from_input(cls, strategy_input: StrategyInput) -> Self:
        return cls(strategy_input.seed, strategy_input.goal)

    def start(self, site: Site) -> State:  # noqa: ARG002
        return None

    def read(self, state: State, page: Page) -> Reading:
        return Reading(state, goal=self.goal.probability(page))

    def rate(self, reading: Reading, links: Sequence[Link]) -> list[Rated]:  # noqa: ARG002
        return [Rated(crc32(f"{self.seed} {link.url}".encode()) / 2**32) for link in links]

    def combine(self, current: float, new: float) -> float:  # noqa: ARG002
        return current
