"""Search by its definition, over every document and without an index."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

from wayhound.search.query import Clause, Query, QueryPart, Term, YearRange, terms
from wayhound.search.ranking import WEIGHTS
from wayhound.search.schema import IndexDocument


def values_of(document: IndexDocument) -> dict[str, list[list[str]]]:
    """Return the terms of each value, by field name."""
    named = {
        "title": (document.title,),
        "author": document.people,
        "venue": (document.venue,),
        "topic": [name for path in document.topics for name in path],
        "text": document.text,
        "body": (document.body,),
        "site": (document.site,),
        **document.fields,
    }
    return {name: [terms(value) for value in values] for name, values in named.items()}


def has_part(document: IndexDocument, part: QueryPart) -> bool:
    if isinstance(part, YearRange):
        year = document.year
        return year is not None and (part.first or 0) <= year <= (9999 if part.last is None else part.last)
    if part.field == "type":
        values = [terms(document.kind)]
    else:
        named = values_of(document)
        field = "text" if part.field == "abstract" else part.field
        values = named.get(field, []) if field else [words for values in named.values() for words in values]
    return any(_has_words(value, part) for value in values)


def _has_words(value: list[str], term: Term) -> bool:
    words = term.words
    if term.near and len(words) == 2:
        first, second = ([at for at, word in enumerate(value) if word == wanted] for wanted in words)
        return any(0 <= end - start - 1 <= term.near for start in first for end in second)
    windows = (value[at : at + len(words)] for at in range(len(value) - len(words) + 1))
    if not term.prefix:
        return any(window == words for window in windows)
    return any(window[:-1] == words[:-1] and window[-1].startswith(words[-1]) for window in windows)


def matches(document: IndexDocument, query: Query) -> bool:
    return all(_has_clause(document, clause) == (clause.sign != "-") for clause in query.clauses)


def _has_clause(document: IndexDocument, clause: Clause) -> bool:
    return any(has_part(document, part) for part in clause.any_of)


def log_frequency(documents: Sequence[IndexDocument], document: IndexDocument, words: Sequence[str]) -> float:
    """Return the sum over the words of log(1 + tf) / cf."""
    frequencies = [_counts(other) for other in documents]
    own = _counts(document)
    return sum(
        math.log1p(own[word]) / sum(counts[word] for counts in frequencies) for word in words if own[word]
    )


def _counts(document: IndexDocument) -> Counter[str]:
    named = values_of(document)
    return Counter(
        word for name, values in named.items() if name != "body" for value in values for word in value
    )


def bm25(documents: Sequence[IndexDocument], document: IndexDocument, word: str) -> float:
    """Return BM25 with k1 = 1.2 and b = 0.75 in each field, times the field's weight."""
    return sum(
        weight * _bm25_in(documents, document, word, name)
        for name, weight in (WEIGHTS | {"author": WEIGHTS["people"]}).items()
        if name in ("title", "author", "topic", "venue", "text", "body")
    )


def _bm25_in(documents: Sequence[IndexDocument], document: IndexDocument, word: str, name: str) -> float:
    def field_of(other: IndexDocument) -> list[str]:
        return [term for value in values_of(other)[name] for term in value]

    lengths = [len(field_of(other)) for other in documents]
    having = sum(word in field_of(other) for other in documents)
    count, length = field_of(document).count(word), len(field_of(document))
    if not count:
        return 0.0
    idf = math.log(1 + (len(documents) - having + 0.5) / (having + 0.5))
    average = sum(lengths) / len(documents)
    return idf * count * 2.2 / (count + 1.2 * (0.25 + 0.75 * length / average))
