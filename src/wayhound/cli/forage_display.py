"""A forage at a terminal: live progress on stderr, Ctrl-C, and the table and next steps at the end."""

from __future__ import annotations

import asyncio
import re
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Self

from rich.console import Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from wayhound.app.order import Order, has_sites, previous_run, runs_of
from wayhound.app.workers import TimeBound, forage_run
from wayhound.cli.asking import Asker
from wayhound.cli.console import command_for, err, next_steps, short_path
from wayhound.config import Config
from wayhound.store.protocol import Progress, Run, SiteSummary, Store
from wayhound.visit import Visit
from wayhound.wording.faults import REMEDIES, format_ending
from wayhound.wording.quantities import count, short_url
from wayhound.wording.runs import (
    NO_GOALS,
    QUESTION_KEYS,
    format_goals_left,
    format_nodes,
    format_one_goal,
    format_outcomes,
    format_pages,
    format_rendered,
    format_result,
    format_resumed,
    format_sites_taught,
    format_start,
    format_time_left,
    format_unchanged,
    format_verdict,
)
from wayhound.workspace import Workspace

if TYPE_CHECKING:
    from wayhound.app.cluster import NodeProgress
    from wayhound.app.ray_cluster import ClusterOptions

POLL_SECONDS = 0.25
_REASON = re.compile(r"\((\w+)\)$")
LONG_TABLE = 40  # more sites than this are summed up by how they ended
PLAIN_SECONDS = 5.0  # between two lines where there is no terminal


async def forage_with_display(
    workspace: Workspace,
    run: Run,
    config: Config,
    workers: int,
    on_goal: Callable[[Visit], None],
    cluster: ClusterOptions | None = None,
) -> bool:
    """Forage with a live display. Return True if the user stopped it."""
    stop = asyncio.Event()
    _announce(workspace, run)
    asker = Asker(workspace, run)
    store = workspace.stores.forage
    bound = TimeBound.of(store, run, config, workers)
    with asker, ForageDisplay(store.progress(run.id), bound, asker) as display:
        _stop_on_signals(stop)
        watcher = asyncio.create_task(_watch(workspace, run, display))
        try:
            while True:
                await forage_run(
                    workspace,
                    run,
                    config,
                    workers=workers,
                    cluster=cluster,
                    on_goal=on_goal,
                    on_nodes=display.take_nodes,
                    stop=stop,
                )
                await display.asker.until_answered(stop)
                if stop.is_set() or store.progress(run.id).is_over:
                    break  # else answers have sent sites back
        finally:
            watcher.cancel()
    return stop.is_set()


def _stop_on_signals(stop: asyncio.Event) -> None:
    """Finish the requests under way at the first Ctrl-C, exit at the second; neither loses a saved page."""

    def ask() -> None:
        if stop.is_set():
            raise SystemExit(130)
        err.print("Stopping after the requests under way. Press Ctrl-C again to stop at once.")
        stop.set()

    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, ask)


async def _watch(workspace: Workspace, run: Run, display: ForageDisplay) -> None:
    while True:
        display.show(workspace.stores.forage.progress(run.id))
        await asyncio.sleep(POLL_SECONDS)


