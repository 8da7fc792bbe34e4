"""Measure a model on each taught site, held out: the pages needed to find most of its goals.

Each taught site is foraged again without a fetch, over the pages of it that are known: taught ones and visited
ones. Its goals are those that a person marked; pages in the same list as a goal that nobody has judged are left out.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import accumulate

from wayhound.app import OnProgress
from wayhound.app.evaluate.world import World, walk
from wayhound.app.train.material import known_world, source_worlds, spider_material
from wayhound.app.train.models import TrainingSource, report_of, scorer_of
from wayhound.errors import TeachingError
from wayhound.forage.scorer import Scorer, StrategyInput
from wayhound.forage.scorers import SCORERS
from wayhound.paths.spiders import SPIDERS, Material, Settings, settings_from_json, train_strategy
from wayhound.paths.taught_site import resolve_redirects
from wayhound.paths.trail_check import ended_trails
from wayhound.trail import Trail
from wayhound.workspace import Workspace

HELD_OUT_FILE = "held_back.json"
SHARE = 0.9  # of the goals to be found: the last one may be anywhere


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
        return {world.site.start: world for world in source_worlds(workspace, source)}
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


def _pages_needed(world: World, goal: str, scorer: Scorer, wanted: int) -> int | None:
    goals_after = accumulate(world.labels.get(url) == goal for url in walk(world, scorer).urls)
    return next((number for number, goals in enumerate(goals_after, start=1) if goals >= wanted), None)
