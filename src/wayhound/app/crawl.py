"""The crawl loop, where forage, net and store meet. It decides nothing: the `Forager` does."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Protocol

from wayhound.archive.reader import ArchiveReader, CachedPage, Revalidator
from wayhound.archive.writer import ArchiveWriter
from wayhound.errors import ArchiveError, LeaseLost
from wayhound.fetched import Failed, Fetched, Fetcher, before_request
from wayhound.forage.forager import NO_LINKS, Action, Content, Fetch, Finished, ForageLimits, Forager, Wait
from wayhound.forage.frontier import QueuedLink
from wayhound.forage.politeness import Politeness
from wayhound.forage.rendering import RenderMemory, RenderMode, shows_more
from wayhound.forage.scorer import AskingScorer, RecognisingScorer, Scorer, SiteReport
from wayhound.forage.site_program import MIN_GOALS, SiteProgram, learn_program
from wayhound.page import Link, Page
from wayhound.pages.aside import AsideReader, belongs_aside
from wayhound.pages.feeds import SITEMAP, read_feed
from wayhound.pages.reader import read_response
from wayhound.pages.scripted import browser_need, is_challenge
from wayhound.site import Site
from wayhound.store.protocol import Run, SiteJob, Store
from wayhound.store.site_notes import KeptProgram, SiteAnswer, SiteNoteStore, SiteStart
from wayhound.visit import ArchiveRef, Rendering, Visit

IDLE_SECONDS = 0.5
LONG_PAUSE_SECONDS = 4.0
"""While a site must pause for longer than this, and longer than usual, another site takes its place."""

MAX_STAND_INS = 200
FETCHES_AT_ONCE = 8
"""Under way over all sites, where these compete by what they are worth: the more, the less order there is."""

FIRST_REPORT = 8  # pages of a site after which its goals are recognised for the first time …
REPORT_GROWTH = 1.5  # … and again whenever it has so many times as many, which costs little more than once

STOPPED = "stopped"
TOTAL_SPENT = "total budget spent"
NEEDS_BROWSER = "needs_browser"


class SiteFacts(Protocol):
    """Reads the pages of one site, and knows when further pages are not worth a fetch."""

    def read(self, response: Fetched, /) -> bool:
        """Read a page, and return True if it had a fact that was missing."""

    @property
    def found(self) -> tuple[str, Mapping[str, Sequence[str]]]:
        """The URL of the page that describes the last thing, empty if all of the site does, and its facts by field."""

    @property
    def end_reason(self) -> str:
        """The reason to end the site, such as that all facts are found; empty while it should go on."""


class Demand(Protocol):
    """Rates sites and links by how much people ask for what they describe, over all sites of a run."""

    def is_asked_for(self, link: Link, /) -> bool:
        """Return True if a query asks for what a link itself names. The answer never changes."""

    def site_utility(self, site: Site, /) -> float: ...

    def utility(self, site: Site, link: QueuedLink, /) -> float:
        """Return what fetching a link is worth by all that is known now."""

    def learn(self, key: str, values: Mapping[str, Sequence[str]], /) -> None:
        """Take in the facts so far of a thing, by field. `key` is the URL of the site or page that describes it."""


class Renderer(Protocol):
    """Shows a response to a browser, under a URL that may have a route, and returns the document."""

    async def render(self, response: Fetched, url: str) -> Fetched | Failed: ...


@dataclass
class SiteNotebook:
    """Notes on the sites of a run: the programs that they begin with, what people said, and what to ask them."""

    store: SiteNoteStore
    run: Run
    purpose: str

    def begin(self, job: SiteJob) -> SiteStart:
        """Return what the forage of a site begins with: its program, and the answers about other sites."""
        return self.store.begin(job.id, self.purpose)

    def newest_answer(self, job: SiteJob) -> int:
        """Return the last answer so far about other sites of the run; 0 if there is none."""
        return self.store.last_answer(self.run.id, job.site.start)

    def learn_program(self, job: SiteJob, visits: Iterable[Visit], found: Iterable[Visit]) -> None:
        """Write down the routes to the goals of a site, for its next run."""
        goals = {visit.url for visit in found if visit.tier == "goal"}
        if len(goals) >= MIN_GOALS:
            program = str(learn_program(list(visits), goals))
            kept = KeptProgram(job.site.start, self.purpose, program, False, self.run.id, time.time())
            self.store.learn_program(kept)

    def answers(self, job: SiteJob) -> dict[str, bool]:
        """Return what people said about pages of a site, in this run, in others, or when they taught it."""
        said = {answer.url: answer.is_goal for answer in self.store.answers(job.id)}
        return self.store.taught(job.id) | said

    def taken_in(self, job: SiteJob) -> dict[int, list[SiteAnswer]]:
        """Return the answers that an earlier process took into account, by the number of visits at the time."""
        answers: dict[int, list[SiteAnswer]] = {}
        for answer in self.store.answers(job.id):
            if answer.after is not None:
                answers.setdefault(answer.after, []).append(answer)
        return answers

    def take_in_new(self, job: SiteJob, visits: int) -> list[SiteAnswer]:
        """Return answers that nobody has taken into account, and record that this is done now."""
        new = [answer for answer in self.store.answers(job.id) if answer.after is None]
        if new:
            self.store.take_in(new, visits)
        return new

    def ask(self, job: SiteJob, scorer: Scorer, answers: Mapping[str, bool]) -> None:
        """Let the best question about a site wait, if none waits and it may be asked.

        A person who skips one has nothing to say about the site.
        """
        most = self.run.limits.questions or 0
        asked = self.store.asked(job.id)
        if asked.get("waiting") or asked.get("skipped") or asked.get("answered", 0) >= most:
            return
        if isinstance(scorer, AskingScorer) and (page := scorer.next_question(answers, len(answers) + 1)):
            self.store.ask(job.id, page.url, page.probability, time.time())


class _Leases:
    """The sites that one worker holds.

    Nobody takes a site before its lease was not renewed for the whole lease time. After half of it, as when the process
    was stopped or the machine slept, the store must confirm that a site is still ours before anything is done for it.
    """

    def __init__(self, store: Store, run_id: int, worker: str, seconds: float) -> None:
        self._store, self._run_id, self._worker, self._seconds = store, run_id, worker, seconds
        self._held: dict[SiteJob, asyncio.Task[None]] = {}
        self._renewed_at = _elapsed()

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

    def check(self, job: SiteJob) -> None:
        """Raise LeaseLost if a site is no longer ours. Called before every decision and every request: it is cheap."""
        if _elapsed() - self._renewed_at > self._seconds / 2 and job not in self.renew():
            raise LeaseLost(f"{job.site.start} was taken over by another worker.")

    def renew(self) -> set[SiteJob]:
        """Renew all leases and return those still held. Work on lost sites ends, with the requests under way."""
        now = _elapsed()
        leases = self._store.renew_leases(self._run_id, self._worker)
        self._renewed_at = now
        lost = {job for job in self._held if (job.id, job.fence) not in leases}
        for job in lost:
            self._held[job].cancel()
        return self._held.keys() - lost


class _SiteQueue:
    """Leases sites for tasks that wait for one: one of them asks at a time, for all."""

    def __init__(self, store: Store, run_id: int, worker: str) -> None:
        self._store, self._run_id, self._worker = store, run_id, worker
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
                        self._leased.extend(
                            self._store.lease_sites(self._run_id, self._worker, time.time(), self._waiting)
                        )
                    if self._leased:
                        return self._leased.popleft()
                    if self._store.progress(self._run_id).is_over:
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


class _Uploads:
    """Segments that other machines may still upload; after `seconds` of waiting one counts as lost."""

    def __init__(self, reader: ArchiveReader, seconds: float) -> None:
        self._reader, self._seconds = reader, seconds
        self._missing_since: dict[str, float] = {}  # by name: one is waited for once, not by every site

    async def wait_for(self, ref: ArchiveRef, stop: asyncio.Event) -> None:
        """Wait until a page can be read, or its segment counts as lost, or `stop` is set."""
        while self._seconds and not stop.is_set() and not await self._reader.apart(self._reader.holds, ref):
            first = self._missing_since.setdefault(ref.file, _elapsed())
            if _elapsed() - first >= self._seconds:
                return
            await asyncio.sleep(IDLE_SECONDS)


def _elapsed() -> float:
    """Return the seconds since some moment, those in which the machine slept included where that is known."""
    return time.clock_gettime(_CLOCK)


_CLOCK = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)


@dataclass
class PageView:
    """Reads responses: large ones in a process of their own, those made by scripts in a browser, if there is one."""

    product: str
    renderer: Renderer | None
    mode: RenderMode
    _aside: AsideReader = field(default_factory=AsideReader)

    async def read(self, response: Fetched | Failed) -> tuple[Fetched | Failed, Content]:
        """Return the response and its page; Failed in place of a response that cannot be read within limits."""
        if isinstance(response, Failed) or not belongs_aside(response):
            return response, read_response(response, self.product)
        page = await self._aside.read(response, self.product)
        return (page, None) if isinstance(page, Failed) else (response, page)

    async def show(
        self,
        url: str,
        answer: Fetched | Failed,
        memory: RenderMemory,
        *,
        is_feed: bool = False,
        depth: int = 0,
        second_look: bool = False,
    ) -> tuple[Fetched | Failed, Content, Rendering]:
        """Return the answer as it is read, in a browser if it needs one, with its page.

        A challenge is a failure: there is no page to read.
        """
        if is_feed and isinstance(answer, Fetched) and answer.ok:
            return answer, read_feed(answer), ""
        response, page = await self.read(answer)
        if isinstance(response, Failed):
            return response, page, ""
        if is_challenge(response, page):
            return Failed(url, "challenge", wait_seconds=response.wait_seconds), None, ""
        need = "needed" if "#" in url else browser_need(page, response.body, look_closer=memory.looks_closer)
        unmet: Rendering = "needed" if need == "needed" else ""
        if self.renderer is None or not isinstance(page, Page):
            return response, page, unmet if unmet and memory.is_unmet(url) else ""
        if not second_look and not memory.wants(url, need, depth):
            later: Rendering = "perhaps" if memory.waits(url, need) else ""
            return response, page, unmet if unmet and memory.is_unmet(url) else later
        document, rendered = await self.read(await self.renderer.render(response, url))
        if isinstance(document, Failed):
            return response, page, "same" if second_look else unmet
        least = memory.least_gain(depth)
        if self.mode == "auto" and "#" not in url and not shows_more(page, rendered, least):
            return response, page, "same"
        return document, rendered, "rendered"

    async def close(self) -> None:
        await self._aside.close()


@dataclass
class Crawl:
    """One worker: forages the sites that it can lease, several at once, until none is left or it is stopped."""

    store: Store
    run: Run
    worker: str
    fetcher: Fetcher
    writer: ArchiveWriter
    reader: ArchiveReader
    new_scorer: Callable[[], Scorer]
    limits: ForageLimits
    politeness: Politeness
    sitemaps: Callable[[str], Sequence[str]] = lambda _: ()  # that the robots.txt of a site names
    revalidator: Revalidator | None = None  # for pages that were fetched before
    request_headers: Sequence[tuple[str, str]] = ()
    product: str = "Wayhound"  # the crawler's name, by which pages may address it
    new_facts: Callable[[], SiteFacts] | None = None  # a site ends when its facts are complete
    facts_are_goals: bool = False  # a page is a goal if it has a fact that was missing
    lease_seconds: float = 60.0
    on_visit: Callable[[Visit], None] = lambda _: None
    on_goal: Callable[[Visit], None] = lambda _: None
    notes: SiteNotebook | None = None
    renderer: Renderer | None = None  # for pages that are made by scripts
    render_mode: RenderMode = "auto"
    made_by_scripts: Sequence[tuple[str, int, str]] = ()  # taught pages: site, clicks from its start, URL
    repeats: int = 0  # the run that this one repeats, of which it takes over what needed a browser
    demand: Demand | None = None  # what people ask for is fetched first, over all sites
    answered_scorer: Callable[[int], Awaitable[Scorer]] | None = None  # taught by the answers up to this one
    upload_seconds: float = 0.0  # another machine has this long to upload a segment before it counts as lost
    reports_goals: bool = True  # False: pages are fetched in the same order, and none is called a goal
    _stop: asyncio.Event = field(default_factory=asyncio.Event, init=False)
    _queue: _SiteQueue = field(init=False)
    _group: asyncio.TaskGroup = field(default_factory=asyncio.TaskGroup, init=False)
    _leases: _Leases = field(init=False)
    _view: PageView = field(init=False)
    _facts: dict[int, SiteFacts] = field(default_factory=dict, init=False)  # by the id of the site
    _turns: _Turns = field(init=False)
    _uploads: _Uploads = field(init=False)
    _replaced: set[int] = field(default_factory=set, init=False)  # sites that pause while another runs

    def __post_init__(self) -> None:
        self._queue = _SiteQueue(self.store, self.run.id, self.worker)
        self._leases = _Leases(self.store, self.run.id, self.worker, self.lease_seconds)
        self._view = PageView(self.product, self.renderer, self.render_mode)
        self._uploads = _Uploads(self.reader, self.upload_seconds)
        # where not all can be fetched, their order counts for more than the time
        self._turns = _Turns(self.demand, FETCHES_AT_ONCE if self.run.limits.total_budget is None else 1)

    def stop(self) -> None:
        """Stop after the requests under way; unfinished sites wait for the next call."""
        self._stop.set()

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
            self.store.release_leases(self.run.id, self.worker)
            await self._view.close()

    async def _work_through_sites(self) -> None:
        while (job := await self._next_site()) is not None:
            with suppress(LeaseLost):  # another worker has the site now, and all that we saved
                await self._leases.hold(job, self._forage(job))
            self._facts.pop(job.id, None)
            if job.id in self._replaced:
                self._replaced.remove(job.id)
                return

    async def _next_site(self) -> SiteJob | None:
        """Lease the next site; None when none is left."""
        job = await self._queue.take(self._stop.is_set, self._pause)
        if job is not None:
            self._turns.opens(job.site)
        return job

    async def _forage(self, job: SiteJob) -> None:
        before_request.set(partial(self._leases.check, job))
        scorer, start = await self._begin(job)
        program = SiteProgram.parse(start.program)
        asked_for = self.demand.is_asked_for if self.demand else None
        memory = self._render_memory(job)
        forager = Forager(
            job.site, scorer, self.limits, self.politeness, program, asked_for, rendering=memory
        )
        if self.new_facts is not None:
            self._facts[job.id] = self.new_facts()
        await self._replay(job, forager)
        reason = await self._continue(job, forager)
        if reason.startswith(NO_LINKS) and memory.lacks_browser:
            reason = f"{NO_LINKS} ({NEEDS_BROWSER})"
        if reason == STOPPED:
            await self._recognise(job, forager)
            return
        recognises = self.notes is not None and isinstance(scorer, RecognisingScorer)
        newest = self.notes.newest_answer(job) if self.notes and recognises else 0
        if self.answered_scorer is not None and newest > start.last_answer:
            # answers about other sites have come in since: the order is past, but the goals are theirs to recognise
            self._facts.pop(job.id, None)
            scorer = await self.answered_scorer(newest)
            memory = self._render_memory(job)
            forager = Forager(
                forager.site, scorer, self.limits, self.politeness, program, asked_for, rendering=memory
            )
            await self._replay(job, forager)
        found = await self._recognise(job, forager)
        if self.notes and recognises:
            self.notes.learn_program(job, self.store.visits(job.id), found)
        self.store.finish_site(job, reason, forager.site.hosts or None)
        if self.notes and self.run.limits.questions:
            self.notes.store.reopen_if_answered(self.run.id, job.id)
        for visit in found:
            self.on_goal(visit)

    def _render_memory(self, job: SiteJob) -> RenderMemory:
        """Return what lessons and the run before tell about a site's need for a browser."""
        mode = self.render_mode if self.renderer else "never"
        earlier = self.store.visits_of(self.repeats, job.site.start) if self.repeats and self.renderer else ()
        return RenderMemory.of_site(mode, job.site.start, self.made_by_scripts, earlier)

    async def _begin(self, job: SiteJob) -> tuple[Scorer, SiteStart]:
        """Return the scorer of a site and what its forage begins with, the same however often it is resumed.

        A scorer that answers about other sites have taught takes a training, during which other sites go on.
        """
        scorer = self.new_scorer()
        if self.notes is None or not isinstance(scorer, RecognisingScorer):
            return scorer, SiteStart()
        start = self.notes.begin(job)
        if start.last_answer and self.answered_scorer is not None:
            scorer = await self.answered_scorer(start.last_answer)
        return scorer, start

    async def _continue(self, job: SiteJob, forager: Forager) -> str:
        clock = asyncio.get_running_loop().time
        next_report = max(float(FIRST_REPORT), REPORT_GROWTH * forager.visits)
        facts = self._facts.get(job.id)
        while not self._stop.is_set():
            self._leases.check(job)
            if facts is not None and (reason := facts.end_reason):
                return reason
            if await self._take_in_answers(job, forager):
                await self._recognise(job, forager)
            match _next_action(forager, clock(), self.sitemaps):
                case Finished(reason):
                    return reason
                case Wait(until):
                    if until - clock() > max(LONG_PAUSE_SECONDS, 2 * self.politeness.delay_seconds):
                        self._let_another_start(job)
                    await self._pause(until - clock())
                case Fetch(link):
                    async with self._turns.turn(job.site, link, partial(self._let_another_start, job)):
                        if reason := self._refusal(job):
                            return reason
                        await self._visit(job, forager, link)
                    if forager.visits >= next_report:
                        next_report = REPORT_GROWTH * forager.visits
                        await self._recognise(job, forager)
        return STOPPED

    async def _recognise(self, job: SiteJob, forager: Forager) -> list[Visit]:
        """Save and return the goals by all pages of the site so far, where the strategy recognises goals so.

        A report depends on the pages alone, so after a crash the same pages give the same one.
        """
        scorer = forager.scorer
        if not self.reports_goals or not isinstance(scorer, RecognisingScorer):
            return []
        # in a thread: of a site with many thousand pages it takes seconds, and other sites go on meanwhile
        answers = self.notes.answers(job) if self.notes else {}
        report = await asyncio.to_thread(scorer.report, self.run.limits.min_probability, answers=answers)
        if self.notes and self.run.limits.questions:
            self.notes.ask(job, scorer, answers)
        return self.store.save_report(job, replace(_each_once(report), goals_left=forager.goals_left))

    async def _take_in_answers(self, job: SiteJob, forager: Forager) -> bool:
        """Tell the forager what a person said since the last time. Return True if there was something."""
        if self.notes is None or not self.run.limits.questions:
            return False
        answers = self.notes.take_in_new(job, forager.visits)
        _tell_answers(forager, answers)
        return bool(answers)

    def _let_another_start(self, job: SiteJob) -> None:
        if job.id not in self._replaced and len(self._replaced) < MAX_STAND_INS:
            self._replaced.add(job.id)
            self._group.create_task(self._work_through_sites())

    async def _visit(self, job: SiteJob, forager: Forager, link: QueuedLink) -> None:
        first = link.first_look
        cached, answer = await _fetch_page(link, self.fetcher, self.revalidator, self.reader)
        plain = cached.resolve(answer) if cached else answer
        response, page, rendering = await self._view.show(
            link.url,
            plain,
            forager.rendering,
            is_feed=link.region == SITEMAP,
            depth=link.depth,
            second_look=first is not None,
        )
        at = time.time()
        archived = first.archived if first else None
        if first is None or rendering == "rendered":
            archived = self._archive(response if rendering == "rendered" else answer, answer, at, cached)
        now = asyncio.get_running_loop().time()
        visit = forager.tell(link, response, page, now=now, at=at, archived=archived, rendering=rendering)
        if cached and isinstance(answer, Fetched) and cached.is_confirmed_by(answer):
            visit = replace(visit, not_modified=True)
        if not self.reports_goals:
            visit = replace(visit, is_goal=False, tier="", why=())
        if job.id in self._facts and isinstance(response, Fetched) and visit.outcome == "ok":
            has_new = self._facts[job.id].read(response)
            if self.facts_are_goals and has_new:
                visit = replace(visit, is_goal=True, goal=1.0, tier="goal")
            if self.demand is not None:
                page_url, values = self._facts[job.id].found
                self.demand.learn(page_url or job.site.start, values)
        self.store.save_visit(job, visit)
        if not visit.spent:
            self._return_reservation(job)
        self.on_visit(visit)
        if visit.is_goal and not isinstance(forager.scorer, RecognisingScorer):
            self.on_goal(visit)

    def _archive(
        self, shown: Fetched | Failed, answer: Fetched | Failed, at: float, cached: CachedPage | None
    ) -> ArchiveRef | None:
        """Archive an answer, and what a browser made of it if that was `shown`."""
        if isinstance(answer, Failed) or isinstance(shown, Failed):
            return None
        headers = (*self.request_headers, *(cached.conditions if cached else ()))
        written = replace(shown, source=answer) if shown.source else shown
        return self.writer.write(written, at=at, request_headers=headers, cached=cached)

    # visits saved before a crash or a stop

    async def _replay(self, job: SiteJob, forager: Forager) -> None:
        """Replay the saved visits. From the first page that the archive lost on, pages are fetched again."""
        answers = self.notes.taken_in(job) if self.notes else {}
        for visit in self.store.visits(job.id):
            _tell_answers(forager, answers.pop(visit.number, ()))
            try:
                if visit.archived is not None:
                    await self._uploads.wait_for(visit.archived, self._stop)
                page = await self._archived_page(visit)
                if job.id in self._facts and visit.archived and visit.outcome == "ok":
                    self._facts[job.id].read(await self.reader.apart(self.reader.read, visit.archived))
            except ArchiveError:
                self.store.delete_visits_from(job, visit.number)
                return
            forager.replay(visit, page)
            if visit.number % 100 == 0:
                await asyncio.sleep(0)  # let other sites run meanwhile
        for later in answers.values():
            _tell_answers(forager, later)

    async def _archived_page(self, visit: Visit) -> Content:
        if visit.archived is None or visit.outcome == "unreadable":
            return None
        response = await self.reader.apart(self.reader.read, visit.archived)
        if visit.link_region == SITEMAP and response.ok:
            return read_feed(response)
        return (await self._view.read(response))[1]

    # the total budget, shared with other workers

    def _refusal(self, job: SiteJob) -> str:
        """Return why the next fetch must not be made; empty if it may."""
        if self._stop.is_set():
            return STOPPED
        unlimited = self.run.limits.total_budget is None
        return "" if unlimited or self.store.reserve_fetch(job) else TOTAL_SPENT

    def _return_reservation(self, job: SiteJob) -> None:
        if self.run.limits.total_budget is not None:
            self.store.return_reservation(job)

    # leases and pauses

    async def _keep_leases(self) -> None:
        while True:
            await asyncio.sleep(self.lease_seconds / 4)
            self.writer.sync()  # a power cut loses no more than this
            self._leases.renew()
            self.store.release_silent(self.worker, self.lease_seconds)

    async def _pause(self, seconds: float) -> None:
        """Sleep, but wake at once when asked to stop."""
        if seconds <= 0:
            await asyncio.sleep(0)
            return
        with suppress(TimeoutError):
            await asyncio.wait_for(self._stop.wait(), seconds)