@dataclass
class ForageDisplay:
    """A live line on a terminal, a plain line every few seconds elsewhere."""

    before: Progress  # when this command began: speed and time left count only what is new
    bound: TimeBound
    asker: Asker
    started: float = field(default_factory=time.monotonic)
    _live: Live | None = None
    _nodes: str = ""
    _last_plain: float = field(default_factory=time.monotonic)

    def __enter__(self) -> Self:
        if err.is_terminal:
            # where stdout is a file or a pipe, goals must go there and not above the display
            both_shown = sys.stdout.isatty()
            self._live = Live(console=err, refresh_per_second=8, transient=True, redirect_stdout=both_shown)
            self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._live:
            self._live.stop()

    def take_nodes(self, nodes: list[NodeProgress]) -> None:
        """Show the machines of a cluster from now on."""
        self._nodes = format_nodes((node.name, node.workers, node.pages_per_second) for node in nodes)

    def show(self, now: Progress) -> None:
        question = self.asker.look()
        if self._live:
            self._live.update(self._panel(now, question))
        elif time.monotonic() - self._last_plain >= PLAIN_SECONDS:
            self._last_plain = time.monotonic()
            err.print(" · ".join([f"{now.done}/{now.sites} sites", *self._figures(now)]))

    def _panel(self, now: Progress, question: str) -> RenderableType:
        grid = Table.grid(padding=(0, 1))
        bar = ProgressBar(total=max(now.sites, 1), completed=now.done, width=30)
        grid.add_row(bar, Text(f"{now.done}/{now.sites} sites", style="bold"), "  ".join(self._figures(now)))
        if not question:
            return grid
        return Group(grid, Text(question, style="bold"), Text(QUESTION_KEYS, style="cyan"))

    def _figures(self, now: Progress) -> list[str]:
        seconds = max(time.monotonic() - self.started, 0.001)
        speed = (now.pages - self.before.pages) / seconds
        likely = [f"{now.likely} likely"] if now.likely else []
        likely += filter(None, [format_goals_left(now.goals_left)])
        figures = [format_pages(now), count(now.goals, "goal"), *likely, f"{speed:.1f} pages/s"]
        if self._nodes:
            figures.append(self._nodes)
        if left := self._time_left(now, seconds):
            figures.append(left)
        return [*figures, format_outcomes(now.outcomes)] if now.outcomes else figures

    def _time_left(self, now: Progress, seconds: float) -> str:
        """Return the time left: at most as long as the budget lasts, and once a site is done, about as long as that."""
        finished = now.done - self.before.done
        if now.is_over:
            return ""
        about = seconds / finished * (now.sites - now.done) if finished else None
        return format_time_left(about, self.bound.seconds(now, now.spent - self.before.spent, seconds))


def _announce(workspace: Workspace, run: Run) -> None:
    progress = workspace.stores.forage.progress(run.id)
    if run.is_new:
        before = previous_run(workspace.stores.forage, run)
        folder = short_path(workspace.folder)
        line = format_start(run.identity, progress.sites, folder, before.id if before else None)
        err.print(line, markup=False)
    elif progress.is_over:
        sites = count(progress.sites, "site")
        err.print(f"{sites} done before, by the same command. To forage them again, add --again.")
    else:
        err.print(format_resumed(progress, run.retried))


def warn_about(workspace: Workspace, run: Run, requested: int) -> None:
    """Warn of an earlier run of the same options with other sites, and of a forage without a goal."""
    order = Order.from_identity(run.identity)
    if order.best_goal_only and order.model and workspace.forage_models.card(order.model).one_goal:
        err.print(format_one_goal("command line"))
    others = workspace.stores.forage.progress(run.id).sites - requested
    if others > 0:
        err.print(f"The run also has {count(others, 'site')} of earlier lists.")
    if run.is_new and (other := _run_of_other_sites(workspace.stores.forage, run, order)):
        err.print(
            f"Run {other.id} looked for the same on another list of sites, and is left as it is. To add these sites "
            f"to it instead: --into {other.id}",
            markup=False,
        )
    if not (order.model or order.goal or order.facts):
        err.print(NO_GOALS)


def _run_of_other_sites(store: Store, run: Run, order: Order) -> Run | None:
    starts = {site.start for site in store.sites(run.id)}
    last = next((other for other in runs_of(store, order) if other.id < run.id), None)
    return last if last and not has_sites(store, last, starts) else None


def conclude(workspace: Workspace, run: Run, *, stopped: bool, new_run: bool) -> bool:
    """Print every site, the totals, and what to do next. Return False if no page of any site could be fetched."""
    store = workspace.stores.forage
    progress, sites = store.progress(run.id), list(store.sites(run.id))
    err.print()
    err.print(closing_table(sites))
    err.print(f"\n{format_result(progress, sites)}")
    for line in format_rendered(store.rendered(run.id)):
        err.print(line, markup=False)
    if stopped:
        err.print(f"Stopped. The same command{' without --new-run' if new_run else ''} resumes it.")
        return True
    if waiting := len(workspace.stores.site_notes.waiting(run.id)):
        err.print(
            f"Questions that wait for you: {waiting}. The same command asks them, and so does the studio."
        )
    if taught := format_sites_taught(workspace.stores.site_notes.sites_taught(run.id)):
        err.print(taught)
    steps = _next(workspace, Order.from_identity(run.identity), progress, sites)
    if previous_run(store, run):
        from wayhound.cli.compare import since_before  # noqa: PLC0415 - only what repeats a run compares

        if unchanged := store.not_modified(run.id):
            err.print(format_unchanged(unchanged, progress.pages), markup=False)
        err.print(since_before(workspace, run), markup=False)
        steps.insert(0, (command_for(workspace.folder, "compare"), "goals that are new, changed or gone"))
    next_steps(*steps)
    return bool(progress.pages)


