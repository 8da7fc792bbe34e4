"""One forage on many machines, with Ray.

Ray places a worker on every core and knows which machines are there; the database shares out the sites, as between the
processes of one machine; pages go to the archive's location.

Nothing about the run is kept in the cluster. A machine that dies loses its leases by the database's rule, one that
joins gets workers, and when the head or this process dies, the same command resumes the run on whatever cluster there
is then.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import resource
import socket
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Lock
from typing import Any

from wayhound import __version__
from wayhound.app.crawl import Crawl
from wayhound.app.forage import lost_segments
from wayhound.app.forage_worker import UPLOAD_PATIENCE_SECONDS, run_worker
from wayhound.app.order import Order
from wayhound.app.ray_cluster import ClusterOptions, check_cluster, check_version, connect
from wayhound.config import Config
from wayhound.errors import UsageError, WayhoundError
from wayhound.files import write_file
from wayhound.store.protocol import Run
from wayhound.visit import Visit
from wayhound.workspace import Workspace

POLL_SECONDS = 0.5
REPORT_SECONDS = 1.0  # a report costs a worker and the command some milliseconds each
FIRST_PAUSE, LONGEST_PAUSE = 1.0, 30.0  # before a worker that failed is started again
MAX_FAILURES = 8  # of one place in a row, without a page in between: about two minutes
STOP_SECONDS = 180.0
UPLOAD_SECONDS = 60.0
FOLDER_VARIABLE = "WAYHOUND_NODE_FOLDER"


@dataclass(frozen=True, slots=True)
class NodeProgress:
    """The part of one machine in a forage since this command began."""

    name: str
    workers: int
    pages: int
    pages_per_second: float


@dataclass(frozen=True, slots=True)
class ClusterOrder:
    """All that a worker on another machine needs beside the database and the archive's location.

    `folder` is the workspace if all workers are on its machine. `files` are the model and the files that the order
    names, by their path below `models` or as the order has it.
    """

    version: str
    run: Run
    config: Config
    folder: str
    models: Mapping[str, bytes]
    files: Mapping[str, bytes]


@dataclass(slots=True)
class WorkerReport:
    """News of a worker since the last report."""

    host: str
    pages: int = 0
    goals: list[Visit] = field(default_factory=list)
    cpu_seconds: float = 0.0  # since the worker began


async def forage_on_cluster(
    workspace: Workspace,
    run: Run,
    config: Config,
    options: ClusterOptions,
    *,
    on_goal: Callable[[Visit], None],
    stop: asyncio.Event,
    on_nodes: Callable[[list[NodeProgress]], None] = lambda _: None,
) -> None:
    """Forage on a Ray cluster until all sites are done or `stop` is set. `on_nodes` receives the machines now and then.

    Raises UsageError if the workspace or the cluster cannot be used, WayhoundError if workers keep failing.
    """
    check_cluster(workspace, options)
    order = _cluster_order(workspace, run, config, options)
    driver = await asyncio.to_thread(_Driver, order, options)
    try:
        while not await asyncio.to_thread(driver.step, stop.is_set()):
            for goal in driver.take_goals():
                on_goal(goal)
            on_nodes(driver.nodes())
        for goal in driver.take_goals():
            on_goal(goal)
        on_nodes(driver.nodes())
        if driver.has_lost_workers:  # they may have left segments
            await asyncio.to_thread(driver.upload_everywhere)
        await _await_segments(workspace, run, driver, stop)
    finally:
        await asyncio.to_thread(driver.close)


async def _await_segments(workspace: Workspace, run: Run, driver: _Driver, stop: asyncio.Event) -> None:
    """Wait for a while for segments that are on machines which are not back yet: else their pages are fetched again."""
    until = time.monotonic() + UPLOAD_PATIENCE_SECONDS
    while not stop.is_set() and time.monotonic() < until:
        if not lost_segments(workspace, run):
            return
        await asyncio.to_thread(driver.upload_everywhere)
        await asyncio.sleep(POLL_SECONDS)


def _cluster_order(workspace: Workspace, run: Run, config: Config, options: ClusterOptions) -> ClusterOrder:
    order = Order.from_identity(run.identity)
    if options.is_local:
        return ClusterOrder(__version__, run, config, str(workspace.folder), {}, {})
    folder = workspace.models_folder
    paths = (path for path in (folder / order.model).glob("*") if path.is_file()) if order.model else ()
    models = {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}
    named = [*order.examples, *([order.workload] if order.workload not in ("", "portal") else [])]
    files = {name: Path(name).read_bytes() for name in named}
    return ClusterOrder(__version__, run, config, "", models, files)


# The side of the command


class _Driver:
    """Keeps a worker in every place of the cluster, and collects their reports. Used by one thread at a time."""

    def __init__(self, order: ClusterOrder, options: ClusterOptions) -> None:
        self._ray = connect(options)
        self._options = options
        self._order = self._ray.put(order)
        self._actor = self._ray.remote(max_concurrency=3, max_restarts=0)(ClusterWorker)
        self._places: dict[tuple[str, int], _Place] = {}
        self._goals: list[Visit] = []
        self._began = time.monotonic()
        self._is_over = False
        self._stopping_since: float | None = None

    def step(self, stop: bool) -> bool:
        """Do what is due, and wait for news; return True when all workers have ended."""
        if stop and self._stopping_since is None:
            self._stopping_since = time.monotonic()
            for place in self._places.values():
                place.ask_to_stop()
        alive = _alive_nodes(self._ray)
        if not (self._is_over or self._stopping_since):
            self._fill(alive)
        for (node, _), place in self._places.items():
            if node not in alive:
                place.forget()
        self._collect()
        if self._stopping_since and time.monotonic() - self._stopping_since > STOP_SECONDS:
            return True
        ended = self._is_over or self._stopping_since is not None
        return ended and not any(place.is_working for place in self._places.values())

    def take_goals(self) -> list[Visit]:
        goals, self._goals = self._goals, []
        return goals

    def nodes(self) -> list[NodeProgress]:
        """Return the machines that have workers or had some."""
        seconds = max(time.monotonic() - self._began, 0.001)
        by_host: dict[str, list[_Place]] = {}
        for place in self._places.values():
            by_host.setdefault(place.host, []).append(place)
        return [
            NodeProgress(host, sum(place.is_working for place in places), pages, pages / seconds)
            for host, places in sorted(by_host.items())
            if (pages := sum(place.pages for place in places)) or any(place.is_working for place in places)
        ]

    @property
    def has_lost_workers(self) -> bool:
        """True if a worker died, even if another took its place."""
        return any(place.last_error is not None for place in self._places.values())

    def upload_everywhere(self) -> None:
        """Let every machine upload what workers that died have left on it."""
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy  # noqa: PLC0415

        upload = self._ray.remote(upload_leftovers)
        refs = [
            upload.options(
                num_cpus=0, scheduling_strategy=NodeAffinitySchedulingStrategy(node, soft=True)
            ).remote(self._order)
            for node in _alive_nodes(self._ray)
        ]
        self._ray.wait(refs, num_returns=len(refs), timeout=UPLOAD_SECONDS)

    def close(self) -> None:
        for place in self._places.values():
            place.forget()
        self._ray.shutdown()

    def _fill(self, alive: Mapping[str, Mapping[str, Any]]) -> None:
        """Start a worker in every place that has none."""
        for node_id, node in alive.items():
            cores = node["Resources"]["CPU"]
            workers = self._options.workers_per_node or max(int(cores), 1)
            for number in range(workers):
                place = self._places.setdefault(
                    (node_id, number), _Place(self._ray, str(node["NodeManagerHostname"]), len(self._places))
                )
                if place.is_due:
                    place.start(self._actor, node_id, min(cores / workers, 1.0), self._order)

    def _collect(self) -> None:
        """Take in reports and ends of workers, and wait for them for a moment."""
        waiting = {ref: place for place in self._places.values() for ref in place.awaited()}
        if not waiting:
            time.sleep(POLL_SECONDS)
            return
        ready, _ = self._ray.wait(list(waiting), num_returns=len(waiting), timeout=POLL_SECONDS)
        for ref in ready:
            place = waiting[ref]
            report, has_ended = place.receive(ref)
            self._is_over = self._is_over or (has_ended and self._stopping_since is None)
            if report is not None:
                self._goals += report.goals
            if place.failures >= MAX_FAILURES and place.last_error is not None:
                raise place.last_error


class _Place:
    """One place for a worker: a core of a machine. A worker that dies or fails is started again after a pause."""

    def __init__(self, ray: Any, host: str, number: int) -> None:
        self._ray = ray
        self.host, self._number = host, number
        self.pages = 0
        self.failures = 0
        self.last_error: WayhoundError | None = None
        self._handle: Any = None
        self._work: Any = None
        self._report: Any = None
        self._start_at = 0.0

    @property
    def is_working(self) -> bool:
        return self._work is not None

    @property
    def is_due(self) -> bool:
        return self._work is None and time.monotonic() >= self._start_at

    def start(self, actor: Any, node_id: str, cores: float, order: Any) -> None:
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy  # noqa: PLC0415

        here = NodeAffinitySchedulingStrategy(node_id, soft=False)
        self._handle = actor.options(num_cpus=cores, scheduling_strategy=here).remote(order, self._number)
        self._work = self._handle.work.remote()
        self._report = self._handle.report.remote()

    def ask_to_stop(self) -> None:
        if self._handle is not None:
            self._handle.stop.remote()

    def forget(self) -> None:
        """Drop a worker whose machine is gone, or that is no longer needed."""
        if self._handle is not None:
            self._ray.kill(self._handle)
        self._handle = self._work = self._report = None

    def awaited(self) -> list[Any]:
        return [ref for ref in (self._work, self._report) if ref is not None]

    def receive(self, ref: Any) -> tuple[WorkerReport | None, bool]:
        """Take in what is ready. Return the report, if it is one, and True if the worker has come to the end."""
        is_report = ref == self._report
        try:
            answer = self._ray.get(ref)
        except (WayhoundError, self._ray.exceptions.RayError) as error:  # Ray's own is both, around the cause
            cause = getattr(error, "cause", error)
            if isinstance(cause, UsageError):
                raise cause from None  # it would only fail again
            self._failed(cause if isinstance(cause, WayhoundError) else _worker_lost(self.host, error))
        else:
            if is_report:
                return self._take(answer), False
            self._handle = self._work = self._report = None
            self._take(answer)
            return answer, True
        return None, False

    def _take(self, report: WorkerReport) -> WorkerReport:
        self.host = report.host
        self.pages += report.pages
        if report.pages:
            self.failures = 0
        if self._handle is not None:
            self._report = self._handle.report.remote()
        return report

    def _failed(self, error: WayhoundError) -> None:
        self.last_error = error
        self._start_at = time.monotonic() + min(FIRST_PAUSE * 2**self.failures, LONGEST_PAUSE)
        self.failures += 1
        self.forget()


def _alive_nodes(ray: Any) -> dict[str, Mapping[str, Any]]:
    """Return the machines that can run workers, by their id; one without cores is a head that only coordinates."""
    return {node["NodeID"]: node for node in ray.nodes() if node["Alive"] and node["Resources"].get("CPU")}


def _worker_lost(host: str, error: BaseException) -> WayhoundError:
    return WayhoundError(
        f"A worker on {host} ended again and again ({type(error).__name__}). Look into the logs of Ray on that "
        "machine (/tmp/ray/session_latest/logs). The same command resumes the forage."
    )


# The side of a worker


class ClusterWorker:
    """One worker, in a process that Ray has started on some machine. `work` runs in one thread, the rest beside it."""

    def __init__(self, order: ClusterOrder, number: int) -> None:
        check_version(order.version)
        self._order, self._number = order, number
        self._lock = Lock()
        self._news = WorkerReport(socket.gethostname())
        self._crawl: Crawl | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stopped = False

    def work(self) -> WorkerReport:
        """Forage until the run is over or `stop` is called. Return the last report. Raises WayhoundError."""
        with _opened(self._order) as workspace:
            run = _with_local_files(self._order, workspace.folder)
            self._run(workspace, run)
        return self._take_news()

    def report(self) -> WorkerReport:
        """Return what happened since the last report, after a moment."""
        time.sleep(REPORT_SECONDS)
        return self._take_news()

    def stop(self) -> None:
        """Stop after the requests under way."""
        self._stopped = True
        if self._loop is not None and self._crawl is not None:
            self._loop.call_soon_threadsafe(self._crawl.stop)

    def _run(self, workspace: Workspace, run: Run) -> None:
        """Run the worker in a loop of its own. A coroutine method would make Ray run everything in one loop."""

        def started(crawl: Crawl) -> None:
            self._loop, self._crawl = asyncio.get_running_loop(), crawl
            if self._stopped:
                crawl.stop()

        asyncio.run(
            run_worker(
                workspace,
                run,
                self._order.config,
                number=self._number,
                on_start=started,
                on_visit=self._count,
                on_goal=self._keep,
            )
        )

    def _count(self, visit: Visit) -> None:
        with self._lock:
            self._news.pages += visit.is_page

    def _keep(self, visit: Visit) -> None:
        with self._lock:
            self._news.goals.append(replace(visit, archived=None))

    def _take_news(self) -> WorkerReport:
        usage = resource.getrusage(resource.RUSAGE_SELF)
        with self._lock:
            news, self._news = self._news, WorkerReport(self._news.host)
        return replace(news, cpu_seconds=usage.ru_utime + usage.ru_stime)


def _opened(order: ClusterOrder) -> Workspace:
    """Open the workspace as this machine sees it: the folder itself, or one of this machine for segments and models."""
    workspace = open_here(order.folder, order.config)
    for name, content in order.models.items():
        _write_once(workspace.models_folder / name, content)
    return workspace


def open_here(folder: str, config: Config) -> Workspace:
    """Open a workspace on this machine: its folder, or if that is empty, the one of this machine for what is shared."""
    return Workspace.open(Path(folder)) if folder else Workspace.on_node(node_folder(config), config)


def upload_leftovers(order: ClusterOrder) -> None:
    """Upload the segments that are left on this machine by workers that died."""
    with _opened(order) as workspace, workspace.archive_writer("leftovers") as writer:
        writer.upload_leftovers()


def node_folder(config: Config) -> Path:
    """Return the folder of this machine for the segments and models of a workspace elsewhere.

    It is the same for every process of the machine, so that segments of a worker that died are found and uploaded.
    """
    given = os.environ.get(FOLDER_VARIABLE)
    home = Path(given) if given else Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local/state")
    places = json.dumps([getattr(config, "database", ""), config.archive])
    return home / "wayhound" / hashlib.sha256(places.encode()).hexdigest()[:16]


def _with_local_files(order: ClusterOrder, folder: Path) -> Run:
    """Return the run with the names of the order's files on this machine."""
    if not order.files:
        return order.run
    names = {name: str(_write_local(folder, name, content)) for name, content in order.files.items()}
    told = Order.from_identity(order.run.identity)
    here = replace(
        told,
        examples=tuple(names.get(name, name) for name in told.examples),
        workload=names.get(told.workload, told.workload),
    )
    return replace(order.run, identity=here.identity())


def _write_local(folder: Path, name: str, content: bytes) -> Path:
    path = folder / "files" / f"{hashlib.sha256(content).hexdigest()[:16]}-{Path(name).name}"
    _write_once(path, content)
    return path


def _write_once(path: Path, content: bytes) -> None:
    if not path.exists() or path.read_bytes() != content:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_file(path, content)
