"""The template of a site, as far as some of its pages show it: words, classes and links that belong to no one page."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import islice

from wayhound.chains.paths import Label, alike, find_label, list_path
from wayhound.chains.rules import END_OF_LINK
from wayhound.chains.tokens import OpenTag, TokenPage, names_of, title_words
from wayhound.learn.landmarks import Landmark, Term, TokenClass, bare, class_of, classes_of, generalise

MAX_CONTEXT = 24
"""Other pages of the same kind that are looked at: enough to tell the template from the content of one page."""

ENOUGH_PAGES = 4
"""Pages on two of which a label of the template can be expected to occur."""

_MAX_BEFORE = 5
_MAX_AFTER = 7
_MOST_LIKE = 300
_EVERYWHERE = 0.9
_CONSTANT_SHARE = 0.6
_SHORT_WORD = 3
_ALTERNATING_SHARE = 0.2
_NEAR = 4  # elements above a link that are looked at


class Template:
    """The template of a site, as far as some pages show it: which words belong to it, and what links have in common.

    `taught` are the pages of the examples, `others` pages of the same kind without examples.
    """

    def __init__(self, taught: Sequence[TokenPage], others: Sequence[TokenPage]) -> None:
        known = {page.url for page in taught}
        self.others = [page for page in others if page.url not in known][:MAX_CONTEXT]
        self.pages = [*taught, *self.others]
        self.counts = Counter(word for page in self.pages for word in set(page.tokens))
        self._own_words = set().union(*map(title_words, self.pages))

    def is_template(self, page: TokenPage, token: int, label: Label) -> bool:
        """Tell a label of the template ("Starring:") from a part of the content that is set like one."""
        if not self.stable_words(label.words):
            return False
        held = page.tree.elements[label.member].open
        first = bisect_left(page.link_tokens, label.end)
        if first < len(page.link_tokens) and page.link_tokens[first] < held and label.begin < held:
            between = page.link_tokens[first : bisect_left(page.link_tokens, held)]
            if not set(between) & set(alike(page, token, label.end, held)):
                return (
                    False  # a label stands right over its list: other links between them are what it labels
                )
        members = alike(page, token, label.begin, label.region_end)
        if self._recurs(label.words, len(label.words)):
            return True
        if self._varies(page, token):
            return False
        if self._recurs(label.words, (len(label.words) + 1) // 2):
            return True
        outside = len(alike(page, token, 0, len(page.tokens))) - len(members)
        return outside < 2 or (len(members) > 1 and len(self.pages) < ENOUGH_PAGES)

    def _recurs(self, words: Sequence[str], size: int) -> bool:
        """Return True if a run of that many words of a label occurs on a second page."""
        runs = [" ".join(words[start : start + size]) for start in range(len(words) - size + 1)]
        return any(sum(f" {run} " in words for words in self._plain_words) > 1 for run in runs)

    @cached_property
    def _plain_words(self) -> list[str]:
        """The words and numbers of each page in order, with a blank before and after each."""
        return [f" {' '.join(token for token in page.tokens if token[0].isalnum())} " for page in self.pages]

    def _varies(self, page: TokenPage, token: int) -> bool:
        """Return True if links of the same path stand under another label on every page: then it is content."""
        path = list_path(page, token, None)
        labels = []
        for other in self.others:
            like = [link for link in other.link_tokens if other.tokens[link] == page.tokens[token]][
                :_MOST_LIKE
            ]
            same = (link for link in like if list_path(other, link, None) == path)
            label = find_label(other, link) if (link := next(same, None)) is not None else None
            labels += [label.words] if label else []
        return len(labels) >= ENOUGH_PAGES and 2 * len(set(labels)) > len(labels)

    def twins(self, label: Landmark) -> list[Landmark]:
        """Return the forms that a label has on pages that lack it: “Talk” over one talk, and “Talks” over two."""
        twins: dict[Landmark, None] = {}
        for page in self.others:
            tokens = tuple(map(bare, page.tokens))
            starts = [place for place, token in enumerate(tokens) if token == label[0]]
            runs = [tokens[place : place + len(label)] for place in starts]
            if label not in runs:
                twins |= dict.fromkeys(run for run in runs if _are_twins(run, label))
        return list(twins)

    def has_entry(self, text: str, path: tuple[str, ...]) -> bool:
        """Return True if most pages have a link that says a text, in a place with a path of elements."""
        having = sum(_has_link(page, text, path) for page in self.pages)
        return having >= max(_CONSTANT_SHARE * len(self.pages), 2)

    def leads_apart(self, text: str) -> bool:
        """Return True if the links that say a text lead to different pages from most pages."""
        found = [(page, page.links_by_text.get(text, ())) for page in self.pages]
        targets = [{page.target_of(token) for token in links} for page, links in found if links]
        return 2 * len(set().union(*targets)) > len(targets)

    def stable_words(self, words: Iterable[str]) -> tuple[str, ...]:
        return tuple(word for word in words if self.is_stable(word) and not word.isnumeric())

    def is_stable(self, word: str) -> bool:
        """Return False for words of a page's own title that few other pages have, and for numbers."""
        if class_of(word) is TokenClass.NUMERIC:
            return False
        if class_of(word) not in (TokenClass.ALPHABETIC, TokenClass.ALL_CAPS, TokenClass.ALPHANUMERIC):
            return True
        few = self.counts[word] < max(2, len(self.pages) / 2)
        return not (few and word in self._own_words)

    def is_common(self, token: str) -> bool:
        """Return True for a token of at least half of the pages; a tag without attributes is on all of them."""
        is_bare = token[0] == "<" and " " not in token
        return is_bare or 2 * self.counts[token] >= len(self.pages)

    def context(self, places: Sequence[tuple[TokenPage, int]]) -> tuple[Landmark, Landmark]:
        """Return the longest landmarks before and after that fit all links, the link's own tag last of the first."""
        lefts = [tokens_before(page, token) for page, token in places]
        rights = [tokens_after(page, token) for page, token in places]
        return self.common(lefts)[::-1], self.common(rights)

    def common(self, sequences: list[tuple[str, ...]]) -> Landmark:
        common: list[Term] = []
        for terms in zip(*sequences, strict=False):
            term: Term | None = self.literal(terms[0])
            for token in terms[1:]:
                term = None if term is None else generalise(term, self.literal(token))
            if term is None:
                break
            common.append(term)
        return tuple(common)

    def literal(self, token: str) -> Term:
        """Return a token as it is, or its class if it is a word of content."""
        if token[0] == "<" or class_of(token) in (TokenClass.PUNCTUATION, TokenClass.SYMBOL):
            return token
        template = self.counts[token] >= max(2, len(self.pages) / 2) and self.is_stable(token)
        return token if template else classes_of(token)[-1]


