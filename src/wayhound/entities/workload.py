"""Query workloads, and the value of a graph of entities for them (Huang & Yu, Eq. 1–3).

The value of a graph is the sum over all queries of the value of the entities that match them: every piece of
information that an entity has and the query does not name counts, each further value of one relationship less (β), and
for a category query each further entity less (α).
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from functools import lru_cache
from typing import Literal

from wayhound.errors import UsageError
from wayhound.text.words import plain_words

QueryKind = Literal["instance", "category"]
Values = Mapping[str, Sequence[str]]
"""The relationships of an entity: atomic values by label."""

KINDS: dict[str, QueryKind] = {"instance": "instance", "category": "category"}
MAX_QUERIES = 1_000_000
_STOP = frozenset("a an and at by de der die das el for in la le of on the und".split())


@lru_cache(maxsize=200_000)
def query_words(text: str) -> tuple[str, ...]:
    """Return the words that count in a query or a value, without stop words, unless all are."""
    words = plain_words(text)
    return tuple([word for word in words if word not in _STOP] or words)


@lru_cache(maxsize=200_000)
def _word_set(text: str) -> frozenset[str]:
    return frozenset(query_words(text))


@dataclass(frozen=True, slots=True)
class AskedQuery:
    """A query with how often it was asked; the same query asked by many counts as often (a multiset)."""

    text: str
    kind: QueryKind = "instance"
    count: float = 1.0

    @property
    def words(self) -> tuple[str, ...]:
        return query_words(self.text)


@dataclass(frozen=True)
class Workload:
    """The queries of a time range, and an index of them by their rarest word."""

    queries: tuple[AskedQuery, ...] = ()
    types: frozenset[str] = frozenset()
    """Words for the kind itself ("restaurants"): they match the label of the type and narrow nothing."""

    by_word: Mapping[str, tuple[int, ...]] = field(default_factory=dict, repr=False)
    needed: tuple[frozenset[str], ...] = field(default=(), repr=False)
    vocabulary: frozenset[str] = field(default=frozenset(), repr=False)

    @classmethod
    def of(cls, queries: Iterable[AskedQuery], types: Iterable[str] = ()) -> Workload:
        """Return a workload; equal queries are counted together."""
        counts: dict[tuple[str, QueryKind], float] = {}
        for query in queries:
            key = " ".join(query.text.split()).casefold(), query.kind
            if query.words and query.count > 0:
                counts[key] = counts.get(key, 0.0) + query.count
        merged = tuple(AskedQuery(text, kind, count) for (text, kind), count in counts.items())
        kinds = frozenset(word for name in types for word in (*query_words(name), f"{name.lower()}s"))
        needed = tuple(frozenset(query.words) - kinds or frozenset(query.words) for query in merged)
        frequency: dict[str, int] = defaultdict(int)
        for words in needed:
            for word in words:
                frequency[word] += 1
        index: dict[str, list[int]] = defaultdict(list)
        for number, words in enumerate(needed):
            index[min(words, key=lambda word: (frequency[word], word))].append(number)
        by_word = {word: tuple(numbers) for word, numbers in index.items()}
        return cls(merged, kinds, by_word, needed, frozenset(frequency))

    def covered(self, words: frozenset[str] | set[str]) -> Iterator[int]:
        """Yield the numbers of the queries all of whose words are among `words`."""
        for word in self.by_word.keys() & words:
            for number in self.by_word[word]:
                if self.needed[number] <= words:
                    yield number


HALF_LIFE_DAYS = 90
"""A query of a day so long ago counts half as much as one of today."""


def read_workload(lines: Iterable[str], types: Iterable[str] = (), today: date | None = None) -> Workload:
    """Return the workload of a file: lines of kind, count and query with tabs between, or a query alone a line.

    A line may also be the day of a query (2026-11-16) and the query: given `today`, older ones then count less. Without
    a kind, a query with a word of `types` in it is taken for a category. Raises UsageError for a line that cannot be
    read.
    """
    types = tuple(types)
    queries: list[AskedQuery] = []
    for number, line in enumerate(lines, 1):
        if number > MAX_QUERIES:
            raise UsageError(f"The workload has more than {MAX_QUERIES:,} lines.")
        cells = line.rstrip("\r\n").split("\t")
        if not any(cell.strip() for cell in cells) or cells == ["kind", "count", "query"]:
            continue
        queries.append(_parsed(cells, number, types, today))
    return Workload.of(queries, types)


def _parsed(cells: Sequence[str], number: int, types: Sequence[str], today: date | None) -> AskedQuery:
    if len(cells) == 1:
        return AskedQuery(cells[0], guess_kind(cells[0], types))
    try:
        if len(cells) == 2:
            asked = date.fromisoformat(cells[0])
            age = max(0, (today - asked).days) if today else 0
            return AskedQuery(cells[1], guess_kind(cells[1], types), 0.5 ** (age / HALF_LIFE_DAYS))
        kind, count, text = cells
        if kind in KINDS and 0 <= float(count) < math.inf:
            return AskedQuery(text, KINDS[kind], float(count))
    except ValueError:
        pass
    raise UsageError(
        f"Line {number} of the workload cannot be read: it should be `instance` or `category`, a count and a query, "
        "with tabs between, or a day and a query, or a query alone."
    )


def guess_kind(text: str, types: Sequence[str]) -> QueryKind:
    """Return `category` for a query that asks for a group: it names the type in the plural, or asks for the best."""
    words = set(plain_words(text))
    plurals = {f"{word}s" for name in types for word in plain_words(name)}
    return (
        "category"
        if words & (plurals | {"best", "cheap", "near", "nearby", "list", "all", "top"})
        else "instance"
    )


# The value of a graph


def value_words(values: Values) -> frozenset[str]:
    """Return all words of an entity's values."""
    return frozenset().union(*(_word_set(text) for texts in values.values() for text in texts))


