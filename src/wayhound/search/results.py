"""Search requests and results as plain values, for pages and for JSON, and the snippets shown with them.

A snippet is the part of a text that best shows why it matched, with the matching words marked.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal, get_args

from wayhound.search.query import Query, Term, terms

Sort = Literal["relevance", "log-tf", "cited", "authority", "hub", "newest", "oldest", "added"]
SORTS: tuple[Sort, ...] = get_args(Sort)

FACETS = ("topic", "year", "venue", "site", "type")
"""The facets of every index. Fields that a record kind declares as facets are facets under their own names."""

MAX_DEPTH = 10_000  # hits that can be paged through; an export has all


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """One search request.

    `filters` are pairs of a facet and an exact value, as facets list them. Two filters of one facet are combined
    with OR, filters of different facets with AND.
    """

    query: str = ""
    sort: Sort = "relevance"
    offset: int = 0
    limit: int = 10
    facets: tuple[str, ...] = FACETS
    filters: tuple[tuple[str, str], ...] = ()
    facet_values: int = 20  # values returned for each facet, the most frequent first


@dataclass(slots=True)  # not frozen, which takes three times as long to make
class Fragment:
    """A part of a text; `marked` if it matches the query."""

    text: str
    marked: bool = False


@dataclass(slots=True)  # not frozen, which takes three times as long to make
class Hit:
    """A matching record, with what a list of results shows."""

    kind: str
    id: str
    title: str
    title_pieces: tuple[Fragment, ...] = ()
    snippet: tuple[Fragment, ...] = ()
    people: tuple[str, ...] = ()
    venue: str = ""
    year: int | None = None
    site: str = ""
    page: int | None = None  # of the file, if the snippet is from its body
    file: str = ""  # type of the file that can be downloaded
    topics: tuple[tuple[str, ...], ...] = ()
    cited: int = 0
    authority: float = 0.0
    hub: float = 0.0
    score: float = 0.0  # in the requested order; larger is earlier


@dataclass(frozen=True, slots=True)
class SearchResults:
    """The hits of one page, and how the query was understood.

    `total` includes works that are only cited; these come last, and `cited_only` is their number. With
    `some_words`, no record has all words, and the hits have some. `next_offset` is None on the last page. `change` is
    the number of the last record change that was indexed.
    """

    total: int
    hits: tuple[Hit, ...]
    read_as: str
    facets: Mapping[str, list[tuple[str, int]]] = field(default_factory=dict)
    did_you_mean: str | None = None
    some_words: bool = False
    next_offset: int | None = None
    milliseconds: float = 0.0
    cited_only: int = 0
    change: int = 0


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A completion of what was typed."""

    text: str
    kind: Literal["title", "author", "topic"]
    count: int = 1  # records that match it
    id: str = ""  # of the record, if it is a title
    record_kind: str = ""


SNIPPET_CHARACTERS = 240

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_INSIDE = "'’"  # signs that may stand inside a word
_SHORT = 3  # letters of words that are part of many others
_REWRITTEN = re.compile(r"['\x80-\U0010ffff]")


@dataclass(frozen=True, slots=True)
class Highlighter:
    """Recognises the words of a query in a text, whole words and prefixes."""

    whole: frozenset[str]
    prefixes: tuple[str, ...] = ()

    @classmethod
    def from_query(cls, query: Query) -> Highlighter:
        wanted = [
            part
            for clause in query.clauses
            if clause.sign != "-"
            for part in clause.any_of
            if isinstance(part, Term)
        ]
        prefixes = (part.words[-1] for part in wanted if part.prefix)
        whole = (word for part in wanted for word in (part.words[:-1] if part.prefix else part.words))
        return cls(frozenset(whole), tuple(prefixes))

    def match(self, word: str) -> str:
        """Return the query term that a word of a text matches, or an empty text."""
        lower = word.lower()
        for term in [lower] if lower.isascii() and lower.isalnum() else terms(lower):
            if term in self.whole or term.startswith(self.prefixes):
                return term
        return ""

    def missing(self, texts: Iterable[str]) -> frozenset[str]:
        """Return the words and prefixes of the query that none of the texts has."""
        present = f" {' '.join(terms(' '.join(texts)))} "
        whole = {word for word in self.whole if f" {word} " not in present}
        return frozenset(whole.union(prefix for prefix in self.prefixes if f" {prefix}" not in present))

    def spans(self, text: str) -> list[tuple[int, int, str]]:
        """Return start, end and term of every matching word.

        Most words of a text match nothing. So the words of the query are looked up one by one, and then the words
        with a sign that `terms` may rewrite, such as an accent.
        """
        if not self.whole and not self.prefixes:
            return []
        if "_" in text:
            text = text.replace("_", " ")  # both part words, and only one of them is a boundary for `re`
        lower = text.lower()
        if len(lower) != len(text):  # a few letters, such as İ, are longer in lower case
            return [span for word in _WORD.finditer(text) if (span := self._span(word))]
        found = self._plain_spans(text, lower)
        if not text.isascii():
            found |= {span[0]: span for word in _rewritten_words(text) if (span := self._span(word))}
        return [found[at] for at in sorted(found)] if len(found) > 1 else list(found.values())

    def _plain_spans(self, text: str, lower: str) -> dict[int, tuple[int, int, str]]:
        """Return the spans of words that are written as in the query, by where they start."""
        found: dict[int, tuple[int, int, str]] = {}
        for term in (*self.whole, *self.prefixes):
            find = lower.find if self.prefixes or len(term) > _SHORT else _short_word(term, lower)
            at, past = find(term), 0  # what is past has been read, so that no text takes quadratic time
            while at >= 0:
                end = at + len(term)
                before, after = lower[at - 1 : at], lower[end : end + 1]
                beside = before + after
                if "'" in beside or not beside.isascii() or (after.isalnum() and self.prefixes):
                    word = _word_at(text, at, past)
                    past = end = word.end()
                    if span := self._span(word):
                        found[span[0]] = span
                elif not before.isalnum() and not after.isalnum():
                    past = end
                    found[at] = (at, end, term)
                at = find(term, end)
        return found

    def _span(self, word: re.Match[str]) -> tuple[int, int, str] | None:
        term = self.match(word[0])
        return (word.start(), word.end(), term) if term else None


