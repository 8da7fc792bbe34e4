"""`wayhound status`: the runs of a workspace, and the goals of one."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import click
from rich.text import Text

from wayhound.app.forage import has_probabilities
from wayhound.app.keep_up import read_rounds
from wayhound.app.order import Order
from wayhound.app.visitors import read_counts
from wayhound.cli.compare import requested_run, since_before
from wayhound.cli.console import command_for, err, next_steps, out, write_json
from wayhound.cli.forage_display import closing_table
from wayhound.cli.language import Command, json_option, run_option, workspace_option
from wayhound.store.goals import FoundGoal
from wayhound.store.protocol import Progress, Run
from wayhound.wording.quantities import count, format_probability
from wayhound.wording.runs import (
    format_kept,
    format_order,
    format_outcomes,
    format_path,
    format_rendered,
    format_result,
    format_visitors,
    format_why,
)
from wayhound.workspace import Workspace


@click.command(cls=Command)
@workspace_option
@click.option("--goals", is_flag=True, help="List the goals of the last run: the clicks to each, and why.")
@run_option
@json_option
def status(folder: Path, goals: bool, run_id: int | None, as_json: bool) -> None:
    """Show the runs of the workspace: sites, pages, goals, and why each site stopped."""
    with Workspace.open(folder) as workspace:
        if goals:
            _show_goals(workspace, run_id, as_json)
        elif as_json:
            write_json(_runs_to_json(workspace, _runs(workspace, run_id)), indent=1)
        else:
            _print(workspace, _runs(workspace, run_id))
            for line in (line for done in read_rounds(folder)[-1:] for line in format_kept(done)):
                out.print(line, markup=False)
            for line in format_visitors(read_counts(folder)):
                out.print(line, markup=False)


def _runs(workspace: Workspace, run_id: int | None) -> list[Run]:
    store = workspace.stores.forage
    return store.runs() if run_id is None else [store.run(run_id)]


def _runs_to_json(workspace: Workspace, runs: list[Run]) -> list[dict[str, object]]:
    store = workspace.stores.forage
    return [
        {
            "run": run.id,
            "order": asdict(Order.from_identity(run.identity)),
            "limits": asdict(run.limits),
            "progress": _counts(store.progress(run.id)),
            "sites": [asdict(site) for site in store.sites(run.id)],
        }
        for run in runs
    ]


def _counts(progress: Progress) -> dict[str, object]:
    return asdict(progress) | {"pages": progress.pages, "failures": progress.failures}


def _print(workspace: Workspace, runs: list[Run]) -> None:
    store = workspace.stores.forage
    if not runs:
        _print_first_steps(workspace)
    for number, run in enumerate(runs):
        progress, sites = store.progress(run.id), list(store.sites(run.id))
        out.print(f"Run {run.id}, {format_order(run.identity)}", style="bold", markup=False)
        out.print(
            format_result(progress, sites), f"Requests: {format_outcomes(progress.outcomes) or 'none yet'}"
        )
        out.print(closing_table(sites))
        if number == 0:  # reading the visits of every run would take long
            _print_visits(workspace, run)
        out.print()


def _print_visits(workspace: Workspace, run: Run) -> None:
    """Print what the visits of a run show beyond the sums: pages made by scripts, and changes since the run before."""
    for line in format_rendered(workspace.stores.forage.rendered(run.id)):
        out.print(line, markup=False)
    if changes := since_before(workspace, run):
        out.print(changes, f"See {command_for(workspace.folder, 'compare')}", markup=False)


def _print_first_steps(workspace: Workspace) -> None:
    """Print how far the workspace is before its first forage, and the next step."""
    folder = workspace.folder
    trails, models = len(workspace.stores.trails), workspace.forage_models.names()
    existing = f"{count(trails, 'trail')}, {count(len(models), 'trained model')}"
    out.print(f"Nothing has been foraged yet. The workspace has {existing}.")
    forage = (command_for(folder, "forage sites.txt"), "visit a list of sites")
    if models:
        next_steps(forage)
    elif trails:
        next_steps((command_for(folder, "train"), "learn from the trails"))
    else:
        next_steps((command_for(folder, "teach https://one.example"), "show it the way in a browser"), forage)


def _show_goals(workspace: Workspace, run_id: int | None, as_json: bool) -> None:
    run = requested_run(workspace, run_id)
    rated = has_probabilities(workspace, run)
    for goal in workspace.stores.goals.goals(run.id):
        if as_json:
            write_json(asdict(goal))
        else:
            out.print(_goal_text(goal, has_probabilities=rated))
    progress = workspace.stores.forage.progress(run.id)
    if not progress.goals and not progress.likely:
        err.print(
            f"Run {run.id} has found no goal yet. To see what it did: {command_for(workspace.folder, 'status')}"
        )


def _goal_text(goal: FoundGoal, *, has_probabilities: bool) -> Text:
    """Return a goal with its path. What a pattern matches is a goal, without a probability."""
    probability = f"{format_probability(goal.probability):>4} " if has_probabilities else "  ·  "
    style = "bold yellow" if goal.tier == "likely" else "bold green"
    text = Text.assemble((probability, style), (goal.title or "(no title)", "bold"))
    if goal.tier in ("likely", "confirmed"):
        text.append(f"  {goal.tier}", style=style)
    text.append(f"  {goal.url}\n")
    for number, line in enumerate(format_path(goal)):
        text.append(f"     {'  ' * number}{line}\n")
    if why := format_why(goal):
        text.append(f"     because of {why}\n", style="dim")
    return text
