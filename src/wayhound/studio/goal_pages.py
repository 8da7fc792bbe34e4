"""Results with their paths, and the button that says that one is none."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlencode

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, Response
from starlette.concurrency import run_in_threadpool

from wayhound.app.review import Review
from wayhound.store.goals import FoundGoal
from wayhound.store.protocol import Run
from wayhound.studio.forms import Form, read_form
from wayhound.studio.run_pages import is_by_model
from wayhound.studio.studio import Studio, VisitAddress, now, to
from wayhound.studio.tables import GOAL_COLUMNS, Paging, csv_text, download, goal_rows, page_asked, spoke_for
from wayhound.wording.quantities import count
from wayhound.wording.runs import format_order
from wayhound.wording.undo import format_review_undo
from wayhound.workspace import Workspace

ON_A_PAGE = 50
LONGEST_SEARCH = 200


@dataclass(frozen=True, slots=True)
class ShownGoal:
    goal: FoundGoal
    links: tuple[str, ...]
    labels: tuple[str, ...]
    why: str
    query: str
    rejected: int  # pages that were rejected together with it; 0 if it stands


@dataclass(frozen=True, slots=True)
class GoalChoice:
    """Which results are asked for, in which order, and which page of them."""

    said: str = ""
    unsure_first: bool = False
    page: int = 1

    @classmethod
    def of(cls, request: Request) -> GoalChoice:
        query = request.query_params
        said = query.get("q", "").strip()[:LONGEST_SEARCH]
        return cls(said, query.get("order") == "unsure", page_asked(request))

    @property
    def query(self) -> str:
        """For addresses of other pages of the same results."""
        given = {"q": self.said, "order": "unsure" if self.unsure_first else ""}
        return urlencode({name: value for name, value in given.items() if value})


@dataclass(frozen=True, slots=True)
class GoalView:
    run: int
    what: str
    total: int
    goals: tuple[ShownGoal, ...]
    choice: GoalChoice
    paging: Paging
    runs: tuple[tuple[int, str], ...]
    by_model: bool  # else goals are told by words, and none is surer than another
    is_over: bool


def shown_goal(goal: FoundGoal, rejected: int = 0) -> ShownGoal:
    links = ("start", *(step.link or step.url for step in goal.path[1:]))
    labels = tuple(step.label for step in goal.path)
    query = VisitAddress(goal.run, goal.site, goal.number).query
    return ShownGoal(goal, links, labels, spoke_for(goal), query, rejected)


def goal_view(workspace: Workspace, run: Run, choice: GoalChoice) -> GoalView:
    store, progress = workspace.stores.goals, workspace.stores.forage.progress(run.id)
    paging = Paging.of(choice.page, store.count(run.id, choice.said), ON_A_PAGE)
    found = store.page(
        run.id, choice.said, unsure_first=choice.unsure_first, limit=ON_A_PAGE, offset=paging.first
    )
    rejected = Review(workspace, run.id).rejections()
    runs = workspace.stores.forage.runs()
    return GoalView(
        run.id,
        format_order(run.identity),
        progress.goals,
        tuple(shown_goal(goal, rejected.get((goal.site, goal.number), 0)) for goal in found),
        choice,
        paging,
        tuple((each.id, format_order(each.identity)) for each in runs),
        is_by_model(run.identity),
        progress.is_over,
    )


def goal_routes(studio: Studio) -> APIRouter:
    router = APIRouter()

    @router.get("/results", response_class=HTMLResponse)
    def last_results(request: Request) -> Response:
        """The results of the run that is asked for, else of the last one."""
        with studio.workspace() as workspace:
            runs = workspace.stores.forage.runs()
        asked = request.query_params.get("run", "")
        chosen = next((run.id for run in runs if str(run.id) == asked), runs[0].id if runs else None)
        if chosen is None:
            return studio.html(request, "no_results.html", section="/results")
        return to(f"/runs/{chosen}/goals")

    @router.get("/runs/{run_id}/goals", response_class=HTMLResponse)
    def goals(request: Request, run_id: int) -> Response:
        with studio.workspace() as workspace:
            view = goal_view(workspace, workspace.stores.forage.run(run_id), GoalChoice.of(request))
        return studio.html(request, "goals.html", section="/results", view=view)

    @router.get("/runs/{run_id}/goals.csv")
    def table(request: Request, run_id: int) -> Response:
        """All results, or those with the words asked for, for a spreadsheet."""
        said = GoalChoice.of(request).said
        with studio.workspace() as workspace:
            run = workspace.stores.forage.run(run_id)
            store = workspace.stores.goals
            found = iter(store.page(run.id, said, limit=-1, offset=0)) if said else store.goals(run.id)
            rejected = Review(workspace, run.id).rejections()
            rows = goal_rows(found, rejected, by_model=is_by_model(run.identity))
            return download(f"results-{run_id}.csv", csv_text(GOAL_COLUMNS, rows))

    @router.post("/runs/{run_id}/reject")
    async def reject(request: Request, run_id: int) -> Response:
        form = await read_form(studio, request)
        site, number, all_alike = form.text("site"), form.whole("visit", 0, 10**9), form.text("all") == "yes"

        def act() -> str:
            with studio.workspace() as workspace:
                review = Review(workspace, run_id)
                if all_alike:
                    made = review.reject_group(site, number, now())
                    return f"The list was rejected: {count(made, 'trail')} made of it."
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
                return format_review_undo(Review(workspace, run_id).take_back_of(site, number, now()))

        return _back(run_id, form, await run_in_threadpool(act))

    return router


def _back(run_id: int, form: Form, notice: str) -> Response:
    """To the page of results where the button stood: there it can be undone."""
    page = int(form.number("from_page", 1, 1_000_000) or 1)
    asked = {"q": form.text("q"), "order": form.text("order"), "page": page if page > 1 else ""}
    return to(f"/runs/{run_id}/goals", notice, **asked)
