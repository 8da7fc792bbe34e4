"""The ways by which runs came to a page."""

from __future__ import annotations

import json

from trailmark.site import Site
from trailmark.store.database import Database
from trailmark.store.rows import VISIT_COLUMNS, visit_from
from trailmark.visit import Visit

_LAST = (
    "SELECT site_id, number FROM visit "
    "WHERE url = ? AND outcome = 'ok' AND archive_file IS NOT NULL ORDER BY at DESC LIMIT 1"
)
_ONE = f"SELECT {VISIT_COLUMNS} FROM visit WHERE site_id = ? AND number = ?"  # noqa: S608


class WayStore:
    """Ways to pages, from their site's start page on; read only."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def to(self, url: str) -> tuple[Site, list[Visit]] | None:
        """The site of the last visit that brought this page, and the visits that led there, redirects too."""
        found = self._database.execute(_LAST, (url,)).fetchone()
        if found is None:
            return None
        site_id, number = found
        start, hosts = self._database.execute(
            "SELECT start, hosts FROM site WHERE id = ?", (site_id,)
        ).fetchone()
        visits: list[Visit] = []
        while number is not None:
            visits.append(visit_from(start, self._database.execute(_ONE, (site_id, number)).fetchone()))
            number = visits[-1].parent
        return Site(start, tuple(json.loads(hosts))), visits[::-1]
