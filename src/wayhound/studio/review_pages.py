"""Review: questions about one page at a time, answered by one key; training in the background; what changes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, Response

from wayhound.app.explain import visited_path
from wayhound.app.order import Order
from wayhound.app.review import RETRAIN_AFTER, Review, ReviewQuestion, new_answers
from wayhound.paths.questions import StopAsking
from wayhound.store.jobs import Job
from wayhound.store.protocol import Run
from wayhound.store.review import SiteChange
from wayhound.studio.rendering import PAGE_WITH_FRAME
from wayhound.studio.studio import Studio, VisitAddress, now, query_number, read_form, to
from wayhound.trail import FAIL, GOAL
from wayhound.web.pages import BadRequest, NotFound
from wayhound.wording.quantities import count
from wayhound.wording.runs import format_order
from wayhound.wording.undo import format_review_undo
from wayhound.workspace import Workspace


@dataclass(frozen=True, slots=True)
class ShownQuestion:
    site: str
    visit: int
    url: str
    title: str
    link_texts: tuple[str, ...]
    probability: float
    least: float  # by the committee
    most: float
    frame: str
    ratings: str


@dataclass(frozen=True, slots=True)
class MissingStep:
    """A step that is needed before there are questions, and its page."""

    sentence: str
    path: str
    button: str


@dataclass(frozen=True, slots=True)
class ReviewView:
    runs: tuple[tuple[int, str], ...]
    job: Job | None
    missing: MissingStep | None = None
    run: int = 0
    question: ShownQuestion | None = None
    is_prepared: bool = False
    stop_reason: str = ""
    answers: int = 0
    new_answers: int = 0
    labels: tuple[str, ...] = ()
    changes: tuple[SiteChange, ...] = ()
    sites: int = 0
    model: str = ""
    budget: int = 0


def review_view(workspace: Workspace, run_id: int | None) -> ReviewView:
    known = workspace.stores.forage.runs()
    runs = tuple((run.id, format_order(run.identity)) for run in known)
    job = workspace.stores.jobs.last("review")
    run = run_id if run_id is not None else _run_to_review(known)
    if run not in {number for number, _ in runs} or not workspace.forage_models.names():
        return ReviewView(runs, job, _missing_step(workspace))
    question = Review(workspace, run).next_question()
    store = workspace.stores.review
    return ReviewView(
        runs=runs,
        job=job,
        run=run,
        question=_shown(workspace, run, question) if isinstance(question, ReviewQuestion) else None,
        is_prepared=question is not None,
        stop_reason=question.reason if isinstance(question, StopAsking) else "",
        answers=len(store.answers(run)),
        new_answers=new_answers(workspace),
        labels=tuple(label for label in workspace.stores.trails.labels() if label not in (GOAL, FAIL)),
        changes=tuple(store.changes(run)),
        sites=workspace.stores.forage.progress(run).sites,
        model=workspace.forage_models.last().name,
        budget=workspace.config.forage.budget_per_site,
    )


def _run_to_review(runs: Sequence[Run]) -> int:
    """Return the newest run that followed a model, since answers improve models; else the newest, or 0."""
    taught = (run.id for run in runs if Order.from_identity(run.identity).model)
    return next(taught, runs[0].id if runs else 0)


def _missing_step(workspace: Workspace) -> MissingStep:
    if not len(workspace.stores.trails):
        return MissingStep(
            "A model asks the questions. First show it the way on two or three sites.", "/teach", "Teach"
        )
    if not workspace.forage_models.names():
        return MissingStep("A model asks the questions. First train one on your trails.", "/train", "Train")
    return MissingStep(
        "The questions are about pages that a run visited. First forage some sites.", "/runs", "Start a run"
    )


def _shown(workspace: Workspace, run: int, asked: ReviewQuestion) -> ShownQuestion:
    candidate = asked.candidate
    path = visited_path(workspace, run, candidate.site, candidate.number)
    query = VisitAddress(run, candidate.site, candidate.number).query
    return ShownQuestion(
        site=candidate.site,
        visit=candidate.number,
        url=candidate.url,
        title=path.page.title or candidate.url,
        link_texts=path.link_texts,
        probability=asked.question.candidate.probability,
        least=min(candidate.chances),
        most=max(candidate.chances),
        frame=f"/ratings/page?{query}",
        ratings=f"/ratings?{query}",
    )


def review_routes(studio: Studio) -> APIRouter:
    router = APIRouter()

    @router.get("/review", response_class=HTMLResponse)
    def review(request: Request) -> Response:
        run = query_number(request, "run")
        if run is None and request.query_params.get("run"):
            raise NotFound("There is no such run.")
        with studio.workspace() as workspace:
            studio.background.clean_up(workspace)
            view = review_view(workspace, run)
        headers = {"content-security-policy": PAGE_WITH_FRAME}
        return studio.html(request, "review.html", section="/review", view=view, headers=headers)

    @router.post("/review/prepare")
    async def prepare(request: Request) -> Response:
        """Prepare questions in the background; with new answers, train again first."""
        form = await read_form(studio, request)
        run = form.run_id()

        def act(workspace: Workspace) -> None:
            workspace.stores.forage.run(run)
            arguments = {"run": run, "retrain": form.checked("retrain")}
            studio.background.start(workspace, "review", arguments)

        await studio.run(act)
        return to("/review", run=run)

    @router.post("/review/answer")
    async def answer(request: Request) -> Response:
        form = await read_form(studio, request)
        run, (site, number), label = form.run_id(), form.visit(), form.text("label")
        answers = {"goal": GOAL, "reject": FAIL, "skip": "", "label": label}
        chosen = answers.get(form.text("answer"))
        if chosen is None or (form.text("answer") == "label" and not label):
            raise BadRequest("Choose Goal, Reject, a label, or Cannot say.")

        def act(workspace: Workspace) -> str:
            Review(workspace, run).answer(site, number, chosen, now())
            return _retrain_if_due(studio, workspace, run)

        return to("/review", await studio.run(act), run=run)

    @router.post("/review/undo")
    async def undo(request: Request) -> Response:
        run = (await read_form(studio, request)).run_id()
        answers = await studio.run(lambda workspace: Review(workspace, run).undo(now()))
        return to("/review", format_review_undo(answers), run=run)

    return router


def _retrain_if_due(studio: Studio, workspace: Workspace, run: int) -> str:
    """Train again in the background after some answers, while the person goes on. Return a notice."""
    unlearned = new_answers(workspace)
    if unlearned < RETRAIN_AFTER:
        return ""
    studio.background.start(workspace, "review", {"run": run, "retrain": True})
    return f"The model is learning from your {count(unlearned, 'answer')}; you can go on meanwhile."
