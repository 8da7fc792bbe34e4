"""`wayhound index` and `wayhound serve`: the search index of a workspace, and the portal over it."""

from __future__ import annotations

import logging
import os
import signal
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import click
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from wayhound.app.keep_up import KeepUp
from wayhound.cli.console import command_for, err, require_extra, write_line
from wayhound.cli.language import Command, port_option, workers_option, workspace_option
from wayhound.errors import UsageError, WayhoundError, WorkspaceLocked
from wayhound.record_kinds import PAPERS_AND_DOCUMENTS
from wayhound.wording.faults import format_error
from wayhound.workspace import Workspace, is_writable

if TYPE_CHECKING:
    from wayhound.portal.library import WorkspaceAccess
    from wayhound.portal.portal import PortalSettings
    from wayhound.web.app import WebSettings

DEFAULT_RATE = 20.0  # requests a second of one visitor
MAX_WORKERS = 8  # more than that wait for one another

NEEDED = ("fastapi", "jinja2", "multipart", "tantivy", "uvicorn")  # modules of the portal extra


@click.command(cls=Command)
@workspace_option
@click.option("--rebuild", is_flag=True, help="Build a new index; the old one is used until it is complete.")
def index(folder: Path, rebuild: bool) -> None:
    """Bring the search index up to date with the records of the workspace."""
    from wayhound.app.index import build, catch_up, publish_index, refresh_scores  # noqa: PLC0415 - needs an extra
    from wayhound.wording.submissions import format_indexed, format_problems  # noqa: PLC0415

    with Workspace.open(folder) as workspace, _indexing_bar() as show:
        if rebuild:
            done = build(workspace, show)
        else:
            refresh_scores(workspace)
            done = catch_up(workspace, show)
        published = publish_index(workspace)
    for line in (format_indexed(done), *format_problems(done)):
        err.print(line, markup=False)
    if published:
        err.print("Published with the archive: `wayhound serve` on other machines begins with it.")


@click.command(cls=Command, renamed={"--processes": "--workers"})
@click.argument("papers", nargs=-1, type=click.Path(path_type=Path, exists=True))
@workspace_option
@click.option("--tree", default="computer-science", metavar="TREE", show_default=True,
              help="With PAPERS, if there are no topics yet: a shipped topic tree, or a file.")  # fmt: skip
@click.option(
    "--host", default="127.0.0.1", metavar="HOST", show_default=True, help="Listen at this address."
)
@port_option(8765)
@click.option("--name", default="Wayhound", metavar="NAME", show_default=True, help="The name of the portal.")
@click.option("--public-url", default="", metavar="URL",
              help="The address that visitors use, if the portal is behind another server.")  # fmt: skip
@click.option("--rate", default=DEFAULT_RATE, metavar="N", type=click.FloatRange(0), show_default=True,
              help="Allow one visitor this many requests a second; 0 is no limit.")  # fmt: skip
@click.option("--read-only", is_flag=True,
              help="Write nothing to the workspace: `index` elsewhere keeps the index up to date.")  # fmt: skip
@click.option("--submissions", "inbox", metavar="FILE", type=click.Path(path_type=Path, dir_okay=False),
              help="With --read-only, the file that takes what visitors send in.")  # fmt: skip
@click.option("--keep-up", "keep_up_hours", metavar="HOURS", type=click.FloatRange(min=0, min_open=True),
              help="Every so many hours, forage the approved sites again, read new papers and place them.")  # fmt: skip
@click.option("--count-visits", is_flag=True,
              help="Count the pages sent by day and kind of page, without addresses; `status` shows them.")  # fmt: skip
@workers_option()
def serve(
    papers: tuple[Path, ...],
    folder: Path,
    tree: str,
    host: str,
    port: int,
    name: str,
    public_url: str,
    rate: float,
    read_only: bool,
    inbox: Path | None,
    keep_up_hours: float | None,
    count_visits: bool,
    workers: int | None,
) -> None:
    """Serve the workspace as a portal until Ctrl-C: search, goals, topics, papers and their citations.

    PAPERS are files, or folders of files, that are read into the workspace first; it is created if there is
    none. The search index is brought up to date, and kept so while the portal runs.

    A workspace that may not be written is served as with --read-only. Visitors can then send something in only if
    --submissions names a file, from which `submissions collect` takes it.

    With --keep-up, the portal grows unattended: the sites of submitted.txt, to which approved ones are added, are
    foraged with the model trained last. `wayhound status` says what was done.
    """
    read_only = read_only or (not papers and not is_writable(folder))
    if inbox and not read_only:
        raise UsageError("--submissions is for --read-only: the workspace itself takes submissions.")
    if read_only and papers:
        raise UsageError("PAPERS cannot be read into a workspace with --read-only.")
    if read_only and keep_up_hours:
        raise UsageError("--keep-up writes to the workspace, which --read-only does not allow.")
    if read_only and count_visits:
        raise UsageError("--count-visits writes to the workspace, which --read-only does not allow.")
    if papers:
        from wayhound.cli.papers_work import take_up_papers  # noqa: PLC0415 - loads the models of papers

        take_up_papers(folder, papers, tree)
    elif not read_only:
        _suggest_topics(folder)
    address = PortalAddress(host, port, public_url)
    keeping = KeepUp(folder.absolute(), keep_up_hours * 3600) if keep_up_hours else nullcontext()
    serve_portal(
        folder,
        address,
        name=name,
        rate=rate,
        workers=workers,
        read_only=read_only,
        inbox=inbox,
        keeping=keeping,
        count_visits=count_visits,
    )


