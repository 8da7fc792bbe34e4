"""Which pages count as goals when nothing was taught: by the looks of their URL or title."""

from __future__ import annotations

import re
from dataclasses import dataclass

from trailmark.errors import UsageError
from trailmark.page import Page


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
