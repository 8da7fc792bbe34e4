"""How few pages a model needs on a site that it was not taught: each taught site held back and foraged again.

Nothing is fetched. The site is as large as what is known of it, taught pages and visited ones, and the goals
are those that a person marked; pages in one list with them on which nobody has said anything are left out. That
is said with every number.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import accumulate

from wayhound.app.evaluate.world import World, walk
from wayhound.app.train import (
    DEFAULT_NAME,
    DEFAULT_SETTINGS,
    DEFAULT_STRATEGY,
    SETTINGS,
    OnProgress,
    TrainingReport,
    report_of,
    scorer_of,
    train,
)
from wayhound.app.walked import walked_site
from wayhound.errors import TeachingError
from wayhound.forage.scorer import Scorer, StrategyInput
from wayhound.forage.scorers import SCORERS
from wayhound.page import Page
from wayhound.paths.settings import PathSettings
from wayhound.paths.taught_site import resolve_redirects
from wayhound.paths.trail_check import ended_trails
from wayhound.paths.trainers import TRAINERS
from wayhound.site import Site
from wayhound.store.forage import ForageStore
from wayhound.store.protocol import SiteSummary
from wayhound.trail import GOAL, Trail
from wayhound.workspace import Workspace

FILE_NAME = "held_back.json"
SHARE = 0.9  # of the goals: the last one may be anywhere
MOST_VISITED = 400  # pages of one run that are added to the taught ones


@dataclass(frozen=True, slots=True)
class HeldBack:
    """A site that was held back: how many pages until most of its goals, by the model and breadth-first."""

    site: str
    known_pages: int
    goals: int
    wanted: int
    pages: int | None  # None: never found
    breadth_first: int | None


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
    save_held_back(workspace, name, on_progress)
    return report


def save_held_back(workspace: Workspace, name: str, on_progress: OnProgress) -> None:
    """Measure the model of this name and keep the numbers beside it."""
    card = workspace.forage_models.card(name)
    settings = PathSettings.from_json(report_of(workspace, name).settings)
    usable = resolve_redirects(ended_trails(workspace.stores.trails.trails()))
    sites = list(dict.fromkeys(trail.site for trail in usable))
    measured: list[HeldBack] = []
    for number, site in enumerate(sites):
        on_progress("foraging each site as if it were new", number, len(sites))
        measured += measure(workspace, usable, site, card.strategy, settings)
    told = {"digest": card.digest, "sites": [asdict(each) for each in measured]}
    (workspace.models_folder / name / FILE_NAME).write_text(json.dumps(told), "utf-8")


def load_held_back(workspace: Workspace, name: str) -> list[HeldBack]:
    """What was measured of this model; nothing if it has been trained anew since."""
    try:
        told = json.loads((workspace.models_folder / name / FILE_NAME).read_text("utf-8"))
        if told["digest"] != workspace.forage_models.card(name).digest:
            return []
        return [HeldBack(**each) for each in told["sites"]]
    except (OSError, ValueError, KeyError, TypeError):
        return []


def measure(
    workspace: Workspace, trails: Sequence[Trail], site: str, strategy: str, settings: PathSettings
) -> Iterator[HeldBack]:
    """Nothing of a site without a goal, or when no other site shows one."""
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
        _pages_to(world, scorer, wanted)
        for scorer in (scorer_of(strategy, model), SCORERS["breadth-first"](StrategyInput()))
    )
    yield HeldBack(site, len(world.depths), len(goals), wanted, pages, breadth_first)


def known_world(workspace: Workspace, trails: Sequence[Trail], site: str) -> World:
    """All that is known of a site, as a closed world: links that lead elsewhere do not exist."""
    judged = {step.page.url: step.page for trail in trails for step in trail.steps}
    unsaid = _beside_goals(trails) - judged.keys()
    visited = _visited(workspace, site)
    pages = {url: page for url, page in visited.items() if url not in unsaid} | judged
    goals = {trail.steps[-1].page.url: GOAL for trail in trails if trail.reached_goal}
    start = trails[0].steps[0].page.url
    return World(site, Site(start), {url: _inside(page, pages) for url, page in pages.items()}, goals)


def _beside_goals(trails: Sequence[Trail]) -> set[str]:
    """Pages whose links stand beside that to a marked goal: they may be goals too, and nobody has said."""
    found: set[str] = set()
    for trail in trails:
        end = trail.steps[-1].link if trail.reached_goal else None
        if end is not None:
            found |= {link.url for link in trail.steps[-2].page.links if link.region == end.region}
    return found


def _visited(workspace: Workspace, site: str) -> dict[str, Page]:
    for run in workspace.stores.forage.runs():
        if any(summary.start == site for summary in _sites(workspace.stores.forage, run.id)):
            walked = walked_site(workspace, run.id, site)
            numbers = sorted(walked.pages)[:MOST_VISITED]
            return {walked.pages[n].url: replace(walked.pages[n], links=walked.links(n)) for n in numbers}
    return {}


def _sites(store: ForageStore, run_id: int) -> list[SiteSummary]:
    return [summary for summary in store.sites(run_id) if summary.visits]


def _inside(page: Page, pages: dict[str, Page]) -> Page:
    """Pages alike to the byte are two pages here: both are known by name."""
    links = tuple(link for link in page.links if link.url in pages and link.url != page.url)
    return replace(page, links=links, digest=page.url)


def _pages_to(world: World, scorer: Scorer, wanted: int) -> int | None:
    found = accumulate(world.labels.get(url) == GOAL for url in walk(world, scorer).urls)
    return next((number for number, goals in enumerate(found, start=1) if goals >= wanted), None)
