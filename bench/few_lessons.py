"""Recognition and order of goals on new sites after lessons of a few trails.

`3x3` is three sites drawn at random, with three trails to goals and three that fail on each. All other sites of the set
that have the goal are tested, each a closed world. Recognition: pages reported as goals among the first 100 fetched,
macro-F1 over site × goal × draw, without answers and after three on each site. Order: pages until 75 % of the goals
relative to the oracle's and to those of other strategies, geometric means; then the site is left. `taught 15` is
taught on all other sites, with fifteen trails of each kind.

One unit of work is one goal of one table; as many are measured at a time as there are cores, with the time left on
standard error. Sets and goals that the data folder does not have, or that fewer than two sites have, are skipped and
named at the end.

The shipped weights of the recogniser were fitted on recorded sites of these sets, so recognition on these sites is
somewhat too good here; `bench.fit_recogniser` measures it on sites that the weights were not fitted on.
"""

from __future__ import annotations

import argparse
import math
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, field, replace
from functools import cache, partial
from multiprocessing import get_context
from pathlib import Path
from time import monotonic

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # as `wayhound.learn` does; reports import numpy first

from bench.few_sets import OWN_CONCEPTS, SETS, load_set, whole_departments
from bench.keywords import FLOOR, KEYWORDS, UNTAUGHT
from bench.report import Bar, Cell, Report, add_data_option, add_output_options, finish
from bench.stuck_site import sample_world
from wayhound.app.evaluate.evaluation import Evaluation, Outcome, Recognition, outcomes_to_json
from wayhound.app.evaluate.lessons import LessonSize
from wayhound.app.evaluate.strategies import ORACLE, STRATEGIES
from wayhound.app.evaluate.world import World, walk
from wayhound.errors import TeachingError, WayhoundError
from wayhound.forage.forager import ForageLimits
from wayhound.paths.model import ADAPTIVE_STRATEGY
from wayhound.samples.web import sample_web

SHARE = 75  # per cent of the goals, at which a site is left


@dataclass(frozen=True, slots=True)
class LessonTable:
    """One lesson on one set, and how often it is drawn. With questions, there is a second row with the answers."""

    name: str
    group: str
    lesson: str
    draws: int
    use_urls: bool = True
    unnamed: bool = False  # without the concepts by which the lexicon names the goal
    without_goals: bool = False
    questions: int = 0
    complete: bool = False
    trails: int = 15  # a site, without a lesson
    peers: tuple[str, ...] = ()  # other taught strategies, on the same tasks

    @property
    def asked(self) -> str:
        """The name of the row with the answers."""
        return f"{self.name}, {self.questions} questions"


PEERS = ("path-learner", "levels")
TABLES = (
    LessonTable("modern 3x3", "modern", "3x3", 2, without_goals=True, questions=3, peers=PEERS),
    LessonTable("modern taught 5", "modern", "", 1, trails=5),
    LessonTable("modern 3x3, blind to URLs", "modern", "3x3", 2, use_urls=False),
    LessonTable("modern 3x3, goal not in the lexicon", "modern", "3x3", 2, unnamed=True),
    LessonTable("departments 1x3", "departments", "1x3", 3, questions=3),
    LessonTable("departments 3x3", "departments", "3x3", 3, without_goals=True, questions=3, peers=PEERS),
    LessonTable(
        "departments 3x3, complete lists", "departments", "3x3", 3, without_goals=True, complete=True
    ),
    LessonTable("departments 5x5", "departments", "5x5", 3, questions=3),
    LessonTable("departments taught 15", "departments", "", 1, peers=("path-learner",)),
    LessonTable("academic 3x3", "academic", "3x3", 2, peers=PEERS),
    LessonTable("company 3x3", "company", "3x3", 1, peers=PEERS),
    LessonTable("javadoc 3x3", "javadoc", "3x3", 2, peers=PEERS),
)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--table",
        action="append",
        choices=[*(table.name for table in TABLES), ONE_PAGE_TABLE, LANGUAGES_TABLE],
        help="[default: all]",
    )
    parser.add_argument("--strategy", default=ADAPTIVE_STRATEGY, choices=sorted(STRATEGIES))
    parser.add_argument("--seed", type=int, default=0, help="other draws")
    parser.add_argument("--draws", type=int, help="of each lesson  [default: two or three]")
    parser.add_argument("--no-peers", action="store_true", help="do not measure other strategies")
    parser.add_argument(
        "--processes",
        type=int,
        default=os.cpu_count() or 1,
        help="units measured at a time  [default: the cores]",
    )
    parser.add_argument(
        "--plots", type=Path, metavar="FOLDER", help="draw F1 against trails shown and against answers"
    )
    add_data_option(parser)
    add_output_options(parser)
    arguments = parser.parse_args()
    names = arguments.table or [*(table.name for table in TABLES), ONE_PAGE_TABLE, LANGUAGES_TABLE]
    tables = [_adjusted(table, arguments) for table in TABLES if table.name in names]
    parts, skipped = _measure_all(_units(names, tables), arguments)
    outcomes = {
        table.name: [run for part in parts if part.table == table.name for run in part.outcomes]
        for table in tables
    }
    tables = [table for table in tables if outcomes[table.name]]
    outcomes = {table.name: outcomes[table.name] for table in tables}
    untaught = {key: pages for part in parts for key, pages in part.untaught.items()}
    reports: list[Report] = []
    if tables:
        orders = [
            order for table in tables for order in _orders(table, outcomes[table.name], untaught, arguments)
        ]
        recognition = _recognition(tables, outcomes, arguments.strategy)
        reports = [recognition, _order(orders), _peers(orders, arguments.strategy)]
    reports += [part.report for part in parts if part.report is not None]
    if arguments.plots:
        arguments.plots.mkdir(parents=True, exist_ok=True)
        _plot(tables, outcomes, arguments.strategy, arguments.plots / "few_lessons.png")
    reports += [_goals(name, own, arguments.strategy) for name, own in outcomes.items()]
    if skipped:
        reports.append(Report("Not measured", ["table", "goals", "because"], skipped))
    return finish(reports, arguments)


