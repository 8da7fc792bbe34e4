"""Pages and links as sets of tokens, after section 4.2 of Vydiswaran & Sarawagi (2005).

The paper uses words of the page's head and body, of the link and ten words around it, and of the URL. Added
features tell lists from sentences and sections from items: the region of the link and how many links share it,
the position of its URL relative to its page's, and the title and headings of its page.

The first word of a token is its kind ("says people", "way up 1"). Saved models hold tokens, so the spelling of
kinds and the folding of words must not change.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from wayhound.page import Link, Page
from wayhound.text.words import singular, words
from wayhound.url import url_tokens

BODY_TOKENS = 100
WINDOW = 10  # words before a link and after it
_MAX_CACHED_WORDS = 1 << 16  # of each kind
_DIGITS = re.compile(r"\d+")
_SINGULAR_ENDINGS = ("ss",)  # `campus` becomes `campu`, as in the tokens of saved models
_PARTS = re.compile(r"[^\W_]+")
_CLASSES = re.compile(r"\.[^>]*")
_PAGE_KINDS = frozenset({"title", "body", "url", "heading", "depth", "is"})
_FILE_NAMES = frozenset({"html", "htm", "index"})
_SCALES = {"says": 2.0, "near": 0.5, "is": 6.0}  # a document has no other token than `is` and its URL


@lru_cache(maxsize=_MAX_CACHED_WORDS)
def fold_word(word: str) -> str:
    """Return the word with numbers replaced by 9 and without the ending of a plural."""
    return singular(_DIGITS.sub("9", word), _SINGULAR_ENDINGS)


def page_tokens(
    page: Page, body_tokens: int = BODY_TOKENS, depth: int = 0, *, added: bool = True, folded: bool = True
) -> frozenset[str]:
    """Return the tokens of a page: its title, first words and URL; with `added`, also headings and depth.

    A document has no words: its tokens are its URL and, with `added`, its kind. Unless `folded`, words are taken as
    they stand.
    """
    fold = fold_word if folded else str
    tokens = [
        *(f"title {fold(word)}" for word in words(page.title)),
        *(f"body {fold(word)}" for word in page.tokens[:body_tokens]),
        *(f"url {fold(word)}" for word in url_tokens(page.url)),
    ]
    if added:
        tokens += [f"heading {fold_word(word)}" for heading in page.headings[:3] for word in words(heading)]
        tokens.append(f"depth {min(depth, 4)}")
        if page.is_document:
            tokens.append(f"is {page.kind}")
    return frozenset(tokens)


def tokens_used(features: str) -> dict[str, bool]:
    """Return the arguments of `page_tokens` and `link_tokens` for a setting `features`."""
    return {"added": features == "all", "folded": features != "literal"}


def is_page_token(token: str) -> bool:
    """Return True for tokens of pages, False for those of links."""
    return token.split(" ", 1)[0] in _PAGE_KINDS


def token_scale(token: str) -> float:
    """Return the prior importance of a token, 1 by default.

    A link's own words say more about its target than the twenty words around it.
    """
    return _SCALES.get(token.split(" ", 1)[0], 1.0)


@dataclass(frozen=True)
class PageContext:
    """The features that the links of a page share, computed once: title, headings and URL, and link regions."""

    url: str
    tokens: tuple[str, ...]
    region_tokens: Mapping[str, tuple[str, ...]]
    origin: str
    folders: tuple[str, ...]

    @classmethod
    def from_page(cls, page: Page) -> PageContext:
        regions = Counter(link.region for link in page.links)
        homes = Counter(link.region for link in page.links if "~" in link.url)
        tokens = {
            *(f"on title {fold_word(word)}" for word in words(page.title)),
            *(f"on heading {fold_word(word)}" for heading in page.headings[:3] for word in words(heading)),
            *(f"on url {fold_word(word)}" for word in url_tokens(page.url)),
            f"links {_log_size(len({link.url for link in page.links}))}",
        }
        region_tokens = {name: _region_tokens(name, count, homes[name]) for name, count in regions.items()}
        origin = _origin(page.url)
        folders = _path_parts(page.url.partition("?")[0].rpartition("/")[0], origin)
        return cls(page.url, tuple(sorted(tokens)), region_tokens, origin, tuple(folders))


def _region_tokens(region: str, links: int, homes: int) -> tuple[str, str, str]:
    """Return the region itself, how many links it has, and the share of them that leads to home pages (~name)."""
    return _region_token(region), f"alike {_log_size(links)}", f"homes {round(3 * homes / links)}"


def link_tokens(
    link: Link, context: PageContext, window: int = WINDOW, *, added: bool = True, folded: bool = True
) -> frozenset[str]:
    """Return the tokens of a link before it is followed; with `added`, also those of the page it is on."""
    own = own_link_tokens(link, context, window, added=added, folded=folded)
    return own.union(context.tokens) if added else own


def own_link_tokens(
    link: Link, context: PageContext, window: int = WINDOW, *, added: bool = True, folded: bool = True
) -> frozenset[str]:
    """Return a link's own tokens: its words, those around it, its URL; with `added`, also its position."""
    text = link_words(link.text)
    target = url_tokens(link.url)
    before = link.before if len(link.before) <= window else link.before[len(link.before) - window :]
    if not folded:
        near = (*before, *link.after[:window])
        return frozenset(
            [
                f"{kind} {word}"
                for kind, some in (("says", text), ("to", target), ("near", near))
                for word in some
            ]
        )
    tokens = [*map(_says, text), *map(_to, target), *map(_near, link.after[:window])]
    tokens += map(_near, before)
    if added:
        _add_position(tokens, link, context, len(text), target)
    return frozenset(tokens)


