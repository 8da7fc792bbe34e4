"""The functions of the public API. `wayhound` re-exports them, and `docs/api.md` describes them.

Each is a use case of this package with arguments that are convenient in Python; none does anything that the command
line and the studio could not.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

from wayhound.app.forage import open_run, override_config, run_limits
from wayhound.app.forage_worker import run_worker
from wayhound.app.order import Order, complete_order, new_nonce
from wayhound.app.site_list import read_sites as read_site_list
from wayhound.app.trails import import_trails
from wayhound.config import Config
from wayhound.errors import MissingExtra
from wayhound.site import Site
from wayhound.store.export import arrow_table
from wayhound.store.goals import FoundGoal
from wayhound.store.protocol import Run
from wayhound.trail import GOAL, Step, Trail
from wayhound.visit import Visit
from wayhound.workspace import Workspace

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

    from wayhound.app.crawl import Crawl
    from wayhound.app.index import Indexed
    from wayhound.app.papers.adding import AddedFile
    from wayhound.app.train.models import TrainingReport
    from wayhound.forage.explain import Explanation
    from wayhound.search.results import SearchResults, Sort

AnyPath = str | PathLike[str]


def open_workspace(folder: AnyPath, *, create: bool = False) -> Workspace:
    """Open a workspace folder; with `create`, make it one if it is not. Close it, or use it in a `with` statement.

    Raises WorkspaceError if the folder cannot be used.
    """
    path = Path(folder)
    is_new = create and not (path / "wayhound.toml").exists()
    return Workspace.create(path) if is_new else Workspace.open(path)


def read_sites(*sources: str) -> list[Site]:
    """Return sites from addresses and from files of addresses: one a line, or a CSV table with a column of them.

    Lines and rows without an address are left out. Raises UsageError if a source cannot be read, or there is no address
    at all.
    """
    return list(read_site_list(sources).sites.values())


# Teaching and learning


def add_trail(
    workspace: Workspace,
    urls: Sequence[str],
    *,
    label: str = GOAL,
    delay_seconds: float | None = None,
    allow_private: bool = False,
) -> int:
    """Teach a path of clicks: fetch the pages, the start page first, and save them as a trail; return its number.

    `label` says what the last page is: `Goal`, `Fail` for a page that is not wanted, or a word of your own. Raises
    PageUnavailable if a page cannot be fetched.
    """
    from wayhound.app.explain import fetch_path  # noqa: PLC0415 - loads numpy

    path = fetch_path(
        override_config(workspace.config, delay_seconds=delay_seconds, allow_private=allow_private), urls
    )
    *steps, (link, page) = path.steps
    last = Step(page, link, label)
    trail = Trail(path.site.start, (*(Step(page, link) for link, page in steps), last))
    return workspace.stores.trails.add(trail, time.time(), "api")


def add_trails(workspace: Workspace, *files: AnyPath) -> int:
    """Add the trails of trail files, all or none; return how many were new. Raises TeachingError for a bad line."""
    return len(import_trails(workspace, [Path(file) for file in files]).ids)


def train(
    workspace: Workspace,
    name: str = "default",
    strategy: str = "adaptive",
    *,
    choose_settings: bool = True,
) -> TrainingReport:
    """Train a model on all trails and save it; return how well it does on sites that were held out.

    With `choose_settings`, cross-validation over the sites picks the settings, which takes longer. Raises TeachingError
    if the trails do not suffice.
    """
    from wayhound.app.train.training import train as train_model  # noqa: PLC0415 - loads numpy and scipy
    from wayhound.paths.settings import PathSettings  # noqa: PLC0415

    settings = None if choose_settings else PathSettings()
    return train_model(workspace, name, strategy, settings=settings, at=time.time())


def explain(workspace: Workspace, url: str, *, model: str = "", allow_private: bool = False) -> Explanation:
    """Return what a model makes of a page and of each of its links, the best first, and why.

    A page that a run or a trail passed is taken from the workspace, with the clicks that led there; any other is
    fetched and read as a start page.
    """
    from wayhound.app.explain import explain_page, fetch_path, find_path  # noqa: PLC0415 - loads numpy

    config = override_config(workspace.config, allow_private=allow_private)
    path = find_path(workspace, url) or fetch_path(config, [url])
    return explain_page(workspace, model or workspace.forage_models.last().name, path)


# Foraging


class ForageOptions(TypedDict, total=False):
    """Keyword arguments of `forage_sites`. Without any, the model that was trained last decides what a goal is."""

    keywords: Sequence[str]  # words of the wanted pages
    goal: str  # a pattern that the address or title of goals match; by default the keywords
    strategy: str  # by default best-first for words, breadth-first for a pattern, else that of the model
    model: str  # name of a trained model
    take_files: bool  # also fetch the PDF and PostScript files that goals link to
    budget: int  # pages a site; by default that of wayhound.toml
    delay_seconds: float  # between two requests to a host
    allow_private: bool  # also fetch from loopback and private addresses
    again: bool  # start a new run if the last one of this order is finished
    new_run: bool  # start a new run in any case


def forage_sites(
    workspace: Workspace, sites: Iterable[Site | str], **options: Unpack[ForageOptions]
) -> Iterator[Visit]:
    """Forage sites and yield every visit as it is made; goals have `is_goal` set.

    The same call again resumes a run that was left. Leaving the loop stops the forage after the fetches under way.
    When it ends, its goals become records. Raises UsageError at once if the options cannot be met.
    """
    run, config = _open_run(workspace, sites, options)
    return _forage_in_thread(workspace, run, config)


async def forage_sites_async(
    workspace: Workspace, sites: Iterable[Site | str], **options: Unpack[ForageOptions]
) -> AsyncIterator[Visit]:
    """Forage sites in the running event loop; everything else is as with `forage_sites`.

    The workspace must have been opened in the thread of the loop.
    """
    run, config = _open_run(workspace, sites, options)
    visits: asyncio.Queue[Visit | None] = asyncio.Queue()
    crawls: list[Crawl] = []
    task = asyncio.create_task(
        run_worker(workspace, run, config, on_start=crawls.append, on_visit=visits.put_nowait)
    )
    task.add_done_callback(lambda _: visits.put_nowait(None))
    try:
        while (visit := await visits.get()) is not None:
            yield visit
        await task
    finally:
        for crawl in crawls:
            crawl.stop()
        await asyncio.gather(task, return_exceptions=True)


def _open_run(
    workspace: Workspace, sites: Iterable[Site | str], options: ForageOptions
) -> tuple[Run, Config]:
    order = Order(
        strategy=options.get("strategy", ""),
        goal=options.get("goal", ""),
        keywords=tuple(options.get("keywords", ())),
        model=options.get("model", ""),
        take_files=options.get("take_files", False),
        fresh=new_nonce() if options.get("new_run") else "",
    )
    limits = run_limits(workspace.config, budget=options.get("budget"))
    starts = [start for site in sites for start in ([site] if isinstance(site, Site) else read_sites(site))]
    again = options.get("again", False)
    run = open_run(workspace, complete_order(workspace, order), limits, starts, time.time(), again=again)
    config = override_config(
        workspace.config,
        delay_seconds=options.get("delay_seconds"),
        allow_private=options.get("allow_private", False),
    )
    return run, config


@dataclass
class _ForageThread:
    """A forage in a thread of its own: a caller that is slow to take visits must not let leases and timeouts lapse."""

    folder: Path
    run: Run
    config: Config
    visits: SimpleQueue[Visit | None] = field(default_factory=SimpleQueue)
    error: BaseException | None = None
    _stop: Callable[[], object] | None = None
    _is_stopped: bool = False

    def work(self) -> None:
        try:
            with Workspace.open(self.folder) as workspace:  # a database connection belongs to one thread
                asyncio.run(
                    run_worker(
                        workspace, self.run, self.config, on_start=self._started, on_visit=self.visits.put
                    )
                )
        except BaseException as error:  # noqa: BLE001 - it is raised in the thread of the caller
            self.error = error
        finally:
            self.visits.put(None)

    def _started(self, crawl: Crawl) -> None:
        loop = asyncio.get_running_loop()
        self._stop = lambda: loop.call_soon_threadsafe(crawl.stop)
        if self._is_stopped:
            crawl.stop()

    def stop(self) -> None:
        self._is_stopped = True
        if self._stop is not None:
            with suppress(RuntimeError):  # its loop has ended by itself
                self._stop()


def _forage_in_thread(workspace: Workspace, run: Run, config: Config) -> Iterator[Visit]:
    forage = _ForageThread(workspace.folder, run, config)
    thread = threading.Thread(target=forage.work, name="wayhound forage", daemon=True)
    thread.start()
    finished = False
    try:
        while (visit := forage.visits.get()) is not None:
            yield visit
        finished = True
    finally:
        if not finished:
            forage.stop()
        thread.join()
    if forage.error is not None:
        raise forage.error


def find_goals(workspace: Workspace, run: int | None = None) -> Iterator[FoundGoal]:
    """Yield the goals of a run, or of all, each with the clicks that lead there and the reasons for it."""
    return workspace.stores.goals.goals(run)


# Papers, topics, search


def read_papers(workspace: Workspace, *paths: AnyPath, workers: int = 1) -> Iterator[AddedFile]:
    """Read papers from files and folders, or without any, the files that forages fetched; yield what became of each.

    Raises MissingExtra without the extra `papers`.
    """
    from wayhound.app.papers.adding import (  # noqa: PLC0415 - loads the models of papers
        Intake,
        fetched_files,
        find_files,
        local_files,
    )
    from wayhound.app.papers.library import PaperLibrary  # noqa: PLC0415

    library = PaperLibrary(workspace)
    files = local_files(find_files(map(Path, paths))) if paths else fetched_files(library, None)
    return Intake(library, workers).add(files)


def fill_topics(workspace: Workspace, tree: str = "computer-science") -> tuple[int, int]:
    """Place papers and other documents in the workspace's topic tree; return how many have a topic, and the total.

    `tree` names a ready tree or a file; it is used if the workspace has no tree yet.
    """
    from wayhound.app.topics import place_papers  # noqa: PLC0415 - loads numpy
    from wayhound.topics.tree import load_tree_text  # noqa: PLC0415

    return place_papers(workspace, load_tree_text(tree))


def update_index(workspace: Workspace) -> Indexed:
    """Make new goals records, and add everything that changed to the search index.

    Raises MissingExtra without the extra `portal`.
    """
    from wayhound.app.index import catch_up, refresh_scores  # noqa: PLC0415 - loads the search engine

    refresh_scores(workspace)
    return catch_up(workspace)


def search_records(
    workspace: Workspace,
    query: str,
    *,
    sort: Sort = "relevance",
    limit: int = 10,
    offset: int = 0,
    filters: Sequence[tuple[str, str]] = (),
) -> SearchResults:
    """Search the records: goal pages, papers, and whatever plugins made. The index is updated first if it is behind.

    `query` is in the syntax of the search box (`docs/search.md`); `filters` are pairs of a facet and a value.
    """
    from wayhound.app.index import is_behind  # noqa: PLC0415 - loads the search engine
    from wayhound.search.results import SearchRequest  # noqa: PLC0415

    if is_behind(workspace):
        update_index(workspace)
    request = SearchRequest(query, sort, offset, limit, filters=tuple(filters))
    return workspace.search_index.search(request, lambda _kind, name: workspace.stores.documents.pages(name))


# Export


def to_arrow(workspace: Workspace, table: str = "goals", run: int | None = None) -> pa.Table:
    """Return a table (`sites`, `visits`, `pages`, `goals` or `records`) of one run or of all as `pyarrow.Table`.

    Raises UsageError for another table, and MissingExtra without the extra `parquet`.
    """
    return arrow_table(workspace.database, table, run_id=run)


def to_pandas(workspace: Workspace, table: str = "goals", run: int | None = None) -> pd.DataFrame:
    """Return the same table as `pandas.DataFrame`. Raises MissingExtra without the extra `pandas`."""
    try:
        import pandas  # noqa: F401, ICN001, PLC0415 - an extra
    except ImportError:
        raise MissingExtra("A data frame", "pandas", "pandas") from None
    frame: Any = to_arrow(workspace, table, run).to_pandas()
    return frame
