"""Sites where only the path to a page tells what it is: path models against models of single pages."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from functools import cached_property

from bench.report import Bar, Cell, Report
from bench.spider_worlds import FLOOR, progress
from wayhound.app.evaluate.evaluation import BUDGET, Evaluation, EvaluationTask, Outcome, means, measure
from wayhound.app.evaluate.lessons import make_trails
from wayhound.app.evaluate.strategies import ORACLE, STRATEGIES, Lesson
from wayhound.app.evaluate.world import World, oracle, walk
from wayhound.app.trails import sample_worlds
from wayhound.samples import sample_web
from wayhound.samples.university import ALIKE, GOALS
from wayhound.trail import Trail

COMPARED = ("path-learner", "path-learner-literal", "maxent", "focused", "q-future", "hop-hmm", "hop-crf")
TRAILS = 6
REJECTED = (6, 8)  # trails of each kind on a site, half of the failing ones to pages that look like goals


def university(arguments: argparse.Namespace) -> list[Report]:  # noqa: ARG001
    """Universities whose departments look alike, taught with failing trails to any pages, and to look-alikes."""
    worlds = sample_worlds([site.name for site in sample_web().universities])
    half = len(worlds) // 2
    tested, taught = worlds[half:], worlds[:half]
    reports = []
    for goal in GOALS:
        evaluation = Evaluation(tested, taught, [goal], [FLOOR, *COMPARED, ORACLE], trails_a_site=TRAILS)
        reports.append(_report(goal, list(evaluation.run())))
        progress("university", goal)
    for goal in ALIKE:
        for count in REJECTED:
            outcomes = list(_run(tested, _LookAlikesRejected(taught, goal, count)))
            f1 = {row["strategy"]: row["f1"] for row in means(outcomes)}
            name = f"{goal}: F1 of path-learner above maxent's, {count} + {count} trails"
            bar = Bar(name, f1["path-learner"] - f1["maxent"], least=0.001)
            title = f"{goal}, {count} + {count} trails, look-alikes rejected"
            reports.append(_report(title, outcomes, bar))
            progress("university", goal, count)
    return reports


class _LookAlikesRejected(Lesson):
    """A lesson in which the teacher rejects pages that look like goals."""

    @cached_property
    def trails(self) -> list[Trail]:
        alike = ALIKE[self.goal]
        return [
            trail
            for world in self.worlds
            for trail in make_trails(world, self.goal, self.trails_a_site, alike=alike)
        ]


def _run(tested: Sequence[World], lesson: Lesson) -> Iterator[Outcome]:
    for world in tested:
        task, best = EvaluationTask(world, lesson.goal), oracle(world, lesson.goal)
        yield measure(task, ORACLE, "trails", best, best)
        for strategy in (FLOOR, *COMPARED):
            yield measure(task, strategy, "trails", walk(world, STRATEGIES[strategy](lesson), BUDGET), best)


def _report(goal: str, outcomes: Sequence[Outcome], *bars: Bar) -> Report:
    rows: list[list[Cell]] = []
    for row in means(outcomes):
        order = [row["pages_to_vs_breadth_first"]["75"], row["ratio"]["75"]]
        rows.append([row["strategy"], *order, row["precision"], row["recall"], row["f1"]])
    header = ["strategy", "× breadth-first", "× oracle", "precision", "recall", "F1"]
    return Report(f"Universities: {goal}", header, rows, bars)
