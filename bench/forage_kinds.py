"""Foraging on kinds of sites that nothing was tuned on, after as short a lesson as a person would give.

From each set a few sites are drawn and taught, with a few trails to goals and as many elsewhere; the other sites of
the set are foraged as closed worlds. Reported are the pages fetched until the first goal and until 75 % of the
goals; precision and recall of the pages reported as goals within the default budget; and, with the rule for sites
that have one goal (stop when no link outscores the best goal), the pages per site and the share of sites whose best
reported page is a goal.
"""

from __future__ import annotations

import argparse
import math
import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # as `wayhound.learn` does; reports import numpy first

import numpy as np

from bench.report import Bar, Cell, Report, add_data_option, add_output_options, finish
from wayhound.app.evaluate.strategies import ORACLE, STRATEGIES, Lesson
from wayhound.app.evaluate.world import World, load_worlds, oracle
from wayhound.config import ForageConfig
from wayhound.fetched import Fetched
from wayhound.forage.forager import Fetch, ForageLimits, Forager
from wayhound.forage.politeness import Politeness
from wayhound.forage.scorer import Scorer
from wayhound.visit import Visit

SETS = {
    "company": ("contact", "about"),
    "academic": ("people", "person", "publications", "publication", "contact"),
    "departments": ("faculty", "course", "project", "student"),
    "javadoc": ("package", "class"),
}
LEARNER, FLOOR = "path-learner", "breadth-first"
STRATEGY_NAMES = (LEARNER, "maxent", "levels", FLOOR, ORACLE)
WITHOUT_GOALS = frozenset({"levels", FLOOR, ORACLE})  # they rate links, but do not recognise goals
BUDGET = ForageConfig().budget_per_site
LEAST_CONTACTS = 0.95
MOST_OF_BREADTH_FIRST = 1.0


@dataclass(frozen=True, slots=True)
class Recognition:
    """Pages reported as goals, goals among them, goals that were fetched; and the result of the one-goal rule."""

    reported: int
    right: int
    met: int
    pages_for_one: int
    one_is_right: bool


@dataclass(frozen=True, slots=True)
class Task:
    """One site, foraged by one strategy that was taught on others."""

    goal: str
    draw: int
    site: str
    strategy: str
    pages_to_first: int
    pages_to_75: int
    recognition: Recognition | None = None

    @property
    def key(self) -> tuple[str, int, str]:
        return self.goal, self.draw, self.site


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--set", action="append", choices=list(SETS), help="[default: all]")
    parser.add_argument("--draws", type=int, default=3)
    parser.add_argument("--taught-sites", type=int, default=4, help="a draw; fewer where there are few")
    parser.add_argument("--tested-sites", type=int, default=12, help="a draw, at most")
    parser.add_argument("--trails", type=int, default=5, help="to goals a site, and as many elsewhere")
    parser.add_argument("--seed", type=int, default=0, help="other draws")
    add_data_option(parser)
    add_output_options(parser)
    arguments = parser.parse_args()
    reports = []
    for name in arguments.set or SETS:
        worlds = load_worlds([arguments.data / "sites" / name])
        tasks = [task for goal in SETS[name] for task in _tasks(worlds, goal, arguments)]
        reports.append(_report(name, tasks))
    return finish(reports, arguments)


def _tasks(worlds: Sequence[World], goal: str, arguments: argparse.Namespace) -> Iterator[Task]:
    having = [world for world in worlds if world.reachable_goals(goal)]
    most = min(arguments.taught_sites, max(len(having) - 2, 2))
    for draw in range(arguments.draws):
        order = np.random.default_rng([arguments.seed, draw]).permutation(len(having))
        drawn = [having[number] for number in order]
        lesson = Lesson(drawn[:most], goal, arguments.trails)
        for strategy in STRATEGY_NAMES:
            print(f"{goal} {draw} {strategy}", file=sys.stderr)
            scorer = None if strategy == ORACLE else STRATEGIES[strategy](lesson)
            for world in drawn[most:][: arguments.tested_sites]:
                yield _task(world, goal, draw, strategy, scorer)


