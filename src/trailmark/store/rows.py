"""How a visit becomes a row and a row a visit."""

from __future__ import annotations

from typing import Any

from trailmark.visit import ArchiveRef, Visit

VISIT_COLUMNS = (
    "number, url, outcome, at, parent, link_text, link_region, link_kind, depth, attempt, score, status, "
    "content_type, title, digest, label, goal, is_goal, spent, wait_seconds, location, "
    "robots, not_modified, archive_file, archive_offset, archive_length"
)
_WIDTH = VISIT_COLUMNS.count(",") + 1
INSERT_VISIT = f"INSERT INTO visit (site_id, {VISIT_COLUMNS}) VALUES (?{', ?' * _WIDTH})"  # noqa: S608


def visit_row(site_id: int, visit: Visit) -> tuple[Any, ...]:
    """The values of `INSERT_VISIT`. `Visit.site` is not among them: the site's row holds it."""
    archived = visit.archived
    return (
        site_id, visit.number, visit.url, visit.outcome, visit.at, visit.parent,
        visit.link_text, visit.link_region, visit.link_kind, visit.depth, visit.attempt, visit.score,
        visit.status, visit.content_type, visit.title, visit.digest, visit.label, visit.goal,
        visit.is_goal, visit.spent, visit.wait_seconds, visit.location,
        visit.robots, visit.not_modified,
        archived and archived.file, archived and archived.offset, archived and archived.length,
    )  # fmt: skip


def visit_from(site: str, row: tuple[Any, ...]) -> Visit:
    """The visit of a row with `VISIT_COLUMNS`."""
    *plain, is_goal, spent, wait_seconds, location, robots, not_modified, file, offset, length = row
    archived = None if file is None else ArchiveRef(file, offset, length)
    switches = bool(is_goal), bool(spent)
    values = (site, *plain, *switches, wait_seconds, location, robots, bool(not_modified), archived)
    return Visit(*values)
