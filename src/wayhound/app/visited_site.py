"""A site as a run visited it, read again from the archive; nothing is fetched."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice

from wayhound.errors import ArchiveError, NotInWorkspace, UsageError
from wayhound.forage.forager import Forager
from wayhound.forage.scorer import Rated, Reading, Scorer, State, StrategyInput
from wayhound.forage.scorers import SCORERS
from wayhound.page import Link, Page, Unreadable, to_page
from wayhound.site import Site
from wayhound.trail import Step, Trail
from wayhound.visit import Visit, path_to
from wayhound.workspace import Workspace


@dataclass(frozen=True)
class VisitedSite:
    """All visits of one site in order, and the pages of some or all of them, by visit number."""

    site: Site
    visits: Sequence[Visit]
    pages: Mapping[int, Page]

    @cached_property
    def parents(self) -> Mapping[int, int | None]:
        """For each page the visit of the page that links to it; redirects between them are skipped."""
        return {number: self._page_before(self.visits[number].parent) for number in self.pages}

    def _page_before(self, number: int | None) -> int | None:
        while number is not None and number not in self.pages:
            number = self.visits[number].parent
        return number

    def links(self, number: int) -> tuple[Link, ...]:
        """Return the links of a page, with redirected URLs replaced by those of the final pages."""
        links = self.pages[number].links
        if not self._redirects:
            return links
        return tuple(
            replace(link, url=self._redirects[link.url]) if link.url in self._redirects else link
            for link in links
        )

    @cached_property
    def _redirects(self) -> Mapping[str, str]:
        """The final URL of each redirected one."""
        final: dict[str, str] = {}
        for visit in reversed(self.visits):
            if visit.outcome == "redirect":
                final[visit.url] = final.get(visit.location, visit.location)
        return final

    def link_to(self, number: int) -> Link | None:
        """Return the link that was followed to a page; None for the start page."""
        parent, visit = self.parents[number], self.visits[number]
        if parent is None:
            return None
        candidates = [link for link in self.links(parent) if link.url == visit.url]
        in_region = (link for link in candidates if link.region == visit.link_region)
        saved = Link(visit.url, visit.link_text, region=visit.link_region, kind=visit.link_kind)
        return next(in_region, candidates[0] if candidates else saved)

    def region_sizes(self) -> Counter[tuple[int, str]]:
        """Return the number of links in each region of each page."""
        return Counter((number, link.region) for number, page in self.pages.items() for link in page.links)

    def same_list(self, number: int) -> list[int]:
        """Return the pages that were reached from the same region of the same page, `number` first."""
        place = self._place(number)
        return [number, *(other for other in self.pages if other != number and self._place(other) == place)]

    def _place(self, number: int) -> tuple[int | None, str]:
        return self.parents[number], self.visits[number].link_region

    def path(self, number: int) -> list[int]:
        """Return the visits of the pages from the start page to this one."""
        path = path_to(number, self.visits.__getitem__)
        return [visit.number for visit in path if visit.number in self.pages]

    def steps(self, number: int) -> tuple[tuple[Link | None, Page], ...]:
        """Return the pages from the start page to this one, each with the link that led to it."""
        return tuple((self.link_to(visit), self.pages[visit]) for visit in self.path(number))

    def trail(self, number: int, label: str, taught_by: str = "") -> Trail:
        """Return the path to a page as a trail that ends with this label."""
        steps = [Step(self._page(visit), self.link_to(visit)) for visit in self.path(number)]
        return Trail(self.site.start, (*steps[:-1], replace(steps[-1], label=label)), taught_by)

    def _page(self, number: int) -> Page:
        page = self.pages[number]
        return replace(page, links=self.links(number)) if self._redirects else page

    def readings(self, scorer: Scorer) -> dict[int, Reading]:
        """Return a scorer's reading of every page, along the path by which it was visited."""
        return dict(self._read(scorer))

    def _read(self, scorer: Scorer) -> Iterator[tuple[int, Reading]]:
        states: dict[int, State] = {}
        for number, page in sorted(self.pages.items()):
            start = scorer.start(self.site) if self.parents[number] is None else None
            reading = scorer.read(states.pop(number, start), page)
            children = self._children.get(number, [])
            rated = scorer.rate(reading, [link for _, link in children])
            states.update({child: new.state for (child, _), new in zip(children, rated, strict=True)})
            yield number, reading

    @cached_property
    def _children(self) -> Mapping[int, list[tuple[int, Link]]]:
        children: dict[int, list[tuple[int, Link]]] = {}
        for number, parent in self.parents.items():
            link = self.link_to(number)
            if parent is not None and link is not None:
                children.setdefault(parent, []).append((number, link))
        return children

    def readings_by_replay(self, scorer: Scorer) -> dict[int, Reading]:
        """Return the readings that a forage would make: along the most promising path, not the first.

        Exact, but it rates every link of every page.
        """
        recorder = _ReadingRecorder(scorer)
        forager = Forager(self.site, recorder)
        readings: dict[int, Reading] = {}
        for visit in self.visits:
            page = self.pages.get(visit.number)
            forager.replay(visit, page)
            if page is not None:
                readings[visit.number] = recorder.last
        return readings


