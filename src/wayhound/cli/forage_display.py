"""What a person sees while a forage runs: how far it is, how fast, what came back, how long it may take."""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Self

from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from wayhound.cli.console import count, err, short_url
from wayhound.store.forage import Progress, SiteSummary
from wayhound.wording.faults import ending_words

LONG_TABLE = 40  # more sites than this are summed up by how they ended
PLAIN_SECONDS = 5.0  # between two lines where there is no terminal


@dataclass
class ForageDisplay:
    """A live line on a terminal, a plain line every few seconds elsewhere."""

    before: Progress  # as it stood when this command began, so that speed counts only what is new
    started: float = field(default_factory=time.monotonic)
    _live: Live | None = None
    _last_plain: float = field(default_factory=time.monotonic)

    def __enter__(self) -> Self:
        if err.is_terminal:
            # where stdout is a file or a pipe, what is printed must go there and not above the display
            both_shown = sys.stdout.isatty()
            self._live = Live(console=err, refresh_per_second=8, transient=True, redirect_stdout=both_shown)
            self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._live:
            self._live.stop()

    def show(self, now: Progress) -> None:
        if self._live:
            self._live.update(self._panel(now))
        elif time.monotonic() - self._last_plain >= PLAIN_SECONDS:
            self._last_plain = time.monotonic()
            err.print(" · ".join([f"{now.done}/{now.sites} sites", *self._figures(now)]))

    def _panel(self, now: Progress) -> Table:
        grid = Table.grid(padding=(0, 1))
        bar = ProgressBar(total=max(now.sites, 1), completed=now.done, width=30)
        grid.add_row(bar, Text(f"{now.done}/{now.sites} sites", style="bold"), "  ".join(self._figures(now)))
        return grid

    def _figures(self, now: Progress) -> list[str]:
        seconds = max(time.monotonic() - self.started, 0.001)
        speed = (now.spent - self.before.spent) / seconds
        figures = [count(now.spent, "page"), count(now.goals, "goal"), f"{speed:.1f} pages/s"]
        if left := self._time_left(now, seconds):
            figures.append(f"{left} left")
        return [*figures, reasons(now.outcomes)] if now.outcomes else figures

    def _time_left(self, now: Progress, seconds: float) -> str:
        finished = now.done - self.before.done
        if not finished or now.is_over:
            return ""
        return f"about {in_words(seconds / finished * (now.sites - now.done))}"


def in_words(seconds: float) -> str:
    """A length of time as one would say it: 40 s, 12 min, 3 h."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def reasons(outcomes: Mapping[str, int]) -> str:
    """Reason codes with their counts, most frequent first: `ok 120, http_404 3`."""
    return ", ".join(f"{reason} {visits}" for reason, visits in Counter(outcomes).most_common(5))


def closing_table(sites: Iterable[SiteSummary]) -> Table:
    """Every site and why it stopped; or, of many sites, how many stopped for which reason."""
    rows = list(sites)
    return _each_site(rows) if len(rows) <= LONG_TABLE else _by_reason(rows)


def _each_site(rows: list[SiteSummary]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("site", "pages", "goals", "ended because"):
        table.add_column(name, justify="right" if name in ("pages", "goals") else "left", overflow="fold")
    for row in rows:
        table.add_row(Text(short_url(row.start)), str(row.spent), str(row.goals), _ending(row))
    return table


def _by_reason(rows: list[SiteSummary]) -> Table:
    table = Table("ended because", box=None, pad_edge=False, header_style="bold")
    for name in ("sites", "pages", "goals"):
        table.add_column(name, justify="right")
    for reason, sites in Counter(map(_ending, rows)).most_common():
        same = [row for row in rows if _ending(row) == reason]
        table.add_row(reason, str(sites), str(sum(r.spent for r in same)), str(sum(r.goals for r in same)))
    return table


def _ending(row: SiteSummary) -> str:
    return ending_words(row.reason) if row.state == "done" else "not finished"
