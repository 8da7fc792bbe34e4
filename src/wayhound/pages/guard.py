"""Limit the work that markup can cause: the HTML standard lets a small page grow into gigabytes of tree.

A parser walks its open elements for every tag, so nesting has quadratic cost; formatting that is never closed is
reopened in every paragraph (WHATWG HTML, 13.2.4.3); the attributes of a tag are compared with each other.
"""

from __future__ import annotations

import re

MAX_CHARS = 5_000_000
MAX_TAGS = 300_000
MAX_DEPTH = 400
MAX_TAG_CHARS = 4_096
_MAX_REOPENED = 300_000  # formatting elements that the parser may reopen, in all

# Below these limits a page can do no harm (at most some 500 × 500 elements), and is not scanned.
_PLAIN_CHARS, _FEW_TAGS, _PLAIN_TAGS, _PLAIN_OPEN = 65_536, 1_000, 2_000, 300

_ATTRIBUTES = r"""(?:[^>=]++|=\s*+(?:"[^"]*+(?:"|\Z)|'[^']*+(?:'|\Z)|[^\s>"'][^\s>]*+)?+)*+>?+"""
_RAW = "script|style|textarea|title|xmp|iframe|noembed|noframes"
_TOKEN = re.compile(
    rf"<!--.*?(?:-->|\Z)|<(?:{_RAW})(?=[\s/>]){_ATTRIBUTES}[^<]*+(?:<(?!/(?:{_RAW}))[^<]*+)*+"
    rf"|<(/?)([a-z][^\s/>]*+){_ATTRIBUTES}",
    re.IGNORECASE | re.DOTALL,
)
_FORMATTING = frozenset("b big code em font i nobr s small strike strong tt u".split())
# Elements without content, those that the next of their kind closes, and links do not nest.
_FLAT = frozenset(
    "area base basefont bgsound br col embed frame hr img input keygen link meta param source track wbr "
    "a p li dt dd td th tr tbody thead tfoot colgroup option optgroup rt rp html head body".split()
)
_BARRIERS = frozenset("table caption button object applet marquee template svg math".split())


def limit_markup(html: str) -> str:
    """Return the markup, cut down so that parsing takes time and memory proportional to its length."""
    html = html[:MAX_CHARS]
    tags = html.count("<")
    if _is_plain(html, tags):
        return html
    return _cut_down(html, max(1, min(30, _MAX_REOPENED // (tags + 1))))


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
    """The stack of open elements, as the parser would have it."""

    def __init__(self, max_formatting: int) -> None:
        self._max_formatting = max_formatting
        self._stack: list[str] = []
        self._formatting: list[str] = []

    def take(self, slash: str, name: str) -> bool:
        """Open or close an element; return False if that would exceed the limits."""
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
