"""Several processes for one forage: each leases sites from the store and reports its goals to the parent.

Here too: the longest time that a forage can take with them.

Workers read their order from stdin, since keywords may be longer than a command line allows. They stop when stdin ends,
so that none outlives a parent that was killed.
"""

from __future__ import annotations

import asyncio
import json
import sys
from asyncio.subprocess import PIPE, Process
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Self

from wayhound.app.crawl import Crawl
from wayhound.app.forage import refetch_lost
from wayhound.app.forage_worker import run_worker
from wayhound.config import Config
from wayhound.errors import WayhoundError
from wayhound.processes import child_environment, python_command
from wayhound.store.protocol import Progress, Run, RunLimits, Store
from wayhound.url import registrable_domain
from wayhound.visit import Visit
from wayhound.workspace import Workspace

if TYPE_CHECKING:
    from wayhound.app.cluster import NodeProgress
    from wayhound.app.ray_cluster import ClusterOptions


@dataclass(frozen=True, slots=True)
class TimeBound:
    """The longest time that a run can take, if its hosts answer within the delay or as fast as so far."""

    limits: RunLimits
    delay_seconds: float
    at_once: int  # sites that are foraged at the same time
    domains: int  # of the sites that are not done; one site of a domain is foraged at a time
    most_of_a_domain: int

    @classmethod
    def of(cls, store: Store, run: Run, config: Config, workers: int = 1) -> Self:
        sites = (site for site in store.sites(run.id) if site.state != "done")
        domains = Counter(registrable_domain(site.start) for site in sites)
        at_once = workers * config.forage.sites_at_once
        return cls(
            run.limits, config.fetch.delay_seconds, at_once, len(domains), max(domains.values(), default=0)
        )

    def seconds(self, now: Progress, requests: int = 0, elapsed: float = 0.0) -> float | None:
        """Return the bound, given the requests since this process began and the time; None if nothing bounds it.

        Nothing does while the sites wait for another machine: for one that holds them and has used up their budgets, or
        that sends no request for longer than the bound was.
        """
        left, budget = now.sites - now.done, self.limits.budget_per_site
        if budget is None or not left:
            return None
        total = self.limits.total_budget
        spendable = (
            left * budget if total is None else min(left * budget, total - now.spent + now.spent_in_progress)
        )
        requests_left = spendable - now.spent_in_progress
        if requests_left <= 0:
            return None
        lanes = max(1, min(self.at_once, self.domains, left))
        a_request = max(self.delay_seconds, elapsed * lanes / requests if requests else 0.0)
        if not a_request:
            return None
        if left <= lanes and self.most_of_a_domain == 1:
            longest = min(budget, requests_left)
        else:  # while the others are done side by side, the last ones may have just begun
            longest = min(requests_left, round(requests_left / lanes) + self.most_of_a_domain * budget)
        bound = longest * a_request
        return bound if requests or bound > elapsed else None


@dataclass(frozen=True, slots=True)
class WorkerOrder:
    """The settings of a worker process beside the workspace."""

    run_id: int
    identity: Mapping[str, str]
    limits: RunLimits
    config: Config

    def to_json(self) -> str:
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> Self:
        values = json.loads(text)
        return cls(
            values["run_id"],
            values["identity"],
            RunLimits(**values["limits"]),
            Config.from_json(json.dumps(values["config"])),
        )


async def forage_run(
    workspace: Workspace,
    run: Run,
    config: Config,
    *,
    workers: int = 1,
    cluster: ClusterOptions | None = None,
    on_goal: Callable[[Visit], None],
    on_nodes: Callable[[list[NodeProgress]], None] = lambda _: None,
    stop: asyncio.Event,
) -> None:
    """Forage until all sites are done or `stop` is set: here, with several workers in processes of their own, or on a
    cluster, whose machines are reported to `on_nodes`.

    `on_goal` is called as `run_worker` says. Sites with pages in archive files that were lost with a machine are
    foraged again from there. Raises WayhoundError if a worker failed.
    """
    while True:
        await _forage_once(
            workspace, run, config, workers, cluster, on_goal=on_goal, on_nodes=on_nodes, stop=stop
        )
        is_over = not stop.is_set() and workspace.stores.forage.progress(run.id).is_over
        if not is_over or not refetch_lost(workspace, run):
            return


