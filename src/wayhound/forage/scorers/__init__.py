"""The strategies, by the name that the command line uses. `SCORERS` is the registry.

Each builds a scorer for one site from a `StrategyInput`. Not here: training, which is in `paths/trainers`.
"""

from __future__ import annotations

from collections.abc import Callable

from wayhound.forage.scorer import Scorer, StrategyInput
from wayhound.forage.scorers.baselines import BreadthFirst, RandomOrder
from wayhound.forage.scorers.best_first import make_best_first

PATH_STRATEGIES = ("adaptive", "path-learner", "maxent", "naive-bayes", "focused")
"""The strategies whose models label pages along a path."""
TAUGHT_STRATEGIES = (*PATH_STRATEGIES, "q-spider", "hop-hmm", "hop-crf")
"""The strategies that need a model."""


def _taught(strategy: str) -> Callable[[StrategyInput], Scorer]:
    def make_scorer(strategy_input: StrategyInput) -> Scorer:
        # numpy and scipy take longer to load than all the rest of a forage, and only these strategies need them
        if strategy == "adaptive":
            from wayhound.forage.scorers.adaptive import make_adaptive  # noqa: PLC0415

            return make_adaptive(strategy_input)
        if strategy == "q-spider":
            from wayhound.forage.scorers.q_spider import make_q_spider  # noqa: PLC0415

            return make_q_spider(strategy_input)
        if strategy.startswith("hop-"):
            from wayhound.forage.scorers.hops import make_hops  # noqa: PLC0415

            return make_hops(strategy, strategy_input)
        from wayhound.forage.scorers.path_learner import make_path_learner  # noqa: PLC0415

        return make_path_learner(strategy, strategy_input)

    return make_scorer


SCORERS: dict[str, Callable[[StrategyInput], Scorer]] = {
    "best-first": make_best_first,
    "breadth-first": BreadthFirst.from_input,
    "random": RandomOrder.from_input,
    **{name: _taught(name) for name in TAUGHT_STRATEGIES},
}
