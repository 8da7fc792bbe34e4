"""What two runs have of the same sites, as a comparison of their goals needs it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from wayhound.store.database import Database
from wayhound.visit import ArchiveRef

_SITES = (
    "SELECT site.start, old.id, old.goals, site.id, site.goals, site.state, site.reason FROM site "
    "LEFT JOIN site AS old ON old.run_id = ?1 AND old.start = site.start WHERE site.run_id = ?2 ORDER BY site.id"
)
_NOT_WALKED = (
    "SELECT count(*) FROM site WHERE run_id = ?1 AND start NOT IN (SELECT start FROM site WHERE run_id = ?2)"
)
_GOALS = (
    "SELECT url, title, digest, archive_file, archive_offset, archive_length FROM visit "
    "WHERE site_id = ? AND is_goal = 1 ORDER BY number"
)
_ANSWERS = "SELECT url, outcome, digest FROM visit WHERE site_id = ? ORDER BY number"


@dataclass(frozen=True, slots=True)
class SiteGoal:
    """A goal page of a site: what it says it is, and where it is kept."""

    url: str
    title: str
    digest: str
    archived: ArchiveRef | None


@dataclass(frozen=True, slots=True)
class ComparedSite:
    """A site of a run, with its goals there and in an earlier run, by URL. `ending` is why it stopped, or nothing
    while it has not."""

    id: int
    start: str
    before: dict[str, SiteGoal]
    after: dict[str, SiteGoal]
    ending: str


class ComparedSites:
    """The sites of a run next to the same ones of an earlier run; read only."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def of(self, before: int, after: int) -> Iterator[ComparedSite]:
        """Every site of the run `after` in its order; one that `before` did not have had no goals there."""
        for start, old, old_goals, new, new_goals, state, reason in self._database.execute(
            _SITES, (before, after)
        ).fetchall():
            was = self._goals(old) if old_goals else {}
            is_now = self._goals(new) if new_goals else {}
            yield ComparedSite(new, start, was, is_now, reason if state == "done" else "")

    def not_walked(self, before: int, after: int) -> int:
        """How many sites of the run `before` the run `after` does not have."""
        return int(self._database.execute(_NOT_WALKED, (before, after)).fetchone()[0])

    def answers(self, site_id: int) -> dict[str, tuple[str, str]]:
        """What came of every URL of a site in the end, and the digest of its page."""
        return {url: (outcome, digest) for url, outcome, digest in self._rows(_ANSWERS, site_id)}

    def _goals(self, site_id: int) -> dict[str, SiteGoal]:
        return {url: _goal(url, *rest) for url, *rest in self._rows(_GOALS, site_id)}

    def _rows(self, sql: str, site_id: int) -> Iterator[Any]:
        return self._database.stream(sql, (site_id,))


def _goal(url: str, title: str, digest: str, *place: Any) -> SiteGoal:
    return SiteGoal(url, title, digest, None if place[0] is None else ArchiveRef(*place))
