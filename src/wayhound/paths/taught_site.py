"""The trails of one site together: a small graph of pages whose distance to a goal is known.

Section numbers are those of Vydiswaran & Sarawagi (2005).
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from wayhound.page import Link, Page
from wayhound.paths.settings import States
from wayhound.trail import FAIL, GOAL, Step, Trail
from wayhound.url import registrable_domain


def resolve_redirects(trails: Sequence[Trail]) -> list[Trail]:
    """Return the trails with every link renamed to the URL of the page that it led to.

    Learning needs the graph of a site's pages, so links must point to the URLs by which pages were reached.
    """
    targets: dict[str, dict[str, str]] = {}
    for trail in trails:
        of_site = targets.setdefault(trail.site, {})
        of_site.update({step.link.url: step.page.url for step in trail.steps if step.link is not None})
        of_site.update({step.page.url: step.page.url for step in trail.steps})
    renamers = {site: _LinkRenamer(of_site) for site, of_site in targets.items()}
    return [replace(trail, steps=renamers[trail.site].steps(trail)) for trail in trails]


@dataclass
class _LinkRenamer:
    """Renames the links of one site's pages, each page once."""

    targets: Mapping[str, str]
    # by id(); the page is held, so ids last
    _renamed: dict[int, tuple[Page, Page]] = field(default_factory=dict)

    def steps(self, trail: Trail) -> tuple[Step, ...]:
        return tuple(self._step(step) for step in trail.steps)

    def _step(self, step: Step) -> Step:
        link = None if step.link is None else _point_to(step.link, step.page.url)
        return Step(self._page(step.page), link, step.label)

    def _page(self, page: Page) -> Page:
        if id(page) not in self._renamed:
            links = tuple(_point_to(link, self.targets.get(link.url, link.url)) for link in page.links)
            self._renamed[id(page)] = (page, page if links == page.links else replace(page, links=links))
        return self._renamed[id(page)][1]


def _point_to(link: Link, url: str) -> Link:
    return link if link.url == url else replace(link, url=url)


@dataclass(frozen=True, slots=True)
class WebGraph:
    """Visited pages by URL, and for each the visited pages that it links to, in order of its links."""

    links: Mapping[str, tuple[str, ...]]

    @classmethod
    def from_pages(cls, pages: Iterable[Page], clicks: Iterable[tuple[str, str]] = ()) -> WebGraph:
        """Return the graph of some pages. `clicks` adds edges, since a click may have been redirected."""
        targets = {page.url: {link.url: None for link in page.links} for page in pages}
        for source, target in clicks:
            targets.setdefault(source, {})[target] = None
            targets.setdefault(target, {})
        links = {
            source: tuple(url for url in urls if url in targets and url != source)
            for source, urls in targets.items()
        }
        return cls(links)

    def edges(self) -> list[tuple[str, str]]:
        return [(source, target) for source, targets in self.links.items() for target in targets]


def hops_to_nearest(graph: WebGraph, useful: Iterable[str]) -> dict[str, int]:
    """Return the clicks from each page to the nearest useful one; pages that lead to none are left out."""
    sources: dict[str, list[str]] = {url: [] for url in graph.links}
    for source, target in graph.edges():
        sources[target].append(source)
    return click_distances((url for url in useful if url in sources), sources.__getitem__)


def click_distances(starts: Iterable[str], neighbours: Callable[[str], Iterable[str]]) -> dict[str, int]:
    """Return the distance of each page to the nearest start in clicks, nearest first (breadth-first search).

    `neighbours` returns the pages at distance 1 of a page.
    """
    distances = dict.fromkeys(starts, 0)
    queue = deque(distances)
    while queue:
        url = queue.popleft()
        for other in neighbours(url):
            if other not in distances:
                distances[other] = distances[url] + 1
                queue.append(other)
    return distances


def hop_label(hops: int | None, states: int = 5) -> str:
    """Return ``T0`` for a useful page up to ``T4`` for four clicks or more, and for pages that lead to none."""
    return f"T{states - 1 if hops is None else min(hops, states - 1)}"


MAX_DISTANCE = 3  # in clicks to the goal, with a state of its own
GOALS_OF_A_TOUR = 3  # with fewer goals and rejected pages, the teacher has not looked around
GOALS_OF_A_LIST = 2  # a region from which this many links led to goals is a list of goals


