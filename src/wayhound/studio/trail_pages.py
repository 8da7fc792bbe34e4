"""Trails: what was taught, step by step; change labels, delete trails, and undo that."""

from __future__ import annotations

from dataclasses import dataclass

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, Response

from wayhound.app.trails import check, step_page, step_places
from wayhound.paths.trail_check import Remark
from wayhound.store.trails import KeptTrail, TrailSummary
from wayhound.studio.rendering import FRAME_HEADERS, PAGE_WITH_FRAME, rendered
from wayhound.studio.studio import Studio, now, read_form, to
from wayhound.trail import FAIL, GOAL, Step
from wayhound.web.pages import NotFound
from wayhound.wording.teaching import format_change
from wayhound.wording.undo import format_trail_undo
from wayhound.workspace import Workspace

WORDS_SHOWN = 40


@dataclass(frozen=True, slots=True)
class TrailList:
    trails: list[TrailSummary]
    by_site: dict[str, list[TrailSummary]]
    remarks: list[Remark]
    last_change: str


@dataclass(frozen=True, slots=True)
class ShownStep:
    number: int
    url: str
    title: str
    headings: tuple[str, ...]
    words: str
    link: str
    region: str
    label: str
    by_script: bool  # the page before has the link in a browser only
    picture: str  # address of a small rendering of the page; empty if it is not archived


@dataclass(frozen=True, slots=True)
class ShownTrail:
    id: int
    site: str
    taught_at: float
    source: str
    steps: tuple[ShownStep, ...]
    known_labels: tuple[str, ...]


def trail_list(workspace: Workspace) -> TrailList:
    store = workspace.stores.trails
    trails = store.summaries()
    by_site: dict[str, list[TrailSummary]] = {}
    for trail in trails:
        by_site.setdefault(trail.site, []).append(trail)
    changes = [change for change in store.history() if not change.undone]
    return TrailList(
        trails=trails,
        by_site=by_site,
        remarks=check(workspace) if trails else [],
        last_change=format_change(changes[0]) if changes else "",
    )


def shown_trail(workspace: Workspace, kept: KeptTrail) -> ShownTrail:
    archived = step_places(workspace, kept.id)
    steps = tuple(
        _shown(number, step, f"/trails/{kept.id}/steps/{number}/page" if step.page.url in archived else "")
        for number, step in enumerate(kept.trail.steps)
    )
    labels = dict.fromkeys((GOAL, FAIL, *workspace.stores.trails.labels()))
    return ShownTrail(kept.id, kept.trail.site, kept.taught_at, kept.source, steps, tuple(labels))


def _shown(number: int, step: Step, picture: str) -> ShownStep:
    page, link = step.page, step.link
    return ShownStep(
        number=number,
        url=page.url,
        title=f"A document ({page.content_type})" if page.is_document else page.title,
        headings=page.headings[:3],
        words=" ".join(page.tokens[:WORDS_SHOWN]),
        link="" if link is None else link.text or link.url,
        region="" if link is None else link.region,
        label=step.label,
        by_script=step.by_script,
        picture=picture,
    )


def trail_routes(studio: Studio) -> APIRouter:
    router = APIRouter()

    @router.get("/trails", response_class=HTMLResponse)
    def trails(request: Request) -> Response:
        with studio.workspace() as workspace:
            view = trail_list(workspace)
        return studio.html(request, "trails.html", section="/trails", view=view)

    @router.get("/trails/{trail_id}", response_class=HTMLResponse)
    def trail(request: Request, trail_id: int) -> Response:
        with studio.workspace() as workspace:
            view = shown_trail(workspace, workspace.stores.trails.get(trail_id))
        headers = {"content-security-policy": PAGE_WITH_FRAME}
        return studio.html(request, "trail.html", section="/trails", view=view, headers=headers)

    @router.get("/trails/{trail_id}/steps/{step}/page", response_class=HTMLResponse)
    def step_picture(trail_id: int, step: int) -> Response:
        with studio.workspace() as workspace:
            page = step_page(workspace, trail_id, step)
        if page is None:
            raise NotFound
        return Response(rendered(page), headers=FRAME_HEADERS, media_type="text/html")

    return router


def trail_changes(studio: Studio) -> APIRouter:
    """Routes that delete and relabel trails, and undo that."""
    router = APIRouter()

    @router.post("/trails/undo")
    async def undo(request: Request) -> Response:
        await read_form(studio, request)
        change = await studio.run(lambda workspace: workspace.stores.trails.undo())
        return to("/trails", format_trail_undo(change))

    @router.post("/trails/{trail_id}/delete")
    async def delete(request: Request, trail_id: int) -> Response:
        await read_form(studio, request)
        await studio.run(lambda workspace: workspace.stores.trails.delete(trail_id, now()))
        return to("/trails", f"Trail {trail_id} was deleted. Undo restores it.")

    @router.post("/trails/{trail_id}/steps/{step}")
    async def relabel(request: Request, trail_id: int, step: int) -> Response:
        label = (await read_form(studio, request)).text("label")
        await studio.run(lambda workspace: workspace.stores.trails.relabel(trail_id, step, label, now()))
        change = f"is labelled {label!r} now" if label else "has no label now"
        return to(f"/trails/{trail_id}", f"Step {step} {change}.")

    return router
