"""Worlds and measures that the parts of `bench.spiders` share."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from wayhound.app.evaluate.world import World, load_worlds

GOALS = ("faculty", "student", "course", "project")
FLOOR = "breadth-first"


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


@contextmanager
def panels_by_pages(path: Path, labels: Sequence[str], width: float) -> Iterator[Any]:
    """Yield a pair of axes for each label, to draw over the pages fetched; then write the figure to a file."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    path.parent.mkdir(parents=True, exist_ok=True)
    figure, axes = plt.subplots(1, len(labels), figsize=(width, 4))
    yield axes
    for axis, label in zip(axes, labels, strict=True):
        axis.set_xlabel("pages fetched")
        axis.set_ylabel(label)
    axes[0].legend(fontsize=8)
    figure.tight_layout()
    figure.savefig(path, dpi=110)
    plt.close(figure)
