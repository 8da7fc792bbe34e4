"""Recognition and order of goals on new sites after lessons of a few trails.

`3x3` is three sites drawn at random, with three trails to goals and three that fail on each. All other sites of the set
that have the goal are tested, each a closed world. Recognition: pages reported as goals among the first 100 fetched,
macro-F1 over site × goal × draw. Order: pages until 75 % of the goals relative to the oracle's and to breadth-first's,
geometric means. `taught 15` is taught on all other sites, with fifteen trails of each kind.

The shipped weights of the recogniser were fitted on recorded sites of these sets, so recognition on these sites is
somewhat too good here; `bench.fit_recogniser` measures it on sites that the weights were not fitted on.
"""

from __future__ import annotations

import argparse
import math
import os
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import process_time

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # as `wayhound.learn` does; reports import numpy first

from bench.few_sets import SETS, load_set
from bench.report import Bar, Cell, Report, add_data_option, add_output_options, finish
from wayhound.app.evaluate.evaluation import Evaluation, Outcome, Recognition, outcomes_to_json
from wayhound.app.evaluate.lessons import LessonSize
from wayhound.app.evaluate.strategies import ORACLE, STRATEGIES
from wayhound.app.evaluate.world import World, walk
from wayhound.forage.forager import ForageLimits
from wayhound.paths.model import ADAPTIVE_STRATEGY

FLOOR = "breadth-first"
WHOLE = frozenset({"cornell", "texas", "washington"})  # whole departments; the others are small ones


@dataclass(frozen=True, slots=True)
class LessonTable:
    """One row of the tables: a set, a lesson, and how often it is drawn."""

    name: str
    group: str
    lesson: str
    draws: int
    use_urls: bool = True
    without_goals: bool = False
    questions: int = 0
    complete: bool = False
    trails: int = 15  # a site, without a lesson


TABLES = (
    LessonTable("modern 3x3", "modern", "3x3", 2),
    LessonTable("modern 3x3, 3 questions", "modern", "3x3", 2, questions=3),
    LessonTable("modern taught 5", "modern", "", 1, trails=5),
    LessonTable("modern 3x3, blind to URLs", "modern", "3x3", 2, use_urls=False),
    LessonTable("departments 1x3", "departments", "1x3", 3),
    LessonTable("departments 3x3", "departments", "3x3", 3, without_goals=True),
    LessonTable("departments 3x3, 3 questions", "departments", "3x3", 3, without_goals=True, questions=3),
    LessonTable(
        "departments 3x3, complete lists", "departments", "3x3", 3, without_goals=True, complete=True
    ),
    LessonTable("departments 5x5", "departments", "5x5", 3),
    LessonTable("departments taught 15", "departments", "", 1),
    LessonTable("academic 3x3", "academic", "3x3", 2),
    LessonTable("company 3x3", "company", "3x3", 1),
    LessonTable("javadoc 3x3", "javadoc", "3x3", 2),
)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--table",
        action="append",
        choices=[*(table.name for table in TABLES), ONE_PAGE_TABLE],
        help="[default: all]",
    )
    parser.add_argument("--strategy", default=ADAPTIVE_STRATEGY, choices=sorted(STRATEGIES))
    parser.add_argument("--seed", type=int, default=0, help="other draws")
    parser.add_argument(
        "--plot", type=Path, help="draw F1 against trails shown and against answers to this picture"
    )
    add_data_option(parser)
    add_output_options(parser)
    arguments = parser.parse_args()
    names = arguments.table or [*(table.name for table in TABLES), ONE_PAGE_TABLE]
    chosen = [table for table in TABLES if table.name in names]
    loaded: dict[str, list[World]] = {}
    outcomes: dict[str, list[Outcome]] = {}
    for table in chosen:
        if table.group not in loaded:
            loaded[table.group] = load_set(table.group, arguments.data)
        outcomes[table.name] = _outcomes(table, loaded[table.group], arguments.strategy, arguments.seed)
        print(f"{table.name}: {process_time():.0f} CPU s", file=sys.stderr)
    reports = (
        [_recognition(outcomes, arguments.strategy), _order(outcomes, arguments.strategy)] if outcomes else []
    )
    if ONE_PAGE_TABLE in names:
        company = loaded.get("company") or load_set("company", arguments.data)
        reports.append(_one_page(company, arguments.strategy, arguments.seed))
    return finish(
        [*reports, *(_goals(name, own, arguments.strategy) for name, own in outcomes.items())], arguments
    )


def _outcomes(table: LessonTable, worlds: Sequence[World], strategy: str, seed: int) -> list[Outcome]:
    evaluation = Evaluation(
        worlds,
        [],
        SETS[table.group].goals,
        [ORACLE, FLOOR, strategy],
        trails_a_site=table.trails,
        lesson=LessonSize.parse(table.lesson) if table.lesson else None,
        draws=table.draws,
        without_goals=table.without_goals,
        seed=seed,
        use_urls=table.use_urls,
        complete_lists=table.complete,
        questions=table.questions,
    )
    return list(evaluation.run())


