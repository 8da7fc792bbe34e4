"""`trailmark teach`: show the way in a browser; clicks and marks become trails."""

from __future__ import annotations

import asyncio
from pathlib import Path

import click

from trailmark.cli.console import count, err, say, workspace_option
from trailmark.errors import UsageError
from trailmark.net.browser import BrowserOptions, has_display
from trailmark.recording.session import Way
from trailmark.recording.teaching import Taught, open_session, start_urls, teach
from trailmark.store.teaching import TeachSession
from trailmark.store.trails import TrailStore
from trailmark.workspace import Workspace


@click.command("teach")
@click.argument("urls", nargs=-1)
@workspace_option
@click.option("--free", is_flag=True, help="Browse freely and mark useful pages; no trails are made.")
@click.option("--profile", type=click.Path(path_type=Path, file_okay=False),
              help="A folder that keeps logins and cookies from one session to the next.")  # fmt: skip
@click.option("--browser", default="", metavar="PATH", help="The Chromium to open.  [default: the system's]")
@click.option("--by", "taught_by", default="", metavar="NAME", help="Who teaches.  [default: your user name]")
def teach_command(
    urls: tuple[str, ...], folder: Path, free: bool, profile: Path | None, browser: str, taught_by: str
) -> None:
    """Open a browser on the sites at URLS and record the way you show.

    Click as you always do; the bar at the top marks goals and ways that lead nowhere. Everything is saved
    at once. Without URLS, the session that was not finished goes on.
    """
    way: Way = "free" if free else "trails"
    if not has_display():
        raise UsageError(
            "There is no display here to open a browser on. Teach in the studio: trailmark studio"
        )
    with Workspace.open(folder) as workspace:
        record = open_session(workspace, start_urls(urls), way, taught_by)
        _say_what_happens(record)
        options = BrowserOptions(browser, profile.absolute() if profile else None)
        _say_what_came_of_it(workspace, asyncio.run(teach(workspace, record, options)))


def _say_what_happens(record: TeachSession) -> None:
    err.print(f"Teaching on {count(len(record.sites), 'site')}. Everything that you show is saved at once.")
    err.print("In the browser: Alt+Shift+G goal, X not this way, M mark, Z undo, N next site, D done.")


def _say_what_came_of_it(workspace: Workspace, taught: Taught) -> None:
    if taught.ending == "closed":
        err.print("The browser was closed. Nothing is lost; go on with: trailmark teach")
    pages = count(len(taught.session.nodes), "page")
    goals = count(taught.goals, "goal" if taught.record.way == "trails" else "useful page")
    left = count(len(taught.session.paths_not_taken()), "path")
    err.print(f"{pages} seen, {goals}, {taught.failures} marked as not this way, {left} left untaken.")
    if taught.record.way == "trails":
        err.print(f"The workspace holds {count(len(TrailStore(workspace.database)), 'trail')} now.")
    say(f"session {taught.record.id}")
