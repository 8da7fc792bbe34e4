"""Submissions by visitors of the portal, and the operator's decisions on them."""

from __future__ import annotations

import json
import secrets
from dataclasses import dataclass
from typing import Any, Literal, get_args

from wayhound.errors import NotInWorkspace, UsageError
from wayhound.store.database import Database

SubmissionKind = Literal["site", "paper", "removal", "correction"]
SubmissionState = Literal["waiting", "approved", "rejected"]
KINDS: tuple[SubmissionKind, ...] = get_args(SubmissionKind)

MOST_WAITING = 10_000
"""Limit on undecided submissions, so that strangers cannot fill the disk."""

_COLUMNS = (
    "kind, url, record_kind, record_id, field, texts, note, contact, id, token, state, reply, at, decided_at"
)
_SELECT = f"SELECT {_COLUMNS} FROM submission"  # noqa: S608
_INSERT = (
    "INSERT INTO submission (kind, url, record_kind, record_id, field, texts, note, contact, token, at) "
    "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)


@dataclass(frozen=True, slots=True)
class Submission:
    """A visitor's request. For a correction, `texts` are the right values of `field`."""

    kind: SubmissionKind
    url: str = ""
    record_kind: str = ""
    record_id: str = ""
    field: str = ""
    texts: tuple[str, ...] = ()
    note: str = ""
    contact: str = ""
    id: int = 0
    token: str = ""
    state: SubmissionState = "waiting"
    reply: str = ""
    at: float = 0.0
    decided_at: float | None = None


class SubmissionStore:
    """Submissions by number, and by the token that was given to their senders."""

    def __init__(self, database: Database, most_waiting: int = MOST_WAITING) -> None:
        self._database = database
        self._most_waiting = most_waiting

    def add(self, sent: Submission, now: float) -> str:
        """Save a submission and return the token by which its sender can look it up.

        An equal one that is undecided is returned instead. Raises UsageError if too many are undecided.
        """
        values = (sent.kind, sent.url, sent.record_kind, sent.record_id, sent.field, _texts(sent.texts))
        with self._database.transaction():
            equal = self._database.execute(
                "SELECT token FROM submission WHERE state = 'waiting' AND (kind, url, record_kind, "
                "record_id, field, texts) = (?, ?, ?, ?, ?, ?)",
                values,
            ).fetchone()
            if equal:
                return str(equal[0])
            if self.waiting() >= self._most_waiting:
                raise UsageError(
                    "Too many submissions are waiting for a decision. Please try again another day."
                )
            token = secrets.token_urlsafe(16)
            self._database.execute(_INSERT, (*values, sent.note, sent.contact, token, now))
        return token

    def move_waiting_to(self, other: SubmissionStore) -> int:
        """Move undecided submissions to another store, where their tokens stay valid. Return how many were moved."""
        moved = self.all("waiting")
        with other._database.transaction():
            for sent in moved:
                values = (
                    sent.kind,
                    sent.url,
                    sent.record_kind,
                    sent.record_id,
                    sent.field,
                    _texts(sent.texts),
                )
                if other.by_token(sent.token) is None:  # else a move was interrupted
                    other._database.execute(_INSERT, (*values, sent.note, sent.contact, sent.token, sent.at))
        with self._database.transaction():
            for sent in moved:
                self._database.execute("DELETE FROM submission WHERE id = ?", (sent.id,))
        return len(moved)

    def close(self) -> None:
        self._database.close()

    def waiting(self) -> int:
        sql = "SELECT count(*) FROM submission WHERE state = 'waiting'"
        return int(self._database.execute(sql).fetchone()[0])

    def by_token(self, token: str) -> Submission | None:
        row = self._database.execute(f"{_SELECT} WHERE token = ?", (token,)).fetchone()
        return _submission(row) if row else None

    def get(self, number: int) -> Submission:
        row = self._database.execute(f"{_SELECT} WHERE id = ?", (number,)).fetchone()
        if row is None:
            raise NotInWorkspace(
                f"There is no submission {number} in this workspace.", next_step="submissions list"
            )
        return _submission(row)

    def all(self, state: SubmissionState | None = None) -> list[Submission]:
        """Return all submissions, or those in a state, oldest first."""
        where, values = ("", ()) if state is None else (" WHERE state = ?", (state,))
        return [_submission(row) for row in self._database.execute(f"{_SELECT}{where} ORDER BY id", values)]

    def corrections(self, record_kind: str) -> dict[str, dict[str, tuple[str, ...]]]:
        """Return the approved corrections of a kind of records, by record id and field; the last one counts."""
        rows = self._database.execute(
            "SELECT record_id, field, texts FROM submission WHERE state = 'approved' AND kind = 'correction' "
            "AND record_kind = ? ORDER BY decided_at, id",
            (record_kind,),
        )
        corrections: dict[str, dict[str, tuple[str, ...]]] = {}
        for record_id, field, texts in rows:
            corrections.setdefault(record_id, {})[field] = tuple(json.loads(texts))
        return corrections

    def decide(self, number: int, state: SubmissionState, reply: str, now: float) -> Submission:
        """Save the operator's decision. Raises UsageError if there is one already."""
        with self._database.transaction():
            changed = self._database.execute(
                "UPDATE submission SET state = ?, reply = ?, decided_at = ? WHERE id = ? AND state = 'waiting'",
                (state, reply, now, number),
            ).rowcount
        submission = self.get(number)
        if not changed:
            raise UsageError(f"Submission {number} has been {submission.state} already.")
        return submission

    def withhold(self, kind: str, record_id: str, number: int | None = None) -> None:
        """Delete a record, and keep it from being saved again."""
        with self._database.transaction():
            self._database.execute(
                "INSERT INTO withheld (kind, id, submission) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
                (kind, record_id, number),
            )
            self._database.execute("DELETE FROM record WHERE kind = ? AND id = ?", (kind, record_id))

    def withheld(self, kind: str) -> set[str]:
        """Return the ids of a kind that must not be shown."""
        return {row[0] for row in self._database.execute("SELECT id FROM withheld WHERE kind = ?", (kind,))}

    def is_withheld(self, kind: str, record_id: str) -> bool:
        sql = "SELECT 1 FROM withheld WHERE kind = ? AND id = ?"
        return self._database.execute(sql, (kind, record_id)).fetchone() is not None


def _texts(texts: tuple[str, ...]) -> str:
    return json.dumps(list(texts), ensure_ascii=False)


def _submission(row: tuple[Any, ...]) -> Submission:
    values = list(row)
    values[5] = tuple(json.loads(values[5]))  # texts
    return Submission(*values)
