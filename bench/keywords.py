"""Foraging by keywords without teaching, beside a ten-line keyword spider; and keywords as help for a taught model.

Every site of a set that has the goal is foraged as a closed world, by the words that a person would give for the goal.
Measured are the pages until 75 % of the goals relative to the oracle's, geometric means. With `--taught`, the strategy
`adaptive` after lessons of 3x3 is measured with and without the same keywords.
"""

from __future__ import annotations

import argparse
import math
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # as `wayhound.learn` does; reports import numpy first

from bench.few_sets import SETS, load_set
from bench.report import Bar, Cell, Report, add_data_option, add_output_options, finish
from wayhound.app.evaluate.evaluation import Evaluation
from wayhound.app.evaluate.lessons import LessonSize
from wayhound.app.evaluate.world import World, oracle, walk
from wayhound.forage.scorer import Rated, Reading, Scorer, State, StrategyInput
from wayhound.forage.scorers import SCORERS
from wayhound.page import Link, Page
from wayhound.paths.model import ADAPTIVE_STRATEGY
from wayhound.paths.settings import PathSettings
from wayhound.site import Site

KEYWORDS = {
    "contact": ("contact",), "person": ("people", "team"), "publication": ("publication", "paper"),
    "project": ("project", "research"), "news": ("news",), "news-item": ("news",), "service": ("service",),
    "product": ("product",), "guide": ("guide", "docs"), "about": ("about",), "jobs": ("jobs", "career"),
    "venue": ("venue",), "committee": ("committee",), "faculty": ("faculty", "people"), "course": ("course", "class"),
    "student": ("student", "people"), "people": ("people",), "publications": ("publication",),
    "package": ("package",), "class": ("class",),
}  # fmt: skip
WHOLE = frozenset({"cornell", "texas", "washington"})
SPIDER, OURS, FLOOR = "ten-line spider", "--keyword", "breadth-first"
LESSON = LessonSize(3, 3)


@dataclass(frozen=True)
class KeywordSpider:
    """The ten-line spider: the share of the keywords that are in a link's text or URL; ties go to the oldest."""

    keywords: Sequence[str]

    def start(self, site: Site) -> State:  # noqa: ARG002
        return None

    def read(self, state: State, page: Page) -> Reading:  # noqa: ARG002
        return Reading()

    def rate(self, reading: Reading, links: Sequence[Link]) -> list[Rated]:  # noqa: ARG002
        texts = (f"{link.text} {link.url}".lower() for link in links)
        return [Rated(sum(word in text for word in self.keywords) / len(self.keywords)) for text in texts]

    def combine(self, current: float, new: float) -> float:
        return max(current, new)


@dataclass(frozen=True, slots=True)
class KeywordRun:
    """Pages until 75 % of the goals of one site by one strategy, relative to the oracle's."""

    group: str
    goal: str
    strategy: str
    ratio: float


UNTAUGHT: dict[str, Callable[[tuple[str, ...]], Scorer]] = {
    SPIDER: KeywordSpider,
    OURS: lambda words: SCORERS["best-first"](StrategyInput(keywords=words)),
    FLOOR: lambda _: SCORERS[FLOOR](StrategyInput()),
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--set", action="append", choices=sorted(SETS), help="[default: all]")
    parser.add_argument(
        "--taught", action="store_true", help="a taught model with and without keywords instead"
    )
    parser.add_argument("--draws", type=int, default=2)
    add_data_option(parser)
    add_output_options(parser)
    arguments = parser.parse_args()
    runs: list[KeywordRun] = []
    for name in arguments.set or list(SETS):
        worlds = load_set(name, arguments.data)
        runs += (
            taught_runs(name, worlds, arguments.draws) if arguments.taught else untaught_runs(name, worlds)
        )
        print(name, file=sys.stderr)
    columns = ["taught", "taught and keywords"] if arguments.taught else list(UNTAUGHT)
    return finish([_report(runs, columns), _by_goal(runs, columns)], arguments)


def untaught_runs(name: str, worlds: Sequence[World]) -> Iterator[KeywordRun]:
    for goal in SETS[name].goals:
        for world in worlds:
            if world.reachable_goals(goal):
                for strategy, make in UNTAUGHT.items():
                    yield _run(name, world, goal, strategy, make(KEYWORDS[goal]))


def taught_runs(name: str, worlds: Sequence[World], draws: int) -> Iterator[KeywordRun]:
    evaluation = Evaluation(worlds, [], SETS[name].goals, [], lesson=LESSON, draws=draws)
    for task, lesson in evaluation.tasks():
        model = lesson.model(ADAPTIVE_STRATEGY, PathSettings())
        for strategy, words in (("taught", ()), ("taught and keywords", KEYWORDS[task.goal])):
            scorer = SCORERS[ADAPTIVE_STRATEGY](StrategyInput(model=model, keywords=words))
            yield _run(name, task.world, task.goal, strategy, scorer)


def _run(name: str, world: World, goal: str, strategy: str, scorer: Scorer) -> KeywordRun:
    goals = set(world.reachable_goals(goal))
    ours, best = (_pages_to(walked, goals) for walked in (walk(world, scorer).urls, oracle(world, goal).urls))
    return KeywordRun("webkb" if world.name in WHOLE else name, goal, strategy, ours / best)


def _pages_to(urls: Sequence[str], goals: set[str]) -> int:
    left = math.ceil(0.75 * len(goals))
    for pages, url in enumerate(urls, start=1):
        left -= url in goals
        if not left:
            return pages
    return len(urls)


def _report(runs: Sequence[KeywordRun], columns: Sequence[str]) -> Report:
    rows: list[list[Cell]] = []
    bars: list[Bar] = []
    for group in dict.fromkeys(run.group for run in runs):
        means = [_mean(run for run in runs if (run.group, run.strategy) == (group, name)) for name in columns]
        tasks = sum((run.group, run.strategy) == (group, columns[0]) for run in runs)
        rows.append([group, tasks, *means])
        bars.append(Bar(f"{group}: {columns[1]} relative to {columns[0]}", means[1] / means[0], most=1.0))
    return Report("Pages until 75 % of the goals, × oracle", ["set", "tasks", *columns], rows, bars)


def _by_goal(runs: Sequence[KeywordRun], columns: Sequence[str]) -> Report:
    rows: list[list[Cell]] = []
    for group, goal in dict.fromkeys((run.group, run.goal) for run in runs):
        own = [run for run in runs if (run.group, run.goal) == (group, goal)]
        rows.append([group, goal, " ".join(KEYWORDS[goal]),
                     *(_mean(run for run in own if run.strategy == name) for name in columns)])  # fmt: skip
    return Report("Goal by goal", ["set", "goal", "keywords", *columns], rows)


def _mean(runs: Iterator[KeywordRun]) -> float:
    logs = [math.log(run.ratio) for run in runs]
    return math.exp(sum(logs) / len(logs))


if __name__ == "__main__":
    sys.exit(main())
