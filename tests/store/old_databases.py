"""Databases as earlier versions made them: with the first migrations alone."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from wayhound.store.database import MIGRATIONS


def create_old(path: Path, last: int) -> None:
    """Make a database with the migrations up to number `last`."""
    with closing(sqlite3.connect(path)) as database:
        for file in sorted(Path(str(MIGRATIONS)).glob("*.sql")):
            if int(file.name[:4]) <= last:
                database.executescript(file.read_text("utf-8"))
                row = (int(file.name[:4]), file.name)
                database.execute("INSERT INTO migration (number, name) VALUES (?, ?)", row)
        database.commit()


def downgrade(path: Path, last: int) -> None:
    """Put in place of a database one with the migrations up to `last` and the same rows.

    Columns that later migrations removed are empty.
    """
    old = path.with_suffix(".old")
    create_old(old, last)
    with closing(sqlite3.connect(old)) as database:
        database.execute("ATTACH ? AS new", (str(path),))
        for (table,) in database.execute(
            "SELECT name FROM main.sqlite_schema WHERE type = 'table' AND name <> 'migration'"
        ).fetchall():
            had, has = (
                [row[1] for row in database.execute(f"PRAGMA {schema}.table_info({table})")]
                for schema in ("main", "new")
            )
            columns = ", ".join(name for name in had if name in has)
            database.execute(
                f"INSERT OR REPLACE INTO main.{table} ({columns}) SELECT {columns} FROM new.{table}"
            )
        database.commit()
    for suffix in ("-wal", "-shm"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)
    old.replace(path)
