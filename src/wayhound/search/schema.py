"""How a document is laid out in tantivy: which words are searched, counted, sorted by and shown."""

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
    """How many documents match; the library's own types leave it out."""
    return int(result.count)  # type: ignore[attr-defined]


FORMAT = 4  # of the files; an index of another format is built again
TEXT_FIELDS = ("title", "people", "venue", "topic", "text", "other")
MOST_REPEATS = 32  # a word that comes more often in one document counts as coming this often
LONGEST_SHOWN = 6_000  # characters of text kept for snippets
LONGEST_VALUE = 200  # characters of a facet's value
SCORE_BITS = (10**SCORE_DIGITS).bit_length()
NEVER = -(2**62)  # sorts behind every date
NOT_HELD = "not held"

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
    if document.held:
        _add_names(made, document)
    else:
        made.add_text("shelf", NOT_HELD)
    made.add_json("facet", {name: list(values) for name, values in facets_of(document).items()})
    _add_numbers(made, document)
    made.add_bytes("shown", json.dumps(_shown(document), ensure_ascii=False).encode("utf-8", "replace"))
    return made


def _add_words(made: tantivy.Document, document: IndexDocument) -> None:
    counts: Counter[str] = Counter()
    for name, values in _texts(document).items():
        for value in values:
            found = terms(value)
            counts.update(found)
            made.add_text(name, " ".join(found))
    made.add_text("words", " ".join(counts))
    made.add_text("repeats", " ".join(repeats(counts)))
    named = {"site": (document.site,), "type": (document.kind,)} | dict(document.fields)
    made.add_json("fields", {name: _spaced(values) for name, values in named.items() if is_name(name)})


def _texts(document: IndexDocument) -> dict[str, tuple[str, ...]]:
    """Each text in its field of the index; values of one field are kept apart, so that no phrase spans two."""
    others = tuple(value for values in document.fields.values() for value in values)
    topics = tuple(name for path in document.topics for name in path)
    venue = (document.venue,) if document.venue else ()
    texts = ((document.title,), document.people, venue, topics, document.text, (*others, document.site))
    return dict(zip(TEXT_FIELDS, texts, strict=True))


def _spaced(values: Iterable[str]) -> list[str]:
    return [" ".join(terms(value)) for value in values]


def repeats(counts: Counter[str]) -> list[str]:
    """`word␟2`, `word␟3`, … for a word that comes so often: counting these counts the word's frequency."""
    often = [(word, min(count, MOST_REPEATS)) for word, count in counts.items() if count > 1]
    return [repeat(word, number) for word, count in often for number in range(2, count + 1)]


def repeat(word: str, number: int) -> str:
    return f"{word}\x1f{number}"


def is_name(name: str) -> bool:
    """Whether a field can be asked for by name: dots and spaces would be read as something else."""
    return _NAME.fullmatch(name) is not None


def _add_names(made: tantivy.Document, document: IndexDocument) -> None:
    """Names to be completed as they are typed, from each of their words on."""
    for key in {key for name in document.people for key in completions(name)}:
        made.add_text("person_key", key)
    for key in {key for path in document.topics for name in path for key in completions(name)}:
        made.add_text("topic_key", key)
    if begun := " ".join(terms(document.title))[:LONGEST_VALUE]:
        made.add_text("title_key", f"{begun}\x1f{document.key}")


@lru_cache(maxsize=20_000)  # the same people write many papers
def completions(name: str) -> tuple[str, ...]:
    """`ada lovelace␟Ada Lovelace` and `lovelace ada␟Ada Lovelace`."""
    found, shown = terms(name), storable(" ".join(name.split())[:LONGEST_VALUE])
    starts = range(min(len(found), 6))
    return tuple(f"{' '.join((*found[at:], *found[:at]))[:LONGEST_VALUE]}\x1f{shown}" for at in starts)


def facets_of(document: IndexDocument) -> dict[str, tuple[str, ...]]:
    """The values by which a document is counted. A document of a topic counts for all topics above it.

    What others say of a work that is not held is in as many spellings as there are others.
    """
    if not document.held:
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
    """As it is kept: the sign before it keeps the index from taking it for a date or a number."""
    return "=" + storable(" ".join(value.split())[:LONGEST_VALUE])


def _add_numbers(made: tantivy.Document, document: IndexDocument) -> None:
    date = document.date
    if document.year is not None:
        made.add_integer("year", document.year)
    made.add_integer("newest", NEVER if date is None else date)
    made.add_integer("oldest", NEVER if date is None else -date)
    made.add_integer("cited", document.cited)
    made.add_integer("added", document.change)
    made.add_float("authority", document.scores.authority)
    made.add_float("hub", document.scores.hub)
    for path, scores in document.topic_scores.items():
        for bit in (*score_bits("authority", path, scores.authority), *score_bits("hub", path, scores.hub)):
            made.add_text("topic_score", bit)


def score_bits(name: str, topic: tuple[str, ...], score: float) -> Iterator[str]:
    """A term for each binary digit that is set in a score of a topic.

    Asked for any of these terms, each for what its digit is worth, the index adds them up to the score. A
    column for every topic would do the same at a far greater cost.
    """
    number = round(score * 10**SCORE_DIGITS)
    return (score_bit(name, topic, bit) for bit in range(SCORE_BITS) if number >> bit & 1)


def score_bit(name: str, topic: tuple[str, ...], bit: int) -> str:
    return storable(f"{name}\x1f{TOPIC_SEPARATOR.join(topic)[:LONGEST_VALUE]}\x1f{bit}")


def _shown(document: IndexDocument) -> dict[str, Any]:
    """What a list shows of a document; the order of values is that of `Hit`."""
    return {
        "kind": document.kind, "id": document.id, "title": document.title, "people": document.people,
        "venue": document.venue, "year": document.year, "site": document.site, "topics": document.topics,
        "cited": document.cited, "authority": document.scores.authority, "hub": document.scores.hub,
        "text": _shown_text(document)[:LONGEST_SHOWN],
    }  # fmt: skip


def _shown_text(document: IndexDocument) -> str:
    """Its text; of a record without any, what else it says of itself."""
    values = (value for each in document.fields.values() for value in each)
    return " … ".join(document.text) or " · ".join(values)
