"""The strategies that an evaluation can compare, each made from what was taught."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from trailmark.evaluate.link_baselines import levels, url_only
from trailmark.evaluate.teaching import make_trails
from trailmark.evaluate.world import World
from trailmark.forage.brief import Brief
from trailmark.forage.scorer import Scorer
from trailmark.forage.scorers import SCORERS
from trailmark.teach.training import LITERAL, TRAINERS, Settings
from trailmark.trail import Trail

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
    return lambda _: SCORERS[name](Brief())


def _best_first(lesson: Lesson) -> Scorer:
    """Likeness to the goal pages that were shown; of documents, which show no words, to the pages before them."""
    ways = ([step.page for step in trail.steps] for trail in lesson.trails if trail.reached_goal)
    goals = [next((page for page in reversed(way) if not page.is_document), way[-1]) for way in ways]
    return SCORERS["best-first"](Brief(examples=tuple(goals)))


def _taught(name: str, settings: Settings) -> Callable[[Lesson], Scorer]:
    return lambda lesson: SCORERS[name](Brief(model=TRAINERS[name](lesson.trails, settings)))


STRATEGIES: dict[str, Callable[[Lesson], Scorer]] = {
    "best-first": _best_first,
    "breadth-first": _untaught("breadth-first"),
    "focused": _taught("focused", Settings()),
    "levels": lambda lesson: levels(lesson.worlds, lesson.goal),
    "maxent": _taught("maxent", Settings()),
    "naive-bayes": _taught("naive-bayes", Settings()),
    "path-learner": _taught("path-learner", Settings()),
    "path-learner-literal": _taught("path-learner", LITERAL),
    "random": _untaught("random"),
    "url-only": lambda lesson: url_only(lesson.worlds, lesson.goal),
}
ORACLE = "oracle"
FROM_GRAPHS = frozenset({"levels", "url-only"})  # they need the distance of every page to a goal


def taught_from(strategy: str, wanted: Taught) -> Taught:
    """What a strategy is really taught from, whatever was asked for."""
    return "graphs" if strategy in FROM_GRAPHS else wanted
