"""Reviews of runs: pages to ask people about, their answers, and the sites whose goals would change."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from wayhound.store.database import Database
from wayhound.trail import GOAL

STANDS = "answer <> '' AND trail_id IN (SELECT id FROM trail WHERE deleted = 0)"
"""Condition of the rows of `review_answer` that still count: deleting the trail that an answer became takes it back."""

_CANDIDATE = "site, number, url, chances, link_group, stake"
_JUDGED = f"SELECT url, answer FROM review_answer WHERE run_id = ? AND site = ? AND {STANDS} ORDER BY id"  # noqa: S608
_ANSWER = "id, run_id, site, number, url, link_group, answer, chance, worth, trail_id, at"


@dataclass(frozen=True, slots=True)
class KeptCandidate:
    """A visited page that may become a question; see `wayhound.paths.questions.Candidate`."""

    site: str
    number: int
    url: str
    chances: tuple[float, ...]
    group: str
    stake: float


@dataclass(frozen=True, slots=True)
class ReviewAnswer:
    """A person's answer about a page: a label, or an empty one if they could not say."""

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
    """A site on whose visited pages the present model would find other goals."""

    run_id: int
    site: str
    lost: tuple[str, ...]
    gained: tuple[str, ...]


class ReviewStore:
    """Candidates, answers and changes of the runs of a workspace."""

    def __init__(self, database: Database) -> None:
        self._database = database

    # Candidates

    def replace_candidates(self, run_id: int, candidates: Iterable[KeptCandidate]) -> None:
        rows = list(candidates)
        with self._database.transaction():
            self._database.execute("DELETE FROM review_candidate WHERE run_id = ?", (run_id,))
            for candidate in rows:
                self._database.execute(
                    f"INSERT INTO review_candidate (run_id, {_CANDIDATE}) VALUES (?, ?, ?, ?, ?, ?, ?)",  # noqa: S608
                    (
                        run_id,
                        candidate.site,
                        candidate.number,
                        candidate.url,
                        json.dumps(candidate.chances),
                        candidate.group,
                        candidate.stake,
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
        """Return the answers of a run in the order in which they were given."""
        sql = f"SELECT {_ANSWER} FROM review_answer WHERE run_id = ? ORDER BY id"  # noqa: S608
        return [_answer(row) for row in self._database.execute(sql, (run_id,))]

    def judged(self, run_id: int, site: str) -> dict[str, bool]:
        """Return, by URL, whether a person called a page of a site a goal, by the answers that still stand."""
        rows = self._database.execute(_JUDGED, (run_id, site))
        return {url: answer == GOAL for url, answer in rows}

    def answer_of(self, trail_id: int) -> ReviewAnswer | None:
        """Return the answer that became a trail; None if the trail came from elsewhere."""
        sql = f"SELECT {_ANSWER} FROM review_answer WHERE trail_id = ?"  # noqa: S608
        row = self._database.execute(sql, (trail_id,)).fetchone()
        return _answer(row) if row else None

    def delete_answers(self, answers: Iterable[ReviewAnswer]) -> None:
        """Delete answers; deleting their trails is up to the caller."""
        with self._database.transaction():
            for answer in answers:
                self._database.execute("DELETE FROM review_answer WHERE id = ?", (answer.id,))

    def answered_since(self, at: float) -> int:
        """Return how many answers became trails after a time: what a model trained then has not learned."""
        sql = "SELECT count(*) FROM review_answer WHERE at > ? AND trail_id IS NOT NULL"
        return int(self._database.execute(sql, (at,)).fetchone()[0])

    # Changes

    def replace_changes(self, run_id: int, changes: Iterable[SiteChange]) -> None:
        with self._database.transaction():
            self._database.execute("DELETE FROM site_change WHERE run_id = ?", (run_id,))
            for change in changes:
                self._database.execute(
                    "INSERT INTO site_change (run_id, site, lost, gained) VALUES (?, ?, ?, ?)",
                    (run_id, change.site, json.dumps(change.lost), json.dumps(change.gained)),
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
    return ReviewAnswer(
        run_id=run_id,
        site=site,
        number=number,
        url=url,
        group=group,
        answer=answer,
        chance=chance,
        worth=worth,
        trail_id=trail_id,
        at=at,
        id=answer_id,
    )
