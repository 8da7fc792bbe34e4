"""A teaching session as a person orders it: begun or continued, recorded, and summed up."""

from __future__ import annotations

import getpass
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from wayhound.app.teach.recorder import Ending, Recorder
from wayhound.app.teach.saver import Saver
from wayhound.app.teach.session import Session, Way
from wayhound.errors import UsageError
from wayhound.net.browser import BrowserOptions, open_browser
from wayhound.paths.taught_site import hop_label
from wayhound.store.teaching import TeachingStore, TeachPage, TeachSession
from wayhound.trail import GOAL
from wayhound.url import normalise
from wayhound.workspace import Workspace

GRAPH_VERSION = 1


def graph_data(workspace: Workspace) -> dict[str, Any]:
    """The last free session that was submitted, as plain data."""
    store = workspace.stores.teaching
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
            "No free session has been submitted in this workspace yet: wayhound teach --free URL…"
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


@dataclass(frozen=True, slots=True)
class Taught:
    """What came of a session: how it ended, and its state."""

    record: TeachSession
    ending: Ending
    session: Session
    failures: int  # ways that lead nowhere
    never_seen: tuple[str, ...] = ()  # marked, but they did not come before the end: no trail leads there

    @classmethod
    def by(cls, saver: Saver, ending: Ending) -> Taught:
        return cls(saver.record, ending, saver.session, saver.failures, tuple(saver.never_seen()))

    @property
    def goals(self) -> int:
        return sum(node.label == GOAL for node in self.session.nodes)


def start_urls(given: Iterable[str]) -> tuple[str, ...]:
    """Start pages in normal form; a bare host will do."""
    return tuple(map(_start_url, given))


def _start_url(given: str) -> str:
    start = normalise(given if "://" in given else f"http://{given}")
    if not start:
        raise UsageError(f"{given} is not the address of a web page.")
    return start


def open_session(workspace: Workspace, sites: tuple[str, ...], way: Way, taught_by: str = "") -> TeachSession:
    """Begin a session, or go on with the unfinished one: it has the same sites, or none are named."""
    store = workspace.stores.teaching
    unfinished = store.unfinished()
    if unfinished and (not sites or (unfinished.sites == sites and unfinished.way == way)):
        return unfinished
    if not sites:
        raise UsageError("Name the start pages to teach on: wayhound teach URL…")
    return store.begin(way, sites, taught_by or teacher_name(), time.time())


def teacher_name() -> str:
    with suppress(Exception):  # accounts without a name, as in containers
        return getpass.getuser()
    return ""


def keep_free_trails(workspace: Workspace) -> int:
    """Make trails of free sessions that were submitted before free browsing made any; tells how many."""
    return sum(
        _keep_trails(workspace, record)
        for record in reversed(workspace.stores.teaching.sessions())
        if record.way == "free"
    )


def _keep_trails(workspace: Workspace, record: TeachSession) -> int:
    before = len(workspace.stores.trails)
    Saver(workspace, record).close()  # which keeps what a session says, whenever it is opened
    return len(workspace.stores.trails) - before


async def teach(
    workspace: Workspace,
    record: TeachSession,
    options: BrowserOptions,
    on_start: Callable[[Recorder], None] = lambda _: None,
) -> Taught:
    """Open a browser and record until the teacher is done or the browser is gone."""
    saver = Saver(workspace, record)
    try:
        async with open_browser(options) as context:
            recorder = Recorder(context, saver)
            on_start(recorder)
            ending = await recorder.run()
    finally:
        saver.close()
    return Taught.by(saver, ending)
