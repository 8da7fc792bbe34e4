"""Read the head of a page: description, keywords, robots rules, canonical and other links that no reader sees."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from selectolax.lexbor import LexborNode

from wayhound.page import Link, LinkKind
from wayhound.url import normalise

_EVERYBODY = "robots"
_NAME = re.compile(r"\s*([\w*-]+)(?:/[\w.]*)?\s*", re.ASCII)
# Rules with a value after a colon; elsewhere, a robot's name stands before the colon.
_VALUED = frozenset({"unavailable_after", "max-snippet", "max-image-preview", "max-video-preview"})


class RobotsRules(NamedTuple):
    """`nofollow`: robots must not follow the page's links. `noindex`: it must not be shown to the public."""

    nofollow: bool = False
    noindex: bool = False


class RobotsTag(NamedTuple):
    """The values of ``X-Robots-Tag`` headers, a line each, and the crawler's name, which rules may address."""

    lines: str = ""
    product: str = "Wayhound"

    def rules(self, metas: Mapping[str, Sequence[str]] | None = None) -> RobotsRules:
        """Return the rules of the headers and of `metas`, contents by lower-case name, combined."""
        product = self.product.lower()
        texts = [text for name in (_EVERYBODY, product) for text in (metas or {}).get(name, ())]
        texts += [rule for line in self.lines.splitlines() for rule in _for_us(line, product)]
        words = {word for text in texts for word in _words(text)}
        none = "none" in words
        return RobotsRules(none or "nofollow" in words, none or "noindex" in words)


def _for_us(line: str, product: str) -> Iterator[str]:
    """Yield the rules of a header for everybody and for `product`; a name applies until the next one."""
    name = _EVERYBODY
    for part in line.split(","):
        before, colon, after = part.partition(":")
        match = _NAME.fullmatch(before) if colon else None
        if match is None or match[1].lower() in _VALUED:
            rule = part
        else:
            name, rule = match[1].lower(), after
        if name in {_EVERYBODY, "*", product}:
            yield rule


def _words(text: str) -> Iterator[str]:
    for rule in text.lower().split(","):
        if ":" not in rule:  # ``max-image-preview: none`` is about images alone
            yield from rule.split()


MAX_FIELD_CHARS = 1_000
MAX_KEYWORDS = 100
MAX_FEEDS = 3
_FEED_TYPES = frozenset({"application/rss+xml", "application/atom+xml"})

_REFRESH = re.compile(r"\s*[\d.]*\s*[;,]?\s*(?:url\s*=)?\s*[\"']?\s*([^\"']*)", re.IGNORECASE)
_RELATIONS: dict[str, LinkKind] = {"next": "next", "canonical": "canonical"}


class Head(NamedTuple):
    """The metadata of a page; `links` are those that no reader sees."""

    description: str
    keywords: tuple[str, ...]
    rules: RobotsRules
    canonical: str
    links: tuple[Link, ...]
    feeds: tuple[str, ...]


def one_line(text: str | None) -> str:
    """Return the text on one line of at most `MAX_FIELD_CHARS`."""
    return " ".join(text[: 4 * MAX_FIELD_CHARS].split())[:MAX_FIELD_CHARS] if text else ""


def base_url(bases: Sequence[LexborNode], url: str) -> str:
    """Return the URL that links are relative to: the first valid base, else the page's own."""
    hrefs = (base.attributes.get("href") for base in bases)
    return next((base for href in hrefs if href and (base := normalise(href, url))), url)


def title_of(titles: Sequence[LexborNode]) -> str:
    """Return the first title that is not of an SVG drawing."""
    return next((one_line(node.text()) for node in titles if not _in_svg(node)), "")


def _in_svg(node: LexborNode) -> bool:
    above = node.parent
    while above is not None and above.tag not in {"head", "body", "svg"}:
        above = above.parent
    return above is not None and above.tag == "svg"


def language_of(root: LexborNode | None) -> str:
    attributes = root.attributes if root else {}
    return one_line(attributes.get("lang") or attributes.get("xml:lang")).lower()[:35]


def read_head(
    metas: Sequence[LexborNode], relations: Sequence[LexborNode], url: str, base: str, tag: RobotsTag
) -> Head:
    by_name, refreshes = _meta_contents(metas)
    rules = tag.rules(by_name)
    targets = [*_refresh_links(refreshes, base), *_related_links(relations, base)]
    links = [
        Link(target, region=region, kind=kind, nofollow=rules.nofollow)
        for target, region, kind in targets
        if target != url
    ]
    return Head(
        description=one_line(by_name.get("description", [""])[0]),
        keywords=_keywords(by_name.get("keywords", [""])[0]),
        rules=rules,
        canonical=next((target for target, _, kind in targets if kind == "canonical"), ""),
        links=tuple(dict.fromkeys(links)),
        feeds=_feeds(relations, base),
    )


def _feeds(relations: Sequence[LexborNode], base: str) -> tuple[str, ...]:
    """Return the feeds of a page, each once, in their order."""
    hrefs = (
        node.attributes.get("href") or ""
        for node in relations
        if (node.attributes.get("type") or "").lower().strip() in _FEED_TYPES
        and "alternate" in (node.attributes.get("rel") or "").lower().split()
    )
    return tuple(dict.fromkeys(url for href in hrefs if href and (url := normalise(href, base))))[:MAX_FEEDS]


def _meta_contents(metas: Sequence[LexborNode]) -> tuple[dict[str, list[str]], list[str]]:
    """Return the contents by lower-case name, in document order, and the contents of refreshes."""
    by_name: dict[str, list[str]] = {}
    refreshes: list[str] = []
    for meta in metas:
        attributes = meta.attributes
        content = attributes.get("content")
        if not content:
            continue
        if name := attributes.get("name"):
            by_name.setdefault(name.strip().lower(), []).append(content)
        elif (attributes.get("http-equiv") or "").strip().lower() == "refresh":
            refreshes.append(content)
    return by_name, refreshes


def _keywords(content: str) -> tuple[str, ...]:
    parts = re.split(r"[,;、，]", content[: 10 * MAX_FIELD_CHARS])
    return tuple(keyword for part in parts if (keyword := one_line(part)))[:MAX_KEYWORDS]


def _refresh_links(contents: Sequence[str], base: str) -> list[tuple[str, str, LinkKind]]:
    links: list[tuple[str, str, LinkKind]] = []
    for content in contents:
        match = _REFRESH.match(content)
        if match and match[1] and (target := normalise(match[1], base)):
            links.append((target, "head>meta", "refresh"))
    return links


def _related_links(relations: Sequence[LexborNode], base: str) -> list[tuple[str, str, LinkKind]]:
    links: list[tuple[str, str, LinkKind]] = []
    for node in relations:
        attributes = node.attributes
        kinds = [
            _RELATIONS[rel] for rel in (attributes.get("rel") or "").lower().split() if rel in _RELATIONS
        ]
        if kinds and (href := attributes.get("href")) and (target := normalise(href, base)):
            links += [(target, "head>link", kind) for kind in kinds]
    return links
