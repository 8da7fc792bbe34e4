"""Data goes to stdout, everything said beside it to stderr."""

from __future__ import annotations

import importlib.util
import os
import shlex
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import click
from rich.console import Console
from rich.markup import escape
from rich.text import Text

from wayhound.errors import MissingExtra
from wayhound.trail import FAIL, GOAL
from wayhound.wording.labels import format_label

AnyFunction = TypeVar("AnyFunction", bound=Callable[..., object])

out = Console(highlight=False, soft_wrap=True)
err = Console(stderr=True, highlight=False, soft_wrap=True)


def workspace_option(function: AnyFunction) -> AnyFunction:
    """`--workspace` as every verb takes it."""
    option = click.option(
        "--workspace",
        "-w",
        "folder",
        type=click.Path(path_type=Path, file_okay=False),
        default=Path(),
        help="The workspace folder.  [default: this folder]",
    )
    return option(function)


def say(line: str) -> None:
    """A line of data. Through `sys.stdout` as it is now, so that a live display can make room for it."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def needs(what: str, extra: str, *modules: str) -> None:
    """Complain, before anything is done, of libraries that only an extra brings."""
    if missing := [each for each in modules if importlib.util.find_spec(each) is None]:
        raise MissingExtra(what, missing[0], extra)


def typed(folder: Path, arguments: str) -> str:
    """A command on a workspace as it can be typed here: `wayhound train -w mine`."""
    here = "" if folder.resolve() == Path.cwd() else f" -w {shlex.quote(shown(folder))}"
    return f"{ourselves()} {arguments}{here}"


def shown(folder: Path) -> str:
    """A path as short as it can be said from here."""
    inside = os.path.relpath(folder.resolve())
    if inside == ".":
        return "this folder"
    return str(folder.resolve()) if inside.startswith("..") else inside


def ourselves() -> str:
    """`wayhound`, or its path where the environment that holds it is not active."""
    called = Path(sys.argv[0])
    if called.name != "wayhound" or shutil.which("wayhound"):
        return "wayhound"
    return shlex.quote(min(str(called), os.path.relpath(called), key=len))


def next_steps(*steps: tuple[str, str]) -> None:
    """What to do next: commands as they can be typed, each with what it is good for."""
    err.print("\nNext:")
    wide = max(len(command) for command, _ in steps)
    aside = err.width >= wide + max(len(what) for _, what in steps) + 6
    for command, what in steps:
        gap = " " * (wide - len(command) + 3) if aside else "\n      "
        err.print(f"  [bold]{escape(command)}[/]{gap}[dim]{escape(what)}[/]")


def label_text(label: str) -> Text:
    """Return a label in words, goals in green and rejections in red."""
    return Text(format_label(label), style={GOAL: "green", FAIL: "red"}.get(label, ""))
