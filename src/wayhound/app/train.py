"""Train a model on the trails of a workspace, and measure it on sites that it was not trained on.

Two measurements are saved with a model: precision and recall of its labels on held-out sites, and how many pages
it needs to find the goals of a held-out site. For the second, each taught site is foraged again without a fetch,
over the pages of it that are known: taught ones and visited ones. Its goals are those that a person marked; pages
in the same list as a goal that nobody has judged are left out.
"""

from __future__ import annotations

import asyncio
import json
import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wayhound.app.look_around import look_around, unlabelled_pages
from wayhound.app.visited_site import read_site, read_sites
from wayhound.config import Config
from wayhound.errors import ModelError, TeachingError, UsageError
from wayhound.forage.scorer import Scorer, StrategyInput
from wayhound.forage.scorers import SCORERS
from wayhound.page import Page
from wayhound.paths.cross_validation import LabelScore, LabelScores, choose_settings, leave_one_site_out
from wayhound.paths.q_model import PAPER as Q_PAPER
from wayhound.paths.q_model import Q_STRATEGY
from wayhound.paths.rollout import RecordedSite
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
    unpack_model,
)
from wayhound.paths.taught_site import resolve_redirects
from wayhound.paths.trail_check import check_trails, ended_trails
from wayhound.paths.trainers import CompleteLists, UnlabelledPages
from wayhound.site import Site
from wayhound.trail import GOAL, Trail
from wayhound.workspace import Workspace

if TYPE_CHECKING:
    from wayhound.app.evaluate.world import World

DEFAULT_NAME = "paths"
DEFAULT_STRATEGY = "adaptive"
PAPER = "paper"  # the outcome of a file that the paper reader took for one
RECORDED_TRAILS = 60  # of each kind that are made from a recorded site, for the CRF of hops
STRONGEST = 12  # features that a report keeps for each label

SETTINGS: Mapping[str, PathSettings | None] = {"tuned": None, "default": PathSettings(), "paper": LITERAL}
"""Settings by name: tuned by cross-validation over the taught sites, the default ones (fast), those of the paper."""
DEFAULT_SETTINGS = "tuned"


def named_settings(strategy: str, name: str) -> Settings | None:
    """Return the settings of a strategy by a name of `SETTINGS`; None if they are to be tuned."""
    if strategy not in SPIDERS:
        return SETTINGS[name]
    if name == "paper" and strategy == Q_STRATEGY:
        return Q_PAPER
    return None if name == "tuned" else default_settings(strategy)


OnProgress = Callable[[str, int, int], None]
"""Called with what is being done, and how many of how many parts of it are done."""


@dataclass(frozen=True, slots=True)
class LookAround:
    """Consent to fetch up to so many pages of each taught site before training, with these settings."""

    pages: int
    config: Config


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
        beside = _unlabelled(workspace, trails, strategy) if beside_trails else {}
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
    from wayhound.app.evaluate.strategies import tune_q_spider  # noqa: PLC0415 - a forage loads models, but no evaluation

    on_progress("choosing settings", 0, 1)
    settings = tune_q_spider(material.sites)
    on_progress("choosing settings", 1, 1)
    return settings


def spider_material(
    workspace: Workspace, trails: Sequence[Trail], strategy: str, source: TrainingSource
) -> Material:
    """Return what a spider learns from: site folders, or what the workspace knows of its taught sites.

    Hop models learn from the pages that were visited while teaching; `q-spider` also from those that runs fetched,
    since it needs whole sites.
    """
    usable = resolve_redirects(ended_trails(trails))
    if source.has_whole_sites:
        return _recorded_material(workspace, source)
    sites: list[RecordedSite] = []
    if strategy == Q_STRATEGY:
        for site in dict.fromkeys(trail.site for trail in usable):
            world = known_world(workspace, [trail for trail in usable if trail.site == site], site)
            sites.append(replace(world.recorded(GOAL), name=site))
    return Material(usable, sites, source.keywords or workspace.stores.teaching.keywords())


def _recorded_material(workspace: Workspace, source: TrainingSource) -> Material:
    from wayhound.app.evaluate.lessons import make_trails  # noqa: PLC0415 - a forage loads models, but no evaluation

    worlds, goal = _source_worlds(workspace, source), source.goal_label
    trails = [trail for world in worlds for trail in make_trails(world, goal, RECORDED_TRAILS)]
    return Material(trails, [world.recorded(goal) for world in worlds], source.keywords)


