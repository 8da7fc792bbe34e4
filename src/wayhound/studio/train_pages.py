"""Train: start it, watch it, and read in words how good the model is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, Response
from starlette.concurrency import run_in_threadpool

from wayhound.app.held_out import load_held_back
from wayhound.app.train import DEFAULT_NAME, DEFAULT_SETTINGS, DEFAULT_STRATEGY, SETTINGS, report_of
from wayhound.errors import ModelError
from wayhound.paths.trail_check import Remark, check_trails
from wayhound.paths.trainers import TRAINERS
from wayhound.store.jobs import Job
from wayhound.store.model_files import ModelCard
from wayhound.studio.forms import read_form
from wayhound.studio.studio import Studio, to
from wayhound.web.errors import BadRequest
from wayhound.wording.labels import format_label
from wayhound.wording.quantities import count
from wayhound.wording.reasons import format_reasons
from wayhound.wording.training import format_held_out, format_training
from wayhound.workspace import Workspace

WORDS_SHOWN = 4


@dataclass(frozen=True, slots=True)
class ShownLabel:
    label: str
    reward: float
    precision: float | None
    recall: float | None
    pages: int
    words: str


@dataclass(frozen=True, slots=True)
class ShownModel:
    name: str
    strategy: str
    trained_at: float
    summary: str
    held_back: tuple[str, ...]
    labels: tuple[ShownLabel, ...]


@dataclass(frozen=True, slots=True)
class TrainView:
    sentence: str
    has_trails: bool
    has_new_trails: bool  # that the model trained last does not know
    remarks: list[Remark]
    job: Job | None
    models: tuple[ShownModel, ...]
    strategies: tuple[str, ...]
    usual_name: str
    usual_strategy: str
    usual_settings: str


def train_view(workspace: Workspace) -> TrainView:
    trails, sites = len(workspace.stores.trails), len(workspace.stores.trails.sites())
    models = workspace.forage_models
    cards = sorted(map(models.card, models.names()), key=lambda card: -card.trained_at)
    return TrainView(
        f"Learn from {count(trails, 'trail')} on {count(sites, 'site')}.",
        bool(trails),
        has_new_trails(workspace),
        check_trails(workspace.stores.trails.trails()),
        workspace.stores.jobs.last("train"),
        tuple(_shown(workspace, card) for card in cards),
        tuple(TRAINERS),
        DEFAULT_NAME,
        DEFAULT_STRATEGY,
        DEFAULT_SETTINGS,
    )


def has_new_trails(workspace: Workspace) -> bool:
    """Whether trails were added after the last training."""
    models = workspace.forage_models
    trained_at = models.last().trained_at if models.names() else 0.0
    return any(trail.taught_at > trained_at for trail in workspace.stores.trails.summaries())


def _shown(workspace: Workspace, card: ModelCard) -> ShownModel:
    told = tuple(format_held_out(held) for held in load_held_back(workspace, card.name))
    try:
        report = report_of(workspace, card.name)
    except ModelError as error:
        return ShownModel(card.name, card.strategy, card.trained_at, str(error), (), ())
    labels = tuple(
        ShownLabel(
            format_label(each.label), each.reward, each.precision, each.recall, each.pages, _words(each.strongest)
        )
        for each in report.labels
    )  # fmt: skip
    return ShownModel(card.name, card.strategy, card.trained_at, format_training(report), told, labels)


def _words(strongest: Sequence[tuple[str, float]]) -> str:
    return format_reasons(strongest, WORDS_SHOWN, digits=1)


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
        given = {name: form.text(name) for name in ("name", "strategy", "settings")}
        if given["strategy"] not in TRAINERS or given["settings"] not in SETTINGS:
            raise BadRequest("There is no such strategy or choice of settings.")

        def act() -> None:
            with studio.workspace() as workspace:
                workspace.forage_models.check_name(given["name"])
                studio.background.start(workspace, "train", given)

        await run_in_threadpool(act)
        return to("/train")

    return router
