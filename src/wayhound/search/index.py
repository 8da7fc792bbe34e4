"""Answers questions from the index: hits, facets, suggestions and documents that are alike."""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from wayhound.search.query import FIELDS, Query, describe, parse, terms
from wayhound.search.ranking import may_miss
from wayhound.search.results import MAX_DEPTH, Hit, SearchRequest, SearchResults, Sort, Suggestion
from wayhound.search.schema import hit_count, tantivy
from wayhound.search.snapshot import IndexSnapshot, SnapshotOpener
from wayhound.search.snippets import Highlighter, marked, snippet
from wayhound.search.suggestions import SpellingCorrector, suggest

MOST_YEARS = 100
_EACH_SEGMENT = 2_000  # values that each file may tell of: enough for the sums to be right


def count_facets(
    opened: IndexSnapshot, matching: tantivy.Query, names: Iterable[str], count: int
) -> dict[str, list[tuple[str, int]]]:
    """For each facet its commonest values with their counts; years in order, the newest first."""
    known = {"year", *opened.followed.facets}
    asked = {name: _asked(name, count) for name in dict.fromkeys(names) if name in known}
    if not asked:
        return {}
    told = opened.searcher.aggregate(matching, asked)
    return {name: _told(name, told[name]["buckets"]) for name in asked}


def _asked(name: str, count: int) -> dict[str, Any]:
    if name == "year":
        return {"terms": {"field": "year", "size": MOST_YEARS, "order": {"_key": "desc"}}}
    size = max(1, count)
    return {"terms": {"field": f"facet.{name}", "size": size, "segment_size": max(_EACH_SEGMENT, size)}}


def _told(name: str, buckets: list[dict[str, Any]]) -> list[tuple[str, int]]:
    if name == "year":
        return [(str(int(bucket["key"])), bucket["doc_count"]) for bucket in buckets]
    counted = [(str(bucket["key"])[1:], bucket["doc_count"]) for bucket in buckets]
    return sorted(counted, key=lambda entry: (-entry[1], entry[0]))


MOST_HITS = 1_000  # on one page
SIMILAR_TERMS = 25

_ORDERED_BY: dict[Sort, str] = {
    "cited": "cited", "authority": "authority", "hub": "hub", "newest": "newest", "oldest": "oldest",
    "added": "added",
}  # fmt: skip


class SearchIndex:
    """The reading side of an index. Any thread may ask; what another process commits is seen at once."""

    def __init__(self, folder: Path) -> None:
        self._opener = SnapshotOpener(folder)
        self._guesses = SpellingCorrector()

    @property
    def is_ready(self) -> bool:
        """Whether there is an index at all; without one, everything is answered with nothing."""
        return self._opener.newest() is not None

    @property
    def change(self) -> int:
        """The store's last change that can be found."""
        opened = self._opener.newest()
        return opened.followed.change if opened else 0

    @property
    def document_count(self) -> int:
        opened = self._opener.newest()
        return opened.searcher.num_docs if opened else 0

    @property
    def fields(self) -> tuple[str, ...]:
        """The names that may stand before a colon."""
        return _fields(self._opener.newest())

    @property
    def facet_names(self) -> tuple[str, ...]:
        """The facets that have values."""
        opened = self._opener.newest()
        return ("year", *opened.followed.facets) if opened else ()

    @property
    def has_cited_only(self) -> bool:
        """Whether there is anything that is cited and not held."""
        opened = self._opener.newest()
        return opened is not None and opened.not_held is not None

    def parse(self, text: str) -> Query:
        return parse(text, self.fields)

    def search(self, request: SearchRequest) -> SearchResults:
        started = time.perf_counter()
        opened = self._opener.newest()
        query = parse(request.query, _fields(opened))
        answer = _answer(opened, query, request) if opened else SearchResults(0, (), describe(query))
        if opened and (answer.some_words or answer.total < SpellingCorrector.FEW):
            answer = replace(answer, did_you_mean=self._guesses.better(opened, query))
        return replace(answer, milliseconds=1000 * (time.perf_counter() - started))

    def suggest(self, prefix: str, count: int = 8) -> list[Suggestion]:
        """Authors, topics and titles that go on from what was typed."""
        opened = self._opener.newest()
        return suggest(opened, prefix, count) if opened else []

    def similar(self, kind: str, record_id: str, count: int = 5) -> list[Hit]:
        """Documents that share the words that tell most about one, the most alike first."""
        opened = self._opener.newest()
        address = opened.address(kind, record_id) if opened else None
        if opened is None or address is None:
            return []
        query = opened.held(_alike(opened, opened.shown(address)))
        found = [
            _hit(opened, *hit, Highlighter(frozenset()))
            for hit in opened.searcher.search(query, count + 1).hits
        ]
        return [hit for hit in found if (hit.kind, hit.id) != (kind, record_id)][:count]

    def warm(self) -> None:
        """Do now what the first questions would have to wait for."""
        if opened := self._opener.newest():
            self._guesses.learn(opened)


def _fields(opened: IndexSnapshot | None) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*FIELDS, *(opened.followed.fields if opened else ()))))


