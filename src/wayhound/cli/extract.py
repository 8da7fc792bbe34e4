"""`wayhound extract`: facts of archived pages as a table."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

import click
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from wayhound.app.fact_tables import FACT_FORMATS, fact_rows, wide_rows, write_facts, write_wide
from wayhound.app.facts import CONTACT, Wanted, extract_facts, parse_wanted
from wayhound.app.site_list import read_table
from wayhound.cli.console import command_for, err
from wayhound.cli.language import Command, out_option, run_option, workspace_option
from wayhound.errors import UsageError
from wayhound.wording.facts import format_extracted, format_row, format_wide_row
from wayhound.workspace import Workspace

ENDINGS = {f".{name}": name for name in FACT_FORMATS} | {".ndjson": "jsonl", ".json": "geojson"}
BINARY = ("xlsx",)


@click.command(cls=Command)
@click.argument("facts", metavar="[FACTS]", default=CONTACT)
@workspace_option
@run_option
@click.option("--wide", "table", metavar="FILE", type=click.Path(path_type=Path, dir_okay=False),
              help="Write the rows of this table of sites, with the facts beside its columns.")  # fmt: skip
@out_option
@click.option("--format", "file_format", type=click.Choice(FACT_FORMATS),
              help="The file format.  [default: by the file's ending, else csv]")  # fmt: skip
def extract(
    facts: str,
    folder: Path,
    run_id: int | None,
    table: Path | None,
    path: Path | None,
    file_format: str | None,
) -> None:
    """Read FACTS from the pages that forages archived, and write them as a table.

    FACTS are `contact` (e-mail, phone and address), or a kind such as restaurant, or some of its fields:
    restaurant:name,phone. Pages that were read before are not read again. The facts also become records of the portal.

    \b
    wayhound extract                                      a row for each organisation
    wayhound extract --wide firms.csv --out facts.xlsx    your own table, with facts beside it
    wayhound extract restaurant --out places.geojson
    """
    chosen = file_format or format_by_ending(path)
    if path is None and chosen in BINARY and sys.stdout.isatty():
        raise UsageError(f"{chosen} is a binary format: name a file with --out.")
    with Workspace.open(folder) as workspace:
        if run_id is not None:
            workspace.stores.forage.run(run_id)  # raises if there is none
        wanted = parse_wanted(workspace, facts)
        run_extraction(workspace, wanted, run_id)
        rows = write_table(workspace, wanted, table, path, chosen, run_id)
        hint = "" if rows else f". To see what there is: {command_for(folder, 'status')}"
    err.print(
        f"{rows:,} row{'' if rows == 1 else 's'}" + (f" in {path}" if path else "") + hint, markup=False
    )


def run_extraction(workspace: Workspace, wanted: Wanted, run_id: int | None) -> None:
    """Extract with a progress bar; Ctrl-C stops after the site at hand, and what is done is kept."""
    bar = Progress(
        TextColumn("Reading facts"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn(), console=err
    )
    with bar, _interrupt() as interrupted:
        task = bar.add_task("", total=None)
        done = extract_facts(
            workspace,
            wanted,
            run_id=run_id,
            on_progress=lambda at, of: bar.update(task, completed=at, total=of),
            stop=lambda: bool(interrupted),
        )
    err.print(format_extracted(done, wanted), markup=False)


def write_table(
    workspace: Workspace,
    wanted: Wanted,
    table: Path | None,
    path: Path | None,
    file_format: str,
    run_id: int | None,
) -> int:
    """Write the facts, beside the columns of a table if there is one, and return the number of rows."""
    target = path or sys.stdout.buffer
    rows = fact_rows(workspace, wanted, run_id)
    if table is None:
        return write_facts(rows, wanted, file_format, target, lambda row: format_row(row, wanted.fields))
    own = read_table(table)
    outcomes = workspace.stores.facts.outcomes(run_id)
    return write_wide(
        own, wide_rows(own, rows), wanted, file_format, target,
        lambda row: format_wide_row(row, wanted.fields, outcomes),
    )  # fmt: skip


def format_by_ending(path: Path | None) -> str:
    """Return the format for the file's ending. Raises UsageError for an ending that is not written."""
    ending = path.suffix.lower() if path else ""
    if ending and ending not in ENDINGS:
        raise UsageError(
            f"{path} ends in {ending}, which cannot be written. Choose one of {', '.join(ENDINGS)}."
        )
    return ENDINGS.get(ending, "csv")


@contextmanager
def _interrupt() -> Iterator[list[int]]:
    """Collect interrupts instead of raising them."""
    received: list[int] = []

    def note(number: int, _: FrameType | None) -> None:
        received.append(number)

    before = signal.signal(signal.SIGINT, note)
    try:
        yield received
    finally:
        signal.signal(signal.SIGINT, before)
