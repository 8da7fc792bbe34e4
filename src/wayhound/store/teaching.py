"""Teaching sessions, saved while they happen, so that nothing is lost if the browser or Wayhound is killed."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from wayhound.store.database import Database
from wayhound.store.visits import archive_ref
from wayhound.visit import ArchiveRef

_SESSION_COLUMNS = "id, way, sites, taught_by, began_at, ended_at, keywords"
_PAGE_COLUMNS = (
    "number, url, title, at, status, content_type, digest, seen_file, seen_offset, seen_length, "
    "original_file, original_offset, original_length, hops"
)

_REPLACE_PAGE = ", ".join(f"{name} = excluded.{name}" for name in _PAGE_COLUMNS.split(", ")[1:])


@dataclass(frozen=True, slots=True)
class TeachSession:
    """A teaching session; `ended_at` is None while it can be resumed."""

    id: int
    way: str  # trails or free
    sites: tuple[str, ...]
    taught_by: str
    began_at: float
    ended_at: float | None = None
    keywords: tuple[str, ...] = ()  # of the topic, as the teacher named them


@dataclass(frozen=True, slots=True)
class TeachPage:
    """A page of a session, with its archive positions: as it was seen in the browser, and as it was sent."""

    number: int
    url: str
    at: float
    title: str = ""
    status: int | None = None
    content_type: str = ""
    digest: str = ""
    seen: ArchiveRef | None = None
    original: ArchiveRef | None = None
    hops: int | None = None


class TeachingStore:
    """Sessions with their events and pages. Every method has committed its change when it returns."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def begin(self, way: str, sites: Iterable[str], taught_by: str, now: float) -> TeachSession:
        """Start a session that is taught by trails or by free browsing (`way`)."""
        starts = tuple(sites)
        (number,) = self._database.execute(
            "INSERT INTO teach_session (way, sites, taught_by, began_at) VALUES (?, ?, ?, ?) RETURNING id",
            (way, json.dumps(starts), taught_by, now),
        ).fetchone()
        return TeachSession(number, way, starts, taught_by, now)

    def end(self, session: int, now: float) -> None:
        self._database.execute("UPDATE teach_session SET ended_at = ? WHERE id = ?", (now, session))

    def set_keywords(self, session: int, keywords: Iterable[str]) -> None:
        self._database.execute(
            "UPDATE teach_session SET keywords = ? WHERE id = ?", (json.dumps(list(keywords)), session)
        )

    def keywords(self) -> tuple[str, ...]:
        """Return the keywords of all submitted sessions, each once, the latest session first."""
        submitted = (session for session in self.sessions() if session.ended_at is not None)
        return tuple(dict.fromkeys(word for session in submitted for word in session.keywords))

    def sessions(self) -> list[TeachSession]:
        """Return all sessions, the latest first."""
        query = f"SELECT {_SESSION_COLUMNS} FROM teach_session ORDER BY id DESC"  # noqa: S608
        return [_session(row) for row in self._database.execute(query)]

    def unfinished(self) -> TeachSession | None:
        """Return the latest session that has not ended; None if there is none."""
        return next((session for session in self.sessions() if session.ended_at is None), None)

    def add_event(self, session: int, at: float, kind: str, body: Mapping[str, Any]) -> None:
        self._database.execute(
            "INSERT INTO teach_event (session_id, number, at, kind, body) SELECT ?1, "
            "(SELECT count(*) FROM teach_event WHERE session_id = ?1), ?2, ?3, ?4",
            (session, at, kind, json.dumps(body)),
        )

    def events(self, session: int) -> list[tuple[str, dict[str, Any]]]:
        rows = self._database.execute(
            "SELECT kind, body FROM teach_event WHERE session_id = ? ORDER BY number", (session,)
        )
        return [(kind, json.loads(body)) for kind, body in rows]

    def save_page(self, session: int, page: TeachPage) -> None:
        """Add a page, or replace it."""
        columns = f"session_id, {_PAGE_COLUMNS}"
        marks = ", ".join("?" * (columns.count(",") + 1))
        self._database.execute(
            f"INSERT INTO teach_page ({columns}) VALUES ({marks}) "  # noqa: S608
            f"ON CONFLICT (session_id, number) DO UPDATE SET {_REPLACE_PAGE}",
            (session, *_page_row(page)),
        )

    def pages(self, session: int) -> list[TeachPage]:
        query = f"SELECT {_PAGE_COLUMNS} FROM teach_page WHERE session_id = ? ORDER BY number"  # noqa: S608
        return [_page(row) for row in self._database.execute(query, (session,))]

    def link_trail(self, session: int, page: int, trail: int) -> None:
        self._database.execute(
            "INSERT INTO teach_trail (session_id, page, trail_id) VALUES (?, ?, ?) "
            "ON CONFLICT (session_id, page) DO UPDATE SET trail_id = excluded.trail_id",
            (session, page, trail),
        )

    def delete_trail(self, session: int, page: int) -> None:
        """Delete the trail that ends at a page, with its pages that no other trail has.

        Not a change that can be undone: the session itself was changed.
        """
        with self._database.transaction():
            for trail in self._column("SELECT trail_id FROM teach_trail WHERE session_id = ? AND page = ?",
                                      session, page):  # fmt: skip
                digests = self._column("SELECT page FROM trail_step WHERE trail_id = ?", trail)
                self._database.execute("DELETE FROM trail WHERE id = ?", (trail,))
                for digest in digests:
                    self._delete_page(digest)

    def _delete_page(self, digest: str) -> None:
        """Delete a page unless another trail has it."""
        self._database.execute(
            "DELETE FROM taught_page WHERE digest = ?1 "
            "AND NOT EXISTS (SELECT 1 FROM trail_step WHERE trail_step.page = ?1)",
            (digest,),
        )

    def _column(self, query: str, *values: Any) -> list[Any]:
        return [row[0] for row in self._database.execute(query, values).fetchall()]

    def trails(self, session: int) -> dict[int, int]:
        """Return the trail of each page of a session where one ends."""
        rows = self._database.execute(
            "SELECT page, trail_id FROM teach_trail WHERE session_id = ?", (session,)
        )
        return dict(rows.fetchall())

    def save_graph(self, session: int, links: Iterable[tuple[str, str]], hops: Mapping[str, int]) -> None:
        """Replace the web graph of a free session, and the hops to the next goal of each URL."""
        with self._database.transaction():
            self._database.execute("DELETE FROM teach_link WHERE session_id = ?", (session,))
            for source, target in links:
                self._database.execute(
                    "INSERT INTO teach_link (session_id, source, target) VALUES (?, ?, ?) "
                    "ON CONFLICT DO NOTHING",
                    (session, source, target),
                )
            self._database.execute("UPDATE teach_page SET hops = NULL WHERE session_id = ?", (session,))
            for url, count in hops.items():
                self._database.execute(
                    "UPDATE teach_page SET hops = ? WHERE session_id = ? AND url = ?", (count, session, url)
                )

    def links(self, session: int) -> list[tuple[str, str]]:
        rows = self._database.execute(
            "SELECT source, target FROM teach_link WHERE session_id = ? ORDER BY source, target", (session,)
        )
        return rows.fetchall()


def _session(row: tuple[Any, ...]) -> TeachSession:
    number, way, sites, taught_by, began_at, ended_at, keywords = row
    return TeachSession(
        number,
        way,
        tuple(json.loads(sites)),
        taught_by,
        began_at,
        ended_at,
        keywords=tuple(json.loads(keywords)),
    )


def _page_row(page: TeachPage) -> tuple[Any, ...]:
    return (
        page.number, page.url, page.title, page.at, page.status, page.content_type, page.digest,
        *_ref_row(page.seen), *_ref_row(page.original), page.hops,
    )  # fmt: skip


def _ref_row(ref: ArchiveRef | None) -> tuple[Any, Any, Any]:
    return (ref.file, ref.offset, ref.length) if ref else (None, None, None)


def _page(row: tuple[Any, ...]) -> TeachPage:
    number, url, title, at, status, content_type, digest, *refs, hops = row
    return TeachPage(
        number=number,
        url=url,
        at=at,
        title=title,
        status=status,
        content_type=content_type,
        digest=digest,
        seen=archive_ref(*refs[:3]),
        original=archive_ref(*refs[3:]),
        hops=hops,
    )
