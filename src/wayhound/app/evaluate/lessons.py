"""Trails for teaching, made from the labels of recorded sites: spread over all goals, or a few drawn at random.

A lesson such as `3x3` is what a person really shows: a few sites, and a few trails on each.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from wayhound.app.evaluate.world import World
from wayhound.errors import UsageError
from wayhound.page import Link
from wayhound.trail import FAIL, GOAL, Step, Trail

_NO_MILESTONE = frozenset({"", "other"})
_SIZE = re.compile(r"(\d+)x(\d+)", re.IGNORECASE)


def make_trails(world: World, goal: str, count: int, *, alike: str = "") -> list[Trail]:
    """Return shortest click paths to at most `count` goals, and as many that end elsewhere.

    A teacher who rejects a page has looked where goals might have been: half of the failing paths leave a good
    path by a link beside the right one, the others end anywhere farther away. Pages with the label `alike` look
    like goals: half of the failing paths end at them first.
    """
    goals = _spread(world.reachable_goals(goal), count)
    beside, farther = _failing_ends(world, goal, goals)
    confused = [url for url in (*beside, *farther) if alike and world.labels.get(url) == alike]
    fails = _spread(confused, count // 2)
    near = _spread(beside, (count - len(fails) + 1) // 2)
    far = _spread(farther, count - len(fails) - len(near))
    fails += [url for url in (*near, *far) if url not in fails]
    return _trails_to(world, goal, goals, fails[: len(goals) or count])


@dataclass(frozen=True, slots=True)
class LessonSize:
    """A number of sites, and of trails to goals on each, with as many that fail: `3x3`."""

    sites: int
    trails: int

    @classmethod
    def parse(cls, text: str) -> LessonSize:
        """Read a size such as `3x3`. Raises UsageError if the text is not one."""
        match = _SIZE.fullmatch(text)
        if match is None or not int(match[1]) or not int(match[2]):
            raise UsageError(
                f"{text!r} is not the size of a lesson: write 3x3 for three sites and three trails of each kind."
            )
        return cls(int(match[1]), int(match[2]))

    def __str__(self) -> str:
        return f"{self.sites}x{self.trails}"


def draw_sites(
    worlds: Sequence[World], goal: str, size: LessonSize, seed: Sequence[int], *, spare: int = 1
) -> list[World]:
    """Draw the sites of a lesson among those that have the goal, leaving at least `spare` to be tested."""
    candidates = [world for world in worlds if world.reachable_goals(goal)]
    order = np.random.default_rng([*seed, 0]).permutation(len(candidates))
    return [candidates[number] for number in order[: max(min(size.sites, len(candidates) - spare), 0)]]


def draw_trails(world: World, goal: str, size: LessonSize, seed: Sequence[int]) -> list[Trail]:
    """Draw trails of one site: to goals, and as many as the size says that fail.

    Half of the failing ones leave a good path by a link beside the right one, if there are such links. Where every
    page links to a goal, as to a contact page in a menu, they end at any other page.
    """
    generator = np.random.default_rng([*seed, 1])
    goals = _draw(generator, world.reachable_goals(goal), size.trails)
    beside, farther = _failing_ends(world, goal, goals)
    near = _draw(generator, beside, (size.trails + 1) // 2)
    fails = [*near, *_draw(generator, farther, size.trails - len(near))]
    for pool in (beside, _other_pages(world, goal, goals)):
        left = [url for url in pool if url not in fails]
        fails += _draw(generator, left, size.trails - len(fails))
    return _trails_to(world, goal, goals, fails)


def _failing_ends(world: World, goal: str, goals: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return pages at which a failing path may end: those beside the paths to `goals`, and those farther away."""
    links = _first_links(world)
    on_path = {url for end in goals for url in _path(links, end)}
    clicks = world.clicks_to_nearest(world.reachable_goals(goal))
    elsewhere = [url for url in world.depths if url not in on_path and clicks.get(url, 2) >= 2]
    beside = {url for url in elsewhere if (link := links[url]) is not None and link[0] in on_path}
    return [url for url in elsewhere if url in beside], [url for url in elsewhere if url not in beside]


def _other_pages(world: World, goal: str, goals: Sequence[str]) -> list[str]:
    """Return the pages that are not goals and not on the paths to these, however near to a goal they are."""
    links = _first_links(world)
    on_path = {url for end in goals for url in _path(links, end)}
    return [url for url in world.depths if world.labels.get(url) != goal and url not in on_path]


def _trails_to(world: World, goal: str, goals: Sequence[str], fails: Sequence[str]) -> list[Trail]:
    """Return the shortest click paths to these pages, the goals first."""
    links = _first_links(world)
    return [
        *(_trail(world, links, end, goal, GOAL) for end in goals),
        *(_trail(world, links, end, goal, FAIL) for end in fails),
    ]


FirstLinks = dict[str, tuple[str, Link] | None]
"""For each page, the page and link by which it is first reached; None for the start page."""


def _first_links(world: World) -> FirstLinks:
    links: FirstLinks = {world.site.start: None}
    for url in world.depths:
        for link in world.pages[url].links:
            links.setdefault(link.url, (url, link))
    return links


def _path(links: FirstLinks, url: str) -> list[str]:
    urls = [url]
    while (link := links[urls[-1]]) is not None:
        urls.append(link[0])
    return urls[::-1]


def _trail(world: World, links: FirstLinks, end: str, goal: str, ending: str) -> Trail:
    steps = tuple(
        Step(world.pages[url], link[1] if (link := links[url]) else None, _label(world, url, goal))
        for url in _path(links, end)
    )
    return Trail(world.site.start, (*steps[:-1], Step(steps[-1].page, steps[-1].link, ending)))


def _label(world: World, url: str, goal: str) -> str:
    label = world.labels.get(url, "")
    if label == goal:
        return GOAL
    return "" if label in _NO_MILESTONE else label


def _spread(urls: Sequence[str], count: int) -> list[str]:
    """Return at most `count` URLs, evenly spaced over the list."""
    if len(urls) <= count:
        return list(urls)
    return [urls[number * len(urls) // count] for number in range(count)]


def _draw(generator: np.random.Generator, urls: Sequence[str], count: int) -> list[str]:
    """Return at most `count` URLs, drawn at random, in the order of the list."""
    return [urls[number] for number in sorted(generator.permutation(len(urls))[:count])]
