"""Long lists: pages of them, and CSV downloads of goals and sites."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from starlette.requests import Request
from starlette.responses import Response

from wayhound.store.export import in_csv
from wayhound.store.goals import FoundGoal
from wayhound.store.protocol import SiteSummary
from wayhound.studio.studio import query_number
from wayhound.wording.faults import format_ending
from wayhound.wording.reasons import format_reasons, supporting
from wayhound.wording.runs import format_verdict

GOAL_COLUMNS = ("site", "url", "title", "tier", "probability", "clicks", "because", "found_at", "run")
SITE_COLUMNS = ("site", "goals", "likely", "verdict", "expected_left", "pages", "state", "ended_because")


def goal_rows(goals: Iterable[FoundGoal], *, has_probabilities: bool) -> Iterator[tuple[object, ...]]:
    """Yield one row per goal, with its tier, and its probability only if a model gave one."""
    for goal in goals:
        yield (
            goal.site,
            goal.url,
            goal.title,
            goal.tier,
            f"{goal.probability:.3f}" if has_probabilities else "",
            goal.clicks,
            format_reasons(supporting(goal.why)),
            f"{datetime.fromtimestamp(goal.at, UTC):%Y-%m-%d %H:%M}",
            goal.run,
        )


def site_rows(sites: Iterable[SiteSummary]) -> Iterator[tuple[object, ...]]:
    """Yield one row per site, with or without goals."""
    for site in sites:
        left = "" if site.goals_left is None else f"{site.goals_left:.1f}"
        found = site.goals, site.likely, format_verdict(site), left
        yield site.start, *found, site.visits, site.state, format_ending(site.reason, "studio")


_BYTE_ORDER_MARK = "\ufeff"  # without it, spreadsheets on Windows do not recognise UTF-8


def csv_text(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a table as CSV, with the column names in the first row."""
    out = io.StringIO(newline="")
    writer = csv.writer(out)
    writer.writerow(columns)
    writer.writerows([in_csv(cell) for cell in row] for row in rows)
    return _BYTE_ORDER_MARK + out.getvalue()


def download(name: str, text: str) -> Response:
    """Return a response that browsers save as a file of this name."""
    headers = {"content-disposition": f'attachment; filename="{name}"', "cache-control": "no-store"}
    return Response(text.encode(), headers=headers, media_type="text/csv")


@dataclass(frozen=True, slots=True)
class Paging:
    """One page of a list. A page number past the end stands for the last page."""

    page: int
    pages: int
    total: int
    size: int

    @classmethod
    def of(cls, page: int, total: int, size: int) -> Paging:
        pages = max(1, -(-total // size))
        return cls(min(max(page, 1), pages), pages, total, size)

    @property
    def first(self) -> int:
        """Number of items before this page."""
        return (self.page - 1) * self.size

    @property
    def range(self) -> str:
        """`101 to 150 of 2,340`."""
        last = min(self.first + self.size, self.total)
        return f"{self.first + 1:,} to {last:,} of {self.total:,}"


def requested_page(request: Request) -> int:
    """Return the page number in the query of an address, by default 1."""
    return query_number(request, "page") or 1
