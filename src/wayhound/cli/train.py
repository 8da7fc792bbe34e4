"""`wayhound train`: learn the way from the trails of a workspace, and say how well it was learned."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from wayhound.app.train import USUAL_NAME, USUAL_STRATEGY, OnProgress, TrainingReport, report_of
from wayhound.app.train import train as learn
from wayhound.cli.console import command_for, err, label_text, next_steps, out
from wayhound.cli.language import workspace_option
from wayhound.paths.settings import LITERAL, PathSettings
from wayhound.paths.trail_check import check_trails
from wayhound.paths.trainers import TRAINERS
from wayhound.trail import GOAL
from wayhound.wording.quantities import count
from wayhound.wording.reasons import format_reasons
from wayhound.workspace import Workspace


def summary(report: TrainingReport) -> str:
    left_out = f" ({report.left_out} without an ending left out)" if report.left_out else ""
    how = "chosen by holding back sites" if report.chosen else "given"
    sites = count(len(report.sites), "site")
    lines = [f"Learned from {count(report.trails, 'trail')}{left_out} of {sites} for {report.strategy}."]
    lines.append(f"Settings, {how}: {_settings(report)}.")
    if report.all_labels is None:
        lines.append("With one site none could be held back, so nothing tells how well it carries over.")
    else:
        lines.append(_how_well(report))
    return "\n".join(lines)


def _how_well(report: TrainingReport) -> str:
    """The figures of the goal in words: each site was held back in turn, and the model taught on the others."""
    goal = next((label for label in report.labels if label.label == GOAL), None)
    if goal is None or goal.recall is None or goal.precision is None:
        return "Each site was held back in turn; the table says how well its pages were told by the others."
    return (
        f"On sites that it was not taught on, it tells {goal.recall:.0%} of the goals (recall), and "
        f"{goal.precision:.0%} of what it takes for goals are goals (precision)."
    )


def _settings(report: TrainingReport) -> str:
    """What differs from the usual, and the two that are chosen."""
    usual = PathSettings().to_json()
    shown = {"prior_variance", "body_tokens"} | {
        name for name, value in report.settings.items() if usual.get(name) != value
    }
    return ", ".join(f"{name} {report.settings[name]}" for name in sorted(shown & set(report.settings)))


def labels_table(report: TrainingReport) -> Table:
    """Each label on sites held back, and what a link to such a page is worth."""
    table = Table(box=None, pad_edge=False, header_style="bold", title_justify="left")
    for name in ("label", "precision", "recall", "F1", "pages", "worth"):
        table.add_column(name, justify="left" if name == "label" else "right")
    for label in report.labels:
        figures = [_figure(label.precision), _figure(label.recall), _figure(label.f1)]
        table.add_row(label_text(label.label), *figures, str(label.pages or "–"), f"{label.reward:.3f}")
    if report.all_labels is not None:
        means = [_figure(figure) for figure in report.all_labels]
        table.add_section()
        table.add_row("all labels", *means, str(sum(label.pages for label in report.labels)), "")
    return table


def features_table(report: TrainingReport, most: int) -> Table:
    """What speaks for each label, of its pages and of the links to them."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("label")
    table.add_column("what speaks most for it", overflow="fold")
    for label in report.labels:
        table.add_row(label_text(label.label), Text(format_reasons(label.strongest, most)))
    return table


def _figure(share: float | None) -> str:
    return "–" if share is None else f"{share:.2f}"


CHOICES: dict[str, PathSettings | None] = {"chosen": None, "usual": PathSettings(), "paper": LITERAL}


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
    from wayhound.app.held_out import load_held_back, save_held_back  # noqa: PLC0415 - slow to load

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
            lacking = len(check_trails(workspace.stores.trails.trails()))
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
    check = (command_for(folder, "trails check"), f"{count(lacking, 'remark')} on what would teach it better")
    next_steps(
        *([check] if lacking else []),
        (command_for(folder, "explain https://three.example"), "how it rates the links of a page"),
        (command_for(folder, f"forage sites.txt --model {name}"), "walk a list of sites"),
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
