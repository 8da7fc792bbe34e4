"""Submissions of visitors, their outcome, and what was indexed, in words."""

from __future__ import annotations

from wayhound.app.index import Indexed
from wayhound.app.moderate import Decision
from wayhound.plugins import RECORD_KINDS, load_plugins
from wayhound.store.submissions import Submission
from wayhound.wording.quantities import count


def format_indexed(done: Indexed) -> str:
    """Return `Indexed 12 records and 30 works only cited, removed 2, in 0.4 s.`"""
    works = f" and {count(done.works, 'work')} only cited" if done.works else ""
    removed = f", removed {done.removed:,}" if done.removed else ""
    return f"Indexed {count(done.added, 'record')}{works}{removed}, in {done.seconds:.1f} s."


def format_problems(done: Indexed) -> list[str]:
    """Return a message for goals that have no record, and for each plugin that failed."""
    goals = count(done.goals.hidden, "goal")
    hidden = (
        [f"{goals} left out: their pages ask not to be indexed (robots: noindex)."]
        if done.goals.hidden
        else []
    )
    return [*hidden, *done.goals.problems, *load_plugins(RECORD_KINDS)[1]]


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
