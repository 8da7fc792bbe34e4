"""`wayhound teach`: show the way in a browser; clicks and marks become trails."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import click

from wayhound.app.teach.playback import Script, play, read_script
from wayhound.app.teach.session import Way
from wayhound.app.teach.teaching import Taught, graph_data, keep_free_trails, open_session, start_urls, teach
from wayhound.app.teach.troubles import never_came
from wayhound.cli.console import err, next_steps, say, typed, workspace_option
from wayhound.cli.studio import teach_in_a_page
from wayhound.net.browser import BrowserOptions, find_browser, has_display
from wayhound.store.teaching import TeachSession
from wayhound.wording.quantities import count
from wayhound.workspace import Workspace

SAMPLE = "sample"


@click.command("teach")
@click.argument("urls", nargs=-1)
@workspace_option
@click.option("--free", is_flag=True, help="Just browse, and mark the pages that are useful.")
@click.option("--profile", type=click.Path(path_type=Path, file_okay=False),
              help="A folder that keeps logins and cookies from one session to the next.")  # fmt: skip
@click.option("--browser", default="", metavar="PATH", help="The Chromium to open.  [default: the system's]")
@click.option("--by", "taught_by", default="", metavar="NAME", help="Who teaches.  [default: your user name]")
@click.option("--play", "script", metavar="FILE", help="Play a session back from a file, or `sample`.")
@click.option("--graph", is_flag=True, help="Print the web graph of the last free session as JSON.")
@click.option("--from-free", is_flag=True, help="Make trails of earlier free sessions that have none.")
def teach_command(
    urls: tuple[str, ...],
    folder: Path,
    free: bool,
    profile: Path | None,
    browser: str,
    taught_by: str,
    script: str | None,
    graph: bool,
    from_free: bool,
) -> None:
    """Open a browser on the sites at URLS and record the way you show.

    Click as you always do; the bar at the top marks goals and ways that lead nowhere. With --free you only
    mark what is useful: pages that you looked at and left unmarked are the ways that lead nowhere. Everything
    is saved at once. Without URLS, the session that was not finished goes on. Without a display, the studio opens
    its page for teaching.
    """
    with Workspace.open(folder) as workspace:
        if graph:
            say(json.dumps(graph_data(workspace), ensure_ascii=False, indent=1))
        elif from_free:
            _bring_up(workspace)
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
        open_session(workspace, sites, way, taught_by)
        teach_in_a_page(workspace.folder)
        return
    record = open_session(workspace, sites, way, taught_by)
    _say_what_happens(record)
    _say_what_came_of_it(workspace, asyncio.run(teach(workspace, record, options)))


def _bring_up(workspace: Workspace) -> None:
    made = keep_free_trails(workspace)
    err.print(f"{count(made, 'trail')} made of free browsing. {_holds(workspace)}")


def _play(workspace: Workspace, name: str, browser: str) -> None:
    script = Script.sample() if name == SAMPLE else read_script(Path(name))
    err.print(f"{script.title}\n", style="bold")
    options = BrowserOptions(browser, headless=True)
    _say_what_came_of_it(workspace, play(script, workspace, options, say=err.print))


def _say_what_happens(record: TeachSession) -> None:
    err.print(f"Teaching on {count(len(record.sites), 'site')}. Everything that you show is saved at once.")
    free = record.way == "free"
    marks, end = ("G useful", "D submit") if free else ("G goal, X not this way, M mark", "D done")
    err.print(f"In the browser, with Alt+Shift: {marks}, Z undo, N next site, {end}, B move the bar.")


def _say_what_came_of_it(workspace: Workspace, taught: Taught) -> None:
    if taught.ending == "closed":
        err.print(
            f"\nThe browser was closed. Nothing is lost; go on with: {typed(workspace.folder, 'teach')}"
        )
    err.print(f"\n{_what_was_marked(taught)} {_holds(workspace)}")
    if missing := never_came(taught.never_seen):
        err.print(missing, markup=False)
    if taught.goals and taught.ending == "done":
        next_steps(
            (typed(workspace.folder, "trails check"), "what would teach it better, in words"),
            (typed(workspace.folder, "train"), "learn from the trails"),
        )


def _what_was_marked(taught: Taught) -> str:
    pages = count(len(taught.session.nodes), "page")
    if taught.record.way == "free":
        useful = count(taught.goals, "useful page")
        return f"{pages} seen, {useful}, {count(taught.failures, 'walk')} that came to none."
    left = count(len(taught.session.paths_not_taken()), "path")
    return (
        f"{pages} seen, {count(taught.goals, 'goal')}, {taught.failures} not this way, {left} left untaken."
    )


def _holds(workspace: Workspace) -> str:
    return f"The workspace holds {count(len(workspace.stores.trails), 'trail')} now."
