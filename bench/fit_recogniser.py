"""Fit the general weights of the recogniser on tasks "taught on these sites, tested on that one".

Every set of recorded sites is taught and tested as `evaluate --lesson` does, with goals and with goals removed; some
sets again without the concepts that name the goal, so that the weights also hold for goals that no lexicon names. The
tables measure how well the probabilities hold on sites that the weights were not fitted on, and with whole sets left
out: F1 of the goals reported, sites on which nothing is reported, sites without goals on which something is, the same
after three questions a site, and the reliability of probabilities. With `--all-labels`, one more table says how well
sites with goals and without can be told apart at all: by a model of the same traits that knows every label of the
other sites of the set.

With `--write`, the weights fitted on all tasks replace `wayhound/paths/data/recogniser.json`. They know neither words
nor goals; their features are `wayhound.paths.site_recognition.FEATURES`.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # as `wayhound.learn` does; reports import numpy first

import numpy as np
from scipy.sparse import csr_array

import wayhound.paths
from bench.few_sets import OWN_CONCEPTS, SETS, load_set
from bench.report import Cell, Report, add_data_option, add_output_options, finish
from wayhound.app.evaluate.evaluation import BUDGET, Evaluation, EvaluationTask
from wayhound.app.evaluate.lessons import LessonSize
from wayhound.app.evaluate.strategies import STRATEGIES, Lesson
from wayhound.app.evaluate.world import explore
from wayhound.forage.scorers.adaptive import Adaptive
from wayhound.learn.arrays import Floats
from wayhound.learn.logistic import fit_log_odds
from wayhound.paths.model import ADAPTIVE_STRATEGY
from wayhound.paths.page_names import NO_MATCH
from wayhound.paths.site_recognition import (
    FEATURES,
    NONE_FEATURES,
    QUESTIONS_A_SITE,
    Answers,
    PageEvidence,
    RecogniserWeights,
    SiteRecogniser,
    next_question,
)
from wayhound.paths.trait_model import TraitExample, TraitModel, fit_trait_model
from wayhound.paths.traits import ReachedPage

FOLDS = 5
TASK_WEIGHT = 5.0  # in pages, however many were fetched
PRIOR_SCALE = 0.3  # in standard deviations of each feature
TAUGHT, TRAILS = "taught 5", 5  # on all other sites, so many trails of each kind
LESSONS = {"modern": ("3x3", TAUGHT), "departments": ("1x3", "3x3", "5x5")}
UNNAMED = ("modern", "departments")  # sets that are also taught 3x3 without the concepts of the goal
DOUBTS = (0.5, 0.6, 0.7, 0.75, 0.8, 0.9, 1.0)
DRAWS = {"modern": 2, "departments": 3, "academic": 2, "javadoc": 2, "company": 1}


@dataclass
class FitTask:
    """The pages of one site after one lesson, which of them are goals, and whether its goals had been removed."""

    group: str
    lesson: str
    site: str
    recogniser: SiteRecogniser
    goals: Floats
    without_goals: bool
    rows: Floats
    goal: str
    reached: Sequence[ReachedPage]
    labels: Sequence[str]  # of the pages; "" if a page has none

    @property
    def fold(self) -> int:
        """The fold of the task; all tasks of a site are in one fold."""
        return zlib.crc32(self.site.encode()) % FOLDS


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="keep the weights fitted on all tasks")
    parser.add_argument("--ablate", action="store_true", help="also measure without each part in turn")
    parser.add_argument("--all-labels", action="store_true", help="also measure what all labels would tell")
    parser.add_argument("--set", action="append", choices=list(SETS), help="[default: all]")
    add_data_option(parser)
    add_output_options(parser)
    arguments = parser.parse_args()
    tasks = [task for name in arguments.set or SETS for task in _tasks(name, arguments.data)]
    reports = []
    if len({task.group for task in tasks}) > 1:  # the only set cannot be left out
        reports.append(_held_out(tasks, lambda task: task.group, "Goals recognised on sets not fitted on"))
    # last, because the tables below use its weights
    reports.append(_held_out(tasks, lambda task: task.fold, "Goals recognised on sites not fitted on"))
    reports += [_doubts(tasks), _reliability(tasks)]
    if arguments.ablate:
        reports.append(_ablation(tasks))
    if arguments.all_labels:
        reports.append(_all_labels(tasks))
    if arguments.write:
        _write(_fit(tasks), _expected(tasks))
    return finish(reports, arguments)


def _tasks(name: str, data: Path) -> Iterator[FitTask]:
    worlds, goals = load_set(name, data), SETS[name].goals
    sizes = [(size, False) for size in LESSONS.get(name, ("3x3",))]
    for size, is_unnamed in [*sizes, *[("3x3", True) for unnamed in UNNAMED if unnamed == name]]:
        evaluation = Evaluation(
            worlds,
            [],
            goals,
            [ADAPTIVE_STRATEGY],
            trails_a_site=TRAILS,
            lesson=None if size == TAUGHT else LessonSize.parse(size),
            draws=DRAWS[name],
            without_goals=True,
        )
        label = f"{size} unnamed" if is_unnamed else size
        for goal in goals:
            ignored = frozenset(OWN_CONCEPTS[goal]) if is_unnamed else frozenset[str]()
            lessons = replace(evaluation, goals=[goal], ignored=ignored).tasks()
            yield from (_fit_task(name, label, task, lesson) for task, lesson in lessons)
        print(f"{name} {label}", file=sys.stderr)


def _fit_task(group: str, label: str, task: EvaluationTask, lesson: Lesson) -> FitTask:
    scorer = STRATEGIES[ADAPTIVE_STRATEGY](lesson)
    assert isinstance(scorer, Adaptive)
    reached = explore(task.world, scorer, BUDGET)
    wanted = set(task.world.reachable_goals(task.goal))
    return FitTask(
        group=group,
        lesson=label,
        site=task.world.name,
        recogniser=scorer.recogniser,
        goals=np.array([float(own.page.url in wanted) for own in reached]),
        without_goals=task.without_goals,
        rows=scorer.recogniser.rows(),
        goal=task.goal,
        reached=reached,
        labels=[task.world.labels.get(own.page.url, "") for own in reached],
    )


def _fit(tasks: Sequence[FitTask]) -> RecogniserWeights:
    """Fit page weights on tasks with goals and on all tasks, then the weights of "this site has no goal"."""
    pages = _fit_pages([task for task in tasks if not task.without_goals])
    weights = RecogniserWeights(pages, _fit_pages(tasks), (0.0,) * len(NONE_FEATURES))
    verdicts = [_verdict_row(task, weights) for task in tasks]
    removed = np.array([float(task.without_goals) for task in tasks])
    return replace(weights, none=_logistic(np.array(verdicts), removed, np.ones(len(tasks))))


def _fit_pages(tasks: Sequence[FitTask]) -> tuple[float, ...]:
    rows = np.concatenate([task.rows for task in tasks])
    truth = np.concatenate([task.goals for task in tasks])
    counts = np.concatenate([np.full(len(task.goals), TASK_WEIGHT / len(task.goals)) for task in tasks])
    return _logistic(rows, truth, counts)


def _verdict_row(task: FitTask, weights: RecogniserWeights) -> Floats:
    """Return the features of "this site has no goal" under these page weights.

    The weights of the recogniser stay: a held-out task is measured by weights that were fitted without it.
    """
    saved = task.recogniser.weights
    task.recogniser.weights = weights
    row = task.recogniser.none_row(task.recogniser.probabilities())
    task.recogniser.weights = saved
    return row


def _logistic(rows: Floats, truth: Floats, counts: Floats) -> tuple[float, ...]:
    """Return weights with the bias first; the first column, all ones, stands for it."""
    deviations = rows[:, 1:].std(axis=0)
    scales = np.where(deviations > 1e-6, PRIOR_SCALE / np.maximum(deviations, 1e-6), 1e-6)
    weights, bias = fit_log_odds(csr_array(rows[:, 1:]), scales, truth, counts, bias_scale=30.0)
    return (bias, *weights.tolist())


def _held_out(tasks: Sequence[FitTask], by: Callable[[FitTask], int | str], title: str) -> Report:
    """Fit on all folds but one and measure the tasks of that one, without questions and with three a site."""
    fitted = {
        fold: _fit([task for task in tasks if by(task) != fold]) for fold in dict.fromkeys(map(by, tasks))
    }
    for task in tasks:
        task.recogniser.weights = fitted[by(task)]
    rows: list[list[Cell]] = []
    for key in dict.fromkeys((task.group, task.lesson) for task in tasks):
        same = [task for task in tasks if (task.group, task.lesson) == key]
        silent = [TaskResult.from_task(task, {}) for task in same]
        asked = [TaskResult.from_task(task, _answers(task)) for task in same]
        rows.append([*key, len(same) // 2, *_figures(same, silent), *_figures(same, asked)[:3]])
    figures = ["F1", "nothing reported", "false goals"]
    header = [
        "set", "lesson", "tasks", *figures, "precision of goals", "precision of likely",
        *(f"{name}, {QUESTIONS_A_SITE} questions" for name in figures),
    ]  # fmt: skip
    return Report(title, header, rows, [])


@dataclass(frozen=True, slots=True)
class TaskResult:
    """The pages reported on one site: goals and likely goals, and how many of each are right."""

    f1: float
    goals: int
    right: float
    likely: int
    likely_right: float

    @classmethod
    def from_task(cls, task: FitTask, answers: Answers) -> TaskResult:
        ranked = task.recogniser.ranked(answers=answers)
        end = ranked.goals + ranked.likely
        right = float(sum(task.goals[number] for number in ranked.order[: ranked.goals]))
        likely = float(sum(task.goals[number] for number in ranked.order[ranked.goals : end]))
        f1 = 2 * right / (ranked.goals + task.goals.sum()) if right else 0.0
        return cls(float(f1), ranked.goals, right, ranked.likely, likely)


def _figures(tasks: Sequence[FitTask], results: Sequence[TaskResult]) -> list[float | None]:
    """Return F1, the share of sites on which nothing is reported, false goals, and the precision of both tiers."""
    pairs = list(zip(tasks, results, strict=True))
    with_goals = [result for task, result in pairs if not task.without_goals]
    without = [result for task, result in pairs if task.without_goals]
    return [
        _mean([result.f1 for result in with_goals]),
        _mean([float(not result.goals) for result in with_goals]),
        _mean([float(result.goals > 0) for result in without]),
        _mean([result.right / result.goals for result in with_goals if result.goals]),
        _mean([result.likely_right / result.likely for result in with_goals if result.likely]),
    ]


def _answers(task: FitTask) -> dict[str, bool]:
    """Return the answers of a person who never errs to the questions about one site."""
    truth = {page.url: bool(goal) for page, goal in zip(task.recogniser.pages, task.goals, strict=True)}
    answers: dict[str, bool] = {}
    while (question := next_question(task.recogniser, answers)) is not None:
        answers[question.url] = truth[question.url]
    return answers


def _doubts(tasks: Sequence[FitTask]) -> Report:
    """Return what every limit of doubt would cost and bring; weights are those of `_held_out`."""
    verdicts = [(task, task.recogniser.none_probability(), _f1_without_doubt(task)) for task in tasks]
    rows: list[list[Cell]] = []
    for key in dict.fromkeys((task.group, task.lesson) for task in tasks):
        same = [verdict for verdict in verdicts if (verdict[0].group, verdict[0].lesson) == key]
        with_goals = [(none, f1) for task, none, f1 in same if not task.without_goals]
        without = [none for task, none, _ in same if task.without_goals]
        rows += [
            [
                *key,
                limit,
                _mean([f1 * (none <= limit) for none, f1 in with_goals]),
                _mean([float(none > limit) for none, _ in with_goals]),
                _mean([float(none <= limit) for none in without]),
            ]
            for limit in DOUBTS
        ]
    header = ["set", "lesson", "most doubt", "F1", "nothing reported", "false goals"]
    return Report("Limits of the doubt that a site has goals", header, rows, [])


def _f1_without_doubt(task: FitTask) -> float:
    ranked = task.recogniser.ranked(max_doubt=1.0)
    right = float(sum(task.goals[number] for number in ranked.order[: ranked.goals]))
    return float(2 * right / (ranked.goals + task.goals.sum())) if right else 0.0


def _reliability(tasks: Sequence[FitTask]) -> Report:
    """Return how often pages of each probability are goals, on sites not fitted on."""
    with_goals = [task for task in tasks if not task.without_goals]
    rows: list[list[Cell]] = []
    for lesson in dict.fromkeys(task.lesson for task in with_goals):
        same = [task for task in with_goals if task.lesson == lesson]
        probabilities = np.concatenate([task.recogniser.probabilities() for task in same])
        truth = np.concatenate([task.goals for task in same])
        for low in np.arange(0.0, 1.0, 0.1):
            there = (probabilities >= low) & (probabilities < low + 0.1)
            if there.any():
                means = float(probabilities[there].mean()), float(truth[there].mean())
                rows.append([lesson, f"{low:.1f}–{low + 0.1:.1f}", int(there.sum()), *means])
    return Report("Reliability", ["lesson", "probability", "pages", "mean probability", "goals"], rows, [])


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None


Change = Callable[[SiteRecogniser], SiteRecogniser]


def _without_model(number: int) -> Change:
    """Return a change that puts the mean of the other models in the place of one."""

    def change(site: SiteRecogniser) -> SiteRecogniser:
        pages = []
        for page in site.pages:
            others = [odds for at, odds in enumerate(page.odds) if at != number]
            odds = (*page.odds[:number], sum(others) / len(others), *page.odds[number + 1 :])
            pages.append(replace(page, odds=odds))
        return _with_pages(site, pages)

    return change


def _without_groups(site: SiteRecogniser) -> SiteRecogniser:
    pages = [
        replace(page, region=f"{number}", template=-number, shape=f"{number}")
        for number, page in enumerate(site.pages)
    ]
    return _with_pages(site, pages)


def _with_pages(site: SiteRecogniser, pages: Sequence[PageEvidence]) -> SiteRecogniser:
    changed = SiteRecogniser(site.lesson, site.weights)
    for page in pages:
        changed.add(page)
    return changed


def _with_lesson(site: SiteRecogniser, **facts: Any) -> SiteRecogniser:
    return replace(_with_pages(site, site.pages), lesson=replace(site.lesson, **facts))


ABLATIONS: dict[str, Change] = {
    "nothing": lambda site: _with_pages(site, site.pages),
    "the CRF": _without_model(0),
    "the small model of trails": _without_model(1),
    "the small model of whole sites": _without_model(2),
    "lists and templates": _without_groups,
    "translations judged together": lambda site: _with_pages(
        site, [replace(page, twin="") for page in site.pages]
    ),
    "the second pass": lambda site: replace(_with_pages(site, site.pages), second_pass=0.0),
    "goals told by their names": lambda site: _with_lesson(site, told_by_name=False),
    "names that look alike": lambda site: _with_lesson(
        _with_pages(site, [replace(page, likeness=NO_MATCH) for page in site.pages]), name_trust=0.0
    ),
    "the share of sites with one goal": lambda site: _with_lesson(site, single=0.0),
}


def _ablation(tasks: Sequence[FitTask]) -> Report:
    """Return F1 on sites not fitted on without each part in turn; the weights are fitted without it, too."""
    with_goals = [task for task in tasks if not task.without_goals]
    keys = list(dict.fromkeys((task.group, task.lesson) for task in with_goals))
    rows: list[list[Cell]] = []
    for name, change in ABLATIONS.items():
        changed = [replace(task, recogniser=change(task.recogniser)) for task in with_goals]
        changed = [replace(task, rows=task.recogniser.rows()) for task in changed]
        fitted = [_fit_pages([task for task in changed if task.fold != fold]) for fold in range(FOLDS)]
        for task in changed:
            task.recogniser.weights = replace(task.recogniser.weights, pages=fitted[task.fold])
        scores = [(task.group, task.lesson, _f1_without_doubt(task)) for task in changed]
        rows.append([name, *(_mean([f1 for *key, f1 in scores if tuple(key) == wanted]) for wanted in keys)])
        print(f"without {name}", file=sys.stderr)
    header = ["without", *(" ".join(key) for key in keys)]
    return Report("F1 without each part in turn, no site doubted", header, rows, [])


def _all_labels(tasks: Sequence[FitTask]) -> Report:
    """Compare lessons of three sites with a model of every labelled page of all other sites, on sites not fitted on."""
    rows: list[list[Cell]] = []
    for group in dict.fromkeys(task.group for task in tasks):
        same = [task for task in tasks if (task.group, task.lesson) == (group, "3x3")]
        for name, own in (("3x3", same), ("all labels", _taught_all_labels(same))):
            fitted = [_fit([task for task in own if task.fold != fold]) for fold in range(FOLDS)]
            for task in own:
                task.recogniser.weights = fitted[task.fold]
            f1 = _mean([_f1_without_doubt(task) for task in own if not task.without_goals])
            rows.append([group, name, f1, *_separation(own)])
    header = [
        "set",
        "taught",
        "F1, no site doubted",
        "area of the doubt",
        f"false goals at {SILENT:.0%} silent",
    ]
    return Report("Sites without goals, by a lesson and by all labels", header, rows, [])


def _taught_all_labels(tasks: Sequence[FitTask]) -> list[FitTask]:
    """Return the tasks with the log odds of a model that knows all labels of the other sites in place of all three."""
    pages = {
        (task.site, own.page.url): (own.traits(), label)
        for task in tasks
        for own, label in zip(task.reached, task.labels, strict=True)
        if label
    }
    models: dict[tuple[str, str], TraitModel] = {}
    changed = []
    for task in tasks:
        if (task.site, task.goal) not in models:
            models[task.site, task.goal] = fit_trait_model([
                TraitExample(site, url, traits, float(label == task.goal))
                for (site, url), (traits, label) in pages.items()
                if site != task.site
            ])  # fmt: skip
        odds = [models[task.site, task.goal].log_odds(own.traits()) for own in task.reached]
        site = _with_pages(
            task.recogniser,
            [
                replace(page, odds=(own,) * len(page.odds))
                for page, own in zip(task.recogniser.pages, odds, strict=True)
            ],
        )
        changed.append(replace(task, recogniser=site, rows=site.rows()))
    return changed


SILENT = 0.05  # the share of sites with goals on which nothing may be reported


def _separation(tasks: Sequence[FitTask]) -> tuple[float, float]:
    """Return the area under the curve of the doubt, and false goals at the limit that silences few sites with goals."""
    doubts = [(task.without_goals, task.recogniser.none_probability()) for task in tasks]
    having = np.array([doubt for without, doubt in doubts if not without])
    without = np.array([doubt for without, doubt in doubts if without])
    above = (without[:, None] > having) + 0.5 * (without[:, None] == having)
    limit = np.sort(having)[::-1][int(SILENT * len(having))]
    return float(above.mean()), float((without <= limit).mean())


EXPECTED_SETS = ("modern", "departments")  # the others are easier than what people look for


def _expected(tasks: Sequence[FitTask]) -> dict[str, dict[str, float]]:
    """Return the figures of `paths.expectation`, by taught sites; weights are those of `_held_out`."""
    by_sites: dict[int, list[FitTask]] = {}
    for task in tasks:
        drawn = "unnamed" not in task.lesson and task.lesson != TAUGHT
        if task.group in EXPECTED_SETS and not task.without_goals and drawn:
            by_sites.setdefault(LessonSize.parse(task.lesson).sites, []).append(task)
    expected: dict[str, dict[str, float]] = {}
    for sites, same in sorted(by_sites.items()):
        f1 = [TaskResult.from_task(task, {}).f1 for task in same]
        asked = [TaskResult.from_task(task, _answers(task)).f1 for task in same]
        low, high = np.quantile(f1, [0.25, 0.75])
        figures = {"f1": np.mean(f1), "low": low, "high": high, "with_questions": np.mean(asked)}
        expected[str(sites)] = {name: round(float(value), 3) for name, value in figures.items()}
    return expected


def _write(weights: RecogniserWeights, expected: dict[str, dict[str, float]]) -> None:
    data = {
        "expected": expected,
        "pages": dict(zip(FEATURES, [round(weight, 4) for weight in weights.pages], strict=True)),
        "doubtful": dict(zip(FEATURES, [round(weight, 4) for weight in weights.doubtful], strict=True)),
        "none": dict(zip(NONE_FEATURES, [round(weight, 4) for weight in weights.none], strict=True)),
    }
    path = Path(wayhound.paths.__file__).parent / "data" / "recogniser.json"
    path.write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
