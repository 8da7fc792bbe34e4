"""The order of a forage: what is looked for, by which strategy, and which runs it was carried out in."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from wayhound.errors import UsageError, WayhoundError
from wayhound.forage.scorer import AskingScorer, GoalPattern, Scorer, StrategyInput
from wayhound.forage.scorers import SCORERS, TAUGHT_STRATEGIES
from wayhound.page import Page
from wayhound.pages.reader import read_page
from wayhound.plugins import SCORERS as PLUGIN_SCORERS
from wayhound.plugins import find_plugins
from wayhound.store.protocol import Run, Store
from wayhound.workspace import Workspace

if TYPE_CHECKING:
    from wayhound.paths.spiders import TrainedModel

WORDS_STRATEGY = "adaptive"
"""The strategy that takes words beside a model."""


@dataclass(frozen=True, slots=True)
class Order:
    """The goal of a forage and the strategy. The same order in the same workspace resumes its last run."""

    strategy: str = "breadth-first"
    goal: str = ""
    keywords: tuple[str, ...] = ()
    examples: tuple[str, ...] = ()  # paths of saved HTML pages like those wanted
    seed: int = 0
    goals_wanted: int | None = None
    best_goal_only: bool = False
    min_score: float = 0.0
    fresh: str = ""  # a nonce that makes this order differ from an equal one before
    take_files: bool = False  # also documents that goal pages link to
    model: str = ""  # name of the taught model
    model_digest: str = ""  # a model that was trained again makes another order
    look_around: bool = False  # fetch pages of taught sites, and report no goals
    facts: str = ""  # a site ends when these facts are found, such as `contact`
    workload: str = ""  # a file of queries: what they ask for is fetched first
    all_goals: bool = False  # go on after the first goal, even if every taught site had one

    def identity(self) -> dict[str, str]:
        """Return the order as strings, by which the store compares runs.

        Newer fields are included only when set, so that identities of earlier versions still match.
        """
        omitted = {"model", "model_digest"} if not self.model else set()
        omitted |= set() if self.take_files else {"take_files"}
        omitted |= set() if self.look_around else {"look_around"}
        omitted |= set() if self.facts else {"facts"}
        omitted |= set() if self.workload else {"workload"}
        omitted |= set() if self.all_goals else {"all_goals"}
        return {name: json.dumps(value) for name, value in asdict(self).items() if name not in omitted}

    @property
    def purpose(self) -> str:
        """The purpose of the order, by which programs of sites are kept: a model's name, or words."""
        return self.model or ", ".join(self.keywords) or self.goal

    @property
    def wants_facts_alone(self) -> bool:
        """True if pages are goals because of the facts on them: nothing else says what a goal is."""
        return bool(self.facts) and not (self.goal or self.model)

    @classmethod
    def from_identity(cls, identity: Mapping[str, str]) -> Self:
        """Return the order of a run. Fields that this version does not have are ignored."""
        values = {name: json.loads(text) for name, text in identity.items()}
        lists = {name: tuple(value) for name, value in values.items() if isinstance(value, list)}
        names = [field.name for field in fields(cls) if field.name in values]
        return cls(**{name: (values | lists)[name] for name in names})

    def strategy_input(self, workspace: Workspace) -> StrategyInput:
        examples = tuple(_example(Path(path)) for path in self.examples)
        model = self._model(workspace) if self.model else None
        return StrategyInput(GoalPattern(self.goal), self.keywords, examples, self.seed, model)

    def scorers(self, workspace: Workspace) -> Callable[[], Scorer]:
        """Return a function that makes the scorer of each site.

        Raises UsageError now, and not in the middle of a forage, if the order cannot be met.
        """
        make, given = scorer_factory(self.strategy), self.strategy_input(workspace)
        make(given)
        return lambda: make(given)

    def _model(self, workspace: Workspace) -> TrainedModel:
        if workspace.forage_models.card(self.model).digest != self.model_digest:
            raise UsageError(
                f"The model {self.model!r} was trained again after this run began, so the run cannot be resumed. "
                "Start the forage again: it will be a new run."
            )
        from wayhound.app.train.models import load_forage_model  # noqa: PLC0415 - loads numpy and scipy

        return load_forage_model(workspace, self.model)


def strategy_names() -> list[str]:
    """Return the names of all strategies, those of installed plugins included."""
    return sorted({*SCORERS, *find_plugins(PLUGIN_SCORERS)})


def scorer_factory(strategy: str) -> Callable[[StrategyInput], Scorer]:
    """Return what makes the scorers of a strategy. Raises UsageError if there is none, or its plugin is broken."""
    if strategy in SCORERS:
        return SCORERS[strategy]
    plugin = find_plugins(PLUGIN_SCORERS).get(strategy)
    if plugin is None:
        raise UsageError(f"There is no strategy {strategy!r}. Choose one of {', '.join(strategy_names())}.")
    factory = plugin.load()

    def make(given: StrategyInput) -> Scorer:
        try:
            return _checked_scorer(factory(given))
        except WayhoundError:
            raise
        except Exception as error:
            raise plugin.failure("cannot make a scorer", error) from error

    return make


