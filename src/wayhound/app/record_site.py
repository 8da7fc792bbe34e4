"""Record whole sites as site folders, to be replayed, labelled or passed on.

Until all sites are fetched, their pages are in a workspace inside the target folder, so that a recording that was
stopped can be resumed.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from wayhound.app.forage import open_run
from wayhound.app.order import Order
from wayhound.archive.site_folder import write_site_folder
from wayhound.config import Config
from wayhound.errors import UsageError
from wayhound.fetched import Fetched
from wayhound.site import Site
from wayhound.store.protocol import Run, RunLimits
from wayhound.url import host_of
from wayhound.workspace import Workspace

UNFINISHED = ".recording"

Forage = Callable[[Workspace, Run, Config], Awaitable[bool]]
"""Forages a run with the given settings; returns True if the user stopped it."""


@dataclass(frozen=True, slots=True)
class Recording:
    """The site folders that were written, with their numbers of pages, and the sites whose start page failed."""

    written: tuple[tuple[Path, int], ...]
    failed: tuple[tuple[str, str], ...]  # start page, why it failed
    is_stopped: bool = False


@dataclass(frozen=True, slots=True)
class FetchLimits:
    """Limits of a recording; None stands for the default of a workspace."""

    budget: int
    depth: int | None = None
    delay_seconds: float | None = None
    allow_private: bool = False

    def applied_to(self, config: Config) -> Config:
        fetch = replace(config.fetch, allow_private=self.allow_private)
        if self.delay_seconds is not None:
            fetch = replace(fetch, delay_seconds=self.delay_seconds)
        return replace(config, fetch=fetch)


async def record_sites(sites: Sequence[Site], target: Path, limits: FetchLimits, forage: Forage) -> Recording:
    """Fetch the sites breadth-first and write each to a folder of `target` that is named after its host.

    The same call resumes a recording that was stopped, and tries sites again that failed. Raises UsageError if a
    folder exists already.
    """
    folders = _folders(sites, target)
    unfinished = target / UNFINISHED
    with Workspace.open(unfinished) if unfinished.exists() else Workspace.create(unfinished) as workspace:
        run = open_run(workspace, Order(), RunLimits(limits.budget, None, limits.depth), sites, time.time())
        if await forage(workspace, run, limits.applied_to(workspace.config)):
            return Recording((), (), is_stopped=True)
        failed = {
            site.start: site.reason
            for site in workspace.stores.forage.sites(run.id)
            if site.reason.startswith("start page failed")
        }
        written = tuple(
            (folders[site.start], _write(workspace, run, site, folders[site.start]))
            for site in sites
            if site.start not in failed
        )
    shutil.rmtree(unfinished)
    return Recording(written, tuple(failed.items()))


def _folders(sites: Sequence[Site], target: Path) -> dict[str, Path]:
    names = [host_of(site.start).replace(":", "_") for site in sites]
    folders = {
        site.start: target / (name if names.count(name) == 1 else f"{name}-{number}")
        for number, (site, name) in enumerate(zip(sites, names, strict=True), start=1)
    }
    if taken := [folder for folder in folders.values() if folder.exists()]:
        raise UsageError(f"{taken[0]} exists already. Remove it, or record into another folder.")
    return folders


def _write(workspace: Workspace, run: Run, site: Site, folder: Path) -> int:
    provenance = {"source": site.start, "labels_by": "nobody yet"}
    written = write_site_folder(folder, site.start, _responses(workspace, run, site), {}, provenance)
    return len(written.pages)


def _responses(workspace: Workspace, run: Run, site: Site) -> Iterator[tuple[Fetched, float]]:
    for visit in workspace.stores.forage.visits_of(run.id, site.start):
        if visit.archived is not None:
            yield workspace.archive.read(visit.archived), visit.at
