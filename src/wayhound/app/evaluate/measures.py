"""Goals found against pages fetched, all strategies in one picture, one panel a site and goal."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import accumulate
from pathlib import Path
from typing import Any

from wayhound.app.evaluate.world import Walk, World
from wayhound.errors import MissingExtra

SHARES = (50, 75, 90, 95)  # per cent of the goals that can be reached

ByShare = Mapping[str, float | None]


@dataclass(frozen=True, slots=True)
class Outcome:
    """One site, goal and strategy. A share that was never reached is None."""

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
    pages: int  # of the site that can be reached: what a share never reached counts as in a mean

    def to_json(self) -> dict[str, Any]:
        return {name: value for name, value in asdict(self).items() if name != "pages"}


def measure(world: World, goal: str, strategy: str, taught: str, taken: Walk, best: Walk) -> Outcome:
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
    return next((page for page, found in enumerate(curve, start=1) if found >= wanted), None)


def _quotient(above: float | None, below: float | None) -> float | None:
    return None if above is None or not below else above / below


def _area(curve: Sequence[int], goals: int, pages: int) -> float:
    """Mean share of the goals found, over all pages that there are to fetch."""
    if not goals or not curve:
        return 0.0
    return (sum(curve) + curve[-1] * (pages - len(curve))) / (goals * pages)


def means(outcomes: Sequence[Outcome]) -> list[dict[str, Any]]:
    """Geometric means over sites, a row for each goal and strategy."""
    floor = {(each.site, each.goal): each for each in outcomes if each.strategy == "breadth-first"}
    oracle = {(each.site, each.goal): each for each in outcomes if each.strategy == "oracle"}
    rows = []
    for key in dict.fromkeys((each.goal, each.strategy, each.taught) for each in outcomes):
        same = [each for each in outcomes if (each.goal, each.strategy, each.taught) == key]
        rows.append(
            {
                "goal": key[0],
                "strategy": key[1],
                "taught": key[2],
                "pages_to_vs_breadth_first": _against(same, floor),
                "ratio": _against(same, oracle),
                "auc": sum(each.auc for each in same) / len(same),
            }
        )
    return rows


def _against(outcomes: Sequence[Outcome], others: Mapping[tuple[str, str], Outcome]) -> ByShare:
    pairs = [(each, others[each.site, each.goal]) for each in outcomes if (each.site, each.goal) in others]
    return {
        share: _geometric_mean(_counted(each, share) / _counted(other, share) for each, other in pairs)
        for share in map(str, SHARES)
    }


def _counted(outcome: Outcome, share: str) -> float:
    return outcome.pages_to[share] or outcome.pages


def _geometric_mean(values: Iterable[float]) -> float | None:
    logs = [math.log(value) for value in values]
    return math.exp(sum(logs) / len(logs)) if logs else None


def plot(outcomes: Sequence[Outcome], path: Path) -> None:
    try:
        import matplotlib as mpl  # noqa: PLC0415 - an extra

        mpl.use("Agg")
        from matplotlib import pyplot as plt  # noqa: PLC0415
    except ImportError:
        raise MissingExtra("A plot", "matplotlib", "plot") from None
    panels = list(dict.fromkeys((each.goal, each.site) for each in outcomes))
    columns = min(3, len(panels))
    rows = math.ceil(len(panels) / columns)
    figure, axes = plt.subplots(rows, columns, figsize=(5 * columns, 3.6 * rows), squeeze=False)
    for axis in axes.flat[len(panels) :]:
        axis.set_visible(False)
    for (goal, site), axis in zip(panels, axes.flat, strict=False):
        for each in outcomes:
            if (each.goal, each.site) == (goal, site):
                axis.plot(range(1, len(each.curve) + 1), each.curve, label=each.strategy, linewidth=1.4)
        axis.set_title(f"{site}: {goal}", fontsize=10)
        axis.set_xlabel("pages fetched")
        axis.set_ylabel("goals found")
    axes.flat[0].legend(fontsize=8)
    figure.tight_layout()
    figure.savefig(path, dpi=120)
    plt.close(figure)