def _checked_scorer(made: Any) -> Scorer:
    missing = [name for name in ("start", "read", "rate", "combine") if not hasattr(made, name)]
    if missing:
        raise TypeError(f"a scorer needs the method {missing[0]}")
    scorer: Scorer = made
    return scorer


def complete_order(workspace: Workspace, order: Order) -> Order:
    """Fill in what an order leaves empty: the strategy, and for a search by words the goal pattern.

    Words or example pages are followed best first, a pattern breadth first; without either, the model that was
    trained last decides. With a model, words help to find the way and say nothing about goals. Facts alone are looked
    for where organisations say how to reach them, and the pages that have them are the goals.
    """
    if order.facts and not (order.keywords or order.examples or order.goal or order.model):
        from wayhound.app.facts.search import CONTACT_WORDS  # noqa: PLC0415

        order = replace(order, keywords=CONTACT_WORDS)
        return replace(order, strategy=order.strategy or _default_strategy(workspace, order))
    strategy = order.strategy or _default_strategy(workspace, order)
    words = () if strategy in TAUGHT_STRATEGIES else order.keywords
    return replace(order, strategy=strategy, goal=order.goal or GoalPattern.for_words(words).pattern)


def _default_strategy(workspace: Workspace, order: Order) -> str:
    models = workspace.forage_models
    if order.model:
        return models.card(order.model).strategy
    if order.keywords or order.examples:
        return "best-first"
    return models.last().strategy if models.names() and not order.goal else "breadth-first"


def resolve_model(workspace: Workspace, order: Order) -> Order:
    """Return the order with its model named: the one given, else the last one that was trained.

    If every taught site had one goal, one is looked for on each site, unless the order says how many it wants. Raises
    UsageError if the strategy takes no model, or none for it was trained.
    """
    if order.strategy not in TAUGHT_STRATEGIES:
        if order.model:
            raise UsageError(f"The strategy {order.strategy} takes no model.")
        return order
    models = workspace.forage_models
    card = models.card(order.model) if order.model else models.last(order.strategy)
    if card.strategy != order.strategy:
        raise UsageError(f"The model {card.name!r} was trained for the strategy {card.strategy}.")
    if order.goal:
        raise UsageError(
            "A trained model recognises goals itself: leave out either the model or the goal pattern."
        )
    if order.keywords and order.strategy != WORDS_STRATEGY:
        raise UsageError(
            f"The strategy {order.strategy} takes no words beside its model; {WORDS_STRATEGY} does (`wayhound train`)."
        )
    says_how_many = order.goals_wanted or order.best_goal_only or order.all_goals or order.look_around
    one_goal = card.one_goal and not says_how_many
    return replace(
        order, model=card.name, model_digest=card.digest, best_goal_only=order.best_goal_only or one_goal
    )


def can_ask(workspace: Workspace, order: Order) -> bool:
    """Return True if the strategy of an order asks a person about pages of a site."""
    return isinstance(resolve_model(workspace, order).scorers(workspace)(), AskingScorer)


def new_nonce() -> str:
    """Return a value for `Order.fresh` that no order had before."""
    return str(time.time_ns())


def runs_of(store: Store, order: Order) -> list[Run]:
    """Return the runs of an order, whatever their sites, the newest first."""
    return sorted((run for run in store.runs() if is_order_of(order, run)), key=lambda run: -run.id)


def is_order_of(order: Order, run: Run) -> bool:
    """Return True if a run carries out this order, whatever the nonces of both."""
    return replace(Order.from_identity(run.identity), fresh="") == replace(order, fresh="")


def repeated_order(run: Run) -> Order:
    """Return the order of a run without nonce and model digest: runs of equal orders repeat one another."""
    return replace(Order.from_identity(run.identity), fresh="", model_digest="")


def previous_run(store: Store, run: Run) -> Run | None:
    """Return the run that this one repeats: the last one before it of the same order, with any model digest.

    The two share at least one site.
    """
    order, starts = repeated_order(run), {site.start for site in store.sites(run.id)}
    same = [other for other in store.runs() if other.id < run.id and repeated_order(other) == order]
    newest_first = sorted(same, key=lambda other: -other.id)
    shared = (other for other in newest_first if any(site.start in starts for site in store.sites(other.id)))
    return next(shared, None)


def has_sites(store: Store, run: Run, starts: Collection[str]) -> bool:
    """Return True if a run has exactly the sites with these start pages."""
    return store.progress(run.id).sites == len(starts) and all(
        site.start in starts for site in store.sites(run.id)
    )


def _example(path: Path) -> Page:
    try:
        page = read_page(path.absolute().as_uri(), path.read_bytes(), "text/html")
    except OSError as error:
        raise UsageError(f"The example page {path} cannot be read: {error.strerror}.") from None
    if not isinstance(page, Page):
        raise UsageError(f"The example page {path} is not a page that can be read ({page.reason}).")
    return page
