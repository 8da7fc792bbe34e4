"""Trails and changes to them in words."""

from __future__ import annotations

from datetime import UTC, datetime

from wayhound.store.trails import AddedTrails, KeptTrail, TrailChange
from wayhound.wording.quantities import count

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
