"""The strategies: a plain dict from the name on the command line to what makes a scorer for one site."""

from __future__ import annotations

from collections.abc import Callable

from wayhound.forage.scorer import Brief, Scorer
from wayhound.forage.scorers.baselines import BreadthFirst, RandomOrder
from wayhound.forage.scorers.best_first import BestFirst

TAUGHT = ("path-learner", "maxent", "naive-bayes", "focused")
"""The strategies that need a model."""


def _taught(strategy: str) -> Callable[[Brief], Scorer]:
    def scorer(brief: Brief) -> Scorer:
        # numpy and scipy take more than all the rest of a forage, and only taught strategies need them
        from wayhound.forage.scorers.path_learner import taught  # noqa: PLC0415

        return taught(strategy, brief)

    return scorer


SCORERS: dict[str, Callable[[Brief], Scorer]] = {
    "best-first": BestFirst.from_brief,
    "breadth-first": BreadthFirst.from_brief,
    "random": RandomOrder.from_brief,
    **{name: _taught(name) for name in TAUGHT},
}
