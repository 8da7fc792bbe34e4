"""`wayhound evaluate`: how few pages each strategy needs on recorded sites."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import get_args

import click
from rich.progress import Progress
from rich.table import Table

from wayhound.app.evaluate.evaluation import SHARES, Evaluation, Outcome, means, outcomes_to_json, plot
from wayhound.app.evaluate.strategies import ORACLE, STRATEGIES, Taught
from wayhound.app.evaluate.world import World, load_worlds
from wayhound.cli.console import err, out
from wayhound.errors import UsageError

NAMES = [*sorted(STRATEGIES), ORACLE]


@click.command()
@click.argument("folders", nargs=-1, required=True, type=click.Path(path_type=Path, exists=True))
@click.option("--goal", "goals", multiple=True, required=True, help="The label of the goal pages.")
@click.option("--teach", "taught_folders", multiple=True, type=click.Path(path_type=Path, exists=True),
              help="Teach on these sites.  [default: on all other FOLDERS]")  # fmt: skip
@click.option("--taught", type=click.Choice(get_args(Taught)), default="trails", show_default=True,
              help="What is taught: trails made from labels, or whole sites. Levels and url-only always learn "
                   "from whole sites.")  # fmt: skip
@click.option("--trails", "trails_a_site", default=15, type=click.IntRange(1), show_default=True,
              help="Trails to goals that a site teaches, and as many that end elsewhere.")  # fmt: skip
@click.option("--strategy", "strategies", multiple=True, type=click.Choice(NAMES), help="[default: all]")
@click.option(
    "--json", "json_path", type=click.Path(path_type=Path, dir_okay=False), help="Write all figures."
)
@click.option("--plot", "plot_path", type=click.Path(path_type=Path, dir_okay=False), help="Draw the curves.")
def evaluate(
    folders: tuple[Path, ...],
    goals: tuple[str, ...],
    taught_folders: tuple[Path, ...],
    taught: Taught,
    trails_a_site: int,
    strategies: tuple[str, ...],
    json_path: Path | None,
    plot_path: Path | None,
) -> None:
    """Compare strategies on recorded sites: FOLDERS are site folders, or folders that hold them.

    A closed world: a link whose target is not archived does not exist. A site that is tested is never taught.
    """
    chosen = list(dict.fromkeys(strategies or NAMES))
    teaching = load_worlds(taught_folders) if taught_folders else []
    worlds = load_worlds(folders)
    _check_goals(worlds, goals)
    evaluation = Evaluation(worlds, teaching, goals, chosen, trails_a_site, taught)
    outcomes: list[Outcome] = []
    with Progress(console=err, transient=True) as progress:
        task = progress.add_task("foraging", total=len(evaluation))
        for outcome in evaluation.run():
            outcomes.append(outcome)
            progress.update(task, advance=1, description=f"{outcome.site} {outcome.goal} {outcome.strategy}")
    out.print(_table(outcomes))
    out.print(_means_table(outcomes))
    if json_path:
        json_path.write_text(json.dumps(outcomes_to_json(outcomes)) + "\n", encoding="utf-8")
    if plot_path:
        plot(outcomes, plot_path)


def _check_goals(worlds: Sequence[World], goals: Sequence[str]) -> None:
    """A label that no page has is most often a slip of the pen."""
    missing = [goal for goal in goals if not any(world.reachable_goals(goal) for world in worlds)]
    if not missing:
        return
    known = sorted({world.labels[url] for world in worlds for url in world.depths if url in world.labels})
    there = f"Labels there: {', '.join(known)}." if known else "None of their pages has a label."
    sentence = f"No page that can be reached is labelled {' or '.join(missing)}. {there}"
    if len(missing) == len(goals):
        raise UsageError(sentence)
    err.print(sentence, markup=False)


def _table(outcomes: list[Outcome]) -> Table:
    title = "Pages fetched until … of the goals, and how many times the oracle's"
    table = Table(box=None, pad_edge=False, header_style="bold", title=title)
    for name in (
        "goal",
        "site",
        "strategy",
        "taught",
        "goals",
        *(f"{share} %" for share in SHARES),
        "auc",
        "CPU s",
    ):
        table.add_column(
            name, justify="left" if name in ("goal", "site", "strategy", "taught") else "right", no_wrap=True
        )
    for each in outcomes:
        pages = [_figure(each.pages_to[str(share)], each.ratio[str(share)]) for share in SHARES]
        row = [each.goal, each.site, each.strategy, each.taught, str(each.reachable), *pages]
        table.add_row(*row, f"{each.auc:.2f}", f"{each.cpu_seconds:.1f}")
    return table


def _figure(pages: float | None, ratio: float | None) -> str:
    return "never" if pages is None else f"{pages:.0f} ({ratio or 0:.1f}×)"


def _means_table(outcomes: list[Outcome]) -> Table:
    title = "Geometric means over sites: against the oracle, and against breadth-first, at 75 %"
    table = Table(box=None, pad_edge=False, header_style="bold", title=title)
    for name in ("goal", "strategy", "taught", "× oracle", "× breadth-first", "auc"):
        table.add_column(name, justify="left" if name in ("goal", "strategy", "taught") else "right")
    for row in means(outcomes):
        figures = [row["ratio"]["75"], row["pages_to_vs_breadth_first"]["75"], row["auc"]]
        shown = ["–" if figure is None else f"{figure:.2f}" for figure in figures]
        table.add_row(row["goal"], row["strategy"], row["taught"], *shown)
    return table
