"""Snippets: the part of a text that best shows why it matched, with the matching words marked."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

from wayhound.search.query import Query, Term, terms
from wayhound.search.results import Fragment

SNIPPET_CHARACTERS = 240

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")


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

    def spans(self, text: str) -> list[tuple[int, int, str]]:
        """Return start, end and term of every matching word."""
        if not self.whole and not self.prefixes:
            return []
        spans = ((word.start(), word.end(), self.match(word[0])) for word in _WORD.finditer(text))
        return [span for span in spans if span[2]]


def highlight(text: str, highlighter: Highlighter) -> tuple[Fragment, ...]:
    """Return the whole text in fragments."""
    return tuple(_fragments(text, 0, len(text), highlighter.spans(text)))


def snippet(text: str, highlighter: Highlighter, length: int = SNIPPET_CHARACTERS) -> tuple[Fragment, ...]:
    """Return about `length` characters with the most distinct query words, then the most occurrences."""
    spans = highlighter.spans(text)
    start = _best_start(spans, length)
    first, last = _cut(text, start, length)
    inside = [span for span in spans if first <= span[0] and span[1] <= last]
    fragments = list(_fragments(text, first, last, inside))
    before = [Fragment("… ")] if first else []
    after = [Fragment(" …")] if last < len(text) else []
    return (*before, *fragments, *after)


def _best_start(spans: list[tuple[int, int, str]], length: int) -> int:
    """Return the start of the best window, a little before its first match; the earliest wins a tie."""
    best, start, last = (0, 0), 0, 0
    inside: Counter[str] = Counter()
    for number, (begin, _, word) in enumerate(spans):
        while last < len(spans) and spans[last][1] <= begin + length * 3 // 4:
            inside[spans[last][2]] += 1
            last += 1
        if last <= number:  # longer than the window
            last = number + 1
            continue
        if (score := (len(inside), last - number)) > best:
            best, start = score, begin
        inside[word] -= 1
        inside += Counter()  # drops words whose count is 0
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
    return start, end


def _fragments(text: str, first: int, last: int, spans: list[tuple[int, int, str]]) -> Iterable[Fragment]:
    boundaries = [first, *(at for span in spans for at in span[:2]), last]
    for number, (begin, end) in enumerate(pairwise(boundaries)):
        if begin < end:
            yield Fragment(text[begin:end], marked=number % 2 == 1)
