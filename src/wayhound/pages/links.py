"""Extract the links of a parsed page with the words around them, in one pass over its text.

Two marker characters are inserted into the tree, before and after every link. The text of the whole body is then
taken once and cut at the markers, which costs a fraction of a walk over all text nodes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from operator import attrgetter, itemgetter
from sys import intern
from typing import NamedTuple, TypeVar

from selectolax.lexbor import LexborNode

from wayhound.page import Link, LinkKind
from wayhound.text.words import spaced
from wayhound.url import normalise

_Item = TypeVar("_Item")

MAX_LINKS = 10_000
MAX_INTERNATIONAL_HOSTS = 300
MAX_LINK_CHARS = 500
WINDOW = 10

# White space to `str.split`, and kept by `spaced`; `strip_marks` removes them from the page first.
_START, _END = "\x1c", "\x1d"
_MARK_REFERENCE = re.compile(r"&#(?:[xX]0*1[cCdD](?![0-9a-fA-F])|0*2[89](?![0-9]));?")

_KINDS: dict[str | None, LinkKind] = {"a": "a", "area": "area", "frame": "frame", "iframe": "iframe"}
_MAX_REGION_CHARS = 300
_MAX_CLASS_CHARS = 32
_MANY_DIGITS = re.compile(r"(?:\d\D*){3}")


class Target(NamedTuple):
    """A link element with a valid URL."""

    node: LexborNode
    url: str
    kind: LinkKind
    attributes: dict[str, str | None]


def strip_marks(html: str) -> str:
    """Return the markup without the marker characters, literal or as numeric references."""
    if _START in html or _END in html:
        html = html.replace(_START, " ").replace(_END, " ")
    return _MARK_REFERENCE.sub(" ", html) if "&#" in html else html


def link_targets(nodes: Sequence[LexborNode], base: str) -> list[Target]:
    """Return the elements with a URL that can be fetched; fragments of the page itself are left out.

    Of more than `MAX_LINKS` elements, only the first to each URL are kept, and at most `MAX_LINKS` are looked at. Links
    to more than `MAX_INTERNATIONAL_HOSTS` are left out.
    """
    links = [(node, attributes, href) for node in nodes if (href := _address(attributes := node.attributes))]
    is_crowded = len(links) > MAX_LINKS
    if is_crowded:
        links = _first_of_each(links, itemgetter(2))[:MAX_LINKS]
    hosts = _InternationalHosts()
    targets = [
        Target(node, url, _KINDS[node.tag], attributes)
        for node, attributes, href in links
        if (href.isascii() or hosts.accept(href)) and (url := normalise(href, base))
    ]
    return _first_of_each(targets, attrgetter("url")) if is_crowded else targets


def _first_of_each(items: Iterable[_Item], key: Callable[[_Item], str]) -> list[_Item]:
    first: dict[str, _Item] = {}
    for item in items:
        first.setdefault(key(item), item)
    return list(first.values())


def _address(attributes: dict[str, str | None]) -> str:
    href = attributes.get("href") or attributes.get("src") or attributes.get("xlink:href") or ""
    return "" if href[:1] == "#" else href


class _InternationalHosts:
    """Counts hosts that need Punycode: encoding one takes most of a millisecond, and a page may have thousands."""

    def __init__(self) -> None:
        self._hosts: set[str] = set()

    def accept(self, href: str) -> bool:
        """Return false if the link leads to one international host too many."""
        host = href.partition("//")[2].partition("/")[0]
        if host.isascii() or host in self._hosts:
            return True
        if len(self._hosts) == MAX_INTERNATIONAL_HOSTS:
            return False
        self._hosts.add(host)
        return True


def mark_links(targets: Sequence[Target]) -> list[str]:
    """Insert the markers into the tree; return the region of every target, as it was before."""
    regions = _Regions()
    names = [regions.region(target) for target in targets]
    for target in targets:
        _mark(target)
    return names


def read_marked_text(
    text: str, targets: Sequence[Target], regions: Sequence[str], nofollow: bool
) -> tuple[list[str], list[Link]]:
    """Return the words of a marked text in reading order, and its links with the words around them.

    If a marker is missing from the text, links cannot be placed, and all come without the words around them.
    """
    words, spans = _words_and_spans(spaced(text).split(_START))
    texts = [piece.partition(_END)[0] for piece in text.split(_START)[1:]]
    if len(texts) != len(targets):
        return words, [unplaced_link(target, nofollow) for target in targets]
    links = [
        _link(target, own_text, region, span, words, nofollow)
        for target, own_text, region, span in zip(targets, texts, regions, spans, strict=True)
    ]
    return words, links


def unplaced_link(target: Target, nofollow: bool) -> Link:
    """Return a link that has no position in the text."""
    return _link(target, "", _Regions().region(target), (0, 0), [], nofollow)


def _mark(target: Target) -> None:
    if target.kind == "a":
        target.node.insert_before(_START)
        target.node.insert_after(_END)
    else:
        target.node.insert_before(_START + _END)


def _words_and_spans(pieces: list[str]) -> tuple[list[str], list[tuple[int, int]]]:
    words = pieces[0].split()
    spans = []
    for piece in pieces[1:]:
        inside, _, after = piece.partition(_END)
        start = len(words)
        words += inside.split()
        spans.append((start, len(words)))
        words += after.split()
    return words, spans


def _link(
    target: Target, own_text: str, region: str, span: tuple[int, int], words: list[str], nofollow: bool
) -> Link:
    _, url, kind, attributes = target
    start, end = span
    rel = attributes.get("rel")
    return Link(
        url,
        _link_text(own_text, attributes, kind),
        tuple(words[start - WINDOW if start > WINDOW else 0 : start]),
        tuple(words[end : end + WINDOW]),
        region,
        kind,
        nofollow=nofollow or (rel is not None and "nofollow" in rel.lower().split()),
    )


def _link_text(own_text: str, attributes: dict[str, str | None], kind: LinkKind) -> str:
    text = " ".join(own_text[: 2 * MAX_LINK_CHARS].split())
    title = attributes.get("title")
    if text and not title:
        return text[:MAX_LINK_CHARS]
    text = text or attributes.get("alt") or ""
    if title and title.casefold() not in text.casefold():
        text = f"{text} {title}"
    text = text or attributes.get("aria-label") or (attributes.get("name") if kind != "a" else "") or ""
    return " ".join(text.split())[:MAX_LINK_CHARS]


class _Regions:
    """Paths of tags with classes from the body down, computed once for each element."""

    def __init__(self) -> None:
        self._paths: dict[int, str] = {}

    def region(self, target: Target) -> str:
        new: list[LexborNode] = []
        above = target.node.parent
        path = ""
        while above is not None and above.tag != "html":
            path = self._paths.get(above.mem_id, "")
            if path:
                break
            new.append(above)
            above = above.parent
        for element in reversed(new):
            path = _append_segment(path, element.tag, element.attributes.get("class"))
            self._paths[element.mem_id] = path
        return _append_segment(path, target.node.tag, target.attributes.get("class"))


@lru_cache(maxsize=4096)
def _append_segment(path: str, tag: str | None, classes: str | None) -> str:
    whole = f"{path}>{_segment(tag or '', classes or '')}" if path else _segment(tag or "", classes or "")
    if len(whole) > _MAX_REGION_CHARS:
        whole = "…>" + whole[-_MAX_REGION_CHARS + 40 :].partition(">")[2]
    return intern(whole)


def _segment(tag: str, classes: str) -> str:
    """Return ``div.nav.wide``: at most three classes, without those that number this one element."""
    names = [name for name in classes[:1000].split() if not _MANY_DIGITS.search(name)]
    return ".".join([tag[:_MAX_CLASS_CHARS], *(name[:_MAX_CLASS_CHARS] for name in names[:3])])
