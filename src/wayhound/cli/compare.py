"""`wayhound compare`: goals that changed between two runs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, astuple
from itertools import groupby
from pathlib import Path

import click
from rich.text import Text

from wayhound.app.compare import GoalChange, compare
from wayhound.app.order import previous_run
from wayhound.cli.console import command_for, err, out, write_json
from wayhound.cli.export import by_ending
from wayhound.cli.language import Command, json_option, out_option, workspace_option
from wayhound.errors import UsageError
from wayhound.store.goals import ComparedSites
from wayhound.store.protocol import Run
from wayhound.store.table_files import ColumnType, write_rows
from wayhound.wording.quantities import count, short_url
from wayhound.wording.runs import CHANGES, format_change, format_changes
from wayhound.workspace import Workspace

_STYLES = {"new": "green", "changed": "yellow", "moved": "yellow", "gone": "red", "unseen": "dim"}
COLUMNS: Mapping[str, ColumnType] = {
    "site": "text", "kind": "text", "url": "text", "title": "text", "why": "text", "was": "text",
    "words_added": "integer", "words_removed": "integer",
}  # fmt: skip


@click.command("compare", cls=Command)
@click.argument("before", type=int, required=False)
@click.argument("after", type=int, required=False)
@workspace_option
@out_option
@json_option
def compare_command(
    before: int | None, after: int | None, folder: Path, path: Path | None, as_json: bool
) -> None:
    """Show which goals are new, changed, moved or gone in the run AFTER, compared with the run BEFORE.

    AFTER is the last run by default; BEFORE is the run that it repeats, the last one before it with the same
    command. `wayhound status` numbers them. A file after --out is CSV, XLSX, JSON lines or Parquet by its ending.

    \b
    wayhound compare              since the run before
    wayhound compare 3            since run 3
    wayhound compare --out changes.csv
    """
    with Workspace.open(folder) as workspace:
        new = requested_run(workspace, after)
        old = _before(workspace, new) if before is None else workspace.stores.forage.run(before)
        changes = list(compare(workspace, old.id, new.id))
        if path:
            rows = (astuple(change) for change in changes)
            write_rows(COLUMNS, rows, by_ending(path), path)
        elif as_json:
            for change in changes:
                write_json(asdict(change))
        else:
            _print(changes)
        err.print(f"Run {new.id} against run {old.id}: {format_changes(changes)}", markup=False)
        _report_missing_sites(workspace, old, new)


def since_before(workspace: Workspace, run: Run) -> str:
    """Return `Since run 1: 3 goals new, 1 gone.`; empty for a run that repeats none."""
    old = previous_run(workspace.stores.forage, run)
    if old is None:
        return ""
    return f"Since run {old.id}: {format_changes(compare(workspace, old.id, run.id))}"


def requested_run(workspace: Workspace, number: int | None) -> Run:
    """Return the run of this number, or the last one. Raises UsageError if there is none."""
    store = workspace.stores.forage
    if number is not None:
        return store.run(number)
    runs = store.runs()
    if not runs:
        raise UsageError(
            f"Nothing has been foraged yet. Next: {command_for(workspace.folder, 'forage sites.txt')}"
        )
    return runs[0]


def _before(workspace: Workspace, run: Run) -> Run:
    before = previous_run(workspace.stores.forage, run)
    if before is None:
        raise UsageError(
            f"Run {run.id} does not repeat another. Forage once more with --again, or name the run to compare "
            f"it with: {command_for(workspace.folder, 'compare RUN')}"
        )
    return before


def _print(changes: Iterable[GoalChange]) -> None:
    for site, site_changes in groupby(changes, key=lambda change: change.site):
        out.print(Text(short_url(site), style="bold"))
        for change in site_changes:
            out.print(_line(change))
        out.print()


def _line(change: GoalChange) -> Text:
    kind = Text(f"  {CHANGES[change.kind]:<9}", style=_STYLES[change.kind])
    return kind.append(f"{change.url}  {change.title}{format_change(change)}", style="default")


def _report_missing_sites(workspace: Workspace, old: Run, new: Run) -> None:
    missing = ComparedSites(workspace.database).count_missing(old.id, new.id)
    if missing:
        err.print(f"Left out: {count(missing, 'site')} of run {old.id} that run {new.id} did not visit.")