def _are_twins(run: Sequence[str], label: Landmark) -> bool:
    """Return True if a label has the same tags and at least one word in singular for plural, or the other way."""
    pairs = [(str(term), token) for term, token in zip(label, run, strict=False) if term != token]
    if len(run) < len(label) or any(not pair[0].isalpha() or not pair[1].isalpha() for pair in pairs):
        return False
    # words that differ otherwise must be short, such as articles
    inflected = [len({word[: max(3, max(map(len, pair)) - 2)] for word in pair}) == 1 for pair in pairs]
    return any(inflected) and all(
        each or max(map(len, pair)) <= _SHORT_WORD for each, pair in zip(inflected, pairs, strict=True)
    )


def _has_link(page: TokenPage, text: str, path: tuple[str, ...]) -> bool:
    # the same texts may be entries of a menu and members of a list elsewhere on the page
    links = page.links_by_text.get(text, ())
    return any(list_path(page, token, None)[-3:] == path[-3:] for token in links)


def tokens_before(page: TokenPage, token: int) -> tuple[str, ...]:
    """Return the tokens before a link, nearest first, beginning with its own tag."""
    return page.tokens[max(token - _MAX_BEFORE, 0) : token + 1][::-1]


def tokens_after(page: TokenPage, token: int) -> tuple[str, ...]:
    end = page.end_of_link(token)
    return page.tokens[end + 1 : end + 1 + _MAX_AFTER] if page.tokens[end] == END_OF_LINK else ()


