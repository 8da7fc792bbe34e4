"""One function for many independent items: in this process, in others of this machine, or on a Ray cluster.

Ray places the items on machines, and does those of a machine that died again on another one. Wherever they are done,
the results come in the order of the items.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import AbstractContextManager
from multiprocessing.process import BaseProcess
from typing import Any, TypeVar

from wayhound import __version__
from wayhound.app.ray_cluster import ClusterOptions, check_version, connect
from wayhound.errors import WayhoundError

Key = TypeVar("Key")
Setup = TypeVar("Setup")
Item = TypeVar("Item")
Result = TypeVar("Result")
Handle = TypeVar("Handle")
Opener = Callable[[Setup], AbstractContextManager[Callable[[Item], Result]]]

_QUEUED = 2  # items that wait for each process, so that none is idle
_TRIES = 3  # of an item whose process or machine died: it may be the item that kills it


def map_items(
    opener: Opener[Setup, Item, Result],
    setup: Setup,
    items: Iterable[tuple[Key, Item | None]],
    *,
    workers: int = 1,
    cluster: str = "",
) -> Iterator[tuple[Key, Result | None]]:
    """Yield the key and the result of each item in order. A key without an item has the result None.

    `opener` is a function of a module. Every process calls it once with `setup`, and works on items with the function
    that it opens. Processes of this machine end with this one. On a cluster every core is used, and machines may join
    and leave. Raises WayhoundError if processes are killed, UsageError if there is no such cluster.
    """
    if cluster:
        yield from _on_cluster(opener, setup, items, cluster)
    elif workers > 1:
        yield from _in_processes(opener, setup, items, workers)
    else:
        with opener(setup) as work:
            for key, item in items:
                yield key, None if item is None else work(item)


def n_cores() -> int:
    """Return the number of processors that this process may use."""
    return len(os.sched_getaffinity(0))


def _in_order(
    items: Iterable[tuple[Key, Item | None]],
    submit: Callable[[Item], Handle],
    receive: Callable[[Handle], Result],
    processes: Callable[[], int],
) -> Iterator[tuple[Key, Result | None]]:
    """Submit items, so many that no process is idle, and yield their results."""
    pending: deque[tuple[Key, Handle | None]] = deque()

    def first() -> tuple[Key, Result | None]:
        key, handle = pending.popleft()
        return key, None if handle is None else receive(handle)

    for key, item in items:
        pending.append((key, None if item is None else submit(item)))
        while pending and (pending[0][1] is None or len(pending) > processes() * _QUEUED):
            yield first()
    while pending:
        yield first()


# Processes of this machine


def _in_processes(
    opener: Opener[Setup, Item, Result], setup: Setup, items: Iterable[tuple[Key, Item | None]], workers: int
) -> Iterator[tuple[Key, Result | None]]:
    pool = ProcessPoolExecutor(workers, multiprocessing.get_context("spawn"), _prepare, (opener, setup))

    def submit(item: Item) -> Future[Result]:
        return pool.submit(_work, item)

    try:
        yield from _in_order(items, submit, Future.result, lambda: workers)
    except BrokenProcessPool:
        raise WayhoundError(
            "A process was killed, perhaps for lack of memory. Run the same command again; what was saved is not done "
            "twice."
        ) from None
    finally:
        pool.shutdown(cancel_futures=True)


_opened: dict[
    str, tuple[AbstractContextManager[Any], Callable[[Any], Any]]
] = {}  # of a process, for its setup


def _prepare(opener: Opener[Setup, Item, Result], setup: Setup) -> None:
    """Set up a child process: it ignores Ctrl-C, which its parent handles, and ends with its parent."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_end_with, args=(parent,), daemon=True).start()
    _open("", opener, lambda: setup)


def _end_with(parent: BaseProcess) -> None:
    parent.join()
    os._exit(1)


def _open(
    name: str, opener: Opener[Setup, Item, Result], setup: Callable[[], Setup]
) -> Callable[[Item], Result]:
    """Return the function for a setup, which is opened if this process has another one."""
    if name not in _opened:
        for context, _ in _opened.values():
            context.__exit__(None, None, None)
        _opened.clear()
        context = opener(setup())
        _opened[name] = context, context.__enter__()
    return _opened[name][1]


def _work(item: Any) -> Any:
    return _opened[""][1](item)


# A cluster


def _on_cluster(
    opener: Opener[Setup, Item, Result], setup: Setup, items: Iterable[tuple[Key, Item | None]], address: str
) -> Iterator[tuple[Key, Result | None]]:
    ray = connect(ClusterOptions(address))
    try:
        task = ray.remote(num_cpus=1, max_retries=_TRIES, scheduling_strategy="SPREAD")(_work_on_node)
        shared = [ray.put(setup)]  # in a list: a process fetches it once, and not with every item

        def submit(item: Item) -> Any:
            return task.remote(__version__, opener, shared, item)

        def receive(handle: Any) -> Any:
            try:
                return ray.get(handle)
            except ray.exceptions.RayTaskError as error:
                raise error.cause from None
            except ray.exceptions.RayError as error:
                raise _lost(error) from None

        yield from _in_order(items, submit, receive, lambda: int(ray.cluster_resources().get("CPU", 1)))
    finally:
        ray.shutdown()


def _work_on_node(version: str, opener: Opener[Setup, Item, Result], shared: list[Any], item: Item) -> Result:
    import ray  # noqa: PLC0415 - this runs in a process of Ray

    check_version(version)
    return _open(shared[0].hex(), opener, lambda: ray.get(shared[0]))(item)


def _lost(error: Exception) -> WayhoundError:
    return WayhoundError(
        f"Processes of the cluster ended again and again at the same item ({type(error).__name__}), perhaps for lack "
        "of memory. Look into the logs of Ray (/tmp/ray/session_latest/logs). Run the same command again; what was "
        "saved is not done twice."
    )
