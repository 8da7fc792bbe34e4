"""Ratings of a page's links, shown on the page itself: the colour is the score, hovering shows the reasons."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, Response

from wayhound.app.explain import PagePath, explain_page, fetch_path, find_path, visited_path
from wayhound.app.site_list import parse_site
from wayhound.forage.explain import Explanation, RatedLink
from wayhound.studio.rendering import FRAME_HEADERS, PAGE_WITH_FRAME, Marker, no_marks, rendered
from wayhound.studio.studio import Studio, VisitAddress, query_number, read_form, to
from wayhound.web.pages import BadRequest
from wayhound.wording.faults import format_fault
from wayhound.wording.quantities import format_label
from wayhound.wording.reasons import format_expectation, format_main_reason, format_reasons, format_tie
from wayhound.workspace import Workspace

PATHS_KEPT = 20
COLOURS = 6
LEAST_SPREAD = 0.05  # of scores: smaller differences mean nothing and get no colours of their own


@dataclass(frozen=True, slots=True)
class ShownLink:
    url: str
    text: str
    score: float
    colour: int
    leads_to: str
    why: str


@dataclass(frozen=True, slots=True)
class RatingView:
    url: str
    title: str
    source: str
    run: int | None
    fields: dict[str, object]  # which name the page in addresses
    path: tuple[tuple[str, str], ...]  # text of the link to each page before, and the address of its ratings
    frame: str
    models: tuple[str, ...] = ()
    model: str = ""  # empty if none is trained: then the page is shown without ratings
    label: str = ""
    goal: float = 0.0
    main_reason: str = ""
    why: str = ""  # with numbers
    tie: str = ""
    links: tuple[ShownLink, ...] = ()
    not_followed: tuple[tuple[str, str], ...] = ()


class PathCache:
    """The last pages that were looked up outside of runs, with their paths, by number."""

    def __init__(self) -> None:
        self._paths: OrderedDict[int, PagePath] = OrderedDict()
        self._lock = threading.Lock()
        self._count = 0

    def put(self, path: PagePath) -> int:
        with self._lock:
            self._count += 1
            self._paths[self._count] = path
            if len(self._paths) > PATHS_KEPT:
                self._paths.popitem(last=False)
            return self._count

    def get(self, number: int) -> PagePath:
        with self._lock:
            path = self._paths.get(number)
        if path is None:
            raise BadRequest("This page is no longer in memory. Enter its address again.")
        return path


def look_up(workspace: Workspace, address: str, cache: PathCache) -> dict[str, object]:
    """Return the query fields that name the page at an address: its last visit, else a cached copy.

    A page that neither a run visited nor a trail holds is fetched. Raises BadRequest or a WayhoundError.
    """
    if not address:
        raise BadRequest("Enter the address of a page.")
    url = parse_site(address).start
    path = find_path(workspace, url)
    if path is not None and path.run_id is not None:
        return VisitAddress(path.run_id, path.site.start, path.visits[-1]).fields
    if path is None or path.response is None:
        path = fetch_path(workspace.config, [url])
    return {"fetched": cache.put(path)}


def requested_path(
    workspace: Workspace, request: Request, cache: PathCache
) -> tuple[PagePath, dict[str, object]]:
    """Return the page that the query of an address names, and the fields that name it."""
    if number := query_number(request, "fetched"):
        return cache.get(number), {"fetched": number}
    address = VisitAddress.of(request)
    path = visited_path(workspace, address.run, address.site, address.visit)
    return path, VisitAddress(address.run, address.site, path.visits[-1]).fields


def rating_view(
    workspace: Workspace, path: PagePath, fields: dict[str, object], models: Sequence[str], model: str
) -> RatingView:
    query = urlencode({**fields, **({"model": model} if model else {})})
    explanation = explain_page(workspace, model, path) if model else None
    return RatingView(
        url=path.page.url,
        title=path.page.title,
        source=path.source,
        run=path.run_id,
        fields=fields,
        path=_path_links(path),
        frame=f"/ratings/page?{query}",
        models=tuple(models),
        model=model,
        label=format_label(explanation.label) if explanation else "",
        goal=explanation.goal if explanation else 0.0,
        main_reason=format_main_reason(explanation.why) if explanation else "",
        why=format_reasons(explanation.why) if explanation else "",
        tie=format_tie(explanation.links) if explanation else "",
        links=shown_links(explanation.links) if explanation else (),
        not_followed=tuple(
            (link.text or link.url, format_fault(reason)) for link, reason in explanation.not_followed
        )
        if explanation
        else (),
    )


def _path_links(path: PagePath) -> tuple[tuple[str, str], ...]:
    if path.run_id is None:
        return ()
    addresses = (VisitAddress(path.run_id, path.site.start, visit) for visit in path.visits)
    texts = ("start", *path.link_texts)
    return tuple((text, f"/ratings?{address.query}") for text, address in zip(texts, addresses, strict=True))


def shown_links(links: Sequence[RatedLink]) -> tuple[ShownLink, ...]:
    """Return the links with colours that range from the lowest to the highest score of the page."""
    least = min((rated.score for rated in links), default=0.0)
    spread = max(max((rated.score for rated in links), default=0.0) - least, LEAST_SPREAD)
    return tuple(
        ShownLink(
            url=rated.link.url,
            text=rated.link.text or rated.link.url,
            score=rated.score,
            # divided first, so that the best link has exactly the last colour, whatever is rounded
            colour=int((COLOURS - 1) * ((rated.score - least) / spread)),
            leads_to=format_expectation(rated.label, rated.goal),
            why=format_reasons(rated.why),
        )
        for rated in links
    )


def marker(explanation: Explanation) -> Marker:
    """Return a function that gives a link of the page its class, its tooltip and its score."""
    by_url = {link.url: link for link in shown_links(explanation.links)}
    not_followed = {link.url: format_fault(reason) for link, reason in explanation.not_followed}

    def mark(url: str) -> tuple[str, str, str]:
        link = by_url.get(url)
        if link is None:
            return "plain", f"Not followed: {not_followed.get(url, 'it leads to this page')}.", ""
        tooltip = f"{link.score:.2f}. Expected: {link.leads_to or 'unknown'}. Because: {link.why or 'nothing known'}."
        return f"s{link.colour}", tooltip, f"{link.score:.2f}"

    return mark


def chosen_model(workspace: Workspace, request: Request) -> tuple[list[str], str]:
    """Return all models, and the requested one or the one trained last; empty if there is none."""
    models = workspace.forage_models
    names = models.names()
    requested = request.query_params.get("model", "")
    return names, requested if requested in names else models.last().name if names else ""


def rating_routes(studio: Studio) -> APIRouter:
    router = APIRouter()
    cache = PathCache()

    @router.get("/ratings", response_class=HTMLResponse)
    def ratings(request: Request) -> Response:
        with studio.workspace() as workspace:
            names, model = chosen_model(workspace, request)
            if not request.query_params.keys() & {"run", "site", "visit", "fetched"}:
                return studio.html(
                    request, "ratings_ask.html", section="/train", has_model=bool(names), url=""
                )
            path, fields = requested_path(workspace, request, cache)
            view = rating_view(workspace, path, fields, names, model)
        headers = {"content-security-policy": PAGE_WITH_FRAME}
        return studio.html(request, "ratings.html", section="/runs", view=view, headers=headers)

    @router.post("/ratings")
    async def ask(request: Request) -> Response:
        """Show the ratings of any page: as a run or trail saw it, else as it is now."""
        address = (await read_form(studio, request)).text("url")
        try:
            fields = await studio.run(lambda workspace: look_up(workspace, address, cache))
        except BadRequest as error:  # show the form again, so that the address can be corrected
            values = {"complaint": str(error), "status": error.status, "has_model": True, "url": address}
            return studio.html(request, "ratings_ask.html", section="/train", **values)
        return to("/ratings", "", **fields)

    @router.get("/ratings/page", response_class=HTMLResponse)
    def rated_page(request: Request) -> Response:
        """Return the page for the frame; without a model its links are not marked."""
        with studio.workspace() as workspace:
            path, _ = requested_path(workspace, request, cache)
            mark: Marker = no_marks
            if request.query_params.get("model"):
                _, model = chosen_model(workspace, request)
                mark = marker(explain_page(workspace, model, path))
        if path.response is None:
            raise BadRequest("What the server sent for this page is not in the archive.")
        return Response(rendered(path.response, mark), headers=FRAME_HEADERS, media_type="text/html")

    return router
