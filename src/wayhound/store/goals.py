"""Goals of runs with the paths that led to them, and the goals of two runs side by side; read only."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from wayhound.store.database import Database
from wayhound.store.review import STANDS
from wayhound.store.visits import archive_ref, path_reader
from wayhound.visit import ArchiveRef

_LAST_ANSWERS = (
    "(SELECT run_id, site, number, answer FROM review_answer WHERE id IN (SELECT max(id) FROM review_answer "  # noqa: S608
    f"WHERE {STANDS} GROUP BY run_id, site, number))"
)
_FROM = (
    "FROM site CROSS JOIN visit ON visit.site_id = site.id "
    "LEFT JOIN goal_reason ON goal_reason.site_id = site.id AND goal_reason.number = visit.number "
    f"LEFT JOIN {_LAST_ANSWERS} AS review ON review.run_id = site.run_id AND review.site = start "
    "AND review.number = visit.number "
    "WHERE (tier <> '' OR answer = 'Goal')"
)
_TIER = "CASE WHEN answer = 'Goal' THEN 'confirmed' WHEN answer IS NOT NULL THEN 'rejected' ELSE tier END"
_ADDRESS = "CASE WHEN location = '' OR outcome = 'redirect' THEN url ELSE location END"  # with its fragment
_PROBABILITY = "coalesce(probability, goal)"
_SELECT = (
    f"SELECT site.run_id, site.id, start, visit.number, {_ADDRESS}, title, {_TIER}, {_PROBABILITY}, score, at, robots, "
    f"features {_FROM}"
)
_ACCEPTED = "(answer IS NULL OR answer = 'Goal')"
# goals in the order in which they were found, then likely ones, the best first
_BY_SITE = f"site.id, {_TIER} = 'likely', CASE {_TIER} WHEN 'likely' THEN -{_PROBABILITY} END NULLS FIRST, visit.number"
_MATCHES = "(" + " OR ".join(f"{name} LIKE ? ESCAPE '!'" for name in ("title", "url", "start")) + ")"


@dataclass(frozen=True, slots=True)
class PathStep:
    """A page on the path: the link that led to it, and how the model rated link and page."""

    url: str
    title: str
    link: str  # its text; empty for the start page
    label: str
    goal: float  # probability that it is a goal page
    score: float  # of the link, when it was chosen


@dataclass(frozen=True, slots=True)
class FoundGoal:
    """A goal page of a run. `path` leads from the start page to the goal itself.

    `tier` is `goal`, `likely`, or by a person's answer `confirmed` or `rejected`.
    """

    run: int
    site: str
    number: int
    url: str
    title: str
    tier: str
    probability: float
    score: float
    at: float
    robots: str  # the robots rules of its page
    path: tuple[PathStep, ...]
    why: tuple[tuple[str, float], ...]

    @property
    def clicks(self) -> str:
        """The texts of the links clicked: `Our people › Publications`."""
        return " › ".join(step.link or "(no text)" for step in self.path[1:])

    @property
    def labels(self) -> str:
        """The labels of the pages on the path, a dot where there is none; empty if no page has one."""
        labels = [step.label for step in self.path]
        return " › ".join(label or "·" for label in labels) if any(labels) else ""


class GoalStore:
    """Goals as a report needs them."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def goals(self, run_id: int | None = None) -> Iterator[FoundGoal]:
        """Yield the goals of a run or of all that nobody rejected, by site: goals as found, then likely ones."""
        sql = f"{_SELECT} AND {_ACCEPTED} AND (site.run_id = ?1 OR ?1 IS NULL) ORDER BY {_BY_SITE}"
        return self._goals(sql, (run_id,))

    def page(
        self, run_id: int, text: str = "", *, unsure_first: bool = False, limit: int, offset: int
    ) -> list[FoundGoal]:
        """Return some goals of a run with `text` in their title, URL or site, rejected ones included.

        They come by site, goals before likely ones, or with `unsure_first` by rising probability.
        """
        order = f"{_PROBABILITY}, site.id, visit.number" if unsure_first else _BY_SITE
        sql = f"{_SELECT} AND site.run_id = ? AND {_MATCHES} ORDER BY {order} LIMIT ? OFFSET ?"
        return list(self._goals(sql, (run_id, *3 * [_pattern(text)], limit, offset)))

    def count(self, run_id: int, text: str = "") -> int:
        """Return the number of goals of a run with `text` in their title, URL or site."""
        sql = f"SELECT COUNT(*) {_FROM} AND site.run_id = ? AND {_MATCHES}"
        return int(self._database.execute(sql, (run_id, *3 * [_pattern(text)])).fetchone()[0])

    def are_recognised(self, run_id: int) -> bool:
        """Return True if goals of a run were recognised by all pages of a site, so that each has a probability."""
        sql = "SELECT EXISTS (SELECT 1 FROM site WHERE run_id = ? AND none_probability IS NOT NULL)"
        return bool(self._database.execute(sql, (run_id,)).fetchone()[0])

    def at(self, url: str) -> list[FoundGoal]:
        """Return the goals at this URL, of the last run first."""
        return list(self._goals(f"{_SELECT} AND url = ? ORDER BY site.run_id DESC, visit.number", (url,)))

    def _goals(self, sql: str, values: tuple[Any, ...]) -> Iterator[FoundGoal]:
        find_path = path_finder(self._database)
        for row in self._database.stream(sql, values):
            run, site_id, start, number, url, title, tier, probability, score, at, robots, features = row
            yield FoundGoal(
                run=run,
                site=start,
                number=number,
                url=url,
                title=title,
                tier=tier,
                probability=probability,
                score=score,
                at=at,
                robots=robots,
                path=find_path(site_id, number),
                why=tuple((feature, weight) for feature, weight in json.loads(features or "[]")),
            )


