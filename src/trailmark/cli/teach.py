"""`trailmark teach`: show the way in a browser; clicks and marks become trails."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import click

from trailmark.cli.console import count, err, next_steps, say, typed, workspace_option
from trailmark.cli.studio import teach_in_a_page
from trailmark.errors import UsageError
from trailmark.net.browser import BrowserOptions, find_browser, has_display
from trailmark.recording.free import graph_data
from trailmark.recording.playback import Script, play, read_script
from trailmark.recording.session import Way
from trailmark.recording.teaching import Taught, open_session, start_urls, teach
from trailmark.store.teaching import TeachSession
from trailmark.store.trails import TrailStore
from trailmark.workspace import Workspace

SAMPLE = "sample"


@click.command("teach")
@click.argument("urls", nargs=-1)
@workspace_option
@click.option("--free", is_flag=True, help="Browse freely and mark useful pages; no trails are made.")
@click.option("--profile", type=click.Path(path_type=Path, file_okay=False),
              help="A folder that keeps logins and cookies from one session to the next.")  # fmt: skip
@click.option("--browser", default="", metavar="PATH", help="The Chromium to open.  [default: the system's]")
@click.option("--by", "taught_by", default="", metavar="NAME", help="Who teaches.  [default: your user name]")
@click.option("--play", "script", metavar="FILE", help="Play a session back from a file, or `sample`.")
@click.option("--graph", is_flag=True, help="Print the web graph of the last free session as JSON.")
def teach_command(
    urls: tuple[str, ...],
    folder: Path,
    free: bool,
    profile: Path | None,
    browser: str,
    taught_by: str,
    script: str | None,
    graph: bool,
) -> None:
    """Open a browser on the sites at URLS and record the way you show.

    Click as you always do; the bar at the top marks goals and ways that lead nowhere. Everything is saved
    at once. Without URLS, the session that was not finished goes on. Without a display, the studio opens
    its page for teaching.
    """
    with Workspace.open(folder) as workspace:
        if graph:
            say(json.dumps(graph_data(workspace), ensure_ascii=False, indent=1))
        elif script is not None:
            _play(workspace, script, browser)
        else:
            options = BrowserOptions(browser, profile.absolute() if profile else None)
            _teach(workspace, start_urls(urls), "free" if free else "trails", taught_by, options)


def _teach(
    workspace: Workspace, sites: tuple[str, ...], way: Way, taught_by: str, options: BrowserOptions
) -> None:
    find_browser(options.program)
    if not has_display():
        if way == "free":
            raise UsageError("There is no display here to open a browser window on, which --free needs.")
        open_session(workspace, sites, way, taught_by)
        teach_in_a_page(workspace.folder)
        return
    record = open_session(workspace, sites, way, taught_by)
    _say_what_happens(record)
    _say_what_came_of_it(workspace, asyncio.run(teach(workspace, record, options)))


def _play(workspace: Workspace, name: str, browser: str) -> None:
    script = Script.sample() if name == SAMPLE else read_script(Path(name))
    err.print(f"{script.title}\n", style="bold")
    options = BrowserOptions(browser, headless=True)
    _say_what_came_of_it(workspace, play(script, workspace, options, say=err.print))


def _say_what_happens(record: TeachSession) -> None:
    err.print(f"Teaching on {count(len(record.sites), 'site')}. Everything that you show is saved at once.")
    useful = "G useful" if record.way == "free" else "G goal, X not this way, M mark"
    err.print(f"In the browser, with Alt+Shift: {useful}, Z undo, N next site, D done, B move the bar.")


def _say_what_came_of_it(workspace: Workspace, taught: Taught) -> None:
    if taught.ending == "closed":
        err.print(
            f"\nThe browser was closed. Nothing is lost; go on with: {typed(workspace.folder, 'teach')}"
        )
    pages = count(len(taught.session.nodes), "page")
    if taught.record.way == "free":
        err.print(f"\n{pages} seen, {count(taught.goals, 'useful page')}. The graph: trailmark teach --graph")
        return
    left = count(len(taught.session.paths_not_taken()), "path")
    err.print(
        f"\n{pages} seen, {count(taught.goals, 'goal')}, {taught.failures} not this way, {left} left untaken. "
        f"The workspace holds {count(len(TrailStore(workspace.database)), 'trail')} now."
    )
    if taught.goals and taught.ending == "done":
        next_steps(
            (typed(workspace.folder, "trails check"), "what would teach it better, in words"),
            (typed(workspace.folder, "train"), "learn from the trails"),
        )
