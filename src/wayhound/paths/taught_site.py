"""What the trails of one site tell together: a small graph of pages whose way to the goal is known."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from wayhound.page import Link, Page
from wayhound.paths.settings import States
from wayhound.trail import FAIL, GOAL, Step, Trail
from wayhound.url import registrable_domain


def resolve_redirects(trails: Sequence[Trail]) -> list[Trail]:
    """The same trails, with every link to a page under the name by which the page was reached.

    What is learned of a site is a graph of its pages, so the links on them must name pages.
    """
    reached: dict[str, dict[str, str]] = {}
    for trail in trails:
        ends = reached.setdefault(trail.site, {})
        ends.update({step.link.url: step.page.url for step in trail.steps if step.link is not None})
        ends.update({step.page.url: step.page.url for step in trail.steps})
    renaming = {site: _Renaming(ends) for site, ends in reached.items()}
    return [replace(trail, steps=renaming[trail.site].steps(trail)) for trail in trails]


@dataclass
class _Renaming:
    """Renames the links of one site's pages, each page once."""

    ends: Mapping[str, str]
    _known: dict[int, tuple[Page, Page]] = field(default_factory=dict)  # by identity of the page as it was

    def steps(self, trail: Trail) -> tuple[Step, ...]:
        return tuple(self._step(step) for step in trail.steps)

    def _step(self, step: Step) -> Step:
        link = None if step.link is None else _to(step.link, step.page.url)
        return Step(self._page(step.page), link, step.label)

    def _page(self, page: Page) -> Page:
        if id(page) not in self._known:
            self._known[id(page)] = (page, self._renamed(page))
        return self._known[id(page)][1]

    def _renamed(self, page: Page) -> Page:
        links = tuple(_to(link, self.ends.get(link.url, link.url)) for link in page.links)
        return page if links == page.links else replace(page, links=links)


def _to(link: Link, url: str) -> Link:
    return link if link.url == url else replace(link, url=url)


@dataclass(frozen=True, slots=True)
class WebGraph:
    """Visited pages by URL, and for each the visited pages that it links to, in order of its links."""

    links: Mapping[str, tuple[str, ...]]

    @classmethod
    def of(cls, pages: Iterable[Page], walked: Iterable[tuple[str, str]] = ()) -> WebGraph:
        """From pages as they were read. `walked` adds the clicks, whose targets may have been redirected."""
        targets = {page.url: {link.url: None for link in page.links} for page in pages}
        for source, target in walked:
            targets.setdefault(source, {})[target] = None
            targets.setdefault(target, {})
        links = {
            source: tuple(target for target in found if target in targets and target != source)
            for source, found in targets.items()
        }
        return cls(links)

    def edges(self) -> list[tuple[str, str]]:
        return [(source, target) for source, targets in self.links.items() for target in targets]


def hops_to_nearest(graph: WebGraph, useful: Iterable[str]) -> dict[str, int]:
    """Clicks from each page to the nearest useful one; pages that lead to none are left out."""
    sources: dict[str, list[str]] = {url: [] for url in graph.links}
    for source, target in graph.edges():
        sources[target].append(source)
    return click_distances((url for url in useful if url in sources), sources.__getitem__)


def click_distances(starts: Iterable[str], beside: Callable[[str], Iterable[str]]) -> dict[str, int]:
    """How many clicks each page is away from the nearest start, nearest first; `beside` tells one click."""
    clicks = dict.fromkeys(starts, 0)
    waiting = deque(clicks)
    while waiting:
        url = waiting.popleft()
        for other in beside(url):
            if other not in clicks:
                clicks[other] = clicks[url] + 1
                waiting.append(other)
    return clicks


def hop_label(hops: int | None, states: int = 5) -> str:
    """``T0`` for a useful page up to ``T4`` for four clicks or more; pages that lead nowhere are there too."""
    return f"T{states - 1 if hops is None else min(hops, states - 1)}"


FARTHEST = 3  # clicks to the goal that have a state of their own
GOALS_OF_A_TOUR = 3  # who showed so many has looked around
GOALS_OF_A_LIST = 2  # links of one region that led to goals make it a list of goals, taught in part


