"""Checks and copies of the whole database, for `doctor` and backups."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing
from itertools import islice
from pathlib import Path

from wayhound.store.database import Database
from wayhound.store.forage import reopen_sites
from wayhound.store.sqlite import explain

MOST_PROBLEMS = 20

_POSITIONS = """
SELECT archive_file, max(archive_offset + archive_length), count(*) FROM (
    SELECT archive_file, archive_offset, archive_length FROM visit
    UNION ALL SELECT archive_file, archive_offset, archive_length FROM document_file
    UNION ALL SELECT seen_file, seen_offset, seen_length FROM teach_page
    UNION ALL SELECT original_file, original_offset, original_length FROM teach_page
    UNION ALL SELECT file, "offset", length FROM chain_page
) AS position WHERE archive_file IS NOT NULL GROUP BY archive_file ORDER BY archive_file
"""
_SAMPLE = (
    "SELECT archive_file, archive_offset, archive_length FROM visit WHERE archive_file IS NOT NULL "
    "ORDER BY random() LIMIT ?"
)


_UNSOUND = """
SELECT 'the server found ' || checksum_failures || ' damaged pages' FROM pg_stat_database
WHERE datname = current_database() AND checksum_failures > 0
UNION ALL SELECT 'the index ' || CAST(indexrelid::regclass AS TEXT) || ' is not valid' FROM pg_index
WHERE NOT indisvalid AND indrelid IN (SELECT oid FROM pg_class WHERE relnamespace = 'public'::regnamespace)
"""
_RISKY = (
    "SELECT name FROM pg_settings WHERE name IN ('fsync', 'full_page_writes', 'synchronous_commit') "
    "AND setting = 'off' ORDER BY name"
)


def durability_risks(database: Database) -> list[str]:
    """Return the settings of a server that let it forget what it has confirmed, when its machine fails."""
    return [str(name) for (name,) in database.execute(_RISKY)] if database.is_server else []


def integrity_problems(database: Database) -> list[str]:
    """Return what is wrong with the database: pages, indexes, and references to rows that are gone.

    A server checks its pages as they are read and references as rows are written: it is asked what it met.
    """
    if database.is_server:
        return [str(problem) for (problem,) in database.execute(_UNSOUND)]
    rows = database.stream(f"PRAGMA integrity_check({MOST_PROBLEMS})")
    problems = [str(row[0]) for row in rows if row[0] != "ok"]
    strays = islice(database.stream("PRAGMA foreign_key_check"), MOST_PROBLEMS)
    return problems + [f"a row of {row[0]} refers to a row of {row[2]} that is gone" for row in strays]


def rebuild_indexes(database: Database) -> None:
    """Make the indexes of the database anew from its tables, which loses nothing."""
    database.execute("REINDEX SCHEMA public" if database.is_server else "REINDEX")


def archive_ends(database: Database) -> Iterator[tuple[str, int, int]]:
    """Yield each archive file that rows refer to, the size that it must have at least, and how many rows do."""
    yield from database.stream(_POSITIONS)


def archive_files(database: Database, run_id: int) -> set[str]:
    """Return the archive files that hold the pages of a run."""
    sql = "SELECT DISTINCT archive_file FROM visit WHERE site_id IN (SELECT id FROM site WHERE run_id = ?)"
    return {name for (name,) in database.stream(sql, (run_id,)) if name is not None}


def reopen_sites_in(database: Database, run_id: int, files: Iterable[str]) -> int:
    """Forget the visits of done sites from the first one in these archive files on; return the number of sites.

    They wait again, and what is forgotten is fetched again.
    """
    first: dict[int, int] = {}
    with database.transaction():
        for file in files:
            for site_id, number in database.execute(
                "SELECT site_id, min(number) FROM visit WHERE archive_file = ? AND site_id IN "
                "(SELECT id FROM site WHERE run_id = ? AND state = 'done') GROUP BY site_id",
                (file, run_id),
            ).fetchall():
                first[site_id] = min(first.get(site_id, number), number)
        reopen_sites(database, run_id, first.items())
    return len(first)


def sampled_positions(database: Database, count: int) -> list[tuple[str, int, int]]:
    """Return the positions of some visits in the archive, chosen at random: file, offset and length."""
    return database.execute(_SAMPLE, (count,)).fetchall()


def newest_time(database: Database) -> float:
    """Return when the last visit was made, or 0."""
    return float(database.execute("SELECT coalesce(max(at), 0) FROM visit").fetchone()[0])


def copy_database(source: Path, target: Path) -> None:
    """Copy a database as it is at one moment, while others write to it, and check the copy.

    Raises WorkspaceError if it cannot be read or the copy is damaged.
    """
    try:
        with (
            closing(
                sqlite3.connect(f"{source.absolute().as_uri()}?mode=ro", uri=True, timeout=60)
            ) as original,
            closing(sqlite3.connect(target)) as copy,
        ):
            original.backup(copy)
            copy.execute("PRAGMA journal_mode = DELETE")  # one file, complete in itself
            (found,) = copy.execute("PRAGMA quick_check(1)").fetchone()
            if found != "ok":
                raise sqlite3.DatabaseError(found)
    except sqlite3.Error as error:
        raise explain(error, str(source)) from error
