"""A goal in words: the clicks that led to it, and the features that spoke for it."""

from __future__ import annotations

from wayhound.store.goals import FoundGoal, PathStep
from wayhound.wording.labels import format_label
from wayhound.wording.reasons import format_reasons, supporting

REASONS_SHOWN = 5


def format_path(goal: FoundGoal) -> list[str]:
    """Return one line per page from the start page to the goal: the link clicked, its score, the page's label."""
    return [_step(step) for step in goal.path]


def format_why(goal: FoundGoal) -> str:
    """Return the features that spoke most for the goal; empty for goals that a pattern decided."""
    return format_reasons(supporting(goal.why), REASONS_SHOWN)


def _step(step: PathStep) -> str:
    label = f" [{format_label(step.label)}]" if step.label else ""
    if not step.link:
        return f"{step.url}{label}"
    return f"› {step.link} ({step.score:.2f}){label}"
