"""`wayhound train`: learn from the trails of a workspace, and report how well."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from wayhound.app import OnProgress
from wayhound.app.forage import override_config
from wayhound.app.look_around import PAGES_A_SITE
from wayhound.app.trails import check
from wayhound.app.train.held_out import load_held_out
from wayhound.app.train.models import TrainingReport, TrainingSource, report_of
from wayhound.app.train.training import (
    DEFAULT_NAME,
    DEFAULT_SETTINGS,
    DEFAULT_STRATEGY,
    SETTINGS,
    LookAround,
    train_and_measure,
)
from wayhound.cli.console import command_for, err, label_text, next_steps, out, plain_table, write_json
from wayhound.cli.language import (
    Command,
    RenamedChoice,
    allow_private_option,
    delay_option,
    features_option,
    json_option,
    workspace_option,
)
from wayhound.paths.spiders import STRATEGY_NAMES
from wayhound.wording.quantities import count
from wayhound.wording.reasons import format_reasons
from wayhound.wording.training import format_held_out, format_outlook, format_settings, format_training
from wayhound.workspace import Workspace

SETTINGS_CHOICE = RenamedChoice(list(SETTINGS), {"chosen": "tuned", "usual": "default"})


@click.command(cls=Command, renamed={"--name": "--model"})
@workspace_option
@click.option("--model", "name", default=DEFAULT_NAME, metavar="NAME", show_default=True,
              help="Save the model under this name; one of that name is replaced.")  # fmt: skip
@click.option("--strategy", type=click.Choice(STRATEGY_NAMES), default=DEFAULT_STRATEGY, show_default=True,
              help="The strategy that the model is for.")  # fmt: skip
@click.option("--settings", type=SETTINGS_CHOICE, default=DEFAULT_SETTINGS, show_default=True,
              help="Tune settings by cross-validation on the taught sites, use the default ones (faster), or those "
                   "of the paper.")  # fmt: skip
@click.option(
    "--set",
    "changes",
    multiple=True,
    metavar="NAME=VALUE",
    help="Set one setting of the strategy, as topology=labels; may be repeated. Nothing is tuned then.",
)
@click.option(
    "--teach",
    "folders",
    multiple=True,
    metavar="FOLDER",
    type=click.Path(path_type=Path, exists=True),
    help="Learn from the recorded sites in this folder instead of the trails; may be repeated. For "
    "q-spider, hop-hmm and hop-crf.",
)
@click.option(
    "--goal", "goal_label", default="", metavar="LABEL", help="The label of goal pages in these folders."
)
@click.option("--papers", is_flag=True,
              help="Learn from all sites that runs have visited, with the papers among the fetched files as goals; no "
                   "labels are needed. For q-spider, hop-hmm and hop-crf.")  # fmt: skip
@click.option("--keyword", "keywords", multiple=True, metavar="WORD",
              help="A word of the topic, for hop-crf; may be repeated.")  # fmt: skip
@click.option("--look-around", "look_around", type=click.IntRange(1), metavar="PAGES",
              help=f"First fetch up to so many more pages of each taught site, politely, so that the model knows what "
                   f"is not a goal; {PAGES_A_SITE} are enough.")  # fmt: skip
@delay_option
@allow_private_option
@features_option(6, "label")
@click.option("--show", is_flag=True, help="Train nothing; show the report of the last training.")
@json_option
def train(
    folder: Path,
    name: str,
    strategy: str,
    settings: str,
    changes: tuple[str, ...],
    folders: tuple[Path, ...],
    goal_label: str,
    papers: bool,
    keywords: tuple[str, ...],
    look_around: int | None,
    features: int,
    show: bool,
    as_json: bool,
    delay: float | None,
    allow_private: bool,
) -> None:
    """Learn from the trails of the workspace, and save the model as models/NAME.

    Each site is held out in turn: precision, recall and F1 say how well its pages are labelled by a model that
    was taught on the others. Each held-out site is also foraged by that model, as far as it is known, without
    fetching anything. The reward is what a link to such a page is expected to bring, where 1 is a goal.
    """
    with Workspace.open(folder) as workspace:
        if show:
            report = report_of(workspace, name)
        else:
            config = override_config(workspace.config, delay_seconds=delay, allow_private=allow_private)
            consent = LookAround(look_around, config) if look_around else None
            with _progress() as on_progress:
                named = tuple(str(path.resolve()) for path in folders)
                source = TrainingSource(named, goal_label, keywords, papers)
                report = train_and_measure(
                    workspace,
                    name,
                    strategy,
                    settings,
                    on_progress,
                    changes=changes,
                    source=source,
                    looking_around=consent,
                )
        remarks = len(check(workspace))
        held_out = load_held_out(workspace, name)
    if as_json:
        write_json(report.to_json())
        return
    out.print(format_training(report), markup=False)
    if outlook := format_outlook(report):
        out.print(outlook, markup=False)
    out.print(format_settings(report), markup=False)
    out.print(labels_table(report))
    if features:
        out.print(_features_table(report, features))
    for held in held_out:
        out.print(format_held_out(held), markup=False)
    if not show:
        _print_next_steps(folder, report, remarks)


def labels_table(report: TrainingReport) -> Table:
    """Return how well each label is recognised on held-out sites, and the reward of a link to such a page."""
    numbers = ("precision", "recall", "F1", "pages", "reward")
    table = plain_table("label", *numbers, right=numbers)
    for label in report.labels:
        figures = [_figure(label.precision), _figure(label.recall), _figure(label.f1)]
        table.add_row(label_text(label.label), *figures, str(label.pages or "–"), f"{label.reward:.3f}")
    if report.all_labels is not None:
        means = [_figure(figure) for figure in report.all_labels]
        table.add_section()
        table.add_row("all labels", *means, str(sum(label.pages for label in report.labels)), "")
    return table


def _figure(share: float | None) -> str:
    return "–" if share is None else f"{share:.2f}"


def _features_table(report: TrainingReport, most: int) -> Table:
    table = plain_table("label", "strongest features of its pages and of the links to them")
    for label in report.labels:
        table.add_row(label_text(label.label), Text(format_reasons(label.strongest, most)))
    return table


def _print_next_steps(folder: Path, report: TrainingReport, remarks: int) -> None:
    look_step = (
        command_for(folder, f"train --look-around {PAGES_A_SITE}"),
        "also walk a little over the taught sites, so that it knows what is not a goal",
    )
    check_step = (
        command_for(folder, "trails check"),
        f"{count(remarks, 'remark')} on what would teach it better",
    )
    next_steps(
        *([check_step] if remarks else []),
        *([look_step] if report.strategy == DEFAULT_STRATEGY and not report.unlabelled else []),
        (command_for(folder, "explain https://three.example"), "how it rates the links of a page"),
        (command_for(folder, f"forage sites.txt --model {report.name}"), "visit a list of sites"),
    )


@contextmanager
def _progress() -> Iterator[OnProgress]:
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=err, transient=True, disable=not err.is_terminal) as bar:
        tasks: dict[str, TaskID] = {}

        def update(what: str, done: int, of: int) -> None:
            if what not in tasks:
                tasks[what] = bar.add_task(what, total=of)
            bar.update(tasks[what], completed=done, total=of)

        yield update
