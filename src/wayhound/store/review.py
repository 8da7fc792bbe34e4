"""Keeps what people can be asked about visited pages, what they answered, and what that would change."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from wayhound.store.database import Database

_CANDIDATE = "site, number, url, chances, link_group, stake"
_ANSWER = "id, run_id, site, number, url, link_group, answer, chance, worth, trail_id, at"


@dataclass(frozen=True, slots=True)
class KeptCandidate:
    """A visited page that could be asked about; see `wayhound.paths.questions.Candidate`."""

    site: str
    number: int
    url: str
    chances: tuple[float, ...]
    group: str
    stake: float


@dataclass(frozen=True, slots=True)
class ReviewAnswer:
    """What a person said of a page: a label, or nothing if they could not say."""

    run_id: int
    site: str
    number: int
    url: str
    group: str
    answer: str
    chance: float
    worth: float
    trail_id: int | None
    at: float
    id: int = 0


@dataclass(frozen=True, slots=True)
class SiteChange:
    """A site whose goals would be others by the model of now, as far as its visited pages tell."""

    run_id: int
    site: str
    lost: tuple[str, ...]
    gained: tuple[str, ...]


class ReviewStore:
    """Questions, answers and changes of the runs of a workspace."""

    def __init__(self, database: Database) -> None:
        self._database = database

    # Candidates

    def replace_candidates(self, run_id: int, candidates: Iterable[KeptCandidate]) -> None:
        waiting = list(candidates)
        with self._database.transaction():
            self._database.execute("DELETE FROM review_candidate WHERE run_id = ?", (run_id,))
            for each in waiting:
                self._database.execute(
                    f"INSERT INTO review_candidate (run_id, {_CANDIDATE}) VALUES (?, ?, ?, ?, ?, ?, ?)",  # noqa: S608
                    (
                        run_id,
                        each.site,
                        each.number,
                        each.url,
                        json.dumps(each.chances),
                        each.group,
                        each.stake,
                    ),
                )

    def candidates(self, run_id: int) -> list[KeptCandidate]:
        sql = f"SELECT {_CANDIDATE} FROM review_candidate WHERE run_id = ? ORDER BY site, number"  # noqa: S608
        return [_candidate(row) for row in self._database.execute(sql, (run_id,))]

    # Answers

    def add_answer(self, answer: ReviewAnswer) -> int:
        sql = (
            "INSERT INTO review_answer (run_id, site, number, url, link_group, answer, chance, worth, trail_id, at) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING id"
        )
        values = (
            answer.run_id, answer.site, answer.number, answer.url, answer.group, answer.answer,
            answer.chance, answer.worth, answer.trail_id, answer.at,
        )  # fmt: skip
        return int(self._database.execute(sql, values).fetchone()[0])

    def answers(self, run_id: int) -> list[ReviewAnswer]:
        """In the order in which they were given."""
        sql = f"SELECT {_ANSWER} FROM review_answer WHERE run_id = ? ORDER BY id"  # noqa: S608
        return [_answer(row) for row in self._database.execute(sql, (run_id,))]

    def answer_of(self, trail_id: int) -> ReviewAnswer | None:
        """The answer that became a trail."""
        sql = f"SELECT {_ANSWER} FROM review_answer WHERE trail_id = ?"  # noqa: S608
        row = self._database.execute(sql, (trail_id,)).fetchone()
        return _answer(row) if row else None

    def forget_answers(self, answers: Iterable[ReviewAnswer]) -> None:
        """Take them back; their trails are the caller's to take away."""
        with self._database.transaction():
            for each in answers:
                self._database.execute("DELETE FROM review_answer WHERE id = ?", (each.id,))

    def answered_since(self, at: float) -> int:
        """How many answers became trails since then: what a model trained then does not know."""
        sql = "SELECT count(*) FROM review_answer WHERE at > ? AND trail_id IS NOT NULL"
        return int(self._database.execute(sql, (at,)).fetchone()[0])

    # Changes

    def replace_changes(self, run_id: int, changes: Iterable[SiteChange]) -> None:
        with self._database.transaction():
            self._database.execute("DELETE FROM site_change WHERE run_id = ?", (run_id,))
            for each in changes:
                self._database.execute(
                    "INSERT INTO site_change (run_id, site, lost, gained) VALUES (?, ?, ?, ?)",
                    (run_id, each.site, json.dumps(each.lost), json.dumps(each.gained)),
                )

    def changes(self, run_id: int) -> list[SiteChange]:
        sql = "SELECT site, lost, gained FROM site_change WHERE run_id = ? ORDER BY site"
        return [
            SiteChange(run_id, site, tuple(json.loads(lost)), tuple(json.loads(gained)))
            for site, lost, gained in self._database.execute(sql, (run_id,))
        ]


def _candidate(row: tuple[Any, ...]) -> KeptCandidate:
    site, number, url, chances, group, stake = row
    return KeptCandidate(site, number, url, tuple(json.loads(chances)), group, stake)


def _answer(row: tuple[Any, ...]) -> ReviewAnswer:
    answer_id, run_id, site, number, url, group, answer, chance, worth, trail_id, at = row
    return ReviewAnswer(run_id, site, number, url, group, answer, chance, worth, trail_id, at, answer_id)
