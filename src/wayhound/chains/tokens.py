"""A page as the sequence of tokens that landmark rules run over, and as the tree of elements that learning looks at."""

from __future__ import annotations

import copy
import html
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import accumulate, chain
from typing import TypeVar

from wayhound.url import normalise

_T = TypeVar("_T")
MAX_CHARS = 16_000_000
"""Longer pages are cut: they are dumps, and their tokens would fill the memory."""

_UNSEEN = re.compile(r"<(?:(!--)|(?:(script)|(style)|(template)|(noscript))\b)", re.IGNORECASE)
_UNSEEN_ENDS = (
    re.compile("-->"),
    *(re.compile(rf"</{name}\s*>", re.IGNORECASE) for name in ("script", "style", "template", "noscript")),
)
_HEADINGS = re.compile(r"<(?:(title)|(h1))\b", re.IGNORECASE)
_HEADING_ENDS = (re.compile("</title", re.IGNORECASE), re.compile("</h1", re.IGNORECASE))
_TOKEN = re.compile(
    r"""</?[a-zA-Z](?:[^"'<>]|"[^"<]*"|'[^'<]*')*+>"""  # a tag; quoted values may hold >
    r"|</?[a-zA-Z][^<>]*>"  # a tag with an odd number of quotes
    r"|<![^<>]*>"
    r"|&(?:\#\d{1,7}|\#[xX][0-9a-fA-F]{1,6}|[a-zA-Z]{2,12});"
    r"|[^\W_]+|[^\s]"
)
_TAGS = re.compile(r"<[^<>]*>")
_DIGIT = re.compile(r"\d")
_NAME = re.compile(r"</?([a-zA-Z][^\s/>]*)")
_ATTRIBUTE = re.compile(
    r"""([a-zA-Z][\w:-]*+)(?:\s*+=\s*+(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))|(?P<no_value>))"""
)  # a name without a value is found too, so that nothing is looked for inside it
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
    attributes = {key.lower(): value for key, value in _attributes(raw)}
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
_NAMES_IN_TAG = re.compile(r' (class|id)="([^"]*)"')


@dataclass(frozen=True, slots=True)
class OpenTag:
    """A kind of tag whose classes or id tell content, such as the category of a product beside `product`.

    Of the names of a tag called `tag` that has all of `common`, only those in `kept` are looked at. An id is written
    with a `#` before it.
    """

    tag: str
    common: frozenset[str]
    kept: frozenset[str]


@lru_cache(maxsize=65_536)
def names_of(token: str) -> frozenset[str]:
    """Return the classes of a tag in normal form, and its id with a `#` before it."""
    found = _NAMES_IN_TAG.findall(token) if token[:1] == "<" else ()
    return frozenset(
        name for key, value in found for name in (value.split() if key == "class" else [f"#{value}"])
    )


class TagCutter(dict[str, str]):
    """Maps every token to itself, and open tags to what is looked at of them."""

    def __init__(self, tags: Sequence[OpenTag]) -> None:
        super().__init__()
        self.tags = tuple(tags)

    def __missing__(self, token: str) -> str:
        if token[0] != "<" or '="' not in token:
            return token
        cut, name, names = token, token[1:].partition(" ")[0], names_of(token)
        for tag in self.tags:
            if tag.tag == name and tag.common <= names:
                names &= tag.kept
                cut = _with_names(token, names)
        remember(self, token, cut)
        return cut


def _with_names(token: str, names: frozenset[str]) -> str:
    def kept(match: re.Match[str]) -> str:
        if match[1] == "id":
            return match[0] if f"#{match[2]}" in names else ""
        classes = " ".join(name for name in match[2].split() if name in names)
        return f' class="{classes}"' if classes else ""

    return _NAMES_IN_TAG.sub(kept, token)


