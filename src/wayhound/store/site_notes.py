"""Notes on the sites of runs that forages and people share: programs of sites, questions, and answers to them."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from wayhound.store.database import Database
from wayhound.store.review import STANDS
from wayhound.trail import GOAL

_ANSWERS = (
    f"SELECT review_answer.id, url, answer, after FROM review_answer JOIN site "  # noqa: S608
    f"ON site.run_id = review_answer.run_id AND site.start = review_answer.site "
    f"WHERE site.id = ? AND {STANDS} ORDER BY review_answer.id"
)
# `"by_script": true` is a key of the link's JSON: in the text of a link its quotes would be escaped.
_BY_SCRIPT = """
SELECT DISTINCT site, step.number - 1, url FROM trail
JOIN trail_step AS step ON step.trail_id = trail.id
JOIN trail_step AS before ON before.trail_id = trail.id AND before.number = step.number - 1
JOIN taught_page ON digest = before.page
WHERE deleted = 0 AND step.link LIKE '%"by_script": true%' ORDER BY 1, 2, 3
"""

_TAUGHT = (
    "SELECT url, label FROM trail JOIN trail_step ON trail_id = trail.id JOIN taught_page ON digest = page "
    "WHERE trail.site = (SELECT start FROM site WHERE id = ?) AND deleted = 0 AND label <> '' AND number = "
    "(SELECT max(number) FROM trail_step AS later WHERE later.trail_id = trail.id) ORDER BY label = 'Goal', trail.id"
)
_WAITING = (
    "SELECT site.run_id, site.start, question.number, url, title, question.probability FROM question "
    "JOIN site ON site.id = question.site_id "
    "JOIN visit ON visit.site_id = question.site_id AND visit.number = question.number "
    "WHERE question.state = 'waiting' AND site.run_id = ? ORDER BY asked_at, question.site_id LIMIT ?"
)
_PROGRAM = "start, purpose, program, edited, run_id, at"


@dataclass(frozen=True, slots=True)
class WaitingQuestion:
    """A page that a person should judge, and the probability that it is a goal."""

    run: int
    site: str
    number: int
    url: str
    title: str
    probability: float


@dataclass(frozen=True, slots=True)
class SiteAnswer:
    """The answer of a person about a page. `after`: visits made when the forage took it into account, if it did."""

    id: int
    url: str
    is_goal: bool
    after: int | None


@dataclass(frozen=True, slots=True)
class KeptProgram:
    """The program of a site for one purpose, as text; `edited` if a person wrote it."""

    start: str
    purpose: str
    program: str
    edited: bool
    run: int
    at: float


@dataclass(frozen=True, slots=True)
class SiteStart:
    """The start of a site's forage: a program as text, and the last answer about other sites of its run."""

    program: str = ""
    last_answer: int = 0  # 0: none


