"""Visits as rows of the database, the paths of clicks that lead to them, and the tiers of those that are goals."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import lru_cache
from typing import Any

from wayhound.errors import NotInWorkspace
from wayhound.forage.scorer import SiteReport
from wayhound.site import Site
from wayhound.store.database import Database
from wayhound.visit import NOT_CLICKS, ArchiveRef, Tier, Visit, path_to

VISIT_COLUMNS = (
    "number, url, outcome, at, parent, link_text, link_region, link_kind, depth, attempt, score, status, "
    "content_type, title, digest, label, goal, is_goal, spent, wait_seconds, location, "
    "robots, not_modified, archive_file, archive_offset, archive_length, tier, probability, rendering"
)
_WIDTH = VISIT_COLUMNS.count(",") + 1
INSERT_VISIT = f"INSERT INTO visit (site_id, {VISIT_COLUMNS}) VALUES (?{', ?' * _WIDTH})"  # noqa: S608

COUNT_VISIT = (
    "INSERT INTO tally (run_id, outcome, slot, visits, spent, goals, likely) VALUES (?, ?, ?, ?, ?, ?, ?) "
    "ON CONFLICT (run_id, outcome, slot) DO UPDATE SET visits = tally.visits + excluded.visits, "
    "spent = tally.spent + excluded.spent, goals = tally.goals + excluded.goals, "
    "likely = tally.likely + excluded.likely"
)

LONGEST_PATH = 100
_CACHED_STEPS = 10_000
_BATCH = 500

_START = "SELECT start FROM site WHERE id = ?"
_ONE = f"SELECT {VISIT_COLUMNS} FROM visit WHERE site_id = ? AND number = ?"  # noqa: S608
_SOME = (
    f"SELECT {VISIT_COLUMNS} FROM visit WHERE site_id = ? AND number >= ? "  # noqa: S608
    f"ORDER BY number LIMIT {_BATCH}"
)
_NEWEST_SITE = (
    "SELECT site.id FROM site JOIN visit ON visit.site_id = site.id AND visit.number = ?1 "
    "WHERE site.start = ?2 AND site.run_id = coalesce(?3, site.run_id) ORDER BY site.run_id DESC LIMIT 1"
)
_LAST_COPY = (
    "SELECT site.run_id, site.start, visit.number FROM visit JOIN site ON site.id = visit.site_id "
    "WHERE url = ? AND outcome = 'ok' AND archive_file IS NOT NULL ORDER BY at DESC LIMIT 1"
)

_PAGES = "SELECT number, url FROM visit WHERE site_id = ? AND outcome = 'ok'"
_CLEAR = "UPDATE visit SET tier = '', probability = NULL WHERE site_id = ? AND (tier <> '' OR probability IS NOT NULL)"
_SET = "UPDATE visit SET tier = ?, probability = ? WHERE site_id = ? AND number = ?"
_FOUND = (
    f"SELECT {', '.join(f'visit.{name}' for name in VISIT_COLUMNS.split(', '))}, features FROM visit "  # noqa: S608
    "LEFT JOIN goal_reason ON goal_reason.site_id = visit.site_id AND goal_reason.number = visit.number "
    "WHERE visit.site_id = ? AND tier <> '' "
    "ORDER BY tier = 'likely', CASE tier WHEN 'likely' THEN -probability END NULLS FIRST, visit.number"
)


def archive_ref(file: str | None, offset: int, length: int) -> ArchiveRef | None:
    """Return the position in the archive that three columns hold."""
    return None if file is None else ArchiveRef(file, offset, length)


def visit_row(site_id: int, visit: Visit) -> tuple[Any, ...]:
    """Return the values of `INSERT_VISIT`. `Visit.site` is not among them: the site's row holds it."""
    archived = visit.archived
    return (
        site_id, visit.number, visit.url, visit.outcome, visit.at, visit.parent,
        visit.link_text, visit.link_region, visit.link_kind, visit.depth, visit.attempt, visit.score,
        visit.status, visit.content_type, visit.title, visit.digest, visit.label, visit.goal,
        visit.is_goal, visit.spent, visit.wait_seconds, visit.location,
        visit.robots, visit.not_modified,
        archived and archived.file, archived and archived.offset, archived and archived.length,
        visit.tier or ("goal" if visit.is_goal else ""), visit.probability, visit.rendering,
    )  # fmt: skip


def visit_from(site: str, row: tuple[Any, ...]) -> Visit:
    """Return the visit of a row with `VISIT_COLUMNS`."""
    (
        *plain,
        is_goal,
        spent,
        wait_seconds,
        location,
        robots,
        not_modified,
        file,
        offset,
        length,
        tier,
        probability,
        rendering,
    ) = row
    flags = bool(is_goal), bool(spent)
    archived = archive_ref(file, offset, length)
    rules = robots, bool(not_modified)
    values = (site, *plain, *flags, wait_seconds, location, *rules, archived, tier, probability)
    return replace(Visit(*values), rendering=rendering) if rendering else Visit(*values)