def matches(query: AskedQuery, values: Values, needed: frozenset[str], words: frozenset[str]) -> bool:
    """Return True if an entity is an answer to a query.

    All words of the query must occur among the entity's values; for an instance query, the query must also name the
    entity, so that "amber" is not an answer to "amber india".
    """
    if not needed <= words:
        return False
    if query.kind == "category":
        return True
    asked = _word_set(query.text)
    return any(_word_set(name) <= asked for name in values.get("name", ()))


def entity_value(values: Values, query: AskedQuery, beta: float = 2.0, c: float = 1.0) -> float:
    """Return the value of a matching entity for a query (Eq. 2 and 3): values that the query names do not count."""
    asked = _word_set(query.text)
    total = 0.0
    for texts in values.values():
        new = len([text for text in texts if not _word_set(text) <= asked])
        total += c * (1 - beta**-new) / (1 - 1 / beta)  # the sum of β^(1-k) for k from 1 to new
    return total


def ranked_value(values: Sequence[float], kind: QueryKind, alpha: float = 2.0) -> float:
    """Return the value of the entities that match one query (Eq. 1, inner sum), given the value of each."""
    if kind == "instance":
        return sum(values)
    return sum(alpha ** (1 - rank) * value for rank, value in enumerate(sorted(values, reverse=True), 1))


def graph_value(
    entities: Iterable[Values], workload: Workload, alpha: float = 2.0, beta: float = 2.0, c: float = 1.0
) -> float:
    """Return the value of a graph, computed in full (Eq. 1). `GraphValue` keeps the same number up to date."""
    described = [(values, value_words(values)) for values in entities]
    total = 0.0
    for query, needed in zip(workload.queries, workload.needed, strict=True):
        found = [
            entity_value(v, query, beta, c) for v, words in described if matches(query, v, needed, words)
        ]
        total += query.count * ranked_value(found, query.kind, alpha)
    return total


class GraphValue:
    """The value of a growing graph, updated only where an entity that joins or changes matters.

    The cost of an update is proportional to the queries that the entity matches, not to the workload.
    """

    def __init__(self, workload: Workload, alpha: float = 2.0, beta: float = 2.0, c: float = 1.0) -> None:
        if alpha <= 1 or beta <= 1:
            raise UsageError("alpha and beta must be greater than 1: each further result is worth less.")
        if c <= 0:
            raise UsageError("c must be greater than 0: it is the worth of one value.")
        self.workload = workload
        self.alpha = alpha
        self.beta = beta
        self.c = c
        self.total = 0.0
        self._by_query: dict[int, dict[int, float]] = defaultdict(dict)  # query → entity → value
        self._by_entity: dict[int, tuple[int, ...]] = {}

    def matched(self, query: int) -> Collection[int]:
        """Return the entities that match a query, by its number."""
        return self._by_query.get(query, {}).keys()

    def update(self, entity: int, values: Values | None) -> float:
        """Take in the present values of an entity, None if it is gone, and return by how much the value changed."""
        words = value_words(values) if values else frozenset()
        new: dict[int, float] = {}
        if values:
            for number in self.workload.covered(words):
                query = self.workload.queries[number]
                if matches(query, values, self.workload.needed[number], words):
                    new[number] = entity_value(values, query, self.beta, self.c)
        change = 0.0
        for number in {*self._by_entity.get(entity, ()), *new}:
            query, found = self.workload.queries[number], self._by_query[number]
            before = ranked_value(list(found.values()), query.kind, self.alpha)
            if number in new:
                found[entity] = new[number]
            else:
                found.pop(entity, None)
            after = ranked_value(list(found.values()), query.kind, self.alpha)
            change += query.count * (after - before)
        self._by_entity[entity] = tuple(new)
        if not new:
            del self._by_entity[entity]
        self.total += change
        return change
