"""Future reward: `q-spider` by stages, bins and texts, and on sites with one goal."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from bench.report import Bar, Cell, Report
from bench.spider_worlds import FLOOR, department_worlds, mean, others, pages_to, panels_by_pages, progress
from wayhound.app.evaluate.strategies import ORACLE, STRATEGIES, Lesson, tune_q_spider
from wayhound.app.evaluate.world import World, load_worlds, oracle, walk
from wayhound.forage.scorer import Scorer, StrategyInput
from wayhound.forage.scorers import SCORERS
from wayhound.forage.scorers.q_spider import QSpider
from wayhound.paths.q_model import FOCUSED, PAPER, QSettings, train_q_spider
from wayhound.paths.rollout import RecordedSite

ONE_GOAL_SETS = ("academic", "javadoc", "webkb", "modern-company", "modern-conference", "modern-docs",
                 "modern-hospitality", "modern-nonprofit", "modern-research")  # fmt: skip
ONE_GOAL_LABELS = ("contact", "person", "publication", "project", "news-item", "about", "jobs")
LITERATURE = {"oracle": 3.0, "q-future, 4 bins": 13.0, "q-future, 3 bins": 22.0, "q-future, 5 bins": 27.0,
              "q-focused": 27.0, "breadth-first": 38.0}  # fmt: skip
LEAST_PAGES, LEAST_SITES = 20, 4

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


def _plot_curves(path: Path, curves: dict[str, list[list[int]]], label: str) -> None:
    with panels_by_pages(path, (label, label), width=11) as axes:
        for axis, most in zip(axes, (1.0, 0.2), strict=True):
            for name, runs in curves.items():
                longest = max(map(len, runs))
                padded = np.array([run + [0] * (longest - len(run)) for run in runs], dtype=float)
                mean_curve = padded.cumsum(axis=1).mean(axis=0)
                cut = max(1, int(most * longest))
                axis.plot(range(1, cut + 1), mean_curve[:cut], label=name, linewidth=1.4)


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
