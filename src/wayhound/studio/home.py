"""The start page: the steps from teaching to results, and how far this workspace has come."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, Response

from wayhound.app.facts.search import fact_kinds
from wayhound.app.trails import check
from wayhound.app.train.models import has_new_trails
from wayhound.paths.trail_check import Remark
from wayhound.studio.studio import Studio
from wayhound.wording.papers import papers_and_documents
from wayhound.wording.quantities import count
from wayhound.wording.runs import format_pages
from wayhound.workspace import Workspace


@dataclass(frozen=True, slots=True)
class HomeStep:
    title: str
    path: str
    sentence: str
    done: bool
    button: str = ""  # text of the button while this is the next step
    links: tuple[tuple[str, str], ...] = ()  # address and text of pages that belong to it


@dataclass(frozen=True, slots=True)
class StudioHome:
    name: str
    steps: tuple[HomeStep, ...]
    remarks: list[Remark]
    has_records: bool  # goals or papers, which a portal can show

    @property
    def next(self) -> HomeStep | None:
        return next((step for step in self.steps if not step.done), None)


def home_view(workspace: Workspace) -> StudioHome:
    steps = (
        _teaching(workspace),
        _training(workspace),
        _runs(workspace),
        _review(workspace),
        *_facts(workspace),
        *_relationships(workspace),
        *_papers(workspace),
    )
    remarks = check(workspace) if len(workspace.stores.trails) else []
    has_records = bool(workspace.stores.catalogue.counts())
    return StudioHome(workspace.folder.name, steps, remarks, has_records)


def _teaching(workspace: Workspace) -> HomeStep:
    trails, sites = len(workspace.stores.trails), len(workspace.stores.trails.sites())
    if not trails:
        sentence = "Click through two or three sites to what you are looking for, and mark it."
        return HomeStep("Teach", "/teach", sentence, False, "Open a browser")
    sentence = f"{count(trails, 'trail')} on {count(sites, 'site')}."
    return HomeStep("Teach", "/teach", sentence, True, links=(("/trails", "See the trails"),))


def _training(workspace: Workspace) -> HomeStep:
    names = workspace.forage_models.names()
    if not names:
        return HomeStep("Train", "/train", "Train a model on your trails.", False, "Train")
    sentence = f"{count(len(names), 'model')}: {', '.join(names)}."
    if has_new_trails(workspace):
        return HomeStep("Train", "/train", f"{sentence} There are newer trails.", False, "Train again")
    return HomeStep("Train", "/train", sentence, True)


def _runs(workspace: Workspace) -> HomeStep:
    runs = workspace.stores.forage.runs()
    if not runs:
        return HomeStep("Forage", "/runs", "Let it search other sites.", False, "Start a run")
    progress = workspace.stores.forage.progress(runs[0].id)
    sentence = (
        f"{count(len(runs), 'run')}; the last one found {count(progress.goals, 'goal')} "
        f"on {format_pages(progress)}."
    )
    links = (("/results", f"See the {count(progress.goals, 'result')}"),) if progress.goals else ()
    return HomeStep("Forage", "/runs", sentence, True, links=links)


def _review(workspace: Workspace) -> HomeStep:
    runs = workspace.stores.forage.runs()
    answers = sum(len(workspace.stores.review.answers(run.id)) for run in runs)
    sentence = f"{count(answers, 'answer')} so far." if answers else "Answer questions where it is unsure."
    return HomeStep("Review", "/review", sentence, bool(answers), "Review the last run")


def _facts(workspace: Workspace) -> Iterator[HomeStep]:
    """Yield a step for facts, if any were extracted."""
    entities = [
        count(described, kind.label.lower(), kind.plural.lower())
        for name, kind in fact_kinds(workspace).items()
        if (described := len(workspace.stores.facts.states(name)))
    ]
    if entities:
        yield HomeStep(
            "Facts", "/facts", f"{', '.join(entities)}.", True, links=(("/facts", "See the table"),)
        )


def _relationships(workspace: Workspace) -> Iterator[HomeStep]:
    """Yield a step for relationships between pages, if any were shown."""
    chains = workspace.stores.chains
    names = [known.relationship.name for known in chains.relationships()]
    if names:
        instances = sum(map(chains.count, names))
        sentence = f"{count(len(names), 'relationship')}, {count(instances, 'instance')}."
        yield HomeStep("Relations", "/chains", sentence, True)


def _papers(workspace: Workspace) -> Iterator[HomeStep]:
    """Yield a step for papers, if there are any or runs have fetched files."""
    counts = workspace.stores.catalogue.counts()
    papers, documents = counts.get("paper", 0), counts.get("document", 0)
    files = sum(1 for _ in workspace.stores.documents.found_by_forage())
    if papers or documents or files:
        unread = f" {count(files, 'fetched file')} not read yet." if files else ""
        links = (("/topics", "Topics"),) if papers or documents else ()
        yield HomeStep(
            "Papers",
            "/papers",
            f"{papers_and_documents(papers, documents)}.{unread}",
            not files,
            "Read files",
            links,
        )


def home_routes(studio: Studio) -> APIRouter:
    router = APIRouter()

    @router.get("/", response_class=HTMLResponse)
    def home(request: Request) -> Response:
        with studio.workspace() as workspace:
            view = home_view(workspace)
        return studio.html(request, "overview.html", section="/", view=view)

    return router
