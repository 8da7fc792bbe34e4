"""What a strategy is told before it sets out."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from trailmark.forage.goals import GoalPattern
from trailmark.page import Page


@dataclass(frozen=True, slots=True)
class Brief:
    """Each strategy takes what it needs: words or pages that tell the goal, a seed, or a taught model."""

    goal: GoalPattern = field(default_factory=GoalPattern)
    keywords: tuple[str, ...] = ()
    examples: tuple[Page, ...] = ()
    seed: int = 0
    model: Any = None  # as `trailmark.workspace` loaded it; its scorer knows the type
