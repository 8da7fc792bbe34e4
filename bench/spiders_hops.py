"""Hops to the target: clusters, states, orders and keywords of the hop models, and topical crawling."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from bench.report import Cell, Report
from bench.spider_worlds import (
    FLOOR,
    GOALS,
    department_worlds,
    mean,
    others,
    pages_to,
    panels_by_pages,
    progress,
)
from wayhound.app.evaluate.lessons import make_trails
from wayhound.app.evaluate.world import World, join_worlds, walk
from wayhound.forage.forager import ForageLimits
from wayhound.forage.scorer import Scorer, StrategyInput
from wayhound.forage.scorers import SCORERS
from wayhound.forage.scorers.hops import Hops, TargetSimilarity
from wayhound.learn.arrays import Floats
from wayhound.paths.hops import HMM_STRATEGY, HopModel, HopSettings, browsed_sites, train_hops
from wayhound.paths.spiders import SPIDERS, Material, train_strategy
from wayhound.trail import Trail

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


# The user's keywords

KEYWORDS = {
    "faculty": ("faculty", "professor", "research", "teaching"),
    "student": ("student", "graduate", "phd", "homepage"),
    "course": ("course", "class", "homework", "syllabus"),
    "project": ("project", "research", "group", "software"),
}


def worth_of_keywords(arguments: argparse.Namespace) -> list[Report]:
    """`hop-crf` with four keywords of the user's beside those from titles and meta tags of useful pages (4.2.1)."""
    tested, teaching = department_worlds(arguments.data)
    ratios: dict[tuple[bool, str, int], list[float]] = {}
    for goal in GOALS:
        for world in tested:
            trails = _trails(others(teaching, world), goal)
            floor = walk(world, SCORERS[FLOOR](StrategyInput())).urls
            for given in (False, True):
                material = Material(trails, keywords=KEYWORDS[goal] if given else ())
                model = train_strategy("hop-crf", material, SPIDERS["hop-crf"])
                urls = walk(world, SCORERS["hop-crf"](StrategyInput(model=model))).urls
                for share in (10, 75):
                    ratio = pages_to(world, goal, urls, share) / pages_to(world, goal, floor, share)
                    ratios.setdefault((given, goal, share), []).append(ratio)
            progress("keywords", goal, world.name)
    rows: list[list[Cell]] = []
    for given, name in ((False, "from useful pages alone"), (True, "with four of the user's")):
        for share in (10, 75):
            every = [ratio for goal in GOALS for ratio in ratios[given, goal, share]]
            rows.append([name, share, *(mean(ratios[given, goal, share]) for goal in GOALS), mean(every)])
    header = ["keywords of hop-crf", "% of the goals", *GOALS, "all"]
    return [Report("Keywords, of breadth-first's pages", header, rows)]


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
    labels = (
        "useful pages",
        "mean largest similarity so far",
        f"share of pages with similarity ≥ {DRAWN_AT}",
    )
    with panels_by_pages(path, labels, width=15) as axes:
        for at, axis in enumerate(axes):
            for name, done in crawls.items():
                length = min(len(crawl.useful) for crawl in done)
                mean_curve = np.mean([crawl.curves()[at][:length] for crawl in done], axis=0)
                axis.plot(range(1, length + 1), mean_curve, label=name, linewidth=1.4)


def _merged(world: World, labels: Sequence[str]) -> World:
    useful = {url: "useful" for url, label in world.labels.items() if label in labels}
    return World(world.name, world.site, world.pages, {**world.labels, **useful})
