"""`wayhound submissions`: what visitors of the portal sent in."""

from __future__ import annotations

import shlex
import time
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import get_args

import click
from rich.table import Table
from rich.text import Text

from wayhound.app.moderate import approve, reject
from wayhound.cli.console import command_for, err, next_steps, out, plain_table, write_json
from wayhound.cli.language import Group, json_option, workspace_option
from wayhound.store.sqlite import SqliteDatabase
from wayhound.store.submissions import Submission, SubmissionState, SubmissionStore
from wayhound.wording.submissions import format_decision, format_request
from wayhound.workspace import Workspace

_STATES = (*get_args(SubmissionState), "all")


reply_option = click.option(
    "--reply", default="", metavar="TEXT", help="A sentence for the sender, shown on the status page."
)


@click.group(cls=Group)
def submissions() -> None:
    """Decide on what visitors of the portal sent in."""


@submissions.command("list")
@workspace_option
@click.option("--state", type=click.Choice(_STATES), default="waiting", show_default=True,
              help="Only submissions in this state.")  # fmt: skip
@json_option
def list_command(folder: Path, state: str, as_json: bool) -> None:
    """List sites, papers, removal requests and corrections that were sent in."""
    with Workspace.open(folder) as workspace:
        chosen = next((name for name in get_args(SubmissionState) if name == state), None)
        found = workspace.stores.submissions.all(chosen)
    if as_json:
        for submission in found:
            write_json(asdict(submission))
    elif found:
        out.print(_table(found))
    else:
        err.print("There are no submissions." if state == "all" else f"No submission is {state}.")


@submissions.command("collect")
@click.argument("file", type=click.Path(path_type=Path, exists=True, dir_okay=False))
@workspace_option
def collect_command(file: Path, folder: Path) -> None:
    """Take what visitors sent in from the FILE of a portal that may not write to the workspace."""
    with Workspace.open(folder) as workspace, SqliteDatabase(file) as inbox:
        moved = SubmissionStore(inbox).move_waiting_to(workspace.stores.submissions)
    err.print(f"Took {moved} submissions from {file}." if moved else "Nothing new was sent in.", markup=False)


@submissions.command("approve")
@click.argument("number", type=int)
@workspace_option
@reply_option
def approve_command(number: int, folder: Path, reply: str) -> None:
    """Approve a submission and do what it asks for.

    A correction is made, and learned from; what is to be removed is removed for good; a site or paper is added
    to submitted.txt in the workspace, which `wayhound forage` takes.
    """
    with Workspace.open(folder) as workspace:
        decision = approve(workspace, number, reply, time.time())
    err.print(format_decision(decision), markup=False)
    if decision.site_list is not None:
        next_steps((command_for(folder, f"forage {shlex.quote(str(decision.site_list))}"), "visit them"))


@submissions.command("reject")
@click.argument("number", type=int)
@workspace_option
@reply_option
def reject_command(number: int, folder: Path, reply: str) -> None:
    """Reject a submission; nothing is changed."""
    with Workspace.open(folder) as workspace:
        err.print(format_decision(reject(workspace, number, reply, time.time())), markup=False)


def _table(found: list[Submission]) -> Table:
    table = plain_table("number", "sent", "kind", "what", "note", "state", right=("number",))
    for submission in found:
        sent = datetime.fromtimestamp(submission.at, UTC).strftime("%Y-%m-%d %H:%M")
        cells = (sent, submission.kind, format_request(submission), submission.note, submission.state)
        table.add_row(str(submission.id), *map(_printable, cells))
    return table


def _printable(text: str) -> Text:
    """Return a visitor's words without escape sequences that a terminal would obey."""
    return Text("".join(letter if letter.isprintable() else " " for letter in text))
