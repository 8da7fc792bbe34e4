"""A forage that was ordered in the studio."""

from __future__ import annotations

import asyncio
import signal
import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from wayhound.app.crawl import Crawl
from wayhound.app.forage import run_worker
from wayhound.app.train import OnProgress
from wayhound.config import Config
from wayhound.wording.quantities import count
from wayhound.wording.runs import format_progress
from wayhound.workspace import Workspace

TELL_SECONDS = 0.2  # to know how far a run is, the database is asked; to say it, written to


def forage(workspace: Workspace, given: Mapping[str, Any], on_progress: OnProgress) -> str:
    """Forage the sites of a run until they are done or somebody stops it; the run is kept either way."""
    run = workspace.stores.forage.run(given["run"])
    told_at = float("-inf")

    def told(*_: object) -> None:
        nonlocal told_at
        if time.monotonic() - told_at < TELL_SECONDS:
            return
        told_at = time.monotonic()
        progress = workspace.stores.forage.progress(run.id)
        on_progress(format_progress(run.id, progress), progress.done, progress.sites)

    told()
    asyncio.run(
        run_worker(workspace, run, _config(workspace.config, given), on_start=_stop_on_signal, on_visit=told)
    )
    progress = workspace.stores.forage.progress(run.id)
    return f"{format_progress(run.id, progress)} of {count(progress.sites, 'site')}."


def first_words(run_id: int) -> str:
    """Return what a job says of its run before the first page."""
    return f"Run {run_id}: it begins."


def _config(config: Config, given: Mapping[str, Any]) -> Config:
    delay = given["delay"]
    return config if delay is None else replace(config, fetch=replace(config.fetch, delay_seconds=delay))


def _stop_on_signal(crawl: Crawl) -> None:
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, crawl.stop)