Untaught = dict[tuple[str, str, str], int]
"""Pages until the share of the goals, by strategy, site and goal, of strategies that learn from no lesson."""


@dataclass(frozen=True, slots=True)
class Unit:
    """One goal of one table; of a table by itself all goals. Without a lesson table, that is a table by itself."""

    name: str
    group: str
    goal: str
    table: LessonTable | None = None


@dataclass(frozen=True, slots=True)
class Part:
    """The result of one unit."""

    table: str
    outcomes: Sequence[Outcome] = ()
    untaught: Untaught = field(default_factory=dict)
    report: Report | None = None


def _units(names: Sequence[str], tables: Sequence[LessonTable]) -> list[Unit]:
    """Return the units, those that take longest first: where each tested site has a lesson of its own."""
    units = [
        Unit(table.name, table.group, goal, table)
        for table in sorted(tables, key=lambda table: bool(table.lesson))
        for goal in SETS[table.group].goals
    ]
    units += [Unit(LANGUAGES_TABLE, "", "")] if LANGUAGES_TABLE in names else []
    units += [Unit(ONE_PAGE_TABLE, "company", "contact")] if ONE_PAGE_TABLE in names else []
    walked = dict.fromkeys((table.group, goal) for table in tables for goal in SETS[table.group].goals)
    return [*units, *(Unit(UNTAUGHT_PART, *key) for key in walked)]


def _measure_all(
    units: Sequence[Unit], arguments: argparse.Namespace
) -> tuple[list[Part], list[tuple[str, str, str]]]:
    """Measure the units, several at a time; return their results in order, and what was skipped and why."""
    measure = partial(_measure, data=arguments.data, strategy=arguments.strategy, seed=arguments.seed)
    began = monotonic()
    parts: dict[Unit, Part | str] = {}
    # spawned: a fork would copy the locks of numpy's threads
    with ProcessPoolExecutor(min(arguments.processes, len(units)), mp_context=get_context("spawn")) as pool:
        futures = {pool.submit(measure, unit): unit for unit in units}
        for future in as_completed(futures):
            parts[unit := futures[future]] = future.result()
            left = (monotonic() - began) * (len(units) / len(parts) - 1) / 60
            print(
                f"{len(parts)} of {len(units)}: {unit.name} {unit.goal}; about {left:.0f} minutes left",
                file=sys.stderr,
                flush=True,
            )
    skipped: dict[tuple[str, str], list[str]] = {}
    for unit in units:
        if isinstance(reason := parts[unit], str) and unit.name != UNTAUGHT_PART:
            skipped.setdefault((unit.name, reason), []).append(unit.goal)
    measured = [part for unit in units if isinstance(part := parts[unit], Part)]
    return measured, [(name, ", ".join(goals), reason) for (name, reason), goals in skipped.items()]


