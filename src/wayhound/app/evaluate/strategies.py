"""The strategies that an evaluation can compare, each made from what was taught."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from wayhound.app.evaluate.world import World
from wayhound.forage.scorer import Scorer, StrategyInput
from wayhound.forage.scorers import SCORERS
from wayhound.forage.scorers.link_classifier import LinkClassifier, LinkFeatures, url_ngrams
from wayhound.learn.logistic import LogisticRegression
from wayhound.learn.vocabulary import TokenVocabulary
from wayhound.page import Link
from wayhound.paths.features import PageContext, link_tokens
from wayhound.paths.settings import LITERAL, PathSettings
from wayhound.paths.trainers import TRAINERS
from wayhound.trail import FAIL, GOAL, Step, Trail

NO_MILESTONE = frozenset({"", "other"})


def make_trails(world: World, goal: str, most: int) -> list[Trail]:
    """Shortest click paths to at most `most` goals, and as many that end elsewhere.

    A teacher who rejects a page has looked where the goals might have been: half of the paths that fail
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


GAMMA = 0.5
FARTHEST = 3  # clicks: 0, 1, 2, and 3 or more


def levels(worlds: Sequence[World], goal: str) -> LinkClassifier:
    """Multinomial logistic regression of a link to the clicks left behind it, worth γ to their power."""
    worths = [GAMMA**clicks for clicks in range(FARTHEST)]
    return _teach_classifier(worlds, goal, FARTHEST, worths, link_tokens, prior_variance=1.0)


def url_only(worlds: Sequence[World], goal: str) -> LinkClassifier:
    """Logistic regression on the characters of the URL: is this a goal?"""
    return _teach_classifier(worlds, goal, 1, [1.0], url_ngrams, prior_variance=1.0)


def _teach_classifier(
    worlds: Sequence[World],
    goal: str,
    farthest: int,
    worths: Sequence[float],
    features: LinkFeatures,
    prior_variance: float,
) -> LinkClassifier:
    samples = [sample for world in worlds for sample in _links(world, goal, farthest, features)]
    sets = [tokens for tokens, _, _ in samples]
    vocabulary = TokenVocabulary(min(2, len(worlds))).fit(sets, [name for _, _, name in samples])
    classes = np.array([clicks for _, clicks, _ in samples])
    fitted = LogisticRegression(farthest + 1, prior_variance).fit(vocabulary.rows(sets), classes)
    return LinkClassifier(vocabulary, fitted, np.array([*worths, 0.0]), features)


def _links(
    world: World, goal: str, farthest: int, features: LinkFeatures
) -> Iterator[tuple[frozenset[str], int, str]]:
    clicks = world.clicks_to_nearest(world.reachable_goals(goal))
    for url in world.depths:
        around = PageContext.from_page(world.pages[url])
        for link in world.pages[url].links:
            yield features(link, around), min(clicks.get(link.url, farthest), farthest), world.name


Taught = Literal["trails", "graphs"]


@dataclass(frozen=True)
class Lesson:
    """What a strategy may learn from before it is tested on another site: trails, or whole sites."""

    worlds: Sequence[World]
    goal: str
    trails_a_site: int
    taught: Taught = "trails"

    @cached_property
    def trails(self) -> list[Trail]:
        """Of whole sites, the way to every goal and as many that end elsewhere."""
        return [
            trail
            for world in self.worlds
            for trail in make_trails(
                world, self.goal, len(world.depths) if self.taught == "graphs" else self.trails_a_site
            )
        ]


def _untaught(name: str) -> Callable[[Lesson], Scorer]:
    return lambda _: SCORERS[name](StrategyInput())


def _best_first(lesson: Lesson) -> Scorer:
    """Likeness to the goal pages that were shown; of documents, which show no words, to the pages before them."""
    ways = ([step.page for step in trail.steps] for trail in lesson.trails if trail.reached_goal)
    goals = [next((page for page in reversed(way) if not page.is_document), way[-1]) for way in ways]
    return SCORERS["best-first"](StrategyInput(examples=tuple(goals)))


def _taught(name: str, settings: PathSettings) -> Callable[[Lesson], Scorer]:
    return lambda lesson: SCORERS[name](StrategyInput(model=TRAINERS[name](lesson.trails, settings)))


STRATEGIES: dict[str, Callable[[Lesson], Scorer]] = {
    "best-first": _best_first,
    "breadth-first": _untaught("breadth-first"),
    "focused": _taught("focused", PathSettings()),
    "levels": lambda lesson: levels(lesson.worlds, lesson.goal),
    "maxent": _taught("maxent", PathSettings()),
    "naive-bayes": _taught("naive-bayes", PathSettings()),
    "path-learner": _taught("path-learner", PathSettings()),
    "path-learner-literal": _taught("path-learner", LITERAL),
    "random": _untaught("random"),
    "url-only": lambda lesson: url_only(lesson.worlds, lesson.goal),
}
ORACLE = "oracle"
FROM_GRAPHS = frozenset({"levels", "url-only"})  # they need the distance of every page to a goal


def taught_from(strategy: str, wanted: Taught) -> Taught:
    """What a strategy is really taught from, whatever was asked for."""
    return "graphs" if strategy in FROM_GRAPHS else wanted
