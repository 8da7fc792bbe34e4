"""Parts that all benchmarks share: a table for people, JSON for machines, bars that fail when they are missed."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

Cell = str | int | float | None
FILE_WIDTH = 160


@dataclass(frozen=True, slots=True)
class Bar:
    """A figure that must not be below `least` nor above `most`."""

    name: str
    value: float | None
    least: float | None = None
    most: float | None = None

    @property
    def met(self) -> bool:
        if self.value is None:
            return False
        return (self.least is None or self.value >= self.least) and (
            self.most is None or self.value <= self.most
        )

    @property
    def wanted(self) -> str:
        if self.least is not None and self.least == self.most:
            return f"exactly {self.least:g}"
        bounds = [
            f"at least {self.least:g}" if self.least is not None else "",
            f"at most {self.most:g}" if self.most is not None else "",
        ]
        return " and ".join(filter(None, bounds))


@dataclass(frozen=True, slots=True)
class Report:
    """One table with its bars; `details` go into the JSON alone."""

    title: str
    header: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    bars: Sequence[Bar] = ()
    details: dict[str, Any] = field(default_factory=dict)


def add_output_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write everything as JSON")


def add_resume_options(parser: argparse.ArgumentParser, runs: str) -> None:
    """Add `--resume FILE` and `--minutes N` to a bench whose runs take longer together than one call of it may."""
    parser.add_argument(
        "--resume",
        type=Path,
        metavar="FILE",
        help=f"add to the {runs} in FILE, which becomes one line longer for each",
    )
    parser.add_argument("--minutes", type=float, help=f"begin none of the {runs} after so many")


def add_data_option(parser: argparse.ArgumentParser, *, required: bool = True) -> None:
    default = os.environ.get("WAYHOUND_DATA")
    parser.add_argument(
        "--data",
        type=Path,
        default=Path(default) if default else None,
        required=required and not default,
        help="the data folder; or set WAYHOUND_DATA",
    )


def finish(reports: Report | Sequence[Report], arguments: argparse.Namespace) -> int:
    """Print the reports, write the JSON if asked for; the exit code is 1 when a bar is missed."""
    several = [reports] if isinstance(reports, Report) else list(reports)
    for report in several:
        print_report(report)
    if arguments.json:
        arguments.json.write_text(json.dumps([_as_data(report) for report in several], indent=1) + "\n")
    missed = [bar for report in several for bar in report.bars if not bar.met]
    for bar in missed:
        print(f"MISSED: {bar.name} is {_shown(bar.value)}, wanted {bar.wanted}", file=sys.stderr)
    return 1 if missed else 0


def print_report(report: Report) -> None:
    # What is written to a file is not cut to the width that a terminal would have.
    console = Console(highlight=False, soft_wrap=True, width=None if sys.stdout.isatty() else FILE_WIDTH)
    table = Table(*report.header, title=report.title, title_justify="left")
    for row in report.rows:
        table.add_row(*(_shown(cell) for cell in row))
    console.print(table)
    for bar in report.bars:
        console.print(f"  {'met   ' if bar.met else 'MISSED'} {bar.name}: {_shown(bar.value)} ({bar.wanted})")


def _as_data(report: Report) -> dict[str, Any]:
    bars = [
        {"name": bar.name, "value": bar.value, "least": bar.least, "most": bar.most, "met": bar.met}
        for bar in report.bars
    ]
    return {"title": report.title, "header": list(report.header), "rows": [list(row) for row in report.rows],
            "bars": bars, **report.details}  # fmt: skip


def _shown(cell: Cell) -> str:
    if cell is None:
        return "–"
    return f"{cell:.4g}" if isinstance(cell, float) else str(cell)
