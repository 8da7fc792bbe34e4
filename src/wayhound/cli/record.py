"""`wayhound record`: whole sites as site folders."""

from __future__ import annotations

import asyncio
import shlex
from pathlib import Path

import click

from wayhound.app.record_site import FetchLimits, record_sites
from wayhound.cli.console import err, program_name
from wayhound.cli.forage import requested_sites
from wayhound.cli.forage_display import forage_with_display
from wayhound.cli.language import Command, budget_option, fetch_options
from wayhound.config import Config
from wayhound.errors import WayhoundError
from wayhound.store.protocol import Run
from wayhound.wording.faults import format_ending
from wayhound.wording.quantities import count
from wayhound.workspace import Workspace


@click.command(cls=Command)
@click.argument("sites", nargs=-1, required=True)
@click.option("--out", "target", required=True, metavar="PATH", type=click.Path(path_type=Path, file_okay=False),
              help="Write the site folders into this folder, each named after its host.")  # fmt: skip
@budget_option(1000)
@fetch_options
def record(
    sites: tuple[str, ...],
    target: Path,
    budget: int,
    depth: int | None,
    delay: float | None,
    allow_private: bool,
) -> None:
    """Record SITES (web addresses, or files of them) breadth-first as site folders.

    The same command resumes a recording that was stopped.
    """
    requested = requested_sites(sites)
    limits = FetchLimits(budget, depth, delay, allow_private)
    recording = asyncio.run(record_sites(requested, target, limits, _forage))
    if recording.is_stopped:
        err.print("Stopped. The same command resumes it.")
        raise SystemExit(130)
    for start, reason in recording.failed:
        err.print(f"{start} {format_ending(reason, 'command line')}", markup=False)
    for folder, pages in recording.written:
        err.print(f"{folder}: {count(pages, 'page')}", markup=False)
    if recording.failed:
        raise WayhoundError(
            f"{count(len(recording.failed), 'site')} of {len(requested)} could not be recorded."
        )
    err.print(f"To see what they contain: {program_name()} replay {shlex.quote(str(target))}", markup=False)


async def _forage(workspace: Workspace, run: Run, config: Config) -> bool:
    return await forage_with_display(workspace, run, config, 1, lambda _: None)
