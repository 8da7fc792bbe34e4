"""Opening, upgrading and failing: whatever is wrong with the file, one sentence says so."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.store.old_databases import create_old
from tests.store.samples import begin, lease, visit_of
from wayhound.errors import WorkspaceError, WorkspaceLocked
from wayhound.store.database import MIGRATIONS, Database, migrate
from wayhound.store.forage import ForageStore
from wayhound.store.protocol import RunLimits
from wayhound.store.sqlite import SqliteDatabase

ROOT = Path(__file__).parents[2]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "wayhound.db"


def test_a_new_file_is_in_wal_mode_with_every_migration_recorded(path: Path) -> None:
    with SqliteDatabase(path) as database:
        assert database.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        assert database.execute("PRAGMA foreign_keys").fetchone() == (1,)
        recorded = database.execute("SELECT number, name FROM migration ORDER BY number").fetchall()
    files = sorted(file.name for file in MIGRATIONS.iterdir())
    assert [name for _, name in recorded] == files
    assert [number for number, _ in recorded] == [int(name[:4]) for name in files]


def test_migrations_are_numbered_from_one_without_gaps() -> None:
    files = sorted(file.name for file in MIGRATIONS.iterdir())
    assert [int(name[:4]) for name in files] == list(range(1, len(files) + 1))


def test_the_tables_of_a_new_file_are_those_that_the_migrations_make(path: Path, tmp_path: Path) -> None:
    """If not, a migration was changed: run `scripts/new_tables`."""
    create_old(tmp_path / "migrated.db", last=9999)
    made = []
    for file in (path, tmp_path / "migrated.db"):
        with SqliteDatabase(file) as database:
            schema = database.execute("SELECT type, name, tbl_name, sql FROM sqlite_schema").fetchall()
            others = [name for kind, name, _, _ in schema if kind == "table" and name != "migration"]
            filled = [name for name in others if database.execute(f"SELECT 1 FROM {name}").fetchone()]
            applied = database.execute("SELECT number, name FROM migration").fetchall()
            made.append((sorted(schema, key=str), applied, filled))
    assert made[0] == made[1]
    assert made[0][2] == []  # else their rows are to be compared, too


@pytest.fixture
def later(tmp_path: Path) -> Path:
    """The migrations of this version; tests add one to make a later version of them."""
    folder = tmp_path / "migrations"
    folder.mkdir()
    for file in MIGRATIONS.iterdir():
        (folder / file.name).write_bytes(file.read_bytes())
    return folder


def test_an_older_file_is_upgraded_once_and_keeps_what_it_holds(path: Path, later: Path) -> None:
    (later / "9998_notes.sql").write_text(
        "-- A note; with a semicolon.\nCREATE TABLE note (text TEXT) STRICT;\n\n"
        "CREATE TRIGGER noted AFTER INSERT ON run BEGIN\n    INSERT INTO note VALUES ('run');\nEND;\n"
    )
    with SqliteDatabase(path) as database:
        store = ForageStore(database)
        job = lease(store, begin(store, sites=1))
        store.save_visit(job, visit_of(job, 0))
        for _ in range(2):
            migrate(database, later)
        store.open_run({"strategy": "other"}, RunLimits(), [], now=0.0)
        assert database.execute("SELECT text FROM note").fetchall() == [("run",)]
        assert len(list(store.visits(job.id))) == 1


def test_a_migration_that_fails_is_undone_altogether(path: Path, later: Path) -> None:
    (later / "9998_broken.sql").write_text(
        "CREATE TABLE half (a TEXT) STRICT;\nCREATE TABLE half (a TEXT);\n"
    )
    with SqliteDatabase(path) as database:
        with pytest.raises(sqlite3.OperationalError, match="already exists"):
            migrate(database, later)
        assert database.execute("SELECT 1 FROM sqlite_schema WHERE name = 'half'").fetchone() is None
        assert database.execute("SELECT 1 FROM migration WHERE number = 9998").fetchone() is None


def test_a_newer_file_is_left_alone(path: Path) -> None:
    with SqliteDatabase(path) as database:
        database.execute("INSERT INTO migration (number, name) VALUES (9999, '9999_later.sql')")
    with pytest.raises(WorkspaceError, match="newer version of Wayhound"):
        SqliteDatabase(path)


def test_a_file_that_is_no_database_is_named_and_left_alone(path: Path) -> None:
    path.write_bytes(b"This is a letter, not a database. " * 100)
    with pytest.raises(
        WorkspaceError, match=r"is not a database.* cannot be read\. Restore the workspace from a backup"
    ):
        SqliteDatabase(path)
    assert path.read_bytes().startswith(b"This is a letter")


def test_a_damaged_file_is_reported_as_damaged(path: Path) -> None:
    with SqliteDatabase(path) as database:
        store = ForageStore(database)
        job = lease(store, begin(store, sites=50))
        for number in range(200):
            store.save_visit(job, visit_of(job, number))
    with path.open("r+b") as file:
        size = path.stat().st_size
        file.seek(8192)
        file.write(os.urandom(1) * (size - 8192))
    with (
        pytest.raises(WorkspaceError, match=r"is damaged.* doctor --repair.* from a backup"),
        SqliteDatabase(path) as database,
    ):
        list(ForageStore(database).visits(job.id))


def test_a_folder_that_is_not_there_is_a_clear_error(tmp_path: Path) -> None:
    with pytest.raises(WorkspaceError, match="cannot be opened"):
        SqliteDatabase(tmp_path / "gone" / "wayhound.db")


def test_a_database_that_may_only_be_read_says_so_when_written_to(path: Path) -> None:
    with SqliteDatabase(path) as database:
        database.execute("PRAGMA query_only = ON")
        with pytest.raises(WorkspaceError, match="may not be written"):
            database.execute("DELETE FROM run")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_file_that_may_not_be_written_is_a_clear_error(path: Path) -> None:
    SqliteDatabase(path).close()
    path.chmod(0o444)
    with SqliteDatabase(path) as database, pytest.raises(WorkspaceError, match="may not be written"):
        begin(ForageStore(database))


def insert_twice(database: Database) -> None:
    with database.transaction():
        for _ in range(2):
            database.execute("INSERT INTO run (identity, created_at, opened_at) VALUES ('x', 0, 0)")


def test_a_transaction_that_fails_leaves_nothing_behind(path: Path) -> None:
    with SqliteDatabase(path) as database:
        with pytest.raises(sqlite3.IntegrityError):
            insert_twice(database)
        assert database.execute("SELECT count(*) FROM run").fetchone() == (0,)


# Another process holds it

HOLDER = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("BEGIN EXCLUSIVE")
print("held", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def held(path: Path) -> Iterator[Path]:
    """A database in which another process is in the middle of writing."""
    SqliteDatabase(path).close()
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as holder:
        assert holder.stdout
        assert holder.stdout.readline() == b"held\n"
        yield path
        assert holder.stdin
        holder.stdin.close()


def test_a_database_that_another_process_holds_is_locked_not_broken(held: Path) -> None:
    with SqliteDatabase(held, busy_seconds=0.2) as database:
        with pytest.raises(WorkspaceLocked, match="in use by another process"):
            begin(ForageStore(database))
        assert ForageStore(database).runs() == []  # reading goes on


def test_a_new_database_that_another_process_holds_is_locked(path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as holder:
        assert holder.stdout
        holder.stdout.readline()
        with pytest.raises(WorkspaceLocked):
            SqliteDatabase(path, busy_seconds=0.2)
        assert holder.stdin
        holder.stdin.close()


# The disk is full


def save_until_refused(database: Database) -> str:
    """Save visits until the disk has no room, then check that each one saved is whole; what was said."""
    store = ForageStore(database)
    run = begin(store, sites=1)
    job = lease(store, run)
    number = 0
    try:
        while number < 10_000:
            store.save_visit(job, visit_of(job, number, title="x" * 2_000))
            number += 1
    except WorkspaceError as refusal:
        assert number > 0
        assert [visit.number for visit in store.visits(job.id)] == list(range(number))
        assert store.progress(run.id).visits == number
        assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        return str(refusal)
    raise AssertionError("the disk was never full")


def test_a_database_that_cannot_grow_says_so_and_keeps_what_it_has(path: Path) -> None:
    with SqliteDatabase(path) as database:
        database.execute("PRAGMA max_page_count = 100")
        assert "The disk is full" in save_until_refused(database)
    with SqliteDatabase(path) as database:  # with room again it goes on where it was
        store = ForageStore(database)
        run = begin(store, sites=1)
        store.release_dead(run.id, is_alive=lambda _: False)
        job = lease(store, run)
        store.save_visit(job, visit_of(job, job.visits))


LIMITED = """
import resource, sys
from pathlib import Path
from tests.store.test_database import save_until_refused
from wayhound.store.database import Database
from wayhound.store.sqlite import SqliteDatabase
if len(sys.argv) > 2:
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), int(sys.argv[2])))
with SqliteDatabase(Path(sys.argv[1])) as database:
    print(save_until_refused(database))
"""


def said_by(command: list[str | Path]) -> str:
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


def test_a_write_that_the_system_refuses_is_an_error_in_words_and_keeps_what_was_saved(path: Path) -> None:
    assert "The disk refused" in said_by([sys.executable, "-c", LIMITED, path, "1000000"])
    with SqliteDatabase(path) as database:
        assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert database.execute("SELECT count(*) FROM visit").fetchone()[0] > 0


def test_a_file_system_without_room_is_a_full_disk(tmp_path: Path) -> None:
    unshare = shutil.which("unshare")
    if not unshare or subprocess.run([unshare, "-rm", "true"], check=False, capture_output=True).returncode:
        pytest.skip("no small file system can be mounted here")
    script = 'mount -t tmpfs -o size=1m none "$1" && exec "$2" -c "$3" "$1/wayhound.db"'
    said = said_by([unshare, "-rm", "sh", "-c", script, "sh", tmp_path, sys.executable, LIMITED])
    assert "The disk is full" in said


def test_every_migration_has_a_number_of_its_own() -> None:
    numbers = [file.name[:4] for file in MIGRATIONS.iterdir() if file.name.endswith(".sql")]
    assert len(set(numbers)) == len(numbers), "of two with the same number, the second is never applied"
