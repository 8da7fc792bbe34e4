"""`wayhound forage`: visit sites, with few fetches each, and keep their pages and goals."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import click

from wayhound.app.forage import open_run, override_config, run_limits
from wayhound.app.forage_worker import renders_pages
from wayhound.app.order import Order, can_ask, complete_order, new_nonce, strategy_names
from wayhound.app.ray_cluster import ClusterOptions, check_cluster
from wayhound.app.site_list import SiteTable, read_sites, read_table, with_hosts
from wayhound.app.workers import WorkerOrder, forage_until_stdin_ends
from wayhound.cli.console import err, write_json, write_line
from wayhound.cli.forage_display import conclude, forage_with_display, warn_about
from wayhound.cli.language import (
    Command,
    budget_option,
    cluster_options,
    fetch_options,
    json_option,
    out_option,
    seed_option,
    workers_option,
    workspace_option,
)
from wayhound.errors import UsageError
from wayhound.site import Site
from wayhound.store.goals import FoundGoal
from wayhound.visit import Visit
from wayhound.wording.quantities import count
from wayhound.wording.runs import format_skipped
from wayhound.workspace import Workspace


def _places(workspace: Workspace, cluster: str, workers_per_node: int | None) -> ClusterOptions:
    """Return the machines to forage on. Raises UsageError if they cannot."""
    places = ClusterOptions(cluster, workers_per_node)
    check_cluster(workspace, places)
    return places


def requested_sites(arguments: Iterable[str]) -> list[Site]:
    """Return the sites that the arguments name; lines without an address are reported on stderr."""
    listed = read_sites(arguments)
    if skipped := format_skipped(listed.skipped):
        err.print(skipped, markup=False)
    return list(listed.sites.values())


def own_table(arguments: Sequence[str]) -> SiteTable | None:
    """Return the table of sites that a command names, with all its columns; None for several, or none."""
    return read_table(Path(arguments[0])) if len(arguments) == 1 and Path(arguments[0]).is_file() else None


RENAMED = {
    "--goal": "--goal-pattern",
    "--goals": "--max-goals",
    "--one-goal": "--best-goal",
    "--fresh": "--new-run",
}


@click.command(cls=Command, renamed=RENAMED)
@click.argument("sites", nargs=-1, required=True)
@workspace_option
@click.option("--keyword", "keywords", multiple=True, metavar="WORD",
              help="Look for pages with this word, or one of the same meaning, in their name; with --model, follow "
                   "links with it sooner. May be repeated.")  # fmt: skip
@click.option("--like", "examples", multiple=True, metavar="FILE", type=click.Path(dir_okay=False),
              help="Look for pages like this saved HTML page; may be repeated.")  # fmt: skip
@click.option("--goal-pattern", default="", metavar="REGEX",
              help="Take pages whose URL or title match for goals.  [default: the keywords]")  # fmt: skip
@click.option("--model", default="", metavar="NAME",
              help="Look for what this model was taught.  [default: the last one trained]")  # fmt: skip
@click.option("--strategy", type=click.Choice(strategy_names()),
              help="The order in which links are followed.  [default: best-first with --keyword or --like, "
                   "breadth-first with --goal-pattern, else that of the model]")  # fmt: skip
@click.option("--max-goals", type=click.IntRange(1), metavar="N",
              help="Stop a site after this many goals. With --keyword, only pages that have the word itself in title "
                   "or address count until the site ends.")  # fmt: skip
@click.option("--best-goal", is_flag=True,
              help="Look for one goal a site: continue only while a link scores higher than it.")  # fmt: skip
@click.option("--all-goals", is_flag=True,
              help="Go on after the first goal of a site, even if every taught site had one.")  # fmt: skip
@click.option("--files", "take_files", is_flag=True,
              help="Also fetch the PDF and PostScript files that goal pages link to.")  # fmt: skip
@click.option("--facts", default="", metavar="FACTS",
              help="Look for facts, such as contact; a site ends when all are found (`wayhound extract`).")  # fmt: skip
@click.option("--workload", default="", metavar="FILE",
              help="A file of queries, or `portal` for those of its visitors: what they ask for is fetched first, "
                   "over all sites.")  # fmt: skip
@out_option
@click.option("--host", "hosts", multiple=True, metavar="HOST",
              help="Take this host for a part of the sites too; may be repeated.  [default: their own domains "
                   "alone]")  # fmt: skip
@click.option("--min-score", default=0.0, type=click.FloatRange(0, 1), metavar="SCORE",
              help="Do not follow links that score below this.")  # fmt: skip
@click.option("--min-probability", type=click.FloatRange(0, 1), metavar="P",
              help="Report pages from this probability on as goals, and cut finished sites anew, without a fetch.  "
                   "[default: wayhound.toml; else as many as balance misses and false goals best]")  # fmt: skip
@click.option("--min-goals-left", type=click.FloatRange(0), metavar="N",
              help="End a site when the rest of its budget is expected to find fewer goals than this; 0 never does.  "
                   "[default: wayhound.toml]")  # fmt: skip
@click.option("--ask", "questions", type=click.IntRange(0), metavar="N",
              help="Ask up to so many one-key questions about each site while the forage runs; the answers act at "
                   "once.")  # fmt: skip
@budget_option()
@click.option("--total-budget", type=click.IntRange(0), metavar="PAGES",
              help="Fetch at most this many pages on all sites together.")  # fmt: skip
@fetch_options
@click.option("--render", type=click.Choice(["auto", "never", "always"]),
              help="Show pages to a browser: only those made by scripts, none, or all.  [default: wayhound.toml; "
                   "else auto, where a browser is installed]")  # fmt: skip
@seed_option
@workers_option(1)
@cluster_options
@click.option("--agent", metavar="NAME", help="The user agent to crawl as.  [default: wayhound.toml]")
@click.option("--contact", metavar="URL",
              help="A URL or mail address for those whose sites you visit.  [default: wayhound.toml]")  # fmt: skip
@click.option("--again", is_flag=True,
              help="Forage finished sites again, as a new run; an unfinished run is resumed.")  # fmt: skip
@click.option("--new-run", is_flag=True, help="Start a new run, even if one can be resumed.")
@click.option("--into", type=int, metavar="RUN",
              help="Add SITES to this run of the same options.  [default: other sites are another run]")  # fmt: skip
@json_option
def forage(
    sites: tuple[str, ...],
    folder: Path,
    workers: int,
    path: Path | None,
    as_json: bool,
    again: bool,
    new_run: bool,
    into: int | None,
    cluster: str | None,
    workers_per_node: int | None,
    **options: Any,
) -> int:
    """Visit SITES, and keep their pages and goals: the pages that you look for.

    SITES are web addresses, or files of them: one a line, or a CSV table with a column of them. The same command
    with the same SITES resumes what was stopped, for whatever reason; other SITES are another run. With --again,
    finished sites are foraged once more, and pages that have not changed are not sent again. Goals are printed as
    they are found; those of a taught model when their site ends, since all its pages together decide. Pages that may
    be goals are counted as likely. With --facts, the facts are printed at the end instead, or written to the file of
    --out.

    \b
    wayhound forage sites.txt --budget 30            look for what was taught
    wayhound forage firms.csv --keyword contact      look for a word, without teaching
    wayhound forage firms.csv --facts contact --out facts.csv
    wayhound forage sites.txt --again                every month: what is new?
    """
    if path is not None and not options["facts"]:
        raise UsageError(
            "--out is the file for facts: say which with --facts, or use `wayhound export` for goals."
        )
    file_format = _facts_format(path, as_json=as_json) if options["facts"] else ""
    requested = [with_hosts(site, options["hosts"]) for site in requested_sites(sites)]
    with Workspace.open(folder) as workspace:
        places = _places(workspace, cluster, workers_per_node) if cluster else None
        order = _order(workspace, options, new_nonce() if new_run else "")
        if options["questions"] and not can_ask(workspace, order):
            raise UsageError(
                f"--ask would ask nothing: the strategy {order.strategy} has no questions. Leave it out, or teach and "
                "train a model, which has."
            )
        config = override_config(
            workspace.config,
            agent=options["agent"],
            contact=options["contact"],
            delay_seconds=options["delay"],
            allow_private=options["allow_private"],
            render=options["render"],
        )
        limits = run_limits(
            config,
            budget=options["budget"],
            total_budget=options["total_budget"],
            max_depth=options["depth"],
            min_probability=options["min_probability"],
            questions=options["questions"],
            min_goals_left=options["min_goals_left"],
        )
        renders = renders_pages(config)
        run = open_run(
            workspace, order, limits, requested, time.time(), again=again, into=into, renders=renders
        )
        if into is None and (table := own_table(sites)):
            workspace.stores.forage.keep_list(run.id, table.headings, table.rows)
        warn_about(workspace, run, len(requested))
        # a table of facts is alone on stdout
        show = _goal_printer(as_json) if path or not order.facts else lambda _: None
        # answers change which pages are goals, so these are printed when nothing more is asked
        on_goal = show if not run.limits.questions else lambda _: None
        stopped = asyncio.run(forage_with_display(workspace, run, config, workers, on_goal, places))
        for goal in workspace.stores.goals.goals(run.id) if run.limits.questions else ():
            show(goal)
        if order.facts:
            _write_facts(workspace, order.facts, sites, path, run.id, file_format)
        fetched = conclude(workspace, run, stopped=stopped, new_run=new_run)
    if stopped:
        raise SystemExit(130)
    return 0 if fetched else 1


def _facts_format(path: Path | None, *, as_json: bool) -> str:
    """Return the format of a table of facts; without a path it goes to stdout, as CSV or as JSON lines."""
    from wayhound.cli.extract import format_by_ending  # noqa: PLC0415 - reads numbering plans

    return "jsonl" if as_json and path is None else format_by_ending(path)


def _write_facts(
    workspace: Workspace, facts: str, sites: Sequence[str], path: Path | None, run_id: int, file_format: str
) -> None:
    """Extract the facts of a run, and write them beside the table of sites, if one names them all."""
    from wayhound.app.facts.search import parse_wanted  # noqa: PLC0415
    from wayhound.cli.extract import run_extraction, write_table  # noqa: PLC0415

    wanted = parse_wanted(workspace, facts)
    run_extraction(workspace, wanted, run_id)
    rows = write_table(workspace, wanted, own_table(sites), path, file_format, run_id)
    if path is not None:
        err.print(f"{count(rows, 'row')} in {path}", markup=False)


@click.command(hidden=True)
@click.argument("folder", type=click.Path(path_type=Path))
@click.argument("number", type=int)
def forage_worker(folder: Path, number: int) -> None:
    """Run one process of `wayhound forage --workers`.

    Its order is one line on stdin. It writes its goals to stdout, and stops when stdin is closed.
    """
    line = sys.stdin.readline()
    if not line.endswith("\n"):
        return  # stopped before it began
    with Workspace.open(folder) as workspace:
        asyncio.run(forage_until_stdin_ends(workspace, WorkerOrder.from_json(line), number))


def _order(workspace: Workspace, options: dict[str, Any], fresh: str) -> Order:
    order = Order(
        strategy=options["strategy"] or "",
        model=options["model"],
        goal=options["goal_pattern"],
        keywords=options["keywords"],
        examples=options["examples"],
        seed=options["seed"],
        goals_wanted=options["max_goals"],
        best_goal_only=options["best_goal"],
        all_goals=options["all_goals"],
        min_score=options["min_score"],
        take_files=options["take_files"],
        facts=options["facts"],
        workload=options["workload"],
        fresh=fresh,
    )
    return complete_order(workspace, order)


def _address(found: Visit | FoundGoal) -> str:
    return found.address if isinstance(found, Visit) else found.url


def _goal_printer(as_json: bool) -> Callable[[Visit | FoundGoal], None]:
    """Return a callback that prints each goal: its URL and title. As JSON, likely goals are printed too."""

    def show(found: Visit | FoundGoal) -> None:
        if as_json:
            probability = found.probability
            if probability is None and isinstance(found, Visit):
                probability = found.goal
            goal = {"url": _address(found), "title": found.title, "site": found.site, "tier": found.tier}
            write_json(goal | {"probability": probability, "why": found.why})
        elif found.tier != "likely":
            write_line(f"{_address(found)}\t{found.title}")

    return show
