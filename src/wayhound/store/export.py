"""The tables that a workspace exports: pages, visits, goals, sites and records, a row at a time."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, BinaryIO

from wayhound.errors import UsageError
from wayhound.store.database import Database
from wayhound.store.goals import FoundGoal, GoalStore
from wayhound.store.table_files import FORMATS, ColumnType, to_arrow, write_rows
from wayhound.store.visits import clicked_texts, path_reader

Rows = Callable[[Database, int | None], Iterator[tuple[Any, ...]]]

_AT = "strftime('%Y-%m-%dT%H:%M:%fZ', at, 'unixepoch')"
# CROSS JOIN keeps the sites outermost, so that rows come in order without a sort.
_OF_RUN = "FROM site CROSS JOIN visit ON site_id = site.id WHERE (run_id = ?1 OR ?1 IS NULL)"


@dataclass(frozen=True, slots=True)
class ExportTable:
    """Columns by name, and a function that yields the rows of one run or of all."""

    columns: Mapping[str, ColumnType]
    rows: Rows


def _selecting(sql: str) -> Rows:
    return lambda database, run_id: database.stream(sql, (run_id,))


def _once(rows: Iterable[tuple[Any, ...]], url: int) -> Iterator[tuple[Any, ...]]:
    """Yield the first row of each run and URL: two sites of a list may share pages."""
    seen: set[int] = set()
    for row in rows:
        key = hash((row[0], row[url]))
        if key not in seen:
            seen.add(key)
            yield row


def _pages(database: Database, run_id: int | None) -> Iterator[tuple[Any, ...]]:
    return _once(_all_pages(database, run_id), 3)


def _all_pages(database: Database, run_id: int | None) -> Iterator[tuple[Any, ...]]:
    read_path = path_reader(database)
    for site_id, *row in database.stream(
        "SELECT site_id, run_id, start, number, url, title, label, coalesce(probability, goal), tier = 'goal', "
        f"tier, depth, content_type, digest, {_AT}, robots, not_modified, archive_file, archive_offset "
        f"{_OF_RUN} AND outcome = 'ok' "
        "ORDER BY site.id, number",
        (run_id,),
    ):
        texts = clicked_texts(read_path(site_id, row[2]))
        yield (*row, " › ".join(text or "(no text)" for text in texts))


def _records(database: Database, _: int | None) -> Iterator[tuple[Any, ...]]:
    for *row, fields in database.stream("SELECT kind, id, site, visit, fields FROM record ORDER BY kind, id"):
        yield (*row, json.loads(fields))


def _record_rows(database: Database, kind: str) -> ExportTable:
    """Return a table with a row per record and a column per field; several values of a field are joined."""
    wanted = "FROM record, json_each(record.fields) WHERE (?1 = '' OR kind = ?1)"
    names = [name for (name,) in database.execute(f"SELECT DISTINCT key {wanted} ORDER BY key", (kind,))]
    columns: dict[str, ColumnType] = {**_RECORD, **{_field_column(name): "text" for name in names}}

    def rows(database: Database, _: int | None) -> Iterator[tuple[Any, ...]]:
        for *row, fields in _records(database, None):
            if not kind or row[0] == kind:
                texts = ("; ".join(value["text"] for value in fields.get(name, ())) for name in names)
                yield (*row, *texts)

    return ExportTable(columns, rows)


def _field_column(name: str) -> str:
    return f"{name}_field" if name in _RECORD else name


def _record_values(database: Database, run_id: int | None) -> Iterator[tuple[Any, ...]]:
    for *row, fields in _records(database, run_id):
        for name, values in fields.items():
            for value in values:
                source = value.get("source") or {}
                span = (source.get(part) for part in ("url", "start", "end", "page"))
                yield (*row, name, value["text"], value["confidence"], *span)


_RECORD: dict[str, ColumnType] = {"kind": "text", "id": "text", "site": "text", "visit": "integer"}


def _found(database: Database, run_id: int | None) -> Iterator[FoundGoal]:
    """Yield the goals of a run or of all, each URL of a run once."""
    goals = ((goal.run, goal.url, goal) for goal in GoalStore(database).goals(run_id))
    return (goal for _, _, goal in _once(goals, 1))


def _nested_goals(database: Database, run_id: int | None) -> Iterator[tuple[Any, ...]]:
    for goal in _found(database, run_id):
        path = [asdict(step) for step in goal.path]
        why = [{"feature": feature, "weight": weight} for feature, weight in goal.why]
        yield (*_goal_row(goal), path, why)


def _goals(database: Database, run_id: int | None) -> Iterator[tuple[Any, ...]]:
    for goal in _found(database, run_id):
        why = ", ".join(f"{feature} {weight:+.2f}" for feature, weight in goal.why)
        yield (*_goal_row(goal), goal.clicks, goal.labels, why)


def _goal_row(goal: FoundGoal) -> tuple[Any, ...]:
    at = datetime.fromtimestamp(goal.at, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    about = goal.url, goal.title, goal.tier, goal.probability, goal.score, at, goal.robots
    return goal.run, goal.site, goal.number, *about


_GOAL: dict[str, ColumnType] = {
    "run": "integer", "site": "text", "number": "integer", "url": "text", "title": "text", "tier": "text",
    "probability": "number", "score": "number", "at": "time", "robots": "text",
}  # fmt: skip

NESTED: Mapping[str, ExportTable] = {
    "goals": ExportTable({**_GOAL, "path": "json", "why": "json"}, _nested_goals),
    "records": ExportTable({**_RECORD, "fields": "json"}, _records),
}
"""For formats with nested values: one row per record, and a goal's path step by step."""

