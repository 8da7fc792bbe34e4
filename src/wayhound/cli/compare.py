"""`wayhound compare`: what changed since the run before."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, astuple
from itertools import groupby
from pathlib import Path

import click
from rich.text import Text

from wayhound.app.compare import GoalChange, compare
from wayhound.app.forage import run_before
from wayhound.cli.console import command_for, err, out, write_line
from wayhound.cli.export import by_ending
from wayhound.cli.language import workspace_option
from wayhound.errors import UsageError
from wayhound.store.export import ColumnType, write_rows
from wayhound.store.forage import Run
from wayhound.wording.quantities import count, short_url
from wayhound.wording.runs import CHANGES, format_change, format_changes
from wayhound.workspace import Workspace

_STYLES = {"new": "green", "changed": "yellow", "moved": "yellow", "gone": "red", "unseen": "dim"}
COLUMNS: Mapping[str, ColumnType] = {
    "site": "text", "kind": "text", "url": "text", "title": "text", "why": "text", "was": "text",
    "words_added": "integer", "words_removed": "integer",
}  # fmt: skip


@click.command("compare")
@click.argument("before", type=int, required=False)
@click.argument("after", type=int, required=False)
@workspace_option
@click.option("--out", "path", type=click.Path(path_type=Path, dir_okay=False),
              help="Write a table: .csv, .jsonl or .parquet.")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="As JSON lines.")
def compare_command(
    before: int | None, after: int | None, folder: Path, path: Path | None, as_json: bool
) -> None:
    """Show which goals are new, changed, moved or gone in the run AFTER, against the run BEFORE.

    Without AFTER, the last run is meant; without BEFORE, the run that it repeats: the last one before it by the
    same order. `wayhound status` numbers them.

    \b
    wayhound compare              since the run before
    wayhound compare 3            since run 3
    wayhound compare --out changes.csv
    """
    with Workspace.open(folder) as workspace:
        new = _run(workspace, after)
        old = _before(workspace, new) if before is None else workspace.stores.forage.run(before)
        changes = list(compare(workspace, old.id, new.id))
        if path:
            rows = (astuple(change) for change in changes)
            write_rows(COLUMNS, rows, by_ending(path), path)
        elif as_json:
            for change in changes:
                write_line(json.dumps(asdict(change), ensure_ascii=False))
        else:
            _print(changes)
        err.print(f"Run {new.id} against run {old.id}: {format_changes(changes)}", markup=False)
        _say_what_was_left_out(workspace, old, new)


def since_before(workspace: Workspace, run: Run) -> str:
    """`Since run 1: 3 goals new, 1 gone.`; nothing of a run that repeats none."""
    old = run_before(workspace.stores.forage, run)
    if old is None:
        return ""
    return f"Since run {old.id}: {format_changes(compare(workspace, old.id, run.id))}"


def _run(workspace: Workspace, number: int | None) -> Run:
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
    before = run_before(workspace.stores.forage, run)
    if before is None:
        raise UsageError(
            f"Run {run.id} is the first of its order. Forage once more with --again, or name the run to compare "
            f"it with: {command_for(workspace.folder, 'compare RUN')}"
        )
    return before


def _print(changes: Iterable[GoalChange]) -> None:
    for site, of_site in groupby(changes, key=lambda change: change.site):
        out.print(Text(short_url(site), style="bold"))
        for change in of_site:
            out.print(_line(change))
        out.print()


def _line(change: GoalChange) -> Text:
    kind = Text(f"  {CHANGES[change.kind]:<9}", style=_STYLES[change.kind])
    return kind.append(f"{change.url}  {change.title}{format_change(change)}", style="default")


def _say_what_was_left_out(workspace: Workspace, old: Run, new: Run) -> None:
    missing = workspace.stores.comparison.not_walked(old.id, new.id)
    if missing:
        err.print(f"{count(missing, 'site')} of run {old.id} not walked in run {new.id}, and left out.")
