"""A look around the taught sites: a few more pages of each, so that a model learns what is not a goal.

Trails show goals and some failures; most of a site is neither. Pages that were fetched beside the trails, by a look
around, by any forage or while teaching, are unlabelled: training decides which of them to learn from
(`paths/trait_model.py`).
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable, Iterator, Sequence

from wayhound.app.forage import open_run
from wayhound.app.order import Order
from wayhound.app.teach.seen_pages import read_seen_page
from wayhound.app.teach.session import Session, TeachMode, deserialise
from wayhound.app.visited_site import VisitedSite, read_site
from wayhound.app.workers import forage_run
from wayhound.config import Config
from wayhound.errors import UsageError
from wayhound.paths.model import ADAPTIVE_STRATEGY
from wayhound.paths.taught_site import resolve_redirects
from wayhound.paths.trait_model import labelled_pages, spied_examples
from wayhound.paths.traits import ReachedPage, SourcePage
from wayhound.site import Site
from wayhound.store.protocol import Run, RunLimits
from wayhound.store.teaching import TeachSession
from wayhound.trail import Trail
from wayhound.workspace import Workspace

PAGES_A_SITE = 60
"""As many as the published figures of `adaptive` are measured with (`wayhound evaluate --lesson`)."""

MOST_PAGES = 150  # of one site that training reads; more cost time and tell little


def look_around(
    workspace: Workspace, config: Config, model: str, sites: Iterable[str], pages: int
) -> Iterator[tuple[int, int]]:
    """Fetch up to so many pages of each taught site, by a model of the trails; yield pages fetched, and of how many.

    It is a forage that reports no goals: polite, archived, and resumed by the same call after a stop or a crash.
    """
    card = workspace.forage_models.card(model)
    order = Order(card.strategy, model=model, model_digest=card.digest, look_around=True)
    starts = [Site(start) for start in dict.fromkeys(sites)]
    run = open_run(workspace, order, RunLimits(pages), starts, time.time())
    yield from _fetched(workspace, config, run, pages * len(starts))


def _fetched(workspace: Workspace, config: Config, run: Run, total: int) -> Iterator[tuple[int, int]]:
    loop = asyncio.new_event_loop()
    task = loop.create_task(forage_run(workspace, run, config, on_goal=lambda _: None, stop=asyncio.Event()))
    try:
        while not task.done():
            loop.run_until_complete(asyncio.wait([task], timeout=0.25))
            yield workspace.stores.forage.progress(run.id).spent, total
        task.result()
    finally:
        task.cancel()  # after an interruption: what was fetched is saved, and the next call resumes
        loop.run_until_complete(asyncio.gather(task, return_exceptions=True))
        loop.close()


# Pages beside the trails


def pages_beside_trails(
    workspace: Workspace, trails: Sequence[Trail], strategy: str
) -> dict[str, list[ReachedPage]]:
    """Return the unlabelled pages of the trails' sites; none if the strategy learns from trails alone."""
    if strategy != ADAPTIVE_STRATEGY:
        return {}
    return unlabelled_pages(workspace, list(dict.fromkeys(trail.site for trail in trails)))


def unlabelled_pages(workspace: Workspace, sites: Sequence[str]) -> dict[str, list[ReachedPage]]:
    """Return the pages of taught sites that were fetched or seen beside the trails, each once, as they were reached."""
    pages: dict[str, dict[str, ReachedPage]] = {site: {} for site in sites}
    for site, reached in (*_seen_while_teaching(workspace), *_visited(workspace, sites)):
        known = pages.get(site)
        if known is not None and len(known) < MOST_PAGES:
            known.setdefault(reached.page.url, reached)
    return {site: list(known.values()) for site, known in pages.items() if known}


def _visited(workspace: Workspace, sites: Sequence[str]) -> Iterator[tuple[str, ReachedPage]]:
    """Yield the pages of the last run on each site, looks around first: they are spread over the site."""
    store = workspace.stores.forage
    runs = sorted(store.runs(), key=lambda run: ("look_around" not in run.identity, -run.id))
    for run in runs:
        visited = {summary.start for summary in store.sites(run.id) if summary.visits}
        for site in visited.intersection(sites):
            for reached in _reached(read_site(workspace, run.id, site)):
                yield site, reached


def _reached(site: VisitedSite) -> Iterator[ReachedPage]:
    sources: dict[int, SourcePage] = {}
    for number in sorted(site.pages)[:MOST_PAGES]:
        page, parent = site.pages[number], site.parents[number]
        sources[number] = SourcePage.from_page(page)
        depth = site.visits[number].depth
        yield ReachedPage(
            page, depth, site.link_to(number), sources.get(parent) if parent is not None else None
        )


def _seen_while_teaching(workspace: Workspace) -> Iterator[tuple[str, ReachedPage]]:
    for record in workspace.stores.teaching.sessions():
        yield from _seen_in(workspace, record)


def _seen_in(workspace: Workspace, record: TeachSession) -> Iterator[tuple[str, ReachedPage]]:
    store, mode = workspace.stores.teaching, _mode(record)
    events = [deserialise(kind, body) for kind, body in store.events(record.id)]
    session = Session.of(record.sites, mode, events)
    read = {page.number: read_seen_page(workspace.archive, page) for page in store.pages(record.id)}
    for node in session.nodes:
        page = read.get(node.number)
        path = session.path(node.number)
        start = read.get(path[0].number)
        if page is None or start is None:
            continue
        source = read.get(node.parent) if node.parent is not None else None
        reached = ReachedPage(
            page, len(path) - 1, node.link, SourcePage.from_page(source) if source else None
        )
        yield start.url, reached


def _mode(record: TeachSession) -> TeachMode:
    return "free" if record.way == "free" else "trails"


# Are these all?


def shown_goals(workspace: Workspace, site: str) -> dict[str, str]:
    """Return the goals that trails show on a site: titles by URL. Raises UsageError if there are none."""
    trails = _trails_on(workspace, site)
    goals = {end.url: end.title for trail in trails if trail.reached_goal for end in (trail.steps[-1].page,)}
    if not goals:
        taught = ", ".join(workspace.stores.trails.sites()) or "none"
        raise UsageError(f"No trail shows a goal on {site}. Taught sites: {taught}.")
    return goals


def suspected_goals(workspace: Workspace, site: str) -> dict[str, str]:
    """Return further pages of a taught site that look like goals, by what was seen beside the trails.

    Each shown goal is hidden once among the other pages; those that score higher than it are suspects.
    """
    seen = unlabelled_pages(workspace, [site]).get(site, [])
    labelled = labelled_pages(resolve_redirects(_trails_on(workspace, site)))
    suspects = {example.url for example in spied_examples(site, labelled, seen) if example.truth}
    return {reached.page.url: reached.page.title for reached in seen if reached.page.url in suspects}


def _trails_on(workspace: Workspace, site: str) -> list[Trail]:
    return [trail for trail in workspace.stores.trails.trails() if trail.site == site]
