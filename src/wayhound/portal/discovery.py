"""Discovery of the collection by programs: Atom feeds (RFC 4287), OpenSearch, the sitemap and robots.txt.

Searches and topics as lists for reference managers are here too: they are found like feeds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, replace
from typing import Annotated, Any
from urllib.parse import urlencode
from xml.etree.ElementTree import Element

from fastapi import APIRouter, Query, Request
from fastapi.responses import PlainTextResponse, Response

from wayhound.portal.addresses import record_url
from wayhound.portal.exports import CITABLE, LIST_FORMATS
from wayhound.portal.library import Library
from wayhound.portal.portal import FORMAT_TYPES, Portal, iso_time
from wayhound.portal.search_pages import FilterList, SortName, Words, read_parameters
from wayhound.portal.topic_pages import TopicSlug, topic_filter
from wayhound.record import Record
from wayhound.search.results import Hit, SearchRequest, Sort
from wayhound.store.records import ChangeCursor, RecordStamp
from wayhound.web.pages import NotFound, add, answer, document

URLS_A_MAP = 5_000
MOST_CITED = 1000  # papers of a search or topic in one file
_XML = "application/xml"
_OPENSEARCH = "application/opensearchdescription+xml"
_SITEMAPS = "http://www.sitemaps.org/schemas/sitemap/0.9"
_END_OF_TIME = 1e12


def opensearch(base_url: str, name: str) -> bytes:
    """Return a description with which a browser adds this search to its own."""
    root = Element("OpenSearchDescription", {"xmlns": "http://a9.com/-/spec/opensearch/1.1/"})
    add(root, "ShortName", name[:16])
    add(root, "Description", f"Search {name}"[:1024])
    add(root, "InputEncoding", "UTF-8")
    for kind, path in (("text/html", "/search"), ("application/atom+xml", "/search.atom"),
                       ("application/json", "/search.json")):  # fmt: skip
        add(root, "Url", type=kind, method="get", template=f"{base_url}{path}?q={{searchTerms}}")
    return document(root)


def sitemap_index(base_url: str, places: list[ChangeCursor]) -> bytes:
    """Return the index of the parts, each named by the place where it begins, so that none before it must be read."""
    root = Element("sitemapindex", {"xmlns": _SITEMAPS})
    for place in places:
        parameters = "" if place == ChangeCursor() else f"?{urlencode(asdict(place))}"
        add(add(root, "sitemap"), "loc", f"{base_url}/sitemap-part.xml{parameters}")
    return document(root)


def sitemap(base_url: str, paths: list[str], stamps: list[RecordStamp]) -> bytes:
    root = Element("urlset", {"xmlns": _SITEMAPS})
    for path in paths:
        add(add(root, "url"), "loc", base_url + path)
    for stamp in stamps:
        entry = add(root, "url")
        add(entry, "loc", base_url + record_url(stamp.kind, stamp.id))
        add(entry, "lastmod", iso_time(stamp.changed))
    return document(root)


def sitemap_part(library: Library, place: ChangeCursor) -> tuple[list[str], list[RecordStamp]]:
    """Return the records of one part of the sitemap, in order of their change; the first has the other pages too."""
    is_first = place == ChangeCursor()
    stamps = library.stores.catalogue.changed_after(place, _END_OF_TIME, URLS_A_MAP)
    if not stamps and not is_first:
        raise NotFound
    topics = [] if library.topics().is_empty else [node.url for node in library.topics().root.walk()]
    paths = ["/", "/browse", *topics] if is_first else []
    return paths, [stamp for stamp in stamps if not stamp.deleted]


def robots(base_url: str) -> str:
    """Return the rules for robots: pages are open to them, endless searches are not."""
    return (
        "User-agent: *\nDisallow: /search\nDisallow: /suggest.json\nDisallow: /submissions/\nDisallow: /export/\n"
        f"\nSitemap: {base_url}/sitemap.xml\n"
    )


def discovery_routes(portal: Portal) -> APIRouter:
    router = APIRouter(tags=["discovery"])
    xml: dict[int | str, dict[str, Any]] = {200: {"content": {_XML: {}}}}

    @router.get("/opensearch.xml", response_class=Response, responses={200: {"content": {_OPENSEARCH: {}}}})
    async def describe_search(request: Request) -> Response:
        return answer(request, opensearch(portal.base_url(request), portal.settings.name), _OPENSEARCH)

    @router.get("/robots.txt", response_class=PlainTextResponse)
    async def robots_txt(request: Request) -> Response:
        return answer(request, robots(portal.base_url(request)).encode(), "text/plain; charset=utf-8")

    @router.get("/sitemap.xml", response_class=Response, responses=xml)
    async def map_of_maps(request: Request) -> Response:
        places = await portal.slow_readers.run(lambda library: library.stores.catalogue.cursors(URLS_A_MAP))
        return answer(request, sitemap_index(portal.base_url(request), places), _XML)

    @router.get("/sitemap-part.xml", response_class=Response, responses=xml)
    async def map_part(
        request: Request,
        changed: Annotated[float, Query(ge=0, allow_inf_nan=False)] = 0.0,
        kind: Annotated[str, Query(max_length=300)] = "",
        record: Annotated[str, Query(alias="id", max_length=4100)] = "",
    ) -> Response:
        place = ChangeCursor(changed, kind, record)
        paths, stamps = await portal.slow_readers.run(lambda library: sitemap_part(library, place))
        return answer(request, sitemap(portal.base_url(request), paths, stamps), _XML)

    return router


ENTRIES = 30
_ATOM = "application/atom+xml"
_DOCUMENTED = {"response_class": Response, "responses": {200: {"content": {_ATOM: {}}}}}


@dataclass(frozen=True, slots=True)
class FeedEntry:
    """A hit with the times of its record."""

    hit: Hit
    added: float
    changed: float


def newest_entries(library: Library, query: str, filters: tuple[tuple[str, str], ...]) -> list[FeedEntry]:
    """Return the newest hits of a search, the last added first."""
    hits = library.index.search(SearchRequest(query, "added", 0, ENTRIES, (), filters)).hits
    stamped = [(hit, library.stores.catalogue.stamp(hit.kind, hit.id)) for hit in hits]
    return [FeedEntry(hit, stamp.added, stamp.changed) for hit, stamp in stamped if stamp]


def feed(base_url: str, title: str, self_url: str, page_url: str, entries: list[FeedEntry]) -> bytes:
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


def _add_entry(root: Element, base_url: str, entry: FeedEntry) -> None:
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

    def respond(
        request: Request, title: str, self_url: str, page_url: str, entries: list[FeedEntry]
    ) -> Response:
        body = feed(portal.base_url(request), f"{portal.settings.name}: {title}", self_url, page_url, entries)
        return answer(request, body, f"{_ATOM}; charset=utf-8")

    @router.get("/search.atom", **_DOCUMENTED)  # type: ignore[arg-type]
    async def search_feed(
        request: Request, q: Words = "", filters: FilterList = [], sort: str = "",  # noqa: ARG001, B006
    ) -> Response:  # fmt: skip
        """The last additions among the hits of a search, whatever the order of the search."""
        parameters = read_parameters(q, "relevance", filters)
        entries = await portal.readers.run(lambda library: newest_entries(library, q, parameters.filters))
        page_url = replace(parameters, sort="added").url()
        return respond(request, q or "newest additions", parameters.url("/search.atom"), page_url, entries)

    @router.get("/topics/{slug:path}.atom", **_DOCUMENTED)  # type: ignore[arg-type]
    async def topic_feed(request: Request, slug: TopicSlug) -> Response:
        """The last additions to a topic and all topics below it."""

        def read(library: Library) -> tuple[str, list[FeedEntry]]:
            node = library.topics().at(slug)
            if node is None:
                raise NotFound
            return node.name, newest_entries(library, "", topic_filter(node.path))

        name, entries = await portal.readers.run(read)
        return respond(request, name, f"/topics/{slug}.atom", f"/topics/{slug}", entries)

    return router


# The papers of a search or topic, to be cited


def cited_records(
    library: Library, query: str, filters: tuple[tuple[str, str], ...], sort: Sort
) -> list[Record]:
    """Return the papers and the works only cited among the first `MOST_CITED` hits, filled in as their pages are."""
    found = library.index.search(SearchRequest(query, sort, 0, MOST_CITED, (), filters)).hits
    records = (library.find(hit.kind, hit.id) for hit in found if hit.kind in CITABLE)
    return [record for record in records if record is not None]


def list_routes(portal: Portal) -> APIRouter:
    """Routes of the papers of a whole search or topic, as reference managers read them."""
    router = APIRouter(tags=["search"])
    for ending, name, write in LIST_FORMATS:
        _add_list_format(router, portal, ending, FORMAT_TYPES[name], write)
    return router


def _add_list_format(
    router: APIRouter, portal: Portal, ending: str, media_type: str, write: Callable[[Iterable[Record]], str]
) -> None:
    documented: dict[str, Any] = {
        "response_class": Response,
        "responses": {200: {"content": {media_type: {}}}},
    }

    extension = ending.removeprefix("csl.")

    def respond(request: Request, name: str, records: list[Record]) -> Response:
        headers = {"content-disposition": f'attachment; filename="{name}.{extension}"'}
        body = write(records).encode("utf-8", "replace")
        return answer(request, body, f"{media_type}; charset=utf-8", headers=headers)

    async def searched(
        request: Request, q: Words = "", sort: SortName = "relevance", filters: FilterList = [],  # noqa: B006
    ) -> Response:  # fmt: skip
        chosen = read_parameters(q, sort, filters)
        records = await portal.slow_readers.run(
            lambda library: cited_records(library, q, chosen.filters, chosen.sort)
        )
        return respond(request, "search", records)

    async def topic(request: Request, slug: TopicSlug) -> Response:
        def read(library: Library) -> list[Record]:
            node = library.topics().at(slug)
            if node is None:
                raise NotFound
            return cited_records(library, "", topic_filter(node.path), "cited")

        return respond(request, "topic", await portal.slow_readers.run(read))

    for path, handler, what in (("/search", searched, "search"), ("/topics/{slug:path}", topic, "topic")):
        router.add_api_route(
            f"{path}.{ending}",
            handler,
            methods=["GET"],
            name=f"{what}_as_{ending}",
            summary=f"The papers and works only cited of a {what}, {MOST_CITED:,} at most.",
            **documented,
        )
