"""The trails that people taught, each of their pages stored once, with a history of changes that can be undone."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

from wayhound.errors import NotInWorkspace, UsageError
from wayhound.page import Page
from wayhound.paths.trail_file import (
    PageDigests,
    link_from_json,
    link_to_json,
    page_from_json,
    page_to_json,
    validate_label,
)
from wayhound.store.database import Database
from wayhound.trail import FAIL, GOAL, Step, Trail

ChangeKind = Literal["delete", "relabel"]

_SUMMARIES = """
SELECT trail.id, site, taught_by, taught_at, source, url, title,
    (SELECT json_group_array(label) FROM (
        SELECT label FROM trail_step WHERE trail_id = trail.id ORDER BY number) AS step)
FROM trail
LEFT JOIN trail_step AS last ON last.trail_id = trail.id
    AND last.number = (SELECT max(number) FROM trail_step WHERE trail_id = trail.id)
LEFT JOIN taught_page ON digest = last.page
"""


@dataclass(frozen=True, slots=True)
class KeptTrail:
    """A trail with its number in the workspace, when it was taught and where it came from."""

    id: int
    trail: Trail
    taught_at: float = 0.0
    source: str = ""


@dataclass(frozen=True, slots=True)
class TrailSummary:
    """A trail without its pages: where it ended, and the label of each step."""

    id: int
    site: str
    taught_by: str
    taught_at: float
    source: str
    end_url: str
    end_title: str
    labels: tuple[str, ...]

    @property
    def steps(self) -> int:
        return len(self.labels)

    @property
    def ending(self) -> str:
        """`Goal`, `Fail`, or an empty string if its end has no such label."""
        last = self.labels[-1] if self.labels else ""
        return last if last in (GOAL, FAIL) else ""


@dataclass(frozen=True, slots=True)
class TrailChange:
    """A deletion or a relabelling of a trail. `step` is that of a relabelling, from 0."""

    id: int
    trail_id: int
    at: float
    kind: ChangeKind
    step: int | None
    before: str
    after: str
    undone: int  # 1 if it was undone


@dataclass(frozen=True, slots=True)
class AddedTrails:
    """The result of adding many trails at once."""

    ids: tuple[int, ...]
    duplicates: int  # trails that were there already, and were not added again


class TrailStore:
    """The trails of a workspace. Deleted ones are hidden, and can be restored."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._pages = _PageTable(database)

    # Adding

    def add(self, trail: Trail, at: float, source: str = "") -> int:
        """Save a trail in one transaction and return its number."""
        with self._database.transaction():
            return self._add(trail, at, source, PageDigests())

    def add_all(self, trails: Iterable[Trail], at: float, source: str = "") -> AddedTrails:
        """Save trails in one transaction. A trail that is there already, with the same labels, is not added again."""
        pending = list(trails)  # read before the database is locked
        digests, ids, duplicates = PageDigests(), [], 0
        with self._database.transaction():
            keys = self._keys()
            for trail in pending:
                key = _key(trail.site, [_step_row(step, digests) for step in trail.steps])
                if key in keys:
                    duplicates += 1
                else:
                    keys.add(key)
                    ids.append(self._add(trail, at, source, digests))
        return AddedTrails(tuple(ids), duplicates)

    def _add(self, trail: Trail, at: float, source: str, digests: PageDigests) -> int:
        sql = "INSERT INTO trail (site, taught_by, taught_at, source) VALUES (?, ?, ?, ?) RETURNING id"
        values = (trail.site, trail.taught_by, at, source)
        trail_id = int(self._database.execute(sql, values).fetchone()[0])
        for number, step in enumerate(trail.steps):
            digest, link, label = _step_row(step, digests)
            self._pages.put(digest, step.page)
            self._database.execute(
                "INSERT INTO trail_step (trail_id, number, page, link, label) VALUES (?, ?, ?, ?, ?)",
                (trail_id, number, digest, link, label),
            )
        return trail_id

    def _keys(self) -> set[tuple[Any, ...]]:
        """Return what distinguishes the trails that are not deleted."""
        rows: dict[int, tuple[str, list[tuple[Any, ...]]]] = {}
        for trail_id, site, *step in self._database.execute(
            "SELECT trail_id, site, page, link, label FROM trail_step JOIN trail ON trail.id = trail_id "
            "WHERE deleted = 0 ORDER BY trail_id, number"
        ):
            rows.setdefault(trail_id, (site, []))[1].append(tuple(step))
        return {_key(site, steps) for site, steps in rows.values()}

    # Reading

    def get(self, trail_id: int) -> KeptTrail:
        """Return a trail. Raises UsageError if there is none with this number or it was deleted."""
        _check_exists(self._database, trail_id)
        return next(self._kept("AND id = ?", (trail_id,)))

    def iterate(self, site: str | None = None) -> Iterator[KeptTrail]:
        """Yield all trails, or those of one site, in the order in which they were taught."""
        if site is None:
            return self._kept("", ())
        return self._kept("AND site = ?", (site,))

    def trails(self) -> list[Trail]:
        """Return all trails as training takes them."""
        return [kept.trail for kept in self.iterate()]

    def summaries(self, site: str | None = None) -> list[TrailSummary]:
        """Return summaries of all trails, or those of one site; cheap, because no page is read."""
        where = "WHERE deleted = 0 AND (site = ?1 OR ?1 IS NULL) ORDER BY trail.id"
        rows = self._database.execute(f"{_SUMMARIES} {where}", (site,))
        return [_summary(row) for row in rows]

    def sites(self) -> dict[str, int]:
        """Return the number of trails of each site."""
        sql = "SELECT site, count(*) FROM trail WHERE deleted = 0 GROUP BY site ORDER BY min(id)"
        return dict(self._database.execute(sql).fetchall())

    def labels(self) -> dict[str, int]:
        """Return the labels with the number of steps that have them, the most used first."""
        sql = (
            "SELECT label, count(*) FROM trail_step JOIN trail ON trail.id = trail_id "
            "WHERE deleted = 0 AND label != '' GROUP BY label ORDER BY count(*) DESC, label"
        )
        return dict(self._database.execute(sql).fetchall())

    def __len__(self) -> int:
        return int(self._database.execute("SELECT count(*) FROM trail WHERE deleted = 0").fetchone()[0])

    def _kept(self, condition: str, values: tuple[Any, ...]) -> Iterator[KeptTrail]:
        sql = (
            "SELECT id, site, taught_by, taught_at, source FROM trail WHERE deleted = 0 "  # noqa: S608
            f"{condition} ORDER BY id"
        )
        for trail_id, site, by, at, source in self._database.execute(sql, values).fetchall():
            yield KeptTrail(trail_id, Trail(site, self._steps(trail_id), by), at, source)

    def _steps(self, trail_id: int) -> tuple[Step, ...]:
        rows = self._database.execute(
            "SELECT page, link, label FROM trail_step WHERE trail_id = ? ORDER BY number", (trail_id,)
        ).fetchall()
        return tuple(
            _step(self._pages.get(page), json.loads(link) if link else None, label)
            for page, link, label in rows
        )

    # Changing, and undoing changes

    def relabel(self, trail_id: int, step: int, label: str, at: float) -> None:
        """Change the label of a step, from 0; an empty label removes it. Raises UsageError."""
        try:
            label = validate_label(label)
        except ValueError as error:
            raise UsageError(f"Trail {trail_id} cannot be relabelled: {error}.") from None
        with self._database.transaction():
            before = _step_label(self._database, trail_id, step)
            if before != label:
                _set_step_label(self._database, trail_id, step, label)
                self._add_change(trail_id, at, "relabel", (step, before, label))

    def delete(self, trail_id: int, at: float) -> None:
        """Hide a trail. Raises UsageError if there is none with this number or it was deleted."""
        with self._database.transaction():
            _check_exists(self._database, trail_id)
            self._database.execute("UPDATE trail SET deleted = 1 WHERE id = ?", (trail_id,))
            self._add_change(trail_id, at, "delete", (None, "", ""))

    def undo(self) -> TrailChange | None:
        """Undo the last deletion or relabelling and return it; the next call undoes the one before it."""
        with self._database.transaction():
            change = next(iter(self._changes("WHERE undone = 0 ORDER BY id DESC LIMIT 1")), None)
            if change is None:
                return None
            if change.kind == "delete":
                self._database.execute("UPDATE trail SET deleted = 0 WHERE id = ?", (change.trail_id,))
            elif change.step is not None:
                _set_step_label(self._database, change.trail_id, change.step, change.before)
            self._database.execute("UPDATE trail_change SET undone = 1 WHERE id = ?", (change.id,))
        return change

    def history(self) -> list[TrailChange]:
        """Return all changes of trails, the last first, including those that were undone."""
        return self._changes("ORDER BY id DESC")

    def _changes(self, condition: str) -> list[TrailChange]:
        sql = f"SELECT id, trail_id, at, kind, step, before, after, undone FROM trail_change {condition}"  # noqa: S608
        rows = self._database.execute(sql).fetchall()
        return [TrailChange(*row) for row in rows]

    def _add_change(
        self, trail_id: int, at: float, kind: ChangeKind, change: tuple[int | None, str, str]
    ) -> None:
        self._database.execute(
            "INSERT INTO trail_change (trail_id, at, kind, step, before, after) VALUES (?, ?, ?, ?, ?, ?)",
            (trail_id, at, kind, *change),
        )


