"""`wayhound replay`: what recorded sites and WARC files contain."""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path

import click
from rich.table import Table

from wayhound.archive.replay import ReplayFetcher
from wayhound.archive.site_folder import ArchiveSummary, find_site_folders, summarise
from wayhound.cli.console import out, plain_table, write_json, write_line
from wayhound.cli.language import Command, json_option
from wayhound.errors import UsageError


@click.command(cls=Command)
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path, exists=True))
@click.option("--urls", is_flag=True, help="List every URL.")
@click.option("--page", "url", metavar="URL", help="Print the stored body of one URL.")
@json_option
def replay(paths: tuple[Path, ...], urls: bool, url: str | None, as_json: bool) -> None:
    """List what PATHS contain: site folders, folders of them, or WARC files."""
    places = [place for path in paths for place in _places(path)]
    if url:
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
