"""Search: the page, its JSON, and what is offered while one types."""

from __future__ import annotations

import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any
from urllib.parse import quote_plus, urlencode

from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse, Response
from pydantic import AfterValidator

from wayhound.portal.addresses import field_query, record_url, search_url
from wayhound.portal.library import Library
from wayhound.portal.portal import Portal
from wayhound.portal.topics import TopicMap
from wayhound.record_kinds import KINDS
from wayhound.search.results import (
    FACETS,
    MAX_DEPTH,
    SORTS,
    Fragment,
    Hit,
    SearchRequest,
    SearchResults,
    Sort,
    Suggestion,
)
from wayhound.web.errors import BadRequest
from wayhound.web.pages import answer as sent

PAGE_SIZE = 10
MOST_A_PAGE = 100
MOST_FILTERS = 10
FACET_VALUES = 20
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
FACET_LABELS = {field.name: field.shown for kind in KINDS.values() for field in kind.with_role("facet")} | {
    "topic": "Topic", "year": "Year", "venue": "Venue", "site": "Site", "type": "Type",
}  # fmt: skip

ChosenFilters = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class TopicLink:
    name: str
    url: str


@dataclass(frozen=True, slots=True)
class HitView:
    """A record that was found."""

    kind: str
    id: str
    url: str
    title: str
    title_pieces: tuple[Fragment, ...]
    snippet: tuple[Fragment, ...]
    people: tuple[str, ...]
    venue: str
    year: int | None
    site: str
    topics: tuple[TopicLink, ...]
    cited: int
    authority: float
    hub: float
    score: float


@dataclass(frozen=True, slots=True)
class Choice:
    """Something that may be chosen: a value of a facet, an order, a page."""

    label: str
    url: str
    count: int | None = None
    chosen: bool = False


@dataclass(frozen=True, slots=True)
class Facet:
    name: str
    label: str
    choices: tuple[Choice, ...]


@dataclass(frozen=True, slots=True)
class SearchView:
    """`cursor` asks for the next page; there is none on the last one. `cited_only` of the `total` are not held."""

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
    facets: tuple[Facet, ...]
    hits: tuple[HitView, ...]
    some_words: bool
    did_you_mean: Choice | None
    previous_url: str
    next_url: str
    cursor: str
    feed_url: str
    json_url: str


@dataclass(frozen=True, slots=True)
class Asked:
    """A search as its address puts it."""

    query: str = ""
    sort: Sort = "relevance"
    filters: ChosenFilters = ()
    page: int = 1
    limit: int = PAGE_SIZE

    def request(self, facets: tuple[str, ...] = FACETS) -> SearchRequest:
        offset = min((self.page - 1) * self.limit, MAX_DEPTH)
        return SearchRequest(self.query, self.sort, offset, self.limit, facets, self.filters, FACET_VALUES)

    def url(self, path: str = "/search") -> str:
        """One address for one search: what is as usual is left out, and filters come last."""
        chosen = [("q", self.query)] if self.query or path == "/search" else []
        usual = (("sort", self.sort, "relevance"), ("page", self.page, 1), ("limit", self.limit, PAGE_SIZE))
        chosen += [(name, str(value)) for name, value, normal in usual if value != normal]
        chosen += [("filter", f"{name}:{value}") for name, value in self.filters]
        return f"{path}?{urlencode(chosen)}" if chosen else path


def read_asked(query: str, sort: str, filters: Sequence[str], page: int, limit: int, cursor: str) -> Asked:
    """Take the parameters of an address; what cannot be is told."""
    if sort not in SORTS:
        raise BadRequest(f"sort must be one of {', '.join(SORTS)}.")
    known = next(each for each in SORTS if each == sort)
    if len(filters) > MOST_FILTERS:
        raise BadRequest(f"At most {MOST_FILTERS} filters may be chosen.")
    asked = Asked(query, known, tuple(map(_filter, filters)), page, limit)
    return replace(asked, page=from_cursor(cursor)) if cursor else asked


def _filter(text: str) -> tuple[str, str]:
    name, colon, value = text.partition(":")
    if not (name and colon and value):
        raise BadRequest("filter must be the name of a facet, a colon and a value: filter=year:1999")
    return name, value


