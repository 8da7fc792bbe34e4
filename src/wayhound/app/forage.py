"""The use case of foraging: an order is resolved, a run opened or resumed, and one worker run."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, AsyncExitStack, nullcontext, suppress
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from wayhound.app.crawl import Crawl
from wayhound.app.page_source import PageSource
from wayhound.app.site_forage import Demand, ForagePlan, SiteFacts, SiteNotebook
from wayhound.app.site_list import with_hosts
from wayhound.archive.reader import Revalidator
from wayhound.archive.writer import repair
from wayhound.config import AgentConfig, Config, FetchConfig
from wayhound.errors import MissingExtra, UsageError, WayhoundError, WorkspaceLocked
from wayhound.forage.forager import ForageLimits
from wayhound.forage.politeness import Politeness
from wayhound.forage.rendering import RenderMemory, RenderMode
from wayhound.forage.scorer import GoalPattern, Scorer, StrategyInput, file_kinds
from wayhound.forage.scorers import SCORERS, TAUGHT_STRATEGIES
from wayhound.media import accepted_types
from wayhound.net.browser import find_browser
from wayhound.page import Page
from wayhound.pages.reader import read_page
from wayhound.plugins import SCORERS as PLUGIN_SCORERS
from wayhound.plugins import find_plugins
from wayhound.processes import process_runs
from wayhound.site import Site
from wayhound.store.protocol import Run, RunLimits, Store
from wayhound.visit import Visit
from wayhound.workspace import Workspace

if TYPE_CHECKING:
    from wayhound.net.http import HttpFetcher
    from wayhound.net.rendering import BrowserFetcher
    from wayhound.paths.spiders import TrainedModel

Section = TypeVar("Section", AgentConfig, FetchConfig)

WORDS_STRATEGY = "adaptive"
"""The strategy that takes words beside a model."""

GATHER_SECONDS = 0.05
"""Visits wait so long, and no longer than half the delay between requests, to be saved on a server with others: the
next request to their site has to wait for longer than that anyway."""

UPLOAD_PATIENCE_SECONDS = 60.0
"""A site that is taken over waits so long for segments that its last machine has not uploaded. It uploads every 30
seconds; of a machine that was started again, the next process does."""

MAX_FILE_BYTES = 30_000_000
"""Size limit of documents that may be goals; pages have a smaller one (`fetch.max_body_bytes`)."""


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
        from wayhound.app.train import load_forage_model  # noqa: PLC0415 - loads numpy and scipy

        return load_forage_model(workspace, self.model)


class AnsweredScorers:
    """Makes the scorers of sites that answers about other sites of the run have taught.

    The last model is kept: sites that begin at about the same time mostly know the same answers.
    """

    def __init__(self, workspace: Workspace, order: Order, run: Run) -> None:
        self._workspace, self._run = workspace, run
        self._make, self._input = scorer_factory(order.strategy), order.strategy_input(workspace)
        self._name = order.model
        self._last: tuple[int, TrainedModel] | None = None
        self._training = asyncio.Lock()

    async def scorer(self, last_answer: int) -> Scorer:
        """Return a scorer that has learned from the answers up to this one."""
        from wayhound.app.train import answered_model  # noqa: PLC0415 - loads numpy and scipy

        async with self._training:
            if self._last is None or self._last[0] != last_answer:
                model = await answered_model(self._workspace, self._name, self._run.id, last_answer)
                self._last = last_answer, model
            return self._make(replace(self._input, model=self._last[1]))


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


def has_probabilities(workspace: Workspace, run: Run) -> bool:
    """Return True if a model or keywords recognised the goals of a run; else a pattern decided, and none is likely."""
    return bool(Order.from_identity(run.identity).model) or workspace.stores.goals.are_recognised(run.id)


def complete_order(workspace: Workspace, order: Order) -> Order:
    """Fill in what an order leaves empty: the strategy, and for a search by words the goal pattern.

    Words or example pages are followed best first, a pattern breadth first; without either, the model that was
    trained last decides. With a model, words help to find the way and say nothing about goals. Facts alone are looked
    for where organisations say how to reach them, and the pages that have them are the goals.
    """
    if order.facts and not (order.keywords or order.examples or order.goal or order.model):
        from wayhound.app.facts import CONTACT_WORDS  # noqa: PLC0415

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


def run_limits(
    config: Config,
    *,
    budget: int | None = None,
    total_budget: int | None = None,
    max_depth: int | None = None,
    min_probability: float | None = None,
    questions: int | None = None,
    min_goals_left: float | None = None,
) -> RunLimits:
    """Return the limits of a run; those of the settings where none are given."""
    return RunLimits(
        config.forage.budget_per_site if budget is None else budget,
        total_budget,
        config.forage.max_depth if max_depth is None else max_depth,
        config.forage.min_probability if min_probability is None else min_probability,
        questions,
        config.forage.min_goals_left if min_goals_left is None else min_goals_left,
    )


def override_config(
    config: Config,
    *,
    agent: str | None = None,
    contact: str | None = None,
    delay_seconds: float | None = None,
    allow_private: bool = False,
    render: str | None = None,
) -> Config:
    """Return the settings with those that are given in place of the workspace's."""
    agent_changes: dict[str, Any] = {"name": agent, "contact": contact}
    fetch_changes: dict[str, Any] = {
        "delay_seconds": delay_seconds,
        "allow_private": allow_private or None,
        "render": render,
    }
    return replace(
        config, agent=_changed(config.agent, agent_changes), fetch=_changed(config.fetch, fetch_changes)
    )


