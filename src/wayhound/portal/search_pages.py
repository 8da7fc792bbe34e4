"""Search: the results page, its JSON, and suggestions while one types."""

from __future__ import annotations

import json
import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from html import escape
from typing import Annotated, Any
from urllib.parse import quote_plus, unquote_plus

from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse, Response
from markupsafe import Markup
from pydantic import AfterValidator
from starlette.types import Scope

from wayhound.portal.addresses import field_query, record_url, search_url
from wayhound.portal.exports import LIST_FORMATS
from wayhound.portal.library import Library, PageMaker, TopicMap
from wayhound.portal.places import PlaceMap, place_map, places_of
from wayhound.portal.portal import Choice, FieldNames, HitView, Portal, TopicLink, YearBar, split_names
from wayhound.record import Record
from wayhound.record_kinds import PAPERS_AND_DOCUMENTS
from wayhound.search.results import (
    FACETS,
    MAX_DEPTH,
    SORTS,
    Hit,
    SearchRequest,
    SearchResults,
    Sort,
    Suggestion,
)
from wayhound.web.pages import BadRequest, RenderedPage, answer

PAGE_SIZE = 10
MOST_A_PAGE = 100
MOST_FILTERS = 10
FACET_VALUES, _SHOWN_VALUES = 20, 8  # of a facet, and those that are not folded away
SORT_LABELS: dict[Sort, str] = {
    "relevance": "relevance",
    "log-tf": "word frequency",
    "cited": "citations",
    "authority": "seminal",
    "hub": "survey",
    "newest": "newest",
    "oldest": "oldest",
    "added": "last added",
}
_SORTS_OF_PAPERS: frozenset[Sort] = frozenset({"cited", "authority", "hub"})
_SORTS_BY_DATE: frozenset[Sort] = frozenset({"newest", "oldest"})

_FEWEST_YEARS, _MOST_BARS = 3, 40
_SOME_YEARS = "0000..0000"
_YEARS_IN_QUERY = re.compile(r"(?<!\S)year:\S+")
_quoted = lru_cache(maxsize=20_000)(quote_plus)  # the values of facets recur on every page
FilterPairs = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class FacetView:
    name: str
    label: str
    choices: tuple[Choice, ...]
    all_url: str  # the page that lists all values; empty if these are all


@dataclass(frozen=True, slots=True)
class SearchView:
    """`cursor` requests the next page; the last one has none. `cited_only` of the `total` are not held."""

    query: str
    read_as: str
    total: int
    cited_only: int
    milliseconds: float
    page: int
    pages: int
    sort: str
    sorts: tuple[Choice, ...]
    filters: tuple[Choice, ...]
    facets: tuple[FacetView, ...]
    years: tuple[YearBar, ...]
    hits: tuple[HitView, ...]
    map: PlaceMap | None
    some_words: bool
    did_you_mean: Choice | None
    previous_url: str
    next_url: str
    cursor: str
    feed_url: str
    citation_urls: dict[str, str]  # of its papers, by the name of the format; without results none
    json_url: str


@dataclass(frozen=True, slots=True)
class SearchParameters:
    """A search as its address states it."""

    query: str = ""
    sort: Sort = "relevance"
    filters: FilterPairs = ()
    page: int = 1
    limit: int = PAGE_SIZE

    def request(self, facets: tuple[str, ...] = FACETS) -> SearchRequest:
        offset = min((self.page - 1) * self.limit, MAX_DEPTH)
        return SearchRequest(
            self.query, self.sort, offset, self.limit, facets, self.filters, facet_values=FACET_VALUES
        )

    def url(self, path: str = "/search", sort: Sort | None = None, page: int = 0, limit: int = 0) -> str:
        """Return one address for one search, or for another order, page or length of it.

        Defaults are left out, and filters come last.
        """
        sort, page, limit = sort or self.sort, page or self.page, limit or self.limit
        parts = [f"q={_quoted(self.query)}"] if self.query or path == "/search" else []
        if sort != "relevance":
            parts.append(f"sort={sort}")
        if page != 1:
            parts.append(f"page={page}")
        if limit != PAGE_SIZE:
            parts.append(f"limit={limit}")
        parts += [f"filter={_quoted(f'{name}:{value}')}" for name, value in self.filters]
        return f"{path}?{'&'.join(parts)}" if parts else path

    def without(self, dropped: tuple[str, str]) -> SearchParameters:
        return replace(self, filters=tuple(pair for pair in self.filters if pair != dropped))


