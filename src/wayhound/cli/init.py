"""`wayhound init`: make a workspace."""

from __future__ import annotations

from pathlib import Path

import click

from wayhound.cli.console import command_for, err, next_steps, short_path
from wayhound.cli.language import Command
from wayhound.workspace import Workspace


@click.command(cls=Command)
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False), default=Path())
def init(folder: Path) -> None:
    """Make FOLDER a workspace: one folder, one project.  [default: the current folder]"""
    with Workspace.create(folder) as workspace:
        made = workspace.folder
    err.print(f"{short_path(made)} is a workspace now: everything that is found goes in there.", markup=False)
    err.print("Its settings are in wayhound.toml, each with a comment.")
    next_steps(
        (command_for(made, "teach https://one.example https://two.example"), "show it the way in a browser"),
        (command_for(made, "forage sites.txt --keyword contact"), "or look for a word on a list of sites"),
        (command_for(made, "studio"), "or do all of it in a browser"),
    )
