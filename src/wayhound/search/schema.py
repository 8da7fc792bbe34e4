"""The tantivy schema: which fields of a document are searched, counted, sorted by and stored."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any

from wayhound.errors import MissingExtra
from wayhound.search.documents import SCORE_DIGITS, TOPIC_SEPARATOR, IndexDocument, storable
from wayhound.search.query import terms

try:
    import tantivy
except ImportError:
    raise MissingExtra("The search index", "tantivy", "portal") from None

__all__ = ["hit_count", "tantivy"]


def hit_count(result: tantivy.SearchResult) -> int:
    """Return the number of matching documents, which the library's type stubs lack."""
    return int(result.count)  # type: ignore[attr-defined]


FORMAT = 4  # of the index files; an index of another format is rebuilt
TEXT_FIELDS = ("title", "people", "venue", "topic", "text", "other")
MAX_FREQUENCY = 32  # of a word in one document; more occurrences count as this many
MAX_SNIPPET_SOURCE = 6_000  # characters of text stored for snippets
MAX_VALUE_LENGTH = 200  # characters of a facet's value
SCORE_BITS = (10**SCORE_DIGITS).bit_length()
NO_DATE = -(2**62)  # sorts after every date
CITED_ONLY = "not held"

_NAME = re.compile(r"\w[\w-]*")


def make_schema() -> tantivy.Schema:
    builder: tantivy.SchemaBuilder = tantivy.SchemaBuilder()
    for name in ("key", "person_key", "topic_key", "title_key", "topic_score", "shelf"):
        builder.add_text_field(name, tokenizer_name="raw", index_option="basic")
    for name in ("words", "repeats"):
        builder.add_text_field(name, tokenizer_name="whitespace", index_option="basic")
    for name in TEXT_FIELDS:
        builder.add_text_field(name, tokenizer_name="whitespace", index_option="position")
    builder.add_json_field("fields", tokenizer_name="whitespace", index_option="position")
    builder.add_json_field("facet", tokenizer_name="raw", fast=True, index_option="basic")
    builder.add_integer_field("year", indexed=True, fast=True)
    for name in ("newest", "oldest", "cited", "added"):
        builder.add_integer_field(name, fast=True)
    for name in ("authority", "hub"):
        builder.add_float_field(name, fast=True)
    builder.add_bytes_field("shown", stored=True)
    return builder.build()


def to_tantivy(document: IndexDocument) -> tantivy.Document:
    made: tantivy.Document = tantivy.Document()
    made.add_text("key", document.key)
    _add_words(made, document)
    if document.in_collection:
        _add_names(made, document)
    else:
        made.add_text("shelf", CITED_ONLY)
    made.add_json("facet", {name: list(values) for name, values in facet_values(document).items()})
    _add_numbers(made, document)
    made.add_bytes("shown", json.dumps(_shown(document), ensure_ascii=False).encode("utf-8", "replace"))
    return made


def _add_words(made: tantivy.Document, document: IndexDocument) -> None:
    counts: Counter[str] = Counter()
    for name, values in _texts(document).items():
        for value in values:
            words = terms(value)
            counts.update(words)
            made.add_text(name, " ".join(words))
    made.add_text("words", " ".join(counts))
    made.add_text("repeats", " ".join(frequency_terms(counts)))
    named = {"site": (document.site,), "type": (document.kind,)} | dict(document.fields)
    made.add_json("fields", {name: _spaced(values) for name, values in named.items() if is_name(name)})


def _texts(document: IndexDocument) -> dict[str, tuple[str, ...]]:
    """Return the texts of each index field. Values stay separate, so that no phrase spans two of them."""
    others = tuple(value for values in document.fields.values() for value in values)
    topics = tuple(name for path in document.topics for name in path)
    venue = (document.venue,) if document.venue else ()
    texts = ((document.title,), document.people, venue, topics, document.text, (*others, document.site))
    return dict(zip(TEXT_FIELDS, texts, strict=True))


def _spaced(values: Iterable[str]) -> list[str]:
    return [" ".join(terms(value)) for value in values]


def frequency_terms(counts: Counter[str]) -> list[str]:
    """Return `word␟2`, `word␟3`, … up to each word's frequency, so that a term query can ask for a frequency."""
    frequent = [(word, min(count, MAX_FREQUENCY)) for word, count in counts.items() if count > 1]
    return [frequency_term(word, number) for word, count in frequent for number in range(2, count + 1)]


