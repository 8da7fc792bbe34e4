"""Keeps the trails that people taught, each page of them once, and takes back what was done to them by mistake."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

from wayhound.errors import UsageError
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
        SELECT label FROM trail_step WHERE trail_id = trail.id ORDER BY number))
FROM trail
LEFT JOIN trail_step AS last ON last.trail_id = trail.id
    AND last.number = (SELECT max(number) FROM trail_step WHERE trail_id = trail.id)
LEFT JOIN taught_page ON digest = last.page
"""


@dataclass(frozen=True, slots=True)
class KeptTrail:
    """A trail with its number in the workspace, when it was taught and how it came here."""

    id: int
    trail: Trail
    taught_at: float = 0.0
    source: str = ""


@dataclass(frozen=True, slots=True)
class TrailSummary:
    """A trail in a line, without reading its pages: where it ended, and the label of each step."""

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
        """`Goal`, `Fail`, or an empty text if nobody said how it ended."""
        last = self.labels[-1] if self.labels else ""
        return last if last in (GOAL, FAIL) else ""


@dataclass(frozen=True, slots=True)
class TrailChange:
    """Something that was done to a trail. `step` counts from 0 and is that of a relabelling."""

    id: int
    trail_id: int
    at: float
    kind: ChangeKind
    step: int | None
    before: str
    after: str
    undone: int  # 1 if it was taken back


@dataclass(frozen=True, slots=True)
class Added:
    """What came of adding many trails at once."""

    ids: tuple[int, ...]
    known: int  # how many were there already, and were not added again


