"""`wayhound serve`: the portal of a workspace, until Ctrl-C."""

from __future__ import annotations

import logging
import os
import signal
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import click
from rich.markup import escape

from wayhound.cli.console import command_for, err, require_extra, write_line
from wayhound.cli.index import indexed, indexing_bar
from wayhound.cli.language import workspace_option
from wayhound.errors import UsageError, WorkspaceLocked
from wayhound.workspace import Workspace

if TYPE_CHECKING:
    from wayhound.portal.portal import PortalSettings
    from wayhound.web.app import WebSettings

USUAL_RATE = 20.0
_MOST_PROCESSES = 8  # more than that, and they wait for one another


@click.command()
@click.argument("papers", nargs=-1, type=click.Path(path_type=Path, exists=True))
@workspace_option
@click.option("--tree", default="computer-science", show_default=True,
              help="With PAPERS, and where there are no topics yet: a ready topic tree, or a file.")  # fmt: skip
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen at.")
@click.option("--port", default=8765, type=click.IntRange(0, 65535), show_default=True,
              help="The port to listen at; 0 takes any that is free.")  # fmt: skip
@click.option("--name", default="Wayhound", show_default=True, help="What the portal is called.")
@click.option("--public-url", default="", help="Where visitors find it, when that is behind another server.")
@click.option("--rate", default=USUAL_RATE, type=click.FloatRange(0), show_default=True,
              help="Requests a second that one visitor may make; 0 is without limit.")  # fmt: skip
@click.option(
    "--processes", type=click.IntRange(1, 64), help="How many serve at once.  [default: one for each core]"
)
def serve(
    papers: tuple[Path, ...], folder: Path, tree: str, host: str, port: int, name: str, public_url: str, rate: float,
    processes: int | None,
) -> None:  # fmt: skip
    """Serve the workspace as a portal: search, topics, papers and their citations.

    PAPERS are files, or folders with files, that are read into the workspace first; it is made if there is
    none. The search index is brought up to date, and kept so while the portal runs.
    """
    if papers:
        from wayhound.cli.serve_papers import take_up_papers  # noqa: PLC0415 - loads the models of papers

        take_up_papers(folder, papers, tree)
    else:
        _say_that_topics_are_missing(folder)
    serve_portal(folder, host, port, name, public_url, rate, processes)


def serve_portal(
    folder: Path, host: str, port: int, name: str, public_url: str = "", rate: float = USUAL_RATE,
    processes: int | None = None,
) -> None:  # fmt: skip
    """Serve until Ctrl-C."""
    require_extra("The portal", "portal", "fastapi", "jinja2", "multipart", "tantivy", "uvicorn")
    from wayhound.app.index import Follower, ScoreKeeper  # noqa: PLC0415
    from wayhound.portal.processes import ServerProcesses  # noqa: PLC0415
    from wayhound.web.server import address_of, open_socket  # noqa: PLC0415

    _check_url(public_url)
    with open_socket(host, port) as listening:
        scored = catch_up(folder)
        settings = _portal_settings(folder, name, public_url), _web_settings(host, public_url, rate)
        follower = Follower(folder, scores=ScoreKeeper(scored))
        logging.basicConfig(format="%(message)s")
        signal.signal(signal.SIGTERM, signal.default_int_handler)  # the same end as by Ctrl-C
        try:
            with ServerProcesses(folder, *settings, listening, processes or _cores()) as serving, follower:
                write_line(f"The portal is at {address_of(listening)} until you press Ctrl-C.")
                serving.watch()
        except KeyboardInterrupt:
            err.print("Stopped.")


def _say_that_topics_are_missing(folder: Path) -> None:
    """Where there are papers and nobody has put them under topics: how it is done."""
    with Workspace.open(folder) as workspace:
        paper = next(iter(workspace.stores.records.iterate("paper")), None)
        placed = workspace.stores.topics.counts()
    if paper and not placed:
        err.print("No paper stands under a topic yet. While this runs, or before:", markup=False)
        for step in ("topics init", "topics train"):
            err.print(f"  [bold]{escape(command_for(folder, step))}[/]")


def _cores() -> int:
    return min(_MOST_PROCESSES, len(os.sched_getaffinity(0)))


def catch_up(folder: Path) -> int:
    """Bring the index up to date, with a bar when there is much to do; tell the last change that has been scored."""
    from wayhound.app.index import catch_up as index  # noqa: PLC0415 - loads the search library
    from wayhound.app.index import refresh_scores  # noqa: PLC0415

    with Workspace.open(folder) as workspace, indexing_bar() as show:
        scored = workspace.stores.changes.newest()
        try:
            refresh_scores(workspace)
            done = index(workspace, show)
        except WorkspaceLocked:
            err.print("Another process is at work on the index; what it has done so far is served.")
            return scored
    if done.added or done.removed or done.works:
        err.print(indexed(done))
    return scored


def _check_url(public_url: str) -> None:
    parts = urlsplit(public_url)
    if public_url and (parts.scheme not in {"http", "https"} or not parts.netloc or parts.path.strip("/")):
        raise UsageError(f"{public_url} is not the address of a server, such as https://papers.example.org")


def _portal_settings(folder: Path, name: str, public_url: str) -> PortalSettings:
    from wayhound.portal.portal import PortalSettings  # noqa: PLC0415

    with Workspace.open(folder) as workspace:
        agent, fetch = workspace.config.agent, workspace.config.fetch
    return PortalSettings(name, public_url, agent.contact, agent.name, fetch.allow_private)


def _web_settings(host: str, public_url: str, rate: float) -> WebSettings:
    """On loopback the server goes by the names of this machine and its public one; else by any."""
    from wayhound.web.app import WebSettings  # noqa: PLC0415
    from wayhound.web.guards import LOOPBACK_NAMES  # noqa: PLC0415

    public = urlsplit(public_url).hostname
    is_local = host in {"127.0.0.1", "::1", "localhost"}
    named = (*LOOPBACK_NAMES, *([public] if public else []))
    return WebSettings(named if is_local or public else (), rate, rate * 5)