def _source_worlds(workspace: Workspace, source: TrainingSource) -> list[World]:
    """Return the whole sites of a source. Raises UsageError if it is not clear what their goals are."""
    from wayhound.app.evaluate.world import load_worlds  # noqa: PLC0415 - as above

    if source.papers:
        if source.folders:
            raise UsageError("Learn from site folders or from the papers of runs, not from both at once.")
        return _worlds_with_papers(workspace)
    if not source.goal:
        raise UsageError("Name the label of the goal pages in the site folders (--goal LABEL).")
    return load_worlds([Path(folder) for folder in source.folders])


def _worlds_with_papers(workspace: Workspace) -> list[World]:
    """Return the sites on which runs found papers, each with all pages that any run fetched.

    Raises TeachingError if no fetched file has been read as a paper.
    """
    from wayhound.app.evaluate.world import World  # noqa: PLC0415 - as above

    papers = workspace.stores.documents.source_urls(PAPER)
    pages: dict[str, dict[str, Page]] = {}
    for run in workspace.stores.forage.runs():
        for site in read_sites(workspace, run.id):
            visited = (replace(page, links=site.links(number)) for number, page in site.pages.items())
            pages[site.site.start] = {page.url: page for page in visited} | pages.get(site.site.start, {})
    worlds = [
        World(
            start,
            Site(start),
            {url: _closed(page, own) for url, page in own.items()},
            dict.fromkeys(found, GOAL),
        )
        for start, own in pages.items()
        if start in own and (found := papers & own.keys())
    ]
    if not worlds:
        raise TeachingError(
            "No file that a run fetched has been read as a paper. Forage a few sites that have papers, then read the "
            "files: wayhound papers add --from-forage."
        )
    return worlds


def _unlabelled(workspace: Workspace, trails: Sequence[Trail], strategy: str) -> UnlabelledPages:
    """Return the pages of taught sites beside the trails; none if the strategy learns from trails alone."""
    if strategy != DEFAULT_STRATEGY:
        return {}
    return unlabelled_pages(workspace, list(dict.fromkeys(trail.site for trail in trails)))


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


# Trained models


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
        unlabelled=_unlabelled(workspace, shown, card.strategy),
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
    report = report_of(workspace, name)
    settings = settings_from_json(card.strategy, report.settings)
    usable = resolve_redirects(ended_trails(workspace.stores.trails.trails()))
    material = Material(usable)
    if card.strategy in SPIDERS:
        material = spider_material(workspace, usable, card.strategy, report.source)
    worlds = _taught_worlds(workspace, usable, report.source)
    measured: list[HeldOutSite] = []
    for number, (site, world) in enumerate(worlds.items()):
        on_progress("foraging each site as if it were new", number, len(worlds))
        measured += _measure(world, report.source.goal_label, material.without(site), card.strategy, settings)
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


def _taught_worlds(workspace: Workspace, trails: Sequence[Trail], source: TrainingSource) -> dict[str, World]:
    """Return all that is known of each taught or recorded site, by the name that the material has for it."""
    if source.has_whole_sites:
        return {world.site.start: world for world in _source_worlds(workspace, source)}
    sites = dict.fromkeys(trail.site for trail in trails)
    return {
        site: known_world(workspace, [trail for trail in trails if trail.site == site], site)
        for site in sites
    }


def _measure(
    world: World, goal: str, others: Material, strategy: str, settings: Settings
) -> Iterator[HeldOutSite]:
    """Yield nothing for a site without a goal, or if no other site has one."""
    goals = world.reachable_goals(goal)
    if not goals:
        return
    try:
        model = train_strategy(strategy, others, settings)
    except TeachingError:
        return
    wanted = math.ceil(SHARE * len(goals))
    pages, breadth_first = (
        _pages_needed(world, goal, scorer, wanted)
        for scorer in (scorer_of(strategy, model), SCORERS["breadth-first"](StrategyInput()))
    )
    yield HeldOutSite(world.name, len(world.depths), len(goals), wanted, pages, breadth_first)


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


def _pages_needed(world: World, goal: str, scorer: Scorer, wanted: int) -> int | None:
    from wayhound.app.evaluate.world import walk  # noqa: PLC0415 - as above

    goals_after = accumulate(world.labels.get(url) == goal for url in walk(world, scorer).urls)
    return next((number for number, goals in enumerate(goals_after, start=1) if goals >= wanted), None)
