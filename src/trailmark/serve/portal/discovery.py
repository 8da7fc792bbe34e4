"""How programs find their way in: OpenSearch, the sitemap, robots.txt."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any
from urllib.parse import urlencode
from xml.etree.ElementTree import Element

from fastapi import APIRouter, Query, Request
from fastapi.responses import PlainTextResponse, Response

from trailmark.serve.portal.addresses import record_url
from trailmark.serve.portal.library import Library
from trailmark.serve.portal.portal import Portal, iso_time
from trailmark.serve.web.errors import NotFound
from trailmark.serve.web.pages import answer
from trailmark.serve.web.xml import add, document
from trailmark.store.catalogue import Place, Stamp

URLS_A_MAP = 5_000
_XML = "application/xml"
_OPENSEARCH = "application/opensearchdescription+xml"
_SITEMAPS = "http://www.sitemaps.org/schemas/sitemap/0.9"
_END_OF_TIME = 1e12


def opensearch(base_url: str, name: str) -> bytes:
    """A description by which a browser adds this search to its own."""
    root = Element("OpenSearchDescription", {"xmlns": "http://a9.com/-/spec/opensearch/1.1/"})
    add(root, "ShortName", name[:16])
    add(root, "Description", f"Search {name}"[:1024])
    add(root, "InputEncoding", "UTF-8")
    for kind, path in (("text/html", "/search"), ("application/atom+xml", "/search.atom"),
                       ("application/json", "/search.json")):  # fmt: skip
        add(root, "Url", type=kind, method="get", template=f"{base_url}{path}?q={{searchTerms}}")
    return document(root)


def sitemap_index(base_url: str, places: list[Place]) -> bytes:
    """Each part is named by the place where it begins: to find it, none before it must be read."""
    root = Element("sitemapindex", {"xmlns": _SITEMAPS})
    for place in places:
        asked = "" if place == Place() else f"?{urlencode(asdict(place))}"
        add(add(root, "sitemap"), "loc", f"{base_url}/sitemap-part.xml{asked}")
    return document(root)


def sitemap(base_url: str, topics: list[str], stamps: list[Stamp]) -> bytes:
    root = Element("urlset", {"xmlns": _SITEMAPS})
    for url in topics:
        add(add(root, "url"), "loc", base_url + url)
    for stamp in stamps:
        entry = add(root, "url")
        add(entry, "loc", base_url + record_url(stamp.kind, stamp.id))
        add(entry, "lastmod", iso_time(stamp.changed))
    return document(root)


def part_of_map(library: Library, place: Place) -> tuple[list[str], list[Stamp]]:
    """The records of one part of the sitemap, in order of their change; topics stand in the first."""
    is_first = place == Place()
    stamps = library.catalogue.changed_after(place, _END_OF_TIME, URLS_A_MAP)
    if not stamps and not is_first:
        raise NotFound
    topics = ["/", *(node.url for node in library.topics().root.walk())] if is_first else []
    return topics, [stamp for stamp in stamps if not stamp.deleted]


def robots(base_url: str) -> str:
    """Robots are welcome to the pages; searches without end would only cost them and us time."""
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
        places = await portal.slow_readers.ask(lambda library: library.catalogue.places(URLS_A_MAP))
        return answer(request, sitemap_index(portal.base_url(request), places), _XML)

    @router.get("/sitemap-part.xml", response_class=Response, responses=xml)
    async def map_part(
        request: Request,
        changed: Annotated[float, Query(ge=0, allow_inf_nan=False)] = 0.0,
        kind: Annotated[str, Query(max_length=300)] = "",
        record: Annotated[str, Query(alias="id", max_length=4100)] = "",
    ) -> Response:
        place = Place(changed, kind, record)
        topics, stamps = await portal.slow_readers.ask(lambda library: part_of_map(library, place))
        return answer(request, sitemap(portal.base_url(request), topics, stamps), _XML)

    return router
