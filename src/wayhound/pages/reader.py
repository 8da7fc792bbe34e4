"""Read what was fetched into a `Page`: title, words and links, whatever the markup is like."""

from __future__ import annotations

import re
from hashlib import sha1
from typing import NamedTuple

from selectolax.lexbor import LexborHTMLParser, LexborNode

from wayhound.fetched import Failed, Fetched
from wayhound.page import Page, Unreadable
from wayhound.pages.charset import decode
from wayhound.pages.guard import MAX_CHARS, limit_markup
from wayhound.pages.head import RobotsTag, base_of, language_of, one_line, read_head, title_of
from wayhound.pages.kind import sniff_kind, sniff_media_type
from wayhound.pages.links import (
    Target,
    link_targets,
    mark_links,
    read_marked_text,
    strip_marks,
    unplaced_link,
)
from wayhound.words import words

MAX_TOKENS = 100_000
MAX_HEADINGS = 500
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
    """The elements that say something, each kind in the order of the page."""

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
    url: str, body: bytes, content_type: str = "", charset: str = "", tag: RobotsTag = _NO_TAG
) -> Page | Unreadable:
    """The page that a body holds, or why it holds none. Never raises, whatever the bytes are.

    `content_type` may carry parameters; `charset` is what the header names, if anything; `tag` is what the
    headers ask of robots.
    """
    media_type, _, parameters = content_type.lower().partition(";")
    media_type = media_type.strip()
    charset = charset or parameters.partition("charset=")[2].partition(";")[0]
    digest = sha1(body, usedforsecurity=False).hexdigest()
    kind = sniff_kind(body, media_type, charset)
    if kind in {"empty", "not_html", "binary"}:
        told = sniff_media_type(body) or media_type  # a server may not know what it sends
        return Unreadable(url, kind, told, digest, tag.rules().noindex)
    text, codec = decode(body[:_MAX_BYTES], charset)
    if kind == "html":
        return _read_html(url, text, codec, media_type or "text/html", digest, tag)
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
    return read_page(response.url, response.body, response.content_type, response.charset, tag)


def _read_html(url: str, html: str, codec: str, media_type: str, digest: str, tag: RobotsTag) -> Page:
    markup = prepare_markup(html, media_type)
    tree, found = parse_markup(markup)
    frames: list[Target] = []
    if (not found.links or _body(tree) is None) and (frameset := _FRAMESET.search(markup)):
        frames = link_targets(parse_markup(markup[frameset.start() :])[1].links, base_of(found.bases, url))
        tree, found = parse_markup(_FRAMESET_TAGS.sub(" ", markup))
    base = base_of(found.bases, url)
    head = read_head(found.metas, found.relations, url, base, tag)
    nofollow = head.rules.nofollow
    body = _body(tree)
    targets = link_targets(found.links, base) if body else []
    places = mark_links(targets)
    join_words(tree, found)
    text = body.text(separator=" ") if body else ""
    tokens, links = read_marked_text(text, targets, places, nofollow)
    return Page(
        url,
        title=title_of(found.titles),
        description=head.description,
        keywords=head.keywords,
        headings=_headings(found.headings),
        tokens=tuple(tokens[:MAX_TOKENS]),
        links=(*head.links, *(unplaced_link(frame, nofollow) for frame in frames), *links),
        canonical=head.canonical,
        language=language_of(tree.root),
        charset=codec,
        content_type=media_type,
        digest=digest,
        nofollow=nofollow,
        noindex=head.rules.noindex,
    )


def prepare_markup(html: str, media_type: str) -> str:
    """Return markup that the parser can read in bounded time and memory."""
    if media_type != "text/html" or html.startswith("<?xml"):
        html = _SELF_CLOSED.sub(r"<\1\2></\1>", html[:MAX_CHARS])
    return limit_markup(strip_marks(_with_comments_closed(html)))


def _with_comments_closed(html: str) -> str:
    """A comment that never ends ends with its tag, as it did in the browsers that its author used."""
    unclosed = html.find("<!--", html.rfind("-->") + 1)
    return html if unclosed < 0 else html[:unclosed] + html[unclosed:].replace("<!--", "<!")


def parse_markup(markup: str) -> tuple[LexborHTMLParser, _Elements]:
    """Return the tree without what no reader sees, and the elements that say something."""
    tree = LexborHTMLParser(markup)
    found = _elements(tree)
    if "hidden" in markup:
        # A hidden root or body is shown by a script, or there would be no page.
        found.unseen.extend(node for node in tree.css("[hidden]") if node.tag not in {"html", "body"})
    # The text in a frame is for browsers without frames.
    frames = [node for node in found.links if node.tag == "iframe"]
    texts = [text for frame in frames for text in frame.iter(include_text=True) if text.is_text_node]
    only_text_goes = all(map(_holds_text_alone, found.unseen))
    for node in (*found.unseen, *texts):
        node.decompose()
    return tree, found if only_text_goes else _elements(tree)


def _holds_text_alone(node: LexborNode) -> bool:
    child = node.first_child
    return child is None or (bool(child.is_text_node) and child.next is None)


def _body(tree: LexborHTMLParser) -> LexborNode | None:
    """The body, unless a frameset has taken its place in the tree."""
    body = tree.body
    return body if body is not None and body.parent is not None else None


def _elements(tree: LexborHTMLParser) -> _Elements:
    found = _Elements([], [], [], [], [], [], [], [], [])
    wanted = dict.fromkeys(("a", "area", "frame", "iframe"), found.links)
    wanted |= dict.fromkeys(("h1", "h2", "h3", "h4", "h5", "h6"), found.headings)
    wanted |= dict.fromkeys(_INLINE, found.inline)
    wanted |= dict.fromkeys(_UNSEEN, found.unseen)
    wanted |= {"img": found.images, "title": found.titles, "meta": found.metas}
    wanted |= {"link": found.relations, "base": found.bases}
    assert tree.root is not None  # the parser makes a root for any text
    for node in tree.root.traverse():
        kept = wanted.get(node.tag or "")
        if kept is not None:
            kept.append(node)
    return found


def join_words(tree: LexborHTMLParser, found: _Elements) -> None:
    """Put the texts of images in their places, and let words run on through inline elements."""
    for image in found.images:
        if alt := image.attributes.get("alt"):
            image.insert_before(f" {alt} ")
    for node in found.inline:
        node.unwrap(delete_empty=True)
    tree.merge_text_nodes()


def _headings(nodes: list[LexborNode]) -> tuple[str, ...]:
    texts = (one_line(node.text(separator=" ")) for node in nodes[:MAX_HEADINGS])
    return tuple([text for text in texts if text])
