"""`wayhound extract`: facts of archived pages as a table."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import click
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from wayhound.app.facts.agenda import Plan, extract_by_worth, parse_workload, read_endorsed
from wayhound.app.facts.extraction import extract_facts
from wayhound.app.facts.extractors import Budget, extract_at_cost, extractor_names
from wayhound.app.facts.search import CONTACT, Wanted, parse_wanted
from wayhound.app.facts.tables import (
    FACT_FORMATS,
    fact_rows,
    wide_rows,
    write_facts,
    write_relationships,
    write_wide,
)
from wayhound.app.ray_cluster import check_archive
from wayhound.app.site_list import SiteTable, read_table
from wayhound.cli.console import command_for, err
from wayhound.cli.language import Command, cluster_option, out_option, run_option, workspace_option
from wayhound.entities.workload import Workload
from wayhound.errors import UsageError
from wayhound.wording.facts import format_costly, format_extracted, format_row, format_wide_row
from wayhound.wording.quantities import count
from wayhound.workspace import Workspace

ENDINGS = {f".{name}": name for name in FACT_FORMATS} | {".ndjson": "jsonl", ".json": "geojson"}
BINARY = ("xlsx",)


@click.command(cls=Command)
@click.argument("facts", metavar="[FACTS]", default=CONTACT)
@workspace_option
@run_option
@click.option("--wide", "table", metavar="FILE", type=click.Path(path_type=Path, dir_okay=False),
              help="Write the rows of this table of sites, with the facts beside its columns.")  # fmt: skip
@click.option("--relationships", is_flag=True,
              help="Write who belongs to whom instead: a row for each relationship between two entities.")  # fmt: skip
@click.option("--workload", default="", metavar="FILE",
              help="A file of queries, or `portal` for its visitors': what they ask for is read first.")  # fmt: skip
@click.option("--endorsed", metavar="FILE", type=click.Path(path_type=Path, dir_okay=False),
              help="A file of web addresses or hosts that matter, one a line, with a weight after a tab.")  # fmt: skip
@click.option("--with", "extractors", multiple=True, type=click.Choice(extractor_names()),
              help="Also run this costly extractor where a fact is missing; may be repeated.")  # fmt: skip
@click.option("--seconds", type=click.FloatRange(0), metavar="N",
              help="Let costly extractors run so long in all, earlier calls included.")  # fmt: skip
@click.option("--money", type=click.FloatRange(0), metavar="N",
              help="Let costly extractors spend so much in all, earlier calls included.")  # fmt: skip
@cluster_option
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
    cluster: str | None,
    **options: Any,
) -> None:
    """Read FACTS from the pages that forages archived, and write them as a table.

    FACTS are `contact` (e-mail, phone and address), or a kind such as restaurant, or some of its fields:
    restaurant:name,phone. Pages that were read before are not read again. The facts also become records of the portal.

    \b
    wayhound extract                                      a row for each organisation
    wayhound extract --wide firms.csv --out facts.xlsx    your own table, with facts beside it
    wayhound extract restaurant --out places.geojson
    wayhound extract person --relationships               who works for which organisation
    wayhound extract --with documents --seconds 600       also PDF files, those worth most first
    """
    chosen = file_format or format_by_ending(path)
    if path is None and chosen in BINARY and sys.stdout.isatty():
        raise UsageError(f"{chosen} is a binary format: name a file with --out.")
    if table is not None and options["relationships"]:
        raise UsageError(
            "--relationships writes a table of its own, beside which --wide has no place. Leave out one."
        )
    if cluster and (options["workload"] or options["endorsed"]):
        raise UsageError(
            "A cluster reads all sites side by side, so there is no first one. Leave out --cluster, or --workload and "
            "--endorsed."
        )
    own = read_table(table) if table is not None else None
    with Workspace.open(folder) as workspace:
        if run_id is not None:
            workspace.stores.forage.run(run_id)  # raises if there is none
        wanted = parse_wanted(workspace, facts)
        if cluster:
            check_archive(workspace, cluster)
        run_extraction(workspace, wanted, run_id, _plan(workspace, facts, options), cluster or "")
        if options["extractors"]:
            _run_costly(workspace, wanted, run_id, facts, options)
        if options["relationships"]:
            rows = write_relationships(workspace, wanted, chosen, path or sys.stdout.buffer, run_id)
        else:
            rows = write_table(workspace, wanted, own, path, chosen, run_id)
        hint = "" if rows else f". To see what there is: {command_for(folder, 'status')}"
    err.print(count(rows, "row") + (f" in {path}" if path else "") + hint, markup=False)


def run_extraction(
    workspace: Workspace, wanted: Wanted, run_id: int | None, plan: Plan | None = None, cluster: str = ""
) -> None:
    """Extract with a progress bar, by a plan if there is one; Ctrl-C stops, and what is done is kept."""
    with _shown_progress("Reading facts") as (on_progress, stop):
        if plan is None:
            done = extract_facts(
                workspace, wanted, run_id=run_id, cluster=cluster, on_progress=on_progress, stop=stop
            )
        else:
            done = extract_by_worth(
                workspace, wanted, plan, run_id=run_id, on_progress=on_progress, stop=stop
            )
    err.print(format_extracted(done, wanted), markup=False)


def _plan(workspace: Workspace, facts: str, options: dict[str, Any]) -> Plan | None:
    source, endorsed = options["workload"], options["endorsed"]
    if not (source or endorsed):
        return None
    workload = parse_workload(workspace, source, facts) if source else Workload()
    return Plan(workload, read_endorsed(endorsed) if endorsed else {}, workspace.config.facts)


def _run_costly(
    workspace: Workspace, wanted: Wanted, run_id: int | None, facts: str, options: dict[str, Any]
) -> None:
    plan = _plan(workspace, facts, options) or Plan(settings=workspace.config.facts)
    budget = Budget(options["seconds"], options["money"])
    with _shown_progress("Costly extractors") as (on_progress, stop):
        done = extract_at_cost(
            workspace, wanted, plan, options["extractors"], budget, run_id=run_id, on_progress=on_progress, stop=stop
        )  # fmt: skip
    err.print(format_costly(done), markup=False)


@contextmanager
def _shown_progress(title: str) -> Iterator[tuple[Callable[[int, int], None], Callable[[], bool]]]:
    """Show a progress bar; yield what reports to it, and what says that Ctrl-C was pressed."""
    bar = Progress(TextColumn(title), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn(), console=err)
    with bar, _interrupt() as interrupted:
        task = bar.add_task("", total=None)
        yield lambda at, of: bar.update(task, completed=at, total=of), lambda: bool(interrupted)


def write_table(
    workspace: Workspace,
    wanted: Wanted,
    own: SiteTable | None,
    path: Path | None,
    file_format: str,
    run_id: int | None,
) -> int:
    """Write the facts, beside the columns of one's own table if there is one, and return the number of rows."""
    target = path or sys.stdout.buffer
    rows = fact_rows(workspace, wanted, run_id)
    if own is None:
        return write_facts(rows, wanted, file_format, target, lambda row: format_row(row, wanted.fields))
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
