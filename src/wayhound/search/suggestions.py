"""What may be meant by the beginning of a name, a topic or a title, while it is typed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Lock
from typing import Any, ClassVar, Literal

import numpy as np

from wayhound.search.query import Clause, Query, QueryPart, Term, terms, to_text
from wayhound.search.results import Suggestion
from wayhound.search.schema import hit_count, tantivy
from wayhound.search.snapshot import IndexSnapshot

MOST_WORDS = 60_000  # the commonest words are learned
SHORTEST, LONGEST = 4, 30  # letters
TWO_MISTAKES = 7  # letters from which a word may be two mistakes away


class Spelling:
    """Finds known words near a word: those that become equal when one letter is left out of either.

    That covers one letter too many, too few or wrong, two that changed places, and some pairs of such mistakes
    (symmetric deletion). Kept as a sorted array of hashes, since a dict of all shortened words would be large.
    """

    def __init__(self, counts: Iterable[tuple[str, int]]) -> None:
        usable = (
            (word, count) for word, count in counts if SHORTEST <= len(word) <= LONGEST and word.isalpha()
        )
        known = sorted(usable, key=lambda entry: (-entry[1], entry[0]))[:MOST_WORDS]
        self.words = [word for word, _ in known]
        self.counts = [count for _, count in known]
        hashes = [
            (hash(short), number) for number, word in enumerate(self.words) for short in shortened(word)
        ]
        table = np.array(hashes, dtype=np.int64).reshape(-1, 2)
        order = np.argsort(table[:, 0], kind="stable")
        self._hashes, self._numbers = table[order, 0], table[order, 1]

    def nearest(self, word: str) -> tuple[str, int] | None:
        """The nearest known word that is not the word itself, of equally near ones the commonest; its count."""
        if not SHORTEST <= len(word) <= LONGEST:
            return None
        most = 2 if len(word) >= TWO_MISTAKES else 1
        near = ((mistakes(word, self.words[number], most), number) for number in self._candidates(word))
        allowed = [(distance, number) for distance, number in near if 0 < distance <= most]
        if not allowed:
            return None
        _, number = min(allowed)  # words are in order of their counts
        return self.words[number], self.counts[number]

    def _candidates(self, word: str) -> set[int]:
        hashes = np.array([hash(short) for short in shortened(word)], dtype=np.int64)
        starts = np.searchsorted(self._hashes, hashes, "left")
        ends = np.searchsorted(self._hashes, hashes, "right")
        return {
            int(number)
            for start, end in zip(starts, ends, strict=True)
            for number in self._numbers[start:end]
        }


def shortened(word: str) -> Iterator[str]:
    """The word, and the word without each of its letters."""
    yield word
    for at in range(len(word)):
        yield word[:at] + word[at + 1 :]


def mistakes(first: str, second: str, most: int) -> int:
    """Letters to add, drop, change or swap with the next (optimal string alignment); above `most`, any number above."""
    if abs(len(first) - len(second)) > most:
        return most + 1
    before: list[int] = []
    row = list(range(len(second) + 1))
    for at, letter in enumerate(first, 1):
        before, last, row = row, before, [at]
        for to, other in enumerate(second, 1):
            cost = min(before[to] + 1, row[to - 1] + 1, before[to - 1] + (letter != other))
            if at > 1 and to > 1 and letter == second[to - 2] and first[at - 2] == other:
                cost = min(cost, last[to - 2] + 1)
            row.append(cost)
    return row[-1]


MUCH_COMMONER = 50  # times: a rare word may be a mistake that somebody made in print


@dataclass
class SpellingCorrector:
    """Learns the words of the index when first needed, and again when it has grown or shrunk by a tenth."""

    FEW: ClassVar[int] = 3  # hits below which a guess is made

    _spelling: Spelling | None = None
    _learned: tuple[Path, int] = (Path(), 0)
    _lock: Lock = field(default_factory=Lock)

    def learn(self, opened: IndexSnapshot) -> Spelling:
        with self._lock:
            build, count = self._learned
            grown = abs(opened.searcher.num_docs - count)
            if self._spelling is None or build != opened.build or grown * 10 > count:
                self._spelling = Spelling(opened.searcher.terms_with_prefix("words", ""))
                self._learned = (opened.build, opened.searcher.num_docs)
            return self._spelling

    def better(self, opened: IndexSnapshot, query: Query) -> str | None:
        """The query with every word that is not known put right; None if there is nothing better."""
        spelling = self.learn(opened)
        guess = Query(tuple(_clause(opened, spelling, clause) for clause in query.clauses))
        if guess == query:
            return None
        found = hit_count(opened.searcher.search(opened.ranking.by_bm25(guess, (), every=True), 1))
        return to_text(guess) if found else None


def _clause(opened: IndexSnapshot, spelling: Spelling, clause: Clause) -> Clause:
    if clause.sign == "-":
        return clause
    return replace(clause, any_of=tuple(_part(opened, spelling, part) for part in clause.any_of))


def _part(opened: IndexSnapshot, spelling: Spelling, part: QueryPart) -> QueryPart:
    if not isinstance(part, Term) or part.prefix:
        return part
    better = [_word(opened, spelling, word) for word in part.words]
    return part if better == part.words else replace(part, text=" ".join(better))


def _word(opened: IndexSnapshot, spelling: Spelling, word: str) -> str:
    having = opened.searcher.doc_freq("words", word)
    nearest = spelling.nearest(word)
    return nearest[0] if nearest and nearest[1] > having * MUCH_COMMONER else word


SHORTEST_TITLE = 2  # letters from which titles are looked for: with one, nearly all would match
MOST_SUGGESTIONS = 50
MOST_BEGINNINGS = 200  # titles that begin so, among which the most cited are looked for
LONGEST_TYPED = 100


def suggest(opened: IndexSnapshot, typed: str, count: int) -> list[Suggestion]:
    """Up to a third authors and a third topics, the commonest first; the rest titles."""
    found = terms(typed[:LONGEST_TYPED])
    count = min(count, MOST_SUGGESTIONS)
    if not found or count < 1:
        return []
    share = max(1, count // 3)
    people = list(_names(opened, "author", " ".join(found), share))
    topics = list(_names(opened, "topic", " ".join(found), share))
    titles = _titles(opened, found, count) if len(typed.strip()) >= SHORTEST_TITLE else []
    return [*topics, *people, *titles][:count]


def _names(
    opened: IndexSnapshot, kind: Literal["author", "topic"], typed: str, count: int
) -> Iterator[Suggestion]:
    """Names stand in the index from each of their words on, so the same one may come twice."""
    field = "person_key" if kind == "author" else "topic_key"
    known: dict[str, int] = {}
    for key, documents in opened.searcher.terms_with_prefix(field, typed, limit=4 * count):
        known.setdefault(key.partition("\x1f")[2], documents)
    ordered = sorted(known.items(), key=lambda entry: (-entry[1], entry[0]))
    for name, documents in ordered[:count]:
        yield Suggestion(name, kind, documents)


def _titles(opened: IndexSnapshot, found: list[str], count: int) -> list[Suggestion]:
    """Titles that begin with what was typed, then others that have the words; the most cited first."""
    searcher = opened.searcher
    keys = searcher.terms_with_prefix("title_key", " ".join(found), limit=MOST_BEGINNINGS)
    begun = tantivy.Query.term_set_query(
        opened.index.schema, "key", [key.partition("\x1f")[2] for key, _ in keys]
    )
    titles: dict[str, Suggestion] = {}
    for query in (begun, opened.held(_title_query(opened, found))):
        if len(titles) < count:
            for _, address in searcher.search(query, count, count=False, order_by_field="cited").hits:
                shown = opened.shown(address)
                titles.setdefault(shown["title"], _title(shown))
    return list(titles.values())[:count]


def _title(shown: dict[str, Any]) -> Suggestion:
    return Suggestion(shown["title"], "title", 1, shown["id"], shown["kind"])


def _title_query(opened: IndexSnapshot, found: list[str]) -> tantivy.Query:
    make, occur = tantivy.Query, tantivy.Occur
    schema = opened.index.schema
    *whole, begun = found
    queries = [(occur.Must, make.term_query(schema, "title", word, "freq")) for word in whole]
    queries.append((occur.Must, make.fuzzy_term_query(schema, "title", begun, 0, prefix=True)))
    return make.boolean_query(queries)