TABLES: Mapping[str, ExportTable] = {
    "sites": ExportTable(
        {
            "run": "integer", "site": "text", "state": "text", "reason": "text", "visits": "integer",
            "spent": "integer", "goals": "integer", "likely": "integer", "none_probability": "number",
            "goals_left": "number", "pages": "integer", "failures": "integer",
        },
        _selecting(
            "SELECT run_id, start, state, reason, visits, spent, goals, likely, none_probability, goals_left, pages, "
            "failures FROM site WHERE run_id = ?1 OR ?1 IS NULL ORDER BY id"
        ),
    ),
    "visits": ExportTable(
        {
            "run": "integer", "site": "text", "number": "integer", "url": "text", "outcome": "text",
            "at": "time", "parent": "integer", "link_text": "text", "link_region": "text",
            "link_kind": "text", "depth": "integer", "attempt": "integer", "score": "number",
            "status": "integer", "content_type": "text", "title": "text", "digest": "text", "label": "text",
            "goal": "number", "is_goal": "yes_no", "tier": "text", "probability": "number", "spent": "yes_no",
            "wait_seconds": "number",
            "location": "text", "robots": "text", "not_modified": "yes_no", "rendering": "text",
            "archive_file": "text", "archive_offset": "integer", "archive_length": "integer",
        },
        _selecting(
            f"SELECT run_id, start, number, url, outcome, {_AT}, parent, link_text, link_region, link_kind, "
            "depth, attempt, score, status, content_type, title, digest, label, goal, is_goal, tier, "
            "probability, visit.spent, "
            "wait_seconds, location, robots, not_modified, rendering, archive_file, archive_offset, "
            f"archive_length {_OF_RUN} ORDER BY site.id, number"
        ),
    ),
    "pages": ExportTable(
        {
            "run": "integer", "site": "text", "number": "integer", "url": "text", "title": "text",
            "label": "text", "goal": "number", "is_goal": "yes_no", "tier": "text", "depth": "integer",
            "content_type": "text", "digest": "text", "at": "time", "robots": "text", "not_modified": "yes_no",
            "archive_file": "text", "archive_offset": "integer", "path": "text",
        },
        _pages,
    ),
    "goals": ExportTable({**_GOAL, "path": "text", "labels": "text", "why": "text"}, _goals),
    "records": ExportTable(_RECORD, _records),  # with a column for each field that there is
    "values": ExportTable(
        {
            **_RECORD, "field": "text", "text": "text", "confidence": "number", "url": "text",
            "start": "integer", "end": "integer", "page": "integer",
        },
        _record_values,
    ),
}  # fmt: skip


def export(
    database: Database,
    table: str,
    file_format: str,
    out: Path | BinaryIO,
    *,
    run_id: int | None = None,
    kind: str = "",
) -> int:
    """Write a table (`TABLES`) in a format (`FORMATS`) to a file or a stream and return the number of rows.

    A file appears whole or not at all. Records are not of a run, so `run_id` does not limit them; `kind` does.
    """
    for name, choices in ((table, TABLES), (file_format, FORMATS)):
        if name not in choices:
            raise UsageError(f"{name!r} cannot be exported; choose one of {', '.join(choices)}.")
    nested = table in NESTED and file_format == "jsonl"
    content = NESTED[table] if nested else _content(database, table, kind)
    rows = content.rows(database, run_id)
    if kind and nested:
        rows = (row for row in rows if row[0] == kind)
    return write_rows(content.columns, rows, file_format, out)


