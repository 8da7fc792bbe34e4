"""Closed worlds: recorded sites that a strategy, or the oracle that knows the graph, forages page by page."""

from __future__ import annotations

import math
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from time import process_time

from wayhound.archive.replay import ReplayFetcher
from wayhound.archive.site_folder import SiteFolder, find_site_folders
from wayhound.errors import ArchiveError, UsageError
from wayhound.fetched import Fetched
from wayhound.forage.forager import MAX_REDIRECTS, Fetch, ForageLimits, Forager
from wayhound.forage.politeness import Politeness
from wayhound.forage.scorer import AskingScorer, FoundPage, RecognisingScorer, Scorer, SiteReport
from wayhound.page import Link, Page, to_page
from wayhound.pages.reader import read_page
from wayhound.paths.rollout import RecordedSite
from wayhound.paths.site_recognition import Answers
from wayhound.paths.taught_site import click_distances
from wayhound.paths.traits import ReachedPage, SourcePage
from wayhound.site import Site
from wayhound.trail import FAIL, GOAL, Step, Trail
from wayhound.url import host_of
from wayhound.visit import Visit, path_to


@dataclass(frozen=True)
class World:
    """The pages of one site with their labels; links to pages that are not archived do not exist.

    A link to a redirect leads to the redirect's target, so that a click costs one page whatever the server would
    have sent first.
    """

    name: str
    site: Site
    pages: Mapping[str, Page]
    labels: Mapping[str, str]

    @classmethod
    def load(cls, path: Path) -> World:
        """Read a site folder. Raises ArchiveError if it does not hold the start page."""
        folder = SiteFolder.open(path)
        fetcher = ReplayFetcher(folder.responses)
        read = {url: page for url in folder.pages if (page := _read(fetcher, url)) is not None}
        targets = {url: _redirect_target(fetcher, url) for url in fetcher.urls()}
        pages = {url: replace(page, links=_links_inside(page, targets, read)) for url, page in read.items()}
        start = targets[folder.site.start]
        if start not in pages:
            raise ArchiveError(f"The archive of {path} does not hold the page that its start page leads to.")
        return cls(folder.name, replace(folder.site, start=start), pages, folder.labels)

    @classmethod
    def from_recorded(cls, site: RecordedSite) -> World:
        """Return the world of a site that starts at the page of its name; goals are labelled `Goal`."""
        hosts = tuple(dict.fromkeys(host_of(url) for url in [site.name, *site.pages]))
        return cls(site.name, Site(site.name, hosts), site.pages, dict.fromkeys(site.goals, GOAL))

    @cached_property
    def depths(self) -> Mapping[str, int]:
        """Clicks from the start to every reachable page, nearest first."""
        return click_distances([self.site.start], self.targets)

    def targets(self, url: str) -> Iterable[str]:
        return (link.url for link in self.pages[url].links)

    def goals(self, label: str) -> list[str]:
        """Return the pages with this label, reachable or not."""
        return [url for url in self.pages if self.labels.get(url) == label]

    def reachable_goals(self, label: str) -> list[str]:
        return [url for url in self.depths if self.labels.get(url) == label]

    @cached_property
    def sources(self) -> Mapping[str, list[str]]:
        """The reachable pages that link to each reachable page."""
        sources: dict[str, list[str]] = {url: [] for url in self.depths}
        for url in self.depths:
            for target in dict.fromkeys(self.targets(url)):
                sources[target].append(url)
        return sources

    def recorded(self, label: str) -> RecordedSite:
        """Return the reachable pages with those of this label as goals, for strategies that learn from sites."""
        return RecordedSite(self.site.start, {url: self.pages[url] for url in self.depths},
                            frozenset(self.reachable_goals(label)))  # fmt: skip

    def without(self, label: str) -> World:
        """Return the site without the pages of this label and the links to them.

        Raises UsageError if the start page has the label.
        """
        removed = set(self.goals(label))
        if self.site.start in removed:
            raise UsageError(
                f"The start page of {self.name} is labelled {label}: without such pages there is no site."
            )
        pages = {
            url: replace(page, links=tuple(link for link in page.links if link.url not in removed))
            for url, page in self.pages.items()
            if url not in removed
        }
        return World(self.name, self.site, pages, self.labels)

    def clicks_to_nearest(self, goals: Iterable[str]) -> dict[str, int]:
        """Return the clicks from each page to the nearest of these goals."""
        return click_distances(goals, self.sources.__getitem__)