def read_parameters(
    query: str, sort: str, filters: Sequence[str], *, page: int = 1, limit: int = PAGE_SIZE, cursor: str = ""
) -> SearchParameters:
    """Read the parameters of an address. Raises BadRequest for values that cannot be."""
    if sort not in SORTS:
        raise BadRequest(f"sort must be one of {', '.join(SORTS)}.")
    order = next(name for name in SORTS if name == sort)
    if len(filters) > MOST_FILTERS:
        raise BadRequest(f"At most {MOST_FILTERS} filters may be chosen.")
    parameters = SearchParameters(query, order, tuple(map(_filter, filter(None, filters))), page, limit)
    return replace(parameters, page=from_cursor(cursor)) if cursor else parameters


def _filter(text: str) -> tuple[str, str]:
    name, colon, value = text.partition(":")
    if not (name and colon and value):
        raise BadRequest("filter must be the name of a facet, a colon and a value: filter=year:1999")
    return name, value


def to_cursor(page: int) -> str:
    return urlsafe_b64encode(f"page {page}".encode()).decode().rstrip("=")


def from_cursor(cursor: str) -> int:
    """Return the page that a cursor stands for. Raises BadRequest for a cursor that is not ours."""
    try:
        word, _, number = urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)).decode().partition(" ")
        page = int(number) if word == "page" and len(number) < 7 and number.isdecimal() else 0
    except ValueError:
        page = 0
    if page < 1 or to_cursor(page) != cursor:
        raise BadRequest("cursor is not one that this server gave.")
    return page


def hit_views(hits: Iterable[Hit], library: Library) -> tuple[HitView, ...]:
    topics, found = library.topics(), tuple(hits)
    labels = {kind: library.spec(kind).label for kind in {hit.kind for hit in found}}
    return tuple([_hit_view(hit, topics, labels[hit.kind]) for hit in found])


def _hit_view(hit: Hit, topics: TopicMap, label: str) -> HitView:
    nodes = [node for path in hit.topics if (node := topics.by_path(path))]
    url = record_url(hit.kind, hit.id)
    return HitView(
        kind=hit.kind,
        kind_label=label,
        id=hit.id,
        url=url,
        title=hit.title or hit.id,
        title_pieces=hit.title_pieces,
        snippet=hit.snippet,
        page=hit.page,
        file=hit.file,
        file_url=f"{url}/archived" if hit.file else "",
        people=hit.people,
        venue=hit.venue,
        year=hit.year,
        site=hit.site,
        topics=tuple([TopicLink(node.name, node.url) for node in nodes]),
        cited=hit.cited,
        authority=hit.authority,
        hub=hit.hub,
        score=hit.score,
    )


def find(library: Library, parameters: SearchParameters) -> SearchView:
    return search_view(parameters, search_results(library, parameters), library)


def search_results(library: Library, parameters: SearchParameters) -> SearchResults:
    request = parameters.request(library.facet_names())
    return library.index.search(request, lambda _kind, name: library.stores.documents.pages(name))


def search_view(parameters: SearchParameters, results: SearchResults, library: Library) -> SearchView:
    first = replace(parameters, page=1)
    facets = [_facet(library, first, *facet) for facet in _useful_facets(first, results)]
    return replace(_without_facets(parameters, results, library), facets=tuple(facets))