@dataclass(frozen=True, slots=True)
class PortalAddress:
    """The address that the portal listens on, and its public URL. Raises UsageError if `public_url` has a path."""

    host: str = "127.0.0.1"
    port: int = 8765
    public_url: str = ""

    def __post_init__(self) -> None:
        url = self.public_url
        parts = urlsplit(url)
        if url and (parts.scheme not in {"http", "https"} or not parts.netloc or parts.path.strip("/")):
            raise UsageError(f"{url} is not the address of a server, such as https://papers.example.org")

    @property
    def host_names(self) -> tuple[str, ...]:
        """The names that requests may ask for: empty for any, else those of this machine and the public one."""
        from wayhound.web.guards import LOOPBACK_NAMES  # noqa: PLC0415

        public = urlsplit(self.public_url).hostname
        is_local = self.host in {"127.0.0.1", "::1", "localhost"}
        return (*LOOPBACK_NAMES, *([public] if public else [])) if is_local or public else ()


def serve_portal(
    folder: Path,
    address: PortalAddress,
    *,
    name: str,
    rate: float = DEFAULT_RATE,
    workers: int | None = None,
    read_only: bool = False,
    inbox: Path | None = None,
    keeping: AbstractContextManager[object] = nullcontext(),  # noqa: B008 - it has no state
    count_visits: bool = False,
) -> None:
    """Serve until Ctrl-C; `keeping` is entered while the portal runs."""
    require_extra("The portal", "portal", *NEEDED)
    from wayhound.app.index import Follower, ScoreKeeper  # noqa: PLC0415
    from wayhound.portal.library import WorkspaceAccess  # noqa: PLC0415
    from wayhound.portal.processes import ServerProcesses  # noqa: PLC0415
    from wayhound.store.sqlite import SqliteDatabase  # noqa: PLC0415
    from wayhound.web.app import address_of, open_socket  # noqa: PLC0415

    with open_socket(address.host, address.port) as listening:
        access = WorkspaceAccess(folder.absolute(), read_only, inbox.absolute() if inbox else None)
        if inbox:
            SqliteDatabase(inbox).close()  # create it before any visitor needs it
        updating: AbstractContextManager[object] = nullcontext()
        if read_only:
            err.print("The workspace is only read: the index is served as it is.")
        else:
            updating = Follower(folder, scores=ScoreKeeper(update_index(folder)), on_failure=_warn)
        counts_folder = str(folder.absolute()) if count_visits else ""
        settings = _portal_settings(access, name, address, counts_folder), _web_settings(address, rate)
        logging.basicConfig(format="%(message)s")
        signal.signal(signal.SIGTERM, signal.default_int_handler)  # the same end as by Ctrl-C
        try:
            with (
                ServerProcesses(access, *settings, listening, workers or _cores()) as serving,
                updating,
                keeping,
            ):
                serving.wait()
                write_line(f"The portal is at {address_of(listening)} until you press Ctrl-C.")
                serving.watch()
        except KeyboardInterrupt:
            err.print("Stopped.")


def _warn(error: Exception) -> None:
    message = format_error(error, "command line") if isinstance(error, WayhoundError) else str(error)
    err.print(f"New records are not searchable for now. {message}", markup=False)


def update_index(folder: Path) -> int:
    """Bring the index up to date, with a bar; return the number of the last change that has been scored."""
    from wayhound.app.index import catch_up, fetch_index, refresh_scores  # noqa: PLC0415 - loads the search library
    from wayhound.wording.submissions import format_indexed, format_problems  # noqa: PLC0415

    with Workspace.open(folder) as workspace, _indexing_bar() as show:
        scored = workspace.stores.changes.newest()
        try:
            fetch_index(workspace)
            refresh_scores(workspace)
            done = catch_up(workspace, show, compare=False)  # a server stays small
        except WorkspaceLocked:
            err.print("Another process is updating the index; what it has done so far is served.")
            return scored
    changed = done.added or done.removed or done.works
    for line in (*([format_indexed(done)] if changed else []), *format_problems(done)):
        err.print(line, markup=False)
    return scored


@contextmanager
def _indexing_bar() -> Iterator[Callable[[int, int], None]]:
    """Yield a callback that takes how many records are done, and of how many."""
    columns = (TextColumn("Indexing"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=err, transient=True) as bar:
        task = bar.add_task("", total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


def _suggest_topics(folder: Path) -> None:
    """Say how papers and other documents are placed under topics, if there are any and none is."""
    with Workspace.open(folder) as workspace:
        counts, placed = workspace.stores.catalogue.counts(), workspace.stores.topics.counts()
    if not placed and any(kind in counts for kind in PAPERS_AND_DOCUMENTS):
        err.print("No paper is placed under a topic yet. While this runs, or before:", markup=False)
        for step in ("topics init", "topics train"):
            err.print(f"  [bold]{escape(command_for(folder, step))}[/]")


def _cores() -> int:
    return min(MAX_WORKERS, len(os.sched_getaffinity(0)))


def _portal_settings(
    access: WorkspaceAccess, name: str, address: PortalAddress, counts_folder: str
) -> PortalSettings:
    from wayhound.portal.portal import PortalSettings  # noqa: PLC0415

    with access.open() as workspace:
        agent, fetch = workspace.config.agent, workspace.config.fetch
        keeps_queries = workspace.config.facts.query_log and not workspace.read_only
        query_log = str(workspace.query_log_file) if keeps_queries else ""
    return PortalSettings(
        name,
        address.public_url,
        agent.contact,
        agent.name,
        fetch.allow_private,
        query_log=query_log,
        counts_folder=counts_folder,
    )


def _web_settings(address: PortalAddress, rate: float) -> WebSettings:
    from wayhound.web.app import WebSettings  # noqa: PLC0415

    return WebSettings(address.host_names, rate, rate * 5)
