"""The visible text of a page as lines with positions, for extractors that need the whole page and not its main part.

A reader that first cuts a page down to its main content loses most phone numbers: they stand in headers, footers and
sidebars. Every line keeps its offset in `PageLines.text`, which is what the span of a fact refers to.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from codecs import BOM_UTF8
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate

from selectolax.lexbor import LexborDocumentOptions, LexborHTMLParser, LexborNode, create_tag

from wayhound.entities.kept import keep
from wayhound.entities.places import ADDRESS_LABEL, ADDRESS_STARTS
from wayhound.pages.head import language_of, one_line, title_of
from wayhound.pages.markup_limits import MAX_CHARS, has_plain_markup
from wayhound.pages.reader import bound_markup
from wayhound.pages.sniff import decode, sniff_kind
from wayhound.text.words import fold

MAX_LINES = 20_000
MAX_LINE_CHARS = 50_000

# `wbr` is not text, but where a word may be broken; empty elements would break the line.
_UNSEEN = frozenset(
    "script style noscript template noframes noembed datalist svg select textarea wbr".split()
)
# Text runs on through these. A link or a span does not end a line: "Tel. <a>030 …</a>" is one.
_INLINE = frozenset(
    "a abbr acronym b bdi bdo big cite code data em font i ins label mark nobr q s small span strike strong sub sup "
    "time tt u var".split()
)
# "Drive" and "Miami" in elements side by side are two words, which style sheets put apart; "in" and "fo@" are not
_GLUED = re.compile(rb"</span>(?=<span[^<>]*>[A-Z])(?<=[a-z0-9.]</span>)")
_BREAK = "\x02"  # in ASCII: one letter of a wider script doubles the time that a text takes
_MAX_HEADINGS = 150
_HEADINGS = ("h1", "h2", "h3")
_LISTS = ({"script"}, _UNSEEN - {"script"}, _INLINE, {"title"}, *({tag} for tag in _HEADINGS))
_LIST_OF = {create_tag(tag).tag_id: number for number, tags in enumerate(_LISTS) for tag in tags}
"""The list of `_Elements` that an element belongs to, by the number of its tag: each name would be a new string."""

_SCRIPT, _OTHER_UNSEEN = 0, 1
_WITHOUT_EVENTS = int(LexborDocumentOptions.WO_EVENTS)
"""The parser reports each change of the tree to itself, for menus (`select`), which are not seen here."""

# What is worth a search of the tree: most pages only hide fields of forms, and blocks.
# Each pattern begins with a fixed text, which the engine skips to, and looks at what is around it.
_HIDDEN = re.compile(rb"hidden(?<=\shidden)[\s=>/]")
_NOT_SHOWN = re.compile(rb"display: ?none")
_SIGN = re.compile(rb"alt=.@[\"']")  # a picture shows the sign of an e-mail address
# zero-width characters and soft hyphens break words apart for no reader
_INVISIBLE = "\u200b\u200c\u200d\u200e\u200f\u2060\ufeff\u00ad"


_DIGIT, _ASCII_DIGIT = re.compile(r"\d"), re.compile(r"[0-9]")  # a range takes half the time
_FIRST_WORD = re.compile(r"[\W_]*([^\W_]+)([&\\{]?)")
MAX_NAME_CHARS = 90


@dataclass(frozen=True)
class PageLines:
    """A page as extractors read it: the title, headings, and lines of visible text."""

    url: str
    title: str = ""
    language: str = ""
    headings: tuple[tuple[str, str], ...] = ()  # tag and text of h1 to h3
    lines: tuple[str, ...] = ()

    @cached_property
    def text(self) -> str:
        return "\n".join(self.lines)

    @cached_property
    def starts(self) -> list[int]:
        """The offset of each line in `text`."""
        return list(accumulate([len(line) + 1 for line in self.lines[:-1]], initial=0))

    def line_at(self, offset: int) -> int:
        """Return the index of the line that holds an offset of `text`."""
        return max(0, bisect_right(self.starts, offset) - 1)

    @cached_property
    def _traits(self) -> list[_Traits]:
        return list(map(_traits, self.lines))

    @cached_property
    def digit_lines(self) -> tuple[int, ...]:
        """The indices of lines with a digit: phones, post codes and hours stand on these, one line in five."""
        return tuple([index for index, traits in enumerate(self._traits) if traits[0]])

    @property
    def label_lines(self) -> list[int]:
        """The indices of lines that begin with a word for "address"."""
        return [index for index, traits in enumerate(self._traits) if traits[1]]

    def lines_from(self, words: Collection[str], most: int) -> list[str]:
        """Return those of the first lines whose first word, folded, is one of the words or may be another."""
        seen = zip(self.lines[:most], self._traits, strict=False)
        return [line for line, (_, _, word, is_odd) in seen if is_odd or word in words]

    def context(self, start: int, end: int, width: int = 60) -> str:
        """Return the text around a span on one line, for people."""
        return " ".join(self.text[max(0, start - width) : end + width].split())


_Traits = tuple[bool, bool, str, bool]


@keep
def _traits(line: str) -> _Traits:
    """Return what several extractors ask of every line, together: most of the time goes into looking up the line."""
    first = _FIRST_WORD.match(line)
    if first is None:
        return False, False, "", False
    word = (
        first[1].lower() if line.isascii() else fold(first[1])
    )  # of letters alone, so there is no more to fold
    is_label = word in ADDRESS_STARTS and ADDRESS_LABEL.match(line) is not None
    digit = _ASCII_DIGIT if line.isascii() else _DIGIT
    has_digit = digit.search(line, first.start(1)) is not None
    if len(line) > MAX_NAME_CHARS:
        return has_digit, is_label, "", False
    return has_digit, is_label, word, bool(first[2]) or line.startswith(("&", "\\", "{"))


@dataclass(frozen=True)
class ParsedPage:
    """A page before it is flattened into lines: the tree, and its elements that matter for the lines.

    `source` is the markup in UTF-8: to look for a word in bytes takes half the time of looking for it in text.
    """

    url: str
    source: bytes
    tree: LexborHTMLParser
    elements: _Elements

    @property
    def linked_data(self) -> Iterator[str]:
        """The texts of scripts with JSON-LD, which are lost with the other scripts when the page is flattened."""
        if b"application/ld+json" in self.source:
            for node in self.elements.scripts:
                if "ld+json" in (node.attributes.get("type") or "").lower():
                    yield node.text()

    def lines(self) -> PageLines:
        """Return the lines of the page. The tree cannot be used afterwards."""
        tree, body, language = self.tree, self.tree.body, language_of(self.tree.root)
        elements = self.elements
        _unlink((*elements.scripts, *elements.unseen))
        title = title_of(elements.titles)
        headings = tuple(elements.heading_texts())
        if _HIDDEN.search(self.source):
            _unlink([node for node in tree.css("[hidden]") if node.tag not in {"html", "body"}])
        if any(_starts_span(self.source, style.start()) for style in _NOT_SHOWN.finditer(self.source)):
            # inside of a line, as in e-mail addresses; hidden blocks may open on a click
            decoys = tree.css('span[style*="display:none"], span[style*="display: none"]')[:1_000]
            _unlink([node for node in decoys if len(node.text()) < 40])
        if any(_SIGN.match(self.source, place - 5) for place in _places(self.source, b"@") if place >= 5):
            for node in tree.css('img[alt="@"]')[:1_000]:
                node.replace_with("@")
        if body is None:
            return PageLines(self.url, title, language, headings)
        for node in elements.inline:
            node.unwrap()
        body.merge_text_nodes()
        pieces = body.text(separator=_BREAK, skip_empty=True).split(_BREAK)
        return PageLines(self.url, title, language, headings, _lines(pieces))


def parse_page(url: str, body: bytes, content_type: str = "", charset: str = "") -> ParsedPage | PageLines:
    """Return the tree of a fetched page, or its lines if it is plain text or not a page. Never raises."""
    media_type, _, parameters = content_type.lower().partition(";")
    charset = charset or parameters.partition("charset=")[2].partition(";")[0]
    kind = sniff_kind(body, media_type.strip(), charset)
    if kind in {"empty", "not_html", "binary"}:
        return PageLines(url)
    body = body[: 4 * MAX_CHARS]
    text, codec = decode(body, charset)
    if kind != "html":
        return PageLines(url, lines=_lines(text[:MAX_CHARS].splitlines()))
    is_source = codec == "utf-8" and not body.startswith(BOM_UTF8) and "\ufffd" not in text
    return _parsed(url, body if is_source else _encoded(text), media_type.strip() or "text/html")


def parse_html(url: str, html: str, media_type: str = "text/html") -> ParsedPage:
    """Return the tree of HTML."""
    return _parsed(url, _encoded(html), media_type)


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "replace")


def _parsed(url: str, source: bytes, media_type: str) -> ParsedPage:
    """Return the tree of HTML in UTF-8."""
    is_xml = media_type != "text/html" or source.startswith(b"<?xml")
    comment = source.rfind(b"<!--")
    is_open = comment >= 0 and source.find(b"-->", comment) < 0
    if is_xml or is_open or not has_plain_markup(source):
        source = _encoded(bound_markup(source.decode("utf-8"), media_type))
    if b"</span><span" in source:  # a fixed text is found in half of the time
        source = _GLUED.sub(b"</span> ", source)
    tree = LexborHTMLParser(source, options=_WITHOUT_EVENTS)
    return ParsedPage(url, source, tree, _elements(tree))


@dataclass
class _Elements:
    """The elements of a tree that matter for its lines, in document order.

    What is inside of an unseen element is not listed, but for scripts, which may state facts wherever they are.
    """

    scripts: list[LexborNode] = field(default_factory=list)
    unseen: list[LexborNode] = field(default_factory=list)
    inline: list[LexborNode] = field(default_factory=list)
    titles: list[LexborNode] = field(default_factory=list)
    headings: tuple[list[LexborNode], list[LexborNode], list[LexborNode]] = field(
        default_factory=lambda: ([], [], [])
    )

    def heading_texts(self) -> Iterator[tuple[str, str]]:
        """Yield tag and text of each heading, those of a higher level first."""
        headings = [
            (tag, node) for tag, nodes in zip(_HEADINGS, self.headings, strict=True) for node in nodes
        ]
        for tag, node in headings[:_MAX_HEADINGS]:
            if text := one_line(node.text(separator=" ")):
                yield tag, text


def _elements(tree: LexborHTMLParser) -> _Elements:
    """Return the elements that matter in one walk: the parser walks the whole tree for each name it is asked for."""
    found = _Elements()
    lists = found.scripts, found.unseen, found.inline, found.titles, *found.headings
    number_of = _LIST_OF.get
    nodes = tree.root.traverse() if tree.root is not None else iter(())
    for node in nodes:
        number = number_of(node.tag_id)
        if number is None:
            continue
        lists[number].append(node)
        if number <= _OTHER_UNSEEN and (last := _last_inside(node)) is not None:
            for inner in nodes:
                if number_of(inner.tag_id) == _SCRIPT:
                    found.scripts.append(inner)
                if inner.mem_id == last:
                    break
    return found


def _unlink(nodes: Iterable[LexborNode]) -> None:
    """Take nodes out of their tree with all inside of them, which stays linked to them and does no harm there."""
    for node in nodes:
        node.decompose(recursive=False)


def _last_inside(node: LexborNode) -> int | None:
    """Return the id of what is walked last inside of a node; None if that is nothing but text."""
    last: LexborNode | None = None
    below = node.last_child
    while below is not None:
        if below.is_text_node:
            below = below.prev
        else:
            last, below = below, below.last_child
    return None if last is None else last.mem_id


def _places(source: bytes, word: bytes) -> Iterator[int]:
    """Yield where a word begins in markup."""
    place = source.find(word)
    while place >= 0:
        yield place
        place = source.find(word, place + 1)


def _starts_span(source: bytes, place: int) -> bool:
    """Return True if the element whose tag holds a place is a span."""
    return source.startswith(b"<span", source.rfind(b"<", max(0, place - 300), place))


def _lines(pieces: Iterable[str]) -> tuple[str, ...]:
    """Return the lines that are not empty of a text in pieces."""
    lines = list(filter(None, map(_line, pieces)))
    if len(lines) > MAX_LINES or max(map(len, lines), default=0) > MAX_LINE_CHARS:
        lines = [line[:MAX_LINE_CHARS].rstrip() for line in lines[:MAX_LINES]]
    return tuple(lines)


@keep
def _line(piece: str) -> str:
    """Return a piece of text with single spaces, without signs that nobody sees.

    Four lines of five are those of the pages before. They are the same string then, whose hash is known: all that is
    kept of lines is found sooner.
    """
    if not piece.isascii():
        for sign in _INVISIBLE:  # one after the other: a pattern of all takes nearly twice as long
            piece = piece.replace(sign, "")
    return " ".join(piece.split())
