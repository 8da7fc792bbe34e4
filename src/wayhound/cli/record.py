"""`wayhound record`: keep whole sites as site folders, to be replayed, labelled or passed on."""

from __future__ import annotations

import asyncio
import shlex
import shutil
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import click

from wayhound.app.forage import Order, open_run
from wayhound.archive.site_folder import write_site_folder
from wayhound.cli.console import err, program_name
from wayhound.cli.forage import requested_sites
from wayhound.cli.forage_display import forage_with_display
from wayhound.errors import UsageError, WayhoundError
from wayhound.fetched import Fetched
from wayhound.site import Site
from wayhound.store.forage import Run, RunLimits, SiteSummary
from wayhound.url import host_of
from wayhound.wording.faults import format_ending
from wayhound.wording.quantities import count
from wayhound.workspace import Workspace

UNFINISHED = ".recording"  # a workspace inside the folder until all is fetched


@click.command()
@click.argument("urls", nargs=-1, required=True)
@click.option("--out", "out_folder", required=True, type=click.Path(path_type=Path, file_okay=False),
              help="Where the site folders go, each named after its host.")  # fmt: skip
@click.option("--budget", default=1000, type=click.IntRange(1), show_default=True, help="Pages a site.")
@click.option("--depth", type=click.IntRange(0), help="Clicks from the start page.")
@click.option("--delay", type=click.FloatRange(0), help="Seconds between two requests to a host.")
@click.option("--allow-private", is_flag=True, help="Also fetch from loopback and private addresses.")
def record(
    urls: tuple[str, ...],
    out_folder: Path,
    budget: int,
    depth: int | None,
    delay: float | None,
    allow_private: bool,
) -> None:
    """Record the sites at URLS (or in files of URLs), breadth-first, as site folders.

    The same command again goes on where it stopped.
    """
    sites = requested_sites(urls)
    folders = _folders(sites, out_folder)
    with _unfinished(out_folder) as workspace:
        fetch = replace(workspace.config.fetch, allow_private=allow_private)
        config = replace(
            workspace.config, fetch=fetch if delay is None else replace(fetch, delay_seconds=delay)
        )
        run = open_run(workspace, Order(), RunLimits(budget, None, depth), sites, time.time())
        if asyncio.run(forage_with_display(workspace, run, config, 1, lambda _: None)):
            err.print("The same command goes on from here.")
            raise SystemExit(130)
        failed = {each.start for each in workspace.stores.forage.sites(run.id) if _tell_if_failed(each)}
        for site in sites:
            if site.start not in failed:
                _write(workspace, run, site, folders[site.start])
    shutil.rmtree(out_folder / UNFINISHED)  # also of sites that failed, so that the same command tries anew
    if failed:
        raise WayhoundError(f"{count(len(failed), 'site')} of {len(sites)} could not be recorded.")
    err.print(f"What they hold: {program_name()} replay {shlex.quote(str(out_folder))}", markup=False)


def _tell_if_failed(site: SiteSummary) -> bool:
    if not site.reason.startswith("start page failed"):
        return False
    err.print(f"{site.start} {format_ending(site.reason, 'command line')}", markup=False)
    return True


def _folders(sites: list[Site], out_folder: Path) -> dict[str, Path]:
    """A folder for each site, named after its host."""
    names = [host_of(site.start).replace(":", "_") for site in sites]
    folders = {
        site.start: out_folder / (name if names.count(name) == 1 else f"{name}-{number}")
        for number, (site, name) in enumerate(zip(sites, names, strict=True), start=1)
    }
    if taken := [folder for folder in folders.values() if folder.exists()]:
        raise UsageError(f"{taken[0]} exists already; choose another --out or take it away.")
    return folders


def _unfinished(out_folder: Path) -> Workspace:
    folder = out_folder / UNFINISHED
    return Workspace.open(folder) if folder.exists() else Workspace.create(folder)


def _write(workspace: Workspace, run: Run, site: Site, folder: Path) -> None:
    written = write_site_folder(
        folder,
        site.start,
        _responses(workspace, run, site),
        {},
        {"source": site.start, "labels_by": "nobody yet"},
    )
    err.print(f"{folder}: {count(len(written.pages), 'page')}", markup=False)


def _responses(workspace: Workspace, run: Run, site: Site) -> Iterator[tuple[Fetched, float]]:
    reader = workspace.archive
    for visit in workspace.stores.forage.visits_of(run.id, site.start):
        if visit.archived is not None:
            yield reader.read(visit.archived), visit.at
