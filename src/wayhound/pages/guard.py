"""Bound the work that markup can cause: the HTML standard lets a small page grow into gigabytes of tree.

A parser walks its open elements for every tag, so nesting costs its square; formatting that is never closed
is opened again in every paragraph (WHATWG HTML, 13.2.4.3); a tag's attributes are compared with each other.
"""

from __future__ import annotations

import re

MAX_CHARS = 5_000_000
MAX_TAGS = 300_000
MAX_DEPTH = 400
MAX_TAG_CHARS = 4_096
_REOPENED = 300_000  # formatting elements that the parser may open again, in all

# Below these no page can do harm worth the second look: at most some 500 × 500 elements.
_PLAIN_CHARS, _FEW_TAGS, _PLAIN_TAGS, _PLAIN_OPEN = 65_536, 1_000, 2_000, 300

_ATTRIBUTES = r"""(?:[^>=]++|=\s*+(?:"[^"]*+(?:"|\Z)|'[^']*+(?:'|\Z)|[^\s>"'][^\s>]*+)?+)*+>?+"""
_RAW = "script|style|textarea|title|xmp|iframe|noembed|noframes"
_TOKEN = re.compile(
    rf"<!--.*?(?:-->|\Z)|<(?:{_RAW})(?=[\s/>]){_ATTRIBUTES}[^<]*+(?:<(?!/(?:{_RAW}))[^<]*+)*+"
    rf"|<(/?)([a-z][^\s/>]*+){_ATTRIBUTES}",
    re.IGNORECASE | re.DOTALL,
)
_FORMATTING = frozenset("b big code em font i nobr s small strike strong tt u".split())
# Elements without content, and those that their own kind closes, do not nest; nor does the link.
_FLAT = frozenset(
    "area base basefont bgsound br col embed frame hr img input keygen link meta param source track wbr "
    "a p li dt dd td th tr tbody thead tfoot colgroup option optgroup rt rp html head body".split()
)
_BARRIERS = frozenset("table caption button object applet marquee template svg math".split())


def limit_markup(html: str) -> str:
    """The markup itself, or so much of it as can be parsed in time and memory near to its length."""
    html = html[:MAX_CHARS]
    tags = html.count("<")
    if _is_plain(html, tags):
        return html
    return _cut_down(html, max(1, min(30, _REOPENED // (tags + 1))))


def _is_plain(html: str, tags: int) -> bool:
    if len(html) > _PLAIN_CHARS or tags > _PLAIN_TAGS:
        return False
    return tags <= _FEW_TAGS or tags - 2 * html.count("</") <= _PLAIN_OPEN


def _cut_down(html: str, max_formatting: int) -> str:
    outline = _Outline(max_formatting)
    pieces: list[str] = []
    done = 0
    for number, token in enumerate(_TOKEN.finditer(html)):
        slash, name = token.groups()
        start, end = token.span()
        if number == MAX_TAGS:
            html = html[:start]
            break
        if name is None or (end - start <= MAX_TAG_CHARS and (name in _FLAT or outline.take(slash, name))):
            continue
        pieces += html[done:start], f"<{slash}{name}>" if end - start > MAX_TAG_CHARS else ""
        done = end
    return "".join([*pieces, html[done:]])


class _Outline:
    """The elements that are open, as the parser would have it."""

    def __init__(self, max_formatting: int) -> None:
        self._max_formatting = max_formatting
        self._stack: list[str] = []
        self._formatting: list[str] = []

    def take(self, slash: str, name: str) -> bool:
        """Open or close an element, if the bounds allow it."""
        name = name.lower()
        if name in _FLAT:
            return True
        if slash:
            self._close(name)
            return True
        return self._open(name)

    def _open(self, name: str) -> bool:
        if len(self._stack) >= MAX_DEPTH:
            return False
        if name in _FORMATTING:
            if len(self._formatting) >= self._max_formatting:
                return False
            self._formatting.append(name)
        self._stack.append(name)
        return True

    def _close(self, name: str) -> None:
        if name in self._formatting:
            self._formatting.remove(name)
        if name not in self._stack:
            return
        for at in range(len(self._stack) - 1, -1, -1):
            if self._stack[at] == name:
                del self._stack[at:]
                return
            if self._stack[at] in _BARRIERS:
                return
