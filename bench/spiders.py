"""The learned spiders side by side, and the experiments of the papers that they come from.

`order` runs all strategies on `sites/webkb`, taught on the other sites there and on `sites/departments`: pages until
75 % of the goals, the early stage, and what each costs. `stages` draws Fig. 5 and 6 of McCallum et al. (2000) for
`student`. `bins` compares bins and texts of `q-spider`. `one-goal` looks for one page a site, as Table 1 there.
`hops` compares clusters, states and orders of the hop models (Fig. 8 of Liu et al., 2004, and their section 5), and
`keywords` measures what the user's keywords add to `hop-crf`.
`topics` crawls a world of several sites, with relevance as in their 3.3.1. `size` doubles a made site, up to 25,000
pages and 500,000 links. `university` is about sites where only the path to a page tells what it is.
"""

from __future__ import annotations

import argparse
import math
import multiprocessing
import os
import resource
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from time import process_time

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # as `wayhound.learn` does; reports import numpy first

import numpy as np

from bench.report import Bar, Cell, Report, add_data_option, add_output_options, finish
from bench.spider_worlds import FLOOR, GOALS, department_worlds, mean, others, progress
from bench.spiders_future import bins, one_goal, stages
from bench.spiders_hops import hops, topics, worth_of_keywords
from bench.spiders_paths import university
from wayhound.app.evaluate.evaluation import Evaluation, Outcome, outcomes_to_json
from wayhound.app.evaluate.lessons import make_trails
from wayhound.app.evaluate.strategies import ORACLE, STRATEGIES, Lesson
from wayhound.app.evaluate.world import World
from wayhound.forage.scorer import StrategyInput
from wayhound.forage.scorers import SCORERS
from wayhound.page import Link, Page
from wayhound.paths.rollout import RecordedSite
from wayhound.paths.spiders import SPIDERS, Material, train_strategy
from wayhound.site import Site

EARLY = (5, 10, 25)  # per cent of the goals
MOST_OF_BREADTH_FIRST = 0.5
MOST_SECONDS, MOST_MEGABYTES = 120.0, 1024.0
PARTS = ("order", "stages", "bins", "one-goal", "hops", "keywords", "topics", "university", "size")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--part", action="append", choices=PARTS, help="[default: all]")
    parser.add_argument("--compare", action="append", choices=list(STRATEGIES), metavar="STRATEGY",
                        help="for the part order; may be repeated  [default: all]")  # fmt: skip
    parser.add_argument(
        "--trails-only", action="store_true", help="in the part order, do not teach whole graphs too"
    )
    parser.add_argument("--plots", type=Path, metavar="FOLDER", help="also draw the curves into this folder")
    parser.add_argument(
        "--size", type=int, help=argparse.SUPPRESS
    )  # of a made site, trained in a process of its own
    parser.add_argument("--strategy", choices=sorted(SPIDERS), help=argparse.SUPPRESS)
    add_data_option(parser, required=False)
    add_output_options(parser)
    arguments = parser.parse_args()
    if arguments.size:
        return _train_made_site(arguments.size, arguments.strategy)
    parts = arguments.part or PARTS
    if arguments.data is None and set(parts) - {"size", "university"}:
        parser.error("--data is needed for recorded sites; or set WAYHOUND_DATA")
    reports: list[Report] = []
    for part in parts:
        reports += _RUN[part](arguments)
    return finish(reports, arguments)


# All strategies


def order(arguments: argparse.Namespace) -> list[Report]:
    tested, teaching = department_worlds(arguments.data)
    compared = arguments.compare or list(STRATEGIES)
    lessons = {"trails": list(dict.fromkeys([FLOOR, *_BARRED, *compared, ORACLE]))}
    if not arguments.trails_only:
        lessons["graphs"] = [FLOOR, "hop-hmm", "hop-crf", "focused", "path-learner", ORACLE]
    outcomes: list[Outcome] = []
    for taught, names in lessons.items():
        for goal in GOALS:
            evaluation = Evaluation(
                tested, teaching, [goal], names, taught="graphs" if taught == "graphs" else "trails"
            )
            for outcome in evaluation.run():
                progress(taught, goal, outcome.site, outcome.strategy)
                name = outcome.strategy if taught == "trails" else f"{outcome.strategy} (graphs)"
                outcomes.append(replace(outcome, strategy=name))
    known = others(teaching, tested[0])
    memory = {name: training_megabytes(name, Lesson(known, GOALS[0], 15)) for name in lessons["trails"][:-1]}
    return [_order_report(outcomes, memory), _early_report(outcomes)]


