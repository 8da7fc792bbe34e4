"""The clicks by which a page was found, from the start page of its site on."""

from __future__ import annotations

from dataclasses import dataclass

from trailmark.store.database import Database
from trailmark.visit import ArchiveRef

LONGEST = 100
_SITE = (
    "SELECT site.id FROM site JOIN visit ON visit.site_id = site.id AND visit.number = ? "
    "WHERE site.start = ? ORDER BY site.run_id DESC LIMIT 1"
)
_VISIT = (
    "SELECT url, title, link_text, link_kind, at, parent, content_type, archive_file, archive_offset, archive_length "
    "FROM visit WHERE site_id = ? AND number = ?"
)


@dataclass(frozen=True, slots=True)
class Click:
    """A page on the way, and the words of the link that led to it."""

    url: str
    title: str
    link_text: str
    link_kind: str
    at: float
    content_type: str = ""
    archived: ArchiveRef | None = None


def click_path(database: Database, site: str, number: int) -> list[Click]:
    """From the start page of a site to one of its visits, as the newest run that has it tells; else nothing."""
    row = database.execute(_SITE, (number, site)).fetchone()
    path: list[Click] = []
    at: int | None = number
    while row and at is not None and len(path) < LONGEST:
        *told, at, content_type, file, offset, length = database.execute(_VISIT, (row[0], at)).fetchone()
        url, title, link_text, link_kind, when = told
        archived = None if file is None else ArchiveRef(file, offset, length)
        path.append(Click(url, title, link_text, link_kind, when, content_type, archived))
    return path[::-1]