def _pattern(text: str) -> str:
    """Return a LIKE pattern that finds this text anywhere, with ! as escape character."""
    plain = text.replace("!", "!!").replace("%", "!%").replace("_", "!_")
    return f"%{plain}%"


def path_finder(database: Database) -> Callable[[int, int], tuple[PathStep, ...]]:
    """Return a function from a site's id and a visit's number to the pages that led there.

    A redirect is no step of its own: the page behind it stands for both, with the link that led there. For one report;
    see `path_reader`.
    """
    read_path = path_reader(database)

    def find(site_id: int, number: int) -> tuple[PathStep, ...]:
        return tuple(
            PathStep(
                url=visit.url,
                title=visit.title,
                link=" ".join(visit.link_text.split()),
                label=visit.label,
                goal=visit.goal,
                score=visit.score,
            )
            for visit in read_path(site_id, number)
            if visit.outcome != "redirect"
        )

    return find


# Two runs


_SITES = (
    "SELECT site.start, old.id, old.goals, site.id, site.goals, site.state, site.reason FROM site "
    "LEFT JOIN site AS old ON old.run_id = ?1 AND old.start = site.start WHERE site.run_id = ?2 ORDER BY site.id"
)
_NOT_WALKED = (
    "SELECT count(*) FROM site WHERE run_id = ?1 AND start NOT IN (SELECT start FROM site WHERE run_id = ?2)"
)
_GOALS = (
    "SELECT url, title, digest, archive_file, archive_offset, archive_length FROM visit "
    "WHERE site_id = ? AND tier = 'goal' ORDER BY number"
)
_OUTCOMES = "SELECT url, outcome, digest FROM visit WHERE site_id = ? ORDER BY number"


@dataclass(frozen=True, slots=True)
class SiteGoal:
    """A goal page of a site, and its position in the archive."""

    url: str
    title: str
    digest: str
    archived: ArchiveRef | None


@dataclass(frozen=True, slots=True)
class ComparedSite:
    """A site of a run with its goals by URL, there and in an earlier run. `ending` is empty until it is done."""

    id: int
    start: str
    before: dict[str, SiteGoal]
    after: dict[str, SiteGoal]
    ending: str


class ComparedSites:
    """The sites of a run beside the same sites of an earlier run."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def pairs(self, before: int, after: int) -> Iterator[ComparedSite]:
        """Yield every site of the run `after`; one that `before` did not have has no goals there."""
        for start, old, old_goals, new, new_goals, state, reason in self._database.execute(
            _SITES, (before, after)
        ).fetchall():
            goals_before = self._goals(old) if old_goals else {}
            goals_after = self._goals(new) if new_goals else {}
            yield ComparedSite(new, start, goals_before, goals_after, reason if state == "done" else "")

    def count_missing(self, before: int, after: int) -> int:
        """Return the number of sites of the run `before` that the run `after` does not have."""
        return int(self._database.execute(_NOT_WALKED, (before, after)).fetchone()[0])

    def outcomes(self, site_id: int) -> dict[str, tuple[str, str]]:
        """Return the last outcome of every URL of a site, and the digest of its page."""
        rows = self._database.stream(_OUTCOMES, (site_id,))
        return {url: (outcome, digest) for url, outcome, digest in rows}

    def _goals(self, site_id: int) -> dict[str, SiteGoal]:
        rows = self._database.stream(_GOALS, (site_id,))
        return {url: SiteGoal(url, title, digest, archive_ref(*place)) for url, title, digest, *place in rows}
