"""`trailmark status`: how far each run of a workspace has come."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import click

from trailmark.cli.console import out, workspace_option
from trailmark.cli.forage_display import closing_table, reasons
from trailmark.foraging import Order
from trailmark.workspace import Workspace


@click.command()
@workspace_option
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
def status(folder: Path, as_json: bool) -> None:
    """Show the runs of the workspace: sites, pages, goals, and why each site stopped."""
    with Workspace.open(folder) as workspace:
        if as_json:
            click.echo(json.dumps(_as_data(workspace), indent=1, ensure_ascii=False))
        else:
            _print(workspace)


def _as_data(workspace: Workspace) -> list[dict[str, object]]:
    store = workspace.forage_store
    return [
        {
            "run": run.id,
            "order": asdict(Order.from_identity(run.identity)),
            "limits": asdict(run.limits),
            "progress": asdict(store.progress(run.id)),
            "sites": [asdict(site) for site in store.sites(run.id)],
        }
        for run in store.runs()
    ]


def _print(workspace: Workspace) -> None:
    store = workspace.forage_store
    runs = store.runs()
    if not runs:
        out.print(f"{workspace.folder} holds no forage yet. Next: trailmark forage SEEDS.txt", markup=False)
    for run in runs:
        order, progress = Order.from_identity(run.identity), store.progress(run.id)
        out.print(f"[bold]Run {run.id}[/]: {order.strategy}, {progress.done} of {progress.sites} sites done")
        out.print(
            f"{progress.spent} pages, {progress.goals} goals; {reasons(progress.outcomes)}", markup=False
        )
        out.print(closing_table(store.sites(run.id)))
        out.print()