@dataclass
class TaughtSite:
    """The pages on a site's trails, the shortest taught way to each, and how far each is from a goal."""

    start: str
    states: States = "clicks"
    ways: dict[str, tuple[Step, ...]] = field(default_factory=dict)
    labels: dict[str, str] = field(default_factory=dict)
    clicks: dict[str, int] = field(default_factory=dict)  # to the nearest goal, along taught links
    worth: dict[str, float] = field(default_factory=dict)
    _prefixes: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, trails: Sequence[Trail], states: States = "clicks") -> TaughtSite:
        site = cls(trails[0].site, states)
        for trail in sorted(trails, key=lambda each: not each.reached_goal):
            for number, step in enumerate(trail.steps):
                site._meet(trail.steps[: number + 1], step)
            for step, prefix in zip(trail.steps, prefix_states(trail.steps), strict=True):
                site._prefixes.setdefault(step.page.url, prefix)
        site.clicks = site._clicks_to_goal()
        _Harvest(site, trails).weigh()
        return site

    def _meet(self, way: tuple[Step, ...], step: Step) -> None:
        url = step.page.url
        if url not in self.ways or len(way) < len(self.ways[url]):
            self.ways[url] = way
        known = self.labels.get(url)
        if step.label == GOAL or known is None or (known in ("", FAIL) and step.label):
            self.labels[url] = step.label

    def page(self, url: str) -> Page:
        return self.ways[url][-1].page

    def taught_links(self, url: str) -> list[Link]:
        """The links of a taught page that lead to other taught pages."""
        return [link for link in self.page(url).links if link.url in self.ways and link.url != url]

    def links_left(self, url: str) -> list[Link]:
        """The links into the site, on a page that leads to a goal, that no trail took.

        A list from which several goals were taken holds more that were not shown, so it is not among them. Of one
        who shows a goal or two and refuses pages, what was passed by in silence says nothing: the rest is not known.
        """
        if self._is_glimpse or url not in self.clicks or self.labels[url] == GOAL:
            return []
        goals = {(link.region, link.url) for link in self.taught_links(url) if self.labels[link.url] == GOAL}
        taken = Counter(region for region, _ in goals)
        left: dict[str, Link] = {}
        for link in self.page(url).links:
            if link.url not in self.ways and taken[link.region] < GOALS_OF_A_LIST:
                left.setdefault(link.url, link)
        domain = registrable_domain(self.start)
        return [link for link in left.values() if registrable_domain(link.url) == domain]

    @property
    def _is_glimpse(self) -> bool:
        ends = Counter(self.labels.values())
        return ends[FAIL] > 0 and ends[GOAL] < GOALS_OF_A_TOUR

    def states_along(self, way: Sequence[Step]) -> list[str]:
        """The state of every page on a way. The states before a label depend on the way that is gone."""
        if self.states == "prefix" and way[-1].label:
            return prefix_states(way)
        return [self.state(step.page.url) for step in way]

    def state(self, url: str) -> str:
        """The label of a page; of unlabelled ones, how many clicks they are before the goal (section 1.2)."""
        if self.states == "prefix":
            return self._prefixes[url]
        if self.states == "binary":
            return GOAL if self.labels[url] == GOAL else FAIL
        label = self.labels[url]
        if label not in ("", FAIL):
            return label
        if url in self.clicks:
            return "<" * min(self.clicks[url], FARTHEST) + GOAL
        return FAIL if label == FAIL else "<" + FAIL

    def _clicks_to_goal(self) -> dict[str, int]:
        sources: dict[str, list[str]] = {url: [] for url in self.ways}
        for url in self.ways:
            for link in self.taught_links(url):
                sources[link.url].append(url)
        goals = (url for url in self.ways if self.labels[url] == GOAL)
        return click_distances(goals, sources.__getitem__)


def prefix_states(way: Sequence[Step]) -> list[str]:
    """Labels, and before each label its prefix state for all pages without one (section 1.2)."""
    states, coming = [], FAIL
    for step in reversed(way):
        coming = step.label or coming
        states.append(step.label or f"<{coming}")
    return states[::-1]


class _Harvest:
    """What a page is worth: the most goals per page that can be had by entering there.

    A list of fifteen goals is worth more than a page on the way to one, though both are one click away. The
    best share is found over the tree of the shortest taught ways, children with a better share first.
    """

    def __init__(self, site: TaughtSite, trails: Iterable[Trail]) -> None:
        self._site = site
        self._children: dict[str, set[str]] = {}
        for trail in trails:
            if trail.reached_goal:
                for before, after in zip(trail.steps, trail.steps[1:], strict=False):
                    self._children.setdefault(before.page.url, set()).add(after.page.url)

    def weigh(self) -> None:
        self._blocks(self._site.start, frozenset())

    def _blocks(self, url: str, above: frozenset[str]) -> list[tuple[int, int]]:
        """Goals and pages of the best share that begins here, then what is left below it, best first."""
        below: list[tuple[int, int]] = []
        for child in sorted(self._children.get(url, set()) - above):
            below += self._blocks(child, above | {url})
        below.sort(key=lambda block: -block[0] / block[1])
        goals, pages, used = int(self._site.labels.get(url) == GOAL), 1, 0
        while used < len(below) and below[used][0] * pages > goals * below[used][1]:
            goals, pages, used = goals + below[used][0], pages + below[used][1], used + 1
        self._site.worth[url] = max(self._site.worth.get(url, 0.0), goals / pages)
        return [(goals, pages), *below[used:]]
