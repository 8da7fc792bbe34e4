"""`wayhound replay`: what a recorded site or a WARC file holds."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path

import click
from rich.table import Table

from wayhound.archive.replay import ReplayFetcher
from wayhound.archive.site_folder import Summary, describe, find_site_folders
from wayhound.cli.console import out
from wayhound.errors import UsageError


@click.command()
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path, exists=True))
@click.option("--urls", is_flag=True, help="List every URL that is held.")
@click.option("--page", "url", help="Print the stored body of one URL.")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
def replay(paths: tuple[Path, ...], urls: bool, url: str | None, as_json: bool) -> None:
    """List what PATHS hold: site folders, folders of them, or WARC files."""
    places = [place for path in paths for place in _places(path)]
    if url:
        _print_page(places, url)
    elif urls:
        for place in places:
            for each in ReplayFetcher(place).urls():
                click.echo(each)
    else:
        summaries = [describe(place) for place in places]
        if as_json:
            click.echo(json.dumps([asdict(summary) for summary in summaries], indent=1, default=str))
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
            found = fetcher.get(url)
            sys.stdout.buffer.write(getattr(found, "body", b""))
            return
    raise UsageError(f"{url} is not held by {', '.join(map(str, places))}.")


def _table(summaries: list[Summary]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("folder or file", "pages", "redirects", "MB", "labels"):
        table.add_column(name, justify="right" if name in ("pages", "redirects", "MB") else "left")
    for each in summaries:
        labels = ", ".join(f"{label} {count}" for label, count in each.labels.items())
        size = f"{each.packed_bytes / 1e6:.1f}"
        table.add_row(each.path.name, str(each.pages), str(each.redirects), size, labels or "none")
    return table
