"""Search: the page, its JSON, and what is offered while one types."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse, Response
from pydantic import AfterValidator

from trailmark.organise.search.answer import Suggestion
from trailmark.serve.portal.addresses import field_query, record_url, search_url
from trailmark.serve.portal.library import Library
from trailmark.serve.portal.portal import Portal
from trailmark.serve.portal.search_view import (
    MOST_A_PAGE,
    PAGE_SIZE,
    Asked,
    HitView,
    SearchView,
    read_asked,
    search_view,
)
from trailmark.serve.web.errors import BadRequest
from trailmark.serve.web.pages import answer as sent

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