async def _forage_once(
    workspace: Workspace,
    run: Run,
    config: Config,
    workers: int,
    cluster: ClusterOptions | None,
    *,
    on_goal: Callable[[Visit], None],
    on_nodes: Callable[[list[NodeProgress]], None],
    stop: asyncio.Event,
) -> None:
    if cluster is not None:
        from wayhound.app.cluster import forage_on_cluster  # noqa: PLC0415 - only where it was asked for

        await forage_on_cluster(
            workspace, run, config, cluster, on_goal=on_goal, on_nodes=on_nodes, stop=stop
        )
        return
    if workers > 1:
        order = WorkerOrder(run.id, run.identity, run.limits, config)
        await forage_in_processes(workspace.folder, order, workers, on_goal, stop)
        return
    tasks: list[asyncio.Task[None]] = []

    def on_start(crawl: Crawl) -> None:
        tasks.append(asyncio.create_task(_stop_crawl(stop, crawl)))

    await run_worker(workspace, run, config, on_start=on_start, on_goal=on_goal)
    for task in tasks:
        task.cancel()


async def _stop_crawl(stop: asyncio.Event, crawl: Crawl) -> None:
    await stop.wait()
    crawl.stop()


async def forage_in_processes(
    folder: Path, order: WorkerOrder, workers: int, on_goal: Callable[[Visit], None], stop: asyncio.Event
) -> None:
    """Run a forage in so many processes until it is done or `stop` is set. `on_goal` receives the goals.

    Raises WayhoundError if a worker failed.
    """
    processes = [await _start(folder, order, number) for number in range(workers)]
    stopper = asyncio.create_task(_stop_when(stop, processes))
    try:
        await asyncio.gather(*(_relay(process, on_goal) for process in processes))
    finally:
        stopper.cancel()
        for process in processes:
            _close_input(process)
    failed = [await process.wait() for process in processes]
    if any(failed) and not stop.is_set():
        raise WayhoundError(
            "A worker process failed; its message is above. The same command resumes the forage."
        )


async def _start(folder: Path, order: WorkerOrder, number: int) -> Process:
    command = python_command("wayhound", "forage-worker", str(folder), str(number))
    # in a session of its own: Ctrl-C reaches the parent alone, which then stops its workers
    process = await asyncio.create_subprocess_exec(
        *command, stdin=PIPE, stdout=PIPE, start_new_session=True, env=child_environment(), limit=1 << 20
    )
    assert process.stdin is not None
    process.stdin.write(f"{order.to_json()}\n".encode())
    return process


async def _relay(process: Process, on_goal: Callable[[Visit], None]) -> None:
    assert process.stdout is not None
    async for line in process.stdout:
        on_goal(Visit(**json.loads(line)))


async def _stop_when(stop: asyncio.Event, processes: list[Process]) -> None:
    await stop.wait()
    for process in processes:
        _close_input(process)


def _close_input(process: Process) -> None:
    if process.stdin is not None and not process.stdin.is_closing():
        process.stdin.close()


async def forage_until_stdin_ends(workspace: Workspace, order: WorkerOrder, number: int) -> None:
    """Run one worker of `forage_in_processes`, until stdin ends."""
    run = Run(order.run_id, order.identity, order.limits)
    stoppers: list[asyncio.Task[None]] = []

    def started(crawl: Crawl) -> None:
        stoppers.append(asyncio.create_task(_stop_at_end_of_input(crawl)))

    await run_worker(workspace, run, order.config, number=number, on_start=started, on_goal=_report)
    for task in stoppers:
        task.cancel()


async def _stop_at_end_of_input(crawl: Crawl) -> None:
    reader = asyncio.StreamReader()
    loop = asyncio.get_running_loop()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    await reader.read()
    crawl.stop()


def _report(visit: Visit) -> None:
    sys.stdout.write(json.dumps(asdict(visit) | {"archived": None}) + "\n")
    sys.stdout.flush()
