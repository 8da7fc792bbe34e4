"""Limits on the markup of a page before it is parsed.

The HTML standard lets a small page grow into gigabytes of tree. A parser walks its open elements for every tag, so
nesting has quadratic cost; formatting that is never closed is reopened in every paragraph (WHATWG HTML, 13.2.4.3); the
attributes of a tag are compared with each other.
"""

from __future__ import annotations

import re

MAX_CHARS = 5_000_000
MAX_TAGS = 300_000
MAX_DEPTH = 400
MAX_TAG_CHARS = 4_096
_MAX_REOPENED = 300_000  # formatting elements that the parser may reopen, in all

# Below these limits a page can do no harm (2,000 elements in each other take 9 ms, 16,000 attributes half a second),
# and is not scanned. The last is the product of all tags and those that may be reopened in each.
_PLAIN_CHARS, _FEW_TAGS, _PLAIN_TAGS, _PLAIN_REOPENED = 65_536, 1_000, 4_000, 600_000

_ATTRIBUTES = r"""[^>=]*+(?:=\s*+(?:"[^"]*+(?:"|\Z)|'[^']*+(?:'|\Z)|[^\s>"'][^\s>]*+)?+[^>=]*+)*+>?+"""
_RAW = "script|style|textarea|title|xmp|iframe|noembed|noframes"
# One "<" before all alternatives, which the regular expression engine skips to. Groups: the start tag of an element
# whose content is not markup; the tag of any other; its slash; its name.
_TOKEN = re.compile(
    rf"<(?:!--.*?(?:-->|\Z)|((?:{_RAW})(?=[\s/>]){_ATTRIBUTES})[^<]*+(?:<(?!/(?:{_RAW}))[^<]*+)*+"
    rf"|((/?)([a-z][^\s/>]*+){_ATTRIBUTES}))",
    re.IGNORECASE | re.DOTALL,
)
_TAG_NAME = re.compile(r"[^\s/>]+")
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
    n_tags = html.count("<")
    if _has_plain_tags(html, n_tags) and _has_few_attributes(html):
        return html
    return _cut_down(html, max(1, min(30, _MAX_REOPENED // (n_tags + 1))))


def has_plain_markup(source: bytes) -> bool:
    """Return True if `limit_markup` would leave markup in UTF-8 as it is; False may mean that it must look closer."""
    import numpy as np  # noqa: PLC0415 - `import wayhound` must stay quick

    # numbers in an array are counted in an eighth of the time that letters of a string take
    letters = np.frombuffer(source, np.uint8)
    begins = letters == ord("<")
    n_tags = int(np.count_nonzero(begins))
    if n_tags > _FEW_TAGS:
        closed = int(np.count_nonzero(begins[:-1] & (letters[1:] == ord("/")))) - 1  # the last may not count
        if n_tags > _PLAIN_TAGS or n_tags * (n_tags - 2 * closed) > _PLAIN_REOPENED:
            return False
    return len(source) <= _PLAIN_CHARS or (
        len(source) <= MAX_CHARS and _most_attributes(source) <= _PLAIN_CHARS // 4
    )


def _has_plain_tags(html: str, n_tags: int) -> bool:
    if n_tags <= _FEW_TAGS:
        return True
    closed = html.count("</", 0, html.rfind("<"))
    return n_tags <= _PLAIN_TAGS and n_tags * (n_tags - 2 * closed) <= _PLAIN_REOPENED


def _has_few_attributes(html: str) -> bool:
    return len(html) <= _PLAIN_CHARS or _most_attributes(html.encode("utf-8", "replace")) <= _PLAIN_CHARS // 4


def _most_attributes(html: bytes) -> int:
    """Return a number that no tag's attributes exceed: each begins after white space, a closing quote or a slash."""
    import numpy as np  # noqa: PLC0415 - with the first large page: `import wayhound` must stay quick

    source = np.frombuffer(html, np.uint8)
    is_seen = source > ord(" ")
    words = np.count_nonzero(is_seen[1:] > is_seen[:-1]) + 1
    quotes = np.count_nonzero((source == ord('"')) | (source == ord("'")))
    return int(words + quotes // 2 + 1 + np.count_nonzero(source == ord("/")))


def _cut_down(html: str, max_formatting: int) -> str:
    outline = _Outline(max_formatting)
    pieces: list[str] = []
    done = 0
    for number, token in enumerate(_TOKEN.finditer(html)):
        raw, tag, slash, name = token.groups()
        if number == MAX_TAGS:
            html = html[: token.start()]
            break
        if tag is None:
            if raw is None or len(raw) < MAX_TAG_CHARS:
                continue
            tag, slash, name = raw, "", _TAG_NAME.findall(raw, 0, 20)[0]
        is_long = len(tag) >= MAX_TAG_CHARS
        if not is_long and (name in _FLAT or outline.take(slash, name)):
            continue
        pieces += html[done : token.start()], f"<{slash}{name}>" if is_long else ""
        done = token.start() + 1 + len(tag)
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
        stack = self._stack
        if slash:
            if name in self._formatting:
                self._formatting.remove(name)
            if stack and stack[-1] == name:  # as a rule, what is closed is what was opened last
                stack.pop()
            elif name in stack:
                self._close(name)
            return True
        if len(stack) >= MAX_DEPTH:
            return False
        if name in _FORMATTING:
            if len(self._formatting) >= self._max_formatting:
                return False
            self._formatting.append(name)
        stack.append(name)
        return True

    def _close(self, name: str) -> None:
        for at in range(len(self._stack) - 1, -1, -1):
            if self._stack[at] == name:
                del self._stack[at:]
                return
            if self._stack[at] in _BARRIERS:
                return