def _short_word(term: str, lower: str) -> Callable[..., int]:
    """Return what finds a short word in a text, as `str.find` does, but not inside the ASCII words that it is part of.

    A text of 200 words has `a` in 80 of them.
    """
    search = _short_pattern(term).search

    def find(_: str, start: int = 0) -> int:
        match = search(lower, start)
        return match.start() if match else -1

    return find


@lru_cache(maxsize=2_000)
def _short_pattern(term: str) -> re.Pattern[str]:
    """Return a pattern that begins with the word itself, which is what `re` looks for without trying each letter."""
    word = re.escape(term)
    return re.compile(f"{word}(?<![a-z0-9]{word})(?![a-z0-9])")


def _rewritten_words(text: str) -> Iterator[re.Match[str]]:
    """Yield the words that `terms` may rewrite, and perhaps others."""
    at = 0
    while sign := _REWRITTEN.search(text, at):
        begin = sign.start()
        while begin > at and (text[begin - 1].isalnum() or text[begin - 1] in _INSIDE):
            begin -= 1
        word = _WORD.search(text, begin)
        if word is None:
            return
        at = max(word.end(), sign.end())
        yield word


def _word_at(text: str, at: int, begin: int) -> re.Match[str]:
    """Return the word that the letter at `at` belongs to, in the text from `begin` on, which is no part of a word."""
    start = at
    while start > begin and (text[start - 1].isalnum() or text[start - 1] in _INSIDE):
        start -= 1
    return next(word for word in _WORD.finditer(text, start) if word.end() > at)


_BEFORE, _AFTER = (Fragment("… "),), (Fragment(" …"),)
_LEFT_OUT = " …"


def highlight(text: str, highlighter: Highlighter) -> tuple[Fragment, ...]:
    """Return the whole text in fragments."""
    return _fragments(text, 0, len(text), highlighter.spans(text))


def snippet(text: str, highlighter: Highlighter, length: int = SNIPPET_CHARACTERS) -> tuple[Fragment, ...]:
    """Return about `length` characters with the most distinct query words, then the most occurrences."""
    spans = highlighter.spans(text)
    first, last = _cut(text, _best_start(spans, length) if spans else 0, length)
    inside = [span for span in spans if first <= span[0] and span[1] <= last]
    fragments = _fragments(text, first, last, inside)
    before = _BEFORE if first else ()
    return before + fragments + _AFTER if last < len(text) else before + fragments


PageReader = Callable[[str, str], Sequence[str]]
"""Returns the text of each page of a record's file, given the record's kind and id."""


def best_page(pages: Sequence[str], wanted: Collection[str]) -> int | None:
    """Return the index of the page with the most of these words, the first of equals; None if no page has one.

    Words are looked up as parts of words, which is quick; only one page is then read word by word. Pages are folded,
    which is slower, only if no page has a word as it was typed: accents are rare.
    """
    found = _most_words((text.lower() for text in pages), wanted)
    return found if found is not None else _most_words((" ".join(terms(text)) for text in pages), wanted)


def _most_words(texts: Iterable[str], wanted: Collection[str]) -> int | None:
    best, found = 0, None
    for number, text in enumerate(texts):
        if (count := sum(word in text for word in wanted)) > best:
            best, found = count, number
    return found


def _best_start(spans: list[tuple[int, int, str]], length: int) -> int:
    """Return the start of the best window, a little before its first match; the earliest wins a tie."""
    best, start, last = (0, 0), 0, 0
    inside: dict[str, int] = {}
    for number, (begin, _, word) in enumerate(spans):
        while last < len(spans) and spans[last][1] <= begin + length * 3 // 4:
            inside[spans[last][2]] = inside.get(spans[last][2], 0) + 1
            last += 1
        if last <= number:  # longer than the window
            last = number + 1
            continue
        if (score := (len(inside), last - number)) > best:
            best, start = score, begin
        inside[word] -= 1
        if not inside[word]:
            del inside[word]
    return max(0, start - length // 4) if start > length * 3 // 4 else 0


def _cut(text: str, start: int, length: int) -> tuple[int, int]:
    """Return the window, moved to word boundaries where one is near."""
    end = min(len(text), start + length)
    if start:
        space = text.find(" ", start, start + 30)
        start = space + 1 if space >= 0 else start
    if end < len(text):
        space = text.rfind(" ", max(start, end - 30), end)
        end = space if space > start else end
    # What is left out there has its sign already, if a passage was cut at the same place before.
    if start and text[start : start + 1] in _LEFT_OUT:
        start = end - len(text[start:end].lstrip(_LEFT_OUT))
    if start < end < len(text) and text[end - 1] in _LEFT_OUT:
        end = start + len(text[start:end].rstrip(_LEFT_OUT))
    return start, end


def _fragments(text: str, first: int, last: int, spans: list[tuple[int, int, str]]) -> tuple[Fragment, ...]:
    fragments, at = [], first
    for begin, end, _ in spans:
        if at < begin:
            fragments.append(Fragment(text[at:begin]))
        if begin < end:
            fragments.append(Fragment(text[begin:end], True))
        at = end
    if at < last:
        fragments.append(Fragment(text[at:last]))
    return tuple(fragments)
