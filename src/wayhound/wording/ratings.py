"""How a model rates a page and its links, in words."""

from __future__ import annotations

from collections import Counter

from wayhound.forage.explain import Explanation
from wayhound.wording.faults import format_fault
from wayhound.wording.labels import format_label
from wayhound.wording.quantities import count


def format_expectation(label: str, goal: float) -> str:
    """Return `one click before a goal (a goal by 12%)`; empty without a label."""
    return f"{format_label(label)} (a goal by {goal:.0%})" if label else ""


def format_other_links(explanation: Explanation, shown: int) -> str:
    """Return how many links are not among those shown, and why some would not be followed."""
    more = len(explanation.links) - shown
    parts = [f"{count(more, 'more link')}" if more > 0 else "", _not_followed(explanation)]
    return "; ".join(filter(None, parts)) or "These are all its links."


def _not_followed(explanation: Explanation) -> str:
    reasons = Counter(reason for _, reason in explanation.not_followed)
    parts = ", ".join(f"{number} ({format_fault(reason)})" for reason, number in sorted(reasons.items()))
    return f"not followed: {parts}" if parts else ""
