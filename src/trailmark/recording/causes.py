"""Why a tab shows what it shows: which link led there, through redirects, scripts and frames."""

from __future__ import annotations

from trailmark.page import Link
from trailmark.recording.links import link_to
from trailmark.recording.saver import Saver
from trailmark.recording.session import Session
from trailmark.recording.tab import Place, Tab


def link_that_led(saver: Saver, tab: Tab, place: Place) -> Link | None:
    """The link of the page before that was clicked, or that leads here; None for what was typed in."""
    before = saver.session.at(tab.id)
    if before is None or place.typed:
        return None
    asked = _asked(tab, place.url)
    clicked = saver.session.clicked(tab.id)
    if clicked is not None and clicked.url in asked:
        return clicked
    page = saver.page(before.number)
    found = link_to(page, asked) if page else None
    return found if found is not None or place.submitted else clicked


def is_way_on(session: Session, tab: Tab, place: Place) -> bool:
    """Whether what a frame shows was clicked for or gone back to; advertisements come by themselves."""
    clicked = session.clicked(tab.id)
    return session.knows(tab.id, place.entry, place.url) or (
        clicked is not None and clicked.url in _asked(tab, place.url)
    )


def _asked(tab: Tab, url: str) -> tuple[str, ...]:
    """The addresses that led to a page by redirects, its own included."""
    loaded = tab.loaded(url)
    return (url, *loaded.asked) if loaded else (url,)
