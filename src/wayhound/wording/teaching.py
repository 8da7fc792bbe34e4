"""Teaching in words: the keys of the bar, what a session recorded, trails and changes to them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from wayhound.store.trails import AddedTrails, KeptTrail, TrailChange
from wayhound.wording.quantities import count

if TYPE_CHECKING:
    from wayhound.app.teach.teaching import Taught


def format_keys(*, free: bool) -> str:
    """Return the keys of the bar in the browser."""
    marks, end = ("G useful", "D submit") if free else ("G goal, X reject, M mark", "D done")
    return f"In the browser, with Alt+Shift: {marks}, Z undo, N next site, {end}, B move the bar."


def format_session(taught: Taught) -> str:
    """Return `12 pages seen, 3 goals, 2 rejected, 4 paths not taken.`"""
    pages = count(len(taught.session.nodes), "page")
    if taught.record.way == "free":
        useful = count(taught.goals, "useful page")
        return f"{pages} seen, {useful}, {count(taught.failures, 'path')} that led to none."
    not_taken = count(len(taught.session.paths_not_taken()), "path")
    return (
        f"{pages} seen, {count(taught.goals, 'goal')}, {taught.failures:,} rejected, {not_taken} not taken."
    )


def format_marks(taught: Taught) -> str:
    """Return `You marked 3 goals and rejected 2 pages.`, or that nothing can be learned without a goal."""
    if not taught.goals:
        return f"No {'useful page' if taught.record.way == 'free' else 'goal'} was marked. {NOTHING_TO_LEARN}"
    if taught.record.way == "free":
        unmarked = count(taught.failures, "page that you visited", "pages that you visited")
        useful = count(taught.goals, "useful page")
        return f"You marked {useful} and left {unmarked} unmarked, which counts as rejected."
    return f"You marked {count(taught.goals, 'goal')} and rejected {count(taught.failures, 'page')}."


def format_never_loaded(urls: Sequence[str]) -> str:
    """Return a sentence on marked pages that had not loaded when the session ended; empty if there are none."""
    if not urls:
        return ""
    pages = urls[0] if len(urls) == 1 else f"{len(urls)} marked pages ({urls[0]} and others)"
    return f"{pages} had not loaded when you finished, so no trail to {'it' if len(urls) == 1 else 'them'} is saved."


NOTHING_TO_LEARN = (
    "There is nothing to learn from yet: teach the sites again, and mark a page that you look for."
)
NO_PROBLEMS = "No problems found."


def format_added(added: AddedTrails, trails: int, sites: int) -> str:
    """Return how many trails were added, and how many the workspace has now."""
    duplicates = f", {added.duplicates:,} already there" if added.duplicates else ""
    return (
        f"Added {count(len(added.ids), 'trail')}{duplicates}. "
        f"The workspace has {count(trails, 'trail')} on {count(sites, 'site')}."
    )


def format_origin(kept: KeptTrail) -> str:
    """Return `Trail 3 on https://a.example/, taught by Ann at 2026-05-01 10:00 UTC, from lesson.jsonl`."""
    at = datetime.fromtimestamp(kept.taught_at, UTC).strftime("%Y-%m-%d %H:%M")
    by = f" by {kept.trail.taught_by}" if kept.trail.taught_by else ""
    source = f", from {kept.source}" if kept.source else ""
    return f"Trail {kept.id} on {kept.trail.site}, taught{by} at {at} UTC{source}"


def format_change(change: TrailChange) -> str:
    """Return `the deletion of trail 3`, or `the change of step 1 of trail 3 from 'list' to no label`."""
    if change.kind == "delete":
        return f"the deletion of trail {change.trail_id}"
    before, after = (repr(label) if label else "no label" for label in (change.before, change.after))
    return f"the change of step {change.step} of trail {change.trail_id} from {before} to {after}"
