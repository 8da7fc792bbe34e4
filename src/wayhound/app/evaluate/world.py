"""Forage a closed world by a strategy, or by the oracle that knows the graph: which pages, in which order."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from time import process_time

from wayhound.archive.replay import ReplayFetcher
from wayhound.archive.site_folder import SiteFolder
from wayhound.errors import ArchiveError
from wayhound.fetched import Fetched
from wayhound.forage.forager import Fetch, ForageLimits, Forager
from wayhound.forage.politeness import Politeness
from wayhound.forage.scorer import Scorer
from wayhound.page import Link, Page, to_page
from wayhound.pages.reader import read_page
from wayhound.paths.taught_site import click_distances
from wayhound.site import Site

REDIRECT_HOPS = 8


@dataclass(frozen=True)
class World:
    """The pages of one site, read once, with links that lead to pages of it, and their labels.

    A link to a redirect leads to where the redirect does, so that a click costs one page whatever the server
    would have sent first.
    """

    name: str
    site: Site
    pages: Mapping[str, Page]
    labels: Mapping[str, str]

    @classmethod
    def load(cls, path: Path) -> World:
        folder = SiteFolder.open(path)
        answers = ReplayFetcher(folder)
        found = {url: read for url in folder.pages if (read := _page(answers, url)) is not None}
        ends = {url: _end(answers, url) for url in answers.urls()}
        pages = {url: replace(page, links=_inside(page, ends, found)) for url, page in found.items()}
        start = ends[folder.site.start]
        if start not in pages:
            raise ArchiveError(f"The archive of {path} does not hold the page that its start page leads to.")
        return cls(folder.name, replace(folder.site, start=start), pages, folder.labels)

    @cached_property
    def depths(self) -> Mapping[str, int]:
        """Clicks from the start to every page that can be reached, nearest first."""
        return click_distances([self.site.start], self.targets)

    def targets(self, url: str) -> Iterable[str]:
        return (link.url for link in self.pages[url].links)

    def goals(self, label: str) -> list[str]:
        """The pages of this label, whether they can be reached or not."""
        return [url for url in self.pages if self.labels.get(url) == label]

    def reachable_goals(self, label: str) -> list[str]:
        return [url for url in self.depths if self.labels.get(url) == label]

    @cached_property
    def sources(self) -> Mapping[str, list[str]]:
        """From which reachable pages each page is linked."""
        found: dict[str, list[str]] = {url: [] for url in self.depths}
        for url in self.depths:
            for target in dict.fromkeys(self.targets(url)):
                found[target].append(url)
        return found

    def clicks_to_nearest(self, goals: Iterable[str]) -> dict[str, int]:
        """How many clicks each page is away from the nearest of these goals."""
        return click_distances(goals, self.sources.__getitem__)


def _page(answers: ReplayFetcher, url: str) -> Page | None:
    answer = answers.get(url)
    if not isinstance(answer, Fetched):
        return None
    page = to_page(read_page(url, answer.body, answer.content_type, answer.charset)) or Page(url)
    # pages alike to the byte are two pages here: the world has labelled both
    return replace(page, digest=url)


def _end(answers: ReplayFetcher, url: str) -> str:
    """Where the redirects from this URL lead."""
    for _ in range(REDIRECT_HOPS):
        answer = answers.get(url)
        if not isinstance(answer, Fetched) or not answer.location:
            break
        url = answer.location
    return url


def _inside(page: Page, ends: Mapping[str, str], pages: Mapping[str, Page]) -> tuple[Link, ...]:
    links = ((link, ends.get(link.url, "")) for link in page.links)
    return tuple(replace(link, url=end) for link, end in links if end in pages and end != page.url)


@dataclass(frozen=True, slots=True)
class Walk:
    """The pages that were fetched, in their order, and what that cost."""

    urls: tuple[str, ...]
    cpu_seconds: float = 0.0


def walk(world: World, scorer: Scorer) -> Walk:
    """All of the world that the strategy will fetch, by the same core as a forage of the live web."""
    began = process_time()
    forager = Forager(world.site, scorer, ForageLimits(), Politeness(0.0))
    urls: list[str] = []
    while isinstance(action := forager.next_action(0.0), Fetch):
        url = action.link.url
        answer = Fetched(url, 200, content_type="text/html")
        forager.tell(action.link, answer, world.pages[url], now=0.0, at=0.0)
        urls.append(url)
    return Walk(tuple(urls), process_time() - began)


def oracle(world: World, goal: str) -> Walk:
    """The near-optimal policy of McCallum et al. (2000), section 3.4.

    It follows, of all links known so far, the one on the way to the nearest goal not yet found.
    """
    left = set(world.reachable_goals(goal))
    clicks = world.clicks_to_nearest(left)
    fringe = {world.site.start: 0}
    seen = {world.site.start}
    done: list[str] = []
    while left and fringe:
        url = min(fringe, key=lambda each: (clicks.get(each, len(clicks)), fringe[each]))
        del fringe[url]
        done.append(url)
        for target in world.targets(url):
            if target not in seen:
                seen.add(target)
                fringe[target] = len(seen)
        if url in left:
            left.discard(url)
            clicks = world.clicks_to_nearest(left)
    return Walk(tuple(done))
