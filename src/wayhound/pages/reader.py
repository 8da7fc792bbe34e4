"""Parse a fetched body into a `Page`: title, words and links, however bad the markup.

Links are read in one pass: two marker characters are inserted into the tree, before and after every link. The text of
the whole body is then taken once and cut at the markers, which costs a fraction of a walk over all text nodes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from hashlib import sha1
from operator import attrgetter, itemgetter
from sys import intern
from typing import NamedTuple, TypeVar

from selectolax.lexbor import LexborHTMLParser, LexborNode

from wayhound.fetched import Failed, Fetched
from wayhound.page import Link, LinkKind, Page, Unreadable
from wayhound.pages.head import RobotsTag, base_url, language_of, one_line, read_head, title_of
from wayhound.pages.markup_limits import MAX_CHARS, limit_markup
from wayhound.pages.sniff import decode, sniff_kind, sniff_media_type
from wayhound.text.words import spaced, words
from wayhound.url import normalise, normalise_route

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


def link_targets(nodes: Sequence[LexborNode], base: str, *, routes: bool = False) -> list[Target]:
    """Return the elements with a URL that can be fetched; fragments of the page itself are left out.

    With `routes`, fragments that name a page of a script (``#/people``) are kept.

    Of more than `MAX_LINKS` elements, only the first to each URL are kept, and at most `MAX_LINKS` are looked at. Links
    to more than `MAX_INTERNATIONAL_HOSTS` are left out.
    """
    links = [
        (node, attributes, href)
        for node in nodes
        if (href := _address(attributes := node.attributes, routes))
    ]
    normal = normalise_route if routes else normalise
    is_crowded = len(links) > MAX_LINKS
    if is_crowded:
        links = _first_of_each(links, itemgetter(2))[:MAX_LINKS]
    hosts = _InternationalHosts()
    targets = [
        Target(node, url, _KINDS[node.tag], attributes)
        for node, attributes, href in links
        if (href.isascii() or hosts.accept(href)) and (url := normal(href, base))
    ]
    return _first_of_each(targets, attrgetter("url")) if is_crowded else targets


def _first_of_each(items: Iterable[_Item], key: Callable[[_Item], str]) -> list[_Item]:
    first: dict[str, _Item] = {}
    for item in items:
        first.setdefault(key(item), item)
    return list(first.values())


def _address(attributes: dict[str, str | None], routes: bool) -> str:
    href = attributes.get("href") or attributes.get("src") or attributes.get("xlink:href") or ""
    return "" if href[:1] == "#" and not (routes and href[1:2] in ("/", "!")) else href


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


MAX_TOKENS = 100_000
MAX_HEADINGS = 500
MAX_SECTIONS = 30
_FRAGMENT = re.compile(r"\w[\w.:-]{0,80}")
_MAX_BYTES = 4 * MAX_CHARS

_UNSEEN = ("script", "style", "noscript", "template", "noframes", "noembed", "datalist")
# Text runs on through these: "<b>W</b>elcome" is one word.
_INLINE = ("b", "i", "u", "s", "em", "tt", "big", "wbr", "abbr", "font", "nobr", "small", "strong", "strike")
# XML may close these in one tag, which HTML takes for an opening tag only.
_SELF_CLOSED = re.compile(
    r"<(a|div|iframe|li|noscript|option|p|script|span|style|td|textarea|th|title)(\s[^<>]*)?/>", re.IGNORECASE
)
_NO_TAG = RobotsTag()
_FRAMESET = re.compile(r"<frameset[\s/>]", re.IGNORECASE)
_FRAMESET_TAGS = re.compile(r"</?(?:frameset|noframes?)(?=[\s/>])[^<>]*>?", re.IGNORECASE)


class _Elements(NamedTuple):
    """The elements that matter, each kind in document order."""

    links: list[LexborNode]
    inline: list[LexborNode]
    images: list[LexborNode]
    headings: list[LexborNode]
    titles: list[LexborNode]
    metas: list[LexborNode]
    relations: list[LexborNode]
    bases: list[LexborNode]
    unseen: list[LexborNode]


def read_page(
    url: str,
    body: bytes,
    content_type: str = "",
    charset: str = "",
    tag: RobotsTag = _NO_TAG,
    *,
    routes: bool = False,
) -> Page | Unreadable:
    """Return the page of a body, or why it is not one. Never raises, whatever the bytes are.

    `content_type` may have parameters; `charset` is the one that the header names, if any; `tag` holds the
    robots rules of the headers. With `routes`, fragments that name a page of a script are links.
    """
    media_type, _, parameters = content_type.lower().partition(";")
    media_type = media_type.strip()
    charset = charset or parameters.partition("charset=")[2].partition(";")[0]
    digest = sha1(body, usedforsecurity=False).hexdigest()
    kind = sniff_kind(body, media_type, charset)
    if kind in {"empty", "not_html", "binary"}:
        sniffed = sniff_media_type(body) or media_type  # servers often send a wrong type
        return Unreadable(url, kind, sniffed, digest, tag.rules().noindex)
    text, codec = decode(body[:_MAX_BYTES], charset)
    if kind == "html":
        return _read_html(url, text, codec, media_type or "text/html", digest, tag, routes=routes)
    return Page(
        url,
        tokens=tuple(words(text[:MAX_CHARS])[:MAX_TOKENS]),
        charset=codec,
        content_type=media_type or "text/plain",
        digest=digest,
        noindex=tag.rules().noindex,
    )


def read_response(response: Fetched | Failed, product: str = "Wayhound") -> Page | Unreadable | None:
    """Return the page in a response; None for a failure, a redirect and an error status.

    `product` is the crawler's name, by which robots rules in headers and markup may address it.
    """
    if isinstance(response, Failed) or not response.ok:
        return None
    tag = RobotsTag(response.robots_tag, product)
    return read_page(
        response.url,
        response.body,
        response.content_type,
        response.charset,
        tag,
        routes=response.source is not None,
    )


def _read_html(
    url: str, html: str, codec: str, media_type: str, digest: str, tag: RobotsTag, *, routes: bool
) -> Page:
    markup = prepare_markup(html, media_type)
    tree, elements = parse_markup(markup)
    frames: list[Target] = []
    if (not elements.links or _body(tree) is None) and (frameset := _FRAMESET.search(markup)):
        in_frameset = parse_markup(markup[frameset.start() :])[1]
        frames = link_targets(in_frameset.links, base_url(elements.bases, url))
        tree, elements = parse_markup(_FRAMESET_TAGS.sub(" ", markup))
    base = base_url(elements.bases, url)
    head = read_head(elements.metas, elements.relations, url, base, tag)
    nofollow = head.rules.nofollow
    body = _body(tree)
    sections = _sections(elements.links, tree) if "#" in markup else ()
    targets = link_targets(elements.links, base, routes=routes) if body else []
    regions = mark_links(targets)
    join_words(tree, elements)
    text = body.text(separator=" ") if body else ""
    tokens, links = read_marked_text(text, targets, regions, nofollow)
    return Page(
        url,
        title=title_of(elements.titles),
        description=head.description,
        keywords=head.keywords,
        headings=_headings(elements.headings),
        tokens=tuple(tokens[:MAX_TOKENS]),
        links=(*head.links, *(unplaced_link(frame, nofollow) for frame in frames), *links),
        canonical=head.canonical,
        language=language_of(tree.root),
        charset=codec,
        content_type=media_type,
        digest=digest,
        nofollow=nofollow,
        noindex=head.rules.noindex,
        sections=sections,
        feeds=head.feeds,
    )


def _sections(links: Sequence[LexborNode], tree: LexborHTMLParser) -> tuple[tuple[str, str], ...]:
    """Return the parts of a page that it links to itself and that exist, as fragment and link text."""
    named: dict[str, str] = {}
    for node in links:
        href = node.attributes.get("href") or ""
        if href.startswith("#") and _FRAGMENT.fullmatch(href[1:]) and len(named) < MAX_SECTIONS:
            named.setdefault(href[1:], one_line(node.text(separator=" "))[:MAX_LINK_CHARS])
    return tuple(
        (name, text)
        for name, text in named.items()
        if tree.css_first(f'[id="{name}"]') is not None or tree.css_first(f'a[name="{name}"]') is not None
    )


def prepare_markup(html: str, media_type: str) -> str:
    """Return markup that the parser can read in bounded time and memory, without the marker characters."""
    return bound_markup(strip_marks(html), media_type)


def bound_markup(html: str, media_type: str) -> str:
    """Return markup that the parser can read in bounded time and memory."""
    if media_type != "text/html" or html.startswith("<?xml"):
        html = _SELF_CLOSED.sub(r"<\1\2></\1>", html[:MAX_CHARS])
    return limit_markup(_close_comment(html))


def _close_comment(html: str) -> str:
    """End a comment that is never closed at its own tag, as old browsers did."""
    unclosed = html.find("<!--", html.rfind("-->") + 1)
    return html if unclosed < 0 else html[:unclosed] + html[unclosed:].replace("<!--", "<!")


def parse_markup(markup: str) -> tuple[LexborHTMLParser, _Elements]:
    """Return the tree without what no reader sees, and the elements that matter."""
    tree = LexborHTMLParser(markup)
    elements = _elements(tree)
    if "hidden" in markup:
        # A hidden root or body is shown by a script later, or there would be no page.
        elements.unseen.extend(node for node in tree.css("[hidden]") if node.tag not in {"html", "body"})
    # The text in a frame is for browsers without frames.
    frames = [node for node in elements.links if node.tag == "iframe"]
    texts = [text for frame in frames for text in frame.iter(include_text=True) if text.is_text_node]
    only_text_goes = all(map(_holds_only_text, elements.unseen))
    for node in (*elements.unseen, *texts):
        node.decompose()
    return tree, elements if only_text_goes else _elements(tree)


def _holds_only_text(node: LexborNode) -> bool:
    child = node.first_child
    return child is None or (bool(child.is_text_node) and child.next is None)


def _body(tree: LexborHTMLParser) -> LexborNode | None:
    """Return the body, unless a frameset has taken its place in the tree."""
    body = tree.body
    return body if body is not None and body.parent is not None else None


def _elements(tree: LexborHTMLParser) -> _Elements:
    elements = _Elements(*([] for _ in _Elements._fields))
    by_tag = dict.fromkeys(("a", "area", "frame", "iframe"), elements.links)
    by_tag |= dict.fromkeys(("h1", "h2", "h3", "h4", "h5", "h6"), elements.headings)
    by_tag |= dict.fromkeys(_INLINE, elements.inline)
    by_tag |= dict.fromkeys(_UNSEEN, elements.unseen)
    by_tag |= {"img": elements.images, "title": elements.titles, "meta": elements.metas}
    by_tag |= {"link": elements.relations, "base": elements.bases}
    assert tree.root is not None  # the parser makes a root for any text
    for node in tree.root.traverse():
        nodes = by_tag.get(node.tag or "")
        if nodes is not None:
            nodes.append(node)
    return elements


def join_words(tree: LexborHTMLParser, elements: _Elements) -> None:
    """Insert the alt texts of images, and let words run on through inline elements."""
    for image in elements.images:
        if alt := image.attributes.get("alt"):
            image.insert_before(f" {alt} ")
    for node in elements.inline:
        node.unwrap(delete_empty=True)
    tree.merge_text_nodes()


def _headings(nodes: list[LexborNode]) -> tuple[str, ...]:
    texts = (one_line(node.text(separator=" ")) for node in nodes[:MAX_HEADINGS])
    return tuple([text for text in texts if text])
