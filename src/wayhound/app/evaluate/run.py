"""An evaluation: every strategy on every site, taught on the others, by the same core as a real forage."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wayhound.app.evaluate.measures import Outcome, means, measure
from wayhound.app.evaluate.strategies import ORACLE, STRATEGIES, Lesson, Taught, taught_from
from wayhound.app.evaluate.world import World, oracle, walk
from wayhound.archive.site_folder import find_site_folders
from wayhound.errors import UsageError


@dataclass(frozen=True)
class Evaluation:
    """What is compared. A site that is being tested is never taught."""

    tested: Sequence[World]
    teaching: Sequence[World]  # with none of them given, each site is taught all other tested ones
    goals: Sequence[str]
    strategies: Sequence[str]
    trails_a_site: int = 15
    taught: Taught = "trails"

    def __len__(self) -> int:
        return len(self._tasks()) * len(self.strategies)

    def run(self) -> Iterator[Outcome]:
        for world, goal in self._tasks():
            lesson = Lesson(self._taught_for(world), goal, self.trails_a_site, self.taught)
            best = oracle(world, goal)
            for strategy in self.strategies:
                taken = best if strategy == ORACLE else walk(world, STRATEGIES[strategy](lesson))
                yield measure(world, goal, strategy, taught_from(strategy, self.taught), taken, best)

    def _tasks(self) -> list[tuple[World, str]]:
        """Sites without a goal that can be reached have nothing to measure."""
        return [(world, goal) for goal in self.goals for world in self.tested if world.reachable_goals(goal)]

    def _taught_for(self, tested: World) -> list[World]:
        return [world for world in self.teaching or self.tested if world.site != tested.site]


def load_worlds(paths: Sequence[Path]) -> list[World]:
    folders = dict.fromkeys(folder for path in paths for folder in find_site_folders(path))
    if not folders:
        raise UsageError(f"There is no site folder in {', '.join(map(str, paths))}.")
    return [World.load(folder) for folder in folders]


def as_json(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    return {"runs": [outcome.to_json() for outcome in outcomes], "means": means(outcomes)}
