"""Values of hyperlinks by roll-out on recorded sites: the rewards of a near-optimal spider that starts there.

Section and figure numbers are those of McCallum, Nigam, Rennie & Seymore (2000). The policy always follows the
link on the path to the closest reward (3.4); ties go to the page fetched first, then to the earlier link on it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush

from wayhound.page import Page

HORIZON = 16  # steps of a roll-out: with γ = 0.5, later rewards would add less than 0.0001


@dataclass(frozen=True)
class RecordedSite:
    """A whole site: its reachable pages by URL, and which of them are goals. Links lead to these pages alone."""

    name: str
    pages: Mapping[str, Page]
    goals: frozenset[str]

    @classmethod
    def closed(cls, name: str, pages: Mapping[str, Page], goals: Iterable[str]) -> RecordedSite:
        """Return the site of these pages; goals that are not among them do not count."""
        return cls(name, pages, frozenset(goals) & pages.keys())

    def targets(self, url: str) -> Iterator[str]:
        """Yield the pages that a page links to, each once, in the order of its links."""
        seen = {url}
        for link in self.pages[url].links:
            if link.url not in seen and link.url in self.pages:
                seen.add(link.url)
                yield link.url


def page_values(site: RecordedSite, gamma: float, horizon: int = HORIZON) -> dict[str, float]:
    """Return Q({a}, a) of a link `a` to each page: Σ γ^t r_t of the roll-out from it (3.5).

    The link is the whole fringe at first, so the value depends on its target alone. All values together cost
    O(horizon · links): a roll-out takes at most `horizon` steps, and looks at the links of a page one by one.
    """
    graph = _Graph(site, horizon if gamma else 1)
    return {url: graph.value(number, gamma) for number, url in enumerate(site.pages)}


def values_from_goals(
    site: RecordedSite, gamma: float, horizon: int = HORIZON
) -> dict[tuple[str, str], float]:
    """Return the values of the links on goal pages, by (page, target), when that goal has been found already.

    Whoever sees such a link has fetched its page. By Q({a}, a) alone, every page of a goal's own author that links
    back to the goal is worth γ.
    """
    graph = _Graph(site, horizon if gamma else 1)
    numbers = {url: number for number, url in enumerate(site.pages)}
    return {
        (goal, target): graph.value(numbers[target], gamma, numbers[goal])
        for goal in sorted(site.goals)
        for target in site.targets(goal)
    }


class _Graph:
    """Pages as numbers, with the nearest goals of each and its links in the order in which a roll-out tries them."""

    def __init__(self, site: RecordedSite, horizon: int) -> None:
        numbers = {url: number for number, url in enumerate(site.pages)}
        self.horizon = horizon
        self.links = [[numbers[target] for target in site.targets(url)] for url in site.pages]
        self.goals = {numbers[url] for url in site.goals}
        self.nearest = self._nearest_goals()
        self._ordered = [self._in_order(links) for links in self.links]

    def _nearest_goals(self) -> list[list[tuple[int, int]]]:
        """Return for each page its nearest goals as (clicks, goal), at most `horizon`, nearest first.

        A roll-out of that many steps consumes fewer goals before its last one, so the nearest goal that is left
        is always among them.
        """
        sources: list[list[int]] = [[] for _ in self.links]
        for page, links in enumerate(self.links):
            for target in links:
                sources[target].append(page)
        nearest: list[list[tuple[int, int]]] = [[] for _ in self.links]
        known: list[set[int]] = [set() for _ in self.links]
        layer = [(goal, goal) for goal in sorted(self.goals)]
        for clicks in range(self.horizon):
            reached: list[tuple[int, int]] = []
            for page, goal in layer:
                if goal not in known[page] and len(known[page]) < self.horizon:
                    known[page].add(goal)
                    nearest[page].append((clicks, goal))
                    reached.append((page, goal))
            layer = [(source, goal) for page, goal in reached for source in sources[page]]
        return nearest

    def _in_order(self, links: Sequence[int]) -> list[tuple[int, int, int]]:
        """Return (clicks to the nearest goal, position, target) of links that lead to a goal, nearest first."""
        return sorted(
            (self.nearest[target][0][0], position, target)
            for position, target in enumerate(links)
            if self.nearest[target]
        )

    def value(self, start: int, gamma: float, *found: int) -> float:
        """Return Σ γ^t over the steps at which the roll-out from a page finds a goal (Fig. 4): 10111 is 0, 2, 3, 4.

        Goals `found` before pay nothing, and are not fetched again.
        """
        return sum(gamma**step for step in _RollOut(self, found).steps(start))

    def ordered(self, page: int) -> list[tuple[int, int, int]]:
        return self._ordered[page]


class _RollOut:
    """One run of the policy.

    The fringe holds, of every fetched page, only the best link not yet tried; its successor replaces it. A key is
    a lower bound of the clicks to the nearest goal left, since goals are only ever consumed: a link whose goal is
    gone goes back with its new distance.
    """

    def __init__(self, graph: _Graph, found: Iterable[int] = ()) -> None:
        self.graph = graph
        self.fetched = set(found)
        # (clicks, step of the page that holds the link, position, target, page, index in the page's order)
        self.fringe: list[tuple[int, int, int, int, int, int]] = []

    def steps(self, start: int) -> Iterator[int]:
        page: int | None = start
        for step in range(self.graph.horizon):
            if page is None:
                return
            self.fetched.add(page)
            if page in self.graph.goals:
                yield step
            self._push(page, step, 0)
            page = self._next(self.graph.horizon - step - 1)

    def _push(self, page: int, step: int, index: int) -> None:
        order = self.graph.ordered(page)
        if index < len(order):
            clicks, position, target = order[index]
            heappush(self.fringe, (clicks, step, position, target, page, index))

    def _next(self, steps_left: int) -> int | None:
        """Take the link on the path to the closest goal left; None if no goal can be reached in time."""
        while self.fringe and self.fringe[0][0] < steps_left:
            clicks, step, position, target, page, index = heappop(self.fringe)
            if index >= 0:
                self._push(page, step, index + 1)
            if target in self.fetched:
                continue
            left = self._clicks_left(target)
            if left == clicks:
                return target
            if left is not None:
                heappush(self.fringe, (left, step, position, target, page, -1))
        return None

    def _clicks_left(self, page: int) -> int | None:
        return next((clicks for clicks, goal in self.graph.nearest[page] if goal not in self.fetched), None)