def _task(world: World, goal: str, draw: int, strategy: str, scorer: Scorer | None) -> Task:
    goals = set(world.reachable_goals(goal))
    visits = [] if scorer is None else forage(world, scorer, ForageLimits())
    urls = list(oracle(world, goal).urls) if scorer is None else [visit.url for visit in visits]
    first, most = (_pages_to(urls, goals, wanted) for wanted in (1, math.ceil(0.75 * len(goals))))
    recognition = None
    if scorer is not None and strategy not in WITHOUT_GOALS:
        one = forage(world, scorer, ForageLimits(budget=BUDGET, best_goal_only=True))
        recognition = _recognition(visits[:BUDGET], one, goals)
    pages = len(world.depths)
    return Task(
        goal=goal,
        draw=draw,
        site=world.name,
        strategy=strategy,
        pages_to_first=first or pages,
        pages_to_75=most or pages,
        recognition=recognition,
    )


def forage(world: World, scorer: Scorer, limits: ForageLimits) -> list[Visit]:
    forager = Forager(world.site, scorer, limits, Politeness(0.0))
    visits = []
    while isinstance(action := forager.next_action(0.0), Fetch):
        url = action.link.url
        response = Fetched(url, 200, content_type="text/html")
        visits.append(forager.tell(action.link, response, world.pages[url], now=0.0, at=0.0))
    return visits


def _recognition(visits: Sequence[Visit], one: Sequence[Visit], goals: set[str]) -> Recognition:
    reported = [visit.url for visit in visits if visit.is_goal]
    best = max((visit for visit in one if visit.is_goal), key=lambda visit: visit.goal, default=None)
    return Recognition(
        reported=len(reported),
        right=sum(url in goals for url in reported),
        met=sum(visit.url in goals for visit in visits),
        pages_for_one=len(one),
        one_is_right=best is not None and best.url in goals,
    )


def _pages_to(urls: Sequence[str], goals: set[str], wanted: int) -> int | None:
    totals = np.cumsum([url in goals for url in urls])
    return int(np.argmax(totals >= wanted)) + 1 if len(urls) and totals[-1] >= wanted else None


def _report(name: str, tasks: Sequence[Task]) -> Report:
    pages = {(task.strategy, *task.key): task for task in tasks}
    rows: list[list[Cell]] = []
    for goal, strategy in dict.fromkeys((task.goal, task.strategy) for task in tasks):
        same = [task for task in tasks if (task.goal, task.strategy) == (goal, strategy)]
        best, floor = ([pages[other, *task.key] for task in same] for other in (ORACLE, FLOOR))
        shares = [task.pages_to_75 / other.pages_to_75 for task, other in zip(same, floor, strict=True)]
        rows.append([
            goal, strategy, len(same),
            mean([task.pages_to_first / other.pages_to_first for task, other in zip(same, best, strict=True)]),
            mean([task.pages_to_75 / other.pages_to_75 for task, other in zip(same, best, strict=True)]),
            mean(shares), max(shares), *_recognition_cells([task.recognition for task in same if task.recognition]),
        ])  # fmt: skip
    header = ["goal", "strategy", "sites", "first × oracle", "75 % × oracle", "75 % × breadth-first", "worst",
              "precision", "recall", "pages for one", "one is right"]  # fmt: skip
    title = f"{name}: pages until the first goal and 75 % of them, and the goals that are reported"
    return Report(title, header, rows, list(_bars(name, rows)), {"tasks": [asdict(task) for task in tasks]})


def _recognition_cells(recognitions: Sequence[Recognition]) -> list[Cell]:
    if not recognitions:
        return [None] * 4
    right = sum(site.right for site in recognitions)
    return [
        right / max(sum(site.reported for site in recognitions), 1),
        right / max(sum(site.met for site in recognitions), 1),
        sum(site.pages_for_one for site in recognitions) / len(recognitions),
        sum(site.one_is_right for site in recognitions) / len(recognitions),
    ]


def _bars(name: str, rows: Sequence[Sequence[Cell]]) -> Iterator[Bar]:
    shares = [float(row[5] or 0.0) for row in rows if row[1] == LEARNER]
    yield Bar(f"{name}: of breadth-first's pages at 75 %", mean(shares), most=MOST_OF_BREADTH_FIRST)
    if name == "company":
        contacts = next(row[-1] for row in rows if row[:2] == ["contact", LEARNER])
        yield Bar("contact pages found by the one-goal rule", float(contacts or 0.0), least=LEAST_CONTACTS)


def mean(values: Sequence[float]) -> float:
    return math.exp(sum(map(math.log, values)) / len(values))


if __name__ == "__main__":
    sys.exit(main())
