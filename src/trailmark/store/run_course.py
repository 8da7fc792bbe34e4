"""The course of a run: what was fetched when, and what it brought, as charts need it."""

from __future__ import annotations

from dataclasses import dataclass

from trailmark.store.database import Database


@dataclass(frozen=True, slots=True)
class CoursePoint:
    """A visit in the course of a run."""

    at: float
    is_goal: bool
    spent: bool


def course_of(database: Database, run_id: int) -> list[CoursePoint]:
    """Every visit of a run in the order of time."""
    sql = (
        "SELECT at, is_goal, visit.spent FROM visit JOIN site ON site.id = site_id "
        "WHERE run_id = ? ORDER BY at, number"
    )
    return [CoursePoint(at, bool(goal), bool(spent)) for at, goal, spent in database.stream(sql, (run_id,))]
