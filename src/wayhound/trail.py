"""Trails: the pages that a person walked, from a site's start to a goal or a dead end."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from wayhound.page import Link, Page

GOAL = "Goal"
FAIL = "Fail"


@dataclass(frozen=True, slots=True)
class Step:
    """The link clicked (None for the start page), the page reached, and its label, if the person gave one.

    `by_script` says that the page before has the link in a browser only, and not as the server sends it.
    """

    page: Page
    link: Link | None = None
    label: str = ""
    by_script: bool = False


@dataclass(frozen=True, slots=True)
class Trail:
    """Steps from the start page of `site` on. The label of the last step is how it ended: `Goal` or `Fail`."""

    site: str
    steps: tuple[Step, ...]
    taught_by: str = field(default="", compare=False)

    @property
    def depth(self) -> int:
        return len(self.steps) - 1

    @property
    def reached_goal(self) -> bool:
        return bool(self.steps) and self.steps[-1].label == GOAL


def goal_kinds(trails: Iterable[Trail]) -> tuple[str, ...]:
    """Return the kinds of the goals (see `Page.kind`). Nothing of another kind can be a goal."""
    goals = (step.page for trail in trails for step in trail.steps if step.label == GOAL)
    return tuple(sorted({page.kind for page in goals}))
