"""The start page: the way from trails to results, and how far along it this workspace is."""

from __future__ import annotations

from dataclasses import dataclass

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, Response

from wayhound.paths.trail_check import Remark, check_trails
from wayhound.studio.studio import Studio
from wayhound.studio.train_pages import has_new_trails
from wayhound.wording.quantities import count
from wayhound.workspace import Workspace


@dataclass(frozen=True, slots=True)
class HomeStep:
    title: str
    path: str
    sentence: str
    done: bool
    deed: str  # what the button says while this is the next step
    more: tuple[str, str] = ("", "")  # a second page that belongs to it, and what its link says


@dataclass(frozen=True, slots=True)
class Home:
    name: str
    steps: tuple[HomeStep, ...]
    remarks: list[Remark]

    @property
    def next(self) -> HomeStep | None:
        return next((step for step in self.steps if not step.done), None)


def home_view(workspace: Workspace) -> Home:
    steps = (_trails(workspace), _model(workspace), _runs(workspace), _review(workspace))
    remarks = check_trails(workspace.stores.trails.trails()) if len(workspace.stores.trails) else []
    return Home(workspace.folder.name, steps, remarks)


def _trails(workspace: Workspace) -> HomeStep:
    trails, sites = len(workspace.stores.trails), len(workspace.stores.trails.sites())
    if not trails:
        told = "Click through two or three sites to what you look for, and mark it."
        return HomeStep("Teach", "/teach", told, False, "Open a browser")
    told = f"{count(trails, 'trail')} on {count(sites, 'site')}."
    return HomeStep("Trails", "/trails", told, True, "")


def _model(workspace: Workspace) -> HomeStep:
    names = workspace.forage_models.names()
    if not names:
        return HomeStep("Train", "/train", "Let it learn from your clicks.", False, "Learn now")
    told = f"{count(len(names), 'model')}: {', '.join(names)}."
    if has_new_trails(workspace):
        return HomeStep(
            "Train", "/train", f"{told} Trails were added after it learned.", False, "Learn again"
        )
    return HomeStep("Train", "/train", told, True, "")


def _runs(workspace: Workspace) -> HomeStep:
    runs = workspace.stores.forage.runs()
    if not runs:
        return HomeStep("Runs", "/runs", "Let it walk the other sites by itself.", False, "Begin a run")
    progress = workspace.stores.forage.progress(runs[0].id)
    told = f"{count(len(runs), 'run')}; the last found {count(progress.goals, 'goal')} on "
    results = ("/results", f"See the {count(progress.goals, 'result')}") if progress.goals else ("", "")
    return HomeStep("Runs", "/runs", f"{told}{count(progress.visits, 'page')}.", True, "", results)


def _review(workspace: Workspace) -> HomeStep:
    runs = workspace.stores.forage.runs()
    answers = sum(len(workspace.stores.review.answers(run.id)) for run in runs)
    told = f"{count(answers, 'answer')} given." if answers else "Answer a few questions where it is unsure."
    return HomeStep("Review", "/review", told, bool(answers), "Review the last run")


def home_routes(studio: Studio) -> APIRouter:
    router = APIRouter()

    @router.get("/", response_class=HTMLResponse)
    def home(request: Request) -> Response:
        with studio.workspace() as workspace:
            view = home_view(workspace)
        return studio.html(request, "overview.html", section="/", view=view)

    return router
