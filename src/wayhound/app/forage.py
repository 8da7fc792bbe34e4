"""A forage as a person orders it: what is looked for, how, into which workspace; and one worker's share."""

from __future__ import annotations

import json
import os
import socket
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Self

from wayhound.app.crawl import Crawl
from wayhound.archive.repair import repair
from wayhound.config import Config
from wayhound.errors import UsageError
from wayhound.forage.forager import ForageLimits
from wayhound.forage.politeness import Politeness
from wayhound.forage.scorer import GoalPattern, Scorer, StrategyInput, file_kinds
from wayhound.forage.scorers import SCORERS, TAUGHT_STRATEGIES
from wayhound.media import accepted_types
from wayhound.net.http import ACCEPTED_TYPES, HttpFetcher, Timeouts
from wayhound.net.http_agent import Agent
from wayhound.net.refetch import Refetcher
from wayhound.page import Page
from wayhound.pages.reader import read_page
from wayhound.processes import process_runs
from wayhound.site import Site
from wayhound.store.forage import ForageStore, Run, RunLimits
from wayhound.visit import Visit
from wayhound.workspace import Workspace

if TYPE_CHECKING:
    from wayhound.paths.model import ForageModel

MAX_FILE_BYTES = 30_000_000  # of a document that may be a goal


@dataclass(frozen=True, slots=True)
class Order:
    """What is looked for and how. The same order on the same workspace continues its last run."""

    strategy: str = "breadth-first"
    goal: str = ""
    keywords: tuple[str, ...] = ()
    examples: tuple[str, ...] = ()  # saved HTML pages like those wanted
    seed: int = 0
    goals_wanted: int | None = None
    best_goal_only: bool = False
    min_score: float = 0.0
    fresh: str = ""  # a mark that makes an order differ from an equal one before
    take_files: bool = False  # documents that goal pages link to
    model: str = ""  # name of the taught model
    model_digest: str = ""  # what it had learned: a model trained anew is another order

    def identity(self) -> dict[str, str]:
        """As strings, the way the store compares orders. What later versions added is told when used."""
        unsaid = {"model", "model_digest"} if not self.model else set()
        unsaid |= set() if self.take_files else {"take_files"}
        return {name: json.dumps(value) for name, value in asdict(self).items() if name not in unsaid}

    @classmethod
    def from_identity(cls, identity: Mapping[str, str]) -> Self:
        known = {name: json.loads(text) for name, text in identity.items()}
        lists = {name: tuple(value) for name, value in known.items() if isinstance(value, list)}
        return cls(**{each.name: (known | lists)[each.name] for each in fields(cls) if each.name in known})

    def brief(self, workspace: Workspace) -> StrategyInput:
        examples = tuple(_example(Path(path)) for path in self.examples)
        model = self._model(workspace) if self.model else None
        return StrategyInput(GoalPattern(self.goal), self.keywords, examples, self.seed, model)

    def scorers(self, workspace: Workspace) -> Callable[[], Scorer]:
        """Makes the scorer of each site; complains now, not in the middle, if the order cannot be met."""
        make, brief = SCORERS[self.strategy], self.brief(workspace)
        make(brief)
        return lambda: make(brief)

    def _model(self, workspace: Workspace) -> ForageModel:
        if workspace.forage_models.card(self.model).digest != self.model_digest:
            raise UsageError(
                f"The model {self.model!r} was trained anew after this run began. Order the forage again: it "
                "will be a new run."
            )
        from wayhound.app.train import load_forage_model  # noqa: PLC0415 - loads numpy and scipy

        return load_forage_model(workspace, self.model)


def settle(workspace: Workspace, order: Order) -> Order:
    """Name the model that an order means: the one asked for, else the last one that was trained."""
    if order.strategy not in TAUGHT_STRATEGIES:
        if order.model:
            raise UsageError(f"The strategy {order.strategy} takes no model.")
        return order
    models = workspace.forage_models
    card = models.card(order.model) if order.model else models.last(order.strategy)
    if card.strategy != order.strategy:
        raise UsageError(f"The model {card.name!r} was trained for the strategy {card.strategy}.")
    if order.goal:
        raise UsageError("A taught model tells goals by the path to them; a goal pattern has no say in it.")
    return replace(order, model=card.name, model_digest=card.digest)


def open_run(
    workspace: Workspace,
    order: Order,
    limits: RunLimits,
    sites: Iterable[Site],
    now: float,
    *,
    again: bool = False,
) -> Run:
    """Begin the run, or go on with it after a stop or a crash: torn archive tails are cut, dead workers'
    sites are free again. With `again`, a run that is finished is not gone on with: another one begins."""
    order = settle(workspace, order)
    order.scorers(workspace)
    identity = _identity(workspace.stores.forage, order, again=again)
    return _opened(workspace, identity, limits, sites, now)


