"""Train a model on the trails of a workspace, and measure it: precision and recall of its labels on held-out sites."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from wayhound.app import OnProgress
from wayhound.app.evaluate.strategies import tune_q_spider
from wayhound.app.look_around import look_around, pages_beside_trails
from wayhound.app.train.held_out import measure_held_out
from wayhound.app.train.material import spider_material
from wayhound.app.train.models import LabelReport, TrainingReport, TrainingSource
from wayhound.config import Config
from wayhound.errors import TeachingError, UsageError
from wayhound.paths.cross_validation import LabelScore, LabelScores, choose_settings, leave_one_site_out
from wayhound.paths.model import ADAPTIVE_STRATEGY
from wayhound.paths.q_model import PAPER as Q_PAPER
from wayhound.paths.q_model import Q_STRATEGY
from wayhound.paths.settings import LITERAL, PathSettings
from wayhound.paths.spiders import (
    SPIDERS,
    Material,
    Settings,
    TrainedModel,
    change_settings,
    default_settings,
    settings_from_json,
    settings_to_json,
    train_strategy,
)
from wayhound.paths.taught_site import resolve_redirects
from wayhound.paths.trail_check import check_trails, ended_trails
from wayhound.paths.trainers import CompleteLists, UnlabelledPages
from wayhound.trail import Trail
from wayhound.workspace import Workspace

DEFAULT_NAME = "paths"
DEFAULT_STRATEGY = ADAPTIVE_STRATEGY
STRONGEST = 12  # features that a report keeps for each label

SETTINGS: Mapping[str, PathSettings | None] = {"tuned": None, "default": PathSettings(), "paper": LITERAL}
"""Settings by name: tuned by cross-validation over the taught sites, the default ones (fast), those of the paper."""
DEFAULT_SETTINGS = "tuned"


@dataclass(frozen=True, slots=True)
class LookAround:
    """Consent to fetch up to so many pages of each taught site before training, with these settings."""

    pages: int
    config: Config


def train_and_measure(
    workspace: Workspace,
    name: str = DEFAULT_NAME,
    strategy: str = DEFAULT_STRATEGY,
    settings: str = DEFAULT_SETTINGS,
    on_progress: OnProgress = lambda *_: None,
    *,
    changes: Sequence[str] = (),
    source: TrainingSource | None = None,
    looking_around: LookAround | None = None,
) -> TrainingReport:
    """Train a model with settings of this name (`SETTINGS`), then measure it on each taught site, held out.

    `changes` set single settings, as `topology=labels`; then nothing is chosen by cross-validation. With
    `looking_around`, a first model of the trails walks a little over the taught sites before. Raises UsageError for
    a setting that the strategy does not have, or if it learns from trails alone and should look around.
    """
    named = named_settings(strategy, settings)
    chosen = change_settings(named or default_settings(strategy), changes) if changes else named
    tuned = False
    if looking_around is not None:
        if strategy != DEFAULT_STRATEGY:
            raise UsageError(
                f"The strategy {strategy} does not learn from pages beside the trails: leave out the look around."
            )
        first = train(
            workspace,
            name,
            strategy,
            settings=chosen,
            beside_trails=False,
            at=time.time(),
            on_progress=on_progress,
        )
        chosen, tuned = settings_from_json(strategy, first.settings), first.chosen
        look = look_around(workspace, looking_around.config, name, first.sites, looking_around.pages)
        for done, total in look:
            on_progress("looking around the taught sites", done, total)
    report = train(
        workspace,
        name,
        strategy,
        settings=chosen,
        source=source,
        tuned=tuned,
        at=time.time(),
        on_progress=on_progress,
    )
    measure_held_out(workspace, name, on_progress)
    return report


def named_settings(strategy: str, name: str) -> Settings | None:
    """Return the settings of a strategy by a name of `SETTINGS`; None if they are to be tuned."""
    if strategy not in SPIDERS:
        return SETTINGS[name]
    if name == "paper" and strategy == Q_STRATEGY:
        return Q_PAPER
    return None if name == "tuned" else default_settings(strategy)


def train(
    workspace: Workspace,
    name: str = DEFAULT_NAME,
    strategy: str = DEFAULT_STRATEGY,
    *,
    settings: Settings | None = None,
    source: TrainingSource | None = None,
    tuned: bool = False,
    beside_trails: bool = True,
    at: float,
    on_progress: OnProgress = lambda *_: None,
) -> TrainingReport:
    """Train on all trails of the workspace and save the model under `name`.

    With `beside_trails`, other pages of the taught sites that were fetched or seen help too, where the strategy can
    use them. Without settings, those of a path model are chosen by cross-validation over sites; `tuned` says that
    those given were. Raises TeachingError if the material cannot be learned from, and UsageError if the strategy
    cannot use the source.
    """
    workspace.forage_models.check_name(name)
    trails = workspace.stores.trails.trails()
    if strategy in SPIDERS:
        material = spider_material(workspace, trails, strategy, source or TrainingSource())
        model, report = learn_spider(material, name, strategy, settings=settings, on_progress=on_progress)
        report = replace(report, source=source or TrainingSource())
    elif source is not None and source != TrainingSource():
        raise UsageError(f"The strategy {strategy} learns from trails alone: leave out sites and keywords.")
    else:
        assert settings is None or isinstance(settings, PathSettings)
        beside = pages_beside_trails(workspace, trails, strategy) if beside_trails else {}
        model, report = learn(
            trails,
            name,
            strategy,
            settings=settings,
            unlabelled=beside,
            complete=workspace.stores.site_notes.complete.lists() if beside_trails else {},
            on_progress=on_progress,
        )
        report = replace(report, chosen=report.chosen or tuned)
    workspace.forage_models.save(name, strategy, model.pack(), report.to_json(), at)
    return report


def learn(
    trails: Sequence[Trail],
    name: str = DEFAULT_NAME,
    strategy: str = DEFAULT_STRATEGY,
    *,
    settings: PathSettings | None = None,
    unlabelled: UnlabelledPages | None = None,
    complete: CompleteLists | None = None,
    on_progress: OnProgress = lambda *_: None,
) -> tuple[TrainedModel, TrainingReport]:
    """Train a path model on trails without a workspace. Return the model and its report."""
    usable = _usable(trails)
    sites = tuple(dict.fromkeys(trail.site for trail in usable))
    chosen = settings or choose_settings(usable, strategy, _stage(on_progress, "choosing settings"))
    scores = None
    if len(sites) > 1:
        scores = leave_one_site_out(usable, strategy, chosen, _stage(on_progress, "holding out each site"))
    on_progress("learning from all trails", 0, 1)
    material = Material(usable, unlabelled=unlabelled or {}, complete=complete or {})
    model = train_strategy(strategy, material, chosen)
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
        unlabelled=sum(map(len, (unlabelled or {}).values())),
    )
    return model, report


def learn_spider(
    material: Material,
    name: str,
    strategy: str,
    *,
    settings: Settings | None = None,
    on_progress: OnProgress = lambda *_: None,
) -> tuple[TrainedModel, TrainingReport]:
    """Train a spider on recorded or visited sites. Return the model and its report."""
    chosen = settings or _tuned_settings(strategy, material, on_progress)
    on_progress("learning from all sites", 0, 1)
    model = train_strategy(strategy, material, chosen)
    on_progress("learning from all sites", 1, 1)
    named = [site.name for site in material.sites] or [trail.site for trail in material.trails]
    report = TrainingReport(
        name=name,
        strategy=strategy,
        trails=len(material.trails),
        left_out=0,
        sites=tuple(dict.fromkeys(named)),
        settings=settings_to_json(chosen),
        chosen=settings is None and strategy == Q_STRATEGY and len(set(named)) > 1,
        labels=_labels(model, None),
        all_labels=None,
    )
    return model, report


def _tuned_settings(strategy: str, material: Material, on_progress: OnProgress) -> Settings:
    """Return the settings of a spider: those of `q-spider` tuned over its sites, the default ones of others."""
    if strategy != Q_STRATEGY:
        return default_settings(strategy)
    on_progress("choosing settings", 0, 1)
    settings = tune_q_spider(material.sites)
    on_progress("choosing settings", 1, 1)
    return settings


def _usable(trails: Sequence[Trail]) -> list[Trail]:
    usable = resolve_redirects(ended_trails(trails))
    missing = [remark for remark in check_trails(usable or trails) if remark.weight == "stops"]
    if missing:
        raise TeachingError(missing[0].sentence)
    if not usable:
        raise TeachingError("No trail ends with a goal or a rejected page, so there is nothing to learn.")
    return usable


def _stage(on_progress: OnProgress, what: str) -> Callable[[int, int], None]:
    on_progress(what, 0, 1)
    return lambda done, total: on_progress(what, done, total)


def _labels(model: TrainedModel, scores: LabelScores | None) -> tuple[LabelReport, ...]:
    """Return the reports of all labels, the highest reward first."""
    by_label = {score.label: score for score in scores.by_label} if scores else {}
    rewards = dict(zip(model.labels, model.rewards.tolist(), strict=True))
    ordered = sorted(model.labels, key=lambda label: (-rewards[label], label))
    return tuple(_label(model, label, rewards[label], by_label.get(label)) for label in ordered)


def _label(model: TrainedModel, label: str, reward: float, score: LabelScore | None) -> LabelReport:
    return LabelReport(
        label=label,
        reward=reward,
        precision=score.precision if score else None,
        recall=score.recall if score else None,
        f1=score.f1 if score else None,
        pages=score.support if score else 0,
        strongest=tuple(model.strongest(label, STRONGEST)),
    )