class _PageTable:
    """Taught pages by digest. A digest stands for one content, so pages that were read are cached."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._cache: dict[str, Page] = {}

    def put(self, digest: str, page: Page) -> None:
        if self._database.execute("SELECT 1 FROM taught_page WHERE digest = ?", (digest,)).fetchone():
            return
        content = zlib.compress(json.dumps(page_to_json(page)).encode())
        self._database.execute(
            "INSERT INTO taught_page (digest, url, title, content) VALUES (?, ?, ?, ?)",
            (digest, page.url, page.title, content),
        )

    def get(self, digest: str) -> Page:
        if digest not in self._cache:
            sql = "SELECT content FROM taught_page WHERE digest = ?"
            [content] = self._database.execute(sql, (digest,)).fetchone()
            self._cache[digest] = page_from_json(json.loads(zlib.decompress(content)))
        return self._cache[digest]


def _check_exists(database: Database, trail_id: int) -> None:
    """Raise NotInWorkspace if there is no trail with this number, or it was deleted."""
    row = database.execute("SELECT deleted FROM trail WHERE id = ?", (trail_id,)).fetchone()
    if row is None or row[0]:
        reason = "has been deleted; `undo` brings it back" if row else "is not in this workspace"
        raise NotInWorkspace(f"Trail {trail_id} {reason}.")


def _summary(row: tuple[Any, ...]) -> TrailSummary:
    trail_id, site, taught_by, taught_at, source, url, title, labels = row
    return TrailSummary(
        id=trail_id,
        site=site,
        taught_by=taught_by,
        taught_at=taught_at,
        source=source,
        end_url=url or "",
        end_title=title or "",
        labels=tuple(json.loads(labels)),
    )


def _step_row(step: Step, digests: PageDigests) -> tuple[str, str | None, str]:
    """Return the digest of a step's page, its link as JSON, and its label."""
    more = {"by_script": True} if step.by_script else {}
    link = None if step.link is None else json.dumps(link_to_json(step.link) | more)
    return digests.digest(step.page), link, step.label


def _step(page: Page, link: Any, label: str) -> Step:
    if link is None:
        return Step(page, None, label)
    return Step(page, link_from_json(link), label, link.get("by_script") is True)


def _key(site: str, steps: Iterable[tuple[Any, ...]]) -> tuple[Any, ...]:
    return (site, *map(tuple, steps))


def _step_label(database: Database, trail_id: int, step: int) -> str:
    _check_exists(database, trail_id)
    sql = "SELECT label FROM trail_step WHERE trail_id = ? AND number = ?"
    row = database.execute(sql, (trail_id, step)).fetchone()
    if row is None:
        raise NotInWorkspace(f"Trail {trail_id} has no step {step}.")
    return str(row[0])


def _set_step_label(database: Database, trail_id: int, step: int, label: str) -> None:
    database.execute(
        "UPDATE trail_step SET label = ? WHERE trail_id = ? AND number = ?", (label, trail_id, step)
    )
