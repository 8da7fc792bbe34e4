"""Translate a query into a tantivy query with the scores of each ranking."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from wayhound.search.query import Clause, Query, QueryPart, Term, YearRange
from wayhound.search.schema import (
    BODY_FIELD,
    MAX_FREQUENCY,
    SCORE_BITS,
    facet_value,
    frequency_term,
    hit_count,
    is_name,
    score_bit,
    tantivy,
)

WEIGHTS = {
    "title": 3.0,
    "people": 2.0,
    "topic": 1.5,
    "venue": 1.0,
    "text": 1.0,
    "other": 0.5,
    BODY_FIELD: 0.2,
}
"""Weights of BM25 in each field of the index."""

_OWN_FIELD = {
    "author": "people", "title": "title", "abstract": "text", "body": BODY_FIELD, "venue": "venue", "topic": "topic",
}  # fmt: skip
# `words` has the words of all fields but the body, so one lookup serves.
_PREFIX_WEIGHTS = {"words": 1.0, "title": 3.0, BODY_FIELD: 0.2}
_MAX_WORDS = 20_000  # whose fields are remembered


@dataclass(frozen=True)
class Ranking:
    """Builds tantivy queries for one snapshot of an index."""

    searcher: tantivy.Searcher
    schema: tantivy.Schema
    _fields: dict[str, tuple[str, ...]] = field(default_factory=dict, compare=False, repr=False)

    def by_bm25(self, query: Query, filters: Iterable[tuple[str, str]], *, every: bool) -> tantivy.Query:
        """Score by the sum over words and fields of BM25 (k1 = 1.2, b = 0.75) times the field's weight."""
        return self._matching(query, filters, self._part, every=every)

    def by_presence(self, query: Query, filters: Iterable[tuple[str, str]], *, every: bool) -> tantivy.Query:
        """Match the same documents as the other methods do, to be counted: two fields have all words of a document."""
        return self._matching(query, filters, self._presence, every=every)

    def by_log_frequency(
        self, query: Query, filters: Iterable[tuple[str, str]], *, every: bool
    ) -> tantivy.Query:
        """Score by the sum over terms t of log(1 + tf(t)) / cf(t) (McCallum et al. 2000, section 2).

        cf is the frequency of t in the collection. log(1 + n) is the sum of log(1 + k) - log(k) for k up to n, and
        the index has a term for "at least k times", so tantivy only adds constants.
        """
        return self._matching(query, filters, self._log_part, every=every)

    def by_topic_score(
        self, query: Query, filters: Iterable[tuple[str, str]], name: str, topic: str, *, every: bool
    ) -> tantivy.Query:
        """Score by authority or hub score within one topic, as the sum of its binary digits (`score_bits`)."""
        occur, path = tantivy.Occur, (topic,)
        bits = [
            (occur.Should, self._constant(self._exactly("topic_score", score_bit(name, path, bit)), 2.0**bit))
            for bit in range(SCORE_BITS)
        ]
        matching = self._constant(self.by_bm25(query, filters, every=every))
        return tantivy.Query.boolean_query([(occur.Must, matching), *bits])

    def _exactly(self, field: str, value: str) -> tantivy.Query:
        return tantivy.Query.term_query(self.schema, field, value, "basic")

    def _matching(
        self,
        query: Query,
        filters: Iterable[tuple[str, str]],
        translate: Callable[[QueryPart], tantivy.Query],
        *,
        every: bool,
    ) -> tantivy.Query:
        occur = tantivy.Occur
        clauses = [
            (self._occur(clause, every=every), self._any(map(translate, clause.any_of)))
            for clause in query.clauses
        ]
        required = [(occur.Must, self._constant(chosen)) for chosen in self._filters(filters)]
        if all(clause.sign == "-" for clause in query.clauses):
            required.append((occur.Must, self._constant(tantivy.Query.all_query())))
        kinds = {kind for kind, _ in clauses}
        least = 1 if occur.Must not in kinds and occur.Should in kinds else None
        return tantivy.Query.boolean_query([*clauses, *required], least)

    def _occur(self, clause: Clause, *, every: bool) -> tantivy.Occur:
        occur = tantivy.Occur
        if clause.sign == "-":
            return occur.MustNot
        return occur.Must if every or not is_optional(clause) else occur.Should

    def _filters(self, filters: Iterable[tuple[str, str]]) -> list[tantivy.Query]:
        """Return one query for each facet; values of one facet are alternatives."""
        by_name: dict[str, list[tantivy.Query]] = {}
        for name, value in filters:
            by_name.setdefault(name, []).append(self._filter(name, value))
        return [self._any(values) for values in by_name.values()]

    def _filter(self, name: str, value: str) -> tantivy.Query:
        make = tantivy.Query
        if name == "year":
            year = int(value) if value.isascii() and value.isdigit() and len(value) < 5 else -1
            return make.term_query(self.schema, "year", year)
        if is_name(name):
            return make.term_query(self.schema, f"facet.{name}", facet_value(value))
        return make.empty_query()

    def _any(self, queries: Iterable[tantivy.Query]) -> tantivy.Query:
        alternatives = list(queries)
        if len(alternatives) == 1:
            return alternatives[0]
        occur = tantivy.Occur
        return tantivy.Query.boolean_query([(occur.Should, query) for query in alternatives])

    def _part(self, part: QueryPart) -> tantivy.Query:
        if isinstance(part, YearRange):
            return self._constant(self._years(part))
        if part.field:
            return self._in_field(_OWN_FIELD.get(part.field, f"fields.{part.field}"), part)
        words = part.words
        weights = _PREFIX_WEIGHTS if part.prefix and len(words) == 1 else WEIGHTS
        fields = self._fields_of(words[0]) if weights is WEIGHTS and len(words) == 1 else tuple(weights)
        boost = tantivy.Query.boost_query
        return self._any(boost(self._in_field(field, part), weights[field]) for field in fields)

    def _fields_of(self, word: str) -> tuple[str, ...]:
        """Return the fields that have a word in any document, or one of them if none has.

        Most words are in two or three of seven, and each further field costs a search 0.01 ms.
        """
        fields = self._fields.get(word)
        if fields is None:
            fields = tuple(name for name in WEIGHTS if self.searcher.doc_freq(name, word)) or (BODY_FIELD,)
            if len(self._fields) < _MAX_WORDS:
                self._fields[word] = fields
        return fields

    def _presence(self, part: QueryPart) -> tantivy.Query:
        if isinstance(part, YearRange) or part.field or part.prefix or len(part.words) > 1:
            return self._part(part)
        return self._any(self._exactly(field, part.words[0]) for field in ("words", BODY_FIELD))

    def _years(self, years: YearRange) -> tantivy.Query:
        kind = tantivy.FieldType.Integer
        return tantivy.Query.range_query(self.schema, "year", kind, years.first, years.last)

    def _in_field(self, field: str, term: Term) -> tantivy.Query:
        make, words = tantivy.Query, term.words
        if len(words) == 1 and term.prefix:
            # Distance 0: no letter may differ, but the word may continue.
            return make.fuzzy_term_query(self.schema, field, words[0], 0, prefix=True)
        if len(words) == 1:
            return make.term_query(self.schema, field, words[0], "freq")
        if term.prefix:
            return make.phrase_prefix_query(self.schema, field, [*words])
        return make.phrase_query(self.schema, field, [*words], term.near)

    def _constant(self, query: tantivy.Query, score: float = 0.0) -> tantivy.Query:
        return tantivy.Query.const_score_query(query, score)

    def _log_part(self, part: QueryPart) -> tantivy.Query:
        if isinstance(part, Term) and not part.field and not part.prefix and len(part.words) == 1:
            return self._log_word(part.words[0])
        plain = self._part(part)
        matching = hit_count(self.searcher.search(plain, 1)) if isinstance(part, Term) else 0
        return self._constant(plain, math.log(2) / matching if matching else 0.0)

    def _log_word(self, word: str) -> tantivy.Query:
        frequencies = self.frequencies(word)
        total = sum(frequencies)
        steps = [
            self._constant(
                tantivy.Query.term_query(self.schema, field, term, "basic"), math.log1p(1 / number) / total
            )
            for number, (field, term) in enumerate(_levels(word, len(frequencies)), 1)
        ]
        # A word of the body matches in this order too, but its frequency there does not count.
        return self._any([*steps, self._constant(self._exactly(BODY_FIELD, word))])

    def frequencies(self, word: str) -> list[int]:
        """Return how many documents have a word at least once, twice, and so on; the sum is its total frequency."""
        counts: list[int] = []
        for name, term in _levels(word, MAX_FREQUENCY):
            count = self.searcher.doc_freq(name, term)
            if not count:
                break
            counts.append(count)
        return counts


def _levels(word: str, count: int) -> Sequence[tuple[str, str]]:
    return [("words", word), *(("repeats", frequency_term(word, number)) for number in range(2, count + 1))][
        :count
    ]


def is_optional(clause: Clause) -> bool:
    """Return True if a clause is optional when no document has all: plain words, not years, fields or signs."""
    return not clause.sign and all(isinstance(part, Term) and not part.field for part in clause.any_of)