class _PieceTokens(dict[str, tuple[str, ...]]):
    """Normal forms of the tokens of a piece: a tag and the text after it, without the `<` that it begins with.

    No token goes on past a `<`, so a page is the pieces between them one by one. Most pieces of a site recur: a page
    of a megabyte has some thousands of different ones, and is read by looking them up.
    """

    def __missing__(self, piece: str) -> tuple[str, ...]:
        raw = _TOKEN.findall(piece[1:] if piece[:1] == _NO_TAG else f"<{piece}")
        tokens = tuple(map(_NAMES.__getitem__, raw))
        remember(self, piece, tokens)
        return tokens


_NO_TAG = "\0"  # begins the first piece of a page, which has no tag
_MOST_PIECES = 50_000
_LONGEST_PIECE = 400
_PIECES = _PieceTokens()


tokens_of = _PIECES.__getitem__
"""Returns the tokens of a piece."""


def remember(known: dict[str, _T], piece: str, value: _T) -> None:
    """Keep the value of a piece for the pages to come, unless the piece is long; a crawl must not fill the memory."""
    if len(known) >= _MOST_PIECES:
        known.clear()
    if len(piece) <= _LONGEST_PIECE:
        known[piece] = value


class TokenPage:
    """The tokens of one page in normal form: words, numbers, signs, and tags with the attributes of a template."""

    def __init__(self, url: str, text: str) -> None:
        self.url = url
        self.text = text[:MAX_CHARS]
        self._seen = _without_unseen(self.text)
        self._pieces = (_NO_TAG + self._seen).split("<")
        self._starts: list[int] = []

    @cached_property
    def tokens(self) -> tuple[str, ...]:
        return tuple(chain.from_iterable(map(_PIECES.__getitem__, self._pieces)))

    def cut(self, cutter: TagCutter) -> TokenPage:
        """Return the page with open tags cut down; its links and their places stay the same."""
        if not cutter.tags:
            return self
        page = copy.copy(self)
        page.__dict__.pop("tree", None)
        page.__dict__["tokens"] = tuple(map(cutter.__getitem__, self.tokens))
        return page

    def encode(self, codes: dict[str, str]) -> str:
        """Return the codes of all pieces in order; a code has a character for each token of its piece."""
        coded = list(map(codes.__getitem__, self._pieces))
        if not self._starts:
            self._starts = list(accumulate(map(len, coded), initial=0))
        return "".join(coded)

    @property
    def starts(self) -> list[int]:
        """The first token of every piece, and the number of tokens."""
        if not self._starts:
            self._starts = list(accumulate(map(len, map(_PIECES.__getitem__, self._pieces)), initial=0))
        return self._starts

    @cached_property
    def _lengths(self) -> list[int]:
        """The length of all pieces before each."""
        return list(accumulate(map(len, self._pieces), initial=0))

    def _offset(self, piece: int) -> int:
        """Return the offset of a piece in the text; all but the first begin with a `<` that is not part of them."""
        return self._lengths[piece] + piece - 1 - len(_NO_TAG)

    @cached_property
    def base(self) -> str:
        declared = _BASE.search(self._seen)
        href = _href(declared[0]) if declared else ""
        return normalise(href, self.url) or self.url if href else self.url

    @cached_property
    def _folder(self) -> str:
        return self.base.partition("#")[0].partition("?")[0].rpartition("/")[0] + "/"

    @cached_property
    def link_tokens(self) -> list[int]:
        """The tokens that open a link."""
        return [
            start
            for piece, start in zip(self._pieces, self.starts, strict=False)
            if piece[:1] in ("a", "A") and _opens_link(_PIECES[piece][0])
        ]

    @cached_property
    def anchors(self) -> list[Anchor]:
        """All links in document order."""
        return [self.anchor(token) for token in self.link_tokens]

    @cached_property
    def links_by_text(self) -> dict[str, list[int]]:
        """The opening tags of links by what they say."""
        links: dict[str, list[int]] = {}
        for anchor in self.anchors:
            links.setdefault(anchor.text, []).append(anchor.token)
        return links

    def anchor(self, token: int) -> Anchor:
        """Return the link whose opening tag is a token."""
        piece = bisect_right(self.starts, token) - 1
        end = self._end_piece(piece)
        begin = self._offset(piece)
        text = "" if end is None else _plain(self._seen[begin : self._offset(end)])
        return Anchor(self._target(_link_href(self._pieces[piece])), " ".join(text.split()), begin, token)

    def targets(self) -> Iterator[tuple[int, str]]:
        """Yield the opening tag of every link with the address that it leads to."""
        pieces = zip(self._pieces, self.starts, strict=False)
        for piece, start in pieces:
            if piece[:1] in ("a", "A") and _opens_link(_PIECES[piece][0]):
                yield start, self._target(_link_href(piece))

    def target_of(self, token: int) -> str:
        """Return the address that the link with this opening tag leads to."""
        return self._target(_link_href(self._pieces[bisect_right(self.starts, token) - 1]))

    def _target(self, href: str) -> str:
        # what a relative address leads to depends on the folder alone, which pages of a site share
        return _resolved(href, self.base if href[:1] in ("", "?", "#") else self._folder)

    def link_at(self, pos: int) -> int | None:
        """Return the token of the link that begins at an offset of the text; None if none does."""
        place = bisect_left(range(len(self._pieces)), pos, key=self._offset)
        is_place = 0 < place < len(self._pieces) and self._offset(place) == pos
        return self.starts[place] if is_place and _opens_link(_PIECES[self._pieces[place]][0]) else None

    def end_of_link(self, token: int) -> int:
        """Return the token that ends a link: its closing tag, the next link, or the last token."""
        end = self._end_piece(bisect_right(self.starts, token) - 1)
        return min(token + 1, self.starts[-1] - 1) if end is None else self.starts[end]

    def _end_piece(self, piece: int) -> int | None:
        starts = self.starts
        for number in range(piece + 1, len(self._pieces)):
            if starts[number] - starts[piece] >= _LONGEST_LINK:
                break
            name = _PIECES[self._pieces[number]][0]
            if name == "</a>" or _opens_link(name):
                return number
        return None

    @cached_property
    def tree(self) -> Tree:
        return Tree(self.tokens)


