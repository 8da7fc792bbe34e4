"""Pages that the path learner fetches on recorded department sites, compared with all other strategies.

Each of `sites/webkb` is tested with a model taught on the others and on `sites/departments`: per site, 15 trails to
goals and 15 that end elsewhere. Closed worlds; pages until 75 % of the goals, relative to the oracle's.
"""

from __future__ import annotations

import argparse
import math
import os
import sys
from collections.abc import Iterable, Sequence
from time import process_time

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # as `wayhound.learn` does; reports import numpy first

from bench.report import Bar, Cell, Report, add_data_option, add_output_options, finish
from wayhound.app.evaluate.evaluation import Evaluation, Outcome, outcomes_to_json
from wayhound.app.evaluate.strategies import ORACLE, STRATEGIES
from wayhound.app.evaluate.world import load_worlds

GOALS = ("faculty", "course", "project", "student")
LEARNER, FLOOR = "path-learner", "breadth-first"
MOST_RATIO = 2.3
MOST_OF_BREADTH_FIRST = 0.6
MOST_ANYWHERE = 1.3
MOST_CPU_MS = 15.0
MOST_SECONDS = 600.0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trails", type=int, default=15)
    parser.add_argument("--taught", choices=["trails", "graphs"], default="trails")
    parser.add_argument("--strategy", action="append", choices=list(STRATEGIES), help="[default: all]")
    add_data_option(parser)
    add_output_options(parser)
    arguments = parser.parse_args()
    began = process_time()
    tested = load_worlds([arguments.data / "sites" / "webkb"])
    teaching = [*tested, *load_worlds([arguments.data / "sites" / "departments"])]
    strategies = list(dict.fromkeys([FLOOR, LEARNER, *(arguments.strategy or STRATEGIES), ORACLE]))
    evaluation = Evaluation(tested, teaching, GOALS, strategies, arguments.trails, arguments.taught)
    outcomes = []
    for outcome in evaluation.run():
        print(f"{outcome.site} {outcome.goal} {outcome.strategy}", file=sys.stderr)
        outcomes.append(outcome)
    seconds = process_time() - began
    return finish([_sites(outcomes), _strategies(outcomes, strategies, seconds)], arguments)


class Ratios:
    """Pages of one strategy over those of another, site by site and goal by goal."""

    def __init__(self, outcomes: Sequence[Outcome]) -> None:
        self.pages = {(run.strategy, run.goal, run.site): _pages(run) for run in outcomes}
        self.tasks = list(dict.fromkeys((run.goal, run.site) for run in outcomes))

    def of(self, strategy: str, other: str, goal: str = "") -> list[float]:
        tasks = [task for task in self.tasks if goal in ("", task[0])]
        return [self.pages[strategy, *task] / self.pages[other, *task] for task in tasks]


def _sites(outcomes: list[Outcome]) -> Report:
    ratios = Ratios(outcomes)
    rows: list[list[Cell]] = []
    for task, ratio, share in zip(
        ratios.tasks, ratios.of(LEARNER, ORACLE), ratios.of(LEARNER, FLOOR), strict=True
    ):
        rows.append([*task, *(ratios.pages[name, *task] for name in (ORACLE, FLOOR, LEARNER)), ratio, share])
    learner = [run for run in outcomes if run.strategy == LEARNER]
    cpu_ms = 1000 * sum(run.cpu_seconds for run in learner) / sum(run.fetched for run in learner)
    shares = ratios.of(LEARNER, FLOOR)
    bars = [
        Bar("× the oracle's pages, geometric mean", mean(ratios.of(LEARNER, ORACLE)), most=MOST_RATIO),
        Bar("of breadth-first's pages, geometric mean", mean(shares), most=MOST_OF_BREADTH_FIRST),
        Bar("of breadth-first's pages, worst site and goal", max(shares), most=MOST_ANYWHERE),
        Bar("CPU ms a page in the path learner, parsing aside", cpu_ms, most=MOST_CPU_MS),
    ]
    header = ["goal", "site", ORACLE, FLOOR, LEARNER, "× oracle", "× breadth-first"]
    return Report("Pages until 75 % of the goals", header, rows, bars, details=outcomes_to_json(outcomes))


def _strategies(outcomes: list[Outcome], strategies: Sequence[str], seconds: float) -> Report:
    ratios = Ratios(outcomes)
    taught = {run.strategy: run.taught for run in outcomes}
    rows: list[list[Cell]] = [
        [
            name,
            taught[name],
            *(mean(ratios.of(name, ORACLE, goal)) for goal in GOALS),
            mean(ratios.of(name, ORACLE)),
            max(ratios.of(name, FLOOR)),
        ]
        for name in strategies
    ]
    bar = Bar(
        f"CPU seconds of the whole evaluation, {len(strategies)} strategies", seconds, most=MOST_SECONDS
    )
    header = ["strategy", "taught", *GOALS, "all", "worst × breadth-first"]
    return Report("× the oracle's pages at 75 %, geometric means over sites", header, rows, [bar])


def _pages(outcome: Outcome) -> float:
    return outcome.pages_to["75"] or outcome.pages


def mean(values: Iterable[float]) -> float:
    logs = [math.log(value) for value in values]
    return math.exp(sum(logs) / len(logs))


if __name__ == "__main__":
    sys.exit(main())
