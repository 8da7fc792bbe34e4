"""Runs: start one, watch it, and see what it found by which way."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, Response
from starlette.concurrency import run_in_threadpool

from trailmark.errors import UsageError
from trailmark.foraging import Order
from trailmark.seeds import starts_of
from trailmark.serve.studio.charts import (
    BUCKETS,
    MOST_POINTS,
    Chart,
    ChartBar,
    goals_chart,
    outcome_bars,
    queue_chart,
    speed_chart,
)
from trailmark.serve.studio.forms import Form, read_form
from trailmark.serve.studio.queue_watch import QueueWatch
from trailmark.serve.studio.studio import Studio, to
from trailmark.serve.web.errors import BadRequest
from trailmark.store.jobs import Job, JobStore
from trailmark.store.run_course import course_of
from trailmark.store.runs import Progress, Run, SiteSummary
from trailmark.workspace import Workspace

SITES_SHOWN = 200
MOST_SEEDS = 10_000


@dataclass(frozen=True, slots=True)
class RunLine:
    id: int
    what: str
    progress: Progress


@dataclass(frozen=True, slots=True)
class RunList:
    runs: tuple[RunLine, ...]
    models: tuple[str, ...]
    job: Job | None
    usual_budget: int
    usual_delay: float
    seeds: str = ""  # as they were given, when they could not be taken
    words: str = ""


@dataclass(frozen=True, slots=True)
class RunView:
    id: int
    what: str
    progress: Progress
    sites: tuple[SiteSummary, ...]
    charts: tuple[Chart, ...]
    outcomes: tuple[ChartBar, ...]
    is_over: bool


def told_order(identity: Mapping[str, str]) -> str:
    """`by the model paths`, `by the words contact, imprint`, `breadth-first`."""
    try:
        order = Order.from_identity(identity)
    except (TypeError, ValueError):
        return "an order of another version"
    if order.model:
        return f"by the model {order.model}"
    if order.keywords:
        return f"by the words {', '.join(order.keywords)}"
    return f"{order.strategy}, goals: {order.goal}" if order.goal else order.strategy


def run_list(workspace: Workspace) -> RunList:
    store = workspace.forage_store
    lines = (RunLine(run.id, told_order(run.identity), store.progress(run.id)) for run in store.runs())
    config = workspace.config
    return RunList(
        tuple(lines),
        tuple(workspace.forage_models.names()),
        JobStore(workspace.database).last("forage"),
        config.forage.budget_per_site,
        config.fetch.delay_seconds,
    )


def run_view(workspace: Workspace, run: Run, queue: QueueWatch) -> RunView:
    store = workspace.forage_store
    progress = store.progress(run.id)
    course = course_of(workspace.database, run.id, MOST_POINTS - 1, BUCKETS)
    charts = (goals_chart(course), queue_chart(queue.sizes(workspace, run.id)), speed_chart(course))
    sites = tuple(summary for summary, _ in zip(store.sites(run.id), range(SITES_SHOWN), strict=False))
    bars = tuple(outcome_bars(progress.outcomes))
    is_over = progress.leased == 0 and not JobStore(workspace.database).running("forage")
    return RunView(run.id, told_order(run.identity), progress, sites, charts, bars, is_over)


def order_of(form: Form) -> dict[str, object]:
    """What a form orders; complains before a job is begun."""
    try:
        chosen = [*starts_of(form.text("seeds")), *starts_of("\n".join(form.texts("site")))]
    except UsageError as error:
        raise BadRequest(str(error)) from None
    if not chosen:
        raise BadRequest("Name at least one start page.")
    if len(chosen) > MOST_SEEDS:
        raise BadRequest(f"More than {MOST_SEEDS:,} start pages: use `trailmark forage` with a file.")
    return {
        "seeds": chosen,
        "model": form.text("model"),
        "words": re.findall(r"[^\s,;]+", form.text("words")),
        "budget": form.whole("budget", 1, 1_000_000),
        "delay": form.number("delay", 0, 3600),
        "min_score": form.number("min_score", 0, 1) or 0.0,
        "fresh": form.text("fresh") == "yes",
    }


def run_routes(studio: Studio) -> APIRouter:
    router = APIRouter()
    queue = QueueWatch()

    def list_view() -> RunList:
        with studio.workspace() as workspace:
            studio.background.clean_up(workspace)
            return run_list(workspace)

    @router.get("/runs", response_class=HTMLResponse)
    def runs(request: Request) -> Response:
        return studio.html(request, "runs.html", section="/runs", view=list_view())

    def begin(form: Form) -> None:
        given = order_of(form)
        with studio.workspace() as workspace:
            if given["model"]:
                workspace.forage_models.card(str(given["model"]))
            studio.background.start(workspace, "forage", given)

    @router.post("/runs")
    async def start(request: Request) -> Response:
        form = await read_form(studio, request)
        try:
            await run_in_threadpool(begin, form)
        except BadRequest as error:  # the form again, as it was filled in, so that it can be mended
            view = await run_in_threadpool(list_view)
            view = replace(view, seeds=form.text("seeds"), words=form.text("words"))
            told = {"complaint": str(error), "status": error.status}
            return studio.html(request, "runs.html", section="/runs", view=view, **told)
        return to("/runs", "The forage begins.")

    @router.get("/runs/{run_id}", response_class=HTMLResponse)
    def run(request: Request, run_id: int) -> Response:
        with studio.workspace() as workspace:
            studio.background.clean_up(workspace)
            view = run_view(workspace, workspace.forage_store.run(run_id), queue)
        return studio.html(request, "run.html", section="/runs", view=view)

    return router
