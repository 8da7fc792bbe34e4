"""Which link of a page, as our reader sees it, was the one that a person clicked."""

from __future__ import annotations

from collections.abc import Iterable

from trailmark.page import Link, Page
from trailmark.words import words


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
