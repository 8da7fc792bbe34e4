"""Ratings of a page's links, shown on the page itself: the colour is the score, pointing at it says why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, Response
from starlette.concurrency import run_in_threadpool

from trailmark.forage.explain import Explanation, RatedLink
from trailmark.serve.studio.forms import read_form
from trailmark.serve.studio.rated_source import RatedSource, Shelf, address_for, source_of
from trailmark.serve.studio.rendering import FRAME_HEADERS, PAGE_WITH_FRAME, Marker, no_marks, rendered
from trailmark.serve.studio.studio import Studio, to
from trailmark.serve.studio.words import label_words, reasons, said_here
from trailmark.serve.web.errors import BadRequest
from trailmark.workspace import Workspace

COLOURS = 6
LEAST_SPREAD = 0.05  # links that differ by less are hardly told apart, nor are their colours
_LEFT_ALONE = {
    "nofollow": "the page asks not to follow it",
    "out_of_scope": "it leads out of the site",
    "other_name": "another name of this page",
}


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
            f"{label_words(each.label)} (a goal by {each.goal:.0%})" if each.label else "",
            reasons(each.why),
        )
        for each in links
    )


def rating_view(source: RatedSource, models: Sequence[str], model: str) -> RatingView:
    fields = {**source.fields, **({"model": model} if model else {})}
    frame = f"/ratings/page?{urlencode(fields)}"
    if not model:
        return RatingView(source, "", 0.0, "", (), (), frame, (), "")
    told = source.explain(model)
    left = tuple((link.text or link.url, _LEFT_ALONE.get(why, why)) for link, why in told.left_alone)
    return RatingView(
        source,
        label_words(told.label),
        told.goal,
        reasons(told.why),
        shown_links(told.links),
        left,
        frame,
        tuple(models),
        model,
    )


def marker(told: Explanation) -> Marker:
    by_url = {each.url: each for each in shown_links(told.links)}
    alone = {link.url: _LEFT_ALONE.get(why, why) for link, why in told.left_alone}

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
                "complaint": said_here(str(error)),
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
