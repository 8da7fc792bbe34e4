"""The course of a run: what was fetched when, and what it brought, summed up as charts need it."""

from __future__ import annotations

from dataclasses import dataclass

from trailmark.store.database import Database

_VISITS = "FROM visit JOIN site ON site.id = site_id WHERE run_id = ?1"
_BOUNDS = f"SELECT count(*), min(at), max(at) {_VISITS}"
_STRETCHES = (
    "SELECT sum(spent), sum(is_goal) FROM (SELECT visit.spent, is_goal, "  # noqa: S608
    f"(row_number() OVER (ORDER BY at, number) - 1) * ?2 / ?3 AS stretch {_VISITS}) "
    "GROUP BY stretch ORDER BY stretch"
)
_PARTS = (
    "SELECT min(CAST(?2 * (at - ?3) / ?4 AS INTEGER), ?2 - 1) AS part, sum(visit.spent) "
    f"{_VISITS} GROUP BY part"
)


@dataclass(frozen=True, slots=True)
class Course:
    """A run in the order of time.

    `stretches` are equally many visits each: the pages paid for and the goals among them. `parts` are pages in
    equal parts of the time; none where no time went by.
    """

    stretches: tuple[tuple[int, int], ...] = ()
    parts: tuple[int, ...] = ()
    seconds: float = 0.0


def course_of(database: Database, run_id: int, stretches: int, parts: int) -> Course:
    """At most so many stretches and parts, however many visits the run has."""
    visits, began, ended = database.execute(_BOUNDS, (run_id,)).fetchone()
    if not visits:
        return Course()
    summed = tuple(database.execute(_STRETCHES, (run_id, stretches, visits)).fetchall())
    took = ended - began
    if took <= 0:
        return Course(summed)
    pages = dict(database.execute(_PARTS, (run_id, parts, began, took)).fetchall())
    return Course(summed, tuple(pages.get(part, 0) for part in range(parts)), took)
