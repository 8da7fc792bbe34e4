"""Forage a closed world by a strategy, or by the oracle that knows the graph: which pages, in which order."""

from __future__ import annotations

from dataclasses import dataclass
from time import process_time

from trailmark.evaluate.world import World
from trailmark.fetched import Fetched
from trailmark.forage.forager import Fetch, Forager, Limits
from trailmark.forage.politeness import Politeness
from trailmark.forage.scorer import Scorer


@dataclass(frozen=True, slots=True)
class Walk:
    """The pages that were fetched, in their order, and what that cost."""

    urls: tuple[str, ...]
    cpu_seconds: float = 0.0


def walk(world: World, scorer: Scorer) -> Walk:
    """All of the world that the strategy will fetch, by the same core as a forage of the live web."""
    began = process_time()
    forager = Forager(world.site, scorer, Limits(), Politeness(0.0))
    urls: list[str] = []
    while isinstance(action := forager.next_action(0.0), Fetch):
        url = action.link.url
        answer = Fetched(url, 200, content_type="text/html")
        forager.tell(action.link, answer, world.pages[url], now=0.0, at=0.0)
        urls.append(url)
    return Walk(tuple(urls), process_time() - began)


def oracle(world: World, goal: str) -> Walk:
    """The near-optimal policy of McCallum et al. (2000), section 3.4.

    It follows, of all links known so far, the one on the way to the nearest goal not yet found.
    """
    left = set(world.reachable_goals(goal))
    clicks = world.clicks_to_nearest(left)
    fringe = {world.site.start: 0}
    seen = {world.site.start}
    done: list[str] = []
    while left and fringe:
        url = min(fringe, key=lambda each: (clicks.get(each, len(clicks)), fringe[each]))
        del fringe[url]
        done.append(url)
        for target in world.targets(url):
            if target not in seen:
                seen.add(target)
                fringe[target] = len(seen)
        if url in left:
            left.discard(url)
            clicks = world.clicks_to_nearest(left)
    return Walk(tuple(done))
