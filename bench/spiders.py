"""The learned spiders side by side, and the experiments of the papers that they come from.

`order` runs all strategies on `sites/webkb`, taught on the other sites there and on `sites/departments`: pages until
75 % of the goals, the early stage, and what each costs. `stages` draws Fig. 5 and 6 of McCallum et al. (2000) for
`student`. `bins` compares bins and texts of `q-spider`. `one-goal` looks for one page a site, as Table 1 there.
`hops` compares clusters, states and orders of the hop models (Fig. 8 of Liu et al., 2004, and their section 5).
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
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from time import process_time
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # as `wayhound.learn` does; reports import numpy first

import numpy as np

from bench.report import Bar, Cell, Report, add_data_option, add_output_options, finish
from wayhound.app.evaluate.evaluation import Evaluation, Outcome, means, outcomes_to_json
from wayhound.app.evaluate.lessons import make_trails
from wayhound.app.evaluate.strategies import ORACLE, STRATEGIES, Lesson, tune_q_spider
from wayhound.app.evaluate.world import World, join_worlds, load_worlds, oracle, walk
from wayhound.app.trails import sample_worlds
from wayhound.forage.forager import ForageLimits
from wayhound.forage.scorer import Scorer, StrategyInput
from wayhound.forage.scorers import SCORERS
from wayhound.forage.scorers.hops import Hops, TargetSimilarity
from wayhound.forage.scorers.q_spider import QSpider
from wayhound.learn.arrays import Floats
from wayhound.page import Link, Page
from wayhound.paths.hops import HMM_STRATEGY, HopModel, HopSettings, browsed_sites, train_hops
from wayhound.paths.q_model import FOCUSED, PAPER, QSettings, train_q_spider
from wayhound.paths.rollout import RecordedSite
from wayhound.paths.spiders import SPIDERS, Material, train_strategy
from wayhound.samples import sample_web
from wayhound.samples.university import GOALS as UNIVERSITY_GOALS
from wayhound.site import Site
from wayhound.trail import Trail

GOALS = ("faculty", "student", "course", "project")
EARLY = (5, 10, 25)  # per cent of the goals
FLOOR = "breadth-first"
MOST_OF_BREADTH_FIRST = 0.5
MOST_SECONDS, MOST_MEGABYTES = 120.0, 1024.0
ONE_GOAL_SETS = ("academic", "javadoc", "webkb", "modern-company", "modern-conference", "modern-docs",
                 "modern-hospitality", "modern-nonprofit", "modern-research")  # fmt: skip
ONE_GOAL_LABELS = ("contact", "person", "publication", "project", "news-item", "about", "jobs")
LITERATURE = {"oracle": 3.0, "q-future, 4 bins": 13.0, "q-future, 3 bins": 22.0, "q-future, 5 bins": 27.0,
              "q-focused": 27.0, "breadth-first": 38.0}  # fmt: skip
LEAST_PAGES, LEAST_SITES = 20, 4
PARTS = ("order", "stages", "bins", "one-goal", "hops", "topics", "university", "size")


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


# Worlds


def department_worlds(data: Path) -> tuple[list[World], list[World]]:
    """Return the sites to test, and those to teach on."""
    tested = load_worlds([data / "sites" / "webkb"])
    return tested, [*tested, *load_worlds([data / "sites" / "departments"])]


def others(worlds: Sequence[World], tested: World) -> list[World]:
    return [world for world in worlds if world.site != tested.site]


def pages_to(world: World, goal: str, urls: Sequence[str], share: float) -> int:
    """Return the pages until this share of the goals; all pages if it is never reached."""
    goals = set(world.reachable_goals(goal))
    wanted = math.ceil(len(goals) * share / 100)
    for number, url in enumerate(urls, start=1):
        wanted -= url in goals
        if wanted <= 0:
            return number
    return len(world.depths)


def mean(values: Iterable[float]) -> float:
    logs = [math.log(value) for value in values]
    return math.exp(sum(logs) / len(logs)) if logs else math.nan


def progress(*parts: object) -> None:
    print(*parts, file=sys.stderr, flush=True)


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


# Fig. 5 and 6 of McCallum et al. (2000)

STAGES = (5, 10, 25, 50, 75, 90, 95)
DRAWS = 3


def stages(arguments: argparse.Namespace) -> list[Report]:
    """Many goals: `student`, with the departments drawn that are taught beside the other large sites."""
    tested, teaching = department_worlds(arguments.data)
    curves: dict[str, list[list[int]]] = {}
    rows_of: dict[str, list[list[float]]] = {}
    for draw in range(DRAWS):
        generator = np.random.default_rng(draw)
        for world in tested:
            known = others(teaching, world)
            kept = [site for site in known if site in tested or generator.random() < 0.7]
            for name, scorer in _stage_scorers(kept):
                urls = walk(world, scorer).urls
                progress("stages", draw, world.name, name)
                goals = set(world.reachable_goals("student"))
                curves.setdefault(name, []).append([int(url in goals) for url in urls])
                rows_of.setdefault(name, []).append(
                    [pages_to(world, "student", urls, share) / len(world.depths) for share in STAGES]
                )
    rows: list[list[Cell]] = [
        [name, *(100 * float(np.mean([run[at] for run in runs])) for at in range(len(STAGES)))]
        for name, runs in rows_of.items()
    ]
    if arguments.plots:
        _plot_curves(arguments.plots / "q-spider-stages.png", curves, "students found")
    header = ["strategy", *(f"{share} %" for share in STAGES)]
    early = {name: [mean(run[at] for run in runs) for at in range(3)] for name, runs in rows_of.items()}
    bars = [
        Bar(f"q-future of focused's pages, {share} % of students, {DRAWS} draws",
            early["q-future"][at] / early["focused"][at], most=0.999)
        for at, share in enumerate(STAGES[:3])
    ]  # fmt: skip
    title = f"Share of the site fetched until … of student pages, per cent, {DRAWS} draws"
    return [Report(title, header, rows, bars)]


def _stage_scorers(known: Sequence[World]) -> Iterator[tuple[str, Scorer]]:
    lesson = Lesson(known, "student", 15)
    for name in (FLOOR, "focused", "q-focused", "q-paper", "q-future"):
        yield name, STRATEGIES[name](lesson)
    sites = [site.recorded("student") for site in known]
    for bins in (3, 4, 5):
        yield f"q-future, {bins} bins", QSpider(train_q_spider(sites, QSettings(bins=bins)))


def _pyplot() -> Any:
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    return plt


def _plot_curves(path: Path, curves: dict[str, list[list[int]]], label: str) -> None:
    plt = _pyplot()
    path.parent.mkdir(parents=True, exist_ok=True)
    figure, axes = plt.subplots(1, 2, figsize=(11, 4))
    for axis, most in zip(axes, (1.0, 0.2), strict=True):
        for name, runs in curves.items():
            longest = max(map(len, runs))
            padded = np.array([run + [0] * (longest - len(run)) for run in runs], dtype=float)
            mean_curve = padded.cumsum(axis=1).mean(axis=0)
            cut = max(1, int(most * longest))
            axis.plot(range(1, cut + 1), mean_curve[:cut], label=name, linewidth=1.4)
        axis.set_xlabel("pages fetched")
        axis.set_ylabel(label)
    axes[0].legend(fontsize=8)
    figure.tight_layout()
    figure.savefig(path, dpi=110)
    plt.close(figure)


# Bins and texts


def bins(arguments: argparse.Namespace) -> list[Report]:
    tested, teaching = department_worlds(arguments.data)
    base = QSettings()
    variants = {
        "4 bins, link text (default)": base,
        "a bin for lists": replace(base, cut_points="lists"),
        "the goal that holds a link not known": replace(base, known_source=False),
        "no learning within the site": replace(base, within_site=False),
        "neither": replace(base, known_source=False, within_site=False),
        "γ = 0, 2 bins": FOCUSED,
        "3 bins": replace(base, bins=3),
        "5 bins": replace(base, bins=5),
        "without shrinkage": replace(base, shrinkage=False),
        "words of several pages summed": replace(base, pooling="sum"),
        "paper: neither, summed, without shrinkage": PAPER,
        "whole page": replace(base, text="page"),
        "with positions": replace(base, text="all"),
        "γ = 0.9": replace(base, gamma=0.9),
        "on-line (note 3)": base,
    }
    rows: list[list[Cell]] = []
    for name, settings in variants.items():
        cells: list[Cell] = [name]
        every: dict[int, list[float]] = {5: [], 75: []}
        for goal in ("faculty", "student"):
            for share in (5, 75):
                ratios = []
                for world in tested:
                    urls = _bin_walk(
                        world, others(teaching, world), goal, settings, online=name.startswith("on-line")
                    )
                    floor = walk(world, SCORERS[FLOOR](StrategyInput())).urls
                    ratios.append(pages_to(world, goal, urls, share) / pages_to(world, goal, floor, share))
                every[share] += ratios
                cells.append(mean(ratios))
        progress(*cells)
        rows.append([*cells, mean(every[5]), mean(every[75])])
    header = [
        "variant",
        *(f"{goal} {share} %" for goal in ("faculty", "student") for share in (5, 75)),
        "5 %",
        "75 %",
    ]
    return [Report("Variants of q-spider, of breadth-first's pages", header, rows)]


_WALKS: dict[tuple[object, ...], tuple[str, ...]] = {}


def _bin_walk(
    world: World, known: Sequence[World], goal: str, settings: QSettings, *, online: bool
) -> tuple[str, ...]:
    key = (world.name, goal, settings, online)
    if key not in _WALKS:
        sites = [site.recorded(goal) for site in known]
        model = train_q_spider(sites, settings)
        urls = walk(world, QSpider(model)).urls
        if (
            online
        ):  # policy improvement: what was fetched first is rolled out and learned from, and the walk goes on
            seen = urls[: max(20, len(urls) // 10)]
            part = RecordedSite.closed(
                world.site.start,
                {url: world.pages[url] for url in seen},
                set(seen) & set(world.reachable_goals(goal)),
            )
            model = train_q_spider([*sites, part], settings)
            later = walk(world, QSpider(model)).urls
            urls = (*seen, *(url for url in later if url not in set(seen)))
        _WALKS[key] = urls
    return _WALKS[key]


# One goal a site, as Table 1 of McCallum et al. (2000)


def one_goal(arguments: argparse.Namespace) -> list[Report]:
    sets = [world for name in ONE_GOAL_SETS for world in load_worlds([arguments.data / "sites" / name])]
    shares: dict[str, list[float]] = {}
    tasks = 0
    for label in ONE_GOAL_LABELS:
        cut = [one for world in sets if (one := _with_one_goal(world, label)) is not None]
        if len(cut) < LEAST_SITES:
            continue
        tasks += len(cut)
        for world in cut:
            known = [other.recorded("goal") for other in cut if other.site != world.site]
            for name, urls in _one_goal_walks(world, known):
                shares.setdefault(name, []).append(
                    100 * pages_to(world, "goal", urls, 100) / len(world.depths)
                )
            progress("one goal", label, world.name)
    rows: list[list[Cell]] = [
        [name, sum(values) / len(values), mean(values), LITERATURE.get(name)]
        for name, values in shares.items()
    ]
    header = ["strategy", "links followed, per cent", "geometric mean", "paper"]
    return [Report(f"Share of the links followed before the only goal, {tasks} sites × labels", header, rows)]


def _with_one_goal(world: World, label: str) -> World | None:
    """Return the site with one page of the label as its only goal, if it is large and the page deep enough."""
    deep = [url for url in world.reachable_goals(label) if world.depths[url] >= 2]
    if len(world.depths) < LEAST_PAGES or not deep:
        return None
    drawn = deep[int(np.random.default_rng(len(world.depths)).integers(len(deep)))]
    return World(world.name, world.site, world.pages, {drawn: "goal"})


def _one_goal_walks(world: World, known: Sequence[RecordedSite]) -> Iterator[tuple[str, Sequence[str]]]:
    yield ORACLE, oracle(world, "goal").urls
    for bins_ in (4, 3, 5):
        yield (
            f"q-future, {bins_} bins",
            walk(world, QSpider(train_q_spider(known, QSettings(bins=bins_)))).urls,
        )
    yield "q-future, tuned", walk(world, QSpider(train_q_spider(known, tune_q_spider(known)))).urls
    yield "q-paper, 4 bins", walk(world, QSpider(train_q_spider(known, PAPER))).urls
    yield "q-focused", walk(world, QSpider(train_q_spider(known, FOCUSED))).urls
    yield FLOOR, walk(world, SCORERS[FLOOR](StrategyInput())).urls
    yield "random", walk(world, SCORERS["random"](StrategyInput())).urls


# Clusters, states and orders of the hop models


def hops(arguments: argparse.Namespace) -> list[Report]:
    tested, teaching = department_worlds(arguments.data)
    base = HopSettings()
    clusters = {
        f"K = {k}, {'EM' if em else 'K-means'}, {'kNN' if knn else 'best cluster'}": replace(
            base, clusters=k, em=em, neighbours=5 if knn else 0
        )
        for k in range(3, 11)
        for em in (True, False)
        for knn in (True, False)
    }
    states = {f"{n} states": replace(base, states=n) for n in range(3, 9)}
    kinds = {
        "rows of A normalised": replace(base, normalised="row"),
        "marginals": replace(base, order="marginals"),
        "rows, marginals": replace(base, normalised="row", order="marginals"),
        "children downloaded first": base,
    }
    return [
        _hop_report("Clusters of hop-hmm (section 5), of breadth-first's pages", clusters, tested, teaching),
        _hop_report("States of hop-hmm (Fig. 8)", states, tested, teaching),
        _hop_report("Transitions and orders of hop-hmm", kinds, tested, teaching),
    ]


def _hop_report(
    title: str, variants: dict[str, HopSettings], tested: Sequence[World], teaching: Sequence[World]
) -> Report:
    rows: list[list[Cell]] = []
    for name, settings in variants.items():
        ratios: dict[tuple[str, int], list[float]] = {}
        for goal in ("faculty", "student"):
            for world in tested:
                trails = _trails(others(teaching, world), goal)
                model = train_hops(HMM_STRATEGY, browsed_sites(trails), trails, settings)
                peek = world.pages.get if name.startswith("children") else None
                urls = walk(world, Hops(model, peek)).urls
                floor = walk(world, SCORERS[FLOOR](StrategyInput())).urls
                for share in (10, 75):
                    ratio = pages_to(world, goal, urls, share) / pages_to(world, goal, floor, share)
                    ratios.setdefault((goal, share), []).append(ratio)
        progress(name)
        cells = [mean(ratios[goal, share]) for goal in ("faculty", "student") for share in (10, 75)]
        rows.append([name, *cells, mean([*ratios["faculty", 75], *ratios["student", 75]])])
    header = [
        "variant",
        *(f"{goal} {share} %" for goal in ("faculty", "student") for share in (10, 75)),
        "both 75 %",
    ]
    return Report(title, header, rows)


_TRAILS: dict[tuple[object, ...], list[Trail]] = {}


def _trails(worlds: Sequence[World], goal: str) -> list[Trail]:
    key = (tuple(world.name for world in worlds), goal)
    if key not in _TRAILS:
        _TRAILS[key] = [trail for world in worlds for trail in make_trails(world, goal, 15)]
    return _TRAILS[key]


# Topical crawling over several sites

RELEVANT_AT = (0.7, 0.8, 0.9)
DRAWN_AT = 0.7  # the γ of the curves
CRAWLED = 600
TOPICS = (("faculty",), ("project",), ("course", "faculty"))  # the last session has two topics


@dataclass(frozen=True)
class Crawl:
    """One topical crawl: which pages are useful by their labels, and how similar each is to a target."""

    useful: Floats
    similarities: Floats

    def curves(self) -> tuple[Floats, Floats, Floats]:
        """Return useful pages, the mean largest similarity so far and the share of relevant pages (Fig. 5 to 7)."""
        pages = np.arange(1, len(self.useful) + 1)
        relevant = self.similarities >= DRAWN_AT
        return self.useful.cumsum(), self.similarities.cumsum() / pages, relevant.cumsum() / pages

    def row(self) -> list[float]:
        shares = [100 * float((self.similarities >= least).mean()) for least in RELEVANT_AT]
        return [float(self.useful.sum()), float(self.similarities.mean()), *shares]


def topics(arguments: argparse.Namespace) -> list[Report]:
    """Crawl the large sites joined by a directory page, after sessions on the small ones."""
    tested, teaching = department_worlds(arguments.data)
    small = [site for site in teaching if site not in tested]
    joined = join_worlds(tested, "webkb joined")
    by_topic: list[list[Cell]] = []
    by_start: list[list[Cell]] = []
    by_states: list[list[Cell]] = []
    curves: dict[str, dict[str, list[Crawl]]] = {"topics": {}, "starts": {}, "states": {}}
    for wanted in TOPICS:
        world = _merged(joined, wanted)
        trails = [trail for site in small for trail in make_trails(_merged(site, wanted), "useful", 15)]
        model = train_hops(HMM_STRATEGY, browsed_sites(trails), trails)
        topic = " and ".join(wanted)
        scorers = _topic_scorers(model, trails, world)  # these keep nothing from one crawl to the next
        for name, scorer in scorers.items():
            done = _crawl(world, scorer, model)
            progress("topics", topic, name)
            curves["topics"].setdefault(name, []).append(done)
            by_topic.append([topic, name, *done.row()])
        for start in (site.site.start for site in tested):
            elsewhere = replace(world, site=replace(world.site, start=start))
            for name in ("hop-hmm", "best-first-lsi", FLOOR):
                done = _crawl(elsewhere, scorers[name], model)
                progress("starts", topic, start, name)
                curves["starts"].setdefault(name, []).append(done)
        for states in range(3, 9):
            other = train_hops(HMM_STRATEGY, browsed_sites(trails), trails, HopSettings(states=states))
            done = _crawl(world, Hops(other), model)
            progress("states", topic, states)
            curves["states"].setdefault(f"{states} states", []).append(done)
    by_start += [[name, *_mean_row(crawls)] for name, crawls in curves["starts"].items()]
    by_states += [[name, *_mean_row(crawls)] for name, crawls in curves["states"].items()]
    if arguments.plots:
        for name, drawn in curves.items():
            _plot_crawls(arguments.plots / f"hops-{name}.png", drawn)
    measures = [f"useful of {CRAWLED}", "mean similarity", *(f"≥ {least} %" for least in RELEVANT_AT)]
    return [
        Report("Topical crawling over three sites joined by a directory page (Fig. 5 to 7)",
               ["topic", "strategy", *measures], by_topic),
        Report("The same from each of the three sites, means over starts and topics",
               ["strategy", *measures], by_start),
        Report("The same by the number of states, means over topics (Fig. 8)", ["states", *measures], by_states),
    ]  # fmt: skip


def _topic_scorers(model: HopModel, trails: list[Trail], world: World) -> dict[str, Scorer]:
    crf = train_strategy("hop-crf", Material(trails), SPIDERS["hop-crf"])
    return {
        "hop-hmm": Hops(model),
        "hop-hmm, children downloaded first": Hops(model, world.pages.get),
        "hop-crf": SCORERS["hop-crf"](StrategyInput(model=crf)),
        "best-first-lsi": TargetSimilarity(model.space),
        FLOOR: SCORERS[FLOOR](StrategyInput()),
    }


def _crawl(world: World, scorer: Scorer, model: HopModel) -> Crawl:
    urls = walk(world, scorer, limits=ForageLimits(budget=CRAWLED)).urls
    useful = np.array([float(world.labels.get(url) == "useful") for url in urls])
    return Crawl(useful, model.space.similarities(model.space.rows([world.pages[url] for url in urls])))


def _mean_row(crawls: Sequence[Crawl]) -> list[float]:
    return [float(value) for value in np.mean([crawl.row() for crawl in crawls], axis=0)]


def _plot_crawls(path: Path, crawls: dict[str, list[Crawl]]) -> None:
    """Draw the means over crawls of useful pages, mean largest similarity, and share of relevant pages."""
    plt = _pyplot()
    path.parent.mkdir(parents=True, exist_ok=True)
    figure, axes = plt.subplots(1, 3, figsize=(15, 4))
    labels = (
        "useful pages",
        "mean largest similarity so far",
        f"share of pages with similarity ≥ {DRAWN_AT}",
    )
    for axis, label, at in zip(axes, labels, range(3), strict=True):
        for name, done in crawls.items():
            length = min(len(crawl.useful) for crawl in done)
            mean_curve = np.mean([crawl.curves()[at][:length] for crawl in done], axis=0)
            axis.plot(range(1, length + 1), mean_curve, label=name, linewidth=1.4)
        axis.set_xlabel("pages fetched")
        axis.set_ylabel(label)
    axes[0].legend(fontsize=8)
    figure.tight_layout()
    figure.savefig(path, dpi=110)
    plt.close(figure)


def _merged(world: World, labels: Sequence[str]) -> World:
    useful = {url: "useful" for url, label in world.labels.items() if label in labels}
    return World(world.name, world.site, world.pages, {**world.labels, **useful})


# Universities whose departments look alike

UNIVERSITY_STRATEGIES = (FLOOR, "path-learner", "path-learner-literal", "maxent", "focused", "q-future", "hop-hmm",
                         "hop-crf", ORACLE)  # fmt: skip


def university(arguments: argparse.Namespace) -> list[Report]:  # noqa: ARG001
    """Only the path tells whose publications a page lists: path models against models of single pages."""
    worlds = sample_worlds([site.name for site in sample_web().universities])
    half = len(worlds) // 2
    reports = []
    for goal in UNIVERSITY_GOALS:
        evaluation = Evaluation(worlds[half:], worlds[:half], [goal], UNIVERSITY_STRATEGIES, trails_a_site=6)
        outcomes = list(evaluation.run())
        progress("university", goal)
        rows: list[list[Cell]] = []
        for row in means(outcomes):
            order_ = [row["pages_to_vs_breadth_first"]["75"], row["ratio"]["75"]]
            rows.append([row["strategy"], *order_, row["precision"], row["recall"], row["f1"]])
        header = ["strategy", "× breadth-first", "× oracle", "precision", "recall", "F1"]
        reports.append(Report(f"Universities: {goal}", header, rows))
    return reports


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
    "topics": topics,
    "university": university,
    "size": size,
}

if __name__ == "__main__":
    sys.exit(main())
