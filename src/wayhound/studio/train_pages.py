"""Train: start a training, watch it, and see how good the models are."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, Response

from wayhound.app.look_around import PAGES_A_SITE, shown_goals, suspected_goals
from wayhound.app.trails import check
from wayhound.app.train.held_out import load_held_out
from wayhound.app.train.material import PAPER
from wayhound.app.train.models import LabelReport, has_new_trails, report_of
from wayhound.app.train.training import DEFAULT_NAME, DEFAULT_SETTINGS, DEFAULT_STRATEGY, SETTINGS
from wayhound.errors import ModelError
from wayhound.paths.spiders import STRATEGY_NAMES
from wayhound.paths.trail_check import Remark
from wayhound.store.jobs import Job
from wayhound.store.model_files import ModelCard
from wayhound.studio.studio import Studio, read_form, to
from wayhound.web.pages import BadRequest
from wayhound.wording.quantities import count, format_label
from wayhound.wording.reasons import format_reasons
from wayhound.wording.training import format_held_out, format_outlook, format_training
from wayhound.workspace import Workspace

FEATURES_SHOWN = 4
SETTINGS_NAMES = {
    "tuned": "tuned by cross-validation (best)",
    "default": "default (quick)",
    "paper": "of the paper",
}


@dataclass(frozen=True, slots=True)
class ShownLabel:
    name: str
    report: LabelReport
    words: str


@dataclass(frozen=True, slots=True)
class ShownModel:
    card: ModelCard
    summary: str
    held_out: tuple[str, ...] = ()
    labels: tuple[ShownLabel, ...] = ()


@dataclass(frozen=True, slots=True)
class TrainView:
    sentence: str
    has_trails: bool
    papers: int  # found by runs, which may be the goals
    has_new_trails: bool  # that no model has learned from
    remarks: list[Remark]
    job: Job | None
    models: tuple[ShownModel, ...]
    strategies: tuple[str, ...] = STRATEGY_NAMES
    settings: tuple[tuple[str, str], ...] = tuple((name, SETTINGS_NAMES[name]) for name in SETTINGS)
    default_name: str = DEFAULT_NAME
    default_strategy: str = DEFAULT_STRATEGY
    default_settings: str = DEFAULT_SETTINGS
    look_around_pages: int = PAGES_A_SITE
    complete: Mapping[str, bool] = field(
        default_factory=dict
    )  # taught sites, and if all their goals are listed


def train_view(workspace: Workspace) -> TrainView:
    job = workspace.stores.jobs.last("train")  # before what it writes: the page never shows half of it
    trails, sites = len(workspace.stores.trails), len(workspace.stores.trails.sites())
    models = workspace.forage_models
    cards = sorted(map(models.card, models.names()), key=lambda card: -card.trained_at)
    return TrainView(
        sentence=f"Learn from {count(trails, 'trail')} on {count(sites, 'site')}.",
        has_trails=bool(trails),
        papers=workspace.stores.documents.outcomes().get(PAPER, 0),
        has_new_trails=has_new_trails(workspace),
        remarks=check(workspace) if trails else [],
        job=job,
        models=tuple(_shown(workspace, card) for card in cards),
        complete={
            site: site in workspace.stores.site_notes.complete.lists()
            for site in workspace.stores.trails.sites()
        },
    )


def _shown(workspace: Workspace, card: ModelCard) -> ShownModel:
    try:
        report = report_of(workspace, card.name)
    except ModelError as error:
        return ShownModel(card, str(error))
    return ShownModel(
        card=card,
        summary=f"{format_training(report)} {format_outlook(report)}".strip(),
        held_out=tuple(map(format_held_out, load_held_out(workspace, card.name))),
        labels=tuple(
            ShownLabel(
                format_label(label.label), label, format_reasons(label.strongest, FEATURES_SHOWN, digits=1)
            )
            for label in report.labels
        ),
    )


def train_routes(studio: Studio) -> APIRouter:
    router = APIRouter()

    @router.get("/train", response_class=HTMLResponse)
    def train(request: Request) -> Response:
        with studio.workspace() as workspace:
            studio.background.clean_up(workspace)
            view = train_view(workspace)
        return studio.html(request, "train.html", section="/train", view=view)

    @router.post("/train")
    async def start(request: Request) -> Response:
        form = await read_form(studio, request)
        name = form.text("name")
        arguments = {
            "name": name,
            "strategy": form.text("strategy") or DEFAULT_STRATEGY,
            "settings": form.text("settings") or DEFAULT_SETTINGS,
            "look_around": PAGES_A_SITE if form.checked("look_around") else None,
            "papers": form.checked("papers"),
        }
        if arguments["strategy"] not in STRATEGY_NAMES or arguments["settings"] not in SETTINGS:
            raise BadRequest("There is no such strategy or choice of settings.")

        def act(workspace: Workspace) -> None:
            workspace.forage_models.check_name(name)
            studio.background.start(workspace, "train", arguments)

        await studio.run(act)
        return to("/train")

    return router


# Are these all?


@dataclass(frozen=True, slots=True)
class CompleteView:
    site: str
    shown: Mapping[str, str]
    suspects: Mapping[str, str]
    is_complete: bool


def complete_routes(studio: Studio) -> APIRouter:
    """Routes on which a person says that all goals of a taught site are known."""
    router = APIRouter()

    @router.get("/train/complete", response_class=HTMLResponse)
    def complete(request: Request) -> Response:
        site = request.query_params.get("site", "")
        with studio.workspace() as workspace:
            listed = workspace.stores.site_notes.complete.lists().get(site)
            shown, suspects = shown_goals(workspace, site), suspected_goals(workspace, site)
        known = {url: title for url, title in suspects.items() if url in (listed or ())}
        view = CompleteView(
            site,
            shown | known,
            {url: title for url, title in suspects.items() if url not in known},
            listed is not None,
        )
        return studio.html(request, "complete.html", section="/train", view=view)

    @router.post("/train/complete")
    async def save(request: Request) -> Response:
        form = await read_form(studio, request)
        site = form.text("site")

        def act(workspace: Workspace) -> str:
            complete = workspace.stores.site_notes.complete
            if form.text("do") == "incomplete":
                complete.remove(site)
                return f"Taken back: {site} may have more goals."
            goals = {*shown_goals(workspace, site), *form.texts("goal")}
            complete.add(site, goals, time.time())
            return f"Saved: {count(len(goals), 'goal')} of {site}, and no other. Train to learn from it."

        return to("/train", await studio.run(act))

    return router
