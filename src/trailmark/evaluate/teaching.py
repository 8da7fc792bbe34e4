"""Trails made from labels, as a teacher would have clicked them."""

from __future__ import annotations

from collections.abc import Sequence

from trailmark.evaluate.world import World
from trailmark.page import Link
from trailmark.trail import FAIL, GOAL, Step, Trail

NO_MILESTONE = frozenset({"", "other"})


def make_trails(world: World, goal: str, most: int) -> list[Trail]:
    """Shortest click paths to at most `most` goals, and as many that end elsewhere.

    A teacher who says "not this way" has looked where the goals might have been: half of the paths that fail
    leave the good paths by a link beside the right one, the others end anywhere farther off.
    """
    ways = _ways(world)
    goals = _spread(world.reachable_goals(goal), most)
    taken = {url for end in goals for url in _urls(ways, end)}
    clicks = world.clicks_to_nearest(world.reachable_goals(goal))
    astray = [url for url in world.depths if url not in taken and clicks.get(url, 2) >= 2]
    beside = [url for url in astray if (way := ways[url]) is not None and way[0] in taken]
    near = _spread(beside, (most + 1) // 2)
    far = _spread([url for url in astray if url not in set(beside)], most - len(near))
    fails = [*near, *far][: len(goals) or most]
    return [
        *(_trail(world, ways, end, goal, GOAL) for end in goals),
        *(_trail(world, ways, end, goal, FAIL) for end in fails),
    ]


Ways = dict[str, tuple[str, Link] | None]


def _ways(world: World) -> Ways:
    """The link by which each page is first reached, nearest pages first."""
    ways: Ways = {world.site.start: None}
    for url in world.depths:
        for link in world.pages[url].links:
            ways.setdefault(link.url, (url, link))
    return ways


def _urls(ways: Ways, url: str) -> list[str]:
    urls = [url]
    while (way := ways[urls[-1]]) is not None:
        urls.append(way[0])
    return urls[::-1]


def _trail(world: World, ways: Ways, end: str, goal: str, ending: str) -> Trail:
    urls = _urls(ways, end)
    steps = tuple(
        Step(world.pages[url], way[1] if (way := ways[url]) else None, _label(world, url, goal))
        for url in urls
    )
    return Trail(world.site.start, (*steps[:-1], Step(steps[-1].page, steps[-1].link, ending)))


def _label(world: World, url: str, goal: str) -> str:
    label = world.labels.get(url, "")
    if label == goal:
        return GOAL
    return "" if label in NO_MILESTONE else label


def _spread(urls: Sequence[str], most: int) -> list[str]:
    """At most so many, from all parts of the list."""
    if len(urls) <= most:
        return list(urls)
    return [urls[number * len(urls) // most] for number in range(most)]
