"""Leafs through all records in small pieces: what is new, what changed since, what comes after."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from trailmark.record import Record
from trailmark.store.database import Database
from trailmark.store.records import RecordStore

_STAMPS = "SELECT kind, id, added, changed, deleted FROM record_time"
_AFTER = (
    "SELECT changed, kind, id FROM record_time WHERE (changed, kind, id) > (?, ?, ?) "
    "ORDER BY changed, kind, id LIMIT 2 OFFSET ?"
)


@dataclass(frozen=True, slots=True)
class Stamp:
    """When a record was added and last changed; of a deleted record nothing else is left."""

    kind: str
    id: str
    added: float
    changed: float
    deleted: bool = False


@dataclass(frozen=True, slots=True)
class Place:
    """Where a walk by time of change has come to."""

    changed: float = 0.0
    kind: str = ""
    id: str = ""


@dataclass(frozen=True, slots=True)
class SiteVisited:
    """A site that was walked: how many pages came from it, and when it was last visited."""

    start: str
    pages: int
    last_visit: float | None


class Catalogue:
    """Every piece is a query of its own, so that a slow reader holds nothing open."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._records = RecordStore(database)

    def counts(self) -> dict[str, int]:
        """How many records of each kind there are."""
        rows = self._database.execute(
            "SELECT kind, count(*) FROM record_time WHERE deleted = 0 GROUP BY kind ORDER BY kind"
        )
        return dict(rows.fetchall())

    def sites(self) -> list[SiteVisited]:
        """Every site of every run, each once, by its start."""
        rows = self._database.execute(
            "SELECT start, max(visits), max((SELECT max(at) FROM visit WHERE site_id = site.id "
            "AND number = site.visits - 1)) FROM site GROUP BY start ORDER BY start"
        )
        return [SiteVisited(*row) for row in rows]

    def field_names(self, kind: str, sample: int = 50) -> list[str]:
        """The names of the fields that some records of a kind have, for kinds that nobody declared."""
        rows = self._database.execute(
            "SELECT DISTINCT key FROM (SELECT fields FROM record WHERE kind = ? LIMIT ?), json_each(fields)",
            (kind, sample),
        )
        return [str(row[0]) for row in rows]

    def newest(self, limit: int, kinds: Sequence[str] = ()) -> list[Stamp]:
        """Those added last first."""
        marks = ", ".join("?" * len(kinds))
        chosen = f" AND kind IN ({marks})" if kinds else ""
        rows = self._database.execute(
            f"{_STAMPS} WHERE deleted = 0{chosen} ORDER BY added DESC LIMIT ?", (*kinds, limit)
        )
        return [_stamp(row) for row in rows]

    def stamp(self, kind: str, record_id: str) -> Stamp | None:
        row = self._database.execute(f"{_STAMPS} WHERE kind = ? AND id = ?", (kind, record_id)).fetchone()
        return _stamp(row) if row else None

    def after(self, kind: str, record_id: str, limit: int) -> list[Record]:
        """The records of a kind that come after an id, in order of id."""
        rows = self._database.execute(
            "SELECT id FROM record WHERE kind = ? AND id > ? ORDER BY id LIMIT ?", (kind, record_id, limit)
        ).fetchall()
        found = (self._records.get(kind, each) for (each,) in rows)
        return [record for record in found if record is not None]

    def changed_after(self, place: Place, until: float, limit: int, kinds: Sequence[str] = ()) -> list[Stamp]:
        """Records and deleted ones in order of their last change, those after a place."""
        marks = ", ".join("?" * len(kinds))
        chosen = f" AND kind IN ({marks})" if kinds else ""
        rows = self._database.execute(
            f"{_STAMPS} WHERE (changed, kind, id) > (?, ?, ?) AND changed < ?{chosen} "
            "ORDER BY changed, kind, id LIMIT ?",
            (place.changed, place.kind, place.id, until, *kinds, limit),
        )
        return [_stamp(row) for row in rows]

    def places(self, step: int) -> list[Place]:
        """Where to begin so that `changed_after` tells everything in pieces of `step`, each asked for by itself."""
        places = [Place()]
        while True:
            at = places[-1]
            found = self._database.execute(_AFTER, (at.changed, at.kind, at.id, step - 1)).fetchall()
            if len(found) < 2:  # the last of a piece, and one that comes after it
                return places
            places.append(Place(*found[0]))

    def earliest_change(self) -> float | None:
        row = self._database.execute("SELECT min(changed) FROM record_time").fetchone()
        return row[0] if row else None


def _stamp(row: tuple[Any, ...]) -> Stamp:
    kind, record_id, added, changed, deleted = row
    return Stamp(kind, record_id, added, changed, bool(deleted))
