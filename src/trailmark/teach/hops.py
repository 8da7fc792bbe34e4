"""Labels from browsing alone: how many clicks a visited page is from the nearest one marked useful.

Liu, Milios & Janssen (2004), sections 2.1 and 3.1: visited pages are the nodes of a web graph, hyperlinks
between them its edges, and a breadth-first search out of the useful pages labels all others T1, T2, …
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from trailmark.page import Page


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


def hops_to_useful(graph: WebGraph, useful: Iterable[str]) -> dict[str, int]:
    """Clicks from each page to the nearest useful one; pages that lead to none are left out."""
    sources: dict[str, list[str]] = {url: [] for url in graph.links}
    for source, target in graph.edges():
        sources[target].append(source)
    return clicks_away((url for url in useful if url in sources), sources.__getitem__)


def clicks_away(starts: Iterable[str], beside: Callable[[str], Iterable[str]]) -> dict[str, int]:
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
