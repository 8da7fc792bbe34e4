"""A site of a run as it was walked, read from the archive; nothing is fetched."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from wayhound.archive.reader import ArchiveReader
from wayhound.errors import ArchiveError
from wayhound.forage.forager import Forager
from wayhound.forage.scorer import Rated, Reading, Scorer, State
from wayhound.page import Link, Page, to_page
from wayhound.site import Site
from wayhound.trail import Step, Trail
from wayhound.visit import Visit, path_to
from wayhound.workspace import Workspace


@dataclass(frozen=True)
class Walked:
    """The visits of one site in order, and their pages by the number of the visit."""

    site: Site
    visits: Sequence[Visit]
    pages: Mapping[int, Page]

    @cached_property
    def parents(self) -> Mapping[int, int | None]:
        """The visit from whose page each page was reached, redirects skipped."""
        return {number: self._page_before(self.visits[number].parent) for number in self.pages}

    def _page_before(self, number: int | None) -> int | None:
        while number is not None and number not in self.pages:
            number = self.visits[number].parent
        return number

    def links(self, number: int) -> tuple[Link, ...]:
        """Return the links of a page with redirects resolved."""
        links = self.pages[number].links
        if not self._ends:
            return links
        return tuple(
            replace(link, url=self._ends[link.url]) if link.url in self._ends else link for link in links
        )

    @cached_property
    def _ends(self) -> Mapping[str, str]:
        """The final URL of each URL that was redirected."""
        ends: dict[str, str] = {}
        for visit in reversed(self.visits):
            if visit.outcome == "redirect":
                ends[visit.url] = ends.get(visit.location, visit.location)
        return ends

    def link_to(self, number: int) -> Link | None:
        """Return the link that was followed to a page; None for the start page."""
        parent, visit = self.parents[number], self.visits[number]
        if parent is None:
            return None
        same = [link for link in self.links(parent) if link.url == visit.url]
        in_region = (link for link in same if link.region == visit.link_region)
        saved = Link(visit.url, visit.link_text, region=visit.link_region, kind=visit.link_kind)
        return next(in_region, same[0] if same else saved)

    def links_alike(self) -> Counter[tuple[int, str]]:
        """Count the links in each region of each page."""
        return Counter((number, link.region) for number, page in self.pages.items() for link in page.links)

    def group_of(self, number: int) -> list[int]:
        """Return the pages that were reached from the same region of the same page, this one first."""
        region = self._region(number)
        others = [other for other in self.pages if other != number and self._region(other) == region]
        return [number, *others]

    def _region(self, number: int) -> tuple[int | None, str]:
        return self.parents[number], self.visits[number].link_region

    def way(self, number: int) -> list[int]:
        """Return the pages from the start page to this one."""
        path = path_to(number, self.visits.__getitem__)
        return [visit.number for visit in path if visit.number in self.pages]

    def trail(self, number: int, label: str, taught_by: str = "") -> Trail:
        """Return the path to a page as a trail that ends with this label."""
        steps = [Step(self._page(step), self.link_to(step)) for step in self.way(number)]
        return Trail(self.site.start, (*steps[:-1], replace(steps[-1], label=label)), taught_by)

    def _page(self, number: int) -> Page:
        page = self.pages[number]
        return replace(page, links=self.links(number)) if self._ends else page

    def readings(self, scorer: Scorer) -> dict[int, Reading]:
        """Return the scorer's reading of every page, along the path that was walked to it."""
        return dict(self._read_along(scorer))

    def readings_as_foraged(self, scorer: Scorer) -> dict[int, Reading]:
        """Return the readings as a forage makes them: along the best-rated path to a page, not the first one.

        Exact, but rates every link of every page.
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

    def _read_along(self, scorer: Scorer) -> Iterator[tuple[int, Reading]]:
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


class _ReadingRecorder:
    """A scorer that keeps its last reading."""

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


def walked_site(workspace: Workspace, run_id: int, start: str) -> Walked:
    """Read the visits of a site and their pages; pages that the archive lost are left out."""
    visits = list(workspace.stores.forage.visits_of(run_id, start))
    pages = ((visit.number, page_of(workspace.archive, visit)) for visit in visits if visit.outcome == "ok")
    return Walked(Site(start), visits, {number: page for number, page in pages if page is not None})


def walked_sites(workspace: Workspace, run_id: int) -> Iterator[Walked]:
    """Yield every site of a run that has at least one page."""
    for summary in list(workspace.stores.forage.sites(run_id)):
        if summary.visits and (walked := walked_site(workspace, run_id, summary.start)).pages:
            yield walked


def page_of(reader: ArchiveReader, visit: Visit) -> Page | None:
    """Return the page that a visit brought; None if it brought none or the archive has lost it."""
    try:
        return to_page(reader.page(visit.archived))
    except ArchiveError:
        return None