def training_megabytes(name: str, lesson: Lesson) -> float:
    """Return by how much the memory of a process of its own grows while a strategy is trained and used on a page."""
    _ = lesson.trails
    receiver, sender = multiprocessing.get_context("fork").Pipe()

    def train() -> None:
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        scorer = STRATEGIES[name](lesson)
        page = lesson.worlds[0].pages[lesson.worlds[0].site.start]
        scorer.rate(scorer.read(scorer.start(lesson.worlds[0].site), page), page.links)
        sender.send((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024)

    process = multiprocessing.get_context("fork").Process(target=train)
    process.start()
    process.join()
    return float(receiver.recv())


_BARRED = (
    "best-first",
    "best-first-lsi",
    "focused",
    "q-future",
    "hop-hmm",
)  # the strategies that bars are about


class Table:
    """Pages of each strategy until a share of the goals, by task."""

    def __init__(self, outcomes: Sequence[Outcome]) -> None:
        self.runs = {(run.strategy, run.goal, run.site): run for run in outcomes}
        self.names = list(dict.fromkeys(run.strategy for run in outcomes))
        self.tasks = list(dict.fromkeys((run.goal, run.site) for run in outcomes))

    def against(self, name: str, other: str, share: float, goal: str = "") -> float:
        tasks = [task for task in self.tasks if goal in ("", task[0])]
        return mean(
            _needed(self.runs[name, *task], share) / _needed(self.runs[other, *task], share) for task in tasks
        )


def _needed(run: Outcome, share: float) -> float:
    wanted = math.ceil(run.reachable * share / 100)
    return next((page for page, goals in enumerate(run.curve, start=1) if goals >= wanted), run.pages)


def _order_report(outcomes: Sequence[Outcome], memory: dict[str, float]) -> Report:
    table = Table(outcomes)
    rows: list[list[Cell]] = []
    for name in table.names:
        own = [run for run in outcomes if run.strategy == name]
        cpu = 1000 * sum(run.cpu_seconds for run in own) / sum(run.fetched for run in own)
        by_goal = [table.against(name, FLOOR, 75, goal) for goal in GOALS]
        all_goals = [table.against(name, FLOOR, 75), table.against(name, ORACLE, 75)]
        training = float(np.mean([run.training_seconds for run in own]))
        rows.append([name, *by_goal, *all_goals, training, cpu, memory.get(name)])
    bars = [
        Bar("q-future of breadth-first's pages, 75 % of faculty", table.against("q-future", FLOOR, 75, "faculty"),
            most=MOST_OF_BREADTH_FIRST),
        Bar("hop-hmm of best-first's pages, 75 %", table.against("hop-hmm", "best-first", 75), most=0.999),
        Bar("hop-hmm of best-first-lsi's pages, 75 %", table.against("hop-hmm", "best-first-lsi", 75), most=0.999),
    ]  # fmt: skip
    header = ["strategy", *GOALS, "all", "× oracle", "training s", "CPU ms a page", "MB"]
    details = outcomes_to_json(list(outcomes))
    return Report(
        "Of breadth-first's pages until 75 % of the goals, webkb", header, rows, bars, details=details
    )


def _early_report(outcomes: Sequence[Outcome]) -> Report:
    table = Table(outcomes)
    names = [name for name in table.names if name not in (FLOOR, ORACLE)]
    rows: list[list[Cell]] = [
        [
            name,
            *(
                table.against(name, FLOOR, share, goal)
                for goal in ("faculty", "student", "")
                for share in EARLY
            ),
        ]
        for name in names
    ]
    bars = [
        Bar(f"q-future of focused's pages, {share} % of all goals", table.against("q-future", "focused", share),
            most=0.999)
        for share in EARLY
    ]  # fmt: skip
    columns = [f"{goal} {share} %" for goal in ("faculty", "student", "all") for share in EARLY]
    return Report("The early stage, of breadth-first's pages", ["strategy", *columns], rows, bars)


# Size

SIZES = (3_125, 6_250, 12_500, 25_000)
LINKS_A_PAGE = 20


def size(arguments: argparse.Namespace) -> list[Report]:  # noqa: ARG001
    """Train on made sites of doubled size, each in a process of its own, so that its memory can be told."""
    rows: list[list[Cell]] = []
    bars: list[Bar] = []
    for strategy in sorted(SPIDERS):
        for pages in SIZES:
            command = [sys.executable, "-m", "bench.spiders", "--size", str(pages), "--strategy", strategy]
            done = subprocess.run(command, capture_output=True, text=True, check=True)
            seconds, megabytes, walk_us = map(float, done.stdout.split())
            progress(strategy, pages, seconds, megabytes)
            per_link = 1e6 * seconds / (pages * LINKS_A_PAGE)
            rows.append([strategy, pages, pages * LINKS_A_PAGE, seconds, per_link, megabytes, walk_us])
        bars.append(Bar(f"{strategy}: CPU seconds, 25,000 pages", seconds, most=MOST_SECONDS))
        bars.append(Bar(f"{strategy}: megabytes, 25,000 pages", megabytes, most=MOST_MEGABYTES))
    header = ["strategy", "pages", "links", "training s", "µs a link", "MB", "foraging µs a link"]
    return [Report("Made sites of doubled size", header, rows, bars)]


def made_site(n_pages: int) -> RecordedSite:
    """Return a site of sections, lists and items, with 20 links on each page and goals in every tenth list."""
    generator = np.random.default_rng(n_pages)
    host = f"http://made{n_pages}.example"
    words = [f"word{number}" for number in range(5_000)]
    urls = [f"{host}/", *(f"{host}/{n // 100}/{n % 100}" for n in range(1, n_pages))]
    goals = {urls[n] for n in range(1, n_pages) if (n // 100) % 10 == 3 and n % 100}
    pages: dict[str, Page] = {}
    for number, url in enumerate(urls):
        section = number // 100
        near = [100 * int(generator.integers(0, max(1, n_pages // 100))) for _ in range(5)]
        own = [
            min(100 * section + int(generator.integers(0, 100)), n_pages - 1) for _ in range(LINKS_A_PAGE - 5)
        ]
        targets = [target for target in (*near, *own) if target != number]
        links = tuple(
            Link(urls[target], f"{words[target // 100 % 50]} {'people' if urls[target] in goals else 'item'}",
                 (words[target % 5000],), (words[section % 5000],), "body>ul>li>a")
            for target in targets
        )  # fmt: skip
        text = tuple(words[int(at)] for at in generator.integers(0, 5_000, 60))
        pages[url] = Page(url, f"{words[section % 50]} {number % 100}", tokens=text, links=links, digest=url)
    return RecordedSite(urls[0], pages, frozenset(goals))


def _train_made_site(n_pages: int, strategy: str) -> int:
    site = made_site(n_pages)
    world = World("made", Site(site.name), site.pages, dict.fromkeys(site.goals, "goal"))
    trails = make_trails(world, "goal", 60)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    began = process_time()
    model = train_strategy(strategy, Material(trails, [site]), SPIDERS[strategy])
    seconds = process_time() - began
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    began = process_time()
    pages = [site.pages[url] for url in list(site.pages)[:500]]
    scorer = SCORERS[strategy](StrategyInput(model=model))
    for page in pages:
        reading = scorer.read(scorer.start(world.site), page)
        scorer.rate(reading, page.links)
    links = sum(len(page.links) for page in pages)
    print(seconds, max(memory, before) / 1024, 1e6 * (process_time() - began) / links)
    return 0


_RUN = {
    "order": order,
    "stages": stages,
    "bins": bins,
    "one-goal": one_goal,
    "hops": hops,
    "keywords": worth_of_keywords,
    "topics": topics,
    "university": university,
    "size": size,
}

if __name__ == "__main__":
    sys.exit(main())
