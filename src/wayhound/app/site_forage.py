"""One site's forage by a worker: visits saved before are replayed, pages fetched, goals recognised and saved.

It decides nothing: the `Forager` says what to do next, and the worker when it may be done.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Protocol, TypeVar

from wayhound.app.page_source import Arrival, PageSource
from wayhound.errors import ArchiveError
from wayhound.fetched import Fetched
from wayhound.forage.forager import NO_LINKS, Action, Fetch, Finished, ForageLimits, Forager, Wait
from wayhound.forage.frontier import QueuedLink
from wayhound.forage.politeness import Politeness
from wayhound.forage.rendering import RenderMemory
from wayhound.forage.scorer import AskingScorer, RecognisingScorer, Scorer, SiteReport
from wayhound.forage.site_program import MIN_GOALS, SiteProgram, learn_program
from wayhound.page import Link
from wayhound.site import Site
from wayhound.store.protocol import Run, SiteJob, Store, StoreCalls
from wayhound.store.site_notes import KeptProgram, SiteAnswer, SiteNoteStore, SiteStart
from wayhound.visit import Visit

Result = TypeVar("Result")

LONG_PAUSE_SECONDS = 4.0
"""While a site must pause for longer than this, and longer than usual, another site takes its place."""

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


class Worker(Protocol):
    """The process that forages a site among others: it has the lease, shares out turns, and can be stopped."""

    @property
    def stopping(self) -> asyncio.Event: ...

    async def confirm_lease(self, job: SiteJob, /) -> None:
        """Raise LeaseLost if the site is no longer ours. Called before every decision."""

    def turn(self, job: SiteJob, link: QueuedLink, /) -> AbstractAsyncContextManager[None]:
        """Wait until no fetch of another site is worth more."""

    def make_room(self, job: SiteJob, /) -> None:
        """Let another site run while this one pauses."""

    async def pause(self, seconds: float, /) -> None:
        """Sleep, but wake at once when asked to stop."""


@dataclass
class ForagePlan:
    """The way in which every site of a run is foraged, and what is looked for."""

    new_scorer: Callable[[], Scorer]
    limits: ForageLimits = field(default_factory=ForageLimits)
    politeness: Politeness = field(default_factory=Politeness)
    sitemaps: Callable[[str], Sequence[str]] = lambda _: ()  # that the robots.txt of a site names
    render_memory: Callable[[Site], RenderMemory] = lambda _: RenderMemory("never")
    new_facts: Callable[[], SiteFacts] | None = None  # a site ends when its facts are complete
    facts_are_goals: bool = False  # a page is a goal if it has a fact that was missing
    demand: Demand | None = None  # what people ask for is fetched first, over all sites
    notes: SiteNotebook | None = None
    answered_scorer: Callable[[int], Awaitable[Scorer]] | None = None  # taught by the answers up to this one
    reports_goals: bool = True  # False: pages are fetched in the same order, and none is called a goal
    on_visit: Callable[[Visit], None] = lambda _: None
    on_goal: Callable[[Visit], None] = lambda _: None

    def forager(self, site: Site, scorer: Scorer, program: SiteProgram) -> Forager:
        is_asked_for = self.demand.is_asked_for if self.demand else None
        memory = self.render_memory(site)
        return Forager(site, scorer, self.limits, self.politeness, program, is_asked_for, rendering=memory)


@dataclass
class SiteForage:
    """The forage of one leased site."""

    job: SiteJob
    run: Run
    store: Store
    calls: StoreCalls
    pages: PageSource
    plan: ForagePlan
    worker: Worker
    _forager: Forager = field(init=False)
    _facts: SiteFacts | None = field(default=None, init=False)

    async def finish(self) -> None:
        """Forage until the site is finished or the worker stops. Raises LeaseLost if another worker has the site."""
        scorer, start = await self._begin()
        program = SiteProgram.parse(start.program)
        self._facts = self.plan.new_facts() if self.plan.new_facts else None
        await self._replay(self.plan.forager(self.job.site, scorer, program))
        reason = await self._continue()
        if reason.startswith(NO_LINKS) and self._forager.rendering.lacks_browser:
            reason = f"{NO_LINKS} ({NEEDS_BROWSER})"
        if reason == STOPPED:
            await self._recognise()
            return
        notes = self.plan.notes if isinstance(scorer, RecognisingScorer) else None
        newest = await self._ask(notes.newest_answer) if notes else 0
        if self.plan.answered_scorer is not None and newest > start.last_answer:
            # answers about other sites have come in since: the order is past, but the goals are theirs to recognise
            self._facts = None
            scorer = await self.plan.answered_scorer(newest)
            await self._replay(self.plan.forager(self._forager.site, scorer, program))
        found = await self._recognise()
        if notes:
            await self._ask(lambda job: notes.learn_program(job, self.store.visits(job.id), found))
        hosts = self._forager.site.hosts or None
        await self._ask(lambda job: self.store.finish_site(job, reason, hosts))
        if self.plan.notes and self.run.limits.questions:
            reopen = self.plan.notes.store.reopen_if_answered
            await self._ask(lambda job: reopen(self.run.id, job.id))
        for visit in found:
            self.plan.on_goal(visit)

    async def _ask(self, step: Callable[[SiteJob], Result]) -> Result:
        """Do something in the store for this site."""
        return await self.calls.run(partial(step, self.job))

    async def _begin(self) -> tuple[Scorer, SiteStart]:
        """Return the scorer of the site and what its forage begins with, the same however often it is resumed.

        A scorer that answers about other sites have taught takes a training, during which other sites go on.
        """
        scorer = self.plan.new_scorer()
        if self.plan.notes is None or not isinstance(scorer, RecognisingScorer):
            return scorer, SiteStart()
        start = await self._ask(self.plan.notes.begin)
        if start.last_answer and self.plan.answered_scorer is not None:
            scorer = await self.plan.answered_scorer(start.last_answer)
        return scorer, start

    async def _replay(self, forager: Forager) -> None:
        """Replay the saved visits. From the first page that the archive lost on, pages are fetched again."""
        self._forager = forager
        answers = await self._ask(self.plan.notes.taken_in) if self.plan.notes else {}
        for visit in self.store.visits(self.job.id):
            self._tell_answers(answers.pop(visit.number, ()))
            try:
                response, page = await self.pages.read_again(visit, self.worker.stopping)
            except ArchiveError:
                if self.worker.stopping.is_set():
                    return  # a segment that is not there yet is no lost one: the next worker waits for it
                await self.calls.run(partial(self.store.delete_visits_from, self.job, visit.number))
                return
            if self._facts is not None and response is not None and visit.outcome == "ok":
                self._facts.read(response)
            forager.replay(visit, page)
            if visit.number % 100 == 0:
                await asyncio.sleep(0)  # let other sites run meanwhile
        for later in answers.values():
            self._tell_answers(later)

    async def _continue(self) -> str:
        """Fetch page after page, and return why that ended."""
        forager, worker = self._forager, self.worker
        clock = asyncio.get_running_loop().time
        next_report = max(float(FIRST_REPORT), REPORT_GROWTH * forager.visits)
        while not worker.stopping.is_set():
            await worker.confirm_lease(self.job)
            if self._facts is not None and (reason := self._facts.end_reason):
                return reason
            if await self._take_in_answers():
                await self._recognise()
            match self._next_action(clock()):
                case Finished(reason):
                    return reason
                case Wait(until):
                    if until - clock() > max(LONG_PAUSE_SECONDS, 2 * self.plan.politeness.delay_seconds):
                        worker.make_room(self.job)
                    await worker.pause(until - clock())
                case Fetch(link):
                    async with worker.turn(self.job, link):
                        if reason := await self._refusal():
                            return reason
                        await self._visit(link)
                    if forager.visits >= next_report:
                        next_report = REPORT_GROWTH * forager.visits
                        await self._recognise()
        return STOPPED

    def _next_action(self, now: float) -> Action:
        """Return what to do next. A site whose links have come to an end may have sitemaps."""
        action = self._forager.next_action(now)
        has_ended = isinstance(action, Finished) and action.reason.startswith(NO_LINKS)
        if has_ended and self._forager.read_sitemaps(self.plan.sitemaps(self._forager.site.start)):
            return self._forager.next_action(now)
        return action

    async def _refusal(self) -> str:
        """Return why the next fetch must not be made; empty if it may. It is reserved in the total budget then."""
        if self.worker.stopping.is_set():
            return STOPPED
        unlimited = self.run.limits.total_budget is None
        return "" if unlimited or await self._ask(self.store.reserve_fetch) else TOTAL_SPENT

    async def _visit(self, link: QueuedLink) -> None:
        arrival = await self.pages.get(link, self._forager.rendering)
        visit = self._forager.tell(
            link,
            arrival.response,
            arrival.page,
            now=asyncio.get_running_loop().time(),
            at=arrival.at,
            archived=arrival.archived,
            rendering=arrival.rendering,
        )
        if arrival.not_modified:
            visit = replace(visit, not_modified=True)
        if not self.plan.reports_goals:
            visit = replace(visit, is_goal=False, tier="", why=())
        visit = self._read_facts(arrival, visit)
        await self.calls.save_visit(self.job, visit)
        if not visit.spent and self.run.limits.total_budget is not None:
            await self._ask(self.store.return_reservation)
        self.plan.on_visit(visit)
        if visit.is_goal and not isinstance(self._forager.scorer, RecognisingScorer):
            self.plan.on_goal(visit)

    def _read_facts(self, arrival: Arrival, visit: Visit) -> Visit:
        """Read the facts of a page, where some are wanted, and return its visit, which these may make a goal."""
        if self._facts is None or not isinstance(arrival.response, Fetched) or visit.outcome != "ok":
            return visit
        has_new = self._facts.read(arrival.response)
        if self.plan.demand is not None:
            page_url, values = self._facts.found
            self.plan.demand.learn(page_url or self.job.site.start, values)
        if self.plan.facts_are_goals and has_new:
            return replace(visit, is_goal=True, goal=1.0, tier="goal")
        return visit

    async def _recognise(self) -> list[Visit]:
        """Save and return the goals by all pages of the site so far, where the strategy recognises goals so.

        A report depends on the pages alone, so after a crash the same pages give the same one.
        """
        scorer, notes = self._forager.scorer, self.plan.notes
        if not self.plan.reports_goals or not isinstance(scorer, RecognisingScorer):
            return []
        # in a thread: of a site with many thousand pages it takes seconds, and other sites go on meanwhile
        answers = await self._ask(notes.answers) if notes else {}
        report = await asyncio.to_thread(scorer.report, self.run.limits.min_probability, answers=answers)
        if notes and self.run.limits.questions:
            await self._ask(lambda job: notes.ask(job, scorer, answers))
        report = replace(_each_once(report), goals_left=self._forager.goals_left)
        return await self._ask(lambda job: self.store.save_report(job, report))

    async def _take_in_answers(self) -> bool:
        """Tell the forager what a person said since the last time. Return True if there was something."""
        if self.plan.notes is None or not self.run.limits.questions:
            return False
        notes, visits = self.plan.notes, self._forager.visits
        answers = await self._ask(lambda job: notes.take_in_new(job, visits))
        self._tell_answers(answers)
        return bool(answers)

    def _tell_answers(self, answers: Iterable[SiteAnswer]) -> None:
        for answer in answers:
            self._forager.answer(answer.url, answer.is_goal)


def _each_once(report: SiteReport) -> SiteReport:
    """Return a report that names every page once, in the higher tier: one that had a second look was read twice."""
    goals = {page.url: page for page in report.goals}
    likely = {page.url: page for page in report.likely if page.url not in goals}
    return replace(report, goals=tuple(goals.values()), likely=tuple(likely.values()))