def _changed(section: Section, changes: Mapping[str, Any]) -> Section:
    return replace(section, **{name: value for name, value in changes.items() if value is not None})


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


def open_run(
    workspace: Workspace,
    order: Order,
    limits: RunLimits,
    sites: Iterable[Site],
    now: float,
    *,
    again: bool = False,
    into: int | None = None,
    renders: bool = False,
) -> Run:
    """Start the run of an order and a list of sites, or resume it after a stop or a crash.

    Torn tails of the archive are cut and the sites of dead workers released. Sites that could not be fetched are tried
    again, with `renders` also those whose pages needed a browser. With `again`, a finished run is not
    resumed: a new one is started. With `into`, the sites are added to that run. Raises UsageError if the order cannot
    be carried out, or is not that of the run.
    """
    order = resolve_model(workspace, order)
    order.scorers(workspace)
    if order.facts:
        _facts(workspace, order.facts)  # raises for an unknown kind
    sites, store = list(sites), workspace.stores.forage
    if (demand := _demand(workspace, order)) is not None:
        sites.sort(key=lambda site: -demand.site_utility(site))
    identity = (
        _identity_of(store.run(into), order)
        if into is not None
        else _identity(store, order, {site.start for site in sites}, again=again)
    )
    return _opened(workspace, identity, limits, sites, now, renders=renders)


def resume_run(workspace: Workspace, run: Run, limits: RunLimits, now: float) -> Run:
    """Resume a run with new limits. Raises UsageError if its model was trained again since."""
    Order.from_identity(run.identity).scorers(workspace)
    renders = renders_pages(workspace.config)
    return _opened(workspace, run.identity, limits, (), now, renders=renders)


def include_host(workspace: Workspace, run_id: int, start: str, host: str, now: float) -> Run:
    """Take a host for a part of a site of a run, which then waits again.

    Raises UsageError if the run has no such site, or the host is none.
    """
    store = workspace.stores.forage
    run = store.run(run_id)
    if all(site.start != start for site in store.sites(run_id)):
        raise UsageError(f"Run {run_id} has no site {start}.")
    site = with_hosts(Site(start), [host])
    return _opened(workspace, run.identity, run.limits, [site], now, renders=renders_pages(workspace.config))


def _opened(
    workspace: Workspace,
    identity: Mapping[str, str],
    limits: RunLimits,
    sites: Iterable[Site],
    now: float,
    *,
    renders: bool,
) -> Run:
    store = workspace.stores.forage
    workspace.database.check_clock(time.time())
    if workspace.location is not None:
        workspace.location.check()
    repair(workspace.archive_folder)
    run = store.open_run(identity, limits, sites, now)
    store.release_dead(run.id, is_alive)
    return run if run.is_new else replace(run, retried=store.retry_failed(run.id, renders=renders))


def _identity_of(run: Run, order: Order) -> Mapping[str, str]:
    if _without_nonce(run) != replace(order, fresh=""):
        raise UsageError(
            f"Run {run.id} looks for something else, or with other options. Repeat the options of its command."
        )
    return run.identity


def _identity(store: Store, order: Order, starts: Collection[str], *, again: bool) -> Mapping[str, str]:
    """Return the identity of the last run of the order and these sites if that is to be resumed, else a new one.

    Other sites are another run: who names one site does not want an earlier list to be continued.
    """
    if order.fresh:
        return order.identity()
    earlier = runs_of(store, order)
    last = next((run for run in earlier if has_sites(store, run, starts)), None)
    if last is None or (again and store.progress(last.id).is_over):
        return replace(order, fresh=new_nonce() if earlier else "").identity()
    return last.identity


def runs_of(store: Store, order: Order) -> list[Run]:
    """Return the runs of an order, whatever their sites, the newest first."""
    same = [run for run in store.runs() if _without_nonce(run) == replace(order, fresh="")]
    return sorted(same, key=lambda run: -run.id)


