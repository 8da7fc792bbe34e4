"""Runs: start one, watch it, and see what it found by which way."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, Response
from starlette.concurrency import run_in_threadpool

from wayhound.app.forage import is_alive
from wayhound.store.jobs import Job
from wayhound.store.protocol import Progress, Run, SiteSummary
from wayhound.studio.charts import (
    BUCKETS,
    MOST_POINTS,
    Chart,
    ChartBar,
    QueueWatch,
    goals_chart,
    outcome_bars,
    queue_chart,
    speed_chart,
)
from wayhound.studio.forage_job import first_words
from wayhound.studio.forms import Form, read_form
from wayhound.studio.run_order import MOST_PAGES, Filled, filled_like, open_again, open_ordered
from wayhound.studio.studio import Studio, to
from wayhound.studio.tables import SITE_COLUMNS, Paging, csv_text, download, page_asked, site_rows
from wayhound.web.errors import BadRequest
from wayhound.wording.runs import format_order
from wayhound.workspace import Workspace

SITES_SHOWN = 100
PAGES_IN_A_PART = (
    10  # of the time that a run took: with fewer, its speed is hidden by the pauses between pages
)


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
    watched: int | None  # the run that the job is about
    filled: Filled


@dataclass(frozen=True, slots=True)
class RunView:
    id: int
    what: str
    progress: Progress
    sites: tuple[SiteSummary, ...]
    paging: Paging
    budget: int | None
    job: Job | None
    charts: tuple[Chart, ...]
    outcomes: tuple[ChartBar, ...]
    is_over: bool


def is_by_model(identity: Mapping[str, str]) -> bool:
    """Whether a run tells goals by a model: then each has a probability."""
    return "model" in identity


def run_list(workspace: Workspace, filled: Filled | None = None) -> RunList:
    store = workspace.stores.forage
    lines = (RunLine(run.id, format_order(run.identity), store.progress(run.id)) for run in store.runs())
    job = workspace.stores.jobs.last("forage")
    return RunList(
        tuple(lines),
        tuple(workspace.forage_models.names()),
        job,
        job.run_id if job else None,
        filled or Filled.usual(workspace),
    )


def run_view(workspace: Workspace, run: Run, queue: QueueWatch, page: int = 1) -> RunView:
    store = workspace.stores.forage
    progress = store.progress(run.id)
    parts = max(2, min(BUCKETS, progress.visits // PAGES_IN_A_PART))
    course = workspace.stores.forage.course(run.id, MOST_POINTS - 1, parts)
    charts = (goals_chart(course), queue_chart(queue.sizes(workspace, run.id)), speed_chart(course))
    paging = Paging.of(page, progress.sites, SITES_SHOWN)
    job = _job_of(workspace, run.id)
    return RunView(
        run.id,
        format_order(run.identity),
        progress,
        tuple(islice(store.sites(run.id), paging.first, paging.first + SITES_SHOWN)),
        paging,
        run.limits.budget_per_site,
        job,
        charts,
        tuple(outcome_bars(progress.outcomes)),
        progress.leased == 0 and not (job and job.is_running),
    )


def _job_of(workspace: Workspace, run_id: int) -> Job | None:
    """Return the last forage in the background if it worked on this run."""
    job = workspace.stores.jobs.last("forage")
    return job if job and job.run_id == run_id else None


def run_routes(studio: Studio) -> APIRouter:
    router = APIRouter()
    queue = QueueWatch()

    def list_view(filled: Filled | None = None, like: int | None = None) -> RunList:
        with studio.workspace() as workspace:
            studio.background.clean_up(workspace)
            if like is not None:
                filled = filled_like(workspace, workspace.stores.forage.run(like))
            return run_list(workspace, filled)

    @router.get("/runs", response_class=HTMLResponse)
    def runs(request: Request, like: int | None = None) -> Response:
        return studio.html(request, "runs.html", section="/runs", view=list_view(like=like))

    def begin(form: Form) -> tuple[int, str]:
        with studio.workspace() as workspace:
            studio.background.refuse_second(workspace, "forage")
            run, notice = open_ordered(workspace, form)
            _start(studio, workspace, run.id, form.number("delay", 0, 3600))
        return run.id, notice

    @router.post("/runs")
    async def start(request: Request) -> Response:
        form = await read_form(studio, request)
        try:
            run_id, notice = await run_in_threadpool(begin, form)
        except BadRequest as error:  # the form again, as it was filled in, so that it can be mended
            view = await run_in_threadpool(list_view, Filled.of(form))
            told = {"complaint": str(error), "status": error.status}
            return studio.html(request, "runs.html", section="/runs", view=view, **told)
        return to(f"/runs/{run_id}", notice)

    @router.get("/runs/{run_id}", response_class=HTMLResponse)
    def run(request: Request, run_id: int) -> Response:
        page = page_asked(request)
        with studio.workspace() as workspace:
            studio.background.clean_up(workspace)
            asked = workspace.stores.forage.run(run_id)
            workspace.stores.forage.release_dead(run_id, is_alive)
            view = run_view(workspace, asked, queue, page)
        return studio.html(request, "run.html", section="/runs", view=view)

    return router


def run_deeds(studio: Studio) -> APIRouter:
    """What can be had of a run and done with it."""
    router = APIRouter()

    @router.get("/runs/{run_id}/sites.csv")
    def sites(run_id: int) -> Response:
        """Every site of a run for a spreadsheet: what it gave, and why it ended."""
        with studio.workspace() as workspace:
            store = workspace.stores.forage
            rows = site_rows(store.sites(store.run(run_id).id))
            return download(f"sites-{run_id}.csv", csv_text(SITE_COLUMNS, rows))

    @router.post("/runs/{run_id}/go-on")
    async def go_on(request: Request, run_id: int) -> Response:
        form = await read_form(studio, request)
        budget = form.whole("budget", 1, MOST_PAGES)

        def act() -> str:
            with studio.workspace() as workspace:
                studio.background.refuse_second(workspace, "forage")
                if not open_again(workspace, workspace.stores.forage.run(run_id), budget):
                    return "Nothing is left to do. With more pages a site it can go on."
                _start(studio, workspace, run_id, None)
            return "It goes on where it was."

        try:
            notice = await run_in_threadpool(act)
        except BadRequest as error:
            notice = str(error)
        return to(f"/runs/{run_id}", notice)

    return router


def _start(studio: Studio, workspace: Workspace, run_id: int, delay: float | None) -> None:
    given = {"run": run_id, "delay": delay}
    studio.background.start(workspace, "forage", given, first_words(run_id))
