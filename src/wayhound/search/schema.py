"""The tantivy schema, and the conversion of a record of any kind into a document of the index."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import sha256
from typing import Any
from urllib.parse import urlsplit

from wayhound.citations.hubs import HubScores
from wayhound.errors import MissingExtra
from wayhound.record import Record
from wayhound.record_kinds import KINDS, KindSpec, Role, spec_of
from wayhound.search.query import terms

TOPIC_SEPARATOR = " › "
MAX_KEY_LENGTH = 1_000  # characters
SCORE_DIGITS = 4  # of scores from 0 to 1; smaller differences change no visible order


@dataclass(frozen=True, slots=True)
class IndexDocument:
    """Everything that one record is searched, shown, counted and sorted by.

    `text` appears in snippets. `fields` are searched by name and among all words; `by_name` only by name, `facets` are
    only counted. `body` is the text of a file without its references; it is searched and not stored.
    """

    kind: str
    id: str
    title: str = ""
    people: tuple[str, ...] = ()
    venue: str = ""
    topics: tuple[tuple[str, ...], ...] = ()  # paths from the top
    site: str = ""  # host name
    date: int | None = None  # as one number: 19990700 is July 1999
    text: tuple[str, ...] = ()
    fields: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    by_name: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    facets: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    body: str = ""
    file: str = ""  # type of the file that can be downloaded
    cited: int = 0
    scores: HubScores = HubScores()  # noqa: RUF009 - frozen
    topic_scores: Mapping[tuple[str, ...], HubScores] = field(default_factory=dict)  # within a topic's papers
    change: int = 0  # number of the record's last change; larger is newer
    in_collection: bool = True  # False for a work known only by its citations

    @property
    def year(self) -> int | None:
        return None if self.date is None else self.date // 10_000

    @property
    def key(self) -> str:
        return record_key(self.kind, self.id)


def record_key(kind: str, record_id: str) -> str:
    """Return one key for a kind and id. Longer keys than tantivy accepts are replaced by their hash."""
    key = storable(f"{kind}\x1f{record_id}")
    return key if len(key) <= MAX_KEY_LENGTH else sha256(key.encode()).hexdigest()


def storable(text: str) -> str:
    """Return the text without lone surrogates, which hostile pages contain and UTF-8 cannot encode."""
    return text.encode("utf-8", "replace").decode("utf-8")


VENUE_FIELDS = ("journal", "booktitle", "institution", "venue")
"""Fields that name where a record was published; the first with a value is the venue."""

_ROLES: tuple[Role, ...] = ("title", "people", "date", "text")
_DATE = re.compile(r"(?<!\d)(\d{4})(?:-(\d{2})(?:-(\d{2}))?)?(?!\d)")


@dataclass(frozen=True, slots=True)
class RecordContext:
    """Facts about a record that are not among its fields: topics, citations, scores, and the text of its file."""

    topics: tuple[tuple[str, ...], ...] = ()
    cited: int = 0
    scores: HubScores = HubScores()  # noqa: RUF009 - frozen
    topic_scores: Mapping[tuple[str, ...], HubScores] = field(default_factory=dict)
    change: int = 0
    body: str = ""
    references: tuple[str, ...] = ()


_NO_CONTEXT = RecordContext()


def index_document(
    record: Record, context: RecordContext = _NO_CONTEXT, kinds: Mapping[str, KindSpec] = KINDS
) -> IndexDocument:
    """Return the index document of a record; `kinds` declare the roles of its fields."""
    spec = spec_of(record.kind, record.fields, kinds)
    texts = {name: _texts(record, name) for name in record.fields}
    roles = {name: spec.field(name).role for name in texts}
    by_role = {role: _joined(roles, texts, role) for role in _ROLES}
    venue = next((texts[name][0] for name in VENUE_FIELDS if texts.get(name)), "")
    return IndexDocument(
        kind=record.kind,
        id=record.id,
        title=_title(by_role["title"], texts),
        people=by_role["people"],
        venue=venue,
        topics=context.topics,
        site=host_name(record.site),
        date=parse_date(by_role["date"] or texts.get("date", ())),
        text=by_role["text"],
        fields={name: values for name, values in texts.items() if _is_searched(name, roles[name])},
        by_name={name: texts[name] for name in VENUE_FIELDS if texts.get(name)}
        | ({"reference": context.references} if context.references else {}),
        facets={name: values for name, values in texts.items() if _is_facet(name, roles[name])},
        body=context.body,
        file=texts.get("file_type", ("",))[0],
        cited=context.cited,
        scores=context.scores,
        topic_scores=context.topic_scores,
        change=context.change,
    )


def _texts(record: Record, name: str) -> tuple[str, ...]:
    return tuple(text for value in record.fields[name] if (text := value.text.strip()))


def _joined(roles: Mapping[str, Role], texts: Mapping[str, tuple[str, ...]], role: Role) -> tuple[str, ...]:
    return tuple(text for name, values in texts.items() if roles[name] == role for text in values)


def _title(titles: tuple[str, ...], texts: Mapping[str, tuple[str, ...]]) -> str:
    """Return the title, or the first value of any field, on one line."""
    first = next((values[0] for values in (titles, *texts.values()) if values), "")
    return " ".join(first.split())[:500]


def _is_searched(name: str, role: Role) -> bool:
    """Return True for fields without a place of their own in the index."""
    return role in ("facet", "plain") and name not in VENUE_FIELDS


def _is_facet(name: str, role: Role) -> bool:
    return role == "facet" and name not in VENUE_FIELDS


def parse_date(texts: tuple[str, ...]) -> int | None:
    """Return the first date in the texts as one number, 19990700 for `1999-07`, or None."""
    for text in texts:
        if match := _DATE.search(text):
            year, month, day = (int(part or 0) for part in match.groups())
            return year * 10_000 + month * 100 + day
    return None


def host_name(site: str) -> str:
    """Return the host name of a site's URL, or the text itself if it is no URL."""
    try:
        return urlsplit(site).hostname or site
    except ValueError:
        return site