def _next(
    workspace: Workspace, order: Order, progress: Progress, sites: list[SiteSummary]
) -> list[tuple[str, str]]:
    folder = workspace.folder
    if order.wants_facts_alone and progress.goals:
        return [
            (
                command_for(folder, f"extract {order.facts} --out facts.csv"),
                "the facts of all runs as a table",
            ),
            (command_for(folder, "studio"), "look through them in a browser, and correct what is wrong"),
            (
                command_for(folder, "status --goals"),
                "each page with facts, and the clicks that lead there",
            ),
        ]
    if progress.goals or progress.likely:
        return [
            (command_for(folder, "status --goals"), "each goal, the clicks that lead there, and why"),
            (command_for(folder, "export goals --out goals.csv"), "all goals as a table"),
            (
                command_for(folder, "export sites --out sites.csv"),
                "every site: how many goals, why it stopped",
            ),
            (command_for(folder, "studio"), "look through them in a browser, and reject what is wrong"),
        ]
    if not progress.pages or all(site.reason.endswith("(needs_browser)") for site in sites):
        return [_remedy(folder, sites)]
    if order.model and sites:
        start = sites[0].start
        return [
            (command_for(folder, f"explain {start}"), "how the links of this start page are rated, and why"),
            (command_for(folder, f"teach {start}"), "show the way on one of these sites too"),
        ]
    pages = (
        command_for(folder, "export pages --out pages.csv"),
        "every page, with the clicks that led there",
    )
    if order.goal:
        start = sites[0].start if sites else "https://one.example"
        return [pages, (command_for(folder, f"teach {start}"), "show the way where words are not enough")]
    return [
        pages,
        (command_for(folder, "forage … --keyword contact"), "say by words what you are looking for"),
    ]


def _remedy(folder: Path, sites: list[SiteSummary]) -> tuple[str, str]:
    """Return the command that helps where nothing could be fetched, by the reason that most sites have."""
    reasons = Counter(match[1] for site in sites if (match := _REASON.search(site.reason)))
    (reason, _), *_ = reasons.most_common(1) or [("", 0)]
    option, purpose = REMEDIES.get(reason, ("", "the same command again, once the cause is removed"))
    return command_for(folder, f"forage …{option}"), purpose


def closing_table(sites: Iterable[SiteSummary]) -> Table:
    """Return a row per site and why it stopped; above `LONG_TABLE` sites, a row per reason."""
    rows = list(sites)
    return _site_rows(rows) if len(rows) <= LONG_TABLE else _reason_rows(rows)


def _site_rows(rows: list[SiteSummary]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    numbers = ("pages", "goals", "likely") if _has_tiers(rows) else ("pages", "goals")
    for name in ("site", *numbers, "stopped because"):
        table.add_column(name, justify="right" if name in numbers else "left", overflow="fold")
    for row in rows:
        figures = (row.pages, row.goals, row.likely)[: len(numbers)]
        parts = (format_verdict(row), _ending(row), format_goals_left(row.goals_left))
        ending = "; ".join(filter(None, parts))
        table.add_row(Text(short_url(row.start)), *map(str, figures), ending)
    return table


def _has_tiers(rows: Iterable[SiteSummary]) -> bool:
    return any(row.none_probability is not None for row in rows)


def _reason_rows(rows: list[SiteSummary]) -> Table:
    table = Table("stopped because", box=None, pad_edge=False, header_style="bold")
    columns = ["sites", "without goals", "pages", "goals", "likely"]
    if not _has_tiers(rows):
        columns = ["sites", "pages", "goals"]
    for name in columns:
        table.add_column(name, justify="right")
    for reason, sites in Counter(map(_ending, rows)).most_common():
        same = [row for row in rows if _ending(row) == reason]
        figures = {
            "sites": sites,
            "without goals": sum(not row.goals for row in same),
            "pages": sum(row.pages for row in same),
            "goals": sum(row.goals for row in same),
            "likely": sum(row.likely for row in same),
        }
        table.add_row(reason, *(str(figures[name]) for name in columns))
    return table


def _ending(row: SiteSummary) -> str:
    return format_ending(row.reason, "command line") if row.state == "done" else "not finished"