def _without_nonce(run: Run) -> Order:
    return replace(Order.from_identity(run.identity), fresh="")


def has_sites(store: Store, run: Run, starts: Collection[str]) -> bool:
    """Return True if a run has exactly the sites with these start pages."""
    return store.progress(run.id).sites == len(starts) and all(
        site.start in starts for site in store.sites(run.id)
    )


def new_nonce() -> str:
    """Return a value for `Order.fresh` that no order had before."""
    return str(time.time_ns())


def previous_run(store: Store, run: Run) -> Run | None:
    """Return the run that this one repeats: the last one before it of the same order, with any model digest.

    The two share at least one site.
    """
    order, starts = repeated_order(run), {site.start for site in store.sites(run.id)}
    same = [other for other in store.runs() if other.id < run.id and repeated_order(other) == order]
    newest_first = sorted(same, key=lambda other: -other.id)
    shared = (other for other in newest_first if any(site.start in starts for site in store.sites(other.id)))
    return next(shared, None)


def repeated_order(run: Run) -> Order:
    """Return the order of a run without nonce and model digest: runs of equal orders repeat one another."""
    return replace(Order.from_identity(run.identity), fresh="", model_digest="")


def worker_name(number: int) -> str:
    return f"{socket.gethostname()}:{os.getpid()}:{number}"


def is_alive(worker: str) -> bool:
    """Return True if the process behind a worker's name may still run.

    Workers of other machines always count as alive: their leases expire. Our own name was left by an earlier process
    with our id, as happens in containers, because we ask before we lease anything.
    """
    host, pid, _ = worker.rsplit(":", 2)
    return host != socket.gethostname() or (int(pid) != os.getpid() and process_runs(int(pid)))


def lost_segments(workspace: Workspace, run: Run) -> set[str]:
    """Return the archive files of a run that are neither at the archive's location nor on this machine.

    A machine that was lost had not uploaded them, or one that is there has not done so yet. Raises ArchiveUnavailable.
    """
    from wayhound.store.upkeep import archive_files  # noqa: PLC0415

    if workspace.location is None:
        return set()
    there = {name.rpartition("/")[2] for name in workspace.location.sizes("archive")}
    here = {path.name for path in workspace.archive_folder.glob("*.warc.gz")}
    return archive_files(workspace.database, run.id) - there - here


def refetch_lost(workspace: Workspace, run: Run) -> int:
    """Reopen the sites of a run with pages in archive files that are lost, and return their number."""
    from wayhound.store.upkeep import reopen_sites_in  # noqa: PLC0415

    lost = lost_segments(workspace, run)
    return reopen_sites_in(workspace.database, run.id, lost) if lost else 0


async def run_worker(
    workspace: Workspace,
    run: Run,
    config: Config,
    *,
    number: int = 0,
    on_start: Callable[[Crawl], None],
    on_visit: Callable[[Visit], None] = lambda _: None,
    on_goal: Callable[[Visit], None] = lambda _: None,
) -> None:
    """Forage as one worker of a run. `on_start` receives the crawl, so that it can be stopped.

    `on_goal` is called for every page in a tier: as it is fetched, or when its site ends, if the strategy recognises
    goals by all pages of a site.
    """
    order = Order.from_identity(run.identity)
    workspace.database.check_clock(time.time())
    with workspace.archive_writer(f"w{number}") as writer:
        writer.upload_leftovers()
        plan = _plan(workspace, run, order)
        async with AsyncExitStack() as stack:
            fetcher = await stack.enter_async_context(make_fetcher(config, file_kinds(plan.new_scorer())))
            renderer = make_renderer(config, fetcher)
            if renderer is not None:
                await stack.enter_async_context(renderer)
            store, reader = workspace.stores.forage, workspace.archive
            calls = store.calls(min(GATHER_SECONDS, config.fetch.delay_seconds / 2))
            pages = PageSource(
                fetcher,
                writer,
                reader,
                Revalidator(fetcher, reader, calls.last_page),
                renderer,
                request_headers=fetcher.request_headers,
                product=config.agent.name,
                upload_seconds=UPLOAD_PATIENCE_SECONDS if workspace.location else 0.0,
            )
            plan = replace(
                plan,
                politeness=Politeness(config.fetch.delay_seconds),
                sitemaps=fetcher.sitemaps,
                on_visit=on_visit,
                on_goal=on_goal,
            )
            if renderer is not None:
                mode = cast("RenderMode", config.fetch.render)
                plan = replace(plan, render_memory=_render_memories(workspace, run, order, mode))
            crawl = Crawl(
                store, run, worker_name(number), pages, plan, config.forage.lease_seconds, calls=calls
            )
            on_start(crawl)
            with _blamed_plugin(order.strategy):
                await crawl.work(config.forage.sites_at_once)
    _save_goals(workspace, run)


