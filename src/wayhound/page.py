"""Pages and links, as they were read from what was fetched."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from wayhound import media

LinkKind = Literal[
    "a", "area", "frame", "iframe", "refresh", "next", "canonical", "redirect", "start", "sitemap"
]


@dataclass(frozen=True, slots=True)
class Link:
    """A link on a page.

    `text` is the anchor text with the alt texts of its images and its title; `before` and `after` are up to ten
    words around it in reading order, lower case; `region` is the path of tags with classes from the body down to
    the link, such as ``body>div.nav>ul>li>a``.
    """

    url: str
    text: str = ""
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    region: str = ""
    kind: LinkKind = "a"
    nofollow: bool = False


@dataclass(frozen=True, slots=True)
class Page:
    """A page that was fetched and parsed. `tokens` are the visible words of the body in reading order.

    `sections` are the parts of the page that it links to itself, as fragment and link text, and `feeds` the URLs of its
    feeds.
    """

    url: str
    title: str = ""
    description: str = ""
    keywords: tuple[str, ...] = ()
    headings: tuple[str, ...] = ()
    tokens: tuple[str, ...] = ()
    links: tuple[Link, ...] = ()
    canonical: str = ""
    language: str = ""
    charset: str = ""
    content_type: str = "text/html"
    digest: str = ""
    nofollow: bool = False
    noindex: bool = False
    sections: tuple[tuple[str, str], ...] = ()
    feeds: tuple[str, ...] = ()

    @property
    def is_document(self) -> bool:
        """True for a file without words and links, such as a PDF, which is known by its URL and its path alone."""
        is_empty = not (self.tokens or self.links or self.title)
        return is_empty and not media.is_page_type(self.content_type)

    @property
    def kind(self) -> str:
        """`page`, `document` for files that people read, or the media type of other files."""
        return media.file_kind(self.content_type, self.url) if self.is_document else media.PAGE


@dataclass(frozen=True, slots=True)
class Unreadable:
    """Content that cannot be parsed as a page, and why: `empty`, `not_html`, `binary`."""

    url: str
    reason: Literal["empty", "not_html", "binary"]
    content_type: str = ""
    digest: str = ""
    noindex: bool = False


def to_page(content: Page | Unreadable | None) -> Page | None:
    """Return the content as a page: a document is a page without words. None for empty content."""
    if not isinstance(content, Unreadable):
        return content
    if content.reason == "empty":
        return None
    # a server that calls binary content a page is wrong, so the name of the file decides
    named_type = "" if media.is_page_type(content.content_type) else content.content_type
    return Page(
        content.url,
        content_type=media.resolve_type(named_type, content.url),
        digest=content.digest,
        noindex=content.noindex,
    )
