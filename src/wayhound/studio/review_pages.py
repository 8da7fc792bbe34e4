"""Review: one page at a time, one key an answer; retraining in the background; what the answers change."""

from __future__ import annotations

from dataclasses import dataclass

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, Response
from starlette.concurrency import run_in_threadpool

from wayhound.app.rate_visits import visited_page
from wayhound.app.review import Asked, Review
from wayhound.paths.questions import StopAsking
from wayhound.store.jobs import Job
from wayhound.store.review import SiteChange
from wayhound.studio.forms import read_form
from wayhound.studio.rendering import PAGE_WITH_FRAME
from wayhound.studio.studio import Studio, VisitAddress, now, to
from wayhound.trail import FAIL, GOAL
from wayhound.web.errors import BadRequest
from wayhound.wording.quantities import count
from wayhound.wording.runs import format_order
from wayhound.wording.undo import format_review_undo
from wayhound.workspace import Workspace

ANSWERS_BEFORE_RETRAINING = 5


@dataclass(frozen=True, slots=True)
class ShownQuestion:
    site: str
    visit: int
    url: str
    title: str
    links_clicked: tuple[str, ...]
    chance: float
    least: float
    most: float
    frame: str
    ratings: str


@dataclass(frozen=True, slots=True)
class ReviewView:
    runs: tuple[tuple[int, str], ...]
    run: int
    question: ShownQuestion | None
    is_prepared: bool
    enough: str
    answers: int
    new_answers: int
    labels: tuple[str, ...]
    job: Job | None
    changes: tuple[SiteChange, ...]
    sites: int
    missing: str
    missing_path: str
    missing_deed: str
    model: str
    budget: int


def review_view(workspace: Workspace, run_id: int | None) -> ReviewView:
    runs = tuple((run.id, format_order(run.identity)) for run in workspace.stores.forage.runs())
    names = workspace.forage_models.names()
    run = run_id if run_id is not None else (runs[0][0] if runs else 0)
    if run not in {each for each, _ in runs} or not names:
        return _missing(workspace, runs)
    found = Review(workspace, run).next_question()
    store, card = workspace.stores.review, workspace.forage_models.last()
    return ReviewView(
        runs=runs,
        run=run,
        question=_shown(workspace, run, found) if isinstance(found, Asked) else None,
        is_prepared=found is not None,
        enough=found.reason if isinstance(found, StopAsking) else "",
        answers=len(store.answers(run)),
        new_answers=store.answered_since(card.trained_at),
        labels=tuple(label for label in workspace.stores.trails.labels() if label not in (GOAL, FAIL)),
        job=workspace.stores.jobs.last("review"),
        changes=tuple(store.changes(run)),
        sites=workspace.stores.forage.progress(run).sites,
        missing="",
        missing_path="",
        missing_deed="",
        model=card.name,
        budget=workspace.config.forage.budget_per_site,
    )


def _missing(workspace: Workspace, runs: tuple[tuple[int, str], ...]) -> ReviewView:
    """What must be done before anything can be asked, with the page where it is done."""
    job = workspace.stores.jobs.last("review")
    if not len(workspace.stores.trails):
        told = (
            "Questions are asked by a model. Show it the way on two or three sites first.",
            "/teach",
            "Teach",
        )
    elif not workspace.forage_models.names():
        told = ("Questions are asked by a model. Let it learn from your trails first.", "/train", "Train")
    else:
        told = (
            "Questions are about pages that a run visited. Forage some sites first.",
            "/runs",
            "Begin a run",
        )
    return ReviewView(runs, 0, None, False, "", 0, 0, (), job, (), 0, *told, "", 0)


def _shown(workspace: Workspace, run: int, asked: Asked) -> ShownQuestion:
    each = asked.candidate
    page = visited_page(workspace, run, each.site, each.number)
    query = VisitAddress(run, each.site, each.number).query
    return ShownQuestion(
        each.site,
        each.number,
        each.url,
        page.visit.title or each.url,
        page.links_clicked,
        asked.question.candidate.probability,
        min(each.chances),
        max(each.chances),
        f"/ratings/page?{query}",
        f"/ratings?{query}",
    )


def review_routes(studio: Studio) -> APIRouter:
    router = APIRouter()

    @router.get("/review", response_class=HTMLResponse)
    def review(request: Request) -> Response:
        with studio.workspace() as workspace:
            studio.background.clean_up(workspace)
            view = review_view(workspace, _run(request))
        headers = {"content-security-policy": PAGE_WITH_FRAME}
        return studio.html(request, "review.html", section="/review", view=view, headers=headers)

    @router.post("/review/prepare")
    async def prepare(request: Request) -> Response:
        """Make the questions, after teaching the model again if there are new answers."""
        form = await read_form(studio, request)
        run, again = form.whole("run", 1, 10**9), form.text("retrain") == "yes"

        def act() -> None:
            with studio.workspace() as workspace:
                workspace.stores.forage.run(run)
                studio.background.start(workspace, "review", {"run": run, "retrain": again})

        await run_in_threadpool(act)
        return to("/review", run=run)

    @router.post("/review/answer")
    async def answer(request: Request) -> Response:
        form = await read_form(studio, request)
        run, site, number = form.whole("run", 1, 10**9), form.text("site"), form.whole("visit", 0, 10**9)
        said, label = form.text("answer"), form.text("label")
        given = {"goal": GOAL, "fail": FAIL, "skip": "", "label": label}.get(said)
        if given is None or (said == "label" and not label):
            raise BadRequest("Choose Goal, Reject, a label, or Cannot say.")

        def act() -> str:
            with studio.workspace() as workspace:
                Review(workspace, run).answer(site, number, given, now())
                return _retrain_after_some(studio, workspace, run)

        return to("/review", await run_in_threadpool(act), run=run)

    @router.post("/review/undo")
    async def undo(request: Request) -> Response:
        run = (await read_form(studio, request)).whole("run", 1, 10**9)

        def act() -> str:
            with studio.workspace() as workspace:
                return format_review_undo(Review(workspace, run).take_back(now()))

        return to("/review", await run_in_threadpool(act), run=run)

    return router


def _retrain_after_some(studio: Studio, workspace: Workspace, run: int) -> str:
    """Every few answers the model is taught again, while the person goes on."""
    new = workspace.stores.review.answered_since(workspace.forage_models.last().trained_at)
    if new < ANSWERS_BEFORE_RETRAINING:
        return ""
    studio.background.start(workspace, "review", {"run": run, "retrain": True})
    return f"The model is learning from your {count(new, 'answer')}; you can go on meanwhile."


def _run(request: Request) -> int | None:
    given = request.query_params.get("run", "")
    if not given:
        return None
    if not (given.isascii() and given.isdecimal() and len(given) < 12):
        raise BadRequest("There is no such run.")
    return int(given)
