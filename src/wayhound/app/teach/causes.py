"""Why a tab shows what it shows: which link led there, through redirects, scripts and frames."""

from __future__ import annotations

from collections.abc import Iterable

from wayhound.app.teach.saver import Saver
from wayhound.app.teach.session import Session
from wayhound.app.teach.tab import Place, Tab
from wayhound.page import Link, Page
from wayhound.words import words


def clicked_link(page: Page, url: str, text: str, nth: int) -> Link:
    """The link to `url` that says `text`, and of several such the `nth` to that address.

    A link that the reader does not find (in a shadow tree, say) is told with what is known of it.
    """
    shown = [link for link in page.links if link.url == url and link.kind in ("a", "area")]
    if not shown:
        return Link(url, text)
    asked = shown[nth] if 0 <= nth < len(shown) else shown[0]
    if _says(asked, text):
        return asked
    return next((link for link in shown if _says(link, text)), asked)


def link_to(page: Page, urls: Iterable[str]) -> Link | None:
    """The first link of a page to any of `urls`, in whatever way it leads there."""
    wanted = set(urls)
    return next((link for link in page.links if link.url in wanted), None)


def _says(link: Link, text: str) -> bool:
    said = words(text)
    return words(link.text)[: len(said)] == said


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
