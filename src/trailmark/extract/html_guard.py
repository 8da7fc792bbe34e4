"""Bound the work that markup can cause: the HTML standard lets a small page grow into gigabytes of tree.

A parser walks its open elements for every tag, so nesting costs its square; formatting that is never closed
is opened again in every paragraph (WHATWG HTML, 13.2.4.3); a tag's attributes are compared with each other.
"""

from __future__ import annotations

import re
from collections import Counter

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


def bounded(html: str) -> str:
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
        if number == MAX_TAGS:
            html = html[: token.start()]
            break
        name = token[2]
        if name is None:
            continue
        allowed = outline.close(name.lower()) if token[1] else outline.open(name.lower())
        if not allowed or token.end() - token.start() > MAX_TAG_CHARS:
            pieces += html[done : token.start()], f"<{token[1]}{name}>" if allowed else ""
            done = token.end()
    return "".join([*pieces, html[done:]])


class _Outline:
    """The elements that are open, as the parser would have it."""

    def __init__(self, max_formatting: int) -> None:
        self._max_formatting = max_formatting
        self._stack: list[str] = []
        self._formatting: Counter[str] = Counter()

    def open(self, name: str) -> bool:
        if name in _FLAT:
            return True
        if len(self._stack) >= MAX_DEPTH:
            return False
        if name in _FORMATTING:
            if self._formatting.total() >= self._max_formatting:
                return False
            self._formatting[name] += 1
        self._stack.append(name)
        return True

    def close(self, name: str) -> bool:
        if self._formatting[name] > 0:
            self._formatting[name] -= 1
        if name not in self._stack:
            return True
        for at in range(len(self._stack) - 1, -1, -1):
            if self._stack[at] == name:
                del self._stack[at:]
                break
            if self._stack[at] in _BARRIERS:
                break
        return True
