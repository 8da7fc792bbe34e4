"""Spelling correction of queries, and completion of names, topics and titles while they are typed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Lock
from typing import Any, Literal

import numpy as np

from wayhound.search.query import Clause, Query, QueryPart, Term, terms, to_text
from wayhound.search.results import Suggestion
from wayhound.search.schema import BODY_FIELD, hit_count, tantivy
from wayhound.search.snapshot import IndexSnapshot

MAX_WORDS = 60_000  # the most frequent words that are learned
MIN_LENGTH, MAX_LENGTH = 4, 30  # letters of a word that can be corrected
TWO_EDITS = 7  # letters from which a word may be two edits away


class Spelling:
    """Finds indexed words near a misspelt one, by symmetric deletion.

    Candidates are words that become equal when one letter is removed from either, which covers an insertion, a
    deletion, a substitution, a transposition, and some pairs of them. The table is a sorted array of hashes,
    because a dict of all shortened words would be several times larger.
    """

    def __init__(self, counts: Iterable[tuple[str, int]]) -> None:
        usable = (
            (word, count)
            for word, count in counts
            if MIN_LENGTH <= len(word) <= MAX_LENGTH and word.isalpha()
        )
        frequent = sorted(usable, key=lambda entry: (-entry[1], entry[0]))[:MAX_WORDS]
        self.words = [word for word, _ in frequent]
        self.counts = [count for _, count in frequent]
        hashes = [
            (hash(short), number) for number, word in enumerate(self.words) for short in deletions(word)
        ]
        table = np.array(hashes, dtype=np.int64).reshape(-1, 2)
        order = np.argsort(table[:, 0], kind="stable")
        self._hashes, self._numbers = table[order, 0], table[order, 1]

    def nearest(self, word: str) -> tuple[str, int] | None:
        """Return the nearest other word and its count, the most frequent of equally near ones, or None."""
        if not MIN_LENGTH <= len(word) <= MAX_LENGTH:
            return None
        max_edits = 2 if len(word) >= TWO_EDITS else 1
        near = (
            (edit_distance(word, self.words[number], max_edits), number) for number in self._candidates(word)
        )
        allowed = [(distance, number) for distance, number in near if 0 < distance <= max_edits]
        if not allowed:
            return None
        _, number = min(allowed)  # words are sorted by frequency
        return self.words[number], self.counts[number]

    def _candidates(self, word: str) -> set[int]:
        hashes = np.array([hash(short) for short in deletions(word)], dtype=np.int64)
        starts = np.searchsorted(self._hashes, hashes, "left")
        ends = np.searchsorted(self._hashes, hashes, "right")
        return {
            int(number)
            for start, end in zip(starts, ends, strict=True)
            for number in self._numbers[start:end]
        }


def deletions(word: str) -> Iterator[str]:
    """Yield the word, and the word without each of its letters."""
    yield word
    for at in range(len(word)):
        yield word[:at] + word[at + 1 :]


def edit_distance(first: str, second: str, limit: int) -> int:
    """Return the optimal string alignment distance, or any number above `limit` if it is above that."""
    if abs(len(first) - len(second)) > limit:
        return limit + 1
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


FREQUENCY_RATIO = 50  # a word so much rarer than its neighbour is taken for a misprint
FEW_HITS = 3  # below which a correction is offered


@dataclass
class SpellingCorrector:
    """Corrects queries by the words of the index, which it reads when first needed and after changes of a tenth."""

    _spelling: Spelling | None = None
    _learned: tuple[Path, int] = (Path(), 0)
    _lock: Lock = field(default_factory=Lock)

    def is_ready(self, snapshot: IndexSnapshot) -> bool:
        """Return True if the words of the index need not be read first."""
        build, count = self._learned
        grown = abs(snapshot.searcher.num_docs - count)
        return self._spelling is not None and build == snapshot.build and grown * 10 <= count

    def spelling(self, snapshot: IndexSnapshot) -> Spelling:
        with self._lock:
            if self._spelling is None or not self.is_ready(snapshot):
                self._spelling = Spelling(snapshot.searcher.terms_with_prefix("words", ""))
                self._learned = (snapshot.build, snapshot.searcher.num_docs)
            return self._spelling

    def correct(self, snapshot: IndexSnapshot, query: Query) -> str | None:
        """Return the query with misspelt words corrected, or None if that would find nothing more."""
        spelling = self.spelling(snapshot)
        guess = Query(tuple(_correct_clause(snapshot, spelling, clause) for clause in query.clauses))
        if guess == query:
            return None
        matches = snapshot.searcher.search(snapshot.ranking.by_bm25(guess, (), every=True), 1)
        return to_text(guess) if hit_count(matches) else None


def _correct_clause(snapshot: IndexSnapshot, spelling: Spelling, clause: Clause) -> Clause:
    if clause.sign == "-":
        return clause
    return replace(clause, any_of=tuple(_correct_part(snapshot, spelling, part) for part in clause.any_of))


def _correct_part(snapshot: IndexSnapshot, spelling: Spelling, part: QueryPart) -> QueryPart:
    if not isinstance(part, Term) or part.prefix:
        return part
    corrected = [_correct_word(snapshot, spelling, word) for word in part.words]
    return part if corrected == part.words else replace(part, text=" ".join(corrected))


def _correct_word(snapshot: IndexSnapshot, spelling: Spelling, word: str) -> str:
    frequency = max(snapshot.searcher.doc_freq(field, word) for field in ("words", BODY_FIELD))
    nearest = spelling.nearest(word)
    return nearest[0] if nearest and nearest[1] > frequency * FREQUENCY_RATIO else word


MIN_TITLE_LETTERS = 2  # typed before titles are suggested; one letter would match nearly all
MAX_SUGGESTIONS = 50
MAX_PREFIX_MATCHES = 200  # titles with the typed prefix, from which the most cited are taken
MAX_TYPED_LENGTH = 100


def suggest(snapshot: IndexSnapshot, typed: str, count: int) -> list[Suggestion]:
    """Return up to `count` completions: a third authors, a third topics, the most frequent first; the rest titles."""
    words = terms(typed[:MAX_TYPED_LENGTH])
    count = min(count, MAX_SUGGESTIONS)
    if not words or count < 1:
        return []
    share = max(1, count // 3)
    people = list(_names(snapshot, "author", " ".join(words), share))
    topics = list(_names(snapshot, "topic", " ".join(words), share))
    titles = _titles(snapshot, words, count) if len(typed.strip()) >= MIN_TITLE_LETTERS else []
    return [*topics, *people, *titles][:count]


def _names(
    snapshot: IndexSnapshot, kind: Literal["author", "topic"], typed: str, count: int
) -> Iterator[Suggestion]:
    """Yield the most frequent names with this prefix; each name is indexed from each of its words on."""
    field = "person_key" if kind == "author" else "topic_key"
    counts: dict[str, int] = {}
    for key, documents in snapshot.searcher.terms_with_prefix(field, typed, limit=4 * count):
        counts.setdefault(key.partition("\x1f")[2], documents)
    ordered = sorted(counts.items(), key=lambda entry: (-entry[1], entry[0]))
    for name, documents in ordered[:count]:
        yield Suggestion(name, kind, documents)


def _titles(snapshot: IndexSnapshot, words: list[str], count: int) -> list[Suggestion]:
    """Return titles with the typed prefix, then others with the words; the most cited first."""
    searcher = snapshot.searcher
    keys = searcher.terms_with_prefix("title_key", " ".join(words), limit=MAX_PREFIX_MATCHES)
    with_prefix = tantivy.Query.term_set_query(
        snapshot.index.schema, "key", [key.partition("\x1f")[2] for key, _ in keys]
    )
    titles: dict[str, Suggestion] = {}
    for query in (with_prefix, snapshot.in_collection(_title_query(snapshot, words))):
        if len(titles) < count:
            for _, address in searcher.search(query, count, count=False, order_by_field="cited").hits:
                shown = snapshot.shown(address)
                titles.setdefault(shown["title"], _title(shown))
    return list(titles.values())[:count]


def _title(shown: dict[str, Any]) -> Suggestion:
    return Suggestion(shown["title"], "title", 1, shown["id"], shown["kind"])


def _title_query(snapshot: IndexSnapshot, words: list[str]) -> tantivy.Query:
    make, occur = tantivy.Query, tantivy.Occur
    schema = snapshot.index.schema
    *whole, beginning = words
    queries = [(occur.Must, make.term_query(schema, "title", word, "freq")) for word in whole]
    queries.append((occur.Must, make.fuzzy_term_query(schema, "title", beginning, 0, prefix=True)))
    return make.boolean_query(queries)
