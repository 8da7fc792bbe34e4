"""Topics: where one is in the tree, what is below, and the papers there."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated

from fastapi import APIRouter, Path, Request
from fastapi.responses import HTMLResponse, Response

from wayhound.portal.home import TopicCount, topic_counts
from wayhound.portal.library import Library
from wayhound.portal.portal import Portal
from wayhound.portal.search_pages import (
    PAGE_SIZE,
    Asked,
    Choice,
    HitView,
    Limit,
    PageNumber,
    SortName,
    TopicLink,
    hit_view,
)
from wayhound.portal.topics import TopicNode
from wayhound.search.documents import TOPIC_SEPARATOR
from wayhound.search.results import SearchRequest, Sort
from wayhound.web.errors import BadRequest, NotFound

SORTS: dict[Sort, tuple[str, str]] = {
    "cited": ("citations", "Those that most papers of this collection cite first."),
    "authority": ("seminal", "Papers that good surveys cite first: by authority among the papers here (HITS)."),
    "hub": ("survey", "Papers that cite many seminal ones first: by hub score among the papers here (HITS)."),
    "newest": ("newest", "The latest years first."),
    "added": ("last added", "What came into the collection last first."),
}  # fmt: skip

TopicSlug = Annotated[str, Path(max_length=1000, description="As in the addresses of topic pages.")]


@dataclass(frozen=True, slots=True)
class TopicView:
    name: str
    path: tuple[str, ...]
    url: str
    count: int
    above: tuple[TopicLink, ...]
    children: tuple[TopicCount, ...]
    nowhere: int  # papers that stand under no topic; told of the whole tree
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
    return (("topic", TOPIC_SEPARATOR.join(path)),) if path else (("type", "paper"),)


def topic_view(library: Library, slug: str, sort: str, page: int, limit: int) -> TopicView:
    topics = library.topics()
    node = topics.at(slug)
    if node is None:
        raise NotFound("There is no such topic. It may have been renamed; look for it in the topic tree.")
    if sort not in SORTS:
        raise BadRequest(f"sort must be one of {', '.join(SORTS)}.")
    known = next(each for each in SORTS if each == sort)
    request = SearchRequest("", known, (page - 1) * limit, limit, (), topic_filter(node.path))
    answer = library.index.search(request)
    here = Asked(sort=known, page=page, limit=limit)
    return TopicView(
        name=node.name,
        path=node.path,
        url=node.url,
        count=node.count,
        above=tuple(TopicLink(each.name, each.url) for each in topics.above(node)[:-1]),
        children=topic_counts(node, 1 if node.path else 2),
        nowhere=0 if node.path else topics.nowhere,
        sort=sort,
        sort_meaning=SORTS[known][1],
        sorts=tuple(_sort_choice(node, name, label, name == sort) for name, (label, _) in SORTS.items()),
        hits=tuple(hit_view(hit, topics) for hit in answer.hits),
        total=answer.total,
        page=page,
        pages=max(1, -(-answer.total // limit)),
        previous_url=_url(node, replace(here, page=page - 1)) if page > 1 else "",
        next_url=_url(node, replace(here, page=page + 1)) if answer.next_offset is not None else "",
        feed_url=f"{node.url}.atom",
        json_url=_url(node, here, ".json"),
    )


def _url(node: TopicNode, asked: Asked, ending: str = "") -> str:
    """Citations are the usual order here."""
    usual = "relevance" if asked.sort == "cited" else asked.sort
    return replace(asked, sort=usual).url(node.url + ending)


def _sort_choice(node: TopicNode, name: Sort, label: str, is_chosen: bool) -> Choice:
    return Choice(label, _url(node, Asked(sort=name)), chosen=is_chosen)


def topic_routes(portal: Portal) -> APIRouter:
    router = APIRouter(tags=["topics"])

    async def view_of(slug: str, sort: str, page: int, limit: int) -> TopicView:
        return await portal.readers.ask(lambda library: topic_view(library, slug, sort, page, limit))

    @router.get("/topics.json", response_model=TopicView)
    async def root_json(
        request: Request, sort: SortName = "cited", page: PageNumber = 1, limit: Limit = PAGE_SIZE
    ) -> Response:
        return portal.json(request, await view_of("", sort, page, limit))

    @router.get("/topics", response_class=HTMLResponse)
    async def root(
        request: Request, sort: SortName = "cited", page: PageNumber = 1, limit: Limit = PAGE_SIZE
    ) -> Response:
        view = await view_of("", sort, page, limit)
        return portal.html(request, "topic.html", view, json_url=view.json_url)

    @router.get("/topics/{slug:path}.json", response_model=TopicView)
    async def topic_json(
        request: Request, slug: TopicSlug, sort: SortName = "cited", page: PageNumber = 1,
        limit: Limit = PAGE_SIZE,
    ) -> Response:  # fmt: skip
        return portal.json(request, await view_of(slug, sort, page, limit))

    @router.get("/topics/{slug:path}", response_class=HTMLResponse)
    async def topic(
        request: Request, slug: TopicSlug, sort: SortName = "cited", page: PageNumber = 1,
        limit: Limit = PAGE_SIZE,
    ) -> Response:  # fmt: skip
        view = await view_of(slug, sort, page, limit)
        return portal.html(request, "topic.html", view, json_url=view.json_url)

    return router
