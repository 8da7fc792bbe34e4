"""A forage that was ordered in the studio."""

from __future__ import annotations

import asyncio
import re
import signal
import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from trailmark.config import Config
from trailmark.crawl import Crawl
from trailmark.foraging import Order, open_run, work
from trailmark.site import Site
from trailmark.store.runs import RunLimits
from trailmark.training import OnProgress
from trailmark.workspace import Workspace

TELL_SECONDS = 0.2  # to know how far a run is, the database is asked; to say it, written to


def forage(workspace: Workspace, given: Mapping[str, Any], on_progress: OnProgress) -> str:
    """Forage the sites until they are done or somebody stops it; the run is kept either way."""
    sites = [Site(start) for start in given["seeds"]]
    limits = RunLimits(budget_per_site=given["budget"])
    run = open_run(workspace, _order(workspace, given), limits, sites, time.time())

    told_at = float("-inf")

    def told(*_: object) -> None:
        nonlocal told_at
        if time.monotonic() - told_at < TELL_SECONDS:
            return
        told_at = time.monotonic()
        progress = workspace.forage_store.progress(run.id)
        on_progress(
            f"run {run.id}: {progress.goals} goals on {progress.visits} pages", progress.done, progress.sites
        )

    told()
    asyncio.run(
        work(workspace, run, _config(workspace.config, given), on_start=_stop_on_signal, on_visit=told)
    )
    progress = workspace.forage_store.progress(run.id)
    return f"Run {run.id}: {progress.goals} goals on {progress.visits} pages of {progress.sites} sites."


def _order(workspace: Workspace, given: Mapping[str, Any]) -> Order:
    fresh = str(time.time_ns()) if given["fresh"] else ""
    words = tuple(given["words"])
    if not given["model"]:
        goal = "|".join(map(re.escape, words))
        return Order(
            strategy="best-first" if words else "breadth-first", goal=goal, keywords=words, fresh=fresh
        )
    strategy = workspace.forage_models.card(given["model"]).strategy
    return Order(strategy=strategy, model=given["model"], min_score=given["min_score"], fresh=fresh)


def _config(config: Config, given: Mapping[str, Any]) -> Config:
    delay = given["delay"]
    return config if delay is None else replace(config, fetch=replace(config.fetch, delay_seconds=delay))


def _stop_on_signal(crawl: Crawl) -> None:
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, crawl.stop)
