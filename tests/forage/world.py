"""A small world of pages for tests of decisions: no server, and a number as the clock."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from wayhound.fetched import Failed, Fetched
from wayhound.forage.forager import Fetch, Finished, Forager, Wait
from wayhound.page import Link, Page
from wayhound.visit import Visit

Answer = Page | Fetched | Failed


def page(url: str, *targets: str, digest: str = "") -> Page:
    return Page(url, title=url, links=tuple(Link(target) for target in targets), digest=digest or url)


def answer_of(answer: Answer | None, url: str) -> tuple[Fetched | Failed, Page | None]:
    if isinstance(answer, Page):
        return Fetched(url, 200, content_type="text/html"), answer
    return answer or Fetched(url, 404), None


@dataclass
class Walk:
    """A forage of a world, as the crawl loop does it, and its visits."""

    forager: Forager
    world: Mapping[str, Answer]
    now: float = 0.0
    asked_at: list[tuple[str, float]] = field(default_factory=list)
    visits: list[Visit] = field(default_factory=list)
    reason: str = ""

    def run(self, steps: int = 10_000) -> Walk:
        for _ in range(steps):
            match self.forager.next_action(self.now):
                case Wait(until):
                    self.now = until
                case Finished(reason):
                    self.reason = reason
                    return self
                case Fetch(link):
                    self.asked_at.append((link.url, self.now))
                    answer, read = answer_of(self.world.get(link.url), link.url)
                    self.visits.append(self.forager.tell(link, answer, read, now=self.now, at=self.now))
        return self

    @property
    def urls(self) -> list[str]:
        return [visit.url for visit in self.visits]
