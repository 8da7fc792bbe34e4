"""A page as the sequence of tokens that landmark rules run over, and as the tree of elements that learning looks at."""

from __future__ import annotations

import html
import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from wayhound.url import normalise

MAX_CHARS = 16_000_000
"""Longer pages are cut: they are dumps, and their tokens would fill the memory."""

_UNSEEN = re.compile(r"<!--.*?-->|<(script|style|template|noscript)\b.*?</\1\s*>", re.DOTALL | re.IGNORECASE)
_TOKEN = re.compile(
    r"""</?[a-zA-Z](?:[^"'<>]|"[^"<]*"|'[^'<]*')*+>"""  # a tag; quoted values may hold >
    r"|</?[a-zA-Z][^<>]*>"  # a tag with an odd number of quotes
    r"|<![^<>]*>"
    r"|&(?:\#\d{1,7}|\#[xX][0-9a-fA-F]{1,6}|[a-zA-Z]{2,12});"
    r"|[^\W_]+|[^\s]"
)
_DIGIT = re.compile(r"\d")
_NAME = re.compile(r"</?([a-zA-Z][^\s/>]*)")
_ATTRIBUTE = re.compile(r"""([a-zA-Z][\w:-]*)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))""")
_BASE = re.compile(r"<base\s[^<>]*>", re.IGNORECASE)
_KEPT = ("id", "itemprop", "role", "scope", "size", "color", "bgcolor", "align", "width", "face")
_ZEBRA = re.compile(
    r"(?:.*[-_])?(?:even|odd|alt|alternate|stripe[ds]?)(?:[-_]?(?:row|colou?r|line|item|bg))*(?:[-_].*)?"
    r"|row[-_]?colou?r|first|last|active|current|selected|visited|open|clearfix|.*\d{2,}.*|(?:item|row|n)?[-_]?\d+",
    re.IGNORECASE,
)
_STATE = frozenset(
    "external external-link internal internal-link ext extlink offsite outbound new reference".split()
)
_BLANKS = {"nbsp", "ensp", "emsp", "thinsp", "#160", "#8203", "zwnj", "zwj", "shy"}
LINK = "<a>"
NAMED_ANCHOR = "<anchor>"
_VOID = frozenset(
    (
        "area",
        "base",
        "br",
        "col",
        "embed",
        "frame",
        "hr",
        "img",
        "input",
        "link",
        "meta",
        "param",
        "source",
        "wbr",
    )
)
_CLOSED_BY: dict[str, tuple[frozenset[str], frozenset[str]]] = {
    # an opening tag closes these, unless it is inside one of those
    "li": (frozenset({"li"}), frozenset({"ul", "ol", "menu"})),
    "dt": (frozenset({"dt", "dd"}), frozenset({"dl"})),
    "dd": (frozenset({"dt", "dd"}), frozenset({"dl"})),
    "td": (frozenset({"td", "th"}), frozenset({"table", "tr"})),
    "th": (frozenset({"td", "th"}), frozenset({"table", "tr"})),
    "tr": (frozenset({"tr"}), frozenset({"table", "tbody", "thead", "tfoot"})),
    "option": (frozenset({"option"}), frozenset({"select"})),
    "a": (frozenset({"a"}), frozenset({"td", "li", "div", "table"})),
} | dict.fromkeys(
    ("p", "div", "ul", "ol", "dl", "table", "section", "article", "h1", "h2", "h3", "h4", "h5", "h6", "pre", "hr"),
    (frozenset({"p"}), frozenset({"div", "td", "li", "body", "table", "section", "article"})),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Anchor:
    """A link element: where it goes, what it says, and its offset in the page's text (`pos`)."""

    target: str
    text: str
    pos: int
    token: int  # of its opening tag
    number: int  # among the links of the page


@dataclass(slots=True)
class Element:
    """An element by its tokens: `open` is its opening tag, `close` its closing tag or the token that ends it."""

    tag: str
    signature: str
    open: int
    close: int
    parent: int


class _Names(dict[str, str]):
    """Normal forms of raw tokens: tags in lower case with the attributes that belong to a template."""

    def __missing__(self, raw: str) -> str:
        if raw[0] == "<" and len(raw) > 1:
            name = _normal_tag(raw)
        elif raw[0] == "&" and len(raw) > 1:
            name = _normal_entity(raw)
        else:
            return raw
        if len(self) > 200_000:
            self.clear()
        self[raw] = name
        return name


def _normal_tag(raw: str) -> str:
    if raw[1] == "!":
        return "<!>"
    found = _NAME.match(raw)
    name = found[1].lower() if found else "x"
    if raw[1] == "/":
        return f"</{name}>"
    attributes = {key.lower(): a or b or c for key, a, b, c in _ATTRIBUTE.findall(raw)}
    if name == "a" and not _may_lead(attributes.get("href", "")):
        return NAMED_ANCHOR
    kept = [("class", classes)] if (classes := _classes(attributes.get("class", ""))) else []
    others = [(key, attributes[key]) for key in _KEPT if attributes.get(key)]
    kept += [(key, value) for key, value in others if not (key == "id" and _DIGIT.search(value))]
    return "<" + " ".join([name, *(f'{key}="{value}"' for key, value in kept)]) + ">"


def _may_lead(href: str) -> bool:
    href = href.strip()
    return (
        bool(href)
        and href[0] != "#"
        and not href.lower().startswith(("javascript:", "mailto:", "tel:", "data:"))
    )


def _classes(value: str) -> str:
    """Drop the classes that stripe rows, count items or tell a state: members of one list must look alike.

    Numbers are dropped from names that stand beside others (`tab tab-2`); a lone `col2` may be what tells columns.
    """
    names = {name for name in value.split() if not _ZEBRA.fullmatch(name) and name not in _STATE}
    if len(names) > 1:
        names = {_DIGIT.sub("", name) for name in names}
    return " ".join(sorted(names))


def _normal_entity(raw: str) -> str:
    text = html.unescape(raw)
    return " " if raw[1:-1].lower() in _BLANKS or text.isspace() or not text else text


_NAMES = _Names()


class TokenPage:
    """The tokens of one page. `raw` are the tokens as written, `tokens` their normal forms; both are of one length."""

    def __init__(self, url: str, text: str) -> None:
        self.url = url
        self.text = text[:MAX_CHARS]
        self._seen = _UNSEEN.sub(_blank, self.text)
        self.raw: list[str] = _TOKEN.findall(self._seen)

    @cached_property
    def tokens(self) -> tuple[str, ...]:
        return tuple(map(_NAMES.__getitem__, self.raw))

    @cached_property
    def base(self) -> str:
        declared = _BASE.search(self._seen)
        href = _href(declared[0]) if declared else ""
        return normalise(href, self.url) or self.url if href else self.url

    @cached_property
    def offsets(self) -> list[int]:
        """The offset of every token in the text."""
        return [match.start() for match in _TOKEN.finditer(self._seen)]

    @cached_property
    def link_tokens(self) -> list[int]:
        """The tokens that open a link."""
        return [
            number
            for number, raw in enumerate(self.raw)
            if raw[:2] in ("<a", "<A") and _NAMES[raw][:3] in ("<a ", "<a>")
        ]

    @cached_property
    def anchors(self) -> list[Anchor]:
        """All links in document order."""
        return [self.anchor(token) for token in self.link_tokens]

    def anchor(self, token: int) -> Anchor:
        """Return the link whose opening tag is a token."""
        number = self._numbers[token]
        end = self.end_of_link(token)
        text = " ".join(html.unescape(_plain(self._seen[self.offsets[token] : self.offsets[end]])).split())
        return Anchor(
            normalise(html.unescape(_href(self.raw[token])), self.base),
            text,
            self.offsets[token],
            token,
            number,
        )

    def link_at(self, pos: int) -> int | None:
        """Return the token of the link that begins at an offset of the text; None if none does."""
        place = bisect_left(self.offsets, pos)
        is_link = place < len(self.offsets) and self.offsets[place] == pos and place in self._numbers
        return place if is_link else None

    def end_of_link(self, token: int) -> int:
        """Return the token that ends a link: its closing tag, the next link, or the last token."""
        for number in range(token + 1, min(token + 200, len(self.raw))):
            if (name := _NAMES[self.raw[number]]) == "</a>" or name[:3] in ("<a ", "<a>"):
                return number
        return min(token + 1, len(self.raw) - 1)

    @cached_property
    def _numbers(self) -> dict[int, int]:
        return {token: number for number, token in enumerate(self.link_tokens)}

    @cached_property
    def tree(self) -> Tree:
        return Tree(self.tokens)

    @cached_property
    def own_words(self) -> frozenset[str]:
        """The words of the page's title and main headings, which tell this page from others of its kind."""
        pieces = re.findall(r"<(title|h1)\b[^>]*>(.*?)</\1", self._seen, re.DOTALL | re.IGNORECASE)
        return frozenset(word for _, piece in pieces for word in re.findall(r"[^\W_]+", _plain(piece)))

    @cached_property
    def words(self) -> frozenset[str]:
        return frozenset(self.raw)


def _blank(match: re.Match[str]) -> str:
    return " " * len(match[0])


def _href(tag: str) -> str:
    return next((a or b or c for key, a, b, c in _ATTRIBUTE.findall(tag) if key.lower() == "href"), "")


def _plain(markup: str) -> str:
    return re.sub(r"<[^<>]*>", " ", markup)


class Tree:
    """The elements of a page, in order of their opening tags; `owner[t]` is the element that token `t` stands in.

    The owner of an opening tag is the parent of its element. Missing closing tags are made up for as browsers do.
    """

    def __init__(self, tokens: tuple[str, ...]) -> None:
        self.elements: list[Element] = [Element("", "", -1, len(tokens), -1)]
        self.owner: list[int] = []
        self.opened: dict[int, int] = {}  # token → the element that it opens
        self.closed: dict[int, int] = {}  # token → the element that it closes
        self.paths: list[int] = [0]  # by element: equal numbers for equal signatures from the root down
        self.tag_paths: list[int] = [0]  # the same for tags without attributes
        self._numbers: dict[tuple[int, str], int] = {}
        stack = [0]
        for number, token in enumerate(tokens):
            if token[0] != "<" or len(token) == 1 or token[1] == "!":
                self.owner.append(stack[-1])
            elif token[1] == "/":
                self._close(token[2:-1], number, stack)
            else:
                self._open(token, number, stack)
        for element in stack:
            self.elements[element].close = len(tokens)

    def _open(self, token: str, number: int, stack: list[int]) -> None:
        name = token[1:].partition(" ")[0].rstrip(">")
        closes, within = _CLOSED_BY.get(name, (frozenset(), frozenset()))
        for depth in range(len(stack) - 1, 0, -1):
            tag = self.elements[stack[depth]].tag
            if tag in closes:
                for element in stack[depth:]:
                    self.elements[element].close = number
                del stack[depth:]
                break
            if tag in within:
                break
        self.owner.append(stack[-1])
        self.elements.append(Element(name, token, number, number, stack[-1]))
        self.opened[number] = len(self.elements) - 1
        parent = stack[-1]
        self.paths.append(self._number(self.paths[parent], token))
        self.tag_paths.append(self._number(self.tag_paths[parent], name))
        if name not in _VOID:
            stack.append(len(self.elements) - 1)

    def _close(self, name: str, number: int, stack: list[int]) -> None:
        names = ("a", "anchor") if name == "a" else (name,)
        for depth in range(len(stack) - 1, 0, -1):
            if self.elements[stack[depth]].tag in names:
                for element in stack[depth:]:
                    self.elements[element].close = number
                self.closed[number] = stack[depth]
                del stack[depth:]
                break
        self.owner.append(stack[-1])

    def ancestors(self, element: int) -> Iterator[int]:
        """Yield the parents of an element, nearest first, without the root."""
        while (element := self.elements[element].parent) > 0:
            yield element

    def _number(self, above: int, name: str) -> int:
        return self._numbers.setdefault((above, name), len(self._numbers) + 1)
