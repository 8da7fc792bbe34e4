"""Runs: start one, watch it, resume it, and see how each site ended."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import islice

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, Response
from starlette.concurrency import run_in_threadpool

from wayhound.app.forage import include_host, open_run, resume_run, run_limits
from wayhound.app.forage_worker import is_alive
from wayhound.app.order import Order, complete_order, new_nonce
from wayhound.app.site_list import SiteList
from wayhound.app.visited_site import FrontierSizes
from wayhound.store.jobs import Job
from wayhound.store.protocol import Progress, Run, SiteSummary
from wayhound.store.runs import Machine
from wayhound.store.site_notes import WaitingQuestion
from wayhound.studio.charts import (
    BUCKETS,
    MOST_POINTS,
    Chart,
    ChartBar,
    frontier_chart,
    goals_chart,
    outcome_bars,
    speed_chart,
)
from wayhound.studio.studio import Studio, StudioForm, read_form, to
from wayhound.studio.tables import Paging, download_table, requested_page
from wayhound.web.pages import BadRequest
from wayhound.wording.runs import format_nodes, format_order, format_rendered, format_skipped
from wayhound.workspace import Workspace

SITES_SHOWN = 100
PAGES_IN_A_PART = 10  # of the speed chart: with fewer, the delays between pages would hide the speed
MOST_SITES = 10_000
MOST_PAGES = 1_000_000
MOST_WORKERS = 64
MOST_QUESTIONS = 100
QUESTIONS_A_SITE = 3
FACTS = "facts:"  # no model has a name with a colon
FEW_SITES = 2  # after so many taught sites answers help most


# The form


@dataclass(frozen=True, slots=True)
class RunForm:
    """The fields of the form as text, to show it filled in.

    `model` names a model, or after `facts:` what facts to look for; if it is empty, words are looked for.
    """

    sites: str = ""
    model: str = ""
    words: str = ""
    budget: str = ""
    delay: str = ""
    goals: str = ""
    workers: str = "1"
    questions: str = "0"
    files: bool = False
    new_run: bool = False

    @classmethod
    def submitted(cls, form: StudioForm) -> RunForm:
        return cls(
            sites="\n".join(filter(None, (form.text("sites"), *form.texts("site")))),
            model=form.text("model"),
            words=form.text("words"),
            budget=form.text("budget"),
            delay=form.text("delay"),
            goals=form.text("goals"),
            workers=form.text("workers") or "1",
            questions=form.text("questions") or "0",
            files=form.checked("files"),
            new_run=form.checked("new_run"),
        )

    @classmethod
    def default(cls, workspace: Workspace) -> RunForm:
        config, models = workspace.config, workspace.forage_models
        return cls(
            model=models.last().name if models.names() else "",
            budget=str(config.forage.budget_per_site),
            delay=f"{config.fetch.delay_seconds:g}",
            questions=str(default_questions(workspace)),
        )

    @classmethod
    def like(cls, workspace: Workspace, run: Run) -> RunForm:
        """Return the form for a new run on the sites of an old one, ordered in the same way."""
        order, default = Order.from_identity(run.identity), cls.default(workspace)
        return replace(
            default,
            sites="\n".join(site.start for site in workspace.stores.forage.sites(run.id)),
            model=_choice(workspace, order),
            words="" if order.wants_facts_alone else ", ".join(order.keywords),
            budget=str(run.limits.budget_per_site or default.budget),
            goals=str(order.goals_wanted or ""),
            questions=str(run.limits.questions or 0),
            files=order.take_files,
            new_run=True,
        )


def _choice(workspace: Workspace, order: Order) -> str:
    """Return what the form shows as looked for by an order; nothing for a model that is gone."""
    if order.wants_facts_alone:
        return FACTS + order.facts
    return order.model if order.model in workspace.forage_models.names() else ""


def default_questions(workspace: Workspace) -> int:
    """Return how many questions a site to suggest: some after one or two taught sites, else none."""
    models = workspace.forage_models
    if not models.names():
        return 0
    sites = models.last().report.get("sites", ())
    return QUESTIONS_A_SITE if len(sites) <= FEW_SITES else 0


def start_run(workspace: Workspace, form: StudioForm) -> tuple[Run, str]:
    """Open the run that a form orders. Return it with a notice of what that means.

    Raises BadRequest, or UsageError from the use case, if the form has to be corrected.
    """
    listed = _sites(form)
    words = re.findall(r"[^\s,;]+", form.text("words"))
    chosen = form.text("model")
    facts = chosen.removeprefix(FACTS) if chosen.startswith(FACTS) else ""
    if not words and not chosen:
        raise BadRequest("Choose a model, or enter a word that names the pages you look for.")
    order = Order(
        strategy="",
        model="" if facts else chosen,
        keywords=() if facts else tuple(words),
        facts=facts,
        goals_wanted=form.whole("goals", 1, MOST_PAGES) if form.text("goals") else None,
        take_files=form.checked("files"),
        fresh=new_nonce() if form.checked("new_run") else "",
    )
    questions = form.whole("questions", 0, MOST_QUESTIONS) if form.text("questions") else 0
    limits = run_limits(
        workspace.config, budget=form.whole("budget", 1, MOST_PAGES), questions=questions or None
    )
    run = open_run(workspace, complete_order(workspace, order), limits, listed.sites.values(), time.time())
    return run, " ".join(filter(None, (_notice(workspace, run), format_skipped(listed.skipped))))


def _sites(form: StudioForm) -> SiteList:
    listed = SiteList()
    for text in (form.text("sites"), "\n".join(form.texts("site"))):
        listed.add_text(text, "the list")
    if not listed.sites:
        raise BadRequest(f"Enter at least one start page. {format_skipped(listed.skipped)}".rstrip())
    if len(listed.sites) > MOST_SITES:
        raise BadRequest(f"More than {MOST_SITES:,} start pages: use `wayhound forage` with a file.")
    return listed


def _notice(workspace: Workspace, run: Run) -> str:
    if run.is_new:
        return "The forage has started."
    if workspace.stores.forage.progress(run.id).is_over:
        return (
            f"Run {run.id} visited these sites in the same way; this is its result. To visit them again, check "
            "“Start a new run”."
        )
    return f"Run {run.id} was ordered in the same way and is resumed; its earlier results are kept."


# Views


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
    form: RunForm


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
    questions: tuple[WaitingQuestion, ...]
    rendered: tuple[str, ...]
    machines: str  # empty if one works on it at most
    is_idle: bool  # nobody works on it now

    @property
    def has_tiers(self) -> bool:
        """True if goals are recognised by all pages of a site, so that some are likely ones."""
        return any(site.none_probability is not None for site in self.sites)


def run_list(workspace: Workspace, form: RunForm | None = None) -> RunList:
    store = workspace.stores.forage
    return RunList(
        runs=tuple(
            RunLine(run.id, format_order(run.identity), store.progress(run.id)) for run in store.runs()
        ),
        models=tuple(workspace.forage_models.names()),
        job=workspace.stores.jobs.last("forage"),
        form=form or RunForm.default(workspace),
    )


def run_view(workspace: Workspace, run: Run, frontier: FrontierSizes, page: int = 1) -> RunView:
    store = workspace.stores.forage
    job = workspace.stores.jobs.last("forage")  # before what it writes: the page never shows half of it
    job = job if job and job.run_id == run.id else None
    progress = store.progress(run.id)
    parts = max(2, min(BUCKETS, progress.visits // PAGES_IN_A_PART))
    course = store.course(run.id, MOST_POINTS - 1, parts)
    paging = Paging.of(page, progress.sites, SITES_SHOWN)
    return RunView(
        id=run.id,
        what=format_order(run.identity),
        progress=progress,
        sites=tuple(islice(store.sites(run.id), paging.first, paging.first + SITES_SHOWN)),
        paging=paging,
        budget=run.limits.budget_per_site,
        job=job,
        charts=(
            goals_chart(course),
            frontier_chart(frontier.sizes(workspace, run.id)),
            speed_chart(course),
        ),
        outcomes=tuple(outcome_bars(progress.outcomes)),
        questions=tuple(workspace.stores.site_notes.waiting(run.id)),
        rendered=tuple(format_rendered(store.rendered(run.id))),
        machines=_machines(store.machines(run.id, time.time())),
        is_idle=progress.leased == 0 and not (job and job.is_running),
    )


def _machines(machines: Sequence[Machine]) -> str:
    lines = ((machine.name, machine.workers, machine.pages_per_second) for machine in machines)
    return format_nodes(lines) if len(machines) > 1 else ""


# Routes


def run_routes(studio: Studio) -> APIRouter:
    router = APIRouter()
    frontier = FrontierSizes()

    def list_view(form: RunForm | None = None, like: int | None = None) -> RunList:
        with studio.workspace() as workspace:
            studio.background.clean_up(workspace)
            if like is not None:
                form = RunForm.like(workspace, workspace.stores.forage.run(like))
            return run_list(workspace, form)

    @router.get("/runs", response_class=HTMLResponse)
    def runs(request: Request, like: int | None = None) -> Response:
        return studio.html(request, "runs.html", section="/runs", view=list_view(like=like))

    @router.post("/runs")
    async def start(request: Request) -> Response:
        form = await read_form(studio, request)

        def act(workspace: Workspace) -> tuple[int, str]:
            studio.background.refuse_second(workspace, "forage")
            delay, workers = form.number("delay", 0, 3600), _workers(form)
            run, notice = start_run(workspace, form)
            start_forage(studio, workspace, run.id, delay=delay, workers=workers)
            return run.id, notice

        try:
            run_id, notice = await studio.run(act)
        except BadRequest as error:  # show the form again as it was filled in, so that it can be corrected
            view = await run_in_threadpool(list_view, RunForm.submitted(form))
            values = {"complaint": str(error), "status": error.status}
            return studio.html(request, "runs.html", section="/runs", view=view, **values)
        return to(f"/runs/{run_id}", notice)

    @router.get("/runs/{run_id}", response_class=HTMLResponse)
    def run(request: Request, run_id: int) -> Response:
        with studio.workspace() as workspace:
            studio.background.clean_up(workspace)
            requested = workspace.stores.forage.run(run_id)
            workspace.stores.forage.release_dead(run_id, is_alive)
            view = run_view(workspace, requested, frontier, requested_page(request))
        return studio.html(request, "run.html", section="/runs", view=view)

    return router


def run_actions(studio: Studio) -> APIRouter:
    """Routes that download the sites of a run, and resume it."""
    router = APIRouter()

    @router.get("/runs/{run_id}/sites.csv")
    def sites(run_id: int) -> Response:
        """Return every site of a run as `wayhound export` writes it: what it found, and why it ended."""
        with studio.workspace() as workspace:
            run = workspace.stores.forage.run(run_id)
            return download_table(workspace, "sites", run.id, f"sites-{run_id}.csv")

    @router.post("/runs/{run_id}/include")
    async def include(request: Request, run_id: int) -> Response:
        """Take another host for a part of a site, and go on with the site."""
        form = await read_form(studio, request)

        def act(workspace: Workspace) -> str:
            studio.background.refuse_second(workspace, "forage")
            run = include_host(workspace, run_id, form.text("site"), form.text("host"), time.time())
            start_forage(studio, workspace, run.id, delay=None, workers=1)
            return f"{form.text('host')} belongs to the site now, and the run goes on."

        try:
            notice = await studio.run(act)
        except BadRequest as error:
            notice = str(error)
        return to(f"/runs/{run_id}", notice)

    @router.post("/runs/{run_id}/resume")
    async def resume(request: Request, run_id: int) -> Response:
        form = await read_form(studio, request)

        def act(workspace: Workspace) -> str:
            studio.background.refuse_second(workspace, "forage")
            budget, workers = form.whole("budget", 1, MOST_PAGES), _workers(form)
            run = workspace.stores.forage.run(run_id)
            resume_run(workspace, run, replace(run.limits, budget_per_site=budget), time.time())
            if workspace.stores.forage.progress(run_id).is_over:
                return "All sites are finished. To continue, raise the number of pages per site."
            start_forage(studio, workspace, run_id, delay=None, workers=workers)
            return "The run is resumed."

        try:
            notice = await studio.run(act)
        except BadRequest as error:
            notice = str(error)
        return to(f"/runs/{run_id}", notice)

    return router


def _workers(form: StudioForm) -> int:
    return form.whole("workers", 1, MOST_WORKERS) if form.text("workers") else 1


def start_forage(
    studio: Studio, workspace: Workspace, run_id: int, *, delay: float | None, workers: int
) -> None:
    arguments = {"run": run_id, "delay": delay, "workers": workers}
    studio.background.start(workspace, "forage", arguments, f"Run {run_id} is starting.")
