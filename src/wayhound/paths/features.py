"""Pages and links as sets of tokens, after section 4.2 of Vydiswaran & Sarawagi (2005).

The paper takes words of the page's head and body, of the link and ten words around it, and of the URL. Added
is what tells lists from sentences and sections from items: where the link stands, how many stand like it, how
its URL lies to that of its page, and the words by which its page names itself.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from wayhound.page import Link, Page
from wayhound.text.plurals import singular
from wayhound.url import url_tokens
from wayhound.words import words

BODY_TOKENS = 100
MOST_REMEMBERED = 1 << 16  # words of each kind
WINDOW = 10  # words before a link and after it
_DIGITS = re.compile(r"\d+")
_SINGULAR_ENDINGS = ("ss",)  # `campus` becomes `campu`: saved models know the features by these names
_PARTS = re.compile(r"[^\W_]+")
_CLASSES = re.compile(r"\.[^>]*")
_PAGE_KINDS = frozenset({"title", "body", "url", "heading", "depth", "is"})
_FILE_NAMES = frozenset({"html", "htm", "index"})
_TRUST = {"says": 2.0, "near": 0.5, "is": 6.0}  # that it is a document is all that one shows


@lru_cache(maxsize=1 << 16)
def plain(word: str) -> str:
    """A word without what varies most: numbers, and the endings of plurals."""
    return singular(_DIGITS.sub("9", word), _SINGULAR_ENDINGS)


def page_tokens(
    page: Page, body_tokens: int = BODY_TOKENS, depth: int = 0, *, added: bool = True
) -> frozenset[str]:
    """What a page shows: title, its first words, its URL; added are its headings and how deep it lies. A document
    shows its URL alone; added is that it is one."""
    shown = [
        *(f"title {plain(word)}" for word in words(page.title)),
        *(f"body {plain(word)}" for word in page.tokens[:body_tokens]),
        *(f"url {plain(word)}" for word in url_tokens(page.url)),
    ]
    if added:
        shown += [f"heading {plain(word)}" for heading in page.headings[:3] for word in words(heading)]
        shown.append(f"depth {min(depth, 4)}")
        if page.is_document:
            shown.append(f"is {page.kind}")
    return frozenset(shown)


def is_of_page(token: str) -> bool:
    """Whether pages show this token, rather than links."""
    return token.split(" ", 1)[0] in _PAGE_KINDS


def trust(token: str) -> float:
    """How much a token counts before anything is learned of it: what a link itself says tells more than the
    words around it, and those are twenty."""
    return _TRUST.get(token.split(" ", 1)[0], 1.0)


@dataclass(frozen=True)
class PageContext:
    """What the links of a page share, taken once: who the page says it is, and how its links are grouped."""

    url: str
    tokens: tuple[str, ...]
    of_region: Mapping[str, tuple[str, ...]]
    origin: str
    folders: tuple[str, ...]

    @classmethod
    def of(cls, page: Page) -> PageContext:
        regions = Counter(link.region for link in page.links)
        homes = Counter(link.region for link in page.links if "~" in link.url)
        tokens = {
            *(f"on title {plain(word)}" for word in words(page.title)),
            *(f"on heading {plain(word)}" for heading in page.headings[:3] for word in words(heading)),
            *(f"on url {plain(word)}" for word in url_tokens(page.url)),
            f"links {_size(len({link.url for link in page.links}))}",
        }
        of_region = {name: _of_region(name, count, homes[name]) for name, count in regions.items()}
        origin = _origin(page.url)
        folders = _path_parts(page.url.partition("?")[0].rpartition("/")[0], origin)
        return cls(page.url, tuple(sorted(tokens)), of_region, origin, tuple(folders))


def _of_region(region: str, links: int, homes: int) -> tuple[str, str, str]:
    """Where links stand, how many stand alike, and how many of these lead to ~somebody."""
    return _stands(region), f"alike {_size(links)}", f"homes {round(3 * homes / links)}"


def link_tokens(
    link: Link, around: PageContext, window: int = WINDOW, *, added: bool = True
) -> frozenset[str]:
    """What a link shows before it is followed, and with `added` what its page does."""
    own = own_link_tokens(link, around, window, added=added)
    return own.union(around.tokens) if added else own


def own_link_tokens(
    link: Link, around: PageContext, window: int = WINDOW, *, added: bool = True
) -> frozenset[str]:
    """What a link shows itself: its words, those around it, its URL; added is its place."""
    said = words(link.text)
    target = url_tokens(link.url)
    before = link.before
    shown = [*map(_says, said), *map(_to, target), *map(_near, link.after[:window])]
    shown += map(_near, before if len(before) <= window else before[len(before) - window :])
    if added:
        _add_place(shown, link, around, len(said), target)
    return frozenset(shown)


class _Tokens(dict[str, str]):
    """Words as tokens of one kind, made once. Twice as fast as a cached function, and asked for the most."""

    def __init__(self, kind: str) -> None:
        self._kind = kind

    def __missing__(self, word: str) -> str:
        if len(self) >= MOST_REMEMBERED:
            self.clear()
        self[word] = token = f"{self._kind} {plain(word)}"
        return token


_says = _Tokens("says").__getitem__
_near = _Tokens("near").__getitem__
_to = _Tokens("to").__getitem__
_to_last = _Tokens("to last").__getitem__


def _add_place(shown: list[str], link: Link, around: PageContext, length: int, target: Sequence[str]) -> None:
    """Where a link stands, where it leads, and how it looks."""
    shown += around.of_region.get(link.region) or _of_region(link.region, 1, "~" in link.url)
    shown += _way(link.url, around.origin, around.folders)
    shown += (f"looks {_look(link.text)}", f"length {min(length, 6)}", f"kind {link.kind}")
    last = next((word for word in reversed(target) if word not in _FILE_NAMES), None)
    if last is not None:
        shown.append(_to_last(last))


@lru_cache(maxsize=1 << 12)
def _stands(region: str) -> str:
    return f"stands {_CLASSES.sub('', '>'.join(region.split('>')[-3:]))}"


def _origin(url: str) -> str:
    """Scheme and host with the slash after them. URLs here are in normal form, so they can be cut by hand."""
    return url[: url.find("/", len("https://")) + 1]


def _path_parts(url: str, origin: str) -> list[str]:
    return [part for part in url[len(origin) :].partition("?")[0].split("/") if part]


def _way(url: str, origin: str, folders: tuple[str, ...]) -> Iterable[str]:
    """How many folders up and down the URL lies from that of its page."""
    if not url.startswith(origin):
        return ("way elsewhere",)
    target = _path_parts(url, origin)
    shared = 0
    for one, other in zip(target, folders, strict=False):
        if one != other:
            break
        shared += 1
    return _way_tokens(min(len(folders) - shared, 3), min(len(target) - shared, 3))


@lru_cache
def _way_tokens(up: int, down: int) -> tuple[str, str, str]:
    return f"way up {up}", f"way down {down}", f"way {min(up, 2)} {down}"


def _look(text: str) -> str:
    """The shape of a text's first words: `Xx9` for "Smith, later 1997"; a name looks unlike a menu entry."""
    parts = _PARTS.findall(text)[:6]
    return "".join(map(_letter, parts[:5])) + ("+" if len(parts) > 5 else "")


@lru_cache(maxsize=1 << 15)
def _letter(word: str) -> str:
    if word.isdigit():
        return "9"
    if any(char.isdigit() for char in word):
        return "d"
    if word.isupper():
        return "A" if len(word) > 1 else "I"
    return "X" if word[0].isupper() else "x"


def _size(number: int) -> int:
    return min(number.bit_length() - 1, 7)
