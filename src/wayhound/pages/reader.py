"""Parse a fetched body into a `Page`: title, words and links, however bad the markup."""

from __future__ import annotations

import re
from hashlib import sha1
from typing import NamedTuple

from selectolax.lexbor import LexborHTMLParser, LexborNode

from wayhound.fetched import Failed, Fetched
from wayhound.page import Page, Unreadable
from wayhound.pages.head import RobotsTag, base_url, language_of, one_line, read_head, title_of
from wayhound.pages.links import (
    Target,
    link_targets,
    mark_links,
    read_marked_text,
    strip_marks,
    unplaced_link,
)
from wayhound.pages.sniff import MAX_CHARS, decode, limit_markup, sniff_kind, sniff_media_type
from wayhound.text.words import words

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
    url: str, body: bytes, content_type: str = "", charset: str = "", tag: RobotsTag = _NO_TAG
) -> Page | Unreadable:
    """Return the page of a body, or why it is not one. Never raises, whatever the bytes are.

    `content_type` may have parameters; `charset` is the one that the header names, if any; `tag` holds the
    robots rules of the headers.
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
    targets = link_targets(elements.links, base) if body else []
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
    )


def prepare_markup(html: str, media_type: str) -> str:
    """Return markup that the parser can read in bounded time and memory."""
    if media_type != "text/html" or html.startswith("<?xml"):
        html = _SELF_CLOSED.sub(r"<\1\2></\1>", html[:MAX_CHARS])
    return limit_markup(strip_marks(_close_comment(html)))


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
