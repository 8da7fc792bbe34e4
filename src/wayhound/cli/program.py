"""`wayhound program`: the routes by which goals of a site were reached, to read, edit or forget."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from wayhound.app.programs import edit_program, find_program
from wayhound.cli.console import err, write_line
from wayhound.cli.language import Command, workspace_option
from wayhound.wording.runs import format_program
from wayhound.workspace import Workspace


@click.command(cls=Command)
@click.argument("site")
@workspace_option
@click.option("--model", default="", metavar="NAME",
              help="The program for what this model looks for.  [default: the one learned last]")  # fmt: skip
@click.option("--edit", is_flag=True,
              help="Open it in your editor ($EDITOR); from a pipe, read the new program there.")  # fmt: skip
@click.option("--forget", is_flag=True, help="Delete it: the next run finds its own way again.")
def program(site: str, folder: Path, model: str, edit: bool, forget: bool) -> None:
    """Show the program of SITE: the routes of clicks by which its goals were reached.

    A forage writes it down when two or more goals were reached in the same way. The next run of the site follows it
    first, and leaves a route that no longer leads to goals. A program that you have edited is not changed by
    forages.

    \b
    in "ul.menu>li>a": follow /people/
    in "ul.people>li>a": follow /people/*
    """
    with Workspace.open(folder) as workspace:
        kept = find_program(workspace, site, model)
        if forget:
            workspace.stores.site_notes.forget_program(kept.start, kept.purpose)
            err.print(f"Forgotten. The next run of {kept.start} finds its own way.", markup=False)
            return
        if edit:
            text = click.edit(format_program(kept)) if sys.stdin.isatty() else sys.stdin.read()
            if text is None:
                err.print("Nothing was changed.")
                return
            kept = edit_program(workspace, kept, text)
            err.print(f"Saved. The next run of {kept.start} begins with it.", markup=False)
            return
    write_line(format_program(kept).rstrip("\n"))
