"""`wayhound forage`: walk sites, a few fetches each, and keep what is found."""

from __future__ import annotations

import asyncio
import json
import re
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from wayhound.app.forage import Order, a_mark, open_run
from wayhound.app.site_list import read_sites
from wayhound.app.workers import WorkerOrder, forage_until_stdin_ends
from wayhound.cli.console import err, write_line
from wayhound.cli.forage_display import conclude, forage_with_display, warn_about
from wayhound.cli.language import workspace_option
from wayhound.config import Config
from wayhound.forage.scorers import SCORERS
from wayhound.site import Site
from wayhound.store.forage import RunLimits
from wayhound.visit import Visit
from wayhound.wording.runs import format_skipped
from wayhound.workspace import Workspace


def requested_sites(arguments: Iterable[str]) -> list[Site]:
    """Return the sites that the arguments name; rows without an address are reported on stderr."""
    listed = read_sites(arguments)
    if skipped := format_skipped(listed.skipped):
        err.print(skipped, markup=False)
    return list(listed.sites.values())


@click.command()
@click.argument("seeds", nargs=-1, required=True)
@workspace_option
@click.option("--strategy", type=click.Choice(sorted(SCORERS)),
              help="The order in which links are followed.  [default: best-first with --keyword or --like, "
                   "breadth-first with --goal, else by the model that was trained last]")  # fmt: skip
@click.option("--model", default="", help="A trained model.  [default: the last one of the strategy]")
@click.option("--keyword", "keywords", multiple=True,
              help="A word of the wanted pages; may be said more than once.")  # fmt: skip
@click.option("--like", "examples", multiple=True, type=click.Path(dir_okay=False),
              help="A saved HTML page like those wanted.")  # fmt: skip
@click.option("--goal", default="",
              help="Pages whose URL or title match this pattern are goals.  [default: the keywords]")  # fmt: skip
@click.option("--goals", "goals_wanted", type=click.IntRange(1), help="Stop a site after so many goals.")
@click.option("--one-goal", "best_goal_only", is_flag=True,
              help="One goal a site: go on only while a link outscores it.")  # fmt: skip
@click.option("--files", "take_files", is_flag=True,
              help="Take the PDF and PostScript files that goal pages link to.")  # fmt: skip
@click.option("--min-score", default=0.0, type=click.FloatRange(0, 1), help="Leave links below alone.")
@click.option("--budget", type=click.IntRange(0), help="Pages a site.  [default: wayhound.toml]")
@click.option("--total-budget", type=click.IntRange(0), help="Pages in all.")
@click.option("--depth", type=click.IntRange(0), help="Clicks from the start page.")
@click.option("--delay", type=click.FloatRange(0), help="Seconds between two requests to a host.")
@click.option("--seed", default=0, help="For random.")
@click.option("--workers", default=1, type=click.IntRange(1, 64), show_default=True, help="Processes.")
@click.option("--agent", help="The name that we crawl under.")
@click.option("--contact", help="A URL or mail address for those whose sites we visit.")
@click.option("--allow-private", is_flag=True, help="Also fetch from loopback and private addresses.")
@click.option("--again", is_flag=True,
              help="Once more: a new run if the last one is finished, else that one goes on.")  # fmt: skip
@click.option("--fresh", is_flag=True, help="A new run, even if the same one can be continued.")
@click.option("--json", "as_json", is_flag=True, help="Goals as JSON lines.")
def forage(
    seeds: tuple[str, ...],
    folder: Path,
    workers: int,
    as_json: bool,
    again: bool,
    fresh: bool,
    **options: Any,
) -> None:
    """Visit each site in SEEDS and keep its pages.

    SEEDS are web addresses, or files of them: one a line, or a CSV table with a column of them. The same
    command again goes on where it stopped, whatever stopped it; with --again, sites that are done are walked
    once more, and pages that have not changed are not sent again. Goals, the pages that you look for, are
    printed as they are found; `wayhound export` gives everything.

    \b
    wayhound forage sites.txt --budget 30            by what was taught
    wayhound forage firms.csv --keyword contact      by a word, without teaching
    wayhound forage sites.txt --again                every month: what is new?
    """
    sites = requested_sites(seeds)
    with Workspace.open(folder) as workspace:
        order = _order(workspace, options, a_mark() if fresh else "")
        config = _configured(workspace.config, options)
        limits = _run_limits(config, options)
        run = open_run(workspace, order, limits, sites, time.time(), again=again)
        warn_about(workspace, run, len(sites))
        stopped = asyncio.run(forage_with_display(workspace, run, config, workers, goal_printer(as_json)))
        conclude(workspace, run, stopped=stopped, new_run=fresh)
    if stopped:
        raise SystemExit(130)


@click.command(hidden=True)
@click.argument("folder", type=click.Path(path_type=Path))
@click.argument("number", type=int)
def forage_worker(folder: Path, number: int) -> None:
    """One process of `wayhound forage --workers`: its order is a line on stdin, and it ends when stdin does.
    It tells its goals on stdout."""
    line = sys.stdin.readline()
    if not line.endswith("\n"):
        return  # stopped before it began
    with Workspace.open(folder) as workspace:
        asyncio.run(forage_until_stdin_ends(workspace, WorkerOrder.from_json(line), number))


def _order(workspace: Workspace, options: dict[str, Any], fresh: str) -> Order:
    return Order(
        strategy=options["strategy"] or _usual_strategy(workspace, options),
        model=options["model"],
        goal=options["goal"] or "|".join(re.escape(word) for word in options["keywords"]),
        keywords=options["keywords"],
        examples=options["examples"],
        seed=options["seed"],
        goals_wanted=options["goals_wanted"],
        best_goal_only=options["best_goal_only"],
        min_score=options["min_score"],
        take_files=options["take_files"],
        fresh=fresh,
    )


def _usual_strategy(workspace: Workspace, options: dict[str, Any]) -> str:
    """What was asked for decides; when nothing was, what was taught."""
    models = workspace.forage_models
    if options["model"]:
        return models.card(options["model"]).strategy
    if options["keywords"] or options["examples"]:
        return "best-first"
    return models.last().strategy if models.names() and not options["goal"] else "breadth-first"


def _configured(config: Config, options: dict[str, Any]) -> Config:
    """The workspace's settings, with those of the command line over them."""
    agent = {"name": options["agent"], "contact": options["contact"]}
    fetch = {"delay_seconds": options["delay"], "allow_private": options["allow_private"] or None}
    return replace(
        config,
        agent=replace(config.agent, **{name: value for name, value in agent.items() if value is not None}),
        fetch=replace(config.fetch, **{name: value for name, value in fetch.items() if value is not None}),
    )


def _run_limits(config: Config, options: dict[str, Any]) -> RunLimits:
    budget = config.forage.budget_per_site if options["budget"] is None else options["budget"]
    depth = config.forage.max_depth if options["depth"] is None else options["depth"]
    return RunLimits(budget, options["total_budget"], depth)


def goal_printer(as_json: bool) -> Callable[[Visit], None]:
    """Prints a goal when it is found: its URL and title, or JSON."""

    def show(visit: Visit) -> None:
        if not visit.is_goal:
            return
        if as_json:
            goal = {"url": visit.url, "title": visit.title, "site": visit.site, "probability": visit.goal}
            write_line(json.dumps(goal | {"why": visit.why}, ensure_ascii=False))
        else:
            write_line(f"{visit.url}\t{visit.title}")

    return show
