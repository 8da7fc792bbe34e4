"""An evaluation: every strategy on every site, trained on others, measured by order and by recognition.

Order is how few pages are fetched until the goals are found; recognition is how many of the goals fetched are
reported, and rightly.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields, replace
from itertools import accumulate, groupby, islice
from operator import itemgetter
from pathlib import Path
from time import process_time
from typing import Any

from wayhound.app.evaluate.lessons import LessonSize, draw_sites
from wayhound.app.evaluate.strategies import (
    ORACLE,
    RECOGNISING_STRATEGIES,
    STRATEGIES,
    Lesson,
    Taught,
    taught_from,
)
from wayhound.app.evaluate.world import Walk, World, ask_truthfully, oracle, walk
from wayhound.app.parallel import map_items
from wayhound.errors import MissingExtra
from wayhound.forage.scorer import Scorer, SiteReport
from wayhound.paths.model import ADAPTIVE_STRATEGY

BUDGET = 100  # pages among which goals are recognised
SHARES = (50, 75, 90, 95)  # per cent of the reachable goals

ByShare = Mapping[str, float | None]


@dataclass(frozen=True, slots=True)
class Recognition:
    """The pages reported as goals among the first ones fetched, and the likely ones.

    Precision is None if nothing was reported, recall if no goal was fetched; F1 is then 0.
    """

    reported: int
    right: int
    precision: float | None
    recall: float | None
    f1: float
    likely_reported: int
    likely_right: int
    none_probability: float
    fetched_goals: int

    @classmethod
    def from_report(cls, report: SiteReport, fetched: Sequence[str], goals: set[str]) -> Recognition:
        """Compare a report about these fetched pages with the goals of the site."""
        right = sum(page.url in goals for page in report.goals)
        fetched_goals = sum(url in goals for url in fetched)
        reported = len(report.goals)
        return cls(
            reported=reported,
            right=right,
            precision=right / reported if reported else None,
            recall=right / fetched_goals if fetched_goals else None,
            f1=2 * right / (reported + fetched_goals) if right else 0.0,
            likely_reported=len(report.likely),
            likely_right=sum(page.url in goals for page in report.likely),
            none_probability=report.none_probability,
            fetched_goals=fetched_goals,
        )


_NOT_IN_JSON = frozenset({"pages", "recognition", "by_answers", "without_goals", "fetched_goals"})


@dataclass(frozen=True, slots=True)
class Outcome:
    """The measures of one site, goal and strategy. A share that was never reached is None."""

    site: str
    goal: str
    strategy: str
    taught: str
    goals: int
    reachable: int
    fetched: int
    pages_to: ByShare
    ratio: ByShare
    harvest: ByShare
    auc: float
    curve: tuple[int, ...]  # goals found after each page
    cpu_seconds: float  # of the walk, without parsing
    training_seconds: (
        float  # of CPU; 0 for a strategy that was trained for an earlier task of the same lesson
    )
    pages: int  # reachable pages of the site: the value in a mean of a share never reached
    lesson: str = ""  # as `3x3`, if one was drawn
    draw: int = 0
    without_goals: bool = False  # whether the goals of the site had been removed
    recognition: Recognition | None = None  # None for strategies that only rate links
    by_answers: tuple[Recognition, ...] = ()  # the same without answers, then after each of them

    @property
    def task(self) -> tuple[str, str, str, int, bool]:
        """The key that outcomes of different strategies on the same task share."""
        return self.site, self.goal, self.lesson, self.draw, self.without_goals

    def to_json(self) -> dict[str, Any]:
        names = (part.name for part in fields(Recognition))
        recognition = asdict(self.recognition) if self.recognition else dict.fromkeys(names)
        return {
            name: value for name, value in (asdict(self) | recognition).items() if name not in _NOT_IN_JSON
        }


@dataclass(frozen=True, slots=True)
class EvaluationTask:
    """One site and goal after one lesson. With `without_goals`, the goals of `world` have been removed."""

    world: World
    goal: str
    lesson: str = ""
    draw: int = 0
    without_goals: bool = False


@dataclass(frozen=True)
class Evaluation:
    """The sites, goals and strategies to compare. A site that is being tested is never taught."""

    tested: Sequence[World]
    teaching: Sequence[World]  # if empty, each site is tested with a model taught on the other tested ones
    goals: Sequence[str]
    strategies: Sequence[str]
    trails_a_site: int = 15
    taught: Taught = "trails"
    lesson: LessonSize | None = None  # with one, a few sites are drawn and all others tested, `draws` times
    draws: int = 1
    budget: int = BUDGET
    without_goals: bool = False
    seed: int = 0
    use_urls: bool = True
    ignored: frozenset[str] = frozenset()  # concepts of the lexicon that `adaptive` must do without
    complete_lists: bool = False  # whether all goals among the pages seen of taught sites are listed
    questions: int = 0  # about pages of each tested site, answered from the labels
    pass_answers: bool = False  # whether `adaptive` learns from the answers for the sites tested after
    until: int | None = None  # per cent of the goals at which a site is left; by default all is fetched

    def __len__(self) -> int:
        return sum(1 for _ in self.tasks()) * len(self.strategies)

    def run(self, cluster: str = "") -> Iterator[Outcome]:
        """Yield the outcome of every task and strategy, in the same order wherever they are measured.

        On a cluster, each lesson is tested with each strategy apart (`map_items`). Raises UsageError if there is none.
        """
        if not cluster:
            for goal in self.goals:
                for lesson in self._lessons(goal):
                    yield from self._outcomes(goal, lesson, self.strategies)
            return
        parts = [(goal, number) for goal in self.goals for number, _ in enumerate(self._lessons(goal))]
        items = ((part, (*part, strategy)) for part in parts for strategy in self.strategies)
        measured = map_items(_evaluating, self, items, cluster=cluster)
        for _, of_lesson in groupby(measured, key=itemgetter(0)):
            by_strategy = (outcomes or [] for _, outcomes in of_lesson)
            for of_task in zip(*by_strategy, strict=True):
                yield from of_task

    def run_part(self, part: tuple[str, int, str]) -> list[Outcome]:
        """Return the outcomes of one goal, the lesson of this number and one strategy."""
        goal, number, strategy = part
        lesson = next(islice(self._lessons(goal), number, None))
        return list(self._outcomes(goal, lesson, [strategy]))

    def _outcomes(
        self, goal: str, taught_sites: tuple[Lesson, list[World], int], strategies: Sequence[str]
    ) -> Iterator[Outcome]:
        lesson, tested, draw = taught_sites
        answered = lesson  # with the answers so far
        for task in self._tasks(goal, tested, draw):
            best = oracle(task.world, task.goal)
            for strategy in strategies:
                taken, training_seconds = best, 0.0
                if strategy != ORACLE:
                    passed = self.pass_answers and strategy == ADAPTIVE_STRATEGY
                    known = answered if passed else lesson
                    _ = known.trails  # made from labels, so no part of the training
                    began = process_time()
                    scorer = STRATEGIES[strategy](known)
                    training_seconds = process_time() - began
                    taken = self._walk(task, scorer)
                    if passed and not task.without_goals:
                        answered = replace(known, answers=(*known.answers, *taken.answers), _models={})
                taught = taught_from(strategy, self.taught)
                outcome = measure(task, strategy, taught, taken, best, budget=self.budget)
                yield replace(outcome, training_seconds=training_seconds)

    def _walk(self, task: EvaluationTask, scorer: Scorer) -> Walk:
        """Forage the site of a task. Without goals there is no order to measure beyond the first pages."""
        goals = set(task.world.reachable_goals(task.goal))
        wanted = None if self.until is None else math.ceil(len(goals) * self.until / 100)
        return walk(
            task.world,
            scorer,
            self.budget,
            (lambda scorer: ask_truthfully(scorer, goals, self.questions)) if self.questions else None,
            goals=goals,
            wanted=0 if task.without_goals else wanted,
        )

    def tasks(self) -> Iterator[tuple[EvaluationTask, Lesson]]:
        """Yield every task with its lesson; a site without a reachable goal has nothing to measure."""
        for goal in self.goals:
            for lesson, tested, draw in self._lessons(goal):
                for task in self._tasks(goal, tested, draw):
                    yield task, lesson

    def _tasks(self, goal: str, tested: Iterable[World], draw: int) -> Iterator[EvaluationTask]:
        name = str(self.lesson or "")
        for world in tested:
            yield EvaluationTask(world, goal, name, draw)
            if self.without_goals and world.labels.get(world.site.start) != goal:
                yield EvaluationTask(world.without(goal), goal, name, draw, without_goals=True)

    def _lessons(self, goal: str) -> Iterator[tuple[Lesson, list[World], int]]:
        """Yield lessons, the sites that are tested after each, and the number of the draw."""
        with_goal = [world for world in self.tested if world.reachable_goals(goal)]
        if self.lesson is None:
            for world in with_goal:
                yield self._lesson(self._teaching_for(world), goal, (self.seed,)), [world], 0
            return
        for draw in range(self.draws):
            seed = (self.seed, draw)
            pool, spare = (self.teaching, 0) if self.teaching else (self.tested, 1)
            drawn = draw_sites(pool, goal, self.lesson, seed, spare=spare)
            taught = {world.site for world in drawn}
            tested = [world for world in with_goal if world.site not in taught]
            yield self._lesson(drawn, goal, seed), tested, draw

    def _lesson(self, worlds: Sequence[World], goal: str, seed: tuple[int, ...]) -> Lesson:
        return Lesson(
            worlds,
            goal,
            self.trails_a_site,
            self.taught,
            size=self.lesson,
            seed=seed,
            use_urls=self.use_urls,
            ignored=self.ignored,
            complete=self.complete_lists,
        )

    def _teaching_for(self, tested: World) -> list[World]:
        return [world for world in self.teaching or self.tested if world.site != tested.site]


@contextmanager
def _evaluating(evaluation: Evaluation) -> Iterator[Callable[[tuple[str, int, str]], list[Outcome]]]:
    yield evaluation.run_part


def outcomes_to_json(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    runs = [outcome.to_json() for outcome in outcomes]
    return {"runs": runs, "means": means(outcomes), "recommended": recommend(outcomes)}


def measure(
    task: EvaluationTask, strategy: str, taught: str, taken: Walk, best: Walk, *, budget: int = BUDGET
) -> Outcome:
    """Return the measures of a walk, relative to the oracle's; goals are recognised in its first `budget` pages."""
    world, goal = task.world, task.goal
    goals = set(world.reachable_goals(goal))
    curve = _curve(taken, goals)
    # without goals no share is ever reached
    needed = {
        str(share): math.ceil(len(goals) * share / 100) if goals else len(curve) + 1 for share in SHARES
    }
    pages_to = {share: _pages_to(curve, wanted) for share, wanted in needed.items()}
    optimal = {share: _pages_to(_curve(best, goals), wanted) for share, wanted in needed.items()}
    reports = taken.reports if strategy in RECOGNISING_STRATEGIES else ()
    recognitions = tuple(Recognition.from_report(report, taken.urls[:budget], goals) for report in reports)
    return Outcome(
        site=world.name,
        goal=goal,
        strategy=strategy,
        taught=taught,
        goals=len(world.goals(goal)),
        reachable=len(goals),
        fetched=len(taken.urls),
        pages_to=pages_to,
        ratio={share: _quotient(pages_to[share], optimal[share]) for share in needed},
        harvest={share: _quotient(wanted, pages_to[share]) for share, wanted in needed.items()},
        auc=_area(curve, len(goals), len(world.depths)),
        curve=tuple(curve),
        cpu_seconds=taken.cpu_seconds,
        training_seconds=0.0,
        pages=len(world.depths),
        lesson=task.lesson,
        draw=task.draw,
        without_goals=task.without_goals,
        recognition=recognitions[-1] if recognitions else None,
        by_answers=recognitions,
    )


