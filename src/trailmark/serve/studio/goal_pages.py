"""Results with their paths, and the button that says that one is none."""

from __future__ import annotations

from dataclasses import dataclass
from io import BytesIO
from itertools import islice

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, Response
from starlette.concurrency import run_in_threadpool

from trailmark.review.questions import Review
from trailmark.serve.studio.forms import Form, read_form
from trailmark.serve.studio.review_pages import told_back
from trailmark.serve.studio.studio import Studio, now, to
from trailmark.serve.studio.visit_address import VisitAddress
from trailmark.serve.studio.words import counted, reasons
from trailmark.store.export import export
from trailmark.store.goals import FoundGoal, GoalStore

ON_A_PAGE = 50


@dataclass(frozen=True, slots=True)
class ShownGoal:
    goal: FoundGoal
    links: tuple[str, ...]
    labels: tuple[str, ...]
    why: str
    query: str
    rejected: int  # pages that were rejected together with it; 0 if it stands


@dataclass(frozen=True, slots=True)
class GoalView:
    run: int
    page: int
    goals: tuple[ShownGoal, ...]
    is_more: bool
    total: int


def shown_goal(goal: FoundGoal, rejected: int = 0) -> ShownGoal:
    links = ("start", *(step.link or step.url for step in goal.path[1:]))
    labels = tuple(step.label for step in goal.path)
    query = VisitAddress(goal.run, goal.site, goal.number).query
    spoke_for_it = [(name, weight) for name, weight in goal.why if weight > 0]
    return ShownGoal(goal, links, labels, reasons(spoke_for_it), query, rejected)


def goal_routes(studio: Studio) -> APIRouter:
    router = APIRouter()

    @router.get("/runs/{run_id}/goals", response_class=HTMLResponse)
    def goals(request: Request, run_id: int, page: int = 1) -> Response:
        page = min(max(page, 1), 1_000_000)
        with studio.workspace() as workspace:
            run = workspace.forage_store.run(run_id)
            found = GoalStore(workspace.database).goals(run.id)
            first = (page - 1) * ON_A_PAGE
            rejected = Review(workspace, run.id).rejections()
            shown = [
                shown_goal(goal, rejected.get((goal.site, goal.number), 0))
                for goal in islice(found, first, first + ON_A_PAGE + 1)
            ]
            total = workspace.forage_store.progress(run.id).goals
        view = GoalView(run_id, page, tuple(shown[:ON_A_PAGE]), len(shown) > ON_A_PAGE, total)
        return studio.html(request, "goals.html", section="/runs", view=view)

    @router.get("/runs/{run_id}/goals.csv")
    def table(run_id: int) -> Response:
        """All results for a spreadsheet."""
        written = BytesIO()
        with studio.workspace() as workspace:
            run = workspace.forage_store.run(run_id)
            export(workspace.database, "goals", "csv", written, run_id=run.id)
        headers = {
            "content-disposition": f'attachment; filename="goals-{run_id}.csv"',
            "cache-control": "no-store",
        }
        return Response(written.getvalue(), headers=headers, media_type="text/csv")

    @router.post("/runs/{run_id}/reject")
    async def reject(request: Request, run_id: int) -> Response:
        form = await read_form(studio, request)
        site, number, all_alike = form.text("site"), form.whole("visit", 0, 10**9), form.text("all") == "yes"

        def act() -> str:
            with studio.workspace() as workspace:
                review = Review(workspace, run_id)
                if all_alike:
                    made = review.reject_group(site, number, now())
                    return f"The list was rejected: {counted(made, 'trail')} made of it."
                review.reject(site, number, now())
            return "Rejected: the path to it is now a trail that fails."

        notice = await run_in_threadpool(act)
        return _back(run_id, form, f"{notice} Retrain in Review to see which sites it changes.")

    @router.post("/runs/{run_id}/unreject")
    async def unreject(request: Request, run_id: int) -> Response:
        form = await read_form(studio, request)
        site, number = form.text("site"), form.whole("visit", 0, 10**9)

        def act() -> str:
            with studio.workspace() as workspace:
                return told_back(Review(workspace, run_id).take_back_of(site, number, now()))

        return _back(run_id, form, await run_in_threadpool(act))

    return router


def _back(run_id: int, form: Form, notice: str) -> Response:
    """To the page of results where the button stood: there it can be undone."""
    page = int(form.number("from_page", 1, 1_000_000) or 1)
    return to(f"/runs/{run_id}/goals", notice, page=page if page > 1 else "")