class _ReadingRecorder:
    """A scorer that remembers its last reading."""

    def __init__(self, scorer: Scorer) -> None:
        self._scorer = scorer
        self.last = Reading()

    def start(self, site: Site) -> State:
        return self._scorer.start(site)

    def read(self, state: State, page: Page) -> Reading:
        self.last = self._scorer.read(state, page)
        return self.last

    def rate(self, reading: Reading, links: Sequence[Link]) -> list[Rated]:
        return self._scorer.rate(reading, links)

    def combine(self, current: float, new: float) -> float:
        return self._scorer.combine(current, new)


def read_site(workspace: Workspace, run_id: int, start: str) -> VisitedSite:
    """Return a site of a run with all its pages, except those that are missing from the archive."""
    visits = list(workspace.stores.forage.visits_of(run_id, start))
    pages = _read_pages(workspace, (visit for visit in visits if visit.outcome == "ok"))
    return VisitedSite(Site(start), visits, pages)


def read_sites(workspace: Workspace, run_id: int) -> Iterator[VisitedSite]:
    """Yield every site of a run that has a readable page."""
    for summary in list(workspace.stores.forage.sites(run_id)):
        if summary.visits and (site := read_site(workspace, run_id, summary.start)).pages:
            yield site


def read_path(workspace: Workspace, run_id: int, start: str, number: int) -> VisitedSite:
    """Return a site of a run with only the pages on the path to one visit.

    Raises UsageError if there is no such visit or it has no readable page.
    """
    visits = list(workspace.stores.forage.visits_of(run_id, start))
    if not 0 <= number < len(visits):
        raise NotInWorkspace(f"Run {run_id} has no visit {number} of {start}.")
    pages = _read_pages(workspace, path_to(number, visits.__getitem__))
    if number not in pages:
        raise UsageError(f"Visit {number} of {start} has no page that can be shown.")
    return VisitedSite(workspace.stores.click_paths.site(run_id, start), visits, pages)


def _read_pages(workspace: Workspace, visits: Iterable[Visit]) -> dict[int, Page]:
    read = ((visit.number, to_page(_archived(workspace, visit))) for visit in visits)
    return {number: page for number, page in read if page is not None}


def _archived(workspace: Workspace, visit: Visit) -> Page | Unreadable | None:
    try:
        return workspace.archive.page(visit.archived)
    except ArchiveError:
        return None


# How many links wait while a run goes on

PAGES_AT_ONCE = 500  # replayed by one call of `sizes`, for which somebody waits
MOST_SITES = 50


@dataclass
class _Replay:
    """A run as far as it was replayed."""

    run_id: int
    foragers: dict[str, Forager] = field(default_factory=dict)
    sizes: list[int] = field(default_factory=list)


class FrontierSizes:
    """The number of links in the frontier after each page of a run, replayed a few pages per call.

    Which links wait does not depend on their scores, so no model is needed. The last run asked for is kept, so
    that the next call continues where this one stopped.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._replay = _Replay(0)

    def sizes(self, workspace: Workspace, run_id: int) -> list[int]:
        """Return the number of waiting links after each page replayed so far, over all sites of the run."""
        with self._lock:
            if self._replay.run_id != run_id:
                self._replay = _Replay(run_id)
            _continue(workspace, self._replay)
            return list(self._replay.sizes)


def _continue(workspace: Workspace, replay: _Replay) -> None:
    store, left = workspace.stores.forage, PAGES_AT_ONCE
    for summary in list(islice(store.sites(replay.run_id), MOST_SITES)):
        forager = replay.foragers.get(summary.start)
        if forager is None:
            forager = Forager(Site(summary.start), SCORERS["breadth-first"](StrategyInput()))
            replay.foragers[summary.start] = forager
        if left <= 0 or summary.visits <= forager.visits:
            continue
        new = store.visits_of(replay.run_id, summary.start, forager.visits)
        for visit in islice(new, left):
            left -= 1
            forager.replay(visit, _archived(workspace, visit))
            replay.sizes.append(sum(len(site.frontier) for site in replay.foragers.values()))
