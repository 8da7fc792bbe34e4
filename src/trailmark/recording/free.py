"""The web graph of a free session, as a file for others: pages with their hops, and the links between them."""

from __future__ import annotations

from typing import Any

from trailmark.errors import UsageError
from trailmark.store.teaching import TeachingStore, TeachPage, TeachSession
from trailmark.teach.hops import hop_label
from trailmark.workspace import Workspace

GRAPH_VERSION = 1


def graph_data(workspace: Workspace) -> dict[str, Any]:
    """The last free session that was submitted, as plain data."""
    store = TeachingStore(workspace.database)
    record = _last_submitted(store)
    by_url = {page.url: page for page in store.pages(record.id)}
    return {
        "version": GRAPH_VERSION,
        "session": record.id,
        "taught_by": record.taught_by,
        "sites": list(record.sites),
        "pages": [_page(page) for page in by_url.values()],
        "links": [list(link) for link in store.links(record.id)],
    }


def _last_submitted(store: TeachingStore) -> TeachSession:
    ended = (record for record in store.sessions() if record.way == "free" and record.ended_at is not None)
    found = next(ended, None)
    if found is None:
        raise UsageError(
            "No free session has been submitted in this workspace yet: trailmark teach --free URL…"
        )
    return found


def _page(page: TeachPage) -> dict[str, Any]:
    return {
        "url": page.url,
        "title": page.title,
        "useful": page.hops == 0,
        "hops": page.hops,
        "label": hop_label(page.hops),
    }
