"""The contract of a store of forages, so that a server database can take the place of SQLite."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal, Protocol, TypeVar

from wayhound.forage.scorer import SiteReport
from wayhound.site import Site
from wayhound.visit import PAGE_OUTCOMES, ArchiveRef, Visit, is_failure

SiteState = Literal["waiting", "leased", "done"]
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class RunLimits:
    """Limits of a run; None means no limit. They may change from one call to the next."""

    budget_per_site: int | None = None
    total_budget: int | None = None
    max_depth: int | None = None
    min_probability: float | None = None  # of a goal; None: the cut with the best expected F1
    questions: int | None = None  # to a person about each site; None: none
    min_goals_left: float | None = None  # a site ends when fewer are expected; None: it goes on


@dataclass(frozen=True, slots=True)
class Run:
    """One forage with its settings. The same identity again resumes it."""

    id: int
    identity: Mapping[str, str]
    limits: RunLimits
    is_new: bool = False
    retried: int = 0  # sites that could not be fetched before, and wait again


@dataclass(frozen=True, slots=True)
class SiteJob:
    """A site leased to a worker; its saved visits are numbered from 0 to `visits` - 1.

    `fence` is the number of the lease: that of the next one of the same site is larger.
    """

    id: int
    site: Site
    visits: int
    run_id: int
    fence: int


@dataclass(frozen=True, slots=True)
class SiteSummary:
    """The progress of a run on one site, and why it stopped there.

    `visits` counts every attempt, `spent` the requests, `pages` the pages that were read, `failures` the attempts that
    brought neither page nor redirect.
    `none_probability` is the probability that the site has no goal, by all its pages, and `goals_left` the number of
    goals that the rest of the budget would find; None if nothing judged that.
    """

    start: str
    state: SiteState
    reason: str
    visits: int
    spent: int
    goals: int
    likely: int = 0
    none_probability: float | None = None
    goals_left: float | None = None
    pages: int = 0
    failures: int = 0


@dataclass(frozen=True, slots=True)
class Progress:
    """Sums over a run; `outcomes` counts the visits by reason code."""

    sites: int = 0
    leased: int = 0
    done: int = 0
    visits: int = 0
    spent: int = 0
    goals: int = 0
    likely: int = 0
    goals_left: float = 0.0  # expected on the sites in progress
    spent_in_progress: int = 0  # on these sites
    outcomes: Mapping[str, int] = field(default_factory=dict)

    @property
    def pages(self) -> int:
        """The number of pages that were read."""
        return sum(self.outcomes.get(outcome, 0) for outcome in PAGE_OUTCOMES)

    @property
    def failures(self) -> int:
        """The number of attempts that brought neither page nor redirect."""
        return sum(visits for outcome, visits in self.outcomes.items() if is_failure(outcome))

    @property
    def waiting(self) -> int:
        return self.sites - self.leased - self.done

    @property
    def is_over(self) -> bool:
        return self.done >= self.sites


class StoreCalls(Protocol):
    """The calls of an event loop to a store. Where that is on a server, it is waited for while the loop goes on."""

    async def run(self, step: Callable[[], Result]) -> Result:
        """Carry out something with the store, after what was asked for before, and return its result."""

    async def save_visit(self, job: SiteJob, visit: Visit) -> None:
        """Save a visit as `Store.save_visit` does: it is durable when this returns."""

    async def last_page(self, url: str) -> ArchiveRef | None:
        """Return what `Store.last_page` does, at once if that is known without asking."""

    def close(self) -> None:
        """Free what is needed for the calls; none may follow."""


class Store(Protocol):
    """Runs, sites shared out by lease, visits and the total budget. `tests/store/test_contract.py` tests it.

    - The same identity opens the same run. Limits may change from call to call; a site that ended at a limit waits
      again once that limit has grown.
    - `retry_failed` reopens sites that could not be fetched, and forgets their failed visits.
    - A site is leased to one worker at a time, and so is its domain, over all runs. A lease is lost only to a worker
      that saw it not renewed for the whole lease time, by a clock of its own: the time of day does not matter.
    - The visits of a site are numbered from 0 without gaps, and each is durable when `save_visit` returns. With a
      lease that was lost nothing can be saved, even if the same worker has leased the site again: LeaseLost is raised.
    - The tiers of a site can be saved again and again; the last report holds. A changed `min_probability` reopens
      the sites of a run, so that they are reported anew.
    - The archive position of the last copy of a page is found by its URL, over all runs and sites.
    - Saved fetches and reservations together never exceed the total budget.
    """

    def open_run(
        self, identity: Mapping[str, str], limits: RunLimits, sites: Iterable[Site], now: float
    ) -> Run: ...
    def runs(self) -> list[Run]: ...
    def run(self, run_id: int) -> Run: ...
    def sites(self, run_id: int) -> Iterator[SiteSummary]: ...
    def progress(self, run_id: int) -> Progress: ...
    def retry_failed(self, run_id: int, *, renders: bool = False) -> int: ...

    def lease_sites(self, run_id: int, worker: str, now: float, count: int) -> list[SiteJob]: ...
    def renew_leases(self, run_id: int, worker: str) -> set[tuple[int, int]]: ...
    def release_leases(self, run_id: int, worker: str) -> None: ...
    def release_dead(self, run_id: int, is_alive: Callable[[str], bool]) -> None: ...
    def release_silent(self, worker: str, seconds: float) -> None: ...
    def finish_site(self, job: SiteJob, reason: str, hosts: tuple[str, ...] | None = None) -> None: ...

    def save_visit(self, job: SiteJob, visit: Visit) -> None: ...
    def save_report(self, job: SiteJob, report: SiteReport) -> list[Visit]: ...
    def visits(self, job_id: int, first: int = 0) -> Iterator[Visit]: ...
    def visits_of(self, run_id: int, start: str, first: int = 0) -> Iterator[Visit]: ...
    def last_page(self, url: str) -> ArchiveRef | None: ...
    def delete_visits_from(self, job: SiteJob, number: int) -> None: ...

    def reserve_fetch(self, job: SiteJob) -> bool: ...
    def return_reservation(self, job: SiteJob) -> None: ...
