"""From the trails of a workspace to a model in it, and a report of how well it tells the labels of other sites."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from wayhound.app.walked import Walked
from wayhound.errors import ModelError, TeachingError
from wayhound.forage.scorer import Scorer, StrategyInput
from wayhound.forage.scorers import SCORERS
from wayhound.paths.cross_validation import LabelScore, LabelScores, choose_settings, leave_one_site_out
from wayhound.paths.model import ForageModel, unpack
from wayhound.paths.questions import bootstrap_trails
from wayhound.paths.settings import LITERAL, PathSettings
from wayhound.paths.taught_site import resolve_redirects
from wayhound.paths.trail_check import check_trails, ended_trails
from wayhound.paths.trainers import TRAINERS
from wayhound.store.review import KeptCandidate
from wayhound.trail import Trail
from wayhound.workspace import Workspace

MEMBERS = 3


def scorer_of(strategy: str, model: ForageModel) -> Scorer:
    return SCORERS[strategy](StrategyInput(model=model))


def teach_committee(
    first: ForageModel,
    trails: Sequence[Trail],
    strategy: str,
    settings: PathSettings,
    on_member: Callable[[int], None] = lambda _: None,
) -> list[Scorer]:
    """The model in use and others, each taught on a draw of the trails; told how many are ready."""
    usable = resolve_redirects(ended_trails(trails))
    scorers = [scorer_of(strategy, first)]
    for view in bootstrap_trails(usable, MEMBERS, np.random.default_rng(len(usable)))[1:]:
        on_member(len(scorers))
        try:
            scorers.append(scorer_of(strategy, TRAINERS[strategy](view, settings)))
        except TeachingError:  # too little in this draw: the committee is smaller, no more
            continue
    return scorers


def candidates_of(walked: Walked, committee: Sequence[Scorer]) -> Iterator[KeptCandidate]:
    """The pages of a site that could be asked about; the start page is known to lead somewhere."""
    readings = [walked.readings(scorer) for scorer in committee]
    alike = walked.links_alike()
    for number, page in walked.pages.items():
        parent = walked.parents[number]
        if parent is None:
            continue
        region = walked.visits[number].link_region
        chances = tuple(reading[number].goal for reading in readings)
        # an answer speaks for the links that stand alike, of many less than of few for each
        stake = math.sqrt(alike[parent, region] or 1)
        yield KeptCandidate(walked.site.start, number, page.url, chances, f"{parent} {region}", stake)


DEFAULT_NAME = "paths"
DEFAULT_STRATEGY = "path-learner"
SETTINGS: Mapping[str, PathSettings | None] = {"tuned": None, "default": PathSettings(), "paper": LITERAL}
"""Settings by name. Tuned ones are chosen by cross-validation on the taught sites."""
DEFAULT_SETTINGS = "tuned"
STRONGEST = 12  # features that a report keeps of each label

OnProgress = Callable[[str, int, int], None]
"""Told what is being done, and how many parts of it are done of how many."""


@dataclass(frozen=True, slots=True)
class LabelReport:
    """What was learned of one label. Without a second site nothing could be held back: no precision, no recall."""

    label: str
    reward: float  # what a link to such a page is worth, in shares of a goal
    precision: float | None
    recall: float | None
    f1: float | None
    pages: int  # of held-back trails that have the label
    strongest: tuple[tuple[str, float], ...]


@dataclass(frozen=True, slots=True)
class TrainingReport:
    """What came of a training; kept with the model."""

    name: str
    strategy: str
    trails: int
    left_out: int  # trails that say nothing of how they ended
    sites: tuple[str, ...]
    settings: Mapping[str, Any]
    chosen: bool  # whether the settings were chosen by cross-validation
    labels: tuple[LabelReport, ...]
    all_labels: tuple[float, float, float] | None  # mean precision, recall and F1

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
        return cls(**{**data, "labels": labels, "sites": tuple(data["sites"]), "all_labels": means})


def load_forage_model(workspace: Workspace, name: str) -> ForageModel:
    """A trained model by its name, ready for its scorer."""
    packed = workspace.forage_models.load(name)
    try:
        return unpack(*packed)
    except ModelError as error:
        raise ModelError(f"{error} (models/{name})") from None


def report_of(workspace: Workspace, name: str) -> TrainingReport:
    """How the training of a model went."""
    told = workspace.forage_models.card(name).report
    try:
        return TrainingReport.from_json(told)
    except (KeyError, TypeError, ValueError):
        raise ModelError(f"The model models/{name} is damaged: its report cannot be read.") from None


def train(
    workspace: Workspace,
    name: str = DEFAULT_NAME,
    strategy: str = DEFAULT_STRATEGY,
    *,
    settings: PathSettings | None = None,
    at: float,
    on_progress: OnProgress = lambda *_: None,
) -> TrainingReport:
    """Learn from all trails of the workspace and keep the model. Without settings, they are chosen by the
    trails: those that tell most of sites held back."""
    workspace.forage_models.check_name(name)
    kept = workspace.stores.trails.trails()
    model, report = learn(kept, name, strategy, settings=settings, on_progress=on_progress)
    workspace.forage_models.save(name, strategy, model.pack(), report.to_json(), at)
    return report


def learn(
    trails: Sequence[Trail],
    name: str = DEFAULT_NAME,
    strategy: str = DEFAULT_STRATEGY,
    *,
    settings: PathSettings | None = None,
    on_progress: OnProgress = lambda *_: None,
) -> tuple[ForageModel, TrainingReport]:
    """The same without a workspace: a model and its report from trails."""
    usable = _usable(trails)
    sites = tuple(dict.fromkeys(trail.site for trail in usable))
    chosen = settings or choose_settings(usable, strategy, _part(on_progress, "choosing settings"))
    scores = None
    if len(sites) > 1:
        scores = leave_one_site_out(usable, strategy, chosen, _part(on_progress, "holding back each site"))
    on_progress("learning from all trails", 0, 1)
    model = TRAINERS[strategy](usable, chosen)
    on_progress("learning from all trails", 1, 1)
    mean = scores.mean if scores else None
    report = TrainingReport(
        name=name,
        strategy=strategy,
        trails=len(usable),
        left_out=len(trails) - len(usable),
        sites=sites,
        settings=chosen.to_json(),
        chosen=settings is None and len(sites) > 1,
        labels=_labels(model, scores),
        all_labels=(mean.precision, mean.recall, mean.f1) if mean else None,
    )
    return model, report


def _usable(trails: Sequence[Trail]) -> list[Trail]:
    usable = resolve_redirects(ended_trails(trails))
    missing = [remark for remark in check_trails(usable or trails) if remark.weight == "stops"]
    if missing:
        raise TeachingError(missing[0].sentence)
    if not usable:
        raise TeachingError(
            "No trail says how it ended, at a Goal or as a Fail, so there is nothing to learn."
        )
    return usable


def _part(on_progress: OnProgress, what: str) -> Callable[[int, int], None]:
    on_progress(what, 0, 1)
    return lambda done, of: on_progress(what, done, of)


def _labels(model: ForageModel, scores: LabelScores | None) -> tuple[LabelReport, ...]:
    """What is worth most comes first: the goals."""
    by_label = {score.label: score for score in scores.by_label} if scores else {}
    rewards = dict(zip(model.labels, model.rewards.tolist(), strict=True))
    ordered = sorted(model.labels, key=lambda label: (-rewards[label], label))
    return tuple(_label(model, label, rewards[label], by_label.get(label)) for label in ordered)


def _label(model: ForageModel, label: str, reward: float, score: LabelScore | None) -> LabelReport:
    return LabelReport(
        label=label,
        reward=reward,
        precision=score.precision if score else None,
        recall=score.recall if score else None,
        f1=score.f1 if score else None,
        pages=score.support if score else 0,
        strongest=tuple(model.strongest(label, STRONGEST)),
    )