def find_open_tags(places: Sequence[tuple[TokenPage, int]], pages: Sequence[TokenPage]) -> list[OpenTag]:
    """Return the tags on the way down to some links whose classes or ids differ from page to page, or by the links.

    `places` are example links by their opening tags. Elements of all pages are compared that have the same path of
    tags as an element on the way, and a class in common with it.
    """
    found: dict[OpenTag, None] = {}
    for page, token in places:
        link = page.tree.opened[token]
        for element in (link, *islice(page.tree.ancestors(link), _NEAR)):
            if opened := _open_tag(page, element, places, pages):
                found[opened] = None
    return list(found)


_Names = frozenset[str]


def _open_tag(
    page: TokenPage, element: int, places: Sequence[tuple[TokenPage, int]], pages: Sequence[TokenPage]
) -> OpenTag | None:
    own = names_of(page.tree.elements[element].signature)
    lists = _lists(page.tree.tags(element), own, pages) if own else []
    elements = [names for members in lists for names in members]
    common = frozenset(
        name for name in own if sum(name in names for names in elements) >= _EVERYWHERE * len(elements)
    )
    if not common:
        return None
    lists = [[names for names in members if common <= names] for members in lists]
    lists = [members for members in lists if members]
    names = frozenset(name for members in lists for each in members for name in each)
    shown = _shown(page.tree.tags(element), common, places)
    content = {
        name
        for name in names - common
        if 0 < sum(name in each for each in shown) < len(shown) or _is_content(name, lists)
    }
    tag = page.tree.elements[element].tag
    return OpenTag(tag, common, names - content) if content else None


def _lists(tags: Sequence[str], own: _Names, pages: Sequence[TokenPage]) -> list[list[_Names]]:
    """Return the names of like elements, a list for each element that holds some."""
    lists: list[list[_Names]] = []
    for page in pages:
        by_parent: dict[int, list[_Names]] = {}
        for element in page.tree.at(tags):
            node = page.tree.elements[element]
            if (names := names_of(node.signature)) & own:
                by_parent.setdefault(node.parent, []).append(names)
        lists += by_parent.values()
    return lists


def _shown(tags: Sequence[str], common: _Names, places: Sequence[tuple[TokenPage, int]]) -> list[_Names]:
    """Return the names of the elements with a path of tags that lead down to the examples."""
    shown = []
    for page, token in places:
        tree = page.tree
        for element in (tree.opened[token], *tree.ancestors(tree.opened[token])):
            names = names_of(tree.elements[element].signature)
            if common <= names and tree.tags(element) == tuple(tags):
                shown.append(names)
    return shown


def _is_content(name: str, lists: Sequence[Sequence[_Names]]) -> bool:
    """Return True if a name is found in some lists and not in others, or here and there among the members.

    A name that tells the parts of a list apart, as `next` beside `previous`, stands once in a list, and on the same
    side of the others; names of columns are found in all lists.
    """
    having = [[name in names for names in members] for members in lists]
    mixed = [flags for flags in having if any(flags) and not all(flags)]
    lacking, whole = (
        sum(all(flag is wanted for flag in flags) for flags in having) for wanted in (False, True)
    )
    if len(lists) < ENOUGH_PAGES:
        return False
    if lacking >= _ALTERNATING_SHARE * len(lists):
        return not _is_part(mixed, having=True) or (len(mixed) == 1 and whole > 0) or not mixed
    if whole >= _ALTERNATING_SHARE * len(lists):
        return len(mixed) > 1 and not _is_part(mixed, having=False)
    return False


def _is_part(lists: Sequence[Sequence[bool]], *, having: bool) -> bool:
    """Return True if each list has one member that has a name, or lacks it, and always on the same side."""
    once = all(sum(flag is having for flag in flags) == 1 for flags in lists)
    return once and any(all(flags[side] is having for flags in lists) for side in (0, -1))
