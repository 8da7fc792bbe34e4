"""Pages and links as a person meets them: what they say and where they stand."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from wayhound import media

LinkKind = Literal["a", "area", "frame", "iframe", "refresh", "next", "canonical", "redirect", "start"]


@dataclass(frozen=True, slots=True)
class Link:
    """A link: where it goes, what it says, where it stands.

    `text` holds the anchor text with the alt texts of its images and its title; `before` and `after` are
    up to ten words around it in reading order, lower case; `region` is the path of tags with classes from
    the body down to the link, such as ``body>div.nav>ul>li>a``.
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
    """What was fetched, read once. `tokens` are the visible words of the body in reading order."""

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

    @property
    def is_document(self) -> bool:
        """Whether this is a file without words or links, such as a PDF: known by its address and the way to it."""
        says_nothing = not (self.tokens or self.links or self.title)
        return says_nothing and not media.is_page_type(self.content_type)

    @property
    def kind(self) -> str:
        """`page`; of files `document`, or the media type of those that are not for reading."""
        return media.file_kind(self.content_type, self.url) if self.is_document else media.PAGE


@dataclass(frozen=True, slots=True)
class Unreadable:
    """Content that cannot be read as a page, and why: `empty`, `not_html`, `binary`."""

    url: str
    reason: Literal["empty", "not_html", "binary"]
    content_type: str = ""
    digest: str = ""
    noindex: bool = False


def to_page(read: Page | Unreadable | None) -> Page | None:
    """What was read as a page. A document is a page without words; what is empty is none."""
    if not isinstance(read, Unreadable):
        return read
    if read.reason == "empty":
        return None
    # a server that calls bytes a page does not know better than the file's name
    told = "" if media.is_page_type(read.content_type) else read.content_type
    return Page(
        read.url, content_type=media.resolve_type(told, read.url), digest=read.digest, noindex=read.noindex
    )