def _measure(unit: Unit, data: Path, strategy: str, seed: int) -> Part | str:
    """Return the result of a unit, or why it cannot be measured on this data."""
    if unit.name == LANGUAGES_TABLE:
        return Part(unit.name, report=_languages(strategy, seed))
    try:
        worlds = _worlds(unit.group, data)
    except WayhoundError as error:
        return str(error)
    having = sum(bool(world.reachable_goals(unit.goal)) for world in worlds)
    if having < 2:
        return "fewer than two sites of the set have it, and one must be taught"
    if unit.name == UNTAUGHT_PART:
        return Part(unit.name, untaught=_untaught(worlds, unit.goal))
    try:
        if unit.table is None:
            return Part(unit.name, report=_one_page(worlds, strategy, seed))
        return Part(unit.name, _outcomes(unit.table, worlds, unit.goal, strategy, seed))
    except TeachingError as error:
        return str(error)


@cache
def _worlds(group: str, data: Path) -> list[World]:
    return load_set(group, data)


def _adjusted(table: LessonTable, arguments: argparse.Namespace) -> LessonTable:
    if arguments.draws and table.lesson:
        table = replace(table, draws=arguments.draws)
    return replace(table, peers=()) if arguments.no_peers else table


def _outcomes(
    table: LessonTable, worlds: Sequence[World], goal: str, strategy: str, seed: int
) -> list[Outcome]:
    evaluation = Evaluation(
        worlds,
        [],
        [goal],
        [ORACLE, strategy],
        trails_a_site=table.trails,
        lesson=LessonSize.parse(table.lesson) if table.lesson else None,
        draws=table.draws,
        without_goals=table.without_goals,
        seed=seed,
        use_urls=table.use_urls,
        ignored=frozenset(OWN_CONCEPTS[goal]) if table.unnamed else frozenset(),
        complete_lists=table.complete,
        questions=table.questions,
        until=SHARE,
    )
    outcomes = list(evaluation.run())
    if table.peers:
        outcomes += replace(evaluation, strategies=table.peers, without_goals=False, questions=0).run()
    return outcomes


UNTAUGHT_PART = "untaught"


def _untaught(worlds: Sequence[World], goal: str) -> Untaught:
    pages: Untaught = {}
    for world in worlds:
        goals = set(world.reachable_goals(goal))
        wanted = math.ceil(len(goals) * SHARE / 100)
        for name, make in UNTAUGHT.items() if goals else ():
            taken = walk(world, make(KEYWORDS[goal]), budget=1, goals=goals, wanted=wanted)
            pages[name, world.name, goal] = len(taken.urls)
    return pages


def _recognitions(outcomes: Sequence[Outcome], strategy: str, answers: int) -> list[Recognition]:
    """Return the recognition on each site after so many answers, or as many as were asked for."""
    return [
        run.by_answers[min(answers, len(run.by_answers) - 1)]
        for run in outcomes
        if run.strategy == strategy and run.by_answers
    ]


def _recognition(tables: Sequence[LessonTable], outcomes: dict[str, list[Outcome]], strategy: str) -> Report:
    rows: list[list[Cell]] = []
    f1: dict[str, float] = {}
    nothing: dict[str, float] = {}
    alarms: dict[str, float] = {}
    for table in tables:
        with_goals, cut = _split(outcomes[table.name])
        for answers in dict.fromkeys((0, table.questions)):
            name = table.asked if answers else table.name
            own = _recognitions(with_goals, strategy, answers)
            without = _recognitions(cut, strategy, answers)
            f1[name] = _mean(site.f1 for site in own)
            nothing[name] = _mean(float(site.reported == 0) for site in own)
            if without:
                alarms[name] = _mean(float(site.reported > 0) for site in without)
            rows.append([name, len(own), f1[name], *_shares(own), nothing[name], alarms.get(name)])
    bars = [*_f1_bars(f1, nothing), *_set_bars(outcomes, strategy)]
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
        "with likely",
        "nothing reported",
        "false goals",
    ]
    details = {"runs": {name: outcomes_to_json(own) for name, own in outcomes.items()}}
    return Report("Goals recognised among the first 100 pages, macro means", header, rows, bars, details)


def _split(outcomes: Sequence[Outcome]) -> tuple[list[Outcome], list[Outcome]]:
    """Return the runs on sites with goals, and those on sites whose goals were removed."""
    return [run for run in outcomes if not run.without_goals], [run for run in outcomes if run.without_goals]


def _shares(own: Sequence[Recognition]) -> tuple[float, float, float]:
    """Return macro means of precision, of recall, and of recall if likely pages count as reported."""
    return (
        _mean(site.precision for site in own if site.precision is not None),
        _mean(site.recall for site in own if site.recall is not None),
        _mean((site.right + site.likely_right) / site.fetched_goals for site in own if site.fetched_goals),
    )


