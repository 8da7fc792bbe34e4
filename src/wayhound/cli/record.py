"""`wayhound record` and `wayhound replay`: whole sites as site folders, and what those contain."""

from __future__ import annotations

import asyncio
import shlex
import sys
from dataclasses import asdict
from pathlib import Path

import click
from rich.table import Table

from wayhound.app.record_site import FetchLimits, record_sites
from wayhound.archive.replay import ReplayFetcher, serve_replay
from wayhound.archive.site_folder import ArchiveSummary, find_site_folders, summarise
from wayhound.cli.console import (
    err,
    out,
    plain_table,
    program_name,
    until_interrupted,
    write_json,
    write_line,
)
from wayhound.cli.forage import requested_sites
from wayhound.cli.forage_display import forage_with_display
from wayhound.cli.language import Command, budget_option, fetch_options, json_option, port_option
from wayhound.config import Config
from wayhound.errors import UsageError, WayhoundError
from wayhound.store.protocol import Run
from wayhound.url import host_of
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


@click.command(cls=Command)
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path, exists=True))
@click.option("--urls", is_flag=True, help="List every URL.")
@click.option("--page", "url", metavar="URL", help="Print the stored body of one URL.")
@click.option("--serve", is_flag=True, help="Serve the sites on loopback until Ctrl-C.")
@port_option(8765)
@json_option
def replay(
    paths: tuple[Path, ...], urls: bool, url: str | None, serve: bool, port: int, as_json: bool
) -> None:
    """List what PATHS contain: site folders, folders of them, or WARC files. With --serve, show them to a browser."""
    places = [place for path in paths for place in _places(path)]
    if serve:
        _serve(places, port)
    elif url:
        _print_page(places, url)
    elif urls:
        for place in places:
            for stored in ReplayFetcher(place).urls():
                write_line(stored)
    else:
        summaries = [summarise(place) for place in places]
        if as_json:
            write_json([asdict(summary) for summary in summaries], indent=1)
        else:
            out.print(_table(summaries))


def _serve(places: list[Path], port: int) -> None:
    try:
        with serve_replay(places, port) as server:
            err.print(
                f"{count(len(server.fetcher), 'URL')} served until you press Ctrl-C. What was not recorded is 404."
            )
            for start in start_urls(server.fetcher):
                write_line(server.address(start))
            until_interrupted()
    except OSError as error:
        raise UsageError(
            f"Port {port} cannot be used: {error.strerror}. Choose another with --port."
        ) from None


def start_urls(fetcher: ReplayFetcher) -> list[str]:
    """Return the first recorded URL of each host."""
    first: dict[str, str] = {}
    for url in fetcher.urls():
        first.setdefault(host_of(url), url)
    return list(first.values())


def _places(path: Path) -> list[Path]:
    if path.is_dir():
        return find_site_folders(path) or [path]
    return [path]


def _print_page(places: list[Path], url: str) -> None:
    for place in places:
        fetcher = ReplayFetcher(place)
        if url in fetcher:
            sys.stdout.buffer.write(getattr(fetcher.get(url), "body", b""))
            return
    raise UsageError(f"{url} is not in {', '.join(map(str, places))}.")


def _table(summaries: list[ArchiveSummary]) -> Table:
    numbers = ("pages", "redirects", "MB")
    table = plain_table("folder or file", *numbers, "labels", right=numbers)
    for summary in summaries:
        labels = ", ".join(f"{label} {count}" for label, count in summary.labels.items())
        size = f"{summary.packed_bytes / 1e6:.1f}"
        table.add_row(summary.path.name, str(summary.pages), str(summary.redirects), size, labels or "none")
    return table
