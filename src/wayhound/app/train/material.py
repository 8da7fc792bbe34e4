"""Material that spiders learn from: recorded sites, sites on which runs found papers, what is known of taught sites."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from wayhound.app.evaluate.lessons import make_trails
from wayhound.app.evaluate.world import World, load_worlds
from wayhound.app.train.models import TrainingSource
from wayhound.app.visited_site import read_site, read_sites
from wayhound.errors import TeachingError, UsageError
from wayhound.page import Page
from wayhound.paths.q_model import Q_STRATEGY
from wayhound.paths.rollout import RecordedSite
from wayhound.paths.spiders import Material
from wayhound.paths.taught_site import resolve_redirects
from wayhound.paths.trail_check import ended_trails
from wayhound.site import Site
from wayhound.trail import GOAL, Trail
from wayhound.workspace import Workspace

PAPER = "paper"  # the outcome of a file that the paper reader took for one
RECORDED_TRAILS = 60  # of each kind that are made from a recorded site, for the CRF of hops
MOST_VISITED = 400  # pages of one run that are added to the taught ones


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
    worlds, goal = source_worlds(workspace, source), source.goal_label
    trails = [trail for world in worlds for trail in make_trails(world, goal, RECORDED_TRAILS)]
    return Material(trails, [world.recorded(goal) for world in worlds], source.keywords)


def source_worlds(workspace: Workspace, source: TrainingSource) -> list[World]:
    """Return the whole sites of a source. Raises UsageError if it is not clear what their goals are."""
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


def known_world(workspace: Workspace, trails: Sequence[Trail], site: str) -> World:
    """Return all that is known of a site as a closed world: links to unknown pages do not exist."""
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