def go_on(workspace: Workspace, run: Run, limits: RunLimits, now: float) -> Run:
    """Go on with a run as it was ordered. Its model must be the one that it began with: another would not tell
    goals in the same way."""
    Order.from_identity(run.identity).scorers(workspace)
    return _opened(workspace, run.identity, limits, (), now)


def _opened(
    workspace: Workspace, identity: Mapping[str, str], limits: RunLimits, sites: Iterable[Site], now: float
) -> Run:
    repair(workspace.archive_folder)
    run = workspace.stores.forage.open_run(identity, limits, sites, now)
    workspace.stores.forage.release_dead(run.id, is_alive)
    return run


def _identity(store: ForageStore, order: Order, *, again: bool) -> Mapping[str, str]:
    """That of the last run of the order, if it is to go on, also where that was a fresh one; else a new one."""
    last = None if order.fresh else _last_of(store, order)
    if last is None:
        return order.identity()
    if again and store.progress(last.id).is_over:
        return replace(order, fresh=a_mark()).identity()
    return last.identity


def _last_of(store: ForageStore, order: Order) -> Run | None:
    same = (run for run in store.runs() if replace(Order.from_identity(run.identity), fresh="") == order)
    return max(same, key=lambda run: run.id, default=None)


def a_mark() -> str:
    """For `Order.fresh`: one that no order had before."""
    return str(time.time_ns())


def run_before(store: ForageStore, run: Run) -> Run | None:
    """The run that this one repeats: the last one before it by the same order, whatever its model had learned."""
    order = repeated_order(run)
    same = (each for each in store.runs() if each.id < run.id and repeated_order(each) == order)
    return max(same, key=lambda each: each.id, default=None)


def repeated_order(run: Run) -> Order:
    """Return what a run looks for: runs of equal orders repeat one another, whatever their models had learned."""
    return replace(Order.from_identity(run.identity), fresh="", model_digest="")


def worker_name(number: int) -> str:
    return f"{socket.gethostname()}:{os.getpid()}:{number}"


def is_alive(worker: str) -> bool:
    """Whether the process behind a worker's name still runs.

    Of other machines we cannot know: their leases expire. A name that is our own was left by an earlier
    process with our number, as happens in containers: we ask before we lease anything.
    """
    host, pid, _ = worker.rsplit(":", 2)
    return host != socket.gethostname() or (int(pid) != os.getpid() and process_runs(int(pid)))


async def work(
    workspace: Workspace,
    run: Run,
    config: Config,
    *,
    number: int = 0,
    on_start: Callable[[Crawl], None],
    on_visit: Callable[[Visit], None],
) -> None:
    """One worker's share of a run. `on_start` is handed the crawl, so that it can be stopped."""
    order = Order.from_identity(run.identity)
    worker = worker_name(number)
    with workspace.archive_writer(f"w{number}") as writer:
        new_scorer = order.scorers(workspace)
        async with fetcher_of(config, file_kinds(new_scorer())) as fetcher:
            reader = workspace.archive
            crawl = Crawl(
                store=workspace.stores.forage,
                run=run,
                worker=worker,
                fetcher=fetcher,
                writer=writer,
                reader=reader,
                new_scorer=new_scorer,
                limits=_limits(order, run.limits),
                politeness=Politeness(config.fetch.delay_seconds),
                refetcher=Refetcher(fetcher, reader, workspace.stores.forage.last_page),
                request_headers=fetcher.request_headers,
                product=config.agent.name,
                on_visit=on_visit,
            )
            on_start(crawl)
            await crawl.work(config.forage.sites_at_once)


def _limits(order: Order, limits: RunLimits) -> ForageLimits:
    return ForageLimits(
        budget=limits.budget_per_site,
        max_depth=limits.max_depth,
        goals_wanted=order.goals_wanted,
        best_goal_only=order.best_goal_only,
        min_score=order.min_score,
        take_files=order.take_files,
    )


def fetcher_of(config: Config, files: Sequence[str] = ()) -> HttpFetcher:
    """The fetcher that the settings describe: polite and guarded. Kinds of `files` that are goals are taken too,
    though they are larger than pages."""
    fetch = config.fetch
    return HttpFetcher(
        Agent(config.agent.name, contact=config.agent.contact),
        timeouts=Timeouts(fetch.connect_seconds, fetch.read_seconds, fetch.total_seconds),
        max_body_bytes=fetch.max_body_bytes,
        max_file_bytes=max(fetch.max_body_bytes, MAX_FILE_BYTES) if files else None,
        accept=(*ACCEPTED_TYPES, *accepted_types(files)),
        respect_robots=fetch.respect_robots,
        allow_private=fetch.allow_private,
    )


def _example(path: Path) -> Page:
    try:
        page = read_page(path.absolute().as_uri(), path.read_bytes(), "text/html")
    except OSError as error:
        raise UsageError(f"The example page {path} cannot be read: {error.strerror}.") from None
    if not isinstance(page, Page):
        raise UsageError(f"The example page {path} is not a page that can be read ({page.reason}).")
    return page