def title_words(page: TokenPage) -> set[str]:
    """Return the words of a page's title and main headings, which tell it from others of its kind."""
    found = _enclosed(page.text, _HEADINGS, _HEADING_ENDS)
    pieces = [page.text[start.end() : end.start()].partition(">")[2] for start, end in found]
    return {word for piece in pieces for word in re.findall(r"[^\W_]+", _plain(piece))}


_LONGEST_LINK = 200  # tokens: a link that is not closed by then has lost its closing tag


def _opens_link(token: str) -> bool:
    return token[:3] in ("<a ", "<a>")


@lru_cache(maxsize=_MOST_PIECES)
def _link_href(piece: str) -> str:
    tag = _TOKEN.match(f"<{piece}")
    return html.unescape(_href(tag[0])).strip() if tag else ""


@lru_cache(maxsize=_MOST_PIECES)
def _resolved(href: str, base: str) -> str:
    return normalise(href, base)


def _href(tag: str) -> str:
    return next((value for key, value in _attributes(tag) if key.lower() == "href"), "")


def _attributes(tag: str) -> Iterator[tuple[str, str]]:
    for found in _ATTRIBUTE.finditer(tag):
        if found["no_value"] is None:
            yield found[1], found[2] or found[3] or found[4] or ""


def _enclosed(
    text: str, opening: re.Pattern[str], ends: Sequence[re.Pattern[str]]
) -> Iterator[tuple[re.Match[str], re.Match[str]]]:
    """Yield what opens a part of the text, with what ends it, one after the other.

    `ends` has a pattern for each group of `opening`. One that is not found is not looked for again: hostile pages open
    thousands of comments and close none.
    """
    missing = set[int]()
    at = 0
    while (start := opening.search(text, at)) is not None:
        at, kind = start.end(), (start.lastindex or 1) - 1
        end = None if kind in missing else ends[kind].search(text, at)
        if end is None:
            missing.add(kind)
        else:
            yield start, end
            at = end.end()