def _recognitions(outcomes: Sequence[Outcome], strategy: str, *, without_goals: bool) -> list[Recognition]:
    return [
        run.recognition
        for run in outcomes
        if run.strategy == strategy and run.without_goals == without_goals and run.recognition
    ]


def _recognition(outcomes: dict[str, list[Outcome]], strategy: str) -> Report:
    rows: list[list[Cell]] = []
    f1: dict[str, float] = {}
    nothing: dict[str, float] = {}
    alarms: dict[str, float] = {}
    for name, runs in outcomes.items():
        with_goals = _recognitions(runs, strategy, without_goals=False)
        without = _recognitions(runs, strategy, without_goals=True)
        f1[name] = _mean(own.f1 for own in with_goals)
        nothing[name] = _mean(float(own.reported == 0) for own in with_goals)
        precision = _mean(own.precision for own in with_goals if own.precision is not None)
        recall = _mean(own.recall for own in with_goals if own.recall is not None)
        likely = _mean(
            (own.right + own.likely_right) / own.fetched_goals for own in with_goals if own.fetched_goals
        )
        if without:
            alarms[name] = _mean(float(own.reported > 0) for own in without)
        rows.append(
            [name, len(with_goals), f1[name], precision, recall, nothing[name], likely, alarms.get(name)]
        )
    bars = [*_f1_bars(f1, nothing), *_set_bars(outcomes, f1, strategy)]
    bars += [
        Bar(f"{name}: false goals on goal-free sites", alarms[name], most=most)
        for name, most in _ALARM_BARS.items()
        if name in alarms
    ]
    header = [
        "lesson",
        "tasks",
        "F1",
        "precision",
        "recall",
        "nothing reported",
        "recall with likely",
        "false goals",
    ]
    details = {"runs": {name: outcomes_to_json(own) for name, own in outcomes.items()}}
    return Report("Goals recognised among the first 100 pages, macro means", header, rows, bars, details)


_F1_BARS = {
    "modern 3x3": 0.68, "modern 3x3, blind to URLs": 0.62, "departments 1x3": 0.58, "departments 3x3": 0.66,
    "departments 5x5": 0.72, "modern 3x3, 3 questions": 0.75, "departments 3x3, 3 questions": 0.72,
    "modern taught 5": 0.75,
}  # fmt: skip
_ALARM_BARS = {"departments 3x3": 0.30, "departments 3x3, 3 questions": 0.05}
_NOTHING_BARS = ("modern 3x3", "departments 1x3", "departments 3x3", "departments 5x5")
_SMALL_SETS = ("academic 3x3", "company 3x3", "javadoc 3x3")


def _f1_bars(f1: dict[str, float], nothing: dict[str, float]) -> list[Bar]:
    bars = [Bar(f"{name}: F1", f1[name], least=least) for name, least in _F1_BARS.items() if name in f1]
    return [
        *bars,
        *(Bar(f"{name}: nothing reported", nothing[name], most=0.05) for name in _NOTHING_BARS if name in f1),
    ]


def _set_bars(outcomes: dict[str, list[Outcome]], f1: dict[str, float], strategy: str) -> list[Bar]:
    if any(name not in f1 for name in _SMALL_SETS):
        return []
    runs = [run for name in _SMALL_SETS for run in outcomes[name]]
    scores = (own.f1 for own in _recognitions(runs, strategy, without_goals=False))
    return [Bar("academic, company, javadoc 3x3: F1 over all", _mean(scores), least=0.85)]


def _order(outcomes: dict[str, list[Outcome]], strategy: str) -> Report:
    rows: list[list[Cell]] = []
    bars: list[Bar] = []
    for name, runs in outcomes.items():
        parts: dict[str, Callable[[Outcome], bool]] = {name: lambda _: True}
        if name.startswith("departments"):
            lesson = name.removeprefix("departments ")
            parts = {
                f"webkb {lesson}": lambda run: run.site in WHOLE,
                f"departments {lesson}": lambda run: run.site not in WHOLE,
            }
        for part, belongs in parts.items():
            own = [run for run in runs if belongs(run) and not run.without_goals]
            oracle, floor = _against(own, strategy, ORACLE), _against(own, strategy, FLOOR)
            rows.append(
                [part, len(oracle), _geometric(oracle), _geometric(floor), max(floor), _cpu_ms(own, strategy)]
            )
            bars += _order_bars(part, _geometric(oracle), _geometric(floor))
    header = ["lesson", "tasks", "× oracle", "× breadth-first", "worst × breadth-first", "CPU ms a page"]
    return Report("Pages until 75 % of the goals, geometric means", header, rows, bars)


_ORDER_BARS = {
    "modern 3x3": 1.5, "modern 3x3, blind to URLs": 1.7, "webkb 3x3": 2.6, "webkb taught 15": 1.6,
    "departments 3x3": 2.1, "departments taught 15": 1.9, "academic 3x3": 1.05, "company 3x3": 1.05,
}  # fmt: skip


