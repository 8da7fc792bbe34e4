"""`wayhound evaluate`: compare strategies on recorded sites."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, get_args

import click
from rich.progress import Progress
from rich.table import Table

from wayhound.app.evaluate.evaluation import (
    BUDGET,
    SHARES,
    Evaluation,
    Outcome,
    means,
    outcomes_to_json,
    plot,
    recommend,
)
from wayhound.app.evaluate.lessons import LessonSize
from wayhound.app.evaluate.strategies import ORACLE, STRATEGIES, Taught
from wayhound.app.evaluate.world import World, load_worlds
from wayhound.cli.console import err, out, plain_table, write_json
from wayhound.cli.language import (
    Command,
    cluster_option,
    goal_label_option,
    json_option,
    seed_option,
    trails_option,
)
from wayhound.errors import UsageError
from wayhound.wording.training import format_recommendation

NAMES = [*sorted(STRATEGIES), ORACLE]


@click.command(cls=Command)
@click.argument("folders", nargs=-1, required=True, type=click.Path(path_type=Path, exists=True))
@goal_label_option(multiple=True)
@click.option("--teach", "taught_folders", multiple=True, metavar="FOLDER",
              type=click.Path(path_type=Path, exists=True),
              help="Teach on the sites in this folder; may be repeated.  [default: all other FOLDERS]")  # fmt: skip
@click.option("--taught", type=click.Choice(get_args(Taught)), default="trails", show_default=True,
              help="Teach trails made from labels, or whole sites. The strategies levels, q-focused, q-future, q-paper "
                   "and url-only always learn from whole sites.")  # fmt: skip
@trails_option
@click.option("--lesson", metavar="KxN",
              help="Teach as a person would: K sites drawn at random, with N trails to goals and N that fail on each. "
                   "All other sites are tested.")  # fmt: skip
@click.option("--draws", default=1, metavar="N", type=click.IntRange(1), show_default=True,
              help="Draw this many lessons.")  # fmt: skip
@seed_option
@click.option("--budget", default=BUDGET, metavar="PAGES", type=click.IntRange(1), show_default=True,
              help="Recognise goals among this many pages, the first that are fetched.")  # fmt: skip
@click.option("--without-goals", is_flag=True, help="Test every site also with its goal pages removed.")
@click.option("--complete-lists", is_flag=True,
              help="Teach the strategy adaptive all goals among the first pages of each taught site.")  # fmt: skip
@click.option("--questions", default=0, metavar="N", type=click.IntRange(0), show_default=True,
              help="Let the strategy adaptive ask about N pages of each tested site; the labels answer.")  # fmt: skip
@click.option("--pass-answers", is_flag=True,
              help="With --lesson and --questions, let the answers about a site teach the sites tested after it, as "
                   "`wayhound forage --ask` does.")  # fmt: skip
@click.option(
    "--blind-to-urls", is_flag=True, help="Let the strategy adaptive use no words and shapes of URLs."
)
@click.option("--strategy", "strategies", multiple=True, type=click.Choice(NAMES),
              help="Test this strategy; may be repeated.  [default: all]")  # fmt: skip
@click.option("--plot", "plot_path", metavar="PATH", type=click.Path(path_type=Path, dir_okay=False),
              help="Draw the curves to this picture.")  # fmt: skip
@cluster_option
@json_option
def evaluate(
    folders: tuple[Path, ...],
    goals: tuple[str, ...],
    taught_folders: tuple[Path, ...],
    taught: Taught,
    trails_a_site: int,
    lesson: str | None,
    draws: int,
    seed: int,
    budget: int,
    without_goals: bool,
    complete_lists: bool,
    questions: int,
    pass_answers: bool,
    blind_to_urls: bool,
    strategies: tuple[str, ...],
    plot_path: Path | None,
    cluster: str | None,
    as_json: bool,
) -> None:
    """Compare strategies on recorded sites. FOLDERS are site folders, or folders of them.

    A recorded site is a closed world: a link whose target is not archived does not exist. A site that is tested
    is never taught.
    """
    chosen = list(dict.fromkeys(strategies or NAMES))
    teaching = load_worlds(taught_folders) if taught_folders else []
    worlds = load_worlds(folders)
    _check_goals(worlds, goals)
    evaluation = Evaluation(
        worlds,
        teaching,
        goals,
        chosen,
        trails_a_site=trails_a_site,
        taught=taught,
        lesson=LessonSize.parse(lesson) if lesson else None,
        draws=draws,
        budget=budget,
        without_goals=without_goals,
        seed=seed,
        use_urls=not blind_to_urls,
        complete_lists=complete_lists,
        questions=questions,
        pass_answers=pass_answers,
    )
    outcomes: list[Outcome] = []
    with Progress(console=err, transient=True) as progress:
        task = progress.add_task("foraging", total=len(evaluation))
        for outcome in evaluation.run(cluster or ""):
            outcomes.append(outcome)
            progress.update(task, advance=1, description=f"{outcome.site} {outcome.goal} {outcome.strategy}")
    if plot_path:
        plot(outcomes, plot_path)
    if as_json:
        write_json(outcomes_to_json(outcomes))
        return
    out.print(_table(outcomes))
    rows = means(outcomes)
    out.print(_order_table(rows))
    if any(row["f1"] is not None for row in rows):
        out.print(_recognition_table(rows, budget))
    if best := recommend(outcomes):
        out.print(format_recommendation(best, len({outcome.task for outcome in outcomes})))


def _check_goals(worlds: Sequence[World], goals: Sequence[str]) -> None:
    """Raise UsageError if no page has any of the labels, and warn of one that none has: it may be mistyped."""
    missing = [goal for goal in goals if not any(world.reachable_goals(goal) for world in worlds)]
    if not missing:
        return
    labels = sorted({world.labels[url] for world in worlds for url in world.depths if url in world.labels})
    others = f"Their labels are: {', '.join(labels)}." if labels else "None of their pages has a label."
    message = f"No reachable page is labelled {' or '.join(missing)}. {others}"
    if len(missing) == len(goals):
        raise UsageError(message)
    err.print(message, markup=False)


def _table(outcomes: list[Outcome]) -> Table:
    names = ("goal", "site", "strategy", "taught")
    figures = ("goals", *(f"{share} %" for share in SHARES), "auc", "CPU s")
    table = plain_table(*names, *figures, right=figures)
    table.title = "Pages fetched until … of the goals, and how many times the oracle's"
    for column in table.columns:
        column.no_wrap = True
    for outcome in outcomes:
        pages = [_figure(outcome.pages_to[str(share)], outcome.ratio[str(share)]) for share in SHARES]
        row = [outcome.goal, outcome.site, outcome.strategy, outcome.taught, str(outcome.reachable), *pages]
        table.add_row(*row, f"{outcome.auc:.2f}", f"{outcome.cpu_seconds:.1f}")
    return table


def _figure(pages: float | None, ratio: float | None) -> str:
    return "never" if pages is None else f"{pages:.0f} ({ratio or 0:.1f}×)"


def _order_table(rows: list[dict[str, Any]]) -> Table:
    figures = ("× oracle", "× breadth-first", "auc", "training s", "CPU ms a page")
    table = plain_table("goal", "strategy", "taught", *figures, right=figures)
    table.title = (
        "Geometric means over sites: against the oracle, and against breadth-first, at 75 %; and the costs"
    )
    for row in rows:
        order = [row["ratio"]["75"], row["pages_to_vs_breadth_first"]["75"], row["auc"]]
        values = [*order, row["training_seconds"], row["cpu_ms_per_page"]]
        table.add_row(row["goal"], row["strategy"], row["taught"], *map(_mean, values))
    return table


_RECOGNITION = {
    "precision": "precision",
    "recall": "recall",
    "F1": "f1",
    "nothing": "nothing_reported",
    "false goals": "false_goal_share",
}


def _recognition_table(rows: list[dict[str, Any]], budget: int) -> Table:
    table = plain_table("goal", "strategy", *_RECOGNITION, right=tuple(_RECOGNITION))
    table.title = f"Means over sites: goals recognised among the first {budget} pages"
    for row in rows:
        if row["f1"] is not None:
            values = [row[key] for key in _RECOGNITION.values()]
            table.add_row(row["goal"], row["strategy"], *map(_mean, values))
    return table


def _mean(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"
