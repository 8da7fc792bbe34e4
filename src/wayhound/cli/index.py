"""`wayhound index`: bring the search index up to date, or build it anew."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from wayhound.cli.console import err
from wayhound.cli.language import workspace_option
from wayhound.wording.quantities import count
from wayhound.workspace import Workspace

if TYPE_CHECKING:
    from wayhound.app.index import Indexed


@click.command()
@workspace_option
@click.option(
    "--rebuild", is_flag=True, help="Build it anew; the old one answers until the new one is whole."
)
def index(folder: Path, rebuild: bool) -> None:
    """Bring the search index up to date with the records of the workspace."""
    from wayhound.app.index import build, catch_up, refresh_scores  # noqa: PLC0415 - needs an extra

    with Workspace.open(folder) as workspace, indexing_bar() as show:
        if rebuild:
            made = build(workspace, show)
        else:
            refresh_scores(workspace)
            made = catch_up(workspace, show)
    err.print(indexed(made))


def indexed(made: Indexed) -> str:
    """What was done, as a sentence."""
    works = f" and {count(made.works, 'work')} only cited" if made.works else ""
    removed = f", {made.removed:,} taken out" if made.removed else ""
    return f"Indexed {count(made.added, 'record')}{works}{removed}, in {made.seconds:.1f} s."


@contextmanager
def indexing_bar() -> Iterator[Callable[[int, int], None]]:
    """A bar, and what is to be told how many records are done of how many."""
    columns = (TextColumn("Indexing"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=err, transient=True) as bar:
        task = bar.add_task("", total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)