def _order_bars(part: str, oracle: float, floor: float) -> list[Bar]:
    bars = [Bar(f"{part}: × oracle", oracle, most=_ORDER_BARS[part])] if part in _ORDER_BARS else []
    return [*bars, Bar(f"{part}: × breadth-first", floor, most=0.38)] if part == "modern 3x3" else bars


def _mean_f1(outcomes: Sequence[Outcome], strategy: str) -> float:
    return _mean(own.f1 for own in _recognitions(outcomes, strategy, without_goals=False))


def _plot(f1: dict[LessonTable, float], path: Path) -> None:
    """Draw F1 of each set against the trails shown, and against the answers on each site."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(10, 4), sharey=True)
    plain = [table for table in f1 if table.use_urls and table.lesson and not table.complete]
    for group in dict.fromkeys(table.group for table in plain):
        own = [table for table in plain if table.group == group]
        sizes = {table: LessonSize.parse(table.lesson) for table in own}
        shown = sorted(
            (2 * sizes[table].sites * sizes[table].trails, f1[table]) for table in own if not table.questions
        )
        asked = sorted((table.questions, f1[table]) for table in own if table.lesson == "3x3")
        for axis, points in zip(axes, (shown, asked), strict=True):
            axis.plot(*zip(*points, strict=True), marker="o", label=group)
    for axis, name in zip(axes, ("trails shown", "answers a site, after 3x3"), strict=True):
        axis.set_xlabel(name)
    axes[0].set_ylabel("macro-F1 on sites not taught")
    axes[0].legend()
    figure.tight_layout()
    figure.savefig(path, dpi=120)
    plt.close(figure)


ONE_PAGE_TABLE = "contact 1x1"
ONE_PAGE = ForageLimits(budget=20, best_goal_only=True, min_score=0.3)
SURE = 0.9  # probability that a site has no goal


def _one_page(worlds: Sequence[World], strategy: str, seed: int) -> Report:
    """Look for the contact page alone, after one trail on one site, on company sites with and without one."""
    size = LessonSize.parse("1x1")
    evaluation = Evaluation(
        worlds, [], ["contact"], [strategy], lesson=size, draws=3, without_goals=True, seed=seed
    )
    fetches: dict[bool, list[float]] = {False: [], True: []}
    right: list[float] = []
    sure: list[float] = []
    for task, lesson in evaluation.tasks():
        goals = set(task.world.reachable_goals("contact"))
        found = walk(task.world, STRATEGIES[strategy](lesson), limits=ONE_PAGE)
        assert found.report is not None
        fetches[task.without_goals].append(len(found.urls))
        if not task.without_goals:
            right.append(float(any(page.url in goals for page in found.report.goals[:1])))
        if found.report.none_probability >= SURE:
            sure.append(float(task.without_goals))
    with_page, without = _mean(fetches[False]), _mean(fetches[True])
    bars = [
        Bar("contact 1x1: right", _mean(right), least=0.98),
        Bar("contact 1x1: fetches", with_page, most=2.2),
        Bar("contact 1x1: fetches on sites without one", without, most=3.0),
        Bar(f"contact 1x1: right if it says none at {SURE:.0%}", _mean(sure) if sure else None, least=0.9),
    ]
    header = ["sites", "fetches", "right", "fetches without one", "says none", "right if it says none"]
    row: list[Cell] = [len(right), with_page, _mean(right), without, len(sure), _mean(sure)]
    return Report("The contact page of a company, from one trail on one site", header, [row], bars)


def _goals(name: str, outcomes: Sequence[Outcome], strategy: str) -> Report:
    rows: list[list[Cell]] = []
    with_goals = [run for run in outcomes if not run.without_goals]
    for goal in dict.fromkeys(run.goal for run in with_goals):
        own = [run for run in with_goals if run.goal == goal]
        f1 = [recognition.f1 for recognition in _recognitions(own, strategy, without_goals=False)]
        ratios = _against(own, strategy, ORACLE)
        rows.append([goal, len(ratios), _mean(f1) if f1 else None, _geometric(ratios)])
    return Report(f"{name}, goal by goal", ["goal", "tasks", "F1", "× oracle"], rows)


def _against(outcomes: Sequence[Outcome], strategy: str, other: str) -> list[float]:
    """Return the pages of a strategy until 75 % of the goals, relative to those of another, task by task."""
    others = {run.task: run.pages_to["75"] or run.pages for run in outcomes if run.strategy == other}
    return [
        (run.pages_to["75"] or run.pages) / others[run.task] for run in outcomes if run.strategy == strategy
    ]


def _cpu_ms(outcomes: Sequence[Outcome], strategy: str) -> float:
    own = [run for run in outcomes if run.strategy == strategy]
    return 1000 * sum(run.cpu_seconds for run in own) / max(sum(run.fetched for run in own), 1)


def _mean(values: Iterable[float]) -> float:
    listed = list(values)
    return sum(listed) / len(listed) if listed else 0.0


def _geometric(values: Sequence[float]) -> float:
    return math.exp(sum(map(math.log, values)) / len(values)) if values else 0.0


if __name__ == "__main__":
    sys.exit(main())
