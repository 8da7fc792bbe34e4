"""Teach: start or resume a session, record it, sum it up; export the web graph of a free session."""

from __future__ import annotations

import getpass
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from wayhound.app.site_list import parse_site
from wayhound.app.teach.recorder import Ending, Recorder
from wayhound.app.teach.saver import Saver
from wayhound.app.teach.session import Session, TeachMode
from wayhound.errors import UsageError
from wayhound.net.browser import BrowserOptions, open_browser
from wayhound.paths.taught_site import hop_label
from wayhound.store.teaching import TeachingStore, TeachPage, TeachSession
from wayhound.trail import GOAL
from wayhound.workspace import Workspace

GRAPH_VERSION = 1


@dataclass(frozen=True, slots=True)
class Taught:
    """The result of a session: how it ended, and its state."""

    record: TeachSession
    ending: Ending
    session: Session
    failures: int  # trails that end at a rejected page, or in free mode at an unmarked one
    never_seen: tuple[str, ...] = ()  # marked pages that had not loaded at the end: no trail leads there

    @classmethod
    def by(cls, saver: Saver, ending: Ending) -> Taught:
        return cls(saver.record, ending, saver.session, saver.failures, tuple(saver.never_seen()))

    @property
    def goals(self) -> int:
        return sum(node.label == GOAL for node in self.session.nodes)


def start_urls(addresses: Iterable[str]) -> tuple[str, ...]:
    """Return start pages in normal form; `acme.example` will do. Raises UsageError for what is no address."""
    return tuple(parse_site(address).start for address in addresses)


def open_session(
    workspace: Workspace, sites: tuple[str, ...], mode: TeachMode, taught_by: str = ""
) -> TeachSession:
    """Resume the unfinished session if it has the same sites and mode, or if no sites are named; else start one.

    Raises UsageError if there are no sites and no unfinished session.
    """
    store = workspace.stores.teaching
    unfinished = store.unfinished()
    if unfinished and (not sites or (unfinished.sites == sites and unfinished.way == mode)):
        return unfinished
    if not sites:
        raise UsageError("Name the start pages to teach on.", next_step="teach https://one.example")
    return store.begin(mode, sites, taught_by or teacher_name(), time.time())


def split_keywords(text: str) -> tuple[str, ...]:
    """Return the keywords that a person typed, separated by spaces or commas, each once."""
    return tuple(dict.fromkeys(text.replace(",", " ").split()))


def teacher_name() -> str:
    with suppress(Exception):  # accounts without a name, as in containers
        return getpass.getuser()
    return ""


async def teach(
    workspace: Workspace,
    record: TeachSession,
    options: BrowserOptions,
    on_start: Callable[[Recorder], None] = lambda _: None,
) -> Taught:
    """Open a browser and record until the teacher is done or the browser was closed."""
    saver = Saver(workspace, record)
    try:
        async with open_browser(options) as context:
            recorder = Recorder(context, saver, back=options.headless)
            on_start(recorder)
            ending = await recorder.run()
    finally:
        saver.close()
    return Taught.by(saver, ending)


def save_free_trails(workspace: Workspace) -> int:
    """Save trails of free sessions that were submitted before such sessions made any. Return how many."""
    return sum(
        _save_trails(workspace, record)
        for record in reversed(workspace.stores.teaching.sessions())
        if record.way == "free"
    )


def _save_trails(workspace: Workspace, record: TeachSession) -> int:
    before = len(workspace.stores.trails)
    Saver(workspace, record).close()  # opening a session saves its trails
    return len(workspace.stores.trails) - before


def graph_data(workspace: Workspace) -> dict[str, Any]:
    """Return the web graph of the last submitted free session as plain data. Raises UsageError if there is none."""
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
    submitted = (
        record for record in store.sessions() if record.way == "free" and record.ended_at is not None
    )
    record = next(submitted, None)
    if record is None:
        raise UsageError(
            "No free session has been submitted in this workspace yet.",
            next_step="teach --free https://one.example",
        )
    return record


def _page(page: TeachPage) -> dict[str, Any]:
    return {
        "url": page.url,
        "title": page.title,
        "useful": page.hops == 0,
        "hops": page.hops,
        "label": hop_label(page.hops),
    }
