"""`wayhound teach`: show the way in a browser; clicks and marks become trails."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import click

from wayhound.app.teach.teaching import Taught, open_session, split_keywords, teach
from wayhound.cli.console import command_for, err, next_steps
from wayhound.cli.forage import requested_sites
from wayhound.cli.language import Command, workspace_option
from wayhound.cli.studio import teach_in_a_page
from wayhound.errors import UsageError
from wayhound.net.browser import BrowserOptions, find_browser, has_display
from wayhound.wording.quantities import count
from wayhound.wording.teaching import NOTHING_TO_LEARN, format_keys, format_never_loaded, format_session
from wayhound.workspace import Workspace


@click.command("teach", cls=Command)
@click.argument("sites", nargs=-1)
@workspace_option
@click.option("--free", is_flag=True, help="Browse as you like, and mark only the pages that are useful.")
@click.option("--keyword", "keywords", multiple=True, metavar="WORD",
              help="With --free: a word of your topic; name three to five. hop-crf uses them.")  # fmt: skip
@click.option("--profile", metavar="FOLDER", type=click.Path(path_type=Path, file_okay=False),
              help="Keep logins and cookies in this folder from one session to the next.")  # fmt: skip
@click.option("--browser", default="", metavar="PATH", help="The Chromium to use.  [default: the system's]")
@click.option("--by", "taught_by", default="", metavar="NAME", help="Who teaches.  [default: your user name]")
def teach_command(
    sites: tuple[str, ...],
    folder: Path,
    free: bool,
    keywords: tuple[str, ...],
    profile: Path | None,
    browser: str,
    taught_by: str,
) -> None:
    """Open a browser on SITES, and record the way you show.

    Click as you always do; the bar at the top marks goals and rejects pages that are none. With --free you mark
    only what is useful: pages that you looked at and left unmarked count as rejected. Everything is saved at
    once. Without SITES, the unfinished session is resumed. Without a display, the studio opens its page for
    teaching.
    """
    with Workspace.open(folder) as workspace:
        find_browser(browser)
        starts = tuple(site.start for site in requested_sites(sites)) if sites else ()
        record = open_session(workspace, starts, "free" if free else "trails", taught_by)
        if keywords and record.way != "free":
            raise UsageError("Keywords are for free browsing: add --free.")
        if record.way == "free" and not (keywords or record.keywords):
            keywords = _ask_keywords()
        if keywords:
            workspace.stores.teaching.set_keywords(record.id, keywords)
        if not has_display():
            teach_in_a_page(workspace.folder)
            return
        err.print(
            f"Teaching on {count(len(record.sites), 'site')}. Everything that you show is saved at once."
        )
        err.print(format_keys(free=record.way == "free"))
        options = BrowserOptions(browser, profile.absolute() if profile else None)
        print_session(workspace, asyncio.run(teach(workspace, record, options)))


def _ask_keywords() -> tuple[str, ...]:
    """Ask for the words of the topic; nothing if nobody can answer."""
    if not sys.stdin.isatty():
        return ()
    answer = click.prompt("Three to five keywords of what you look for, or Enter for none", default="", err=True,
                          show_default=False)  # fmt: skip
    return split_keywords(answer)


def print_session(workspace: Workspace, taught: Taught) -> None:
    """Print what a session recorded, and what to do next."""
    folder = workspace.folder
    if taught.ending == "closed":
        err.print(f"\nThe browser was closed. Nothing is lost; to resume: {command_for(folder, 'teach')}")
    trails = count(len(workspace.stores.trails), "trail")
    err.print(f"\n{format_session(taught)} The workspace has {trails}.")
    if missing := format_never_loaded(taught.never_seen):
        err.print(missing, markup=False)
    if not taught.goals and taught.ending == "done":
        err.print(NOTHING_TO_LEARN)
        next_steps(
            (
                command_for(folder, f"teach {' '.join(taught.record.sites)}"),
                "show the way, and mark what you find",
            )
        )
    elif taught.ending == "done":
        next_steps(
            (command_for(folder, "trails check"), "what would teach it better"),
            (command_for(folder, "train"), "learn from the trails"),
        )