def _content(database: Database, table: str, kind: str = "") -> ExportTable:
    return _record_rows(database, kind) if table == "records" else TABLES[table]


# One row for each row of the list of sites

_WIDE: dict[str, ColumnType] = {
    "goal": "text", "goal_title": "text", "probability": "number", "status": "text", "reason": "text",
    "pages": "integer",
}  # fmt: skip


OwnRows = Iterable[tuple[Sequence[str], str]]
"""Cells and start page of each row of a person's table; the start page is empty for a row without an address."""


def export_wide(
    database: Database,
    file_format: str,
    out: Path | BinaryIO,
    run_id: int,
    headings: Sequence[str] = (),
    rows: OwnRows | None = None,
) -> int:
    """Write a list of sites with its own columns, the best goal of each row in a run, or why there is none.

    The list is that of the run, unless `headings` and `rows` give another. Return the number of rows. `status`
    is `found`, `likely`, `none`, `failed`, `not finished`, `no address`, or `not foraged` for a site that is not of
    the run.
    """
    if rows is None:
        kept = database.execute("SELECT headings FROM run WHERE id = ?", (run_id,)).fetchone()[0]
        headings, rows = json.loads(kept) or ["site"], _kept_rows(database, run_id)
    own = _distinct(headings, _WIDE)
    columns: dict[str, ColumnType] = {**dict.fromkeys(own, "text"), **_WIDE}
    return write_rows(columns, _wide_rows(database, run_id, len(own), rows), file_format, out)


def _kept_rows(database: Database, run_id: int) -> Iterator[tuple[Sequence[str], str]]:
    """Yield the rows of the list that a run was given, or its start pages where that was no table."""
    cells_of_rows = "SELECT cells, start FROM list_row WHERE run_id = ? ORDER BY number"
    empty = True
    for cells, start in database.stream(cells_of_rows, (run_id,)):
        empty = False
        yield json.loads(cells), start
    if empty:
        for (start,) in database.stream("SELECT start FROM site WHERE run_id = ? ORDER BY id", (run_id,)):
            yield [start], start


def _distinct(headings: Iterable[str], taken: Iterable[str]) -> list[str]:
    """Return headings that are not empty and that nothing else has."""
    names: dict[str, None] = dict.fromkeys(taken)
    own = []
    for number, heading in enumerate(headings, 1):
        name = heading or f"column {number}"
        while name in names:
            name += "_"
        names[name] = None
        own.append(name)
    return own


def _wide_rows(database: Database, run_id: int, width: int, rows: OwnRows) -> Iterator[tuple[Any, ...]]:
    best: dict[str, FoundGoal] = {}
    for goal in GoalStore(database).goals(run_id):
        if goal.site not in best or _worth(goal) > _worth(best[goal.site]):
            best[goal.site] = goal
    sql = "SELECT state, reason, pages FROM site WHERE run_id = ? AND start = ?"
    for cells, start in rows:
        site = database.execute(sql, (run_id, start)).fetchone() if start else None
        yield (*[*cells, *[""] * width][:width], *_ending(best.get(start), start, site))


def _ending(goal: FoundGoal | None, start: str, site: tuple[str, str | None, int] | None) -> tuple[Any, ...]:
    """Return the columns of `_WIDE` for a row with this start page; `site` has its state, reason and pages."""
    if site is None:
        return "", "", None, "not foraged" if start else "no address", "", None
    state, reason, pages = site
    if goal is not None:
        status = "likely" if goal.tier == "likely" else "found"
        return goal.url, goal.title, goal.probability, status, "", pages
    status = "none" if pages else "failed"
    return "", "", None, status if state == "done" else "not finished", reason or "", pages


def _worth(goal: FoundGoal) -> tuple[bool, float]:
    return goal.tier != "likely", goal.probability


def arrow_table(database: Database, table: str, *, run_id: int | None = None) -> Any:
    """Return a table (`TABLES`) as `pyarrow.Table`. Raises MissingExtra without pyarrow."""
    if table not in TABLES:
        raise UsageError(f"{table!r} cannot be exported; choose one of {', '.join(TABLES)}.")
    content = _content(database, table)
    return to_arrow(content.columns, content.rows(database, run_id))
