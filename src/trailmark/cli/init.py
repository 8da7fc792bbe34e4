"""`trailmark init`: make a workspace."""

from __future__ import annotations

from pathlib import Path

import click

from trailmark.cli.console import err
from trailmark.workspace import Workspace


@click.command()
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False), default=Path())
def init(folder: Path) -> None:
    """Make FOLDER a workspace: one folder, one project."""
    with Workspace.create(folder) as workspace:
        err.print(f"{workspace.folder} is a workspace now. Its settings are in trailmark.toml.")
        err.print("Next: trailmark forage SEEDS.txt, with one start page a line.")
