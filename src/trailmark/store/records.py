"""Keeps extracted records, every value with the place it was read from."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

from trailmark.record import Record, Span, Value
from trailmark.store.database import Database

_BATCH = 1_000
_INSERT = "INSERT OR REPLACE INTO record (kind, id, fields, site, visit) VALUES (?, ?, ?, ?, ?)"
_SELECT = "SELECT kind, id, fields, site, visit FROM record"


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
    return record.kind, record.id, fields, record.site, record.visit


def _record(row: tuple[Any, ...]) -> Record:
    kind, record_id, fields, site, visit = row
    return Record(kind, record_id, fields_from_json(json.loads(fields)), site, visit)


def fields_from_json(written: dict[str, list[dict[str, Any]]]) -> dict[str, tuple[Value, ...]]:
    return {name: tuple(map(_value, values)) for name, values in written.items()}


def _value(written: dict[str, Any]) -> Value:
    source = written.get("source")
    if source is None:
        return Value(written["text"], written["confidence"])
    box = source.get("box")
    span = Span(source["url"], source["start"], source["end"], source["page"], tuple(box) if box else None)
    return Value(written["text"], written["confidence"], span)