@lru_cache(maxsize=1 << 13)
def link_words(text: str) -> tuple[str, ...]:
    """Return the words of a link's text. Every model asks for them in turn, and menus are on every page."""
    return tuple(words(text))


class _TokenCache(dict[str, str]):
    """Tokens of one kind by word. Twice as fast as a cached function, in the hottest loop of a forage."""

    def __init__(self, kind: str) -> None:
        self._kind = kind

    def __missing__(self, word: str) -> str:
        if len(self) >= _MAX_CACHED_WORDS:
            self.clear()
        self[word] = token = f"{self._kind} {fold_word(word)}"
        return token


_says = _TokenCache("says").__getitem__
_near = _TokenCache("near").__getitem__
_to = _TokenCache("to").__getitem__
_to_last = _TokenCache("to last").__getitem__


def _add_position(
    tokens: list[str], link: Link, context: PageContext, length: int, target: Sequence[str]
) -> None:
    """Add the link's region, the position of its target, and the shape of its text."""
    tokens += context.region_tokens.get(link.region) or _region_tokens(link.region, 1, "~" in link.url)
    tokens += _url_position(link.url, context.origin, context.folders)
    tokens += (f"looks {_shape(link.text)}", f"length {min(length, 6)}", f"kind {link.kind}")
    last = next((word for word in reversed(target) if word not in _FILE_NAMES), None)
    if last is not None:
        tokens.append(_to_last(last))


@lru_cache(maxsize=1 << 12)
def _region_token(region: str) -> str:
    return f"stands {_CLASSES.sub('', '>'.join(region.split('>')[-3:]))}"


def _origin(url: str) -> str:
    """Return scheme and host with the slash after them. URLs here are normalised, so slicing is enough."""
    return url[: url.find("/", len("https://")) + 1]


def _path_parts(url: str, origin: str) -> list[str]:
    return [part for part in url[len(origin) :].partition("?")[0].split("/") if part]


def _url_position(url: str, origin: str, folders: tuple[str, ...]) -> Iterable[str]:
    """Return tokens for the number of folders up and down from the page's URL to the link's."""
    if not url.startswith(origin):
        return ("way elsewhere",)
    target = _path_parts(url, origin)
    shared = 0
    for own, other in zip(target, folders, strict=False):
        if own != other:
            break
        shared += 1
    return _folder_tokens(min(len(folders) - shared, 3), min(len(target) - shared, 3))


@lru_cache
def _folder_tokens(up: int, down: int) -> tuple[str, str, str]:
    return f"way up {up}", f"way down {down}", f"way {min(up, 2)} {down}"


def _shape(text: str) -> str:
    """Return the shape of a text's first words: `Xx9` for "Smith, later 1997". Names differ from menu entries."""
    parts = _PARTS.findall(text)[:6]
    return "".join(map(_word_shape, parts[:5])) + ("+" if len(parts) > 5 else "")


@lru_cache(maxsize=1 << 15)
def _word_shape(word: str) -> str:
    if word.isdigit():
        return "9"
    if any(char.isdigit() for char in word):
        return "d"
    if word.isupper():
        return "A" if len(word) > 1 else "I"
    return "X" if word[0].isupper() else "x"


def _log_size(number: int) -> int:
    return min(number.bit_length() - 1, 7)
