"""The number of goals that a forage expects to find in the rest of its budget, beside those that came.

After lessons of 3x3, every other site of a set is foraged for 100 pages, with its goals and without them. A limit would
have ended the site at the first page after which fewer goals were expected (`forage --min-goals-left`). Measured: the
goals that it would have lost and the pages that it would have saved. Calibration is the goals that came against those
that were expected, over all pages at which a number was given.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # as `wayhound.learn` does; reports import numpy first

from bench.few_sets import SETS, load_set
from bench.report import Bar, Cell, Report, add_data_option, add_output_options, finish
from wayhound.app.evaluate.evaluation import BUDGET, Evaluation
from wayhound.app.evaluate.lessons import LessonSize
from wayhound.app.evaluate.strategies import STRATEGIES
from wayhound.app.evaluate.world import World
from wayhound.fetched import Fetched
from wayhound.forage.forager import Fetch, ForageLimits, Forager
from wayhound.forage.politeness import Politeness
from wayhound.forage.scorer import Scorer
from wayhound.paths.model import ADAPTIVE_STRATEGY

LESSON = LessonSize(3, 3)
LIMITS = (0.1, 0.3, 0.5, 1.2)
DOCUMENTED_LIMIT, MOST_LOST = 0.3, 0.02
BANDS = ((0.0, 0.3), (0.3, 1.0), (1.0, 3.0), (3.0, 10.0), (10.0, 1000.0))


@dataclass(frozen=True, slots=True)
class SiteRun:
    """One site: whether each page was a goal, and the goals expected after it; None before anything is said."""

    group: str
    without_goals: bool
    goals: tuple[bool, ...]
    expected: tuple[float | None, ...]

    def end(self, limit: float) -> int:
        """Return the pages after which the limit would have ended the site."""
        said = enumerate(self.expected, start=1)
        return next((page for page, left in said if left is not None and left < limit), len(self.goals))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--set", action="append", choices=sorted(SETS), help="[default: modern, departments, company]"
    )
    parser.add_argument("--draws", type=int, default=1)
    parser.add_argument("--seed", type=int, default=0, help="other draws")
    add_data_option(parser)
    add_output_options(parser)
    arguments = parser.parse_args()
    runs: list[SiteRun] = []
    for name in arguments.set or ("modern", "departments", "company"):
        runs += site_runs(name, load_set(name, arguments.data), arguments.draws, arguments.seed)
        print(name, file=sys.stderr)
    return finish([_limits(runs), _calibration(runs)], arguments)


def site_runs(name: str, worlds: Sequence[World], draws: int, seed: int) -> Iterator[SiteRun]:
    evaluation = Evaluation(
        worlds, [], SETS[name].goals, [], lesson=LESSON, draws=draws, without_goals=True, seed=seed
    )
    for task, lesson in evaluation.tasks():
        goals = set(task.world.reachable_goals(task.goal))
        pages = list(_expectations(task.world, STRATEGIES[ADAPTIVE_STRATEGY](lesson)))
        yield SiteRun(
            name,
            task.without_goals,
            tuple(url in goals for url, _ in pages),
            tuple(expected for _, expected in pages),
        )


def _expectations(world: World, scorer: Scorer) -> Iterator[tuple[str, float | None]]:
    """Yield each page fetched, and the goals expected after it."""
    forager = Forager(world.site, scorer, ForageLimits(budget=BUDGET), Politeness(0.0))
    while isinstance(action := forager.next_action(0.0), Fetch):
        url = action.link.url
        response = Fetched(url, 200, content_type="text/html")
        forager.tell(action.link, response, world.pages[url], now=0.0, at=0.0)
        yield url, forager.goals_left


def _limits(runs: Sequence[SiteRun]) -> Report:
    rows: list[list[Cell]] = []
    bars: list[Bar] = []
    for group in dict.fromkeys(run.group for run in runs):
        own = [run for run in runs if run.group == group]
        with_goals, without = ([run for run in own if run.without_goals == cut] for cut in (False, True))
        found = sum(sum(run.goals) for run in with_goals)
        for limit in LIMITS:
            lost = sum(sum(run.goals[run.end(limit) :]) for run in with_goals)
            rows.append(
                [
                    group,
                    limit,
                    len(with_goals),
                    found,
                    lost,
                    _saved(with_goals, limit),
                    _saved(without, limit),
                ]
            )
            if limit == DOCUMENTED_LIMIT:
                bars.append(Bar(f"{group}: goals lost at {limit}", lost / max(found, 1), most=MOST_LOST))
    header = ["set", "limit", "sites", "goals", "lost", "pages saved", "pages saved without goals"]
    return Report(f"Ending a site when few goals are expected, first {BUDGET} pages", header, rows, bars)


def _saved(runs: Sequence[SiteRun], limit: float) -> float | None:
    pages = sum(len(run.goals) for run in runs)
    return 1 - sum(run.end(limit) for run in runs) / pages if pages else None


def _calibration(runs: Sequence[SiteRun]) -> Report:
    rows: list[list[Cell]] = []
    for group in dict.fromkeys(run.group for run in runs):
        pairs = [
            (expected, sum(run.goals[page:]))
            for run in runs
            if run.group == group and not run.without_goals
            for page, expected in enumerate(run.expected, start=1)
            if expected is not None
        ]
        for low, high in BANDS:
            there = [(expected, came) for expected, came in pairs if low <= expected < high]
            if there:
                means = (sum(column) / len(there) for column in zip(*there, strict=True))
                rows.append([group, f"{low:g}–{high:g}", len(there), *means])
    return Report(
        "Goals expected and goals that came", ["set", "expected", "pages", "mean expected", "came"], rows
    )


if __name__ == "__main__":
    sys.exit(main())
