"""Why a strategy thinks what it thinks: of a page that it took for a goal, and of the links on a page."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from wayhound.forage.scope import refusal_reason
from wayhound.forage.scorer import ExplainingScorer, Rated, Reading, Reason, Scorer, State
from wayhound.page import Link, Page
from wayhound.site import Site

THE_WAY = "the way here"
MOST_REASONS = 8
_SURE = 1e-9  # a chance is never nearer to 0 or 1, or its odds could not be told


@dataclass(frozen=True, slots=True)
class RatedLink:
    """A link of a page, before anything is fetched by it."""

    link: Link
    score: float
    label: str  # the kind of page that it is expected to lead to
    goal: float  # probability that it leads to a goal page
    why: tuple[Reason, ...]


@dataclass(frozen=True, slots=True)
class Explanation:
    """What a strategy makes of a page at the end of a path, and of its links, the best first."""

    url: str
    title: str
    label: str
    goal: float
    why: tuple[Reason, ...]
    links: tuple[RatedLink, ...]
    left_alone: tuple[tuple[Link, str], ...]  # links that would not be followed, and why


def explain(scorer: Scorer, site: Site, path: Sequence[tuple[Link | None, Page]]) -> Explanation:
    """Read the pages of a path in order, each with the link that led to it, and explain the last one."""
    state = scorer.start(site)
    for number, (_, page) in enumerate(path[:-1]):
        state = _behind(scorer, scorer.read(state, page), page, path[number + 1])
    page = path[-1][1]
    reading = scorer.read(state, page)
    refused = [(link, reason) for link in page.links if (reason := refusal_reason(site, link))]
    return Explanation(
        page.url,
        page.title,
        reading.label,
        reading.goal,
        why_page(scorer, state, page),
        _rated(scorer, site, reading, page),
        tuple(refused),
    )


def _behind(scorer: Scorer, reading: Reading, page: Page, onward: tuple[Link | None, Page]) -> State:
    """The belief behind the link that was taken, rated among the links of its page as in a forage."""
    taken, target = onward
    link = taken or next((each for each in page.links if each.url == target.url), Link(target.url))
    rated = scorer.rate(reading, [*(each for each in page.links if each != link), link])
    return rated[-1].state


def _rated(scorer: Scorer, site: Site, reading: Reading, page: Page) -> tuple[RatedLink, ...]:
    """Every target once, with its best link: a forage would follow it once."""
    links = [link for link in page.links if link.url != page.url and not refusal_reason(site, link)]
    best: dict[str, tuple[Link, Rated]] = {}
    for link, rated in zip(links, scorer.rate(reading, links), strict=True):
        if link.url not in best or rated.score > best[link.url][1].score:
            best[link.url] = (link, rated)
    ordered = sorted(best.values(), key=lambda each: -each[1].score)
    return tuple(_rated_link(scorer, reading, link, rated) for link, rated in ordered)


def _rated_link(scorer: Scorer, reading: Reading, link: Link, rated: Rated) -> RatedLink:
    if not isinstance(scorer, ExplainingScorer):
        return RatedLink(link, rated.score, "", 0.0, ())
    why = tuple(scorer.why_link(reading, link)[:MOST_REASONS])
    return RatedLink(link, rated.score, *scorer.expected(rated.state), why)


def why_page(scorer: Scorer, state: State, page: Page) -> tuple[Reason, ...]:
    """What spoke most for the label of a page, the strongest first; nothing of strategies without a model.

    A field sets out from what the path promised: that is told as the odds of a goal before the page was read.
    """
    if not isinstance(scorer, ExplainingScorer):
        return ()
    reasons = scorer.why_page(state, page)[: MOST_REASONS - 1]
    if scorer.follows_paths(state):
        chance = min(max(scorer.expected(state)[1], _SURE), 1 - _SURE)
        reasons.append((THE_WAY, math.log(chance / (1 - chance))))
    return tuple(sorted(reasons, key=lambda reason: -abs(reason[1])))
