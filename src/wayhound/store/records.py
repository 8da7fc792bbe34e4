"""Records, when they were added and changed, and the change feed for the search index."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

from wayhound.record import Record, Span, Value
from wayhound.store.database import Database

_BATCH = 1_000
_INSERT = (
    "INSERT INTO record (kind, id, fields, site, visit, run) VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (kind, id) "
    "DO UPDATE SET fields = excluded.fields, site = excluded.site, visit = excluded.visit, run = excluded.run"
)
_SELECT = "SELECT kind, id, fields, site, visit, run FROM record"


class RecordStore:
    """Records by kind and id; saving one again replaces it."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def save(self, records: Iterable[Record]) -> int:
        """Save records, a batch to a transaction, and return their number."""
        rows = map(_row, records)
        saved = 0
        while batch := list(islice(rows, _BATCH)):
            with self._database.transaction():
                for row in batch:
                    self._database.execute(_INSERT, row)
            saved += len(batch)
        return saved

    def put(self, record: Record) -> None:
        """Save a record within the open transaction."""
        self._database.execute(_INSERT, _row(record))

    def delete(self, kind: str, record_id: str) -> None:
        self._database.execute("DELETE FROM record WHERE kind = ? AND id = ?", (kind, record_id))

    def get(self, kind: str, record_id: str) -> Record | None:
        row = self._database.execute(f"{_SELECT} WHERE kind = ? AND id = ?", (kind, record_id)).fetchone()
        return row and _record(row)

    def iterate(self, kind: str | None = None) -> Iterator[Record]:
        """Yield all records, or those of one kind, in order of kind and id."""
        where, values = ("", ()) if kind is None else (" WHERE kind = ?", (kind,))
        yield from map(_record, self._database.stream(f"{_SELECT}{where} ORDER BY kind, id", values))


def fields_to_json(fields: dict[str, tuple[Value, ...]]) -> dict[str, list[dict[str, Any]]]:
    return {name: [_value_to_json(value) for value in values] for name, values in fields.items()}


def _value_to_json(value: Value) -> dict[str, Any]:
    data: dict[str, Any] = {"text": value.text, "confidence": value.confidence}
    if (span := value.source) is not None:
        source = {"url": span.url, "start": span.start, "end": span.end, "page": span.page}
        data["source"] = source if span.box is None else {**source, "box": span.box}
    return data


def _row(record: Record) -> tuple[Any, ...]:
    fields = json.dumps(fields_to_json(record.fields), ensure_ascii=False, separators=(",", ":"))
    return record.kind, record.id, fields, record.site, record.visit, record.run


def _record(row: tuple[Any, ...]) -> Record:
    kind, record_id, fields, site, visit, run = row
    return Record(kind, record_id, fields_from_json(json.loads(fields)), site, visit, run)


def fields_from_json(data: dict[str, list[dict[str, Any]]]) -> dict[str, tuple[Value, ...]]:
    return {name: tuple(map(_value, values)) for name, values in data.items()}


def _value(data: dict[str, Any]) -> Value:
    source = data.get("source")
    if source is None:
        return Value(data["text"], data["confidence"])
    box = source.get("box")
    span = Span(source["url"], source["start"], source["end"], source["page"], tuple(box) if box else None)
    return Value(data["text"], data["confidence"], span)


_STAMPS = "SELECT kind, id, added, changed, deleted FROM record_time"
_AFTER = (
    "SELECT changed, kind, id FROM record_time WHERE (changed, kind, id) > (?, ?, ?) "
    "ORDER BY changed, kind, id LIMIT 2 OFFSET ?"
)


@dataclass(frozen=True, slots=True)
class RecordStamp:
    """The times at which a record was added and last changed; nothing else remains of a deleted record."""

    kind: str
    id: str
    added: float
    changed: float
    deleted: bool = False


@dataclass(frozen=True, slots=True)
class ChangeCursor:
    """A position in the list of records by time of change."""

    changed: float = 0.0
    kind: str = ""
    id: str = ""


@dataclass(frozen=True, slots=True)
class SiteVisited:
    """A site that was foraged: the number of its pages, and when it was last visited."""

    start: str
    pages: int
    last_visit: float | None


