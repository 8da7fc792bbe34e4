"""Pages and links as a person meets them: what they say and where they stand."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

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


@dataclass(frozen=True, slots=True)
class Unreadable:
    """Content that cannot be read as a page, and why: `empty`, `not_html`, `binary`."""

    url: str
    reason: Literal["empty", "not_html", "binary"]
    content_type: str = ""
    digest: str = ""
