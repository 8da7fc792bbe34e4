"""Foraging by keywords without teaching, beside a ten-line keyword spider; and keywords as help for a taught model.

Every site of a set that has the goal is foraged as a closed world, by the words that a person would give for the goal.
Measured are the pages until 75 % of the goals relative to the oracle's, geometric means. With `--taught`, the strategy
`adaptive` after lessons of 3x3 is measured with and without the same keywords.

With `--recognition`, the goals that a search by keywords recognises among the first 100 pages are measured instead, by
weights that were not fitted on the site and by weights that were not fitted on the set, beside the pages with a keyword
in their URL or title. `--write` keeps the weights fitted on all sites in `wayhound/paths/data/keywords.json`.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # as `wayhound.learn` does; reports import numpy first

import numpy as np
from scipy.sparse import csr_array

import wayhound.paths
from bench.few_sets import SETS, load_set, whole_departments
from bench.report import Bar, Cell, Report, add_data_option, add_output_options, finish
from wayhound.app.evaluate.evaluation import BUDGET, Evaluation, Recognition
from wayhound.app.evaluate.lessons import LessonSize
from wayhound.app.evaluate.world import World, explore, oracle, walk
from wayhound.forage.scorer import (
    FoundPage,
    GoalPattern,
    Rated,
    Reading,
    Scorer,
    SiteReport,
    State,
    StrategyInput,
)
from wayhound.forage.scorers import SCORERS
from wayhound.forage.scorers.best_first import (
    PAGE_EVIDENCE,
    SITE_EVIDENCE,
    KeywordSearch,
    KeywordWeights,
)
from wayhound.learn.logistic import fit_log_odds
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
class Groups:
    """A set of sites, and the group that each is reported in: whole departments are apart from small ones."""

    set_name: str
    of_site: dict[str, str]


@dataclass(frozen=True, slots=True)
class KeywordRun:
    """Pages until 75 % of the goals of one site by one strategy, relative to the oracle's."""

    group: str
    goal: str
    strategy: str
    ratio: float


