"""`trailmark status`: how far each run of a workspace has come."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import click
from rich.markup import escape

from trailmark.cli.console import err, out, workspace_option
from trailmark.cli.forage_display import closing_table, reasons
from trailmark.cli.goals_text import goal_text
from trailmark.errors import UsageError
from trailmark.foraging import Order
from trailmark.store.forage import Run
from trailmark.store.goals import GoalStore
from trailmark.workspace import Workspace


@click.command()
@workspace_option
@click.option(
    "--goals", is_flag=True, help="Every goal of the last run: the way there, and why it was taken."
)
@click.option("--run", "run_id", type=int, help="For --goals: of this run.")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
def status(folder: Path, goals: bool, run_id: int | None, as_json: bool) -> None:
    """Show the runs of the workspace: sites, pages, goals, and why each site stopped."""
    with Workspace.open(folder) as workspace:
        if goals:
            _show_goals(workspace, run_id, as_json)
        elif as_json:
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
        by = escape(f"{order.strategy} by the model {order.model}" if order.model else order.strategy)
        out.print(f"[bold]Run {run.id}[/]: {by}, {progress.done} of {progress.sites} sites done")
        out.print(
            f"{progress.spent} pages, {progress.goals} goals; {reasons(progress.outcomes)}", markup=False
        )
        out.print(closing_table(store.sites(run.id)))
        out.print()


def _show_goals(workspace: Workspace, run_id: int | None, as_json: bool) -> None:
    run = _last_run(workspace) if run_id is None else workspace.forage_store.run(run_id)
    goals = GoalStore(workspace.database).goals(run.id)
    for goal in goals:
        if as_json:
            click.echo(json.dumps(asdict(goal), ensure_ascii=False))
        else:
            out.print(goal_text(goal))
    if not workspace.forage_store.progress(run.id).goals:
        err.print(f"Run {run.id} has found no goal yet.")


def _last_run(workspace: Workspace) -> Run:
    runs = workspace.forage_store.runs()
    if not runs:
        raise UsageError(f"{workspace.folder} holds no forage yet. Next: trailmark forage SEEDS.txt")
    return runs[0]