try:
    import tantivy
except ImportError:
    raise MissingExtra("The search index", "tantivy", "portal") from None

__all__ = ["hit_count", "tantivy"]


def hit_count(result: tantivy.SearchResult) -> int:
    """Return the number of matching documents, which the library's type stubs lack."""
    return int(result.count)  # type: ignore[attr-defined]


FORMAT = 8  # of the index files; an index of another format is rebuilt
TEXT_FIELDS = ("title", "people", "venue", "topic", "text", "other")  # `words` has the words of all of these
BODY_FIELD = "body"
MAX_FREQUENCY = 32  # of a word in one document; more occurrences count as this many
MAX_SNIPPET_SOURCE = 6_000  # characters of text stored for snippets
MAX_VALUE_LENGTH = 200  # characters of a facet's value
SCORE_BITS = (10**SCORE_DIGITS).bit_length()
CLASS_SEPARATOR = "\x1e"  # white space, so that no value of a facet has it
NO_DATE = -(2**62)  # sorts after every date
CITED_ONLY = "not held"

_NAME = re.compile(r"\w[\w-]*")


def make_schema() -> tantivy.Schema:
    builder: tantivy.SchemaBuilder = tantivy.SchemaBuilder()
    for name in ("key", "person_key", "topic_key", "title_key", "topic_score", "shelf"):
        builder.add_text_field(name, tokenizer_name="raw", index_option="basic")
    for name in ("words", "repeats"):
        builder.add_text_field(name, tokenizer_name="whitespace", index_option="basic")
    for name in (*TEXT_FIELDS, BODY_FIELD):
        builder.add_text_field(name, tokenizer_name="whitespace", index_option="position")
    builder.add_json_field("fields", tokenizer_name="whitespace", index_option="position")
    builder.add_json_field("facet", tokenizer_name="raw", index_option="basic")
    builder.add_json_field("code", tokenizer_name="raw", fast=True, index_option="basic")
    builder.add_integer_field("class", fast=True)
    builder.add_integer_field("year", indexed=True, fast=True)
    for name in ("newest", "oldest", "cited", "added"):
        builder.add_integer_field(name, fast=True)
    for name in ("authority", "hub"):
        builder.add_float_field(name, fast=True)
    builder.add_bytes_field("shown", stored=True)
    return builder.build()


def to_tantivy(document: IndexDocument, code_of: Callable[[str], int]) -> tantivy.Document:
    """Return a document as it is indexed. `code_of` gives the number by which a value of a facet is counted."""
    made: tantivy.Document = tantivy.Document()
    made.add_text("key", document.key)
    _add_words(made, document)
    if document.in_collection:
        _add_names(made, document)
    else:
        made.add_text("shelf", CITED_ONLY)
    facets = facet_values(document)
    made.add_json("facet", {name: list(values) for name, values in facets.items()})
    apart = {name: values for name, values in facets.items() if name not in CLASS_FACETS}
    made.add_json("code", {name: list(map(code_of, values)) for name, values in apart.items()})
    made.add_integer("class", code_of(_class_of(facets)))
    _add_numbers(made, document)
    made.add_bytes("shown", json.dumps(_shown(document), ensure_ascii=False).encode("utf-8", "replace"))
    return made


def _add_words(made: tantivy.Document, document: IndexDocument) -> None:
    counts: Counter[str] = Counter()
    for name, values in _index_texts(document).items():
        for value in values:
            words = terms(value)
            counts.update(words)
            made.add_text(name, " ".join(words))
    made.add_text("words", " ".join(counts))
    made.add_text("repeats", " ".join(frequency_terms(counts)))
    if document.body:
        made.add_text(BODY_FIELD, " ".join(terms(document.body)))
    named = {"site": (document.site,), "type": (document.kind,), **document.fields, **document.by_name}
    made.add_json("fields", {name: _spaced(values) for name, values in named.items() if is_name(name)})


def _index_texts(document: IndexDocument) -> dict[str, tuple[str, ...]]:
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


CLASS_FACETS = ("type", "topic")
"""Facets that are counted as one, by `class`: few sets of topics occur, and a record has one set but many topics."""


def _class_of(facets: Mapping[str, tuple[str, ...]]) -> str:
    """Return the type and all topics of a document as one value."""
    return CLASS_SEPARATOR.join((*facets["type"], *facets.get("topic", ())))


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
        "file": document.file,
        "text": _shown_text(document)[:MAX_SNIPPET_SOURCE],
    }  # fmt: skip


def _shown_text(document: IndexDocument) -> str:
    """Return the text of a document, or the values of its fields if it has none."""
    values = (value for texts in document.fields.values() for value in texts)
    *before, last = document.text or ("",)
    # A passage that was cut ends with the sign already.
    parts = [*(text.rstrip(" …") for text in before), last]
    return " … ".join(parts) or " · ".join(values)