def read_visits(database: Database, site_id: int, first: int) -> Iterator[Visit]:
    """Yield the visits of a site in order, from number `first` on. Raises NotInWorkspace if there is no such site.

    Reads in batches, so the caller may save visits, or stop, in between.
    """
    row = database.execute(_START, (site_id,)).fetchone()
    if row is None:
        raise NotInWorkspace(f"There is no site {site_id} in this workspace.")
    number = first
    while rows := database.execute(_SOME, (site_id, number)).fetchall():
        for visit in rows:
            yield visit_from(row[0], visit)
        number = rows[-1][0] + 1


def path_reader(database: Database) -> Callable[[int, int], tuple[Visit, ...]]:
    """Return a function that reads the visits from a site's start page to one of its visits, redirects included.

    It takes the site's id and the visit's number. The visits read last are cached, since paths share their beginnings;
    use it for one report and no longer, as visits can be deleted and fetched again.
    """

    @lru_cache(_CACHED_STEPS)
    def read(site_id: int, number: int) -> Visit:
        return visit_from(start(site_id), database.execute(_ONE, (site_id, number)).fetchone())

    @lru_cache(1)
    def start(site_id: int) -> str:
        return str(database.execute(_START, (site_id,)).fetchone()[0])

    def path(site_id: int, number: int | None) -> tuple[Visit, ...]:
        return path_to(number, lambda visit: read(site_id, visit))

    return path


def clicked_texts(path: Iterable[Visit]) -> tuple[str, ...]:
    """Return the texts of the links clicked along a path."""
    return tuple(" ".join(visit.link_text.split()) for visit in path if visit.link_kind not in NOT_CLICKS)


class ClickPaths:
    """Paths from the start page of a site to its visits, redirects included; read only."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def last_copy(self, url: str) -> tuple[int, str, int] | None:
        """Return run, start page of the site and number of the newest visit that archived this URL, or None."""
        row: tuple[int, str, int] | None = self._database.execute(_LAST_COPY, (url,)).fetchone()
        return row

    def site(self, run_id: int, start: str) -> Site:
        """Return a site of a run with the hosts that belong to it; without any if the run does not have it."""
        sql = "SELECT hosts FROM site WHERE run_id = ? AND start = ?"
        row = self._database.execute(sql, (run_id, start)).fetchone()
        return Site(start, tuple(json.loads(row[0])) if row else ())

    def to_visit(self, site: str, number: int, run: int | None = None) -> tuple[Visit, ...]:
        """Return at most `LONGEST_PATH` visits that led to a visit of a run, by default the newest that has it.

        Empty if there is no such visit.
        """
        row = self._database.execute(_NEWEST_SITE, (number, site, run)).fetchone()
        return path_reader(self._database)(row[0], number)[-LONGEST_PATH:] if row else ()


# Tiers


def save_tiers(database: Database, run_id: int, site_id: int, report: SiteReport) -> None:
    """Replace the tiers of a site by those of a report; call it in a transaction.

    Pages that repeat another one are in no tier: the first of them stands for all.
    """
    numbers = {url: number for number, url in database.execute(_PAGES, (site_id,)).fetchall()}
    database.execute(_CLEAR, (site_id,))
    tiers: tuple[tuple[Tier, Any], ...] = (("goal", report.goals), ("likely", report.likely))
    counts = {}
    for tier, pages in tiers:
        known = [page for page in pages if page.url in numbers]
        counts[tier] = len(known)
        for page in known:
            database.execute(_SET, (tier, page.probability, site_id, numbers[page.url]))
    _count(database, run_id, site_id, counts)
    database.execute(
        "UPDATE site SET none_probability = ?, goals_left = ? WHERE id = ?",
        (report.none_probability, report.goals_left, site_id),
    )


def _count(database: Database, run_id: int, site_id: int, counts: dict[Tier, int]) -> None:
    """Bring the counts of a site and of its run in line; only pages that were read are in a tier."""
    goals, likely = database.execute("SELECT goals, likely FROM site WHERE id = ?", (site_id,)).fetchone()
    database.execute(
        "UPDATE site SET goals = ?, likely = ? WHERE id = ?", (counts["goal"], counts["likely"], site_id)
    )
    add_to_tally(database, run_id, "ok", goals=counts["goal"] - goals, likely=counts["likely"] - likely)


def add_to_tally(
    database: Database,
    run_id: int,
    outcome: str,
    visits: int = 0,
    spent: int = 0,
    goals: int = 0,
    likely: int = 0,
) -> None:
    """Add to the sums of a run, or subtract; each process does so in rows of its own."""
    if visits or spent or goals or likely:
        database.execute(COUNT_VISIT, (run_id, outcome, database.slot, visits, spent, goals, likely))


def found_visits(database: Database, site_id: int) -> list[Visit]:
    """Return the visits of a site that are in a tier, with the reasons for each."""
    start = str(database.execute("SELECT start FROM site WHERE id = ?", (site_id,)).fetchone()[0])
    rows = database.execute(_FOUND, (site_id,)).fetchall()
    return [
        replace(
            visit_from(start, row[:-1]),
            why=tuple((name, weight) for name, weight in json.loads(row[-1] or "[]")),
        )
        for row in rows
    ]
