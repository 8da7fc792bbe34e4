"""Results of an undo in words, in the same form for every noun that has one."""

from __future__ import annotations

from collections.abc import Sequence

from wayhound.store.papers import PaperCorrection
from wayhound.store.review import ReviewAnswer
from wayhound.store.trails import TrailChange
from wayhound.trail import FAIL, GOAL
from wayhound.wording.quantities import count
from wayhound.wording.teaching import format_change

NOTHING = "There is nothing to undo."
_ANSWERS = {GOAL: "goal", FAIL: "reject", "": "cannot say"}
"""Answers by the words of their buttons; any other is a label."""


def format_trail_undo(change: TrailChange | None) -> str:
    return f"Undone: {format_change(change)}." if change else NOTHING


def format_review_undo(answers: Sequence[ReviewAnswer]) -> str:
    """Return what was taken back: one answer, or the rejection of a list of links."""
    if not answers:
        return NOTHING
    if len(answers) > 1:
        return f"Undone: the rejection of a list, with {count(len(answers), 'trail')}."
    answer = answers[0].answer
    return f"Undone: the answer “{_ANSWERS.get(answer, answer)}”."


def format_correction_undo(correction: PaperCorrection | None) -> str:
    if correction is None:
        return NOTHING
    value = "; ".join(correction.after) or "no value"
    return f"Undone: the correction of {correction.field} of {correction.paper} to {value}."
