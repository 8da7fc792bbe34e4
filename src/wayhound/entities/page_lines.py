"""The visible text of a page as lines with positions, for extractors that need the whole page and not its main part.

A reader that first cuts a page down to its main content loses most phone numbers: they stand in headers, footers and
sidebars. Every line keeps its offset in `PageLines.text`, which is what the span of a fact refers to.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Container, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, islice
from typing import NamedTuple

from selectolax.lexbor import LexborHTMLParser

from wayhound.pages.head import language_of, one_line, title_of
from wayhound.pages.reader import prepare_markup
from wayhound.pages.sniff import MAX_CHARS, decode, sniff_kind

MAX_LINES = 20_000
CACHED_LINES = 8_192  # of which an extractor keeps its answer: the pages of a site share most of theirs
MAX_LINE_CHARS = 50_000

_UNSEEN = [
    "script",
    "style",
    "noscript",
    "template",
    "noframes",
    "noembed",
    "datalist",
    "svg",
    "select",
    "textarea",
    "wbr",  # not text, but where a word may be broken; empty elements would break the line
]
# Text runs on through these. A link or a span does not end a line: "Tel. <a>030 …</a>" is one.
_INLINE = [
    "a", "abbr", "acronym", "b", "bdi", "bdo", "big", "cite", "code", "data", "em", "font", "i", "ins", "label",
    "mark", "nobr", "q", "s", "small", "span", "strike", "strong", "sub", "sup", "time", "tt", "u", "var",
]  # fmt: skip
_BREAK = "\ue000"
_TAG_NAME = re.compile(rb"<([a-zA-Z]+[1-6]?)")
_HEADINGS = ("h1", "h2", "h3")
# zero-width characters and soft hyphens break words apart for no reader
_INVISIBLE = re.compile("[\u200b-\u200f\u2060\ufeff\u00ad]")


_DIGITS, _ASCII_DIGITS = re.compile(r"\d[^\n]*"), re.compile(r"[0-9][^\n]*")


class TextLine(NamedTuple):
    """One line of visible text and its offset in the whole text."""

    text: str
    start: int

    @property
    def end(self) -> int:
        return self.start + len(self.text)


@dataclass(frozen=True)
class PageLines:
    """A page as extractors read it: the title, headings, and lines of visible text."""

    url: str
    title: str = ""
    language: str = ""
    headings: tuple[tuple[str, str], ...] = ()  # tag and text of h1 to h3
    lines: tuple[TextLine, ...] = ()

    @cached_property
    def text(self) -> str:
        return "\n".join(line.text for line in self.lines)

    def line_at(self, offset: int) -> int:
        """Return the index of the line that holds an offset of `text`."""
        return max(0, bisect_right(self.starts, offset) - 1)

    @cached_property
    def starts(self) -> list[int]:
        return [line.start for line in self.lines]

    @cached_property
    def digit_lines(self) -> tuple[int, ...]:
        """The indices of lines with a digit: phones, post codes and hours stand on these, one line in five."""
        # each match runs to the end of its line; the category of all digits is slower than the range
        pattern = _ASCII_DIGITS if self.text.isascii() else _DIGITS
        return tuple(self.line_at(match.start()) for match in pattern.finditer(self.text))

    def context(self, start: int, end: int, width: int = 60) -> str:
        """Return the text around a span on one line, for people."""
        return " ".join(self.text[max(0, start - width) : end + width].split())


@dataclass(frozen=True)
class ParsedPage:
    """A page before it is flattened into lines: the tree, and the JSON-LD that would be lost with its scripts.

    `source` is the markup in UTF-8: to look for a word in bytes takes half the time of looking for it in text.
    """

    url: str
    markup: str
    source: bytes
    tree: LexborHTMLParser
    scripts: tuple[str, ...]

    def lines(self) -> PageLines:
        """Return the lines of the page. The tree cannot be used afterwards."""
        tree = self.tree
        # the parser searches the whole tree for each name, so it is asked only for those that occur
        names = {name.lower().decode() for name in set(_TAG_NAME.findall(self.source))}
        tree.strip_tags([name for name in _UNSEEN if name in names])
        title = title_of(tree.head.css("title")) if tree.head else ""
        title = title or (title_of(tree.css("title")) if "title" in names else "")
        headings = tuple(_heading_texts(tree, names))
        language = language_of(tree.root)
        if b"hidden" in self.source:
            _remove_hidden(tree)
        if b"display:none" in self.source or b"display: none" in self.source:
            _remove_decoys(tree)
        if b"@" in self.source:
            _write_signs(tree, self.source)
        body = tree.body
        if body is None:
            return PageLines(self.url, title, language, headings)
        tree.unwrap_tags([name for name in _INLINE if name in names])
        tree.merge_text_nodes()
        text = _visible(body.text(separator=_BREAK))
        return PageLines(self.url, title, language, headings, _placed(text.split(_BREAK)))


def parse_page(url: str, body: bytes, content_type: str = "", charset: str = "") -> ParsedPage | PageLines:
    """Return the tree of a fetched page, or its lines if it is plain text or not a page. Never raises."""
    media_type, _, parameters = content_type.lower().partition(";")
    charset = charset or parameters.partition("charset=")[2].partition(";")[0]
    kind = sniff_kind(body, media_type.strip(), charset)
    if kind in {"empty", "not_html", "binary"}:
        return PageLines(url)
    text, _ = decode(body[: 4 * MAX_CHARS], charset)
    if kind != "html":
        return PageLines(url, lines=_placed(_visible(text[:MAX_CHARS]).splitlines()))
    return parse_html(url, text, media_type.strip() or "text/html")


def parse_html(url: str, html: str, media_type: str = "text/html") -> ParsedPage:
    """Return the tree of HTML."""
    markup = prepare_markup(html, media_type)
    source = markup.encode("utf-8", "replace")
    tree = LexborHTMLParser(source)
    scripts = tree.css('script[type*="ld+json"]') if b"ld+json" in source else []
    return ParsedPage(url, markup, source, tree, tuple(node.text() for node in scripts))


def _heading_texts(tree: LexborHTMLParser, names: Container[str]) -> Iterator[tuple[str, str]]:
    for tag in _HEADINGS:
        if tag not in names:
            continue
        for node in tree.tags(tag)[:50]:
            if text := one_line(node.text(separator=" ")):
                yield tag, text


def _remove_hidden(tree: LexborHTMLParser) -> None:
    for node in tree.css("[hidden]"):
        if node.tag not in {"html", "body"}:
            node.decompose()


def _remove_decoys(tree: LexborHTMLParser) -> None:
    """Remove words inside of a line that nobody sees, as in e-mail addresses; hidden blocks may open on a click."""
    for node in tree.css('span[style*="display:none"], span[style*="display: none"]')[:1_000]:
        if len(node.text()) < 40:
            node.decompose()


def _write_signs(tree: LexborHTMLParser, source: bytes) -> None:
    """Write the sign of an e-mail address where a picture shows it."""
    if b'alt="@"' in source or b"alt='@'" in source:
        for node in tree.css('img[alt="@"]')[:1_000]:
            node.replace_with("@")


def _visible(text: str) -> str:
    return text if text.isascii() else _INVISIBLE.sub("", text)


def _placed(pieces: list[str]) -> tuple[TextLine, ...]:
    """Return pieces of text, with their spaces made single ones, as lines."""
    # three pieces in four are the spaces between two elements
    split = islice(filter(None, map(str.split, pieces)), MAX_LINES)
    texts = [" ".join(words)[:MAX_LINE_CHARS].rstrip() for words in split]
    starts = accumulate([len(text) + 1 for text in texts], initial=0)
    return tuple(map(TextLine, texts, starts))
