"""About the collection: where it comes from, when it was gathered, and whom to ask."""

from __future__ import annotations

from dataclasses import dataclass

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, Response

from trailmark.serve.portal.addresses import outside_url
from trailmark.serve.portal.library import Library
from trailmark.serve.portal.portal import Portal

MOST_SITES = 200


@dataclass(frozen=True, slots=True)
class SourceSite:
    """A site that was walked, and when it was last visited."""

    start: str
    url: str
    pages: int
    last_visit: float | None


@dataclass(frozen=True, slots=True)
class KindCount:
    kind: str
    label: str
    count: int


@dataclass(frozen=True, slots=True)
class About:
    name: str
    agent: str
    contact: str
    contact_url: str
    counts: tuple[KindCount, ...]
    sites: tuple[SourceSite, ...]
    site_count: int
    first_visit: float | None
    last_visit: float | None


def about_view(library: Library, portal: Portal) -> About:
    settings = portal.settings
    sites = library.sites()
    visits = [site.last_visit for site in sites if site.last_visit]
    counts = [KindCount(kind, library.spec(kind).plural, count) for kind, count in library.counts().items()]
    shown = [SourceSite(each.start, outside_url(each.start), each.pages, each.last_visit) for each in sites]
    contact = settings.contact
    return About(
        settings.name,
        settings.agent,
        contact,
        outside_url(contact) or (f"mailto:{contact}" if "@" in contact else ""),
        tuple(counts),
        tuple(shown[:MOST_SITES]),
        len(shown),
        min(visits, default=None),
        max(visits, default=None),
    )


def about_routes(portal: Portal) -> APIRouter:
    router = APIRouter(tags=["pages"])

    @router.get("/about", response_class=HTMLResponse)
    async def about(request: Request) -> Response:
        view = await portal.readers.ask(lambda library: about_view(library, portal))
        return portal.html(request, "about.html", view, json_url="/about.json")

    @router.get("/about.json", response_model=About)
    async def about_json(request: Request) -> Response:
        return portal.json(request, await portal.readers.ask(lambda library: about_view(library, portal)))

    return router