@dataclass
class TaughtSite:
    """The pages on a site's trails, the shortest taught path to each, and how far each is from a goal."""

    start: str
    states: States = "clicks"
    paths: dict[str, tuple[Step, ...]] = field(default_factory=dict)
    labels: dict[str, str] = field(default_factory=dict)
    distances: dict[str, int] = field(default_factory=dict)  # clicks to the nearest goal, along taught links
    values: dict[str, float] = field(default_factory=dict)  # the harvest of entering the site at a page
    _prefixes: dict[str, str] = field(default_factory=dict)

    @classmethod
    def from_trails(cls, trails: Sequence[Trail], states: States = "clicks") -> TaughtSite:
        """Return what the trails of one site show. `states` as in `PathSettings`."""
        site = cls(trails[0].site, states)
        for trail in sorted(trails, key=lambda trail: not trail.reached_goal):
            for number, step in enumerate(trail.steps):
                site._add_step(trail.steps[: number + 1], step)
            for step, prefix in zip(trail.steps, prefix_states(trail.steps), strict=True):
                site._prefixes.setdefault(step.page.url, prefix)
        site.distances = site._distances_to_goal()
        _Harvest(site, trails).compute()
        return site

    def _add_step(self, path: tuple[Step, ...], step: Step) -> None:
        url = step.page.url
        if url not in self.paths or len(path) < len(self.paths[url]):
            self.paths[url] = path
        label = self.labels.get(url)
        if step.label == GOAL or label is None or (label in ("", FAIL) and step.label):
            self.labels[url] = step.label

    def page(self, url: str) -> Page:
        return self.paths[url][-1].page

    def taught_links(self, url: str) -> list[Link]:
        """Return the links of a taught page that lead to other taught pages."""
        return [link for link in self.page(url).links if link.url in self.paths and link.url != url]

    def unclicked_links(self, url: str) -> list[Link]:
        """Return the links within the site that no trail clicked, on a page that leads to a goal.

        Links of a region with several goals are left out: the list surely holds goals that were not shown. If
        fewer than three goals were marked and pages were rejected, there are none: after so short a look, a link
        that was not clicked says nothing (counting those as failures hid goals).
        """
        if self._is_short_look or url not in self.distances or self.labels[url] == GOAL:
            return []
        goals = {(link.region, link.url) for link in self.taught_links(url) if self.labels[link.url] == GOAL}
        goals_in_region = Counter(region for region, _ in goals)
        unclicked: dict[str, Link] = {}
        for link in self.page(url).links:
            if link.url not in self.paths and goals_in_region[link.region] < GOALS_OF_A_LIST:
                unclicked.setdefault(link.url, link)
        domain = registrable_domain(self.start)
        return [link for link in unclicked.values() if registrable_domain(link.url) == domain]

    @property
    def _is_short_look(self) -> bool:
        labels = Counter(self.labels.values())
        return labels[FAIL] > 0 and labels[GOAL] < GOALS_OF_A_TOUR

    def states_along(self, path: Sequence[Step]) -> list[str]:
        """Return the state of every page on a path. Prefix states depend on the rest of the path."""
        if self.states == "prefix" and path[-1].label:
            return prefix_states(path)
        return [self.state(step.page.url) for step in path]

    def state(self, url: str) -> str:
        """Return the label of a page; of unlabelled ones, ``<`` for each click before the goal (section 1.2)."""
        if self.states == "prefix":
            return self._prefixes[url]
        if self.states == "binary":
            return GOAL if self.labels[url] == GOAL else FAIL
        label = self.labels[url]
        if label not in ("", FAIL):
            return label
        if url in self.distances:
            return "<" * min(self.distances[url], MAX_DISTANCE) + GOAL
        return FAIL if label == FAIL else "<" + FAIL

    def _distances_to_goal(self) -> dict[str, int]:
        sources: dict[str, list[str]] = {url: [] for url in self.paths}
        for url in self.paths:
            for link in self.taught_links(url):
                sources[link.url].append(url)
        goals = (url for url in self.paths if self.labels[url] == GOAL)
        return click_distances(goals, sources.__getitem__)


def prefix_states(path: Sequence[Step]) -> list[str]:
    """Return the label of each page, or the prefix state of the label that follows it (section 1.2)."""
    states, following = [], FAIL
    for step in reversed(path):
        following = step.label or following
        states.append(step.label or f"<{following}")
    return states[::-1]


class _Harvest:
    """The value of a page: the most goals per page fetched that can be had by entering there.

    A list of fifteen goals is worth more than a page before a single one, though both are one click away. The
    best ratio is found over the tree of taught paths, children with a better ratio first.
    """

    def __init__(self, site: TaughtSite, trails: Iterable[Trail]) -> None:
        self._site = site
        self._children: dict[str, set[str]] = {}
        for trail in trails:
            if trail.reached_goal:
                for before, after in zip(trail.steps, trail.steps[1:], strict=False):
                    self._children.setdefault(before.page.url, set()).add(after.page.url)

    def compute(self) -> None:
        """Fill in the site's `values`."""
        self._blocks(self._site.start, frozenset())

    def _blocks(self, url: str, ancestors: frozenset[str]) -> list[tuple[int, int]]:
        """Return (goals, pages) of the best ratio that begins here, then what is left below it, best first."""
        below: list[tuple[int, int]] = []
        for child in sorted(self._children.get(url, set()) - ancestors):
            below += self._blocks(child, ancestors | {url})
        below.sort(key=lambda block: -block[0] / block[1])
        goals, pages, used = int(self._site.labels.get(url) == GOAL), 1, 0
        while used < len(below) and below[used][0] * pages > goals * below[used][1]:
            goals, pages, used = goals + below[used][0], pages + below[used][1], used + 1
        self._site.values[url] = max(self._site.values.get(url, 0.0), goals / pages)
        return [(goals, pages), *below[used:]]