def _curve(taken: Walk, goals: set[str]) -> list[int]:
    return list(accumulate(int(url in goals) for url in taken.urls))


def _pages_to(curve: Sequence[int], wanted: int) -> int | None:
    return next((page for page, goals in enumerate(curve, start=1) if goals >= wanted), None)


def _quotient(above: float | None, below: float | None) -> float | None:
    return None if above is None or not below else above / below


def _area(curve: Sequence[int], goals: int, pages: int) -> float:
    """Return the mean share of the goals found, over all pages that could be fetched."""
    if not goals or not curve:
        return 0.0
    return (sum(curve) + curve[-1] * (pages - len(curve))) / (goals * pages)


def means(outcomes: Sequence[Outcome]) -> list[dict[str, Any]]:
    """Return geometric means of order and macro means of recognition, one row for each goal, strategy and lesson."""
    floor = {run.task: run for run in outcomes if run.strategy == "breadth-first"}
    optimum = {run.task: run for run in outcomes if run.strategy == ORACLE}
    groups: dict[tuple[str, ...], list[Outcome]] = {}
    for run in outcomes:
        groups.setdefault((run.goal, run.strategy, run.taught, run.lesson), []).append(run)
    rows = []
    for key, runs in groups.items():
        with_goals = [run for run in runs if not run.without_goals]
        without = [run.recognition for run in runs if run.without_goals and run.recognition]
        rows.append(
            {
                **dict(zip(("goal", "strategy", "taught", "lesson"), key, strict=True)),
                "pages_to_vs_breadth_first": _relative_to(floor, with_goals),
                "ratio": _relative_to(optimum, with_goals),
                "auc": _mean(run.auc for run in with_goals),
                "training_seconds": _mean(run.training_seconds for run in runs if run.training_seconds),
                "cpu_ms_per_page": 1000
                * sum(run.cpu_seconds for run in runs)
                / max(sum(run.fetched for run in runs), 1),
                **_mean_recognition([run.recognition for run in with_goals if run.recognition]),
                "false_goal_share": _mean(float(recognition.reported > 0) for recognition in without),
            }
        )
    return rows