def _plan(workspace: Workspace, run: Run, order: Order) -> ForagePlan:
    """Return what an order says about the forage of every site."""
    notes = SiteNotebook(workspace.stores.site_notes, run, order.purpose)
    return ForagePlan(
        order.scorers(workspace),
        _limits(order, run.limits),
        new_facts=_facts(workspace, order.facts) if order.facts else None,
        facts_are_goals=order.wants_facts_alone,
        demand=_demand(workspace, order),
        notes=None if order.look_around else notes,
        answered_scorer=AnsweredScorers(workspace, order, run).scorer if order.model else None,
        reports_goals=not order.look_around,
    )


def _render_memories(
    workspace: Workspace, run: Run, order: Order, mode: RenderMode
) -> Callable[[Site], RenderMemory]:
    """Return what makes the memory of a site: what lessons and the run that this one repeats tell of browsers."""
    store = workspace.stores.forage
    before = previous_run(store, run)
    taught = workspace.stores.site_notes.pages_by_script() if order.model else ()

    def memory(site: Site) -> RenderMemory:
        earlier = store.visits_of(before.id, site.start) if before else ()
        return RenderMemory.of_site(mode, site.start, taught, earlier)

    return memory


def _facts(workspace: Workspace, wanted: str) -> Callable[[], SiteFacts]:
    from wayhound.app.facts import FactSearch, parse_wanted  # noqa: PLC0415 - most forages extract nothing

    parsed = parse_wanted(workspace, wanted)
    return lambda: FactSearch(parsed)


def _demand(workspace: Workspace, order: Order) -> Demand | None:
    if not order.workload:
        return None
    from wayhound.app.fact_agenda import SiteDemand, parse_workload  # noqa: PLC0415 - most forages have none

    return SiteDemand.of(workspace, parse_workload(workspace, order.workload, order.facts), order.facts)


def _blamed_plugin(strategy: str) -> AbstractContextManager[None]:
    """Name the plugin in errors that its scorer raises."""
    plugin = None if strategy in SCORERS else find_plugins(PLUGIN_SCORERS).get(strategy)
    return plugin.blamed("failed") if plugin else nullcontext()


def _save_goals(workspace: Workspace, run: Run) -> None:
    """Make the goals of a run records, when the last of its workers has ended."""
    from wayhound.app.goal_records import sync_goals  # noqa: PLC0415 - it reads orders, which are defined here

    if not workspace.stores.forage.progress(run.id).leased:
        with suppress(WorkspaceLocked):  # the next update of the index does it
            sync_goals(workspace)


def _limits(order: Order, limits: RunLimits) -> ForageLimits:
    return ForageLimits(
        budget=limits.budget_per_site,
        max_depth=limits.max_depth,
        goals_wanted=order.goals_wanted,
        best_goal_only=order.best_goal_only,
        min_score=order.min_score,
        min_goals_left=limits.min_goals_left or 0.0,
        take_files=order.take_files,
    )


def make_fetcher(config: Config, files: Sequence[str] = ()) -> HttpFetcher:
    """Return the fetcher that the settings describe; it also accepts these kinds of files, and larger ones."""
    from wayhound.net.http import ACCEPTED_TYPES, Agent, HttpFetcher, Timeouts  # noqa: PLC0415 - it loads aiohttp

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


def renders_pages(config: Config) -> bool:
    """Return True if the settings want pages rendered, and a browser is installed."""
    from wayhound.net.rendering import can_render  # noqa: PLC0415 - most sites need none

    return config.fetch.render != "never" and can_render()


def make_renderer(config: Config, fetcher: HttpFetcher) -> BrowserFetcher | None:
    """Return what renders pages by the settings; None if they want none, or no browser is installed.

    Raises UsageError if pages must be rendered and no browser is installed.
    """
    if config.fetch.render == "never":
        return None
    from wayhound.net.http import Agent  # noqa: PLC0415 - it loads aiohttp
    from wayhound.net.rendering import BrowserFetcher  # noqa: PLC0415 - most sites need none

    if not renders_pages(config):
        if config.fetch.render == "always":
            find_browser()
            raise MissingExtra("Showing pages to a browser", "Playwright", "teach")
        return None
    return BrowserFetcher(
        fetcher, fetcher, user_agent=Agent(config.agent.name, contact=config.agent.contact).header
    )


def _example(path: Path) -> Page:
    try:
        page = read_page(path.absolute().as_uri(), path.read_bytes(), "text/html")
    except OSError as error:
        raise UsageError(f"The example page {path} cannot be read: {error.strerror}.") from None
    if not isinstance(page, Page):
        raise UsageError(f"The example page {path} is not a page that can be read ({page.reason}).")
    return page
