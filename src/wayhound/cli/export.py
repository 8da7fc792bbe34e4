"""`wayhound export`: what was found, for other programs."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from wayhound.cli.console import command_for, err
from wayhound.cli.language import workspace_option
from wayhound.errors import UsageError
from wayhound.store.export import FORMATS, TABLES
from wayhound.store.export import export as write
from wayhound.workspace import Workspace

ENDINGS = {".jsonl": "jsonl", ".ndjson": "jsonl", ".csv": "csv", ".parquet": "parquet"}


@click.command()
@click.argument("table", metavar="WHAT", type=click.Choice(list(TABLES)))
@workspace_option
@click.option(
    "--out", "path", type=click.Path(path_type=Path, dir_okay=False), help="A file.  [default: stdout]"
)
@click.option("--format", "file_format", type=click.Choice(list(FORMATS)),
              help="[default: by the file's ending, else jsonl]")  # fmt: skip
@click.option("--run", "run_id", type=int, help="Of one run only; `wayhound status` numbers them.")
def export(table: str, folder: Path, path: Path | None, file_format: str | None, run_id: int | None) -> None:
    """Write what was found as JSON lines, CSV (for spreadsheets) or Parquet, also while a forage runs.

    \b
    WHAT is one of
      goals    the pages that were looked for, with the clicks that lead there
      pages    every page that was read
      sites    every start page: pages, goals, why it stopped
      visits   every request, also those that failed
      records  papers and other records
    """
    chosen = file_format or by_ending(path)
    if path is None and chosen == "parquet" and sys.stdout.isatty():
        raise UsageError("Parquet is not for reading on a screen: name a file with --out.")
    with Workspace.open(folder) as workspace:
        if run_id is not None:
            workspace.stores.forage.run(run_id)  # complains if there is none
        target = path or sys.stdout.buffer
        rows = write(workspace.database, table, chosen, target, run_id=run_id)
    hint = "" if rows else f". What is there: {command_for(folder, 'status')}"
    err.print(
        f"{rows:,} {table if rows != 1 else table[:-1]}" + (f" in {path}" if path else "") + hint,
        markup=False,
    )


def by_ending(path: Path | None) -> str:
    """The format that a file's name promises; another program would trip over anything else."""
    ending = path.suffix.lower() if path else ""
    if ending and ending not in ENDINGS:
        raise UsageError(
            f"{path} ends in {ending}, which is not written here. Name a file that ends in .csv (for spreadsheets), "
            ".jsonl or .parquet, or say which with --format."
        )
    return ENDINGS.get(ending, "jsonl")
