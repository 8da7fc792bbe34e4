"""Long lists, a page of them at a time."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from starlette.requests import Request
from starlette.responses import Response

from wayhound.store.export import in_csv
from wayhound.store.goals import FoundGoal
from wayhound.store.protocol import SiteSummary
from wayhound.wording.faults import format_ending
from wayhound.wording.reasons import format_reasons, supporting

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
        yield site.start, site.goals, site.visits, site.state, format_ending(site.reason, "studio")


def spoke_for(goal: FoundGoal) -> str:
    """What spoke for a goal; what spoke against it is left to its ratings."""
    return format_reasons(supporting(goal.why))


_BYTE_ORDER_MARK = "\ufeff"  # without it, spreadsheets on Windows take UTF-8 for something else


def csv_text(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """The table as text, the names of its columns first."""
    out = io.StringIO(newline="")
    writer = csv.writer(out)
    writer.writerow(columns)
    writer.writerows([in_csv(cell) for cell in row] for row in rows)
    return _BYTE_ORDER_MARK + out.getvalue()


def download(name: str, text: str) -> Response:
    """An answer that browsers save as a file of this name."""
    headers = {"content-disposition": f'attachment; filename="{name}"', "cache-control": "no-store"}
    return Response(text.encode(), headers=headers, media_type="text/csv")


@dataclass(frozen=True, slots=True)
class Paging:
    """Where a page of a list stands in it. The number of a page that there is none of leads to the last one."""

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
        """How many come before this page."""
        return (self.page - 1) * self.size

    @property
    def told(self) -> str:
        """`101 to 150 of 2,340`."""
        last = min(self.first + self.size, self.total)
        return f"{self.first + 1:,} to {last:,} of {self.total:,}"


def page_asked(request: Request) -> int:
    """The page that an address asks for; what is no number is the first."""
    given = request.query_params.get("page", "")
    return int(given) if given.isascii() and given.isdecimal() and len(given) < 8 else 1
