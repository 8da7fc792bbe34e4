"""An evaluation: every strategy on every site, trained on the others, measured by goals found per page fetched."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import accumulate
from pathlib import Path
from typing import Any

from wayhound.app.evaluate.strategies import ORACLE, STRATEGIES, Lesson, Taught, taught_from
from wayhound.app.evaluate.world import Walk, World, oracle, walk
from wayhound.errors import MissingExtra

SHARES = (50, 75, 90, 95)  # per cent of the reachable goals

ByShare = Mapping[str, float | None]


@dataclass(frozen=True, slots=True)
class Outcome:
    """The measures of one site, goal and strategy. A share that was never reached is None."""

    site: str
    goal: str
    strategy: str
    taught: str
    goals: int
    reachable: int
    fetched: int
    pages_to: ByShare
    ratio: ByShare
    harvest: ByShare
    auc: float
    curve: tuple[int, ...]  # goals found after each page
    cpu_seconds: float
    pages: int  # reachable pages of the site: the value in a mean of a share never reached

    def to_json(self) -> dict[str, Any]:
        return {name: value for name, value in asdict(self).items() if name != "pages"}


@dataclass(frozen=True)
class Evaluation:
    """The sites, goals and strategies to compare. A site that is being tested is never taught."""

    tested: Sequence[World]
    teaching: Sequence[World]  # if empty, each site is tested with a model taught on the other tested ones
    goals: Sequence[str]
    strategies: Sequence[str]
    trails_a_site: int = 15
    taught: Taught = "trails"

    def __len__(self) -> int:
        return len(self._tasks()) * len(self.strategies)

    def run(self) -> Iterator[Outcome]:
        """Yield the outcome of every site, goal and strategy."""
        for world, goal in self._tasks():
            lesson = Lesson(self._teaching_for(world), goal, self.trails_a_site, self.taught)
            best = oracle(world, goal)
            for strategy in self.strategies:
                taken = best if strategy == ORACLE else walk(world, STRATEGIES[strategy](lesson))
                yield measure(world, goal, strategy, taught_from(strategy, self.taught), taken, best)

    def _tasks(self) -> list[tuple[World, str]]:
        """Return sites and goals; a site without a reachable goal has nothing to measure."""
        return [(world, goal) for goal in self.goals for world in self.tested if world.reachable_goals(goal)]

    def _teaching_for(self, tested: World) -> list[World]:
        return [world for world in self.teaching or self.tested if world.site != tested.site]


def outcomes_to_json(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    return {"runs": [outcome.to_json() for outcome in outcomes], "means": means(outcomes)}


def measure(world: World, goal: str, strategy: str, taught: str, taken: Walk, best: Walk) -> Outcome:
    """Return the measures of a walk, relative to the oracle's."""
    goals = set(world.reachable_goals(goal))
    curve = _curve(taken, goals)
    needed = {str(share): math.ceil(len(goals) * share / 100) for share in SHARES}
    pages_to = {share: _pages_to(curve, wanted) for share, wanted in needed.items()}
    optimal = {share: _pages_to(_curve(best, goals), wanted) for share, wanted in needed.items()}
    return Outcome(
        site=world.name,
        goal=goal,
        strategy=strategy,
        taught=taught,
        goals=len(world.goals(goal)),
        reachable=len(goals),
        fetched=len(taken.urls),
        pages_to=pages_to,
        ratio={share: _quotient(pages_to[share], optimal[share]) for share in needed},
        harvest={share: _quotient(wanted, pages_to[share]) for share, wanted in needed.items()},
        auc=_area(curve, len(goals), len(world.depths)),
        curve=tuple(curve),
        cpu_seconds=taken.cpu_seconds,
        pages=len(world.depths),
    )


def _curve(taken: Walk, goals: set[str]) -> list[int]:
    return list(accumulate(int(url in goals) for url in taken.urls))


def _pages_to(curve: Sequence[int], wanted: int) -> int | None:
    return next((page for page, goals in enumerate(curve, start=1) if goals >= wanted), None)


def _quotient(above: float | None, below: float | None) -> float | None:
    return None if above is None or not below else above / below


def _area(curve: Sequence[int], goals: int, pages: int) -> float:
    """Return the mean share of the goals found, over all pages that could be fetched."""
    if not goals or not curve:
        return 0.0
    return (sum(curve) + curve[-1] * (pages - len(curve))) / (goals * pages)


def means(outcomes: Sequence[Outcome]) -> list[dict[str, Any]]:
    """Return geometric means over sites, one row for each goal and strategy."""
    floor = {(run.site, run.goal): run for run in outcomes if run.strategy == "breadth-first"}
    optimum = {(run.site, run.goal): run for run in outcomes if run.strategy == ORACLE}
    rows = []
    for key in dict.fromkeys((run.goal, run.strategy, run.taught) for run in outcomes):
        runs = [run for run in outcomes if (run.goal, run.strategy, run.taught) == key]
        rows.append(
            {
                "goal": key[0],
                "strategy": key[1],
                "taught": key[2],
                "pages_to_vs_breadth_first": _relative_to(floor, runs),
                "ratio": _relative_to(optimum, runs),
                "auc": sum(run.auc for run in runs) / len(runs),
            }
        )
    return rows


def _relative_to(others: Mapping[tuple[str, str], Outcome], runs: Sequence[Outcome]) -> ByShare:
    pairs = [(run, others[run.site, run.goal]) for run in runs if (run.site, run.goal) in others]
    return {
        share: _geometric_mean(
            _pages_needed(run, share) / _pages_needed(other, share) for run, other in pairs
        )
        for share in map(str, SHARES)
    }


def _pages_needed(outcome: Outcome, share: str) -> float:
    return outcome.pages_to[share] or outcome.pages


def _geometric_mean(values: Iterable[float]) -> float | None:
    logs = [math.log(value) for value in values]
    return math.exp(sum(logs) / len(logs)) if logs else None


def plot(outcomes: Sequence[Outcome], path: Path) -> None:
    """Write a picture of goals found against pages fetched, one panel per site and goal.

    Raises MissingExtra without matplotlib.
    """
    try:
        import matplotlib as mpl  # noqa: PLC0415 - an extra

        mpl.use("Agg")
        from matplotlib import pyplot as plt  # noqa: PLC0415
    except ImportError:
        raise MissingExtra("A plot", "matplotlib", "plot") from None
    panels = list(dict.fromkeys((run.goal, run.site) for run in outcomes))
    columns = min(3, len(panels))
    rows = math.ceil(len(panels) / columns)
    figure, axes = plt.subplots(rows, columns, figsize=(5 * columns, 3.6 * rows), squeeze=False)
    for axis in axes.flat[len(panels) :]:
        axis.set_visible(False)
    for (goal, site), axis in zip(panels, axes.flat, strict=False):
        for run in outcomes:
            if (run.goal, run.site) == (goal, site):
                axis.plot(range(1, len(run.curve) + 1), run.curve, label=run.strategy, linewidth=1.4)
        axis.set_title(f"{site}: {goal}", fontsize=10)
        axis.set_xlabel("pages fetched")
        axis.set_ylabel("goals found")
    axes.flat[0].legend(fontsize=8)
    figure.tight_layout()
    figure.savefig(path, dpi=120)
    plt.close(figure)
