"""How few pages the path learner needs on recorded department sites, next to breadth-first and `levels`.

Each of `sites/webkb` is tested with a model taught on the others and on `sites/departments`, 15 trails to
goals and 15 that end elsewhere a site. A closed world; pages until 75 % of the goals, against the oracle's.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Iterable

from bench.report import Bar, Cell, Report, add_data_option, add_output_options, finish
from trailmark.evaluate.measures import Outcome
from trailmark.evaluate.run import Evaluation, as_json, load_worlds

GOALS = ("faculty", "course", "project", "student")
LEARNER = "path-learner"
MOST_RATIO = 2.3
MOST_OF_BREADTH_FIRST = 0.6
MOST_ANYWHERE = 1.3
MOST_CPU_MS = 15.0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trails", type=int, default=15)
    add_data_option(parser)
    add_output_options(parser)
    arguments = parser.parse_args()
    tested = load_worlds([arguments.data / "sites" / "webkb"])
    teaching = [*tested, *load_worlds([arguments.data / "sites" / "departments"])]
    strategies = ["breadth-first", "levels", LEARNER, "oracle"]
    evaluation = Evaluation(tested, teaching, GOALS, strategies, arguments.trails)
    outcomes = []
    for outcome in evaluation.run():
        print(f"{outcome.site} {outcome.goal} {outcome.strategy}", file=sys.stderr)
        outcomes.append(outcome)
    return finish(report(outcomes), arguments)


def report(outcomes: list[Outcome]) -> Report:
    by_key = {(each.strategy, each.goal, each.site): each for each in outcomes}
    sites = list(dict.fromkeys((each.goal, each.site) for each in outcomes))
    rows: list[list[Cell]] = []
    for goal, site in sites:
        oracle = by_key["oracle", goal, site]
        pages = [_pages(by_key[name, goal, site]) for name in ("breadth-first", "levels", LEARNER)]
        rows.append([goal, site, _pages(oracle), *pages, pages[-1] / _pages(oracle), pages[-1] / pages[0]])
    ratios = [_pages(by_key[LEARNER, *key]) / _pages(by_key["oracle", *key]) for key in sites]
    shares = [_pages(by_key[LEARNER, *key]) / _pages(by_key["breadth-first", *key]) for key in sites]
    taught = [each for each in outcomes if each.strategy == LEARNER]
    cpu_ms = 1000 * sum(each.cpu_seconds for each in taught) / sum(each.fetched for each in taught)
    bars = [
        Bar("× the oracle's pages, geometric mean", geometric_mean(ratios), most=MOST_RATIO),
        Bar("of breadth-first's pages, geometric mean", geometric_mean(shares), most=MOST_OF_BREADTH_FIRST),
        Bar("of breadth-first's pages, worst site and goal", max(shares), most=MOST_ANYWHERE),
        Bar("CPU ms a page in the path learner, parsing aside", cpu_ms, most=MOST_CPU_MS),
    ]
    header = [
        "goal",
        "site",
        "oracle",
        "breadth-first",
        "levels (graphs)",
        LEARNER,
        "× oracle",
        "× breadth-first",
    ]
    return Report("Pages until 75 % of the goals", header, rows, bars, details=as_json(outcomes))


def _pages(outcome: Outcome) -> float:
    return outcome.pages_to["75"] or outcome.pages


def geometric_mean(values: Iterable[float]) -> float:
    logs = [math.log(value) for value in values]
    return math.exp(sum(logs) / len(logs))


if __name__ == "__main__":
    sys.exit(main())
