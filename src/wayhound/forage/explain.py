"""Explain a strategy's decisions: why a page is a goal, and how the links of a page are rated."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from wayhound.forage.scope import refusal_reason
from wayhound.forage.scorer import ExplainingScorer, Rated, Reading, Reason, Scorer, State
from wayhound.learn.odds import log_odds
from wayhound.page import Link, Page
from wayhound.site import Site

PATH_REASON = "the way here"  # saved with visits
MAX_REASONS = 8
_EPSILON = 1e-9  # keeps probabilities away from 0 and 1, so that their log odds are finite


@dataclass(frozen=True, slots=True)
class RatedLink:
    """A link of a page, before it is followed."""

    link: Link
    score: float
    label: str  # of the page that it is expected to lead to
    goal: float  # probability that it leads to a goal page
    why: tuple[Reason, ...]


@dataclass(frozen=True, slots=True)
class Explanation:
    """A strategy's reading of the last page of a path, and its links, best first."""

    url: str
    title: str
    label: str
    goal: float
    why: tuple[Reason, ...]
    links: tuple[RatedLink, ...]
    not_followed: tuple[tuple[Link, str], ...]  # links that a forage ignores, with the reason codes


def explain(scorer: Scorer, site: Site, path: Sequence[tuple[Link | None, Page]]) -> Explanation:
    """Read the pages of a path in order, each with the link that led to it, and explain the last one."""
    state = scorer.start(site)
    for number, (_, page) in enumerate(path[:-1]):
        state = _state_behind(scorer, scorer.read(state, page), page, path[number + 1])
    page = path[-1][1]
    reading = scorer.read(state, page)
    not_followed = [(link, reason) for link in page.links if (reason := refusal_reason(site, link))]
    return Explanation(
        url=page.url,
        title=page.title,
        label=reading.label,
        goal=reading.goal,
        why=why_page(scorer, state, page),
        links=_rated_links(scorer, site, reading, page),
        not_followed=tuple(not_followed),
    )


def _state_behind(scorer: Scorer, reading: Reading, page: Page, step: tuple[Link | None, Page]) -> State:
    """Return the state behind the link that was taken, rated among the links of its page as in a forage."""
    taken, target = step
    link = taken or next((link for link in page.links if link.url == target.url), Link(target.url))
    rated = scorer.rate(reading, [*(other for other in page.links if other != link), link])
    return rated[-1].state


def _rated_links(scorer: Scorer, site: Site, reading: Reading, page: Page) -> tuple[RatedLink, ...]:
    """Return each target once, with its best link, as a forage would follow it once."""
    links = [link for link in page.links if link.url != page.url and not refusal_reason(site, link)]
    best: dict[str, tuple[Link, Rated]] = {}
    for link, rated in zip(links, scorer.rate(reading, links), strict=True):
        if link.url not in best or rated.score > best[link.url][1].score:
            best[link.url] = (link, rated)
    ordered = sorted(best.values(), key=lambda pair: -pair[1].score)
    return tuple(_rated_link(scorer, reading, link, rated) for link, rated in ordered)


def _rated_link(scorer: Scorer, reading: Reading, link: Link, rated: Rated) -> RatedLink:
    if not isinstance(scorer, ExplainingScorer):
        return RatedLink(link, rated.score, "", 0.0, ())
    why = tuple(scorer.why_link(reading, link)[:MAX_REASONS])
    return RatedLink(link, rated.score, *scorer.expected(rated.state), why)


def why_page(scorer: Scorer, state: State, page: Page) -> tuple[Reason, ...]:
    """Return the strongest reasons for the label of a page; none if the strategy has no model.

    What the path promised is one of them, as the log odds of a goal before the page was read.
    """
    if not isinstance(scorer, ExplainingScorer):
        return ()
    reasons = scorer.why_page(state, page)[: MAX_REASONS - 1]
    if scorer.follows_paths(state):
        reasons.append((PATH_REASON, log_odds(scorer.expected(state)[1], _EPSILON)))
    return tuple(sorted(reasons, key=lambda reason: -abs(reason[1])))
