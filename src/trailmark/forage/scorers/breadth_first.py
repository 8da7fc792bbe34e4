"""Nearest pages first: the order that knows nothing, and the floor for all others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Self

from trailmark.forage.brief import Brief
from trailmark.forage.goals import GoalPattern
from trailmark.forage.scorer import Rated, Reading, State
from trailmark.page import Link, Page
from trailmark.site import Site


@dataclass(frozen=True)
class BreadthFirst:
    """Scores a link by its depth: 1 / (1 + clicks from the start)."""

    goal: GoalPattern = field(default_factory=GoalPattern)

    @classmethod
    def from_brief(cls, brief: Brief) -> Self:
        return cls(brief.goal)

    def start(self, site: Site) -> State:  # noqa: ARG002
        return 0

    def read(self, state: State, page: Page) -> Reading:
        return Reading(state, goal=self.goal.probability(page))

    def rate(self, reading: Reading, links: Sequence[Link]) -> list[Rated]:
        depth = reading.state + 1
        rated = Rated(1.0 / (1.0 + depth), depth)
        return [rated] * len(links)

    def combine(self, known: float, new: float) -> float:
        return max(known, new)
