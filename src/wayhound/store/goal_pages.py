"""Goals of all runs by URL, and the records that were made from them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from wayhound.record import Record
from wayhound.store.database import Database
from wayhound.store.records import RecordStore
from wayhound.store.review import STANDS
from wayhound.store.visits import archive_ref
from wayhound.visit import ArchiveRef

Key = tuple[str, str]
"""Kind and id of a record."""

# Every visit of a URL that some run took for a goal, or that a person called one. `INDEXED BY` keeps SQLite from
# scanning all visits: the partial indexes hold the few rows that matter.
_WANTED = (
    "SELECT url FROM visit INDEXED BY visit_tier WHERE tier <> '' "
    "UNION SELECT url FROM review_answer WHERE answer = 'Goal'"
)
_COLUMNS = (
    "run_id, site.id, start, visit.number, visit.url, outcome, at, tier, coalesce(probability, goal), label, title, "
    "content_type, robots, "
    "archive_file, archive_offset, archive_length, features"
)
_VISITS = " UNION ALL ".join(
    f"SELECT {_COLUMNS} FROM ({_WANTED}) AS wanted "  # noqa: S608
    f"CROSS JOIN visit INDEXED BY {index} ON visit.url = wanted.url AND {condition} "
    "CROSS JOIN site ON site.id = visit.site_id "
    "LEFT JOIN goal_reason ON goal_reason.site_id = visit.site_id AND goal_reason.number = visit.number"
    for index, condition in (
        ("visit_page", "outcome IN ('ok', 'duplicate')"),
        ("visit_moved", "outcome IN ('redirect', 'http_404', 'http_410')"),
    )
)
_ANSWERS = f"SELECT run_id, site, number, url, answer FROM review_answer WHERE {STANDS} ORDER BY id"  # noqa: S608
_PUT = (
    "INSERT INTO goal_page (id, url, state, first_seen, made) VALUES (?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE "
    "SET state = excluded.state, first_seen = excluded.first_seen, made = excluded.made"
)


@dataclass(frozen=True, slots=True)
class GoalVisit:
    """A conclusive visit of a URL that is or was a goal. `tier` is how certain the forage was; empty: not a goal."""

    run: int
    site_id: int
    site: str
    number: int
    url: str
    outcome: str
    at: float
    tier: str
    probability: float
    label: str
    title: str
    content_type: str
    robots: str
    archived: ArchiveRef | None
    why: str  # JSON array of [feature, weight]


@dataclass(frozen=True, slots=True)
class GoalAnswer:
    """A person's answer about a visited page in a review: a label."""

    run: int
    site: str
    number: int
    url: str
    answer: str


@dataclass(frozen=True, slots=True)
class GoalPage:
    """A goal page that has a record, and what its record was made from."""

    id: str
    url: str
    state: str
    first_seen: float
    made: tuple[Key, ...] = ()


class GoalPageStore:
    """Reads the goals of all runs, and keeps which of them are records."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._records = RecordStore(database)

    def version(self) -> tuple[int | str, int]:
        """Return a value that changes when others have changed the database, and one for this connection."""
        return self._database.version()

    def visits(self) -> Iterator[tuple[str, list[GoalVisit]]]:
        """Yield each URL that was ever a goal with its conclusive visits, over all runs."""
        rows = self._database.stream(f"SELECT * FROM ({_VISITS}) AS visited ORDER BY url, run_id, number")  # noqa: S608
        for url, group in groupby(map(_visit, rows), lambda visit: visit.url):
            yield url, list(group)

    def answers(self) -> list[GoalAnswer]:
        """Return the answers of reviews that still stand, oldest first."""
        return [GoalAnswer(*row) for row in self._database.execute(_ANSWERS)]

    def documents(self) -> set[tuple[int, int]]:
        """Return site id and number of the visits whose files were read as papers or documents."""
        rows = self._database.execute(
            "SELECT DISTINCT site_id, visit FROM document_source WHERE site_id > 0 AND visit IS NOT NULL"
        )
        return set(rows.fetchall())

    def pages(self) -> dict[str, GoalPage]:
        rows = self._database.execute("SELECT id, url, state, first_seen, made FROM goal_page ORDER BY id")
        pages = (
            GoalPage(
                page_id,
                url,
                state,
                first_seen,
                tuple((kind, record_id) for kind, record_id in json.loads(made)),
            )
            for page_id, url, state, first_seen, made in rows
        )
        return {page.id: page for page in pages}

    def save(self, pages: Iterable[tuple[GoalPage, list[Record]]]) -> None:
        """Save goal pages with their records, all in one transaction; records that a page no longer has go."""
        with self._database.transaction():
            for page, records in pages:
                self._delete_made(page.id, keep={(record.kind, record.id) for record in records})
                for record in records:
                    self._records.put(record)
                made = json.dumps(page.made, ensure_ascii=False)
                self._database.execute(_PUT, (page.id, page.url, page.state, page.first_seen, made))

    def delete(self, kind: str, pages: Iterable[GoalPage]) -> None:
        """Remove goal pages with their records, those of extractors included."""
        with self._database.transaction():
            for page in pages:
                self._delete_made(page.id, keep=set())
                self._records.delete(kind, page.id)
                self._database.execute("DELETE FROM goal_page WHERE id = ?", (page.id,))

    def _delete_made(self, page_id: str, keep: set[Key]) -> None:
        row = self._database.execute("SELECT made FROM goal_page WHERE id = ?", (page_id,)).fetchone()
        for kind, record_id in json.loads(row[0]) if row else ():
            if (kind, record_id) not in keep:
                self._records.delete(kind, record_id)


def _visit(row: tuple[Any, ...]) -> GoalVisit:
    run, site_id, site, number, url, outcome, at, tier, *rest, file, offset, length, why = row
    probability, label, title, content_type, robots = rest
    return GoalVisit(
        run=run,
        site_id=site_id,
        site=site,
        number=number,
        url=url,
        outcome=outcome,
        at=at,
        tier=tier,
        probability=probability,
        label=label,
        title=title,
        content_type=content_type,
        robots=robots,
        archived=archive_ref(file, offset, length),
        why=why or "[]",
    )
