"""Output: data to stdout, progress and messages to stderr."""

from __future__ import annotations

import importlib.util
import json
import os
import shlex
import shutil
import sys
import time
from collections.abc import Collection
from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from wayhound.errors import MissingExtra
from wayhound.trail import FAIL, GOAL
from wayhound.wording.quantities import format_label

LABEL_STYLES = {GOAL: "green", FAIL: "red"}

_PIPE_WIDTH = 10_000

# Tables in a file or a pipe are for `grep` and the like: a folded address or title would not be found.
out = Console(highlight=False, soft_wrap=True, width=None if sys.stdout.isatty() else _PIPE_WIDTH)
err = Console(stderr=True, highlight=False, soft_wrap=True)


def write_line(line: str) -> None:
    """Write a line of data to the `sys.stdout` of now, so that a live display can make room for it."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def write_json(data: object, *, indent: int | None = None) -> None:
    """Write data as one line of JSON, or indented for people to read."""
    write_line(json.dumps(data, ensure_ascii=False, indent=indent, default=str))


def plain_table(*columns: str, right: Collection[str] = ()) -> Table:
    """Return a table without lines, so that it can be copied; the columns in `right` are numbers."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in columns:
        table.add_column(name, justify="right" if name in right else "left", overflow="fold")
    return table


def label_text(label: str) -> Text:
    """Return a label in words, goals in green and rejections in red."""
    return Text(format_label(label), style=LABEL_STYLES.get(label, ""))


def require_extra(feature: str, extra: str, *modules: str) -> None:
    """Raise MissingExtra if a module that only an extra brings is not installed."""
    if missing := [name for name in modules if importlib.util.find_spec(name) is None]:
        raise MissingExtra(feature, missing[0], extra)


def command_for(folder: Path, arguments: str) -> str:
    """Return a command on a workspace as it can be typed here: `wayhound train -w mine`."""
    option = "" if folder.resolve() == Path.cwd() else f" -w {shlex.quote(short_path(folder))}"
    return f"{program_name()} {arguments}{option}"


def short_path(folder: Path) -> str:
    """Return the path from here if the folder is below, else the absolute path."""
    inside = os.path.relpath(folder.resolve())
    if inside == ".":
        return "this folder"
    return str(folder.resolve()) if inside.startswith("..") else inside


def program_name() -> str:
    """Return `wayhound`, or its path where the environment that holds it is not active."""
    called = Path(sys.argv[0])
    if called.name != "wayhound" or shutil.which("wayhound"):
        return "wayhound"
    return shlex.quote(min(str(called), os.path.relpath(called), key=len))


def until_interrupted() -> None:
    """Wait until Ctrl-C."""
    try:
        while True:
            time.sleep(3600)
    except KeyboardInterrupt:
        return


def next_steps(*steps: tuple[str, str]) -> None:
    """Print what to do next: commands as they can be typed, each with its purpose."""
    err.print("\nNext:")
    wide = max(len(command) for command, _ in steps)
    aside = err.width >= wide + max(len(purpose) for _, purpose in steps) + 6
    for command, purpose in steps:
        gap = " " * (wide - len(command) + 3) if aside else "\n      "
        err.print(f"  [bold]{escape(command)}[/]{gap}[dim]{escape(purpose)}[/]")
