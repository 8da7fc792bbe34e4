"""Submissions of visitors and their outcome, in words."""

from __future__ import annotations

from wayhound.app.moderate import Decision
from wayhound.store.submissions import Submission
from wayhound.wording.quantities import count

NOTHING = "(nothing)"


def format_request(submission: Submission) -> str:
    """Return what a submission asks for: a field with its value, or an address."""
    if submission.kind == "correction":
        value = "; ".join(submission.texts) or NOTHING
        return f"{submission.record_id}: {submission.field} = {value}"
    return submission.url


def format_decision(decision: Decision) -> str:
    """Return what was done about a submission."""
    submission = decision.submission
    if submission.state == "rejected":
        return "Nothing was changed."
    match submission.kind:
        case "correction":
            value = ", ".join(submission.texts) or NOTHING
            return f"{submission.field} of {submission.record_id} is now: {value}"
        case "removal":
            return f"Removed {count(decision.removed, 'record')} for good."
        case _:
            return f"{submission.url} is in {decision.site_list}, ready to forage."
