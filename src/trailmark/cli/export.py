"""`trailmark export`: what was found, for other programs."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from trailmark.cli.console import err, workspace_option
from trailmark.errors import UsageError
from trailmark.store.export import FORMATS, TABLES
from trailmark.store.export import export as write
from trailmark.workspace import Workspace

ENDINGS = {".jsonl": "jsonl", ".ndjson": "jsonl", ".csv": "csv", ".parquet": "parquet"}


@click.command()
@click.argument("table", type=click.Choice(list(TABLES)))
@workspace_option
@click.option(
    "--out", "path", type=click.Path(path_type=Path, dir_okay=False), help="A file.  [default: stdout]"
)
@click.option("--format", "file_format", type=click.Choice(list(FORMATS)),
              help="[default: by the file's ending, else jsonl]")  # fmt: skip
@click.option("--run", "run_id", type=int, help="Of one run only; `trailmark status` numbers them.")
def export(table: str, folder: Path, path: Path | None, file_format: str | None, run_id: int | None) -> None:
    """Write TABLE as JSON lines, CSV or Parquet, a row at a time, also while a forage runs."""
    chosen = file_format or ENDINGS.get(path.suffix.lower() if path else "", "jsonl")
    if path is None and chosen == "parquet" and sys.stdout.isatty():
        raise UsageError("Parquet is not for reading on a screen: name a file with --out.")
    with Workspace.open(folder) as workspace:
        target = path or sys.stdout.buffer
        rows = write(workspace.database, table, chosen, target, run_id=run_id)
    err.print(f"{rows} {table}" + (f" in {path}" if path else ""))
