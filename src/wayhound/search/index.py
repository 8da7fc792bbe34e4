"""Search the index: hits, facets, suggestions and similar documents."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass, replace
from operator import itemgetter
from pathlib import Path
from typing import Any

from wayhound.search.query import FIELDS, Query, describe, parse
from wayhound.search.ranking import is_optional
from wayhound.search.results import (
    MAX_DEPTH,
    Fragment,
    Highlighter,
    Hit,
    PageReader,
    SearchRequest,
    SearchResults,
    Sort,
    Suggestion,
    best_page,
    highlight,
    snippet,
)
from wayhound.search.schema import CLASS_FACETS, hit_count, record_key, tantivy
from wayhound.search.similar import MOST_SIMILAR, characteristic_words
from wayhound.search.snapshot import IndexSnapshot, SnapshotOpener, Stamp
from wayhound.search.suggestions import FEW_HITS, SpellingCorrector, suggest

MAX_YEARS = 100
QUICK_ENTRIES = 200_000  # of the index, read in some 20 ms
_CLASSES = "type and topic"  # in place of a facet's name, which has no spaces
MAX_CLASSES = 10_000
_COUNT = itemgetter(1)
_PER_SEGMENT = 2_000  # values that each index segment reports; enough for exact sums in practice


def count_facets(
    snapshot: IndexSnapshot, matching: tantivy.Query, names: Iterable[str], count: int
) -> dict[str, list[tuple[str, int]]]:
    """Return the most frequent values of each facet with their counts; years are sorted, the newest first."""
    available = {"year", *snapshot.state.facets}
    wanted = [name for name in dict.fromkeys(names) if name in available]
    columns = dict.fromkeys(_CLASSES if name in CLASS_FACETS else name for name in wanted)
    if not columns:
        return {}
    results = snapshot.searcher.aggregate(matching, {name: _aggregation(name, count) for name in columns})
    counted: dict[str, list[tuple[str, int]]] = {}
    for name in columns:
        buckets = results[name]["buckets"]
        if name == _CLASSES:
            counted |= _class_counts(snapshot, buckets, max(1, count))
        else:
            counted[name] = _values(snapshot, name, buckets)
    return {name: counted[name] for name in wanted}


def _aggregation(name: str, count: int) -> dict[str, Any]:
    if name == "year":
        return {"terms": {"field": "year", "size": MAX_YEARS, "order": {"_key": "desc"}}}
    if name == _CLASSES:
        return {"terms": {"field": "class", "size": MAX_CLASSES, "segment_size": MAX_CLASSES}}
    size = max(1, count)
    return {"terms": {"field": f"code.{name}", "size": size, "segment_size": max(_PER_SEGMENT, size)}}


def _values(snapshot: IndexSnapshot, name: str, buckets: list[dict[str, Any]]) -> list[tuple[str, int]]:
    if name == "year":
        return [(str(int(bucket["key"])), bucket["doc_count"]) for bucket in buckets]
    values = snapshot.facet_values
    return _sorted((values[int(bucket["key"])][1:], bucket["doc_count"]) for bucket in buckets)


def _class_counts(
    snapshot: IndexSnapshot, buckets: list[dict[str, Any]], count: int
) -> dict[str, list[tuple[str, int]]]:
    """Return the most frequent types and topics, which are counted together."""
    types: dict[str, int] = {}
    topics: dict[str, int] = {}
    values_of = snapshot.class_values
    for bucket in buckets:
        number = bucket["doc_count"]
        kind, above = values_of(bucket["key"])
        types[kind] = types.get(kind, 0) + number
        for topic in above:
            topics[topic] = topics.get(topic, 0) + number
    return {"type": _sorted(types.items())[:count], "topic": _most_frequent(topics, count)}


def _most_frequent(numbers: dict[str, int], count: int) -> list[tuple[str, int]]:
    """Return the same as `_sorted`, cut to `count`: only those that may be among them are sorted by name."""
    if len(numbers) > count:
        least = sorted(numbers.values(), reverse=True)[count - 1]
        return _sorted(entry for entry in numbers.items() if entry[1] >= least)[:count]
    return _sorted(numbers.items())


def _sorted(counted: Iterable[tuple[str, int]]) -> list[tuple[str, int]]:
    """Return values with their numbers, the most frequent first, then by name."""
    return sorted(sorted(counted), key=_COUNT, reverse=True)  # a key of both takes longer


MAX_HITS = 1_000  # on one page

_ORDERED_BY: dict[Sort, str] = {
    "cited": "cited", "authority": "authority", "hub": "hub", "newest": "newest", "oldest": "oldest",
    "added": "added",
}  # fmt: skip


class SearchIndex:
    """An index for reading. Threads may share it; commits of other processes are seen at once."""

    def __init__(self, folder: Path, *, read_only: bool = False) -> None:
        """With `read_only`, nothing is written to the folder, not even a lock."""
        self._opener = SnapshotOpener(folder, read_only)
        self._corrector = SpellingCorrector()

    @property
    def is_ready(self) -> bool:
        """True if there is an index; without one, every search is empty."""
        return self._opener.newest() is not None

    @property
    def change(self) -> int:
        """The number of the last record change that is indexed."""
        snapshot = self._opener.newest()
        return snapshot.state.change if snapshot else 0

    @property
    def stamp(self) -> Stamp:
        """A value that differs after every commit."""
        snapshot = self._opener.newest()
        return snapshot.stamp if snapshot else ()

    @property
    def document_count(self) -> int:
        snapshot = self._opener.newest()
        return snapshot.searcher.num_docs if snapshot else 0

    @property
    def fields(self) -> tuple[str, ...]:
        """The names that may be followed by a colon in a query."""
        return _fields(self._opener.newest())

    @property
    def facet_names(self) -> tuple[str, ...]:
        """The facets that have values."""
        snapshot = self._opener.newest()
        return ("year", *snapshot.state.facets) if snapshot else ()

    @property
    def has_cited_only(self) -> bool:
        """True if there are works that are only cited."""
        snapshot = self._opener.newest()
        return snapshot is not None and snapshot.cited_only_query is not None

    def parse(self, text: str) -> Query:
        return parse(text, self.fields)

    def is_quick(self, text: str = "") -> bool:
        """Return True if a search takes a few milliseconds, by how many entries of the index it has to read."""
        snapshot = self._opener.opened or self._opener.newest()
        if snapshot is None:
            return True
        if not self._corrector.is_ready(snapshot):
            return False
        clauses = parse(text, _fields(snapshot)).clauses
        entries = [snapshot.entries(part) for clause in clauses for part in clause.any_of]
        return sum(entries) <= QUICK_ENTRIES if entries else snapshot.searcher.num_docs <= QUICK_ENTRIES

    def search(self, request: SearchRequest, read_pages: PageReader | None = None) -> SearchResults:
        """Return a page of results. With `read_pages`, snippets of words that only the body has are from the body."""
        started = time.perf_counter()
        snapshot = self._opener.newest()
        query = parse(request.query, _fields(snapshot))
        results = (
            _search(snapshot, query, request, read_pages)
            if snapshot
            else SearchResults(0, (), describe(query))
        )
        if snapshot and (results.some_words or results.total < FEW_HITS):
            results = replace(results, did_you_mean=self._corrector.correct(snapshot, query))
        change = snapshot.state.change if snapshot else 0
        return replace(results, change=change, milliseconds=1000 * (time.perf_counter() - started))

    def suggest(self, prefix: str, count: int = 8) -> list[Suggestion]:
        """Return authors, topics and titles that complete what was typed."""
        snapshot = self._opener.newest()
        return suggest(snapshot, prefix, count) if snapshot else []

    def similar(self, kind: str, record_id: str, count: int = 5) -> list[Hit]:
        """Return documents that share the most characteristic words of one, the most similar first."""
        snapshot = self._opener.newest()
        address = snapshot.address(kind, record_id) if snapshot else None
        if snapshot is None or address is None or count < 1:
            return []
        shown = snapshot.shown(address)
        known = _known_similar(snapshot, shown, count)
        if known is not None:
            return known
        query = snapshot.in_collection(_similar_query(snapshot, shown))
        found = snapshot.searcher.search(query, count + 1, count=False).hits
        others = [hit for hit in found if hit[1] != address][:count]
        return [_hit(snapshot, *hit, Highlighter(frozenset())) for hit in others]

    def warm(self) -> None:
        """Load what the first searches would otherwise wait for."""
        if snapshot := self._opener.newest():
            self._corrector.spelling(snapshot)


def _fields(snapshot: IndexSnapshot | None) -> tuple[str, ...]:
    return snapshot.fields if snapshot else FIELDS


@dataclass(frozen=True, slots=True)
class _Matches:
    """The number of documents that match and of those only cited, and one page of them."""

    total: int
    cited_only: int
    hits: list[tuple[Any, tantivy.DocAddress]]


def _search(
    snapshot: IndexSnapshot, query: Query, request: SearchRequest, read_pages: PageReader | None
) -> SearchResults:
    matches = _find(snapshot, query, request, every=True)
    wanted = [clause for clause in query.clauses if clause.sign != "-"]
    some_words = not matches.total and len(wanted) > 1 and any(map(is_optional, wanted))
    if some_words:
        matches = _find(snapshot, query, request, every=False)
    highlighter = Highlighter.from_query(query)
    end = max(0, request.offset) + len(matches.hits)
    return SearchResults(
        matches.total,
        tuple(_hit(snapshot, score, address, highlighter, read_pages) for score, address in matches.hits),
        describe(query),
        _facets(snapshot, query, request, every=not some_words),
        some_words=some_words and matches.total > 0,
        next_offset=end if matches.hits and end < min(matches.total, MAX_DEPTH) else None,
        cited_only=matches.cited_only,
    )


def _find(snapshot: IndexSnapshot, query: Query, request: SearchRequest, *, every: bool) -> _Matches:
    """Return one page of matches: records of the collection first, then works that are only cited."""
    request = _within_depth(request)
    matching, cited_only = _matching(snapshot, query, request, every=every), snapshot.cited_only_query
    if cited_only is None:
        total, hits = _page(snapshot, matching, request)
        return _Matches(total, 0, hits)
    in_collection = snapshot.in_collection(matching)
    total, hits = _page(snapshot, in_collection, request)
    if not _includes_cited(query, request):
        return _Matches(total, 0, hits)
    filtered = tantivy.Query.const_score_query(cited_only, 0.0)
    cited = tantivy.Query.boolean_query([(tantivy.Occur.Must, matching), (tantivy.Occur.Must, filtered)])
    after = replace(request, offset=request.offset - total, limit=request.limit - len(hits))
    count, more = _page(snapshot, cited, after)
    return _Matches(total + count, count, hits + more)


def _within_depth(request: SearchRequest) -> SearchRequest:
    """Return the request for the part of its page that can be shown."""
    offset = min(max(0, request.offset), MAX_DEPTH)
    return replace(request, offset=offset, limit=max(0, min(request.limit, MAX_HITS, MAX_DEPTH - offset)))


def _facets(
    snapshot: IndexSnapshot, query: Query, request: SearchRequest, *, every: bool
) -> dict[str, list[tuple[str, int]]]:
    """Return the facets of all matches."""
    if not request.facets:
        return {}
    matching = snapshot.ranking.by_presence(query, request.filters, every=every)
    if not _includes_cited(query, request):
        matching = snapshot.in_collection(matching)
    return count_facets(snapshot, matching, request.facets, request.facet_values)


def _includes_cited(query: Query, request: SearchRequest) -> bool:
    """Return True if works that are only cited belong to the results.

    Without any words or a filter by type, the request is to browse the collection itself.
    """
    return any(clause.sign != "-" for clause in query.clauses) or any(
        name == "type" for name, _ in request.filters
    )


def _matching(snapshot: IndexSnapshot, query: Query, request: SearchRequest, *, every: bool) -> tantivy.Query:
    ranking = snapshot.ranking
    if topic := _scoring_topic(request):
        return ranking.by_topic_score(query, request.filters, request.sort, topic, every=every)
    by = ranking.by_log_frequency if request.sort == "log-tf" else ranking.by_bm25
    return by(query, request.filters, every=every)


def _scoring_topic(request: SearchRequest) -> str:
    """Return the topic whose own hub or authority scores order the results, or an empty text."""
    topics = [value for name, value in request.filters if name == "topic"]
    return topics[0] if request.sort in ("authority", "hub") and len(topics) == 1 else ""


def _page(
    snapshot: IndexSnapshot, matching: tantivy.Query, request: SearchRequest
) -> tuple[int, list[tuple[Any, tantivy.DocAddress]]]:
    """Return the number of matches, and those of the requested page."""
    column = None if _scoring_topic(request) else _ORDERED_BY.get(request.sort)
    result = snapshot.searcher.search(
        matching, max(1, request.limit), offset=max(0, request.offset), order_by_field=column
    )
    return hit_count(result), result.hits[: request.limit]


def _hit(
    snapshot: IndexSnapshot,
    score: Any,
    address: tantivy.DocAddress,
    highlighter: Highlighter,
    read_pages: PageReader | None = None,
) -> Hit:
    shown = snapshot.shown(address)
    page, passage = _passage(shown, highlighter, read_pages)
    return Hit(
        shown["kind"], shown["id"], shown["title"],
        title_pieces=highlight(shown["title"], highlighter),
        snippet=passage, page=page, file=shown.get("file", ""),
        people=tuple(shown["people"]), venue=shown["venue"], year=shown["year"], site=shown["site"],
        topics=tuple(map(tuple, shown["topics"])),
        cited=shown["cited"], authority=shown["authority"], hub=shown["hub"],
        score=float(score),
    )  # fmt: skip


def _passage(
    shown: dict[str, Any], highlighter: Highlighter, read_pages: PageReader | None
) -> tuple[int | None, tuple[Fragment, ...]]:
    """Return the page and the passage that show best why a record matched; no page if it is from the abstract."""
    own = (shown["text"], shown["title"], *shown["people"], shown["venue"])
    if read_pages and shown.get("file") and (missing := highlighter.missing(own)):
        pages = read_pages(shown["kind"], shown["id"])
        best = best_page(pages, missing)
        if best is not None:
            return best + 1, snippet(pages[best], highlighter)
    return None, snippet(shown["text"], highlighter)


def _similar_query(snapshot: IndexSnapshot, shown: dict[str, Any]) -> tantivy.Query:
    """Return a query for the words of a document with the largest tf · idf, weighted by it."""
    make, occur, schema = tantivy.Query, tantivy.Occur, snapshot.index.schema
    queries = [
        (occur.Should, make.boost_query(make.term_query(schema, field, word, "freq"), -weight))
        for weight, word in characteristic_words(snapshot, shown)
        for field in ("title", "text")
        if field == "text" or snapshot.searcher.doc_freq(field, word)  # cheaper than a search for nothing
    ]
    return make.boolean_query(queries) if queries else make.empty_query()


def _known_similar(snapshot: IndexSnapshot, shown: dict[str, Any], count: int) -> list[Hit] | None:
    """Return what was found similar when all documents were compared; None if it has to be searched for."""
    scores = snapshot.similar.of(shown) if snapshot.similar and count <= MOST_SIMILAR else None
    if scores is None:
        return None
    make, occur, schema = tantivy.Query, tantivy.Occur, snapshot.index.schema
    keys = [(occur.Should, make.term_query(schema, "key", key, "basic")) for key in scores]
    found = snapshot.searcher.search(make.boolean_query(keys), len(keys), count=False).hits if keys else []
    if len(found) < len(scores):  # one of them was removed
        return None
    hits = [_hit(snapshot, 0.0, address, Highlighter(frozenset())) for _, address in found]
    for hit in hits:
        hit.score = scores.get(record_key(hit.kind, hit.id), 0.0)
    order = list(scores)
    return sorted(hits, key=lambda hit: order.index(record_key(hit.kind, hit.id)))[:count]
