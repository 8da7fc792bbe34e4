"""Read what a page says about itself without showing it: description, robots rules, where to go instead."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from selectolax.lexbor import LexborNode

from trailmark.extract.robots_rules import RobotsRules, RobotsTag
from trailmark.page import Link, LinkKind
from trailmark.url import normalise

MAX_FIELD_CHARS = 1_000
MAX_KEYWORDS = 100

_REFRESH = re.compile(r"\s*[\d.]*\s*[;,]?\s*(?:url\s*=)?\s*[\"']?\s*([^\"']*)", re.IGNORECASE)
_RELATIONS: dict[str, LinkKind] = {"next": "next", "canonical": "canonical"}


class Head(NamedTuple):
    """What the page says about itself; `links` are those that no reader sees."""

    description: str
    keywords: tuple[str, ...]
    rules: RobotsRules
    canonical: str
    links: tuple[Link, ...]


def field(text: str | None) -> str:
    """One line of reasonable length."""
    return " ".join(text[: 4 * MAX_FIELD_CHARS].split())[:MAX_FIELD_CHARS] if text else ""


def base_of(bases: Sequence[LexborNode], url: str) -> str:
    """What links are relative to: the first base that can be fetched, else the page itself."""
    hrefs = (base.attributes.get("href") for base in bases)
    return next((base for href in hrefs if href and (base := normalise(href, url))), url)


def title_of(titles: Sequence[LexborNode]) -> str:
    """The first title that is the page's own; drawings have titles too."""
    return next((field(node.text()) for node in titles if not _in_drawing(node)), "")


def _in_drawing(node: LexborNode) -> bool:
    above = node.parent
    while above is not None and above.tag not in {"head", "body", "svg"}:
        above = above.parent
    return above is not None and above.tag == "svg"


def language_of(root: LexborNode | None) -> str:
    attributes = root.attributes if root else {}
    return field(attributes.get("lang") or attributes.get("xml:lang")).lower()[:35]


def read_head(
    metas: Sequence[LexborNode], relations: Sequence[LexborNode], url: str, base: str, tag: RobotsTag
) -> Head:
    named, refreshes = _sorted(metas)
    rules = tag.rules(named)
    found = [*_refresh_links(refreshes, base), *_related_links(relations, base)]
    links = [
        Link(to, region=where, kind=kind, nofollow=rules.nofollow) for to, where, kind in found if to != url
    ]
    return Head(
        description=field(named.get("description", [""])[0]),
        keywords=_keywords(named.get("keywords", [""])[0]),
        rules=rules,
        canonical=next((to for to, _, kind in found if kind == "canonical"), ""),
        links=tuple(dict.fromkeys(links)),
    )


def _sorted(metas: Sequence[LexborNode]) -> tuple[dict[str, list[str]], list[str]]:
    """Contents by lower-case name, in their order; and contents of refreshes."""
    named: dict[str, list[str]] = {}
    refreshes: list[str] = []
    for meta in metas:
        attributes = meta.attributes
        content = attributes.get("content")
        if not content:
            continue
        if name := attributes.get("name"):
            named.setdefault(name.strip().lower(), []).append(content)
        elif (attributes.get("http-equiv") or "").strip().lower() == "refresh":
            refreshes.append(content)
    return named, refreshes


def _keywords(content: str) -> tuple[str, ...]:
    listed = re.split(r"[,;、，]", content[: 10 * MAX_FIELD_CHARS])
    return tuple(keyword for part in listed if (keyword := field(part)))[:MAX_KEYWORDS]


def _refresh_links(contents: Sequence[str], base: str) -> list[tuple[str, str, LinkKind]]:
    found: list[tuple[str, str, LinkKind]] = []
    for content in contents:
        target = _REFRESH.match(content)
        if target and target[1] and (to := normalise(target[1], base)):
            found.append((to, "head>meta", "refresh"))
    return found


def _related_links(relations: Sequence[LexborNode], base: str) -> list[tuple[str, str, LinkKind]]:
    found: list[tuple[str, str, LinkKind]] = []
    for node in relations:
        attributes = node.attributes
        kinds = [
            _RELATIONS[rel] for rel in (attributes.get("rel") or "").lower().split() if rel in _RELATIONS
        ]
        if kinds and (href := attributes.get("href")) and (to := normalise(href, base)):
            found += [(to, "head>link", kind) for kind in kinds]
    return found
