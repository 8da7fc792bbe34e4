"""One worker of a run: it leases sites and forages several at once."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from dataclasses import dataclass, field
from functools import partial

from wayhound.app.page_source import PageSource, seconds_awake_or_asleep
from wayhound.app.site_forage import Demand, ForagePlan, SiteForage
from wayhound.errors import LeaseLost
from wayhound.fetched import before_request
from wayhound.forage.frontier import QueuedLink
from wayhound.site import Site
from wayhound.store.forage import DirectCalls
from wayhound.store.protocol import Run, SiteJob, Store, StoreCalls

IDLE_SECONDS = 0.5
MAX_STAND_INS = 200
FETCHES_AT_ONCE = 8
"""Under way over all sites, where these compete by what they are worth: the more, the less order there is."""


class _Leases:
    """The sites that one worker holds.

    Nobody takes a site before its lease was not renewed for the whole lease time. After half of it, as when the process
    was stopped or the machine slept, the store must confirm that a site is still ours before anything is done for it.
    """

    def __init__(self, store: Store, calls: StoreCalls, run_id: int, worker: str, seconds: float) -> None:
        self._store, self._calls = store, calls
        self._run_id, self._worker, self._seconds = run_id, worker, seconds
        self._held: dict[SiteJob, asyncio.Task[None]] = {}
        self._renewed_at = seconds_awake_or_asleep()

    async def hold(self, job: SiteJob, work: Coroutine[None, None, None]) -> None:
        """Work on a site until that is done or the lease is lost."""
        task = self._held[job] = asyncio.create_task(work)
        try:
            await task
        except asyncio.CancelledError:
            this = asyncio.current_task()
            if not task.cancelled() or (this and this.cancelling()):
                raise
        finally:
            del self._held[job]

    @property
    def _is_overdue(self) -> bool:
        return seconds_awake_or_asleep() - self._renewed_at > self._seconds / 2

    async def confirm(self, job: SiteJob) -> None:
        """Raise LeaseLost if a site is no longer ours. Called before every decision: it is cheap."""
        if self._is_overdue and job not in await self.renew():
            raise _taken_over(job)

    def check(self, job: SiteJob) -> None:
        """Do the same just before the first byte of a request, where nothing can be waited for but the store itself."""
        if self._is_overdue:
            now, held = seconds_awake_or_asleep(), set(self._held)
            if job not in self._keep(held, self._store.renew_leases(self._run_id, self._worker), now):
                raise _taken_over(job)

    async def renew(self) -> set[SiteJob]:
        """Renew all leases and return those still held. Work on lost sites ends, with the requests under way."""
        now, held = seconds_awake_or_asleep(), set(self._held)
        return self._keep(
            held, await self._calls.run(partial(self._store.renew_leases, self._run_id, self._worker)), now
        )

    def _keep(self, held: set[SiteJob], leases: set[tuple[int, int]], now: float) -> set[SiteJob]:
        """Give up what was held at `now` and is no longer leased; a site that was leased since is not judged."""
        self._renewed_at = max(self._renewed_at, now)
        lost = {job for job in held & self._held.keys() if (job.id, job.fence) not in leases}
        for job in lost:
            self._held[job].cancel()
        return self._held.keys() - lost


class _SiteQueue:
    """Leases sites for tasks that wait for one: one of them asks at a time, for all."""

    def __init__(self, store: Store, calls: StoreCalls, run_id: int, worker: str) -> None:
        self._store, self._calls, self._run_id, self._worker = store, calls, run_id, worker
        self._asking = asyncio.Lock()
        self._leased: deque[SiteJob] = deque()
        self._waiting = 0

    async def take(
        self, is_stopped: Callable[[], bool], pause: Callable[[float], Awaitable[None]]
    ) -> SiteJob | None:
        """Return a site that is leased to the worker; None when none is left or it is stopped."""
        self._waiting += 1
        try:
            await asyncio.sleep(0)  # others may begin to wait at the same moment
            async with self._asking:
                while not is_stopped():
                    if not self._leased:
                        lease = partial(self._store.lease_sites, self._run_id, self._worker, time.time())
                        self._leased.extend(await self._calls.run(partial(lease, self._waiting)))
                    if self._leased:
                        return self._leased.popleft()
                    if (await self._calls.run(partial(self._store.progress, self._run_id))).is_over:
                        return None
                    # the rest is leased by others, or waits for another site of its domain
                    await pause(IDLE_SECONDS)
        finally:
            self._waiting -= 1
        return None


class _Turns:
    """Admits a few fetches at a time, those of the highest utility first, as it is when a place becomes free.

    Without a demand all are admitted.
    """

    def __init__(self, demand: Demand | None, places: int) -> None:
        self._demand = demand
        self._free = places
        self._waiting: dict[asyncio.Future[None], tuple[Site, QueuedLink]] = {}
        self._opened = 0.0  # utility of the site that was opened last

    def opens(self, site: Site) -> None:
        """Note a site that begins. Sites begin in the order of what they are worth, so the next is worth no more."""
        if self._demand is not None:
            self._opened = self._demand.site_utility(site)

    @asynccontextmanager
    async def turn(
        self, site: Site, link: QueuedLink, open_another: Callable[[], None]
    ) -> AsyncIterator[None]:
        """Wait until no fetch of another site is worth more. A site that may be worth more is opened meanwhile."""
        if self._demand is None:
            yield
            return
        if self._demand.utility(site, link) < self._opened:
            open_another()
        await self._enter(site, link)
        try:
            yield
        finally:
            self._leave(self._demand)

    async def _enter(self, site: Site, link: QueuedLink) -> None:
        if self._free > 0:
            self._free -= 1
            return
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting[turn] = site, link
        try:
            await turn
        except asyncio.CancelledError:
            if self._waiting.pop(turn, None) is None and self._demand is not None:
                self._leave(self._demand)  # the turn had come
            raise

    def _leave(self, demand: Demand) -> None:
        if self._waiting:
            best = max(self._waiting, key=lambda turn: demand.utility(*self._waiting[turn]))
            del self._waiting[best]
            best.set_result(None)
        else:
            self._free += 1


@dataclass
class Crawl:
    """One worker: forages the sites that it can lease, several at once, until none is left or it is stopped."""

    store: Store
    run: Run
    worker: str
    pages: PageSource
    plan: ForagePlan
    lease_seconds: float = 60.0
    calls: StoreCalls | None = None  # None: the store is called directly
    stopping: asyncio.Event = field(default_factory=asyncio.Event, init=False)
    _calls: StoreCalls = field(init=False)
    _queue: _SiteQueue = field(init=False)
    _group: asyncio.TaskGroup = field(default_factory=asyncio.TaskGroup, init=False)
    _leases: _Leases = field(init=False)
    _turns: _Turns = field(init=False)
    _replaced: set[int] = field(default_factory=set, init=False)  # sites that pause while another runs

    def __post_init__(self) -> None:
        self._calls = self.calls or DirectCalls(self.store)
        self._queue = _SiteQueue(self.store, self._calls, self.run.id, self.worker)
        self._leases = _Leases(self.store, self._calls, self.run.id, self.worker, self.lease_seconds)
        # where not all can be fetched, their order counts for more than the time
        self._turns = _Turns(self.plan.demand, FETCHES_AT_ONCE if self.run.limits.total_budget is None else 1)

    def stop(self) -> None:
        """Stop after the requests under way; unfinished sites wait for the next call."""
        self.stopping.set()

    async def work(self, sites_at_once: int) -> None:
        """Forage until no site of the run is left. Raises the first error of any site."""
        try:
            async with asyncio.TaskGroup() as around:  # without its leases a worker must not continue
                keeper = around.create_task(self._keep_leases())
                async with self._group:
                    for _ in range(sites_at_once):
                        self._group.create_task(self._work_through_sites())
                keeper.cancel()
        except BaseExceptionGroup as errors:  # one clear error leaves here, not a group of them
            raise _first(errors) from None
        finally:
            await self._calls.run(partial(self.store.release_leases, self.run.id, self.worker))
            self._calls.close()
            await self.pages.close()

    async def _work_through_sites(self) -> None:
        while (job := await self._queue.take(self.stopping.is_set, self.pause)) is not None:
            self._turns.opens(job.site)
            with suppress(LeaseLost):  # another worker has the site now, and all that we saved
                await self._leases.hold(job, self._forage(job))
            if job.id in self._replaced:
                self._replaced.remove(job.id)
                return

    async def _forage(self, job: SiteJob) -> None:
        before_request.set(partial(self._leases.check, job))
        site = SiteForage(
            job, self.run, self.store, self._calls, pages=self.pages, plan=self.plan, worker=self
        )
        await site.finish()

    async def _keep_leases(self) -> None:
        while True:
            await asyncio.sleep(self.lease_seconds / 4)
            self.pages.writer.sync()  # a power cut loses no more than this
            await self._leases.renew()
            await self._calls.run(partial(self.store.release_silent, self.worker, self.lease_seconds))

    # The worker, as the forage of a site sees it

    async def confirm_lease(self, job: SiteJob) -> None:
        await self._leases.confirm(job)

    def turn(self, job: SiteJob, link: QueuedLink) -> AbstractAsyncContextManager[None]:
        return self._turns.turn(job.site, link, partial(self.make_room, job))

    def make_room(self, job: SiteJob) -> None:
        if job.id not in self._replaced and len(self._replaced) < MAX_STAND_INS:
            self._replaced.add(job.id)
            self._group.create_task(self._work_through_sites())

    async def pause(self, seconds: float) -> None:
        if seconds <= 0:
            await asyncio.sleep(0)
            return
        with suppress(TimeoutError):
            await asyncio.wait_for(self.stopping.wait(), seconds)


def _taken_over(job: SiteJob) -> LeaseLost:
    return LeaseLost(f"{job.site.start} was taken over by another worker.")


def _first(errors: BaseExceptionGroup[BaseException]) -> BaseException:
    error: BaseException = errors
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error