@dataclass(frozen=True, slots=True)
class _Found:
    """All that matches, how many that are and how many of them are not held, and the page that was asked for."""

    matching: tantivy.Query
    total: int
    cited_only: int
    hits: list[tuple[Any, tantivy.DocAddress]]


def _answer(opened: IndexSnapshot, query: Query, request: SearchRequest) -> SearchResults:
    found = _find(opened, query, request, every=True)
    wanted = [clause for clause in query.clauses if clause.sign != "-"]
    some_words = not found.total and len(wanted) > 1 and any(map(may_miss, wanted))
    if some_words:
        found = _find(opened, query, request, every=False)
    marker = Highlighter.of(query)
    end = request.offset + len(found.hits)
    return SearchResults(
        found.total,
        tuple(_hit(opened, score, address, marker) for score, address in found.hits),
        describe(query),
        count_facets(opened, found.matching, request.facets, request.facet_values),
        some_words=some_words and found.total > 0,
        next_offset=end if found.hits and end < min(found.total, MAX_DEPTH) else None,
        cited_only=found.cited_only,
    )


def _find(opened: IndexSnapshot, query: Query, request: SearchRequest, *, every: bool) -> _Found:
    """What is held, in the order that was asked for, and after it what is only cited, in the same order."""
    matching, not_held = _matching(opened, query, request, every=every), opened.not_held
    if not_held is None:
        total, hits = _page(opened, matching, request)
        return _Found(matching, total, 0, hits)
    held = opened.held(matching)
    total, hits = _page(opened, held, request)
    if not _asks_for_cited(query, request):
        return _Found(held, total, 0, hits)
    filtered = tantivy.Query.const_score_query(not_held, 0.0)
    cited = tantivy.Query.boolean_query([(tantivy.Occur.Must, matching), (tantivy.Occur.Must, filtered)])
    after = replace(request, offset=request.offset - total, limit=request.limit - len(hits))
    count, more = _page(opened, cited, after)
    return _Found(matching, total + count, count, hits + more)


def _asks_for_cited(query: Query, request: SearchRequest) -> bool:
    """Who asks for nothing in particular wants to see what there is."""
    return any(clause.sign != "-" for clause in query.clauses) or any(
        name == "type" for name, _ in request.filters
    )


def _matching(opened: IndexSnapshot, query: Query, request: SearchRequest, *, every: bool) -> tantivy.Query:
    ranking = opened.ranking
    if topic := _own_topic(request):
        return ranking.by_topic_score(query, request.filters, request.sort, topic, every=every)
    by = ranking.by_log_frequency if request.sort == "log-tf" else ranking.by_bm25
    return by(query, request.filters, every=every)


def _own_topic(request: SearchRequest) -> str:
    """The one topic that was chosen, if hubs or authorities are asked for: it has scores of its own."""
    topics = [value for name, value in request.filters if name == "topic"]
    return topics[0] if request.sort in ("authority", "hub") and len(topics) == 1 else ""


def _page(
    opened: IndexSnapshot, matching: tantivy.Query, request: SearchRequest
) -> tuple[int, list[tuple[Any, tantivy.DocAddress]]]:
    """How many there are, and those of the page that was asked for."""
    offset = max(0, request.offset)
    limit = min(request.limit, MOST_HITS, MAX_DEPTH - offset)
    column = None if _own_topic(request) else _ORDERED_BY.get(request.sort)
    result = opened.searcher.search(
        matching, max(1, limit), offset=min(offset, MAX_DEPTH), order_by_field=column
    )
    return hit_count(result), result.hits[: max(0, limit)]


def _hit(opened: IndexSnapshot, score: Any, address: tantivy.DocAddress, marker: Highlighter) -> Hit:
    shown = opened.shown(address)
    return Hit(
        shown["kind"], shown["id"], shown["title"],
        title_pieces=marked(shown["title"], marker),
        snippet=snippet(shown["text"], marker),
        people=tuple(shown["people"]), venue=shown["venue"], year=shown["year"], site=shown["site"],
        topics=tuple(map(tuple, shown["topics"])),
        cited=shown["cited"], authority=shown["authority"], hub=shown["hub"],
        score=float(score),
    )  # fmt: skip


def _alike(opened: IndexSnapshot, shown: dict[str, Any]) -> tantivy.Query:
    """Any of the document's words with the largest tf · idf, each for what it is worth."""
    make, occur = tantivy.Query, tantivy.Occur
    counts = Counter(terms(f"{shown['title']} {shown['title']} {shown['text']}"))
    worth = {word: (1 + math.log(count)) * _rarity(opened, word) for word, count in counts.items()}
    best = sorted(worth, key=lambda word: (-worth[word], word))[:SIMILAR_TERMS]
    queries = [
        (
            occur.Should,
            make.boost_query(make.term_query(opened.index.schema, field, word, "freq"), worth[word]),
        )
        for word in best
        for field in ("title", "text")
    ]
    return make.boolean_query(queries) if queries else make.empty_query()


def _rarity(opened: IndexSnapshot, word: str) -> float:
    """Inverse document frequency; a word of this document alone is of no use."""
    having = opened.searcher.doc_freq("words", word)
    return math.log(opened.searcher.num_docs / having) if having > 1 else 0.0
