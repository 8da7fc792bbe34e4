"""One worker of a forage: the crawl that an order and the settings describe, with its fetcher and its browser."""

from __future__ import annotations

import asyncio
import os
import socket
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, AsyncExitStack, nullcontext, suppress
from dataclasses import replace
from typing import TYPE_CHECKING, cast

from wayhound.app.crawl import Crawl
from wayhound.app.order import Order, previous_run, scorer_factory
from wayhound.app.page_source import PageSource
from wayhound.app.site_forage import Demand, ForagePlan, SiteFacts, SiteNotebook
from wayhound.archive.reader import Revalidator
from wayhound.config import Config
from wayhound.errors import MissingExtra, WorkspaceLocked
from wayhound.forage.forager import ForageLimits
from wayhound.forage.politeness import Politeness
from wayhound.forage.rendering import RenderMemory, RenderMode
from wayhound.forage.scorer import Scorer, file_kinds
from wayhound.forage.scorers import SCORERS
from wayhound.media import accepted_types
from wayhound.net.browser import find_browser
from wayhound.plugins import SCORERS as PLUGIN_SCORERS
from wayhound.plugins import find_plugins
from wayhound.processes import process_runs
from wayhound.site import Site
from wayhound.store.protocol import Run, RunLimits
from wayhound.visit import Visit
from wayhound.workspace import Workspace

if TYPE_CHECKING:
    from wayhound.net.http import HttpFetcher
    from wayhound.net.rendering import BrowserFetcher
    from wayhound.paths.spiders import TrainedModel

GATHER_SECONDS = 0.05
"""Visits wait so long, and no longer than half the delay between requests, to be saved on a server with others: the
next request to their site has to wait for longer than that anyway."""

UPLOAD_PATIENCE_SECONDS = 60.0
"""A site that is taken over waits so long for segments that its last machine has not uploaded. It uploads every 30
seconds; of a machine that was started again, the next process does."""

MAX_FILE_BYTES = 30_000_000
"""Size limit of documents that may be goals; pages have a smaller one (`fetch.max_body_bytes`)."""


def worker_name(number: int) -> str:
    return f"{socket.gethostname()}:{os.getpid()}:{number}"


def is_alive(worker: str) -> bool:
    """Return True if the process behind a worker's name may still run.

    Workers of other machines always count as alive: their leases expire. Our own name was left by an earlier process
    with our id, as happens in containers, because we ask before we lease anything.
    """
    host, pid, _ = worker.rsplit(":", 2)
    return host != socket.gethostname() or (int(pid) != os.getpid() and process_runs(int(pid)))


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
        new_facts=fact_search(workspace, order.facts) if order.facts else None,
        facts_are_goals=order.wants_facts_alone,
        demand=site_demand(workspace, order),
        notes=None if order.look_around else notes,
        answered_scorer=AnsweredScorers(workspace, order, run).scorer if order.model else None,
        reports_goals=not order.look_around,
    )


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
        from wayhound.app.train.models import answered_model  # noqa: PLC0415 - loads numpy and scipy

        async with self._training:
            if self._last is None or self._last[0] != last_answer:
                model = await answered_model(self._workspace, self._name, self._run.id, last_answer)
                self._last = last_answer, model
            return self._make(replace(self._input, model=self._last[1]))


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


def fact_search(workspace: Workspace, wanted: str) -> Callable[[], SiteFacts]:
    from wayhound.app.facts.search import FactSearch, parse_wanted  # noqa: PLC0415 - most forages extract nothing

    parsed = parse_wanted(workspace, wanted)
    return lambda: FactSearch(parsed)


def site_demand(workspace: Workspace, order: Order) -> Demand | None:
    if not order.workload:
        return None
    from wayhound.app.facts.agenda import SiteDemand, parse_workload  # noqa: PLC0415 - most forages have none

    return SiteDemand.of(workspace, parse_workload(workspace, order.workload, order.facts), order.facts)


def _blamed_plugin(strategy: str) -> AbstractContextManager[None]:
    """Name the plugin in errors that its scorer raises."""
    plugin = None if strategy in SCORERS else find_plugins(PLUGIN_SCORERS).get(strategy)
    return plugin.blamed("failed") if plugin else nullcontext()


def _save_goals(workspace: Workspace, run: Run) -> None:
    """Make the goals of a run records, when the last of its workers has ended."""
    from wayhound.app.goal_records import sync_goals  # noqa: PLC0415 - only the last worker needs it

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
