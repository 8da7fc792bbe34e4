"""The strategies: a plain dict from the name on the command line to what makes a scorer for one site."""

from __future__ import annotations

from collections.abc import Callable

from wayhound.forage.scorer import Scorer, StrategyInput
from wayhound.forage.scorers.baselines import BreadthFirst, RandomOrder
from wayhound.forage.scorers.best_first import BestFirst

TAUGHT_STRATEGIES = ("path-learner", "maxent", "naive-bayes", "focused")
"""The strategies that need a model."""


def _taught(strategy: str) -> Callable[[StrategyInput], Scorer]:
    def scorer(brief: StrategyInput) -> Scorer:
        # numpy and scipy take more than all the rest of a forage, and only taught strategies need them
        from wayhound.forage.scorers.path_learner import make_path_learner  # noqa: PLC0415

        return make_path_learner(strategy, brief)

    return scorer


SCORERS: dict[str, Callable[[StrategyInput], Scorer]] = {
    "best-first": BestFirst.from_input,
    "breadth-first": BreadthFirst.from_input,
    "random": RandomOrder.from_input,
    **{name: _taught(name) for name in TAUGHT_STRATEGIES},
}