def _without_unseen(text: str) -> str:
    """Return the text with blanks for comments, scripts and styles."""
    parts, at = list[str](), 0
    for start, end in _enclosed(text, _UNSEEN, _UNSEEN_ENDS):
        parts += (text[at : start.start()], " " * (end.end() - start.start()))
        at = end.end()
    return "".join([*parts, text[at:]])


def _plain(markup: str) -> str:
    return html.unescape(_TAGS.sub(" ", markup))


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
        places: dict[str, list[int]] = {}  # tag → the places in the stack of its open elements
        for number, token in enumerate(tokens):
            if token[0] != "<" or len(token) == 1 or token[1] == "!":
                self.owner.append(stack[-1])
            elif token[1] == "/":
                self._close(token[2:-1], number, stack, places)
            else:
                self._open(token, number, stack, places)
        for element in stack:
            self.elements[element].close = len(tokens)

    def _open(self, token: str, number: int, stack: list[int], places: dict[str, list[int]]) -> None:
        name = token[1:].partition(" ")[0].rstrip(">")
        closes, within = _CLOSED_BY.get(name, (frozenset(), frozenset()))
        depth = _innermost(closes, places)
        if depth > _innermost(within, places):
            self._end(depth, number, stack, places)
        self.owner.append(stack[-1])
        self.elements.append(Element(name, token, number, number, stack[-1]))
        self.opened[number] = len(self.elements) - 1
        parent = stack[-1]
        self.paths.append(self._number(self.paths[parent], token))
        self.tag_paths.append(self._number(self.tag_paths[parent], name))
        if name not in _VOID:
            places.setdefault(name, []).append(len(stack))
            stack.append(len(self.elements) - 1)

    def _close(self, name: str, number: int, stack: list[int], places: dict[str, list[int]]) -> None:
        depth = _innermost(("a", "anchor") if name == "a" else (name,), places)
        if depth:
            self.closed[number] = stack[depth]
            self._end(depth, number, stack, places)
        self.owner.append(stack[-1])

    def _end(self, depth: int, number: int, stack: list[int], places: dict[str, list[int]]) -> None:
        for element in stack[depth:]:
            self.elements[element].close = number
            places[self.elements[element].tag].pop()
        del stack[depth:]

    def tags(self, element: int) -> tuple[str, ...]:
        """Return the tags from the root down to an element."""
        above = [self.elements[parent].tag for parent in self.ancestors(element)]
        return (*reversed(above), self.elements[element].tag)

    def at(self, tags: Sequence[str]) -> list[int]:
        """Return the elements whose path from the root has these tags."""
        number: int | None = 0
        for tag in tags:
            number = None if number is None else self._numbers.get((number, tag))
        return [] if number is None else self._by_tags.get(number, [])

    @cached_property
    def _by_tags(self) -> dict[int, list[int]]:
        elements: dict[int, list[int]] = {}
        for element, number in enumerate(self.tag_paths):
            elements.setdefault(number, []).append(element)
        return elements

    def ancestors(self, element: int) -> Iterator[int]:
        """Yield the parents of an element, nearest first, without the root."""
        while (element := self.elements[element].parent) > 0:
            yield element

    def _number(self, above: int, name: str) -> int:
        return self._numbers.setdefault((above, name), len(self._numbers) + 1)


def _innermost(tags: Iterable[str], places: dict[str, list[int]]) -> int:
    """Return the place of the innermost open element with one of these tags; 0 if there is none."""
    return max((places[tag][-1] for tag in tags if places.get(tag)), default=0)
