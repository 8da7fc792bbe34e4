"""Long lists, a page of them at a time."""

from __future__ import annotations

from dataclasses import dataclass

from starlette.requests import Request


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