class SiteNoteStore:
    """Programs and questions of the sites of a workspace; `complete` are the sites of which all goals are known."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self.complete = CompleteSites(database)

    # Programs

    def begin(self, site_id: int, purpose: str) -> SiteStart:
        """Return what a site's forage begins with, the same however often it is resumed."""
        return self._database.again(lambda: self._begin(site_id, purpose))

    def _begin(self, site_id: int, purpose: str) -> SiteStart:
        execute = self._database.execute
        with self._database.row_locks():
            start, run_id, program, last_answer, visits = execute(
                "SELECT start, run_id, program, last_answer, visits FROM site WHERE id = ?", (site_id,)
            ).fetchone()
            if program is None:
                kept = None if visits else self.program(start, purpose)
                program = kept.program if kept else ""
            if last_answer is None:
                last_answer = 0 if visits else self.last_answer(run_id, start)
            execute(
                "UPDATE site SET program = ?, last_answer = ? WHERE id = ?", (program, last_answer, site_id)
            )
        return SiteStart(str(program), int(last_answer))

    def program(self, start: str, purpose: str) -> KeptProgram | None:
        return next((kept for kept in self.programs(start) if kept.purpose == purpose), None)

    def programs(self, start: str | None = None) -> list[KeptProgram]:
        """Return the programs of one site or of all, the latest first."""
        sql = f"SELECT {_PROGRAM} FROM site_program WHERE start = ?1 OR ?1 IS NULL ORDER BY at DESC, start"  # noqa: S608
        return [_program(row) for row in self._database.execute(sql, (start,))]

    def learn_program(self, kept: KeptProgram) -> None:
        """Replace the program of a site, unless a person wrote it; an empty one leaves it as it is."""
        if kept.program:
            _write(
                self._database,
                f"INSERT INTO site_program ({_PROGRAM}) VALUES (?, ?, ?, 0, ?, ?) "  # noqa: S608
                "ON CONFLICT (start, purpose) DO UPDATE SET program = excluded.program, run_id = excluded.run_id, "
                "at = excluded.at WHERE site_program.edited = 0",
                (kept.start, kept.purpose, kept.program, kept.run, kept.at),
            )

    def edit_program(self, kept: KeptProgram) -> None:
        """Save the program that a person wrote: no forage changes it."""
        self._database.execute(
            f"INSERT INTO site_program ({_PROGRAM}) VALUES (?, ?, ?, 1, ?, ?) "  # noqa: S608
            "ON CONFLICT (start, purpose) DO UPDATE SET program = excluded.program, edited = 1, "
            "run_id = excluded.run_id, at = excluded.at",
            (kept.start, kept.purpose, kept.program, kept.run, kept.at),
        )

    def forget_program(self, start: str, purpose: str) -> None:
        """Delete a program, so that the next run finds its own way again."""
        self._database.execute("DELETE FROM site_program WHERE start = ? AND purpose = ?", (start, purpose))

    # Questions

    def ask(self, site_id: int, url: str, probability: float, at: float) -> None:
        """Let a question about the last copy of a page wait; one that was asked before is not asked again."""
        _write(
            self._database,
            "INSERT INTO question (site_id, number, probability, asked_at) SELECT site_id, number, ?, ? FROM visit "
            "WHERE site_id = ? AND url = ? AND outcome = 'ok' ON CONFLICT DO NOTHING",
            (probability, at, site_id, url),
        )

    def asked(self, site_id: int) -> dict[str, int]:
        """Return how many questions about a site are in each state."""
        rows = self._database.execute(
            "SELECT state, count(*) FROM question WHERE site_id = ? GROUP BY state", (site_id,)
        )
        return dict(rows.fetchall())

    def waiting(self, run_id: int, limit: int = 100) -> list[WaitingQuestion]:
        """Return the questions of a run that nobody has answered, the oldest first."""
        return [WaitingQuestion(*row) for row in self._database.execute(_WAITING, (run_id, limit))]

    def close(self, run_id: int, site: str, number: int, *, skipped: bool) -> None:
        """Mark a question as answered or skipped. After an answer, a finished site waits to be looked at again."""
        with self._database.transaction():
            [site_id] = self._database.execute(
                "SELECT id FROM site WHERE run_id = ? AND start = ?", (run_id, site)
            ).fetchone()
            self._database.execute(
                "UPDATE question SET state = ? WHERE site_id = ? AND number = ?",
                ("skipped" if skipped else "answered", site_id, number),
            )
            if not skipped:
                _reopen(self._database, run_id, site_id)

    def reopen_if_answered(self, run_id: int, site_id: int) -> None:
        """Let a finished site wait again if an answer came in while it was being finished."""
        if any(answer.after is None for answer in self.answers(site_id)):

            def reopen() -> None:
                with self._database.row_locks():
                    _reopen(self._database, run_id, site_id)

            self._database.again(reopen)

    # Answers

    def answers(self, site_id: int) -> list[SiteAnswer]:
        """Return what people said about pages of a site and still stands, in the order in which they said it."""
        rows = self._database.execute(_ANSWERS, (site_id,))
        return [SiteAnswer(number, url, answer == GOAL, after) for number, url, answer, after in rows]

    def last_answer(self, run_id: int, start: str) -> int:
        """Return the number of the last answer about other sites of a run that still stands; 0 if there is none."""
        sql = f"SELECT coalesce(max(id), 0) FROM review_answer WHERE run_id = ? AND site <> ? AND {STANDS}"  # noqa: S608
        return int(self._database.execute(sql, (run_id, start)).fetchone()[0])

    def answer_trails(self, run_id: int, last_answer: int) -> list[int]:
        """Return the trails that answers of a run became, up to this answer."""
        sql = f"SELECT trail_id FROM review_answer WHERE run_id = ? AND id <= ? AND {STANDS} ORDER BY id"  # noqa: S608
        return [trail for (trail,) in self._database.execute(sql, (run_id, last_answer))]

    def sites_taught(self, run_id: int) -> int:
        """Return how many sites of a run began with answers about others."""
        sql = "SELECT count(*) FROM site WHERE run_id = ? AND last_answer > 0"
        return int(self._database.execute(sql, (run_id,)).fetchone()[0])

    def taught(self, site_id: int) -> dict[str, bool]:
        """Return, by URL, whether trails on this site end there at a goal; a goal outweighs rejections."""
        return {url: label == GOAL for url, label in self._database.execute(_TAUGHT, (site_id,))}

    def pages_by_script(self) -> list[tuple[str, int, str]]:
        """Return the taught pages of which a link was clicked that a script makes: site, clicks from its start, URL."""
        return [(site, depth, url) for site, depth, url in self._database.execute(_BY_SCRIPT)]

    def take_in(self, answers: Iterable[SiteAnswer], visits: int) -> None:
        """Record that a forage took answers into account after so many visits."""
        for answer in answers:
            _write(self._database, "UPDATE review_answer SET after = ? WHERE id = ?", (visits, answer.id))


class CompleteSites:
    """The taught sites of which a person listed all goals."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def lists(self) -> dict[str, tuple[str, ...]]:
        """Return the goals of each taught site of which a person listed all."""
        rows = self._database.execute("SELECT site, goals FROM complete_site ORDER BY site")
        return {site: tuple(json.loads(goals)) for site, goals in rows}

    def add(self, site: str, goals: Iterable[str], at: float) -> None:
        """Record that these are all goals of a taught site."""
        self._database.execute(
            "INSERT INTO complete_site (site, goals, at) VALUES (?, ?, ?) "
            "ON CONFLICT (site) DO UPDATE SET goals = excluded.goals, at = excluded.at",
            (site, json.dumps(sorted(set(goals))), at),
        )

    def remove(self, site: str) -> None:
        self._database.execute("DELETE FROM complete_site WHERE site = ?", (site,))


def _reopen(database: Database, run_id: int, site_id: int) -> None:
    reopened = database.execute(
        "UPDATE site SET state = 'waiting', reason = '' WHERE id = ? AND state = 'done'", (site_id,)
    ).rowcount
    database.execute("UPDATE run SET sites_done = sites_done - ? WHERE id = ?", (reopened, run_id))


def _write(database: Database, sql: str, values: tuple[Any, ...]) -> None:
    """Run a statement that many workers run at once, each for sites of its own, and that may be run twice."""

    def write() -> None:
        with database.row_locks():
            database.execute(sql, values)

    database.again(write)


def _program(row: tuple[Any, ...]) -> KeptProgram:
    start, purpose, program, edited, run_id, at = row
    return KeptProgram(start, purpose, program, bool(edited), run_id, at)
