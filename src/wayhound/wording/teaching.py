"""Teaching in words: the keys of the bar, and what a session recorded."""

from __future__ import annotations

from collections.abc import Sequence

from wayhound.app.teach.teaching import Taught
from wayhound.wording.quantities import count


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
    """Return `You marked 3 goals and rejected 2 pages.`"""
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