_F1_BARS = {
    "modern 3x3": 0.68, "modern 3x3, blind to URLs": 0.62, "departments 1x3": 0.58, "departments 3x3": 0.66,
    "departments 5x5": 0.72, "modern 3x3, 3 questions": 0.75, "departments 3x3, 3 questions": 0.72,
    "modern taught 5": 0.75, "modern 3x3, goal not in the lexicon": 0.50,
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


def _set_bars(outcomes: dict[str, list[Outcome]], strategy: str) -> list[Bar]:
    if any(name not in outcomes for name in _SMALL_SETS):
        return []
    runs = [run for name in _SMALL_SETS for run in outcomes[name]]
    f1 = _mean(site.f1 for site in _recognitions(runs, strategy, 0))
    return [Bar("academic, company, javadoc 3x3: F1 over all", f1, least=0.85)]


@dataclass(frozen=True, slots=True)
class Order:
    """Pages until the share of the goals on the sites of one lesson, relative to the oracle, by strategy."""

    name: str
    tasks: int
    means: dict[str, float]
    worst: float  # relative to breadth-first
    cpu_ms: float  # a page, without parsing


def _orders(
    table: LessonTable, outcomes: Sequence[Outcome], untaught: Untaught, arguments: argparse.Namespace
) -> Iterator[Order]:
    strategy, (with_goals, _) = arguments.strategy, _split(outcomes)
    parts = {table.name: with_goals}
    if table.group == "departments":
        lesson, whole = table.name.removeprefix("departments "), whole_departments(arguments.data)
        parts = {
            f"webkb {lesson}": [run for run in with_goals if run.site in whole],
            f"departments {lesson}": [run for run in with_goals if run.site not in whole],
        }
    for name, own in parts.items():
        oracle = {run.task: _pages(run) for run in own if run.strategy == ORACLE}
        ratios: dict[str, list[float]] = {}
        for run in own:
            ratios.setdefault(run.strategy, []).append(_pages(run) / oracle[run.task])
        mine = [run for run in own if run.strategy == strategy]
        if not mine:
            continue
        for other in UNTAUGHT:
            ratios[other] = [untaught[other, run.site, run.goal] / oracle[run.task] for run in mine]
        worst = max(_pages(run) / untaught[FLOOR, run.site, run.goal] for run in mine)
        means = {other: _geometric(values) for other, values in ratios.items() if other != ORACLE}
        yield Order(name, len(mine), {strategy: means[strategy]} | means, worst, _cpu_ms(mine))


def _order(orders: Sequence[Order]) -> Report:
    rows: list[list[Cell]] = []
    bars: list[Bar] = []
    for order in orders:
        ours = next(iter(order.means.values()))
        floor = ours / order.means[FLOOR]
        rows.append([order.name, order.tasks, ours, floor, order.worst, order.cpu_ms])
        if order.name in _ORDER_BARS:
            bars.append(Bar(f"{order.name}: × oracle", ours, most=_ORDER_BARS[order.name]))
        if order.name == "modern 3x3":
            bars.append(Bar(f"{order.name}: × breadth-first", floor, most=0.38))
    header = ["lesson", "tasks", "× oracle", "× breadth-first", "worst × breadth-first", "CPU ms a page"]
    return Report(f"Pages until {SHARE} % of the goals, geometric means", header, rows, bars)


_ORDER_BARS = {
    "modern 3x3": 1.5, "modern 3x3, blind to URLs": 1.7, "modern 3x3, goal not in the lexicon": 2.63,
    "webkb 3x3": 2.6, "webkb taught 15": 1.6,
    "departments 3x3": 2.1, "departments taught 15": 1.9, "academic 3x3": 1.05, "company 3x3": 1.05,
}  # fmt: skip
"""For goals that are not in the lexicon, what the path learner needed before there was `adaptive`."""
MOST_OF_TAUGHT_PEERS = 1.15


def _peers(orders: Sequence[Order], strategy: str) -> Report:
    """Compare with strategies that learn from the same lesson, and with those by keywords that need none."""
    columns = [strategy, *(name for name in (*PEERS, *UNTAUGHT) if name != strategy)]
    rows: list[list[Cell]] = []
    bars: list[Bar] = []
    for order in orders:
        taught = [order.means[name] for name in PEERS if name in order.means and name != strategy]
        if not taught:
            continue
        rows.append([order.name, order.tasks, *(order.means.get(name) for name in columns)])
        ours, untaught = order.means[strategy], min(order.means[name] for name in UNTAUGHT)
        bars += [
            Bar(f"{order.name}: × the best taught peer", ours / min(taught), most=MOST_OF_TAUGHT_PEERS),
            Bar(f"{order.name}: × the best untaught peer", ours / untaught, most=1.0),
        ]
    return Report(f"Pages until {SHARE} % of the goals, × oracle", ["lesson", "tasks", *columns], rows, bars)


def _plot(
    tables: Sequence[LessonTable], outcomes: dict[str, list[Outcome]], strategy: str, path: Path
) -> None:
    """Draw F1 of each set against the trails shown, and against the answers on each site."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    figure, (by_trails, by_answers) = plt.subplots(1, 2, figsize=(10, 4), sharey=True)
    plain = [
        table for table in tables if table.lesson and table.use_urls and not (table.complete or table.unnamed)
    ]
    for group in dict.fromkeys(table.group for table in plain):
        points = []
        for table in plain:
            if table.group != group:
                continue
            with_goals, _ = _split(outcomes[table.name])
            f1 = [
                _mean(site.f1 for site in _recognitions(with_goals, strategy, answers))
                for answers in range(table.questions + 1)
            ]
            size = LessonSize.parse(table.lesson)
            points.append((2 * size.sites * size.trails, f1[0]))
            if table.questions:
                by_answers.plot(range(len(f1)), f1, marker="o", label=table.name)
        by_trails.plot(*zip(*sorted(points), strict=True), marker="o", label=group)
    by_trails.set_xlabel("trails shown")
    by_trails.set_ylabel("macro-F1 on sites not taught")
    by_answers.set_xlabel("answers on each site")
    for axis in (by_trails, by_answers):
        axis.legend(fontsize=8)
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
    ]
    if sure:
        bars.append(Bar(f"contact 1x1: right if it says none at {SURE:.0%}", _mean(sure), least=0.9))
    header = ["sites", "fetches", "right", "fetches without one", "says none", "right if it says none"]
    row: list[Cell] = [len(right), with_page, _mean(right), without, len(sure), _mean(sure) if sure else None]
    return Report("The contact page of a company, from one trail on one site", header, [row], bars)


LANGUAGES_TABLE = "other languages 2x3"
LANGUAGE_DRAWS = 6


def _languages(strategy: str, seed: int) -> Report:
    """Teach on two English sites of the sample web, and test on its German, French and Spanish ones."""
    worlds = [(site.language, sample_world(site)) for site in sample_web().sites]
    english = [world for language, world in worlds if language == "en"]
    others = [world for language, world in worlds if language != "en"]
    rows: list[list[Cell]] = []
    bars: list[Bar] = []
    for goal in ("contact", "person"):
        evaluation = Evaluation(
            others, english, [goal], [strategy], lesson=LessonSize(2, 3), draws=LANGUAGE_DRAWS, seed=seed
        )
        found = [(run.site, run.recognition.f1) for run in evaluation.run() if run.recognition]
        by_site = [_mean(f1 for site, f1 in found if site == world.name) for world in others]
        rows.append([goal, len(found), _mean(f1 for _, f1 in found), *by_site])
        bars.append(Bar(f"{LANGUAGES_TABLE}, {goal}: F1", _mean(f1 for _, f1 in found), least=0.8))
    header = ["goal", "tasks", "F1", *(world.name for world in others)]
    return Report("Taught on two English sample sites, tested in other languages", header, rows, bars)


def _goals(name: str, outcomes: Sequence[Outcome], strategy: str) -> Report:
    rows: list[list[Cell]] = []
    with_goals, _ = _split(outcomes)
    oracle = {run.task: _pages(run) for run in with_goals if run.strategy == ORACLE}
    for goal in dict.fromkeys(run.goal for run in with_goals):
        own = [run for run in with_goals if run.goal == goal and run.strategy == strategy]
        f1 = [site.f1 for site in _recognitions(own, strategy, 0)]
        ratio = _geometric([_pages(run) / oracle[run.task] for run in own])
        rows.append([goal, len(own), _mean(f1) if f1 else None, ratio])
    return Report(f"{name}, goal by goal", ["goal", "tasks", "F1", "× oracle"], rows)


def _pages(run: Outcome) -> float:
    """Return the pages until the share of the goals; all of the site if it was never reached."""
    return run.pages_to[str(SHARE)] or run.pages


def _cpu_ms(outcomes: Sequence[Outcome]) -> float:
    return 1000 * sum(run.cpu_seconds for run in outcomes) / max(sum(run.fetched for run in outcomes), 1)


def _mean(values: Iterable[float]) -> float:
    listed = list(values)
    return sum(listed) / len(listed) if listed else 0.0


def _geometric(values: Sequence[float]) -> float:
    return math.exp(sum(map(math.log, values)) / len(values)) if values else 0.0


if __name__ == "__main__":
    sys.exit(main())
