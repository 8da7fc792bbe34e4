"""`wayhound doctor` and `wayhound workspace`: checks, repairs, backups."""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path

import click
from rich.markup import escape
from rich.progress import (
    BarColumn,
    DownloadColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeRemainingColumn,
)

from wayhound.app.backup import back_up, restore
from wayhound.app.doctor import Finding, State, examine
from wayhound.app.move import move_to_folder, move_to_server
from wayhound.cli.console import command_for, err, next_steps, out, short_path, write_json
from wayhound.cli.language import Command, Group, json_option, workspace_option
from wayhound.wording.quantities import count
from wayhound.workspace import Workspace

_SIGNS: dict[State, str] = {
    "good": "[green]good[/]",
    "note": "[yellow]note[/]",
    "bad": "[bold red]bad[/] ",
    "mended": "[cyan]mended[/]",
}


@click.command(cls=Command)
@workspace_option
@click.option("--repair", is_flag=True, help="Repair what can be repaired without loss.")
@json_option
def doctor(folder: Path, repair: bool, as_json: bool) -> None:
    """Check the installation and the workspace, and say what to do about each finding.

    The exit code is 1 if something is wrong that was not repaired.
    """
    worst = 0
    for finding in examine(folder, mend=repair):
        worst = max(worst, finding.state == "bad")
        if as_json:
            write_json(asdict(finding))
        else:
            _print(finding)
    sys.exit(worst)


def _print(finding: Finding) -> None:
    out.print(f"{_SIGNS[finding.state]}\t{finding.check}: {escape(finding.sentence)}")
    if finding.remedy:
        out.print(f"\t→ {finding.remedy}", markup=False)


@click.group("workspace", cls=Group)
def workspace_group() -> None:
    """Back up a workspace, restore it, or move it to a server and back."""


@workspace_group.command("backup")
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@workspace_option
def backup_command(file: Path, folder: Path) -> None:
    """Write everything in the workspace to FILE, while it is in use. The search index is left out."""
    bar = Progress(
        TextColumn("Backing up"),
        BarColumn(),
        DownloadColumn(),
        TimeRemainingColumn(),
        console=err,
        transient=True,
    )
    with Workspace.open(folder) as workspace, bar:
        task = bar.add_task("", total=None)
        done = back_up(workspace, file, lambda done, of: bar.update(task, completed=done, total=of))
    err.print(f"{file} has {count(done.files, 'file')}, {done.n_bytes / 1e6:,.1f} MB.", markup=False)


@workspace_group.command("restore")
@click.argument("file", type=click.Path(path_type=Path, exists=True, dir_okay=False))
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False))
def restore_command(file: Path, folder: Path) -> None:
    """Make a workspace in FOLDER from the backup in FILE, after checking every byte of it."""
    done = restore(file, folder)
    err.print(f"{short_path(folder)} has {count(done.files, 'file')} of {file.name}.", markup=False)
    next_steps(
        (command_for(folder, "index"), "make its search index"), (command_for(folder, "doctor"), "check it")
    )


@workspace_group.command("move")
@click.argument("source", metavar="FROM", type=click.Path(path_type=Path, file_okay=False, exists=True))
@click.argument("target", metavar="TO")
def move_command(source: Path, target: str) -> None:
    """Move the database of the workspace FROM to a server, or copy all of it into a new folder.

    TO is the address of an empty Postgres database, postgresql://USER@HOST:PORT/DATABASE, which FROM then uses, or a
    folder that needs no server. Rows are counted and compared. A move that is interrupted changes nothing, and can be
    repeated.
    """
    bar = Progress(
        TextColumn("Copying rows"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=err,
        transient=True,
    )
    with Workspace.open(source) as workspace, bar:
        task = bar.add_task("", total=None)

        def tell(done: int, of: int) -> None:
            bar.update(task, completed=done, total=of)

        if target.startswith(("postgres://", "postgresql://")):
            moved, where = move_to_server(workspace, target, tell), short_path(source)
        else:
            moved, where = move_to_folder(workspace, Path(target), tell), short_path(Path(target))
    files = f" and {count(moved.files, 'file')}" if moved.files else ""
    err.print(f"{where} has {count(moved.rows, 'row')}{files}, all compared.", markup=False)
    if moved.kept:
        err.print(f"The old database is kept as {moved.kept.name}. Delete it when all is well.", markup=False)
    next_steps((command_for(source if moved.kept else Path(target), "doctor"), "check it"))
