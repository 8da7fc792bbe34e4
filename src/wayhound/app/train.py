"""Train a model on the trails of a workspace, and measure it on sites that it was not trained on.

Two measurements are saved with a model: precision and recall of its labels on held-out sites, and how many pages
it needs to find the goals of a held-out site. For the second, each taught site is foraged again without a fetch,
over the pages of it that are known: taught ones and visited ones. Its goals are those that a person marked; pages
in the same list as a goal that nobody has judged are left out.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from wayhound.app.visited_site import read_site
from wayhound.errors import ModelError, TeachingError
from wayhound.forage.scorer import Scorer, StrategyInput
from wayhound.forage.scorers import SCORERS
from wayhound.page import Page
from wayhound.paths.cross_validation import LabelScore, LabelScores, choose_settings, leave_one_site_out
from wayhound.paths.model import ForageModel, unpack
from wayhound.paths.settings import LITERAL, PathSettings
from wayhound.paths.taught_site import resolve_redirects
from wayhound.paths.trail_check import check_trails, ended_trails
from wayhound.paths.trainers import TRAINERS
from wayhound.site import Site
from wayhound.trail import GOAL, Trail
from wayhound.workspace import Workspace

if TYPE_CHECKING:
    from wayhound.app.evaluate.world import World

DEFAULT_NAME = "paths"
DEFAULT_STRATEGY = "path-learner"
STRONGEST = 12  # features that a report keeps for each label

SETTINGS: Mapping[str, PathSettings | None] = {"tuned": None, "default": PathSettings(), "paper": LITERAL}
"""Settings by name: tuned by cross-validation over the taught sites, the default ones (fast), those of the paper."""
DEFAULT_SETTINGS = "tuned"

OnProgress = Callable[[str, int, int], None]
"""Called with what is being done, and how many of how many parts of it are done."""


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


def train(
    workspace: Workspace,
    name: str = DEFAULT_NAME,
    strategy: str = DEFAULT_STRATEGY,
    *,
    settings: PathSettings | None = None,
    at: float,
    on_progress: OnProgress = lambda *_: None,
) -> TrainingReport:
    """Train on all trails of the workspace and save the model under `name`.

    Without settings, they are chosen by cross-validation over sites. Raises TeachingError if the trails cannot be
    learned from.
    """
    workspace.forage_models.check_name(name)
    trails = workspace.stores.trails.trails()
    model, report = learn(trails, name, strategy, settings=settings, on_progress=on_progress)
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
    """Train on trails without a workspace. Return the model and its report."""
    usable = _usable(trails)
    sites = tuple(dict.fromkeys(trail.site for trail in usable))
    chosen = settings or choose_settings(usable, strategy, _stage(on_progress, "choosing settings"))
    scores = None
    if len(sites) > 1:
        scores = leave_one_site_out(usable, strategy, chosen, _stage(on_progress, "holding out each site"))
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
        raise TeachingError("No trail ends with a goal or a rejected page, so there is nothing to learn.")
    return usable


def _stage(on_progress: OnProgress, what: str) -> Callable[[int, int], None]:
    on_progress(what, 0, 1)
    return lambda done, total: on_progress(what, done, total)


def _labels(model: ForageModel, scores: LabelScores | None) -> tuple[LabelReport, ...]:
    """Return the reports of all labels, the highest reward first."""
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


def train_and_measure(
    workspace: Workspace,
    name: str = DEFAULT_NAME,
    strategy: str = DEFAULT_STRATEGY,
    settings: str = DEFAULT_SETTINGS,
    on_progress: OnProgress = lambda *_: None,
) -> TrainingReport:
    """Train a model with settings of this name (`SETTINGS`), then measure it on each taught site, held out."""
    report = train(
        workspace, name, strategy, settings=SETTINGS[settings], at=time.time(), on_progress=on_progress
    )
    measure_held_out(workspace, name, on_progress)
    return report


# Trained models


def scorer_of(strategy: str, model: ForageModel) -> Scorer:
    return SCORERS[strategy](StrategyInput(model=model))


def load_forage_model(workspace: Workspace, name: str) -> ForageModel:
    """Return a trained model, ready for its scorer. Raises ModelError if it is damaged."""
    packed = workspace.forage_models.load(name)
    try:
        return unpack(*packed)
    except ModelError as error:
        raise ModelError(f"{error} (models/{name})") from None


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


# Held-out sites

HELD_OUT_FILE = "held_back.json"
SHARE = 0.9  # of the goals to be found: the last one may be anywhere
MOST_VISITED = 400  # pages of one run that are added to the taught ones


@dataclass(frozen=True, slots=True)
class HeldOutSite:
    """The pages needed to find most goals of a held-out site, by the model and breadth-first."""

    site: str
    known_pages: int
    goals: int
    wanted: int
    pages: int | None  # None: it did not find that many
    breadth_first: int | None


def measure_held_out(workspace: Workspace, name: str, on_progress: OnProgress) -> list[HeldOutSite]:
    """Forage each taught site by a model trained on the others, and save the numbers beside the model."""
    card = workspace.forage_models.card(name)
    settings = PathSettings.from_json(report_of(workspace, name).settings)
    usable = resolve_redirects(ended_trails(workspace.stores.trails.trails()))
    sites = list(dict.fromkeys(trail.site for trail in usable))
    measured: list[HeldOutSite] = []
    for number, site in enumerate(sites):
        on_progress("foraging each site as if it were new", number, len(sites))
        measured += _measure(workspace, usable, site, card.strategy, settings)
    data = {"digest": card.digest, "sites": [asdict(site) for site in measured]}
    (workspace.models_folder / name / HELD_OUT_FILE).write_text(json.dumps(data), "utf-8")
    return measured


def load_held_out(workspace: Workspace, name: str) -> list[HeldOutSite]:
    """Return the saved numbers of a model; nothing if it has been trained again since."""
    try:
        data = json.loads((workspace.models_folder / name / HELD_OUT_FILE).read_text("utf-8"))
        if data["digest"] != workspace.forage_models.card(name).digest:
            return []
        return [HeldOutSite(**site) for site in data["sites"]]
    except (OSError, ValueError, KeyError, TypeError):
        return []


def _measure(
    workspace: Workspace, trails: Sequence[Trail], site: str, strategy: str, settings: PathSettings
) -> Iterator[HeldOutSite]:
    """Yield nothing for a site without a goal, or if no other site has one."""
    world = known_world(workspace, [trail for trail in trails if trail.site == site], site)
    goals = world.reachable_goals(GOAL)
    others = [trail for trail in trails if trail.site != site]
    if not goals or not any(trail.reached_goal for trail in others):
        return
    try:
        model = TRAINERS[strategy](others, settings)
    except TeachingError:
        return
    wanted = math.ceil(SHARE * len(goals))
    pages, breadth_first = (
        _pages_needed(world, scorer, wanted)
        for scorer in (scorer_of(strategy, model), SCORERS["breadth-first"](StrategyInput()))
    )
    yield HeldOutSite(site, len(world.depths), len(goals), wanted, pages, breadth_first)


def known_world(workspace: Workspace, trails: Sequence[Trail], site: str) -> World:
    """Return all that is known of a site as a closed world: links to unknown pages do not exist."""
    from wayhound.app.evaluate.world import World  # noqa: PLC0415 - a forage loads models, but no evaluation

    judged = {step.page.url: step.page for trail in trails for step in trail.steps}
    unjudged = _beside_goals(trails) - judged.keys()
    visited = _visited_pages(workspace, site)
    pages = {url: page for url, page in visited.items() if url not in unjudged} | judged
    goals = {trail.steps[-1].page.url: GOAL for trail in trails if trail.reached_goal}
    start = trails[0].steps[0].page.url
    return World(site, Site(start), {url: _closed(page, pages) for url, page in pages.items()}, goals)


def _beside_goals(trails: Sequence[Trail]) -> set[str]:
    """Return the URLs in the same lists as links to goals: they may be goals too, and nobody has judged them."""
    urls: set[str] = set()
    for trail in trails:
        end = trail.steps[-1].link if trail.reached_goal else None
        if end is not None:
            urls |= {link.url for link in trail.steps[-2].page.links if link.region == end.region}
    return urls


def _visited_pages(workspace: Workspace, site: str) -> dict[str, Page]:
    store = workspace.stores.forage
    for run in store.runs():
        if any(summary.start == site and summary.visits for summary in list(store.sites(run.id))):
            visited = read_site(workspace, run.id, site)
            numbers = sorted(visited.pages)[:MOST_VISITED]
            pages = (replace(visited.pages[number], links=visited.links(number)) for number in numbers)
            return {page.url: page for page in pages}
    return {}


def _closed(page: Page, pages: Mapping[str, Page]) -> Page:
    """Keep only links to known pages. The digest is made unique: identical pages count as two, known by URL."""
    links = tuple(link for link in page.links if link.url in pages and link.url != page.url)
    return replace(page, links=links, digest=page.url)


def _pages_needed(world: World, scorer: Scorer, wanted: int) -> int | None:
    from wayhound.app.evaluate.world import walk  # noqa: PLC0415 - as above

    goals_after = accumulate(world.labels.get(url) == GOAL for url in walk(world, scorer).urls)
    return next((number for number, goals in enumerate(goals_after, start=1) if goals >= wanted), None)
