"""Ratings of a page's links, shown on the page itself: the colour is the score, pointing at it says why."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from urllib.parse import urlencode

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, Response
from starlette.concurrency import run_in_threadpool

from wayhound.app.explain import Way, explain_way, fetched_page
from wayhound.app.rate_visits import VisitedPage, explained, visited_page
from wayhound.app.site_list import parse_site
from wayhound.fetched import Fetched
from wayhound.forage.explain import Explanation, RatedLink
from wayhound.studio.forms import read_form
from wayhound.studio.rendering import FRAME_HEADERS, PAGE_WITH_FRAME, Marker, no_marks, rendered
from wayhound.studio.studio import Studio, VisitAddress, to
from wayhound.web.errors import BadRequest
from wayhound.wording.faults import format_fault
from wayhound.wording.labels import format_label
from wayhound.wording.ratings import format_expectation
from wayhound.wording.reasons import format_reasons
from wayhound.workspace import Workspace

PAGES_KEPT = 20


@dataclass(frozen=True)
class RatedSource:
    """A page, where it came from, and what tells how a model rates its links."""

    url: str
    title: str
    origin: str  # where it was found, in words
    run: int | None
    fields: Mapping[str, object]  # what names it in addresses
    way: tuple[tuple[str, str], ...]  # words of the link to each page on the way, and its ratings
    answer: Fetched
    explain: Callable[[str], Explanation]


class Shelf:
    """The pages that were fetched last for their ratings; they belong to no run, so memory will do."""

    def __init__(self) -> None:
        self._pages: OrderedDict[int, tuple[Fetched, Way]] = OrderedDict()
        self._lock = threading.Lock()
        self._count = 0

    def put(self, answer: Fetched, way: Way) -> int:
        with self._lock:
            self._count += 1
            self._pages[self._count] = (answer, way)
            if len(self._pages) > PAGES_KEPT:
                self._pages.popitem(last=False)
            return self._count

    def get(self, number: str) -> tuple[Fetched, Way]:
        with self._lock:
            found = self._pages.get(int(number)) if number.isascii() and number.isdecimal() else None
        if found is None:
            raise BadRequest("This page is kept no more. Ask for its ratings again.")
        return found


def source_of(workspace: Workspace, request: Request, shelf: Shelf) -> RatedSource:
    """The page that an address of ours names."""
    if number := request.query_params.get("fetched", ""):
        return _fetched(workspace, number, *shelf.get(number))
    return _visited(workspace, VisitAddress.of(request))


def address_for(workspace: Workspace, asked: str, shelf: Shelf) -> dict[str, object]:
    """What names the page at an address: the last visit of a run to it; else it is fetched now."""
    if not asked:
        raise BadRequest("Name the address of a page.")
    url = parse_site(asked, "the address of a page").start
    if visited := _last_visit(workspace, url):
        return visited.fields
    return {"fetched": shelf.put(*fetched_page(workspace.config, url))}


def _last_visit(workspace: Workspace, url: str) -> VisitAddress | None:
    found = workspace.stores.click_paths.to_url(url)
    if found is None:
        return None
    start, number = found[0].start, found[1][-1].number
    for run in workspace.stores.forage.runs():
        visit = next(workspace.stores.forage.visits_of(run.id, start, number), None)
        if visit is not None and visit.url == url and visit.archived:
            return VisitAddress(run.id, start, number)
    return None


def _fetched(workspace: Workspace, number: str, answer: Fetched, way: Way) -> RatedSource:
    page = way.path[-1][1]
    fields = {"fetched": number}
    return RatedSource(
        page.url, page.title, way.source, None, fields, (), answer,
        lambda model: explain_way(workspace, model, way),
    )  # fmt: skip


def _visited(workspace: Workspace, asked: VisitAddress) -> RatedSource:
    address = _behind_redirects(workspace, asked)
    page = visited_page(workspace, address.run, address.site, address.visit)
    return RatedSource(
        page.visit.url,
        page.visit.title,
        f"visit {address.visit} of {address.site}",
        address.run,
        address.fields,
        _way_here(page, address),
        page.answer,
        lambda model: explained(workspace, page, model),
    )


def _behind_redirects(workspace: Workspace, address: VisitAddress) -> VisitAddress:
    """A start page that only leads on to another address stands for the page behind it."""
    number = address.visit
    for visit in workspace.stores.forage.visits_of(address.run, address.site, number):
        if visit.number == number and visit.outcome != "redirect":
            break
        if visit.parent == number and visit.link_kind == "redirect":
            number = visit.number
            if visit.outcome != "redirect":
                break
    return replace(address, visit=number)


def _way_here(page: VisitedPage, address: VisitAddress) -> tuple[tuple[str, str], ...]:
    """The pages that led here, each with the address of its own ratings."""
    words = ("start", *page.links_clicked)
    numbers = page.walked.way(page.visit.number)
    queries = (VisitAddress(address.run, address.site, number).query for number in numbers)
    return tuple(zip(words, (f"/ratings?{query}" for query in queries), strict=True))


COLOURS = 6
LEAST_SPREAD = 0.05  # links that differ by less are hardly told apart, nor are their colours


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
    source: RatedSource
    label: str
    goal: float
    why: str
    links: tuple[ShownLink, ...]
    left_alone: tuple[tuple[str, str], ...]
    frame: str
    models: tuple[str, ...]
    model: str  # empty as long as none is trained: then the page is shown without ratings


def shown_links(links: Sequence[RatedLink]) -> tuple[ShownLink, ...]:
    """Colours go from the least to the most promising link of the page."""
    least = min((each.score for each in links), default=0.0)
    spread = max(max((each.score for each in links), default=0.0) - least, LEAST_SPREAD)
    return tuple(
        ShownLink(
            each.link.url,
            each.link.text or each.link.url,
            each.score,
            int((COLOURS - 1) * (each.score - least) / spread),
            format_expectation(each.label, each.goal),
            format_reasons(each.why),
        )
        for each in links
    )


def rating_view(source: RatedSource, models: Sequence[str], model: str) -> RatingView:
    fields = {**source.fields, **({"model": model} if model else {})}
    frame = f"/ratings/page?{urlencode(fields)}"
    if not model:
        return RatingView(source, "", 0.0, "", (), (), frame, (), "")
    told = source.explain(model)
    left = tuple((link.text or link.url, format_fault(why)) for link, why in told.not_followed)
    return RatingView(
        source,
        format_label(told.label),
        told.goal,
        format_reasons(told.why),
        shown_links(told.links),
        left,
        frame,
        tuple(models),
        model,
    )


def marker(told: Explanation) -> Marker:
    by_url = {each.url: each for each in shown_links(told.links)}
    alone = {link.url: format_fault(why) for link, why in told.not_followed}

    def mark(url: str) -> tuple[str, str, str]:
        each = by_url.get(url)
        if each is None:
            return "plain", f"Not followed: {alone.get(url, 'it leads to this page')}.", ""
        said = f"{each.score:.2f}. Expected: {each.leads_to or 'unknown'}. Because: {each.why or 'nothing known'}."
        return f"s{each.colour}", said, f"{each.score:.2f}"

    return mark


def chosen_model(workspace: Workspace, request: Request) -> tuple[list[str], str]:
    """All models, and the one that is asked for or was trained last; empty if none is."""
    models = workspace.forage_models
    names = models.names()
    asked = request.query_params.get("model", "")
    return names, asked if asked in names else models.last().name if names else ""


def rating_routes(studio: Studio) -> APIRouter:
    router = APIRouter()
    shelf = Shelf()

    @router.get("/ratings", response_class=HTMLResponse)
    def ratings(request: Request) -> Response:
        with studio.workspace() as workspace:
            names, model = chosen_model(workspace, request)
            if not request.query_params.keys() & {"run", "site", "visit", "fetched"}:
                return studio.html(
                    request, "ratings_ask.html", section="/train", has_model=bool(names), url=""
                )
            view = rating_view(source_of(workspace, request, shelf), names, model)
        headers = {"content-security-policy": PAGE_WITH_FRAME}
        return studio.html(request, "ratings.html", section="/runs", view=view, headers=headers)

    @router.post("/ratings")
    async def ask(request: Request) -> Response:
        """The ratings of any page: as a run saw it last, else as it is now."""
        asked = (await read_form(studio, request)).text("url")

        def act() -> dict[str, object]:
            with studio.workspace() as workspace:
                return address_for(workspace, asked, shelf)

        try:
            return to("/ratings", "", **await run_in_threadpool(act))
        except BadRequest as error:  # the field again, so that the address can be mended
            told = {
                "complaint": str(error),
                "status": error.status,
                "has_model": True,
                "url": asked,
            }
            return studio.html(request, "ratings_ask.html", section="/train", **told)

    @router.get("/ratings/page", response_class=HTMLResponse)
    def rated_page(request: Request) -> Response:
        """The page for the frame; without a model, links are not marked."""
        with studio.workspace() as workspace:
            source = source_of(workspace, request, shelf)
            mark: Marker = no_marks
            if request.query_params.get("model"):
                _, model = chosen_model(workspace, request)
                mark = marker(source.explain(model))
        return Response(rendered(source.answer, mark), headers=FRAME_HEADERS, media_type="text/html")

    return router
