"""Accuracy of page labels along a path: Tables 2 and 3 of Vydiswaran & Sarawagi (2005) on our sites.

Trails to goals and as many that end elsewhere are made from the labels of every site; each site in turn is labelled
by a model trained on all others. All methods learn from the same whole trails, each page and link once, with the
same tokens and the same prior. (A): mean over all labels of all goals; (G): goal pages alone; (B): goal pages, with
two classes, goals and others.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean, median, mode

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # threads cost more than they gain on small arrays

from bench.report import Bar, Cell, Report, add_data_option, add_output_options, finish
from wayhound.app.evaluate.lessons import make_trails
from wayhound.app.evaluate.world import World, load_worlds
from wayhound.paths.cross_validation import LabelPair, LabelScore, held_out_labels, label_scores
from wayhound.paths.settings import PathSettings
from wayhound.paths.trainers import TRAINERS
from wayhound.trail import GOAL, Trail

METHODS = {"naive Bayes": "naive-bayes", "maximum entropy": "maxent", "CRF": "path-learner"}
BODY_TOKENS = (100, 10, 0)
COMPARED_AT = 10  # body tokens, as in Table 3
LEAST_LEAD = 0.001  # of the CRF's F1
SETS = {
    "departments": (("webkb", "departments"), ("faculty", "course", "project", "student")),
    "academic": (("academic",), ("person", "publication")),
    "company": (("company",), ("contact",)),
}
LABELLED = ("departments", "academic")  # contact pages of companies are one click away: nothing to label


@dataclass(frozen=True)
class Lessons:
    """The trails to each goal on the sites of one set."""

    name: str
    trails: dict[str, list[Trail]]

    @classmethod
    def load(cls, name: str, data: Path, most: int) -> Lessons:
        folders, goals = SETS[name]
        worlds = load_worlds([data / "sites" / folder for folder in folders])
        return cls(name, {goal: _trails(worlds, goal, most) for goal in goals})

    def label_pairs(self, strategy: str, settings: PathSettings) -> list[LabelPair]:
        """Return the labels of all goals together; milestones of different goals are different labels."""
        pairs: list[LabelPair] = []
        for goal, trails in self.trails.items():
            print(f"{self.name} {goal} {strategy} {settings.body_tokens} {settings.states}", file=sys.stderr)
            labels = held_out_labels(trails, strategy, settings)
            pairs += [(_named(goal, true), _named(goal, predicted)) for true, predicted in labels]
        return pairs


def _trails(worlds: Sequence[World], goal: str, most: int) -> list[Trail]:
    return [
        trail for world in worlds if world.reachable_goals(goal) for trail in make_trails(world, goal, most)
    ]


def _named(goal: str, label: str) -> str:
    return label if label == GOAL else f"{goal}: {label}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trails", type=int, default=15, help="to goals a site, and as many that fail")
    parser.add_argument("--set", action="append", choices=LABELLED, help="[default: all]")
    add_data_option(parser)
    add_output_options(parser)
    arguments = parser.parse_args()
    lessons = [Lessons.load(name, arguments.data, arguments.trails) for name in arguments.set or LABELLED]
    tables = [(one_set, Tables.measure(one_set)) for one_set in lessons]
    described = [*lessons, Lessons.load("company", arguments.data, arguments.trails)]
    reports = [_table_1(described), _table_2(tables), _table_3(tables), _all_labels(tables)]
    return finish(reports, arguments)


def _table_1(lessons: Sequence[Lessons]) -> Report:
    """Return the counts of Table 1, and how many clicks the goals are away (4.4.3)."""
    rows: list[list[Cell]] = []
    for own in lessons:
        for goal, trails in own.trails.items():
            goals = [trail for trail in trails if trail.reached_goal]
            model = TRAINERS["path-learner"](trails, PathSettings(lessons="trails"))
            clicks = [trail.depth for trail in goals]
            words = len(model.vocabulary.columns_)
            weights = sum(array.size for name, array in model.pack()[0].items() if name != "rewards")
            counts = [
                len({trail.site for trail in trails}),
                len(trails),
                len(goals),
                model.n_labels,
                words,
                weights,
            ]
            rows.append([f"{own.name}: {goal}", *counts, fmean(clicks), median(clicks), mode(clicks)])
    header = ["set", "sites", "trails", "positive", "labels", "tokens", "weights", "clicks", "median", "mode"]
    return Report("Table 1, and clicks from the start to a goal", header, rows)


@dataclass(frozen=True)
class Tables:
    """The label pairs of each method, with all labels and with two, and of the CRF by number of body tokens."""

    by_tokens: dict[int, list[LabelPair]]
    by_method: dict[str, list[LabelPair]]
    binary: dict[str, list[LabelPair]]

    @classmethod
    def measure(cls, lessons: Lessons) -> Tables:
        few = PathSettings(body_tokens=COMPARED_AT, lessons="trails")
        two = replace(few, states="binary")
        by_tokens = {n: lessons.label_pairs("path-learner", replace(few, body_tokens=n)) for n in BODY_TOKENS}
        others = {
            name: lessons.label_pairs(strategy, few) for name, strategy in METHODS.items() if name != "CRF"
        }
        binary = {name: lessons.label_pairs(strategy, two) for name, strategy in METHODS.items()}
        return cls(by_tokens, {**others, "CRF": by_tokens[COMPARED_AT]}, binary)


Measured = Sequence[tuple[Lessons, Tables]]


def _table_2(measured: Measured) -> Report:
    rows: list[list[Cell]] = []
    for lessons, tables in measured:
        scores = [label_scores(tables.by_tokens[n]) for n in BODY_TOKENS]
        rows.append([f"{lessons.name} (A)", *(cell for score in scores for cell in _cells(score.mean))])
        rows.append([f"{lessons.name} (G)", *(cell for score in scores for cell in _cells(score.goal))])
    header = ["", *(f"{what} {n}" for n in BODY_TOKENS for what in ("P", "R", "F1"))]
    return Report("Table 2: the CRF by words of the body", header, rows)


def _table_3(measured: Measured) -> Report:
    rows: list[list[Cell]] = []
    bars: list[Bar] = []
    for lessons, tables in measured:
        all_labels = {name: label_scores(pairs) for name, pairs in tables.by_method.items()}
        two = {name: label_scores(pairs).goal for name, pairs in tables.binary.items()}
        rows.append(
            [f"{lessons.name} (A)", *(cell for score in all_labels.values() for cell in _cells(score.mean))]
        )
        rows.append(
            [f"{lessons.name} (G)", *(cell for score in all_labels.values() for cell in _cells(score.goal))]
        )
        rows.append([f"{lessons.name} (B)", *(cell for score in two.values() for cell in _cells(score))])
        bars += _bars(lessons.name, {name: score.goal for name, score in all_labels.items()})
    header = ["", *(f"{what} {name}" for name in METHODS for what in ("P", "R", "F1"))]
    return Report(f"Table 3: methods, {COMPARED_AT} words of the body", header, rows, bars)


def _bars(name: str, goal: dict[str, LabelScore]) -> Iterator[Bar]:
    for other in ("maximum entropy", "naive Bayes"):
        lead = goal["CRF"].f1 - goal[other].f1
        yield Bar(f"{name}: goal F1 of the CRF above that of {other}", lead, least=LEAST_LEAD)


def _all_labels(measured: Measured) -> Report:
    rows: list[list[Cell]] = [
        [lessons.name, score.label, *_cells(score), score.support]
        for lessons, tables in measured
        for score in label_scores(tables.by_method["CRF"]).by_label
    ]
    return Report("Every label, by the CRF", ["", "label", "P", "R", "F1", "pages"], rows)


def _cells(score: LabelScore) -> list[Cell]:
    return [f"{100 * value:.1f}" for value in (score.precision, score.recall, score.f1)]


if __name__ == "__main__":
    sys.exit(main())