def _next_action(forager: Forager, now: float, sitemaps: Callable[[str], Sequence[str]]) -> Action:
    """Return what to do next. A site whose links have come to an end may have sitemaps."""
    action = forager.next_action(now)
    has_ended = isinstance(action, Finished) and action.reason.startswith(NO_LINKS)
    if has_ended and forager.read_sitemaps(sitemaps(forager.site.start)):
        return forager.next_action(now)
    return action


async def _fetch_page(
    link: QueuedLink, fetcher: Fetcher, revalidator: Revalidator | None, reader: ArchiveReader
) -> tuple[CachedPage | None, Fetched | Failed]:
    """Return the response for a link, and the copy of it if the server was asked for changes.

    A second look takes the archived response.
    """
    if link.first_look is not None and link.first_look.archived is not None:
        with suppress(ArchiveError):
            return None, await reader.apart(reader.read, link.first_look.archived)
    address = link.url.partition("#")[0]  # a route is for the browser, not for the server
    cached = await revalidator.cached(address) if revalidator else None
    if revalidator and cached:
        return cached, await revalidator.fetch(address, cached)
    return None, await fetcher.fetch(address)


def _each_once(report: SiteReport) -> SiteReport:
    """Return a report that names every page once, in the higher tier: one that had a second look was read twice."""
    goals = {page.url: page for page in report.goals}
    likely = {page.url: page for page in report.likely if page.url not in goals}
    return replace(report, goals=tuple(goals.values()), likely=tuple(likely.values()))


def _tell_answers(forager: Forager, answers: Iterable[SiteAnswer]) -> None:
    for answer in answers:
        forager.answer(answer.url, answer.is_goal)


def _first(errors: BaseExceptionGroup[BaseException]) -> BaseException:
    error: BaseException = errors
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error
