"""The worth of more teaching after lessons of a few trails: ten answers about other sites, and complete lists of goals.

Every draw of `3x3` is tested on new sites, always the same: as it is; after a person has answered ten questions, at
most three a site, about other sites that a forage visited (`wayhound forage --ask`); and if the person has listed all
goals among the first pages of the taught sites ("are these all?"). Measured is F1 of the goals reported among the first
100 pages, and the gain with its standard error over pairs of the same site and lesson. With `--write`, the gains
replace `wayhound/paths/data/gains.json`, from which `wayhound train` says what more teaching would bring.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # as `wayhound.learn` does; reports import numpy first

import wayhound.paths
from bench.few_sets import SETS, load_set
from bench.report import Cell, Report, add_data_option, add_output_options, finish
from wayhound.app.evaluate.evaluation import BUDGET, Evaluation, Recognition
from wayhound.app.evaluate.lessons import LessonSize
from wayhound.app.evaluate.strategies import STRATEGIES, Lesson
from wayhound.app.evaluate.world import World, ask_truthfully, walk
from wayhound.forage.forager import ForageLimits
from wayhound.forage.scorer import Scorer
from wayhound.paths.model import ADAPTIVE_STRATEGY
from wayhound.trail import Trail

LESSON = LessonSize(3, 3)
ANSWERS, ANSWERS_A_SITE = 10, 3
LIMITS = ForageLimits(budget=BUDGET)
WAYS = ("as taught", "ten answers", "complete lists")


@dataclass(frozen=True, slots=True)
class Gain:
    """F1 of one site after one lesson, taught in each of `WAYS`."""

    group: str
    f1: tuple[float, ...]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--set", action="append", choices=sorted(SETS), help="[default: modern, departments]")
    parser.add_argument("--goal", action="append", help="[default: all goals of the set]")
    parser.add_argument("--draws", type=int, default=2)
    parser.add_argument("--write", action="store_true", help="keep the gains for `wayhound train`")
    add_data_option(parser)
    add_output_options(parser)
    arguments = parser.parse_args()
    gains: list[Gain] = []
    for name in arguments.set or ("modern", "departments"):
        worlds = load_set(name, arguments.data)
        for goal in arguments.goal or SETS[name].goals:
            gains += measured(name, worlds, goal, arguments.draws)
            print(f"{name} {goal}: {len(gains)} sites", file=sys.stderr)
    if arguments.write:
        _write(gains)
    return finish([_report(gains)], arguments)


def measured(name: str, worlds: Sequence[World], goal: str, draws: int) -> Iterator[Gain]:
    """Yield the F1 of every tested site, after each lesson that leaves sites to ask about and to test."""
    evaluation = Evaluation(worlds, [], [goal], [ADAPTIVE_STRATEGY], lesson=LESSON, draws=draws)
    lessons: dict[int, tuple[Lesson, list[World]]] = {}
    for task, lesson in evaluation.tasks():
        lessons.setdefault(task.draw, (lesson, []))[1].append(task.world)
    for lesson, worlds_left in lessons.values():
        asked = worlds_left[: min(math.ceil(ANSWERS / ANSWERS_A_SITE), len(worlds_left) // 2)]
        answers = _answers(lesson, asked, goal)
        taught = (
            lesson,
            replace(lesson, answers=answers, _models={}),
            replace(lesson, complete=True, _models={}),
        )
        for world in worlds_left[len(asked) :]:
            yield Gain(name, tuple(_f1(world, goal, own) for own in taught))


def _answers(lesson: Lesson, worlds: Sequence[World], goal: str) -> tuple[Trail, ...]:
    """Return the trails that the answers about these sites become."""
    trails: list[Trail] = []
    for world in worlds:
        goals, most = set(world.reachable_goals(goal)), min(ANSWERS_A_SITE, ANSWERS - len(trails))

        def ask(scorer: Scorer, goals: set[str] = goals, most: int = most) -> dict[str, bool]:
            return ask_truthfully(scorer, goals, most)

        trails += walk(world, STRATEGIES[ADAPTIVE_STRATEGY](lesson), ask=ask, limits=LIMITS).answers
    return tuple(trails)


def _f1(world: World, goal: str, lesson: Lesson) -> float:
    taken = walk(world, STRATEGIES[ADAPTIVE_STRATEGY](lesson), limits=LIMITS)
    assert taken.report is not None
    return Recognition.from_report(taken.report, taken.urls, set(world.reachable_goals(goal))).f1


def _gain(gains: Sequence[Gain], way: int) -> tuple[float, float]:
    """Return the mean gain of a way against the lesson as taught, and its standard error."""
    differences = [gain.f1[way] - gain.f1[0] for gain in gains]
    mean = sum(differences) / len(differences)
    variance = sum((value - mean) ** 2 for value in differences) / max(len(differences) - 1, 1)
    return mean, math.sqrt(variance / len(differences))


def _report(gains: Sequence[Gain]) -> Report:
    rows: list[list[Cell]] = []
    for group in dict.fromkeys(gain.group for gain in gains):
        own = [gain for gain in gains if gain.group == group]
        for way, name in enumerate(WAYS):
            f1 = sum(gain.f1[way] for gain in own) / len(own)
            rows.append([group, name, len(own), f1, *_gain(own, way)])
    header = ["set", "taught", "sites", "F1", "gain", "standard error"]
    return Report(f"F1 after lessons of {LESSON}, and what more teaching brings", header, rows)


def _write(gains: Sequence[Gain]) -> None:
    figures: dict[str, dict[str, float]] = {}
    for way, name in enumerate(WAYS[1:], start=1):
        mean, error = _gain(gains, way)
        figures[name] = {"gain": round(mean, 3), "error": round(error, 3), "sites": len(gains)}
    path = Path(wayhound.paths.__file__).parent / "data" / "gains.json"
    path.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
