"""The part of a text that shows best why it was found, with the words that were asked for marked."""

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
    """Knows the words that were asked for, whole and as beginnings."""

    whole: frozenset[str]
    beginnings: tuple[str, ...] = ()

    @classmethod
    def of(cls, query: Query) -> Highlighter:
        wanted = [
            part
            for clause in query.clauses
            if clause.sign != "-"
            for part in clause.any_of
            if isinstance(part, Term)
        ]
        begun = (part.words[-1] for part in wanted if part.prefix)
        whole = (word for part in wanted for word in (part.words[:-1] if part.prefix else part.words))
        return cls(frozenset(whole), tuple(begun))

    def found(self, word: str) -> str:
        """The word that was asked for and that a word of a text is or begins with; "" if none."""
        lower = word.lower()
        for term in [lower] if lower.isascii() and lower.isalnum() else terms(lower):
            if term in self.whole or term.startswith(self.beginnings):
                return term
        return ""

    def spans(self, text: str) -> list[tuple[int, int, str]]:
        """Start and end of every word that was asked for, and the word."""
        if not self.whole and not self.beginnings:
            return []
        found = ((match.start(), match.end(), self.found(match[0])) for match in _WORD.finditer(text))
        return [span for span in found if span[2]]


def marked(text: str, marker: Highlighter) -> tuple[Fragment, ...]:
    """The whole text in pieces."""
    return tuple(_pieces(text, 0, len(text), marker.spans(text)))


def snippet(text: str, marker: Highlighter, length: int = SNIPPET_CHARACTERS) -> tuple[Fragment, ...]:
    """About `length` characters with as many different words as possible, then as many as possible."""
    spans = marker.spans(text)
    start = _best_start(spans, length)
    first, last = _cut(text, start, length)
    inside = [span for span in spans if first <= span[0] and span[1] <= last]
    pieces = list(_pieces(text, first, last, inside))
    before = [Fragment("… ")] if first else []
    after = [Fragment(" …")] if last < len(text) else []
    return (*before, *pieces, *after)


def _best_start(spans: list[tuple[int, int, str]], length: int) -> int:
    """Where the window begins: a little before the first word in it. Of equals, the earliest."""
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
        inside += Counter()  # forgets what is no longer inside
    return max(0, start - length // 4) if start > length * 3 // 4 else 0


def _cut(text: str, start: int, length: int) -> tuple[int, int]:
    """The window, moved to the borders of words where there are any near."""
    end = min(len(text), start + length)
    if start:
        space = text.find(" ", start, start + 30)
        start = space + 1 if space >= 0 else start
    if end < len(text):
        space = text.rfind(" ", max(start, end - 30), end)
        end = space if space > start else end
    return start, end


def _pieces(text: str, first: int, last: int, spans: list[tuple[int, int, str]]) -> Iterable[Fragment]:
    borders = [first, *(at for span in spans for at in span[:2]), last]
    for number, (begin, end) in enumerate(pairwise(borders)):
        if begin < end:
            yield Fragment(text[begin:end], marked=number % 2 == 1)
