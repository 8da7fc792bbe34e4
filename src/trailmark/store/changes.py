"""Tells what has changed since a moment, so that whoever keeps a copy in another shape can follow."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from trailmark.store.database import Database

_SINCE = "SELECT change, kind, id FROM record_change WHERE change > ? ORDER BY change LIMIT ?"


@dataclass(frozen=True, slots=True)
class Change:
    """The last change of a record: it was saved, deleted, placed, scored or cited."""

    number: int
    kind: str
    id: str


class ChangeStore:
    """Changes by their rising number; a record stands in it once, with its last."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def newest(self) -> int:
        """The number of the last change; 0 where there was none."""
        row = self._database.execute("SELECT coalesce(max(change), 0) FROM record_change").fetchone()
        return int(row[0])

    def waiting(self, after: int) -> int:
        """How many records have changed after a number."""
        row = self._database.execute("SELECT count(*) FROM record_change WHERE change > ?", (after,))
        return int(row.fetchone()[0])

    def since(self, after: int, batch: int = 1_000) -> Iterator[list[Change]]:
        """What changed after a number, oldest first, in batches; also what changes while it is read."""
        while rows := self._database.execute(_SINCE, (after, batch)).fetchall():
            yield [Change(*row) for row in rows]
            after = rows[-1][0]

    def has(self, kind: str, after: int) -> bool:
        """Whether any record of a kind has changed after a number."""
        asked = "SELECT EXISTS (SELECT 1 FROM record_change WHERE change > ? AND kind = ?)"
        return bool(self._database.execute(asked, (after, kind)).fetchone()[0])

    def latest(self, count: int) -> list[Change]:
        """The changes last made, newest first; records that were deleted are left out."""
        rows = self._database.execute(
            "SELECT change, kind, id FROM record_change JOIN record USING (kind, id) "
            "ORDER BY change DESC LIMIT ?",
            (count,),
        )
        return [Change(*row) for row in rows]
