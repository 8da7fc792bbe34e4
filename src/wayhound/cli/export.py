"""`wayhound export`: tables for spreadsheets and other programs."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from wayhound.app.site_list import read_table
from wayhound.cli.console import command_for, err
from wayhound.cli.language import Command, out_option, run_option, workspace_option
from wayhound.errors import UsageError
from wayhound.store.export import TABLES, export_wide
from wayhound.store.export import export as write
from wayhound.store.table_files import FORMATS
from wayhound.wording.quantities import count
from wayhound.workspace import Workspace

ENDINGS = {".jsonl": "jsonl", ".ndjson": "jsonl", ".csv": "csv", ".parquet": "parquet", ".xlsx": "xlsx"}


@click.command(cls=Command)
@click.argument("table", metavar="TABLE", type=click.Choice(list(TABLES)))
@workspace_option
@out_option
@click.option("--format", "file_format", type=click.Choice(list(FORMATS)),
              help="The file format.  [default: by the file's ending, else jsonl]")  # fmt: skip
@run_option
@click.option("--all-runs", is_flag=True, help="Export all runs.  [default: the last one]")
@click.option("--wide", metavar="[FILE]", is_flag=False, flag_value="", type=click.Path(dir_okay=False),
              help="With goals: write the rows of the table of sites that was foraged, or of this one, with the best "
                   "goal beside its columns, or the reason why there is none.")  # fmt: skip
@click.option("--kind", default="", metavar="KIND", help="With records: only this kind, such as paper.")
def export(
    table: str,
    folder: Path,
    path: Path | None,
    file_format: str | None,
    run_id: int | None,
    all_runs: bool,
    wide: str | None,
    kind: str,
) -> None:
    """Write a TABLE as JSON lines, CSV or XLSX (for spreadsheets) or Parquet, also while a forage runs.

    Tables of a forage have the last run, and each URL once.

    \b
    goals    the pages that you look for, with the clicks that lead there
    pages    every page that was read
    sites    every start page: pages, goals, why it stopped
    visits   every request, also those that failed
    records  goals, papers and other records, one a row
    values   every value of the records, with its source
    """
    chosen = file_format or by_ending(path)
    if all_runs and run_id is not None:
        raise UsageError("--run is for one run, and --all-runs for all of them: name one of the two options.")
    if wide is not None and (table != "goals" or all_runs):
        raise UsageError("--wide is for the goals of one run: wayhound export goals --wide --out goals.csv")
    if kind and table != "records":
        raise UsageError("--kind is for records: wayhound export records --kind paper --out papers.csv")
    if path is None and chosen in ("parquet", "xlsx") and sys.stdout.isatty():
        raise UsageError(f"{chosen} is a binary format: name a file with --out.")
    with Workspace.open(folder) as workspace:
        store = workspace.stores.forage
        if run_id is not None:
            store.run(run_id)  # raises if there is none
        elif not all_runs and (runs := store.runs()):
            run_id = runs[0].id
        target = path or sys.stdout.buffer
        if wide is not None and run_id is not None:
            own = read_table(Path(wide)) if wide else None
            given = (own.headings, own.rows) if own else ()
            rows = export_wide(workspace.database, chosen, target, run_id, *given)
        else:
            rows = write(workspace.database, table, chosen, target, run_id=run_id, kind=kind)
    what = table if wide is None else "rows"
    hint = "" if rows else f". To see what there is: {command_for(folder, 'status')}"
    err.print(
        count(rows, what[:-1]) + (f" in {path}" if path else "") + hint,
        markup=False,
    )


def by_ending(path: Path | None) -> str:
    """Return the format for the file's ending. Raises UsageError for an ending that is not written."""
    ending = path.suffix.lower() if path else ""
    if ending and ending not in ENDINGS:
        raise UsageError(
            f"{path} ends in {ending}, which cannot be written. Name a file that ends in .csv (for spreadsheets), "
            ".xlsx, .jsonl or .parquet, or choose a --format."
        )
    return ENDINGS.get(ending, "jsonl")
