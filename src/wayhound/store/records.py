"""Tells what has changed since a moment, so that whoever keeps a copy in another shape can follow."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from wayhound.record import Record, Span, Value
from wayhound.store.database import Database

_BATCH = 1_000
_INSERT = "INSERT OR REPLACE INTO record (kind, id, fields, site, visit, run) VALUES (?, ?, ?, ?, ?, ?)"
_SELECT = "SELECT kind, id, fields, site, visit, run FROM record"


class RecordStore:
    """Records by kind and id; saving one again replaces it."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def save(self, records: Iterable[Record]) -> int:
        """Save records as they come, a batch to a transaction, and tell how many they were."""
        rows = map(_row, records)
        saved = 0
        while batch := list(islice(rows, _BATCH)):
            with self._database.transaction():
                for row in batch:
                    self._database.execute(_INSERT, row)
            saved += len(batch)
        return saved

    def put(self, record: Record) -> None:
        """Save one as a part of a transaction that is open."""
        self._database.execute(_INSERT, _row(record))

    def delete(self, kind: str, record_id: str) -> None:
        self._database.execute("DELETE FROM record WHERE kind = ? AND id = ?", (kind, record_id))

    def get(self, kind: str, record_id: str) -> Record | None:
        row = self._database.execute(f"{_SELECT} WHERE kind = ? AND id = ?", (kind, record_id)).fetchone()
        return row and _record(row)

    def iterate(self, kind: str | None = None) -> Iterator[Record]:
        """All records, or those of one kind, in order of kind and id."""
        where, values = ("", ()) if kind is None else (" WHERE kind = ?", (kind,))
        yield from map(_record, self._database.stream(f"{_SELECT}{where} ORDER BY kind, id", values))


def fields_to_json(fields: dict[str, tuple[Value, ...]]) -> dict[str, list[dict[str, Any]]]:
    return {name: [_value_to_json(value) for value in values] for name, values in fields.items()}


def _value_to_json(value: Value) -> dict[str, Any]:
    written: dict[str, Any] = {"text": value.text, "confidence": value.confidence}
    if (span := value.source) is not None:
        source = {"url": span.url, "start": span.start, "end": span.end, "page": span.page}
        written["source"] = source if span.box is None else {**source, "box": span.box}
    return written


def _row(record: Record) -> tuple[Any, ...]:
    fields = json.dumps(fields_to_json(record.fields), ensure_ascii=False, separators=(",", ":"))
    return record.kind, record.id, fields, record.site, record.visit, record.run


def _record(row: tuple[Any, ...]) -> Record:
    kind, record_id, fields, site, visit, run = row
    return Record(kind, record_id, fields_from_json(json.loads(fields)), site, visit, run)


def fields_from_json(written: dict[str, list[dict[str, Any]]]) -> dict[str, tuple[Value, ...]]:
    return {name: tuple(map(_value, values)) for name, values in written.items()}


def _value(written: dict[str, Any]) -> Value:
    source = written.get("source")
    if source is None:
        return Value(written["text"], written["confidence"])
    box = source.get("box")
    span = Span(source["url"], source["start"], source["end"], source["page"], tuple(box) if box else None)
    return Value(written["text"], written["confidence"], span)


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
