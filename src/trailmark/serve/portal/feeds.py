"""Atom feeds (RFC 4287): what is new for any search and any topic."""

from __future__ import annotations

from dataclasses import dataclass, replace
from xml.etree.ElementTree import Element

from fastapi import APIRouter, Request
from fastapi.responses import Response

from trailmark.organise.search.answer import Hit, SearchRequest
from trailmark.serve.portal.addresses import record_url
from trailmark.serve.portal.library import Library
from trailmark.serve.portal.portal import Portal, iso_time
from trailmark.serve.portal.search_pages import Filters, Words
from trailmark.serve.portal.search_view import PAGE_SIZE, read_asked
from trailmark.serve.portal.topic_pages import TopicSlug, topic_filter
from trailmark.serve.web.errors import NotFound
from trailmark.serve.web.pages import answer
from trailmark.serve.web.xml import add, document

ENTRIES = 30
_ATOM = "application/atom+xml"
_DOCUMENTED = {"response_class": Response, "responses": {200: {"content": {_ATOM: {}}}}}


@dataclass(frozen=True, slots=True)
class Entry:
    hit: Hit
    added: float
    changed: float


def newest_entries(library: Library, query: str, filters: tuple[tuple[str, str], ...]) -> list[Entry]:
    """What was found, the last added first, with its times."""
    found = library.index.search(SearchRequest(query, "added", 0, ENTRIES, (), filters)).hits
    stamped = [(hit, library.catalogue.stamp(hit.kind, hit.id)) for hit in found]
    return [Entry(hit, stamp.added, stamp.changed) for hit, stamp in stamped if stamp]


def feed(base_url: str, title: str, self_url: str, page_url: str, entries: list[Entry]) -> bytes:
    root = Element("feed", {"xmlns": "http://www.w3.org/2005/Atom"})
    add(root, "title", title)
    add(root, "id", base_url + self_url)
    add(root, "updated", iso_time(max((entry.changed for entry in entries), default=0.0)))
    add(root, "link", rel="self", type=_ATOM, href=base_url + self_url)
    add(root, "link", rel="alternate", type="text/html", href=base_url + page_url)
    author = add(root, "author")
    add(author, "name", title)
    for entry in entries:
        _add_entry(root, base_url, entry)
    return document(root)


def _add_entry(root: Element, base_url: str, entry: Entry) -> None:
    hit = entry.hit
    url = base_url + record_url(hit.kind, hit.id)
    element = add(root, "entry")
    add(element, "title", hit.title or hit.id)
    add(element, "id", url)
    add(element, "link", rel="alternate", type="text/html", href=url)
    add(element, "published", iso_time(entry.added))
    add(element, "updated", iso_time(entry.changed))
    for person in hit.people:
        add(add(element, "author"), "name", person)
    for path in hit.topics:
        add(element, "category", term=" › ".join(path))
    add(element, "summary", "".join(piece.text for piece in hit.snippet) or hit.title, type="text")


def feed_routes(portal: Portal) -> APIRouter:
    router = APIRouter(tags=["feeds"])

    def sent(request: Request, title: str, self_url: str, page_url: str, entries: list[Entry]) -> Response:
        body = feed(portal.base_url(request), f"{portal.settings.name}: {title}", self_url, page_url, entries)
        return answer(request, body, f"{_ATOM}; charset=utf-8")

    @router.get("/search.atom", **_DOCUMENTED)  # type: ignore[arg-type]
    async def search_feed(request: Request, q: Words = "", filters: Filters = [], sort: str = "") -> Response:  # noqa: ARG001, B006
        """The last added of what a search finds, whatever the order of the search."""
        asked = read_asked(q, "relevance", filters, 1, PAGE_SIZE, "")
        entries = await portal.readers.ask(lambda library: newest_entries(library, q, asked.filters))
        page_url = replace(asked, sort="added").url()
        return sent(request, q or "newest additions", asked.url("/search.atom"), page_url, entries)

    @router.get("/topics/{slug:path}.atom", **_DOCUMENTED)  # type: ignore[arg-type]
    async def topic_feed(request: Request, slug: TopicSlug) -> Response:
        """The last added papers of a topic and all below it."""

        def read(library: Library) -> tuple[str, list[Entry]]:
            node = library.topics().at(slug)
            if node is None:
                raise NotFound
            return node.name, newest_entries(library, "", topic_filter(node.path))

        name, entries = await portal.readers.ask(read)
        return sent(request, name, f"/topics/{slug}.atom", f"/topics/{slug}", entries)

    return router