def recommend(outcomes: Sequence[Outcome]) -> str | None:
    """Return the strategy for material like that of the tested sites: fewest pages until 75 % of the goals.

    Only strategies that can be trained or used in a forage count. None without two of them to compare.
    """
    tasks = {run.task for run in outcomes if not run.without_goals}
    needed: dict[str, list[float]] = {}
    for run in outcomes:
        if not run.without_goals and run.strategy not in _NOT_FORAGED:
            needed.setdefault(run.strategy, []).append(_pages_needed(run, "75"))
    whole = {name: _geometric_mean(pages) for name, pages in needed.items() if len(pages) == len(tasks)}
    ranked = sorted((mean, name) for name, mean in whole.items() if mean is not None)
    return ranked[0][1] if len(ranked) > 1 else None


_NOT_FORAGED = frozenset({ORACLE, "levels", "url-only", "best-first-lsi"})
"""Strategies that are here for comparison, and that no forage can use."""


def _mean_recognition(recognitions: Sequence[Recognition]) -> dict[str, float | None]:
    """Return macro means. A site on which nothing was reported has no precision, and its F1 counts as 0."""
    return {
        "precision": _mean(own.precision for own in recognitions if own.precision is not None),
        "recall": _mean(own.recall for own in recognitions if own.recall is not None),
        "f1": _mean(own.f1 for own in recognitions),
        "nothing_reported": _mean(float(own.reported == 0) for own in recognitions),
    }


