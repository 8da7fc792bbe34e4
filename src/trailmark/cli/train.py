"""`trailmark train`: learn the way from the trails of a workspace, and say how well it was learned."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

from trailmark.cli.console import count, err, next_steps, out, typed, workspace_option
from trailmark.cli.train_tables import features_table, labels_table, summary
from trailmark.teach.trail_check import check_trails
from trailmark.teach.training import LITERAL, TRAINERS, Settings
from trailmark.training import USUAL_NAME, USUAL_STRATEGY, OnProgress, report_of
from trailmark.training import train as learn
from trailmark.workspace import Workspace

CHOICES: dict[str, Settings | None] = {"chosen": None, "usual": Settings(), "paper": LITERAL}


@click.command()
@workspace_option
@click.option("--strategy", type=click.Choice(sorted(TRAINERS)), default=USUAL_STRATEGY, show_default=True,
              help="What the model is for.")  # fmt: skip
@click.option("--name", default=USUAL_NAME, show_default=True, help="The model's name in the workspace.")
@click.option("--settings", type=click.Choice(list(CHOICES)), default="chosen", show_default=True,
              help="Chosen by cross-validation, the usual ones (fast), or those of the paper.")  # fmt: skip
@click.option("--features", default=6, type=click.IntRange(0), show_default=True,
              help="Strongest features to show of each label.")  # fmt: skip
@click.option("--show", is_flag=True, help="Show how the last training of this name went; train nothing.")
@click.option("--json", "as_json", is_flag=True, help="The report as JSON.")
def train(
    folder: Path, strategy: str, name: str, settings: str, features: int, show: bool, as_json: bool
) -> None:
    """Learn from the trails of the workspace, and keep the model under models/NAME.

    Each site is held back in turn: precision, recall and F1 tell how well the labels of a site are told by a
    model that was taught on the others; and it is foraged again, as far as it is known, without a fetch.
    """
    from trailmark.review.held_back import load_held_back, save_held_back  # noqa: PLC0415 - slow to load

    with Workspace.open(folder) as workspace:
        if show:
            report = report_of(workspace, name)
        else:
            with _progress() as on_progress:
                report = learn(
                    workspace,
                    name,
                    strategy,
                    settings=CHOICES[settings],
                    at=time.time(),
                    on_progress=on_progress,
                )
                save_held_back(workspace, name, on_progress)
            lacking = len(check_trails(workspace.trails.trails()))
        held_back = load_held_back(workspace, name)
    if as_json:
        click.echo(json.dumps(report.to_json(), ensure_ascii=False))
        return
    out.print(summary(report), markup=False)
    out.print(labels_table(report))
    if features:
        out.print(features_table(report, features))
    for each in held_back:
        out.print(each.in_words(), markup=False)
    if not show:
        _say_what_next(folder, name, lacking)


def _say_what_next(folder: Path, name: str, lacking: int) -> None:
    check = (typed(folder, "trails check"), f"{count(lacking, 'remark')} on what would teach it better")
    next_steps(
        *([check] if lacking else []),
        (typed(folder, "explain https://three.example"), "how it rates the links of a page"),
        (typed(folder, f"forage sites.txt --model {name}"), "walk a list of sites"),
    )


@contextmanager
def _progress() -> Iterator[OnProgress]:
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=err, transient=True, disable=not err.is_terminal) as bar:
        tasks: dict[str, TaskID] = {}

        def told(what: str, done: int, of: int) -> None:
            if what not in tasks:
                tasks[what] = bar.add_task(what, total=of)
            bar.update(tasks[what], completed=done, total=of)

        yield told