def to_cursor(page: int) -> str:
    return urlsafe_b64encode(f"page {page}".encode()).decode().rstrip("=")


def from_cursor(cursor: str) -> int:
    """The page that a cursor stands for."""
    try:
        word, _, number = urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)).decode().partition(" ")
        page = int(number) if word == "page" and len(number) < 7 and number.isdecimal() else 0
    except ValueError:
        page = 0
    if page < 1 or to_cursor(page) != cursor:
        raise BadRequest("cursor is not one that this server gave.")
    return page


def hit_view(hit: Hit, topics: TopicMap) -> HitView:
    nodes = [node for path in hit.topics if (node := topics.of(path))]
    return HitView(
        hit.kind, hit.id, record_url(hit.kind, hit.id), hit.title or hit.id, hit.title_pieces, hit.snippet,
        hit.people, hit.venue, hit.year, hit.site, tuple(TopicLink(node.name, node.url) for node in nodes),
        hit.cited, hit.authority, hit.hub, hit.score,
    )  # fmt: skip


def search_view(asked: Asked, answer: SearchResults, topics: TopicMap) -> SearchView:
    first = replace(asked, page=1)
    reachable = min(answer.total, MAX_DEPTH)
    more = answer.next_offset is not None
    meant = answer.did_you_mean
    return SearchView(
        query=asked.query,
        read_as=answer.read_as,
        total=answer.total,
        cited_only=answer.cited_only,
        milliseconds=round(answer.milliseconds, 2),
        page=asked.page,
        pages=max(1, -(-reachable // asked.limit)),
        sort=asked.sort,
        sorts=tuple(
            Choice(label, replace(first, sort=name).url(), chosen=name == asked.sort)
            for name, label in SORT_LABELS.items()
        ),
        filters=tuple(
            Choice(f"{FACET_LABELS.get(name, _label(name))}: {value}", _without(first, (name, value)).url())
            for name, value in asked.filters
        ),
        facets=tuple(
            _facet(first, name, found)
            for name, found in answer.facets.items()
            if _is_of_use(first, name, found)
        ),
        hits=tuple(hit_view(hit, topics) for hit in answer.hits),
        some_words=answer.some_words,
        did_you_mean=Choice(meant, replace(first, query=meant).url()) if meant else None,
        previous_url=replace(asked, page=asked.page - 1).url() if asked.page > 1 else "",
        next_url=replace(asked, page=asked.page + 1).url() if more else "",
        cursor=to_cursor(asked.page + 1) if more else "",
        feed_url=replace(first, sort="relevance", limit=PAGE_SIZE).url("/search.atom"),
        json_url=asked.url("/search.json"),
    )


def _is_of_use(first: Asked, name: str, found: Sequence[tuple[str, int]]) -> bool:
    """Whether a facet parts the results: it has several values and, if a kind declares it, some record share one."""
    if any(name == chosen for chosen, _ in first.filters):
        return bool(found)
    return len(found) > 1 and (name in FACETS or max(count for _, count in found) > 1)


def _facet(first: Asked, name: str, found: Sequence[tuple[str, int]]) -> Facet:
    here = first.url()  # one more filter is added at its end, which is quicker than putting it all together
    choices = []
    for value, count in found:
        chosen = (name, value) in first.filters
        url = (
            _without(first, (name, value)).url()
            if chosen
            else f"{here}&filter={quote_plus(f'{name}:{value}')}"
        )
        choices.append(Choice(value, url, count, chosen))
    return Facet(name, FACET_LABELS.get(name, _label(name)), tuple(choices))


def _label(name: str) -> str:
    return name.replace("_", " ").capitalize()


def _without(asked: Asked, dropped: tuple[str, str]) -> Asked:
    return replace(asked, filters=tuple(each for each in asked.filters if each != dropped))


_MOST_TYPED = 2_000  # characters that are kept of a query: anything is answered, also a pasted page
_MOST_GUESSED = 200  # characters from which can be guessed how a query goes on

Words = Annotated[
    str,
    AfterValidator(lambda typed: typed[:_MOST_TYPED]),
    Query(description="The query, in the syntax of the search box; its beginning, if it is long."),
]
Typed = Annotated[str, AfterValidator(lambda typed: typed[:_MOST_GUESSED]), Query()]
SortName = Annotated[str, Query(max_length=20, description="relevance, log-tf, cited, authority, hub, …")]
Filters = Annotated[list[str], Query(alias="filter", description="A facet and a value of it: year:1999")]
PageNumber = Annotated[int, Query(ge=1, le=100_000)]
Limit = Annotated[int, Query(ge=1, le=MOST_A_PAGE, description="Hits a page.")]
Cursor = Annotated[str, Query(max_length=40, description="From the answer before, for the next page.")]
FieldNames = Annotated[str, Query(max_length=400, description="Names of fields, with commas between them.")]


@dataclass(frozen=True, slots=True)
class Offer:
    """A suggestion, and where it leads."""

    text: str
    kind: str
    count: int
    url: str


@dataclass(frozen=True, slots=True)
class Offers:
    query: str
    suggestions: tuple[Offer, ...]


def find(library: Library, asked: Asked) -> SearchView:
    answer = library.index.search(asked.request(library.facet_names()))
    return search_view(asked, answer, library.topics())


def offers_for(library: Library, typed: str) -> Offers:
    found = library.index.suggest(typed)
    return Offers(
        typed, tuple(Offer(each.text, each.kind, each.count, _leads_to(library, each)) for each in found)
    )


def _leads_to(library: Library, offer: Suggestion) -> str:
    if offer.kind == "title" and offer.id:
        return record_url(offer.record_kind, offer.id)
    if offer.kind == "topic" and (node := library.topics().named(offer.text)):
        return node.url
    return search_url(field_query(offer.kind, offer.text))


def chosen(view: SearchView, names: list[str]) -> dict[str, Any]:
    """The view with only some fields of each hit."""
    known = set(HitView.__dataclass_fields__)
    if strange := set(names) - known:
        raise BadRequest(f"fields may be {', '.join(sorted(known))}; not {', '.join(sorted(strange))}.")
    kept = ("query", "read_as", "total", "milliseconds", "page", "pages", "sort", "cursor")
    hits = [{name: _plain(getattr(hit, name)) for name in names} for hit in view.hits]
    return {**{name: getattr(view, name) for name in kept}, "hits": hits}


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_plain(each) for each in value]
    fields = getattr(value, "__dataclass_fields__", None)
    return {name: getattr(value, name) for name in fields} if fields else value


def split_names(names: str) -> list[str]:
    return [name for each in names.split(",") if (name := each.strip())]


def search_routes(portal: Portal) -> APIRouter:
    router = APIRouter(tags=["search"])
    readers = portal.readers

    @router.get("/search", response_class=HTMLResponse)
    async def search(
        request: Request, q: Words = "", sort: SortName = "relevance", filters: Filters = [],  # noqa: B006
        page: PageNumber = 1, limit: Limit = PAGE_SIZE,
    ) -> Response:  # fmt: skip
        asked = read_asked(q, sort, filters, page, limit, "")
        view = await readers.ask(lambda library: find(library, asked))
        return portal.html(
            request,
            "search.html",
            view,
            query=q,
            json_url=view.json_url,
            etag_of=(readers.index.change, asked),
        )

    @router.get("/search.json", response_model=SearchView)
    async def search_json(
        request: Request, q: Words = "", sort: SortName = "relevance", filters: Filters = [],  # noqa: B006
        page: PageNumber = 1, limit: Limit = PAGE_SIZE, cursor: Cursor = "", fields: FieldNames = "",
    ) -> Response:  # fmt: skip
        """Hits of a search. `fields` leaves out all but the named fields of each hit."""
        asked = read_asked(q, sort, filters, page, limit, cursor)
        view = await readers.ask(lambda library: find(library, asked))
        if names := split_names(fields):
            body = json.dumps(chosen(view, names), ensure_ascii=False).encode("utf-8", "replace")
            return sent(
                request, body, "application/json", seed=repr((readers.index.change, asked, names)).encode()
            )
        return portal.json(request, view, etag_of=(readers.index.change, asked))

    @router.get("/suggest.json", response_model=Offers)
    async def suggest(request: Request, q: Typed = "") -> Response:
        """Titles, authors and topics that go on from what was typed."""
        return portal.json(request, await readers.ask(lambda library: offers_for(library, q)))

    return router
