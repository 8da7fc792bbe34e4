"""The use case of foraging: a run is opened or resumed with its limits and settings, on the sites of an order."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from typing import Any, TypeVar

from wayhound.app.forage_worker import fact_search, is_alive, renders_pages, site_demand
from wayhound.app.order import Order, has_sites, is_order_of, new_nonce, resolve_model, runs_of
from wayhound.app.site_list import with_hosts
from wayhound.archive.writer import repair
from wayhound.config import AgentConfig, Config, FetchConfig
from wayhound.errors import NotInWorkspace, UsageError
from wayhound.site import Site
from wayhound.store.protocol import Run, RunLimits, Store
from wayhound.workspace import Workspace

Section = TypeVar("Section", AgentConfig, FetchConfig)


def has_probabilities(workspace: Workspace, run: Run) -> bool:
    """Return True if a model or keywords recognised the goals of a run; else a pattern decided, and none is likely."""
    return bool(Order.from_identity(run.identity).model) or workspace.stores.goals.are_recognised(run.id)


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
        fact_search(workspace, order.facts)  # raises for an unknown kind
    sites, store = list(sites), workspace.stores.forage
    if (demand := site_demand(workspace, order)) is not None:
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
        raise NotInWorkspace(f"Run {run_id} has no site {start}.")
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
    if not is_order_of(order, run):
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
