"""`wayhound export`: tables for spreadsheets and other programs."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from wayhound.cli.console import command_for, err
from wayhound.cli.language import Command, out_option, run_option, workspace_option
from wayhound.errors import UsageError
from wayhound.store.export import FORMATS, TABLES
from wayhound.store.export import export as write
from wayhound.workspace import Workspace

ENDINGS = {".jsonl": "jsonl", ".ndjson": "jsonl", ".csv": "csv", ".parquet": "parquet", ".xlsx": "xlsx"}


@click.command(cls=Command)
@click.argument("table", metavar="TABLE", type=click.Choice(list(TABLES)))
@workspace_option
@out_option
@click.option("--format", "file_format", type=click.Choice(list(FORMATS)),
              help="The file format.  [default: by the file's ending, else jsonl]")  # fmt: skip
@run_option
def export(table: str, folder: Path, path: Path | None, file_format: str | None, run_id: int | None) -> None:
    """Write a TABLE as JSON lines, CSV (for spreadsheets) or Parquet, also while a forage runs.

    \b
    goals    the pages that you look for, with the clicks that lead there
    pages    every page that was read
    sites    every start page: pages, goals, why it stopped
    visits   every request, also those that failed
    records  goals, papers and other records
    """
    chosen = file_format or by_ending(path)
    if path is None and chosen in ("parquet", "xlsx") and sys.stdout.isatty():
        raise UsageError(f"{chosen} is a binary format: name a file with --out.")
    with Workspace.open(folder) as workspace:
        if run_id is not None:
            workspace.stores.forage.run(run_id)  # raises if there is none
        target = path or sys.stdout.buffer
        rows = write(workspace.database, table, chosen, target, run_id=run_id)
    hint = "" if rows else f". To see what there is: {command_for(folder, 'status')}"
    err.print(
        f"{rows:,} {table if rows != 1 else table[:-1]}" + (f" in {path}" if path else "") + hint,
        markup=False,
    )


def by_ending(path: Path | None) -> str:
    """Return the format for the file's ending. Raises UsageError for an ending that is not written."""
    ending = path.suffix.lower() if path else ""
    if ending and ending not in ENDINGS:
        raise UsageError(
            f"{path} ends in {ending}, which cannot be written. Name a file that ends in .csv (for spreadsheets), "
            ".jsonl or .parquet, or choose a --format."
        )
    return ENDINGS.get(ending, "jsonl")
