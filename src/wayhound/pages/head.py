"""Read what a page says about itself without showing it: description, robots rules, where to go instead."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from selectolax.lexbor import LexborNode

from wayhound.page import Link, LinkKind
from wayhound.url import normalise

_EVERYBODY = "robots"
_NAME = re.compile(r"\s*([\w*-]+)(?:/[\w.]*)?\s*", re.ASCII)
# Rules that have a value behind a colon, where others have the name of a robot before it.
_VALUED = frozenset({"unavailable_after", "max-snippet", "max-image-preview", "max-video-preview"})


class RobotsRules(NamedTuple):
    """`nofollow`: the links of the page are not for robots. `noindex`: it is not to be shown to the public."""

    nofollow: bool = False
    noindex: bool = False


class RobotsTag(NamedTuple):
    """The values of ``X-Robots-Tag`` headers, a line each, and the name by which a page may speak to us alone."""

    lines: str = ""
    product: str = "Wayhound"

    def rules(self, metas: Mapping[str, Sequence[str]] | None = None) -> RobotsRules:
        """What the headers and the contents of `metas`, by lower-case name, ask for together."""
        product = self.product.lower()
        texts = [text for name in (_EVERYBODY, product) for text in (metas or {}).get(name, ())]
        texts += [rule for line in self.lines.splitlines() for rule in _for_us(line, product)]
        words = {word for text in texts for word in _words(text)}
        none = "none" in words
        return RobotsRules(none or "nofollow" in words, none or "noindex" in words)


def _for_us(line: str, product: str) -> Iterator[str]:
    """The rules of a header for everybody and for `product`; a name holds until another one stands there."""
    name = _EVERYBODY
    for part in line.split(","):
        before, colon, behind = part.partition(":")
        named = _NAME.fullmatch(before) if colon else None
        if named is None or named[1].lower() in _VALUED:
            rule = part
        else:
            name, rule = named[1].lower(), behind
        if name in {_EVERYBODY, "*", product}:
            yield rule


def _words(text: str) -> Iterator[str]:
    for rule in text.lower().split(","):
        if ":" not in rule:  # the none of ``max-image-preview: none`` is of images alone
            yield from rule.split()


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


def one_line(text: str | None) -> str:
    """One line of reasonable length."""
    return " ".join(text[: 4 * MAX_FIELD_CHARS].split())[:MAX_FIELD_CHARS] if text else ""


def base_of(bases: Sequence[LexborNode], url: str) -> str:
    """What links are relative to: the first base that can be fetched, else the page itself."""
    hrefs = (base.attributes.get("href") for base in bases)
    return next((base for href in hrefs if href and (base := normalise(href, url))), url)


def title_of(titles: Sequence[LexborNode]) -> str:
    """The first title that is the page's own; drawings have titles too."""
    return next((one_line(node.text()) for node in titles if not _in_drawing(node)), "")


def _in_drawing(node: LexborNode) -> bool:
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
    named, refreshes = _sorted(metas)
    rules = tag.rules(named)
    found = [*_refresh_links(refreshes, base), *_related_links(relations, base)]
    links = [
        Link(to, region=where, kind=kind, nofollow=rules.nofollow) for to, where, kind in found if to != url
    ]
    return Head(
        description=one_line(named.get("description", [""])[0]),
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
    return tuple(keyword for part in listed if (keyword := one_line(part)))[:MAX_KEYWORDS]


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