DIRECTORY = "http://directory.example/"


def join_worlds(worlds: Sequence[World], name: str = "joined") -> World:
    """Return one world of several sites, whose start page links to the start page of each.

    Topical crawling crosses sites; the scope of the joined site has the hosts of all of them.
    """
    pages: dict[str, Page] = {}
    labels: dict[str, str] = {}
    for world in worlds:
        pages |= {url: page for url, page in world.pages.items() if url not in pages}
        labels |= {url: label for url, label in world.labels.items() if url not in labels}
    links = tuple(Link(world.site.start, text=pages[world.site.start].title) for world in worlds)
    start = Page(DIRECTORY, title="Directory", links=links, digest=DIRECTORY)
    hosts = tuple(dict.fromkeys(host_of(url) for url in [DIRECTORY, *pages]))
    return World(name, Site(DIRECTORY, hosts), {DIRECTORY: start, **pages}, labels)


def load_worlds(paths: Sequence[Path]) -> list[World]:
    """Load every site folder in these paths. Raises UsageError if there is none."""
    folders = dict.fromkeys(folder for path in paths for folder in find_site_folders(path))
    if not folders:
        raise UsageError(f"There is no site folder in {', '.join(map(str, paths))}.")
    return [World.load(folder) for folder in folders]


def _read(fetcher: ReplayFetcher, url: str) -> Page | None:
    response = fetcher.get(url)
    if not isinstance(response, Fetched):
        return None
    page = to_page(read_page(url, response.body, response.content_type, response.charset)) or Page(url)
    # pages with equal bytes are different pages here: both have labels
    return replace(page, digest=url)


def _redirect_target(fetcher: ReplayFetcher, url: str) -> str:
    """Return the URL at the end of the redirects from this one."""
    for _ in range(MAX_REDIRECTS):
        response = fetcher.get(url)
        if not isinstance(response, Fetched) or not response.location:
            break
        url = response.location
    return url


def _links_inside(page: Page, targets: Mapping[str, str], pages: Mapping[str, Page]) -> tuple[Link, ...]:
    links = ((link, targets.get(link.url, "")) for link in page.links)
    return tuple(replace(link, url=url) for link, url in links if url in pages and url != page.url)


@dataclass(frozen=True, slots=True)
class Walk:
    """The pages that were fetched, in order, the CPU time that it took, and the goals reported.

    The first report is without answers, the next ones after each answer of a person; `answers` are these as trails.
    """

    urls: tuple[str, ...]
    cpu_seconds: float = 0.0
    reports: tuple[SiteReport, ...] = ()
    answers: tuple[Trail, ...] = ()

    @property
    def report(self) -> SiteReport | None:
        """The goals reported after all answers."""
        return self.reports[-1] if self.reports else None


def walk(
    world: World,
    scorer: Scorer,
    budget: int | None = None,
    ask: Callable[[Scorer], Answers] | None = None,
    limits: ForageLimits | None = None,
    *,
    goals: Container[str] = (),
    wanted: int | None = None,
) -> Walk:
    """Forage the world until the strategy or a limit stops it, with the same core as on the live web.

    Goals are reported after the first `budget` pages, by default after all; `ask` returns what a person answered
    about those pages. From then on the walk ends as soon as `wanted` of the `goals` are fetched, by default never.
    """
    began = process_time()
    visits: list[Visit] = []
    reports: tuple[SiteReport, ...] = ()
    answers: Answers = {}
    found = 0
    for visit in _visits(world, scorer, limits or ForageLimits()):
        visits.append(visit)
        found += visit.url in goals
        if len(visits) == budget:
            answers = ask(scorer) if ask else {}
            reports = _reports(scorer, visits, answers)
        if reports and wanted is not None and found >= wanted:
            break
    if not reports:
        answers = ask(scorer) if ask else {}
        reports = _reports(scorer, visits, answers)
    seconds = process_time() - began
    urls = tuple(visit.url for visit in visits)
    return Walk(urls, seconds, reports, _answer_trails(world, visits, answers))


