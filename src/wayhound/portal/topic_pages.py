"""Topics: their place in the tree, the topics below, and their papers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice
from typing import Annotated, Any

from fastapi import APIRouter, Path, Request
from fastapi.responses import HTMLResponse, Response
from starlette.types import Scope

from wayhound.portal.home import TopicCount, topic_counts
from wayhound.portal.library import Library, PageMaker, TopicNode
from wayhound.portal.portal import Choice, HitView, Portal, TopicLink
from wayhound.portal.search_pages import (
    PAGE_SIZE,
    Limit,
    PageNumber,
    SearchParameters,
    SortName,
    hit_views,
)
from wayhound.record_kinds import PAPERS_AND_DOCUMENTS
from wayhound.search.results import SearchRequest, Sort
from wayhound.search.schema import TOPIC_SEPARATOR
from wayhound.web.pages import BadRequest, NotFound
from wayhound.wording.papers import papers_and_documents

SORTS: dict[Sort, tuple[str, str]] = {
    "cited": ("citations", "Most cited by papers of this collection first."),
    "authority": ("seminal", "Papers that good surveys cite first: by authority among the papers here (HITS)."),
    "hub": ("survey", "Papers that cite many seminal ones first: by hub score among the papers here (HITS)."),
    "newest": ("newest", "The latest years first."),
    "added": ("last added", "The last additions to the collection first."),
}  # fmt: skip

_ALL = tuple(("type", kind) for kind in PAPERS_AND_DOCUMENTS)
_FIRST_PAGES = frozenset(map(str, range(1, 100)))

TopicSlug = Annotated[str, Path(max_length=1000, description="As in the addresses of topic pages.")]


@dataclass(frozen=True, slots=True)
class TopicView:
    name: str
    path: tuple[str, ...]
    url: str
    count: int  # papers and other documents
    documents: int  # the others alone
    counted: str  # both in words
    above: tuple[TopicLink, ...]
    children: tuple[TopicCount, ...]
    nowhere: int  # papers and other documents under no topic; given for the whole tree
    nowhere_counted: str
    sort: str
    sort_meaning: str
    sorts: tuple[Choice, ...]
    hits: tuple[HitView, ...]
    total: int
    page: int
    pages: int
    previous_url: str
    next_url: str
    feed_url: str
    json_url: str


def topic_filter(path: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    return (("topic", TOPIC_SEPARATOR.join(path)),) if path else _ALL


def topic_view(library: Library, slug: str, sort: str, page: int, limit: int) -> TopicView:
    topics = library.topics()
    node = topics.at(slug)
    if node is None:
        raise NotFound("There is no such topic. It may have been renamed; look for it in the topic tree.")
    if sort not in SORTS:
        raise BadRequest(f"sort must be one of {', '.join(SORTS)}.")
    order = next(name for name in SORTS if name == sort)
    request = SearchRequest("", order, (page - 1) * limit, limit, (), topic_filter(node.path))
    results = library.index.search(request)
    here = SearchParameters(sort=order, page=page, limit=limit)
    nowhere, others = (0, 0) if node.path else (topics.unplaced, topics.unplaced_documents)
    return TopicView(
        name=node.name,
        path=node.path,
        url=node.url,
        count=node.count,
        documents=node.documents,
        counted=papers_and_documents(node.count - node.documents, node.documents),
        above=tuple(TopicLink(topic.name, topic.url) for topic in topics.above(node)[:-1]),
        children=topic_counts(node, 1 if node.path else 2),
        nowhere=nowhere,
        nowhere_counted=papers_and_documents(nowhere - others, others),
        sort=sort,
        sort_meaning=SORTS[order][1],
        sorts=tuple(_sort_choice(node, name, label, name == sort) for name, (label, _) in SORTS.items()),
        hits=hit_views(results.hits, library),
        total=results.total,
        page=page,
        pages=max(1, -(-results.total // limit)),
        previous_url=_url(node, replace(here, page=page - 1)) if page > 1 else "",
        next_url=_url(node, replace(here, page=page + 1)) if results.next_offset is not None else "",
        feed_url=f"{node.url}.atom",
        json_url=_url(node, here, ".json"),
    )


def _url(node: TopicNode, parameters: SearchParameters, ending: str = "") -> str:
    """Return an address without the default order, which is by citations here."""
    sort: Sort = "relevance" if parameters.sort == "cited" else parameters.sort
    return parameters.url(node.url + ending, sort)


def _sort_choice(node: TopicNode, name: Sort, label: str, is_chosen: bool) -> Choice:
    return Choice(label, _url(node, SearchParameters(sort=name)), chosen=is_chosen)


def _plain_order(scope: Scope) -> tuple[str, int] | None:
    """Return the order and the page of an address that says nothing else; None for any other."""
    name, _, value = scope["query_string"].decode("latin-1").partition("=")
    if name == "page" and value in _FIRST_PAGES:
        return "cited", int(value)
    return (value, 1) if name == "sort" and value in SORTS else None if name else ("cited", 1)


MOST_PREPARED = 500


def first_pages(portal: Portal, library: Library) -> Iterator[tuple[str, str, PageMaker]]:
    """Yield path, query and maker of the first pages of all topics: in each order, and the second of the usual one."""
    nodes = list(library.topics().root.walk())
    orders = {f"sort={sort}": (sort, 1) for sort in SORTS if sort != "cited"}
    queries = {"": ("cited", 1), **orders, "page=2": ("cited", 2)}
    addresses = ((node, query) for query in queries for node in nodes)
    for node, query in islice(addresses, MOST_PREPARED):
        yield node.url, query, _page_of(portal, node.slug, *queries[query])


def _page_of(portal: Portal, slug: str, order: str, page: int) -> PageMaker:
    return portal.page_maker("topic.html", lambda library: topic_view(library, slug, order, page, PAGE_SIZE))


def topic_routes(portal: Portal) -> APIRouter:
    router = APIRouter(tags=["topics"])

    async def shown(request: Request, template: str, slug: str, *order: Any) -> Response:
        return await portal.collection_page(
            request, template, lambda library: topic_view(library, slug, *order)
        )

    def quick_page(scope: Scope) -> PageMaker | None:
        slug, order = scope["path"].removeprefix("/topics").removeprefix("/"), _plain_order(scope)
        if order is None or "." in slug or not portal.readers.index.is_quick():
            return None
        return _page_of(portal, slug, *order)

    portal.quick["topics"] = quick_page

    @router.get("/topics.json", response_model=TopicView)
    async def root_json(
        request: Request, sort: SortName = "cited", page: PageNumber = 1, limit: Limit = PAGE_SIZE
    ) -> Response:
        return await shown(request, "", "", sort, page, limit)

    @router.get("/topics", response_class=HTMLResponse)
    async def root(
        request: Request, sort: SortName = "cited", page: PageNumber = 1, limit: Limit = PAGE_SIZE
    ) -> Response:
        return await shown(request, "topic.html", "", sort, page, limit)

    @router.get("/topics/{slug:path}.json", response_model=TopicView)
    async def topic_json(
        request: Request, slug: TopicSlug, sort: SortName = "cited", page: PageNumber = 1,
        limit: Limit = PAGE_SIZE,
    ) -> Response:  # fmt: skip
        return await shown(request, "", slug, sort, page, limit)

    @router.get("/topics/{slug:path}", response_class=HTMLResponse)
    async def topic(
        request: Request, slug: TopicSlug, sort: SortName = "cited", page: PageNumber = 1,
        limit: Limit = PAGE_SIZE,
    ) -> Response:  # fmt: skip
        return await shown(request, "topic.html", slug, sort, page, limit)

    return router
