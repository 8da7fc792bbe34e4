"""`wayhound init` makes a workspace; `wayhound completion` prepares the shell."""

from __future__ import annotations

from pathlib import Path

import click
from click.shell_completion import get_completion_class

from wayhound.cli.console import command_for, err, next_steps, short_path, write_line
from wayhound.cli.language import Command
from wayhound.workspace import Workspace


@click.command(cls=Command)
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False), default=Path())
@click.option("--database", metavar="URL", default="",
              help="Keep runs, records and the rest in this Postgres database, which other machines can share: "
                   "postgresql://USER@HOST:PORT/DATABASE.")  # fmt: skip
@click.option("--archive", metavar="URL", default="",
              help="Keep fetched pages in this place, which other machines can share: s3://BUCKET/PREFIX, or "
                   "file:///FOLDER.")  # fmt: skip
def init(folder: Path, database: str, archive: str) -> None:
    """Make FOLDER a workspace: one folder, one project.  [default: the current folder]"""
    with Workspace.create(folder, database=database, archive=archive) as workspace:
        made = workspace.folder
    err.print(f"{short_path(made)} is a workspace now: everything that is found goes in there.", markup=False)
    err.print("Its settings are in wayhound.toml, each with a comment.")
    next_steps(
        (command_for(made, "teach https://one.example https://two.example"), "show it the way in a browser"),
        (command_for(made, "forage sites.txt --keyword contact"), "or look for a word on a list of sites"),
        (command_for(made, "studio"), "or do all of it in a browser"),
    )


@click.command(cls=Command)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Write what SHELL needs to complete commands and options with the Tab key.

    \b
    eval "$(wayhound completion bash)"       in ~/.bashrc; zsh likewise, in ~/.zshrc
    wayhound completion fish | source        in ~/.config/fish/config.fish
    """
    kind = get_completion_class(shell)
    assert kind is not None
    write_line(kind(context.find_root().command, {}, "wayhound", "_WAYHOUND_COMPLETE").source())