def _mean(values: Iterable[float]) -> float | None:
    listed = list(values)
    return sum(listed) / len(listed) if listed else None


def _relative_to(
    others: Mapping[tuple[str, str, str, int, bool], Outcome], runs: Sequence[Outcome]
) -> ByShare:
    pairs = [(run, others[run.task]) for run in runs if run.task in others]
    return {
        share: _geometric_mean(
            _pages_needed(run, share) / _pages_needed(other, share) for run, other in pairs
        )
        for share in map(str, SHARES)
    }


def _pages_needed(outcome: Outcome, share: str) -> float:
    return outcome.pages_to[share] or outcome.pages


def _geometric_mean(values: Iterable[float]) -> float | None:
    logs = [math.log(value) for value in values]
    return math.exp(sum(logs) / len(logs)) if logs else None


_SLOPE_SHARE = 95  # per cent of the goals up to which a slope is taken: the last ones may be anywhere


def irrelevant_slope(outcome: Outcome) -> float:
    """Return irrelevant pages per page fetched until nearly all goals are found; 1 is the worst.

    Fig. 4 and 5 of Vydiswaran & Sarawagi (2005) draw this line.
    """
    end = int(outcome.pages_to[str(_SLOPE_SHARE)] or len(outcome.curve))
    return 1 - outcome.curve[end - 1] / end if outcome.curve else 1.0


def plot(outcomes: Sequence[Outcome], path: Path) -> None:
    """Write a picture with a row for each site and goal.

    Goals found, harvest rate, and irrelevant pages with their slope, all against pages fetched. Raises MissingExtra
    without matplotlib.
    """
    try:
        import matplotlib as mpl  # noqa: PLC0415 - an extra

        mpl.use("Agg")
        from matplotlib import pyplot as plt  # noqa: PLC0415
    except ImportError:
        raise MissingExtra("A plot", "matplotlib", "plot") from None
    rows = list(dict.fromkeys((run.goal, run.site) for run in outcomes))
    figure, axes = plt.subplots(len(rows), 3, figsize=(15, 3.6 * len(rows)), squeeze=False)
    for (goal, site), (found, harvest, irrelevant) in zip(rows, axes, strict=True):
        for run in outcomes:
            if (run.goal, run.site) != (goal, site):
                continue
            pages = range(1, len(run.curve) + 1)
            goals = list(zip(pages, run.curve, strict=True))
            found.plot(pages, run.curve, label=run.strategy, linewidth=1.4)
            harvest.plot(pages, [goals / page for page, goals in goals], linewidth=1.4)
            slope = f"{run.strategy}, slope {irrelevant_slope(run):.2f}"
            irrelevant.plot(pages, [page - goals for page, goals in goals], label=slope, linewidth=1.4)
        found.set_title(f"{site}: {goal}", fontsize=10)
        for axis, name in (
            (found, "goals found"),
            (harvest, "harvest rate"),
            (irrelevant, "irrelevant pages"),
        ):
            axis.set_xlabel("pages fetched")
            axis.set_ylabel(name)
        irrelevant.legend(fontsize=7)
    axes.flat[0].legend(fontsize=7)
    figure.tight_layout()
    figure.savefig(path, dpi=120)
    plt.close(figure)
