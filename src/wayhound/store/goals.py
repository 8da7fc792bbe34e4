"""The ways by which runs came to a page."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from wayhound.site import Site
from wayhound.store.database import Database
from wayhound.store.forage import VISIT_COLUMNS, visit_from
from wayhound.visit import ArchiveRef, Visit

_STEPS_REMEMBERED = 10_000
_FROM = (
    "FROM site CROSS JOIN visit ON visit.site_id = site.id "
    "LEFT JOIN goal_reason ON goal_reason.site_id = site.id AND goal_reason.number = visit.number "
)
_SELECT = (
    "SELECT run_id, site.id, start, visit.number, url, title, goal, score, at, robots, features "
    f"{_FROM} WHERE is_goal = 1"
)
_SAYS = "(" + " OR ".join(f"{name} LIKE ? ESCAPE '!'" for name in ("title", "url", "start")) + ")"


@dataclass(frozen=True, slots=True)
class PathStep:
    """A page on the way: the link that led to it, and what the model made of link and page."""

    url: str
    title: str
    link: str  # its text; empty for the start page
    label: str
    goal: float  # probability that it is a goal page
    score: float  # of the link, when it was chosen


@dataclass(frozen=True, slots=True)
class FoundGoal:
    """A goal page of a run. `path` leads from the start page to the goal itself."""

    run: int
    site: str
    number: int
    url: str
    title: str
    probability: float
    score: float
    at: float
    robots: str  # what its page asks of robots
    path: tuple[PathStep, ...]
    why: tuple[tuple[str, float], ...]

    @property
    def clicks(self) -> str:
        """The texts of the links clicked: `Our people › Publications`."""
        return " › ".join(step.link or "(no text)" for step in self.path[1:])

    @property
    def labels(self) -> str:
        """The labels of the pages on the way, a dot where there is none."""
        return " › ".join(step.label or "·" for step in self.path)


class GoalStore:
    """Goals as a report needs them; read only."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def goals(self, run_id: int | None = None) -> Iterator[FoundGoal]:
        """The goals of a run or of all, by site, in the order in which they were found."""
        sql = f"{_SELECT} AND (?1 IS NULL OR run_id = ?1) ORDER BY site.id, visit.number"
        return self._goals(sql, (run_id,))

    def page(
        self, run_id: int, said: str = "", *, unsure_first: bool = False, limit: int, offset: int
    ) -> list[FoundGoal]:
        """Some goals of a run, those with `said` in their title, address or site; the least sure first if asked."""
        order = "goal, site.id, visit.number" if unsure_first else "site.id, visit.number"
        sql = f"{_SELECT} AND run_id = ? AND {_SAYS} ORDER BY {order} LIMIT ? OFFSET ?"
        return list(self._goals(sql, (run_id, *3 * [_pattern(said)], limit, offset)))

    def count(self, run_id: int, said: str = "") -> int:
        """How many goals of a run have `said` in their title, address or site."""
        sql = f"SELECT COUNT(*) {_FROM} WHERE is_goal = 1 AND run_id = ? AND {_SAYS}"
        return int(self._database.execute(sql, (run_id, *3 * [_pattern(said)])).fetchone()[0])

    def at(self, url: str) -> list[FoundGoal]:
        """The goals at this URL, of the last run first."""
        return list(self._goals(f"{_SELECT} AND url = ? ORDER BY run_id DESC, visit.number", (url,)))

    def _goals(self, sql: str, values: tuple[Any, ...]) -> Iterator[FoundGoal]:
        path = path_finder(self._database)
        for row in self._database.stream(sql, values):
            run, site_id, start, number, url, title, goal, score, at, robots, features = row
            why = tuple((feature, weight) for feature, weight in json.loads(features or "[]"))
            way = path(site_id, number)
            yield FoundGoal(run, start, number, url, title, goal, score, at, robots, way, why)


def _pattern(said: str) -> str:
    """What finds these words as they are, anywhere in a text."""
    plain = said.replace("!", "!!").replace("%", "!%").replace("_", "!_")
    return f"%{plain}%"


def path_finder(database: Database) -> Callable[[int, int], tuple[PathStep, ...]]:
    """Finds the pages that led to a visit, remembering only the steps that were needed last.

    A redirect is no step of its own: the page behind it stands for both, with the link that led there.
    """

    @lru_cache(_STEPS_REMEMBERED)
    def step(site_id: int, number: int) -> tuple[int | None, PathStep | None]:
        parent, outcome, *shown = database.execute(
            "SELECT parent, outcome, url, title, link_text, label, goal, score FROM visit "
            "WHERE site_id = ? AND number = ?",
            (site_id, number),
        ).fetchone()
        url, title, text, label, goal, score = shown
        found = PathStep(url, title, " ".join(text.split()), label, goal, score)
        return parent, None if outcome == "redirect" else found

    def path(site_id: int, number: int | None) -> tuple[PathStep, ...]:
        steps: list[PathStep] = []
        while number is not None:
            number, found = step(site_id, number)
            steps += [] if found is None else [found]
        return tuple(reversed(steps))

    return path


LONGEST = 100
_SITE = (
    "SELECT site.id FROM site JOIN visit ON visit.site_id = site.id AND visit.number = ?1 "
    "WHERE site.start = ?2 AND site.run_id = coalesce(?3, site.run_id) ORDER BY site.run_id DESC LIMIT 1"
)
_VISIT = (
    "SELECT url, title, link_text, link_kind, at, parent, content_type, archive_file, archive_offset, archive_length "
    "FROM visit WHERE site_id = ? AND number = ?"
)


@dataclass(frozen=True, slots=True)
class Click:
    """A page on the way, and the words of the link that led to it."""

    url: str
    title: str
    link_text: str
    link_kind: str
    at: float
    content_type: str = ""
    archived: ArchiveRef | None = None


_LAST = (
    "SELECT site_id, number FROM visit "
    "WHERE url = ? AND outcome = 'ok' AND archive_file IS NOT NULL ORDER BY at DESC LIMIT 1"
)
_ONE = f"SELECT {VISIT_COLUMNS} FROM visit WHERE site_id = ? AND number = ?"  # noqa: S608


class ClickPaths:
    """Paths from the start page of a site to its visits; read only."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def to_url(self, url: str) -> tuple[Site, list[Visit]] | None:
        """Return the site and the visits, redirects included, that led to the last copy of a page.

        None if no visit archived this URL.
        """
        latest = self._database.execute(_LAST, (url,)).fetchone()
        if latest is None:
            return None
        site_id, number = latest
        start, hosts = self._database.execute(
            "SELECT start, hosts FROM site WHERE id = ?", (site_id,)
        ).fetchone()
        visits: list[Visit] = []
        while number is not None:
            visits.append(visit_from(start, self._database.execute(_ONE, (site_id, number)).fetchone()))
            number = visits[-1].parent
        return Site(start, tuple(json.loads(hosts))), visits[::-1]

    def to_visit(self, site: str, number: int, run: int | None = None) -> list[Click]:
        """Return the pages from a site's start page to a visit of a run, by default the newest that has it.

        Empty if there is no such visit.
        """
        row = self._database.execute(_SITE, (number, site, run)).fetchone()
        path: list[Click] = []
        at: int | None = number
        while row and at is not None and len(path) < LONGEST:
            *shown, at, content_type, file, offset, length = self._database.execute(
                _VISIT, (row[0], at)
            ).fetchone()
            url, title, link_text, link_kind, when = shown
            archived = None if file is None else ArchiveRef(file, offset, length)
            path.append(Click(url, title, link_text, link_kind, when, content_type, archived))
        return path[::-1]