def _reports(scorer: Scorer, visits: Sequence[Visit], answers: Answers) -> tuple[SiteReport, ...]:
    """Return the report without answers, and those after each of them."""
    given = list(answers.items())
    return tuple(_site_report(scorer, visits, dict(given[:count])) for count in range(len(given) + 1))


def _answer_trails(world: World, visits: Sequence[Visit], answers: Answers) -> tuple[Trail, ...]:
    """Return the paths to answered pages as trails; an answer about the start page shows no way."""
    return tuple(
        _trail(
            world,
            [other.number for other in path_to(visit.number, visits.__getitem__)],
            visits,
            answers[visit.url],
        )
        for visit in visits
        if visit.url in answers and visit.parent is not None
    )


def _trail(world: World, path: Sequence[int], visits: Sequence[Visit], is_goal: bool) -> Trail:
    steps = [Step(world.pages[world.site.start])]
    for number in path[1:]:
        visit, links = visits[number], steps[-1].page.links
        same = [link for link in links if link.url == visit.url]
        in_region = (link for link in same if link.region == visit.link_region)
        steps.append(Step(world.pages[visit.url], next(in_region, same[0])))
    label = GOAL if is_goal else FAIL
    return Trail(world.site.start, (*steps[:-1], replace(steps[-1], label=label)))


def explore(world: World, scorer: Scorer, pages: int, *, use_urls: bool = True) -> list[ReachedPage]:
    """Return the first pages of the world that the strategy fetches, each as it was reached."""
    reached: list[ReachedPage] = []
    sources: dict[int, SourcePage] = {}
    for visit in _visits(world, scorer, ForageLimits(budget=pages)):
        page = world.pages[visit.url]
        sources[visit.number] = SourcePage.from_page(page, use_urls=use_urls)
        link = Link(visit.url, visit.link_text, region=visit.link_region, kind=visit.link_kind)
        reached.append(
            ReachedPage(page, visit.depth)
            if visit.parent is None
            else ReachedPage(page, visit.depth, link, sources[visit.parent])
        )
    return reached


def _visits(world: World, scorer: Scorer, limits: ForageLimits) -> Iterator[Visit]:
    forager = Forager(world.site, scorer, limits, Politeness(0.0))
    while isinstance(action := forager.next_action(0.0), Fetch):
        url = action.link.url
        response = Fetched(url, 200, content_type="text/html")
        yield forager.tell(action.link, response, world.pages[url], now=0.0, at=0.0)


def ask_truthfully(scorer: Scorer, goals: Container[str], questions: int) -> dict[str, bool]:
    """Answer a scorer's questions about the pages read so far as a person would who never errs."""
    answers: dict[str, bool] = {}
    while isinstance(scorer, AskingScorer) and (page := scorer.next_question(answers, questions)) is not None:
        answers[page.url] = page.url in goals
    return answers


def _site_report(scorer: Scorer, visits: Sequence[Visit], answers: Answers) -> SiteReport:
    """Return the goals that a strategy reports; by default, the pages that it took for goals one by one."""
    if isinstance(scorer, RecognisingScorer):
        return scorer.report(answers=answers)
    goals = tuple(FoundPage(visit.url, visit.goal) for visit in visits if visit.is_goal)
    return SiteReport(goals, (), math.prod(1 - visit.goal for visit in visits))


def oracle(world: World, goal: str) -> Walk:
    """Walk by the near-optimal policy of McCallum et al. (2000), section 3.4, which knows the graph.

    Of all links seen so far, it follows the one that is nearest to a goal not yet found.
    """
    remaining = set(world.reachable_goals(goal))
    clicks = world.clicks_to_nearest(remaining)
    fringe = {world.site.start: 0}
    seen = {world.site.start}
    fetched: list[str] = []
    while remaining and fringe:
        url = min(fringe, key=lambda url: (clicks.get(url, len(clicks)), fringe[url]))
        del fringe[url]
        fetched.append(url)
        for target in world.targets(url):
            if target not in seen:
                seen.add(target)
                fringe[target] = len(seen)
        if url in remaining:
            remaining.discard(url)
            clicks = world.clicks_to_nearest(remaining)
    return Walk(tuple(fetched))
