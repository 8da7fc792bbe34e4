"""The text of a page as people read it, and a snippet of it.

`read_page` returns words in lower case, for models. A list of results needs sentences with their capitals and full
stops, and without the menus around them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from selectolax.lexbor import LexborHTMLParser, LexborNode

from wayhound.pages.head import RobotsTag, language_of, read_head, title_of
from wayhound.pages.markup_limits import MAX_CHARS
from wayhound.pages.reader import join_words, parse_markup, prepare_markup
from wayhound.pages.sniff import decode, sniff_kind

MAX_TEXT_CHARS = 20_000
SNIPPET_CHARS = 300
_ENOUGH_WORDS = 8  # of a passage; with fewer, the page's own description says more
# The first passage with this share of the fullest one's words is taken: pages begin with the point.
_NEARLY_MOST = 0.6

_BLOCKS = frozenset(
    "address article aside blockquote br caption center dd details dir div dl dt fieldset figcaption figure footer "
    "form h1 h2 h3 h4 h5 h6 header hr legend li main menu nav ol option p pre section summary table tbody td tfoot th "
    "thead tr ul".split()
)
_AROUND = frozenset("nav header footer aside form menu select button".split())
_AROUND_ROLES = frozenset({"navigation", "banner", "contentinfo", "search", "complementary"})
_BLOCK, _OPEN, _CLOSE, _LINK, _LINK_END = "\x1e", "\x1c", "\x1d", "\x1f", "\x1a"
_MARKS = re.compile(f"([{_BLOCK}{_OPEN}{_CLOSE}{_LINK}{_LINK_END}])")
_ANY_MARK = str.maketrans(dict.fromkeys(f"{_BLOCK}{_OPEN}{_CLOSE}{_LINK}{_LINK_END}", " "))


class Prose(NamedTuple):
    """The words of a page. `text` has a line for each block, in their order.

    `snippet` is one line of at most `SNIPPET_CHARS`; `rest` is the other content, `around` are menus, headers and
    footers.
    """

    title: str = ""
    description: str = ""
    language: str = ""
    text: str = ""
    snippet: str = ""
    rest: str = ""
    around: str = ""


class _Block(NamedTuple):
    """A line of the page. `around` is True in menus, headers and footers; `linked` counts characters of links."""

    text: str
    around: bool
    linked: int

    @property
    def is_content(self) -> bool:
        return not self.around and 2 * self.linked < len(self.text)


def read_prose(body: bytes, content_type: str = "", charset: str = "") -> Prose:
    """Return the text of a fetched page; an empty `Prose` if it is not a page. Never raises."""
    media_type, _, parameters = content_type.lower().partition(";")
    charset = charset or parameters.partition("charset=")[2].partition(";")[0]
    kind = sniff_kind(body, media_type.strip(), charset)
    if kind in {"empty", "not_html", "binary"}:
        return Prose()
    text, _ = decode(body[: 4 * MAX_CHARS], charset)
    if kind == "html":
        return _read_html(text, media_type.strip() or "text/html")
    lines = (" ".join(line.split()) for line in text[:MAX_TEXT_CHARS].splitlines())
    return _prose([_Block(line, around=False, linked=0) for line in lines if line])


def _read_html(html: str, media_type: str) -> Prose:
    tree, elements = parse_markup(prepare_markup(html.translate(_ANY_MARK), media_type))
    head = read_head(elements.metas, (), "", "", RobotsTag())
    join_words(tree, elements)
    blocks = list(_blocks(tree)) if tree.body is not None else []
    prose = _prose(blocks, head.description)
    return prose._replace(
        title=title_of(elements.titles), description=head.description, language=language_of(tree.root)
    )


def _prose(blocks: list[_Block], description: str = "") -> Prose:
    snippet, quoted = _snippet(blocks, description)
    return Prose(
        text=_lines(block.text for block in blocks),
        snippet=snippet,
        rest=_lines(block.text for block in blocks if block.is_content and block.text not in quoted),
        around=_lines(block.text for block in blocks if not block.is_content),
    )


def _lines(texts: Iterable[str]) -> str:
    return "\n".join(texts)[:MAX_TEXT_CHARS]


def _blocks(tree: LexborHTMLParser) -> Iterator[_Block]:
    """Mark the borders of blocks, links and menus in the tree, then take the text of the whole body once."""
    assert tree.body is not None
    for node in list(tree.body.traverse()):
        _mark(node)
    around, in_link, text, linked = 0, False, "", 0
    for piece in (*_MARKS.split(tree.body.text(separator=" ")), _BLOCK):
        match piece:
            case "\x1f" | "\x1a":
                in_link = piece == _LINK
            case "\x1e" | "\x1c" | "\x1d":
                if line := " ".join(text.split()):
                    yield _Block(line, around > 0, linked)
                text, linked = "", 0
                around += {_OPEN: 1, _CLOSE: -1}.get(piece, 0)
            case _:
                text += piece
                linked += len(piece.strip()) if in_link else 0


def _mark(node: LexborNode) -> None:
    tag = node.tag
    if tag in _AROUND or (tag in _BLOCKS and node.attributes.get("role") in _AROUND_ROLES):
        node.insert_before(_OPEN)
        node.insert_after(_CLOSE)
    elif tag in _BLOCKS:
        node.insert_before(_BLOCK)
        node.insert_after(_BLOCK)
    elif tag == "a":
        node.insert_before(_LINK)
        node.insert_after(_LINK_END)


def _snippet(blocks: list[_Block], description: str) -> tuple[str, frozenset[str]]:
    """Return the passage that says most, and the blocks that are whole in it."""
    content = [block.text for block in blocks if block.is_content]
    sizes = [len(_passage(content, start)[0].split()) for start in range(len(content))]
    most = max(sizes, default=0)
    if most >= _ENOUGH_WORDS or (content and not description):
        first = next(start for start, size in enumerate(sizes) if size >= _NEARLY_MOST * most)
        passage, taken = _passage(content, first)
        shown = shorten(passage, SNIPPET_CHARS)
        return shown, frozenset(content[first : first + taken] if shown == passage else ())
    return shorten(description or " ".join(block.text for block in blocks), SNIPPET_CHARS), frozenset()


def _passage(lines: list[str], start: int) -> tuple[str, int]:
    """Return the lines from `start` on that fit into a snippet, the first of them always, and their number."""
    passage, end = lines[start], start + 1
    while end < len(lines) and len(passage) + len(lines[end]) + 3 <= SNIPPET_CHARS:
        separator = " " if passage.endswith((".", "!", "?", ":")) else " · "
        passage += f"{separator}{lines[end]}"
        end += 1
    return passage, end - start


def shorten(text: str, most: int) -> str:
    """Return the beginning of a text on one line, cut at a word."""
    plain = " ".join(text.split())
    return plain if len(plain) <= most else plain[:most].rsplit(" ", 1)[0].rstrip(" ,;:") + " …"
