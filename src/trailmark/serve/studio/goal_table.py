"""Results and sites as tables for people: words instead of codes, the page that was looked for beside its site."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime

from trailmark.serve.studio.words import ending_told, reasons
from trailmark.store.goals import FoundGoal
from trailmark.store.runs import SiteSummary

GOAL_COLUMNS = ("site", "url", "title", "sure", "clicks", "because", "rejected", "found_at", "run")
SITE_COLUMNS = ("site", "goals", "pages", "state", "ended_because")


def goal_rows(
    goals: Iterable[FoundGoal], rejected: Mapping[tuple[str, int], int], *, by_model: bool
) -> Iterator[tuple[object, ...]]:
    """One row a result; how sure it is, only where a model said so."""
    for goal in goals:
        yield (
            goal.site,
            goal.url,
            goal.title,
            f"{goal.probability:.0%}" if by_model else "",
            goal.clicks,
            spoke_for(goal),
            "rejected" if (goal.site, goal.number) in rejected else "",
            f"{datetime.fromtimestamp(goal.at, UTC):%Y-%m-%d %H:%M}",
            goal.run,
        )


def site_rows(sites: Iterable[SiteSummary]) -> Iterator[tuple[object, ...]]:
    """One row a site, also those where nothing was found."""
    for site in sites:
        yield site.start, site.goals, site.visits, site.state, ending_told(site.reason)


def spoke_for(goal: FoundGoal) -> str:
    """What spoke for a goal; what spoke against it is left to its ratings."""
    return reasons([(name, weight) for name, weight in goal.why if weight > 0])
