"""The citation map of a paper: a drawing, and a table that says the same."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse, Response

from trailmark.serve.portal.citation_graph import BOX_HEIGHT, BOX_WIDTH, Graph, graph_of
from trailmark.serve.portal.portal import Portal
from trailmark.serve.portal.record_pages import Key, Kind, find_paper

Hops = Annotated[int, Query(ge=1, le=2, description="Steps from the paper, in both directions.")]


def map_routes(portal: Portal) -> APIRouter:
    router = APIRouter(tags=["citations"])

    async def graph(kind: str, key: str, hops: int) -> Graph:
        return await portal.readers.ask(
            lambda library: graph_of(library, find_paper(library, kind, key), hops)
        )

    @router.get("/records/{kind}/{key}/map.json", response_model=Graph)
    async def map_json(request: Request, kind: Kind, key: Key, hops: Hops = 1) -> Response:
        return portal.json(request, await graph(kind, key, hops))

    @router.get("/records/{kind}/{key}/map", response_class=HTMLResponse)
    async def citation_map(request: Request, kind: Kind, key: Key, hops: Hops = 1) -> Response:
        view = await graph(kind, key, hops)
        box = {"width": BOX_WIDTH, "height": BOX_HEIGHT}
        return portal.html(request, "map.html", view, box=box, json_url=f"{view.url}/map.json?hops={hops}")

    return router
