"""Trained models of a workspace: loading them, their reports, and models that have learned from a run's answers."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from wayhound.app.look_around import pages_beside_trails
from wayhound.errors import ModelError, TeachingError
from wayhound.forage.scorer import Scorer, StrategyInput
from wayhound.forage.scorers import SCORERS
from wayhound.paths.spiders import Material, TrainedModel, settings_from_json, train_strategy, unpack_model
from wayhound.paths.taught_site import resolve_redirects
from wayhound.paths.trail_check import ended_trails
from wayhound.trail import GOAL
from wayhound.workspace import Workspace


@dataclass(frozen=True, slots=True)
class TrainingSource:
    """Training material beside the trails: whole sites with goals, and keywords.

    The sites are folders with a goal label; or with `papers`, all sites that runs have visited, where the goals are the
    files that the paper reader took for papers.
    """

    folders: tuple[str, ...] = ()
    goal: str = ""
    keywords: tuple[str, ...] = ()
    papers: bool = False

    @property
    def has_whole_sites(self) -> bool:
        return bool(self.folders) or self.papers

    @property
    def goal_label(self) -> str:
        """The label of goals in the worlds of this source."""
        return self.goal or GOAL

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> TrainingSource:
        return cls(
            tuple(data.get("folders", ())),
            data.get("goal", ""),
            tuple(data.get("keywords", ())),
            bool(data.get("papers")),
        )


@dataclass(frozen=True, slots=True)
class LabelReport:
    """The measures of one label. Precision, recall and F1 are None if there was no site to hold out."""

    label: str
    reward: float  # of a link to such a page, where a goal is 1
    precision: float | None
    recall: float | None
    f1: float | None
    pages: int  # of held-out trails that have the label
    strongest: tuple[tuple[str, float], ...]


@dataclass(frozen=True, slots=True)
class TrainingReport:
    """The outcome of a training, saved with the model."""

    name: str
    strategy: str
    trails: int
    left_out: int  # trails without an ending
    sites: tuple[str, ...]
    settings: Mapping[str, Any]
    chosen: bool  # True if the settings were chosen by cross-validation
    labels: tuple[LabelReport, ...]
    all_labels: tuple[float, float, float] | None  # mean precision, recall and F1
    source: TrainingSource = field(default_factory=TrainingSource)
    unlabelled: int = 0  # pages of the taught sites beside the trails

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> TrainingReport:
        labels = tuple(
            LabelReport(
                **{**label, "strongest": tuple((name, weight) for name, weight in label["strongest"])}
            )
            for label in data["labels"]
        )
        means = None if data["all_labels"] is None else tuple(data["all_labels"])
        source = TrainingSource.from_json(data.get("source", {}))  # older reports have none
        changed = {"labels": labels, "sites": tuple(data["sites"]), "all_labels": means, "source": source}
        return cls(**{**data, **changed})


def scorer_of(strategy: str, model: TrainedModel) -> Scorer:
    return SCORERS[strategy](StrategyInput(model=model))


def load_forage_model(workspace: Workspace, name: str) -> TrainedModel:
    """Return a trained model, ready for its scorer. Raises ModelError if it is damaged."""
    packed = workspace.forage_models.load(name)
    try:
        return unpack_model(*packed)
    except ModelError as error:
        raise ModelError(f"{error} (models/{name})") from None


async def answered_model(workspace: Workspace, name: str, run_id: int, last_answer: int) -> TrainedModel:
    """Return a model that has learned from the answers of a run up to this one, beside its own trails.

    It is trained once, in a thread, and saved: sites that begin with these answers have the same model, also after a
    crash. Answers that cannot be learned from leave the model as it was.
    """
    key = f"{run_id}-{last_answer}"
    if packed := workspace.forage_models.load_answered(name, key):
        return unpack_model(*packed)
    card = workspace.forage_models.card(name)
    settings = settings_from_json(card.strategy, report_of(workspace, name).settings)
    answers = set(workspace.stores.site_notes.answer_trails(run_id, last_answer))
    kept = [
        one
        for one in workspace.stores.trails.iterate()
        if one.taught_at <= card.trained_at or one.id in answers
    ]
    shown = [one.trail for one in kept if one.id not in answers]
    # other pages of the answered sites are left out: with them, later sites were recognised worse
    material = Material(
        resolve_redirects(ended_trails([one.trail for one in kept])),
        unlabelled=pages_beside_trails(workspace, shown, card.strategy),
        complete=workspace.stores.site_notes.complete.lists(),
    )
    try:
        model = await asyncio.to_thread(train_strategy, card.strategy, material, settings)
    except TeachingError:
        model = load_forage_model(workspace, name)
    workspace.forage_models.save_answered(name, key, model.pack())
    return model


def report_of(workspace: Workspace, name: str) -> TrainingReport:
    """Return the report of a model's training. Raises ModelError if it is damaged."""
    data = workspace.forage_models.card(name).report
    try:
        return TrainingReport.from_json(data)
    except (KeyError, TypeError, ValueError):
        raise ModelError(f"The model models/{name} is damaged: its report cannot be read.") from None


def has_new_trails(workspace: Workspace) -> bool:
    """Return True if trails were added after the last training."""
    models = workspace.forage_models
    trained_at = models.last().trained_at if models.names() else 0.0
    return any(trail.taught_at > trained_at for trail in workspace.stores.trails.summaries())
