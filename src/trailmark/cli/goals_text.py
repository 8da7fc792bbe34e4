"""A goal as a person reads it: how sure, by which way, and why."""

from __future__ import annotations

from rich.text import Text

from trailmark.cli.label_words import in_words
from trailmark.feature_words import reason_words
from trailmark.store.goals import FoundGoal, PathStep

REASONS = 5


def goal_text(goal: FoundGoal) -> Text:
    text = Text.assemble((f"{goal.probability:4.0%} ", "bold green"), (goal.title or "(no title)", "bold"))
    text.append(f"  {goal.url}\n")
    for number, step in enumerate(goal.path):
        text.append(f"     {'  ' * number}{_step(step)}\n")
    spoke_for_it = [(feature, weight) for feature, weight in goal.why if weight > 0]
    if spoke_for_it:
        why = ", ".join(
            f"{reason_words(feature)} {weight:+.2f}" for feature, weight in spoke_for_it[:REASONS]
        )
        text.append(f"     because of {why}\n", style="dim")
    return text


def _step(step: PathStep) -> str:
    label = f" [{in_words(step.label)}]" if step.label else ""
    if not step.link:
        return f"{step.url}{label}"
    return f"› {step.link} ({step.score:.2f}){label}"
