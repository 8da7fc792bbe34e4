"""`wayhound submissions`: what visitors of the portal sent in, for the operator to decide."""

from __future__ import annotations

import json
import time
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import get_args

import click
from rich.table import Table

from wayhound.app.moderate import approve, reject
from wayhound.cli.console import err, out, write_line
from wayhound.cli.language import workspace_option
from wayhound.store.submissions import Submission, SubmissionState
from wayhound.workspace import Workspace

_STATES = (*get_args(SubmissionState), "all")


@click.group()
def submissions() -> None:
    """Look at what visitors of the portal sent in, and decide about it."""


@submissions.command("list")
@workspace_option
@click.option("--state", type=click.Choice(_STATES), default="waiting", show_default=True,
              help="Show those in this state.")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="As JSON lines.")
def list_command(folder: Path, state: str, as_json: bool) -> None:
    """List sites, papers, removal requests and corrections that were sent in."""
    with Workspace.open(folder) as workspace:
        wanted = next((each for each in get_args(SubmissionState) if each == state), None)
        found = workspace.stores.submissions.all(wanted)
    if as_json:
        for each in found:
            write_line(json.dumps(asdict(each), ensure_ascii=False))
    elif found:
        out.print(_table(found))
    else:
        err.print("There are none." if state == "all" else f"There are none that are {state}.")


@submissions.command("approve")
@click.argument("number", type=int)
@workspace_option
@click.option("--reply", default="", help="A sentence for the sender, shown on the status page.")
def approve_command(number: int, folder: Path, reply: str) -> None:
    """Agree to a submission and do what it asks for.

    A correction is made and learned from; what shall be removed is taken out for good; a site or paper is
    added to submitted.txt in the workspace, which can be foraged.
    """
    with Workspace.open(folder) as workspace:
        err.print(approve(workspace, number, reply, time.time()).message, markup=False)


@submissions.command("reject")
@click.argument("number", type=int)
@workspace_option
@click.option("--reply", default="", help="A sentence for the sender, shown on the status page.")
def reject_command(number: int, folder: Path, reply: str) -> None:
    """Decide against a submission; nothing is changed."""
    with Workspace.open(folder) as workspace:
        err.print(reject(workspace, number, reply, time.time()).message, markup=False)


def _table(found: list[Submission]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("number", "sent", "kind", "what", "note", "state"):
        table.add_column(name, justify="right" if name == "number" else "left", overflow="fold")
    for each in found:
        sent = datetime.fromtimestamp(each.at, UTC).strftime("%Y-%m-%d %H:%M")
        table.add_row(*map(_plain, (str(each.id), sent, each.kind, _what(each), each.note, each.state)))
    return table


def _what(each: Submission) -> str:
    if each.kind == "correction":
        return f"{each.record_id}: {each.field} = {'; '.join(each.texts) or '(nothing)'}"
    return each.url


def _plain(text: str) -> str:
    """Strangers' words on a terminal: no escape sequences, no markup."""
    return "".join(letter if letter.isprintable() else " " for letter in text).replace("[", "\\[")
