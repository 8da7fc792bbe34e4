"""Ratings of a page's links, shown on the page itself: the colour is the score, pointing at it says why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, Response

from trailmark.forage.explain import Explanation, RatedLink
from trailmark.review.rating import VisitedPage, explained, visited_page
from trailmark.serve.studio.rendering import FRAME_HEADERS, PAGE_WITH_FRAME, Marker, no_marks, rendered
from trailmark.serve.studio.studio import Studio
from trailmark.serve.studio.visit_address import VisitAddress
from trailmark.serve.studio.words import label_words, reasons
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
    url: str
    title: str
    way: tuple[tuple[str, str], ...]  # words of the link to each page on the way, and its ratings
    label: str
    goal: float
    why: str
    links: tuple[ShownLink, ...]
    left_alone: tuple[tuple[str, str], ...]
    frame: str
    models: tuple[str, ...]
    model: str
    address: VisitAddress


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


def way_here(page: VisitedPage, address: VisitAddress) -> tuple[tuple[str, str], ...]:
    """The pages that led here, each with the address of its own ratings."""
    words = ("start", *page.links_clicked)
    numbers = page.walked.way(page.visit.number)
    queries = (VisitAddress(address.run, address.site, number).query for number in numbers)
    return tuple(zip(words, (f"/ratings?{query}" for query in queries), strict=True))


def rating_view(
    page: VisitedPage, told: Explanation, address: VisitAddress, models: Sequence[str], model: str
) -> RatingView:
    left = tuple((link.text or link.url, _LEFT_ALONE.get(why, why)) for link, why in told.left_alone)
    return RatingView(
        told.url,
        told.title or told.url,
        way_here(page, address),
        label_words(told.label),
        told.goal,
        reasons(told.why),
        shown_links(told.links),
        left,
        f"/ratings/page?{address.query}&{urlencode({'model': model})}",
        tuple(models),
        model,
        address,
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
    """All models, and the one that is asked for or was trained last."""
    models = workspace.forage_models
    names = models.names()
    asked = request.query_params.get("model", "")
    return names, asked if asked in names else models.last().name


def rating_routes(studio: Studio) -> APIRouter:
    router = APIRouter()

    @router.get("/ratings", response_class=HTMLResponse)
    def ratings(request: Request) -> Response:
        address = VisitAddress.of(request)
        with studio.workspace() as workspace:
            names, model = chosen_model(workspace, request)
            page = visited_page(workspace, address.run, address.site, address.visit)
            view = rating_view(page, explained(workspace, page, model), address, names, model)
        headers = {"content-security-policy": PAGE_WITH_FRAME}
        return studio.html(request, "ratings.html", section="/runs", view=view, headers=headers)

    @router.get("/ratings/page", response_class=HTMLResponse)
    def rated_page(request: Request) -> Response:
        """The page for the frame; without a model, links are not marked."""
        address = VisitAddress.of(request)
        with studio.workspace() as workspace:
            page = visited_page(workspace, address.run, address.site, address.visit)
            mark: Marker = no_marks
            if request.query_params.get("model"):
                _, model = chosen_model(workspace, request)
                mark = marker(explained(workspace, page, model))
        return Response(rendered(page.answer, mark), headers=FRAME_HEADERS, media_type="text/html")

    return router