UNTAUGHT: dict[str, Callable[[tuple[str, ...]], Scorer]] = {
    SPIDER: KeywordSpider,
    OURS: lambda words: SCORERS["best-first"](StrategyInput(GoalPattern.for_words(words), words)),
    FLOOR: lambda _: SCORERS[FLOOR](StrategyInput()),
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--set", action="append", choices=sorted(SETS), help="[default: all]")
    parser.add_argument(
        "--taught", action="store_true", help="a taught model with and without keywords instead"
    )
    parser.add_argument("--draws", type=int, default=2)
    parser.add_argument(
        "--recognition", action="store_true", help="the goals recognised instead of the order"
    )
    parser.add_argument("--write", action="store_true", help="with --recognition, keep the fitted weights")
    add_data_option(parser)
    add_output_options(parser)
    arguments = parser.parse_args()
    if arguments.recognition:
        return finish(_recognition(arguments.set or list(SETS), arguments), arguments)
    runs: list[KeywordRun] = []
    for name in arguments.set or list(SETS):
        worlds = load_set(name, arguments.data)
        groups = _groups(name, worlds, arguments.data)
        runs += (
            taught_runs(groups, worlds, arguments.draws)
            if arguments.taught
            else untaught_runs(groups, worlds)
        )
        print(name, file=sys.stderr)
    columns = ["taught", "taught and keywords"] if arguments.taught else list(UNTAUGHT)
    return finish([_report(runs, columns), _by_goal(runs, columns)], arguments)


def _groups(name: str, worlds: Sequence[World], data: Path) -> Groups:
    whole = whole_departments(data)
    return Groups(name, {world.name: "webkb" if world.name in whole else name for world in worlds})


def untaught_runs(groups: Groups, worlds: Sequence[World]) -> Iterator[KeywordRun]:
    for goal in SETS[groups.set_name].goals:
        for world in worlds:
            if world.reachable_goals(goal):
                for strategy, make in UNTAUGHT.items():
                    yield _run(groups, world, goal, strategy, make(KEYWORDS[goal]))


FOLDS = 5
TASK_WEIGHT = 30.0  # in pages, however many were fetched
PRIOR_SCALE = 0.6  # in standard deviations of each feature
LEAST_GAIN = 0.0  # in F1 over pages with a keyword in their URL or title, on any set


@dataclass
class KeywordTask:
    """The first pages of one site by the keywords of a goal, with the goals or with these removed."""

    group: str
    site: str
    scorer: KeywordSearch
    goals: set[str]

    @property
    def fold(self) -> str:
        """The fold of the task; all tasks of a site are in one."""
        return str(zlib.crc32(self.site.encode()) % FOLDS)

    @property
    def urls(self) -> list[str]:
        return [page.url for page in self.scorer.pages]

    def recognised(self, weights: KeywordWeights) -> Recognition:
        self.scorer.weights = weights
        return Recognition.from_report(self.scorer.report(), self.urls, self.goals)

    def by_pattern(self) -> Recognition:
        """Return what is recognised if each page with a keyword in its URL or title is a goal."""
        matching = [FoundPage(page.url, 1.0) for page in self.scorer.pages if page.pattern]
        return Recognition.from_report(SiteReport(tuple(matching), (), 0.0), self.urls, self.goals)


def _recognition(names: Sequence[str], arguments: argparse.Namespace) -> list[Report]:
    tasks: list[KeywordTask] = []
    for name in names:
        worlds = load_set(name, arguments.data)
        tasks += _keyword_tasks(_groups(name, worlds, arguments.data), worlds)
    reports = [_held_out(tasks, lambda task: task.fold, "sites")]
    if len(names) > 1:  # the only set cannot be left out
        reports.append(_held_out(tasks, lambda task: task.group, "sets"))
    if arguments.write:
        _write(_fit(tasks))
    return reports


def _keyword_tasks(groups: Groups, worlds: Sequence[World]) -> Iterator[KeywordTask]:
    for goal in SETS[groups.set_name].goals:
        for world in worlds:
            if not world.reachable_goals(goal) or world.labels.get(world.site.start) == goal:
                continue
            for tested in (world, world.without(goal)):
                scorer = UNTAUGHT[OURS](KEYWORDS[goal])
                assert isinstance(scorer, KeywordSearch)
                explore(tested, scorer, BUDGET)
                yield KeywordTask(
                    groups.of_site[world.name], world.name, scorer, set(tested.reachable_goals(goal))
                )
        print(f"{groups.set_name} {goal}", file=sys.stderr)


def _fit(tasks: Sequence[KeywordTask]) -> KeywordWeights:
    """Fit the weights of pages on sites with goals, then those of "this site has no goal" on all."""
    with_goals = [task for task in tasks if task.goals]
    pages = _logistic(
        [row for task in with_goals for row in task.scorer.evidence()],
        [float(url in task.goals) for task in with_goals for url in task.urls],
        [TASK_WEIGHT / len(task.urls) for task in with_goals for _ in task.urls],
    )
    weights = KeywordWeights(pages, (0.0,) * (len(SITE_EVIDENCE) + 1))
    rows = []
    for task in tasks:
        task.scorer.weights = weights
        rows.append(task.scorer.site_evidence(task.scorer.probabilities()))
    none = _logistic(rows, [float(not task.goals) for task in tasks], [1.0] * len(tasks))
    return KeywordWeights(pages, none)


def _logistic(
    rows: Sequence[Sequence[float]], truth: Sequence[float], counts: Sequence[float]
) -> tuple[float, ...]:
    """Return weights with the bias first."""
    table = np.array(rows)
    scales = PRIOR_SCALE / np.maximum(table.std(axis=0), 1e-6)
    weights, bias = fit_log_odds(csr_array(table), scales, np.array(truth), np.array(counts), bias_scale=30.0)
    return (bias, *weights.tolist())


def _held_out(tasks: Sequence[KeywordTask], by: Callable[[KeywordTask], str], what: str) -> Report:
    """Fit on all parts but one and measure the tasks of that one."""
    fitted = {
        part: _fit([task for task in tasks if by(task) != part]) for part in dict.fromkeys(map(by, tasks))
    }
    rows: list[list[Cell]] = []
    bars: list[Bar] = []
    for group in dict.fromkeys(task.group for task in tasks):
        own = [task for task in tasks if task.group == group]
        with_goals = [task for task in own if task.goals]
        found = [task.recognised(fitted[by(task)]) for task in with_goals]
        without = [task.recognised(fitted[by(task)]) for task in own if not task.goals]
        pattern = [task.by_pattern() for task in with_goals]
        sure = [
            float(not task.goals)
            for task in own
            if task.recognised(fitted[by(task)]).none_probability >= SURE
        ]
        f1, before = (_average(own.f1 for own in runs) for runs in (found, pattern))
        nothing = _average(float(own.reported == 0) for own in found)
        alarms = _average(float(own.reported > 0) for own in without)
        right = [_precision(found, likely=False), _precision(found, likely=True)]
        rows.append([group, len(found), f1, before, nothing, alarms, *right, len(sure), _average(sure)])
        if what == "sites":
            bars.append(Bar(f"{group}: F1 gained over the pattern", f1 - before, least=LEAST_GAIN))
    header = [
        "set", "tasks", "F1", "F1 of the pattern", "nothing reported", "false goals", "precision of goals",
        "precision of likely", f"none at {SURE:.0%}", "right",
    ]  # fmt: skip
    return Report(f"Goals recognised by keywords on {what} not fitted on", header, rows, bars)


SURE = 0.9  # probability that a site has no goal


def _precision(found: Sequence[Recognition], *, likely: bool) -> float | None:
    pairs = [
        (own.likely_right, own.likely_reported) if likely else (own.right, own.reported) for own in found
    ]
    reported = sum(count for _, count in pairs)
    return sum(right for right, _ in pairs) / reported if reported else None


def _average(values: Iterable[float]) -> float:
    listed = list(values)
    return sum(listed) / len(listed) if listed else 0.0


def _write(weights: KeywordWeights) -> None:
    data = {
        part: dict(zip(("bias", *names), [round(weight, 4) for weight in values], strict=True))
        for part, names, values in (
            ("pages", PAGE_EVIDENCE, weights.pages),
            ("none", SITE_EVIDENCE, weights.none),
        )
    }
    path = Path(wayhound.paths.__file__).parent / "data" / "keywords.json"
    path.write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")


def taught_runs(groups: Groups, worlds: Sequence[World], draws: int) -> Iterator[KeywordRun]:
    evaluation = Evaluation(worlds, [], SETS[groups.set_name].goals, [], lesson=LESSON, draws=draws)
    for task, lesson in evaluation.tasks():
        model = lesson.model(ADAPTIVE_STRATEGY, PathSettings())
        for strategy, words in (("taught", ()), ("taught and keywords", KEYWORDS[task.goal])):
            scorer = SCORERS[ADAPTIVE_STRATEGY](StrategyInput(model=model, keywords=words))
            yield _run(groups, task.world, task.goal, strategy, scorer)


def _run(groups: Groups, world: World, goal: str, strategy: str, scorer: Scorer) -> KeywordRun:
    goals = set(world.reachable_goals(goal))
    ours, best = (_pages_to(walked, goals) for walked in (walk(world, scorer).urls, oracle(world, goal).urls))
    return KeywordRun(groups.of_site[world.name], goal, strategy, ours / best)


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