class Catalogue:
    """Lists of records and sites. Every method runs one short query, so a slow reader holds nothing open."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def counts(self) -> dict[str, int]:
        """Return the number of records of each kind."""
        rows = self._database.execute(
            "SELECT kind, count(*) FROM record_time WHERE deleted = 0 GROUP BY kind ORDER BY kind"
        )
        return dict(rows.fetchall())

    def sites(self) -> list[SiteVisited]:
        """Return the sites of all runs, each once, by start URL."""
        rows = self._database.execute(
            "SELECT start, max(visits), max((SELECT max(at) FROM visit WHERE site_id = site.id "
            "AND number = site.visits - 1)) FROM site GROUP BY start ORDER BY start"
        )
        return [SiteVisited(*row) for row in rows]

    def field_names(self, kind: str, sample: int = 50) -> list[str]:
        """Return the names of the fields in a sample of records, for kinds that are not declared."""
        rows = self._database.execute(
            "SELECT DISTINCT key FROM (SELECT fields FROM record WHERE kind = ? ORDER BY id LIMIT ?) AS sample, "
            "json_each(sample.fields) ORDER BY key",
            (kind, sample),
        )
        return [str(row[0]) for row in rows]

    def newest(self, limit: int) -> list[RecordStamp]:
        """Return the records that were added last, newest first."""
        rows = self._database.execute(
            f"{_STAMPS} WHERE deleted = 0 ORDER BY added DESC, kind, id LIMIT ?", (limit,)
        )
        return [_stamp(row) for row in rows]

    def stamp(self, kind: str, record_id: str) -> RecordStamp | None:
        row = self._database.execute(f"{_STAMPS} WHERE kind = ? AND id = ?", (kind, record_id)).fetchone()
        return _stamp(row) if row else None

    def after(self, kind: str, record_id: str, limit: int) -> list[Record]:
        """Return the records of a kind after an id, in order of id."""
        rows = self._database.execute(
            f"{_SELECT} WHERE kind = ? AND id > ? ORDER BY id LIMIT ?", (kind, record_id, limit)
        )
        return [_record(row) for row in rows]

    def changed_after(self, cursor: ChangeCursor, until: float, limit: int) -> list[RecordStamp]:
        """Return records and deleted records after a cursor, in order of their last change."""
        rows = self._database.execute(
            f"{_STAMPS} WHERE (changed, kind, id) > (?, ?, ?) AND changed < ? ORDER BY changed, kind, id LIMIT ?",
            (cursor.changed, cursor.kind, cursor.id, until, limit),
        )
        return [_stamp(row) for row in rows]

    def cursors(self, step: int) -> list[ChangeCursor]:
        """Return the cursors from which `changed_after` yields everything in pages of `step`."""
        cursors = [ChangeCursor()]
        while True:
            last = cursors[-1]
            rows = self._database.execute(_AFTER, (last.changed, last.kind, last.id, step - 1)).fetchall()
            if len(rows) < 2:  # the last of a page, and one that comes after it
                return cursors
            cursors.append(ChangeCursor(*rows[0]))

    def earliest_change(self) -> float | None:
        row = self._database.execute("SELECT min(changed) FROM record_time").fetchone()
        return row[0] if row else None


def _stamp(row: tuple[Any, ...]) -> RecordStamp:
    kind, record_id, added, changed, deleted = row
    return RecordStamp(kind, record_id, added, changed, bool(deleted))


_SINCE = "SELECT change, kind, id FROM record_change WHERE change > ? ORDER BY change LIMIT ?"


@dataclass(frozen=True, slots=True)
class RecordChange:
    """The last change of a record: it was saved, deleted, placed, scored or cited."""

    number: int
    kind: str
    id: str


class ChangeStore:
    """The change feed: every record with the number of its last change."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def newest(self) -> int:
        """Return the number of the last change; 0 if there was none."""
        row = self._database.execute("SELECT coalesce(max(change), 0) FROM record_change").fetchone()
        return int(row[0])

    def waiting(self, after: int) -> int:
        """Return how many records have changed after a number."""
        row = self._database.execute("SELECT count(*) FROM record_change WHERE change > ?", (after,))
        return int(row.fetchone()[0])

    def since(self, after: int, batch: int = 1_000) -> Iterator[list[RecordChange]]:
        """Yield the changes after a number, oldest first, in batches; includes changes made meanwhile."""
        while rows := self._database.execute(_SINCE, (after, batch)).fetchall():
            yield [RecordChange(*row) for row in rows]
            after = rows[-1][0]

    def has(self, kind: str, after: int) -> bool:
        """Return True if any record of a kind has changed after a number."""
        sql = "SELECT EXISTS (SELECT 1 FROM record_change WHERE change > ? AND kind = ?)"
        return bool(self._database.execute(sql, (after, kind)).fetchone()[0])

    def latest(self, count: int) -> list[RecordChange]:
        """Return the last changes, newest first, without deleted records."""
        rows = self._database.execute(
            "SELECT change, kind, id FROM record_change JOIN record USING (kind, id) "
            "ORDER BY change DESC LIMIT ?",
            (count,),
        )
        return [RecordChange(*row) for row in rows]
