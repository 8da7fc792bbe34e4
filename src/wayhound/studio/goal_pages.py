"""Results: the goals of a run with the clicks that led to them, and buttons to reject them."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlencode

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, Response

from wayhound.app.forage import has_probabilities
from wayhound.app.review import Review
from wayhound.store.goals import FoundGoal
from wayhound.store.protocol import Run
from wayhound.studio.studio import Studio, StudioForm, VisitAddress, now, query_number, read_form, to
from wayhound.studio.tables import Paging, download_table, requested_page
from wayhound.wording.quantities import count
from wayhound.wording.reasons import format_main_reason, format_reasons, supporting
from wayhound.wording.runs import format_order
from wayhound.wording.undo import format_review_undo
from wayhound.workspace import Workspace

ON_A_PAGE = 50
LONGEST_SEARCH = 200


@dataclass(frozen=True, slots=True)
class ShownGoal:
    goal: FoundGoal
    links: tuple[str, ...]
    main_reason: str
    why: str  # with numbers
    query: str
    rejected: int  # pages that were rejected at once with it; 0 if it is not rejected


@dataclass(frozen=True, slots=True)
class GoalFilter:
    """The filter, order and page of a list of results."""

    words: str = ""
    unsure_first: bool = False
    page: int = 1

    @classmethod
    def of(cls, request: Request) -> GoalFilter:
        query = request.query_params
        words = query.get("q", "").strip()[:LONGEST_SEARCH]
        return cls(words, query.get("order") == "unsure", requested_page(request))

    @property
    def query(self) -> str:
        """The query of addresses of other pages of the same results."""
        fields = {"q": self.words, "order": "unsure" if self.unsure_first else ""}
        return urlencode({name: value for name, value in fields.items() if value})


@dataclass(frozen=True, slots=True)
class GoalView:
    run: int
    what: str
    total: int
    likely: int
    goals: tuple[ShownGoal, ...]
    filter: GoalFilter
    paging: Paging
    runs: tuple[tuple[int, str], ...]
    by_model: bool  # else by words
    has_probabilities: bool  # else a pattern decided which pages are goals
    is_over: bool


def goal_view(workspace: Workspace, run: Run, chosen: GoalFilter) -> GoalView:
    store, progress = workspace.stores.goals, workspace.stores.forage.progress(run.id)
    paging = Paging.of(chosen.page, store.count(run.id, chosen.words), ON_A_PAGE)
    goals = store.page(
        run.id, chosen.words, unsure_first=chosen.unsure_first, limit=ON_A_PAGE, offset=paging.first
    )
    rejected = Review(workspace, run.id).rejections()
    return GoalView(
        run=run.id,
        what=format_order(run.identity),
        total=progress.goals,
        likely=progress.likely,
        goals=tuple(_shown(goal, rejected.get((goal.site, goal.number), 0)) for goal in goals),
        filter=chosen,
        paging=paging,
        runs=tuple((other.id, format_order(other.identity)) for other in workspace.stores.forage.runs()),
        by_model="model" in run.identity,
        has_probabilities=has_probabilities(workspace, run),
        is_over=progress.is_over,
    )


def _shown(goal: FoundGoal, rejected: int) -> ShownGoal:
    return ShownGoal(
        goal=goal,
        links=("start", *(step.link or step.url for step in goal.path[1:])),
        main_reason=format_main_reason(goal.why),
        why=format_reasons(supporting(goal.why)),
        query=VisitAddress(goal.run, goal.site, goal.number).query,
        rejected=rejected,
    )


def goal_routes(studio: Studio) -> APIRouter:
    router = APIRouter()

    @router.get("/results", response_class=HTMLResponse)
    def results(request: Request) -> Response:
        """Redirect to the results of the requested run, by default the last one."""
        with studio.workspace() as workspace:
            runs = [run.id for run in workspace.stores.forage.runs()]
        if not runs:
            return studio.html(request, "no_results.html", section="/results")
        requested = query_number(request, "run")
        return to(f"/runs/{requested if requested in runs else runs[0]}/goals")

    @router.get("/runs/{run_id}/goals", response_class=HTMLResponse)
    def goals(request: Request, run_id: int) -> Response:
        with studio.workspace() as workspace:
            view = goal_view(workspace, workspace.stores.forage.run(run_id), GoalFilter.of(request))
        return studio.html(request, "goals.html", section="/results", view=view)

    @router.get("/runs/{run_id}/goals.csv")
    def table(request: Request, run_id: int) -> Response:
        """Return all results, or those that match the search, as `wayhound export` writes them."""
        words = GoalFilter.of(request).words
        with studio.workspace() as workspace:
            run = workspace.stores.forage.run(run_id)
            return download_table(workspace, "goals", run.id, f"results-{run_id}.csv", words)

    return router


def rejection_routes(studio: Studio) -> APIRouter:
    """Routes that reject results, and undo that."""
    router = APIRouter()

    @router.post("/runs/{run_id}/reject")
    async def reject(request: Request, run_id: int) -> Response:
        form = await read_form(studio, request)
        site, number = form.visit()

        def act(workspace: Workspace) -> str:
            review = Review(workspace, run_id)
            if form.checked("all"):
                trails = review.reject_list(site, number, now())
                return f"The list was rejected, which added {count(trails, 'trail')}."
            review.reject(site, number, now())
            return "Rejected: the path to this page was added to the trails."

        notice = await studio.run(act)
        return _back(run_id, form, f"{notice} Train again in Review to see which results change.")

    @router.post("/runs/{run_id}/unreject")
    async def unreject(request: Request, run_id: int) -> Response:
        form = await read_form(studio, request)
        site, number = form.visit()
        answers = await studio.run(lambda workspace: Review(workspace, run_id).undo_for(site, number, now()))
        return _back(run_id, form, format_review_undo(answers))

    return router


def _back(run_id: int, form: StudioForm, notice: str) -> Response:
    """Redirect to the page of results that the button was on, where it can be undone."""
    page = int(form.number("from_page", 1, 1_000_000) or 1)
    query = {"q": form.text("q"), "order": form.text("order"), "page": page if page > 1 else ""}
    return to(f"/runs/{run_id}/goals", notice, **query)
