"""What the bar of a tab shows: where the session stands, in words."""

from __future__ import annotations

from typing import Any

from wayhound.app.teach.saver import Saver
from wayhound.app.teach.session import Node, Session
from wayhound.trail import FAIL, GOAL
from wayhound.url import host_of


def bar_state(saver: Saver, tab: int) -> dict[str, Any]:
    """As `bar.js` takes it."""
    session, node = saver.session, saver.session.here(tab)
    of = f"{session.site + 1} of {len(session.sites)} · " if len(session.sites) > 1 else ""
    return {
        "site": of + host_of(session.sites[session.site]).partition(":")[0],
        "crumbs": [_crumb(saver, step) for step in session.path(node.number)] if node else [],
        "labels": saver.labels(),
        "page": node is not None,
        "canUndo": session.marks > 0,
        "hasNext": session.has_next_site,
    }


def words_for_mark(session: Session, node: Node, label: str) -> str:
    clicks = len(session.path(node.number)) - 1
    if session.way == "free":
        return "Useful: the way here is kept." if label else "The mark is gone."
    if label == GOAL:
        return f"Goal kept, {clicks} click{'s' * (clicks != 1)} from the start. Go on, or take the next site."
    if label == FAIL:
        return "Kept as a way that leads nowhere. Go back and take another link."
    return f"Marked as {label}." if label else "The mark is gone."


def _crumb(saver: Saver, node: Node) -> dict[str, Any]:
    """A page by what was clicked to get there, which is shorter than most titles."""
    title = saver.pages[node.number].title
    clicked = node.link.text if node.link and node.link.kind == "a" else ""
    start = "Start" if node.url == saver.session.sites[node.site] else ""
    words = start or clicked or title
    return {"page": node.number, "words": words, "title": title, "url": node.url, "label": node.label}