def frequency_term(word: str, number: int) -> str:
    return f"{word}\x1f{number}"


def is_name(name: str) -> bool:
    """Return True if a field can be queried by name; tantivy reads dots and spaces as syntax."""
    return _NAME.fullmatch(name) is not None


def _add_names(made: tantivy.Document, document: IndexDocument) -> None:
    """Add the keys by which names and titles are completed, from each of their words on."""
    for key in {key for name in document.people for key in completions(name)}:
        made.add_text("person_key", key)
    for key in {key for path in document.topics for name in path for key in completions(name)}:
        made.add_text("topic_key", key)
    if beginning := " ".join(terms(document.title))[:MAX_VALUE_LENGTH]:
        made.add_text("title_key", f"{beginning}\x1f{document.key}")


@lru_cache(maxsize=20_000)  # the same people write many papers
def completions(name: str) -> tuple[str, ...]:
    """Return keys such as `ada lovelace␟Ada Lovelace` and `lovelace ada␟Ada Lovelace`."""
    words, shown = terms(name), storable(" ".join(name.split())[:MAX_VALUE_LENGTH])
    starts = range(min(len(words), 6))
    return tuple(f"{' '.join((*words[at:], *words[:at]))[:MAX_VALUE_LENGTH]}\x1f{shown}" for at in starts)


def facet_values(document: IndexDocument) -> dict[str, tuple[str, ...]]:
    """Return the facet values of a document; a topic counts for all topics above it.

    A work that is only cited has no facets but its kind: its venue has as many spellings as papers cite it.
    """
    if not document.in_collection:
        return {"type": (facet_value(document.kind),)}
    paths = dict.fromkeys(path[:end] for path in document.topics for end in range(1, len(path) + 1))
    usual = {
        "topic": tuple(TOPIC_SEPARATOR.join(path) for path in paths),
        "venue": (document.venue,) if document.venue else (),
        "site": (document.site,) if document.site else (),
        "type": (document.kind,),
    }
    named = {name: values for name, values in document.facets.items() if is_name(name)}
    return {name: tuple(map(facet_value, values)) for name, values in (named | usual).items() if values}


def facet_value(value: str) -> str:
    """Return a value as it is indexed; the sign keeps tantivy from reading it as a date or number."""
    return "=" + storable(" ".join(value.split())[:MAX_VALUE_LENGTH])


def _add_numbers(made: tantivy.Document, document: IndexDocument) -> None:
    date = document.date
    if document.year is not None:
        made.add_integer("year", document.year)
    made.add_integer("newest", NO_DATE if date is None else date)
    made.add_integer("oldest", NO_DATE if date is None else -date)
    made.add_integer("cited", document.cited)
    made.add_integer("added", document.change)
    made.add_float("authority", document.scores.authority)
    made.add_float("hub", document.scores.hub)
    for path, scores in document.topic_scores.items():
        for bit in (*score_bits("authority", path, scores.authority), *score_bits("hub", path, scores.hub)):
            made.add_text("topic_score", bit)


def score_bits(name: str, topic: tuple[str, ...], score: float) -> Iterator[str]:
    """Yield a term for each binary digit that is set in a document's score within a topic.

    A query for all these terms, each boosted by the value of its digit, adds up to the score. A column for every
    topic would do the same at a far greater cost.
    """
    number = round(score * 10**SCORE_DIGITS)
    return (score_bit(name, topic, bit) for bit in range(SCORE_BITS) if number >> bit & 1)


def score_bit(name: str, topic: tuple[str, ...], bit: int) -> str:
    return storable(f"{name}\x1f{TOPIC_SEPARATOR.join(topic)[:MAX_VALUE_LENGTH]}\x1f{bit}")


def _shown(document: IndexDocument) -> dict[str, Any]:
    """Return what a list of results shows of a document."""
    return {
        "kind": document.kind, "id": document.id, "title": document.title, "people": document.people,
        "venue": document.venue, "year": document.year, "site": document.site, "topics": document.topics,
        "cited": document.cited, "authority": document.scores.authority, "hub": document.scores.hub,
        "text": _shown_text(document)[:MAX_SNIPPET_SOURCE],
    }  # fmt: skip


def _shown_text(document: IndexDocument) -> str:
    """Return the text of a document, or the values of its fields if it has none."""
    values = (value for texts in document.fields.values() for value in texts)
    return " … ".join(document.text) or " · ".join(values)