class TrailStore:
    """The trails of a workspace. Deleted ones are not shown any more, but can come back."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._pages: dict[str, Page] = {}  # as read; their content is named by its digest and never changes

    # Adding

    def add(self, trail: Trail, at: float, source: str = "") -> int:
        """Keep a trail, whole or not at all, and tell its number."""
        with self._database.transaction():
            return self._add(trail, at, source, PageDigests())

    def add_all(self, trails: Iterable[Trail], at: float, source: str = "") -> Added:
        """Keep all of them or none. A trail that is there already, label for label, is not added again."""
        waiting = list(trails)  # read before the database is locked
        digests, ids, known = PageDigests(), [], 0
        with self._database.transaction():
            seen = self._keys()
            for trail in waiting:
                key = _key(trail.site, [_step_row(step, digests) for step in trail.steps])
                if key in seen:
                    known += 1
                else:
                    seen.add(key)
                    ids.append(self._add(trail, at, source, digests))
        return Added(tuple(ids), known)

    def append(self, trail_id: int, step: Step) -> None:
        """One step further on a trail that is still being walked."""
        with self._database.transaction():
            self._add_step(trail_id, self._length(trail_id), step, PageDigests())

    def take_back_step(self, trail_id: int) -> None:
        """Forget the last step of a trail that is still being walked."""
        with self._database.transaction():
            last = self._length(trail_id) - 1
            if last < 0:
                raise UsageError(f"Trail {trail_id} has no step to take back.")
            self._database.execute(
                "DELETE FROM trail_step WHERE trail_id = ? AND number = ?", (trail_id, last)
            )
            self._forget_pages()

    def _add(self, trail: Trail, at: float, source: str, digests: PageDigests) -> int:
        sql = "INSERT INTO trail (site, taught_by, taught_at, source) VALUES (?, ?, ?, ?) RETURNING id"
        values = (trail.site, trail.taught_by, at, source)
        trail_id = int(self._database.execute(sql, values).fetchone()[0])
        for number, step in enumerate(trail.steps):
            self._add_step(trail_id, number, step, digests)
        return trail_id

    def _add_step(self, trail_id: int, number: int, step: Step, digests: PageDigests) -> None:
        digest, link, label = _step_row(step, digests)
        self._keep_page(digest, step.page)
        self._database.execute(
            "INSERT INTO trail_step (trail_id, number, page, link, label) VALUES (?, ?, ?, ?, ?)",
            (trail_id, number, digest, link, label),
        )

    def _keep_page(self, digest: str, page: Page) -> None:
        if self._database.execute("SELECT 1 FROM taught_page WHERE digest = ?", (digest,)).fetchone():
            return
        packed = zlib.compress(json.dumps(page_to_json(page)).encode())
        self._database.execute(
            "INSERT INTO taught_page (digest, url, title, content) VALUES (?, ?, ?, ?)",
            (digest, page.url, page.title, packed),
        )

    def _length(self, trail_id: int) -> int:
        self._must_exist(trail_id)
        sql = "SELECT coalesce(max(number) + 1, 0) FROM trail_step WHERE trail_id = ?"
        return int(self._database.execute(sql, (trail_id,)).fetchone()[0])

    def _keys(self) -> set[tuple[Any, ...]]:
        """What tells trails apart, of those that are shown."""
        rows: dict[int, tuple[str, list[tuple[Any, ...]]]] = {}
        for trail_id, site, *step in self._database.execute(
            "SELECT trail_id, site, page, link, label FROM trail_step JOIN trail ON trail.id = trail_id "
            "WHERE deleted = 0 ORDER BY trail_id, number"
        ):
            rows.setdefault(trail_id, (site, []))[1].append(tuple(step))
        return {_key(site, steps) for site, steps in rows.values()}

    # Looking

    def get(self, trail_id: int) -> KeptTrail:
        """A trail that is shown; of a deleted or unknown one, the sentence says so."""
        self._must_exist(trail_id)
        return next(self._kept("AND id = ?", (trail_id,)))

    def iterate(self, site: str | None = None) -> Iterator[KeptTrail]:
        """All trails, or those of one site, in the order in which they were taught."""
        if site is None:
            return self._kept("", ())
        return self._kept("AND site = ?", (site,))

    def trails(self) -> list[Trail]:
        """All trails, as training takes them."""
        return [kept.trail for kept in self.iterate()]

    def summaries(self, site: str | None = None) -> list[TrailSummary]:
        """Every trail in a line; cheap, since no page is read."""
        where = "WHERE deleted = 0 AND (?1 IS NULL OR site = ?1) ORDER BY trail.id"
        return [
            TrailSummary(trail_id, start, by, at, source, url or "", title or "", tuple(json.loads(labels)))
            for trail_id, start, by, at, source, url, title, labels in self._database.execute(
                f"{_SUMMARIES} {where}", (site,)
            )
        ]

    def sites(self) -> dict[str, int]:
        """How many trails each site has."""
        sql = "SELECT site, count(*) FROM trail WHERE deleted = 0 GROUP BY site ORDER BY min(id)"
        return dict(self._database.execute(sql).fetchall())

    def labels(self) -> dict[str, int]:
        """The labels used so far and on how many steps, the most used first."""
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
            Step(self._page(page), None if link is None else link_from_json(json.loads(link)), label)
            for page, link, label in rows
        )

    def _page(self, digest: str) -> Page:
        if digest not in self._pages:
            sql = "SELECT content FROM taught_page WHERE digest = ?"
            [content] = self._database.execute(sql, (digest,)).fetchone()
            self._pages[digest] = page_from_json(json.loads(zlib.decompress(content)))
        return self._pages[digest]

    # Changing, and taking it back

    def relabel(self, trail_id: int, step: int, label: str, at: float) -> None:
        """Give a step (from 0) another label; an empty one takes it away."""
        try:
            label = validate_label(label)
        except ValueError as error:
            raise UsageError(f"Trail {trail_id} cannot be relabelled: {error}.") from None
        with self._database.transaction():
            before = self._label(trail_id, step)
            if before != label:
                self._set_label(trail_id, step, label)
                self._note(trail_id, at, "relabel", step, before, label)

    def delete(self, trail_id: int, at: float) -> None:
        """Show a trail no more."""
        with self._database.transaction():
            self._must_exist(trail_id)
            self._database.execute("UPDATE trail SET deleted = 1 WHERE id = ?", (trail_id,))
            self._note(trail_id, at, "delete", None, "", "")

    def undo(self) -> TrailChange | None:
        """Take back the last deletion or relabelling, and tell which; again, the one before it."""
        with self._database.transaction():
            change = next(iter(self._changes("WHERE undone = 0 ORDER BY id DESC LIMIT 1")), None)
            if change is None:
                return None
            if change.kind == "delete":
                self._database.execute("UPDATE trail SET deleted = 0 WHERE id = ?", (change.trail_id,))
            elif change.step is not None:
                self._set_label(change.trail_id, change.step, change.before)
            self._database.execute("UPDATE trail_change SET undone = 1 WHERE id = ?", (change.id,))
        return change

    def history(self) -> list[TrailChange]:
        """All that was done to trails, the last first, with what was taken back."""
        return self._changes("ORDER BY id DESC")

    def _changes(self, condition: str) -> list[TrailChange]:
        sql = f"SELECT id, trail_id, at, kind, step, before, after, undone FROM trail_change {condition}"  # noqa: S608
        rows = self._database.execute(sql).fetchall()
        return [TrailChange(*row) for row in rows]

    def _note(
        self, trail_id: int, at: float, kind: ChangeKind, step: int | None, before: str, after: str
    ) -> None:
        self._database.execute(
            "INSERT INTO trail_change (trail_id, at, kind, step, before, after) VALUES (?, ?, ?, ?, ?, ?)",
            (trail_id, at, kind, step, before, after),
        )

    def _label(self, trail_id: int, step: int) -> str:
        self._must_exist(trail_id)
        sql = "SELECT label FROM trail_step WHERE trail_id = ? AND number = ?"
        row = self._database.execute(sql, (trail_id, step)).fetchone()
        if row is None:
            raise UsageError(f"Trail {trail_id} has no step {step}.")
        return str(row[0])

    def _set_label(self, trail_id: int, step: int, label: str) -> None:
        self._database.execute(
            "UPDATE trail_step SET label = ? WHERE trail_id = ? AND number = ?", (label, trail_id, step)
        )

    def _must_exist(self, trail_id: int) -> None:
        row = self._database.execute("SELECT deleted FROM trail WHERE id = ?", (trail_id,)).fetchone()
        if row is None or row[0]:
            gone = "has been deleted; `undo` brings it back" if row else "is not in this workspace"
            raise UsageError(f"Trail {trail_id} {gone}.")

    def _forget_pages(self) -> None:
        self._database.execute("DELETE FROM taught_page WHERE digest NOT IN (SELECT page FROM trail_step)")


def _step_row(step: Step, digests: PageDigests) -> tuple[str, str | None, str]:
    """A step as it is kept: the digest of its page, its link, its label."""
    link = None if step.link is None else json.dumps(link_to_json(step.link))
    return digests.digest(step.page), link, step.label


def _key(site: str, steps: Iterable[tuple[Any, ...]]) -> tuple[Any, ...]:
    return (site, *map(tuple, steps))
