"""Trails with links that lead where they led: a link to a redirect and the page behind it become one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from trailmark.page import Link, Page
from trailmark.trail import Step, Trail


def as_walked(trails: Sequence[Trail]) -> list[Trail]:
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