def _without_facets(parameters: SearchParameters, results: SearchResults, library: Library) -> SearchView:
    """Return the view of some results but for their facets, which a page has as markup."""
    first = parameters if parameters.page == 1 else replace(parameters, page=1)
    reachable = min(results.total, MAX_DEPTH)
    more = results.next_offset is not None
    meant = results.did_you_mean
    return SearchView(
        query=parameters.query,
        read_as=results.read_as,
        total=results.total,
        cited_only=results.cited_only,
        milliseconds=round(results.milliseconds, 2),
        page=parameters.page,
        pages=max(1, -(-reachable // parameters.limit)),
        sort=parameters.sort,
        sorts=tuple(
            Choice(SORT_LABELS[name], first.url(sort=name), chosen=name == parameters.sort)
            for name in offered_sorts(library, parameters.sort)
        ),
        filters=tuple(_filter_choice(library, first, *pair) for pair in parameters.filters),
        facets=(),
        years=year_bars(first, results.facets.get("year", ())),
        hits=hit_views(results.hits, library),
        map=hit_map(library, results.hits),
        some_words=results.some_words,
        did_you_mean=Choice(meant, replace(first, query=meant).url()) if meant else None,
        previous_url=parameters.url(page=parameters.page - 1) if parameters.page > 1 else "",
        next_url=parameters.url(page=parameters.page + 1) if more else "",
        cursor=to_cursor(parameters.page + 1) if more else "",
        feed_url=first.url("/search.atom", "relevance", limit=PAGE_SIZE),
        citation_urls={
            name: first.url(f"/search.{ending}", limit=PAGE_SIZE)
            for ending, name, _ in LIST_FORMATS
            if results.total and any(kind in library.counts() for kind in PAPERS_AND_DOCUMENTS)
        },
        json_url=parameters.url("/search.json"),
    )


def hit_map(library: Library, hits: Iterable[Hit], here: Record | None = None) -> PlaceMap | None:
    """Return a map of the records found, and of the one that is `here`, where their pages state coordinates."""
    found = [(hit.kind, hit.id, hit.title) for hit in hits]
    if here is not None:
        found = [(here.kind, here.id, library.title(here)), *found]
    kinds = {kind for kind, _, _ in found}
    placed = {kind for kind in kinds if any(f.name == "coordinates" for f in library.spec(kind).fields)}
    if not placed:
        return None
    places = places_of(
        (library.find(kind, record_id), title, record_url(kind, record_id))
        for kind, record_id, title in found
        if kind in placed
    )
    return place_map(places, record_url(here.kind, here.id) if here else "")


def offered_sorts(library: Library, chosen: Sort = "relevance") -> list[Sort]:
    """Return the orders that part the records of this collection: without papers, nothing is cited."""
    kinds = library.counts()
    has_dates = any(library.spec(kind).with_role("date") for kind in kinds)
    useless = (frozenset() if "paper" in kinds else _SORTS_OF_PAPERS) | (
        frozenset() if has_dates else _SORTS_BY_DATE
    )
    return [name for name in SORT_LABELS if name not in useless or name == chosen]


def _is_useful(first: SearchParameters, name: str, values: Sequence[tuple[str, int]]) -> bool:
    """Return True if a facet parts the results: it has several values, and of a declared one some records share."""
    if any(name == chosen for chosen, _ in first.filters):
        return bool(values)
    return len(values) > 1 and (name in FACETS or max(count for _, count in values) > 1)


def _useful_facets(
    first: SearchParameters, results: SearchResults
) -> list[tuple[str, Sequence[tuple[str, int]]]]:
    return [facet for facet in results.facets.items() if _is_useful(first, *facet)]


def _facet(
    library: Library, first: SearchParameters, name: str, values: Sequence[tuple[str, int]]
) -> FacetView:
    here = first.url()  # one more filter is added at its end, which is quicker than putting it all together
    choices = []
    for value, count in values:
        chosen = (name, value) in first.filters
        url = first.without((name, value)).url() if chosen else here + _one_more(name, value)
        choices.append(Choice(value, url, count, chosen, value_text(library, name, value)))
    return FacetView(name, library.facet_label(name), tuple(choices), _all_url(first, name, values))


@lru_cache(maxsize=20_000)
def _one_more(name: str, value: str) -> str:
    """Return the end of an address that has one more filter. Of what markup reserves, it has `&` alone."""
    return f"&filter={quote_plus(f'{name}:{value}')}"


def _all_url(first: SearchParameters, name: str, values: Sequence[tuple[str, int]]) -> str:
    return f"/browse/{name}" if len(values) >= FACET_VALUES and not (first.query or first.filters) else ""


def drawn_facets(library: Library, first: SearchParameters, results: SearchResults) -> Markup:
    """Return the facets as lists of links, the same as `_facet` has: a page has a hundred, so no objects are made."""
    here = first.url().replace("&", "&amp;")
    sections = [
        _drawn_facet(library, first, here, f"facet-{number}", facet)
        for number, facet in enumerate(_useful_facets(first, results), 1)
    ]
    return Markup("".join(sections))  # noqa: S704 - every text in it is escaped


def _drawn_facet(
    library: Library, first: SearchParameters, here: str, place: str, facet: tuple[str, Sequence[tuple[str, int]]]
) -> str:  # fmt: skip
    name, values = facet
    drawn = partial(_drawn_kind, library) if name == "type" else _drawn_value
    chosen = {value for chosen, value in first.filters if chosen == name}
    items = [
        _drawn_chosen(library, first, (name, value), count)
        if value in chosen
        else f'<li><a href="{here}{drawn(name, value)}{count:,}</span></li>'
        for value, count in values
    ]
    label, all_url = escape(library.facet_label(name)), _all_url(first, name, values)
    more = (
        f'<details><summary class="small">{len(items) - _SHOWN_VALUES} more<span class="unseen"> of {label}</span>'
        f'</summary><ul class="plain">\n{"".join(items[_SHOWN_VALUES:])}\n</ul></details>\n'
        if len(items) > _SHOWN_VALUES
        else ""
    )
    all_values = (
        f'<p class="small"><a href="{escape(all_url)}">All values<span class="unseen"> of {label}</span></a></p>\n'
        if all_url
        else ""
    )
    return (
        f'<section aria-labelledby="{place}">\n<h2 id="{place}">{label}</h2>\n<ul class="plain">\n'
        f"{''.join(items[:_SHOWN_VALUES])}\n</ul>\n{more}{all_values}</section>\n"
    )


@lru_cache(maxsize=20_000)
def _drawn_value(name: str, value: str, text: str = "") -> str:
    """Return the link of a value, from where the address of the page ends to where the count begins."""
    shown = text or (_last_name(value) if name == "topic" else value)
    return f'{escape(_one_more(name, value))}" rel="nofollow">{escape(shown)}</a> <span class="count">'


def _drawn_kind(library: Library, name: str, value: str) -> str:
    return _drawn_value(name, value, value_text(library, name, value))


def _drawn_chosen(library: Library, first: SearchParameters, pair: tuple[str, str], count: int) -> str:
    url, text = first.without(pair).url(), value_text(library, *pair)
    return (
        f'<li class="on"><a href="{escape(url)}" rel="nofollow">{escape(text)}</a> '
        f'<span class="count">{count:,}</span></li>'
    )


def year_bars(first: SearchParameters, counted: Sequence[tuple[str, int]]) -> tuple[YearBar, ...]:
    """Return a bar for every year from the first to the last, empty ones too; none for fewer than three years.

    A bar adds its years to the query, so that a range is one step away from a year.
    """
    counts = {int(year): count for year, count in counted}
    if len(counts) < _FEWEST_YEARS:
        return ()
    earliest, latest = min(counts), max(counts)
    width = -(-(latest - earliest + 1) // _MOST_BARS)
    spans = [(start, min(start + width - 1, latest)) for start in range(earliest, latest + 1, width)]
    totals = [0] * len(spans)
    for year, count in counts.items():
        totals[(year - earliest) // width] += count
    rest, tallest = _YEARS_IN_QUERY.sub("", first.query).strip(), max(totals)
    # One address with a year in it serves as the pattern of all: forty would be quoted one by one.
    before, _, after = replace(first, query=f"{rest} year:{_SOME_YEARS}".strip()).url().partition(_SOME_YEARS)
    bars = []
    for (start, end), total in zip(spans, totals, strict=True):
        years = str(start) if start == end else f"{start}..{end}"
        bars.append(
            YearBar(years.replace("..", "–"), total, -(-100 * total // tallest), before + years + after)
        )
    return tuple(bars)


def value_text(library: Library, facet: str, value: str) -> str:
    """Return what people read for a value of a facet: the last name of a topic's path, the label of a kind."""
    if facet == "topic":
        return _last_name(value)
    return library.spec(value).label if facet == "type" else value


def _last_name(topic: str) -> str:
    return topic.rsplit(" › ", 1)[-1]


def _filter_choice(library: Library, first: SearchParameters, name: str, value: str) -> Choice:
    shown = library.spec(value).label if name == "type" else value
    return Choice(f"{library.facet_label(name)}: {shown}", first.without((name, value)).url())


_MOST_TYPED = 2_000  # characters that are read of a query; a pasted page is answered too
_MOST_COMPLETED = 200  # characters from which completions are looked up

Words = Annotated[
    str,
    AfterValidator(lambda typed: typed[:_MOST_TYPED]),
    Query(description="The query, in the syntax of the search box; if it is long, its beginning."),
]
Prefix = Annotated[str, AfterValidator(lambda typed: typed[:_MOST_COMPLETED]), Query()]
SortName = Annotated[str, Query(max_length=20, description="relevance, log-tf, cited, authority, hub, …")]
FilterList = Annotated[list[str], Query(alias="filter", description="A facet and a value of it: year:1999")]
PageNumber = Annotated[int, Query(ge=1, le=100_000)]
Limit = Annotated[int, Query(ge=1, le=MOST_A_PAGE, description="Hits on a page.")]
Cursor = Annotated[str, Query(max_length=40, description="From the previous answer, for the next page.")]


@dataclass(frozen=True, slots=True)
class SuggestionView:
    """A suggestion, and the address that it leads to."""

    text: str
    kind: str
    count: int
    url: str


@dataclass(frozen=True, slots=True)
class SuggestionList:
    query: str
    suggestions: tuple[SuggestionView, ...]


def suggestions_for(library: Library, typed: str) -> SuggestionList:
    shown = (
        SuggestionView(suggestion.text, suggestion.kind, suggestion.count, _target(library, suggestion))
        for suggestion in library.index.suggest(typed)
    )
    return SuggestionList(typed, tuple(shown))


def _target(library: Library, suggestion: Suggestion) -> str:
    if suggestion.kind == "title" and suggestion.id:
        return record_url(suggestion.record_kind, suggestion.id)
    if suggestion.kind == "topic" and (node := library.topics().by_name(suggestion.text)):
        return node.url
    return search_url(field_query(suggestion.kind, suggestion.text))


def with_fields(view: SearchView, names: list[str]) -> dict[str, Any]:
    """Return the view with only some fields of each hit."""
    allowed = set(HitView.__dataclass_fields__)
    if unknown := set(names) - allowed:
        raise BadRequest(f"fields may be {', '.join(sorted(allowed))}; not {', '.join(sorted(unknown))}.")
    head = ("query", "read_as", "total", "milliseconds", "page", "pages", "sort", "cursor")
    hits = [{name: _plain(getattr(hit, name)) for name in names} for hit in view.hits]
    return {**{name: getattr(view, name) for name in head}, "hits": hits}


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    fields = getattr(value, "__dataclass_fields__", None)
    return {name: getattr(value, name) for name in fields} if fields else value


def _plain_query(scope: Scope) -> str | None:
    """Return the query of an address that has nothing else, as the search box makes it; None for any other."""
    name, _, value = scope["query_string"].partition(b"=")
    if name != b"q" or b"&" in value:
        return None
    return unquote_plus(value.decode("latin-1"))[:_MOST_TYPED]


def search_routes(portal: Portal) -> APIRouter:
    router = APIRouter(tags=["search"])
    readers = portal.readers

    def page_of(parameters: SearchParameters) -> PageMaker:
        def rendered(library: Library) -> RenderedPage:
            results = search_results(library, parameters)
            view, etag_of = _without_facets(parameters, results, library), (results.change, parameters)
            values = {"query": parameters.query, "json_url": view.json_url}
            facets = drawn_facets(library, replace(parameters, page=1), results)
            return portal.pages.rendered("search.html", etag_of=etag_of, view=view, facets=facets, **values)

        return rendered

    def quick_page(scope: Scope) -> PageMaker | None:
        query = _plain_query(scope) if scope["path"] == "/search" else None
        return (
            None if query is None or not readers.index.is_quick(query) else page_of(SearchParameters(query))
        )

    portal.quick["search"] = quick_page

    @router.get("/search", response_class=HTMLResponse)
    async def search(
        request: Request, q: Words = "", sort: SortName = "relevance", filters: FilterList = [],  # noqa: B006
        page: PageNumber = 1, limit: Limit = PAGE_SIZE,
    ) -> Response:  # fmt: skip
        parameters = read_parameters(q, sort, filters, page=page, limit=limit)
        if page == 1:
            portal.log_query(q)
        is_quick = readers.index.is_quick(q)
        return (await readers.page(request.scope, page_of(parameters), is_quick=is_quick)).answer(request)

    @router.get("/search.json", response_model=SearchView)
    async def search_json(
        request: Request, q: Words = "", sort: SortName = "relevance", filters: FilterList = [],  # noqa: B006
        page: PageNumber = 1, limit: Limit = PAGE_SIZE, cursor: Cursor = "", fields: FieldNames = "",
    ) -> Response:  # fmt: skip
        """Hits of a search. `fields` leaves out all but the named fields of each hit."""
        parameters = read_parameters(q, sort, filters, page=page, limit=limit, cursor=cursor)
        view = await readers.run(lambda library: find(library, parameters))
        if names := split_names(fields):
            body = json.dumps(with_fields(view, names), ensure_ascii=False).encode("utf-8", "replace")
            seed = repr((readers.index.change, parameters, names)).encode()
            return answer(request, body, "application/json", seed=seed)
        return portal.json(request, view, etag_of=(readers.index.change, parameters))

    @router.get("/suggest.json", response_model=SuggestionList)
    async def suggest(request: Request, q: Prefix = "") -> Response:
        """Titles, authors and topics that complete what was typed."""
        return portal.json(request, await readers.run(lambda library: suggestions_for(library, q)))

    return router
