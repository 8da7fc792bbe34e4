"""Moving a workspace: its database from a file to a server, or all of it from wherever it lies into one folder."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from wayhound.app.forage_worker import is_alive
from wayhound.config import FILE_NAME, with_places
from wayhound.errors import UsageError, WorkspaceError
from wayhound.files import write_file
from wayhound.processes import process_runs
from wayhound.store.database import Database, open_database
from wayhound.store.sqlite import SqliteDatabase
from wayhound.store.transfer import copy_rows
from wayhound.workspace import DATABASE_NAME, Workspace

MOVED_NAME = f"{DATABASE_NAME}.moved"

Progress = Callable[[int, int], None]
"""Called with the rows done and the rows in all, or with bytes of files."""


@dataclass(frozen=True, slots=True)
class Moved:
    """The numbers of rows and of files that were copied, and where the old database was kept, if it was moved."""

    rows: int
    files: int = 0
    kept: Path | None = None


def move_to_server(workspace: Workspace, url: str, progress: Progress = lambda _done, _of: None) -> Moved:
    """Copy the database of a workspace to an empty one on a server, check it, and use that from then on.

    The settings change last: until then the workspace is as it was, and the copy can be repeated. Raises UsageError if
    the server's database is not empty or the workspace is in use, WorkspaceError if something fails.
    """
    folder = workspace.folder
    _refuse_running(workspace)
    with open_database(folder / DATABASE_NAME, url) as target:
        rows = copy_rows(workspace.database, target, progress)
    was_file = not workspace.database.is_server
    settings = folder / FILE_NAME
    write_file(settings, with_places(settings.read_text("utf-8"), database=url).encode())
    if not was_file:
        return Moved(rows)
    workspace.close()
    kept = folder / MOVED_NAME
    (folder / DATABASE_NAME).replace(kept)
    for suffix in ("-wal", "-shm"):
        (folder / f"{DATABASE_NAME}{suffix}").unlink(missing_ok=True)
    return Moved(rows, kept=kept)


def move_to_folder(workspace: Workspace, folder: Path, progress: Progress = lambda _done, _of: None) -> Moved:
    """Copy a workspace into a new folder that needs neither server nor shared archive; the old one stays as it is.

    The folder appears when it is complete. Raises UsageError if it exists and has something in it.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError(f"{folder} exists already and is not empty. Choose another folder.")
    folder.absolute().parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.absolute().parent, prefix=".move-") as name:
        draft = Path(name) / "workspace"
        draft.mkdir(mode=0o700)
        rows = copy_to_file(workspace.database, draft / DATABASE_NAME, progress)
        files = _copy_files(workspace, draft)
        settings = (workspace.folder / FILE_NAME).read_text("utf-8")
        write_file(draft / FILE_NAME, with_places(settings, database="", archive="").encode())
        Workspace.open(draft).close()  # makes the folders that are missing
        if folder.exists():
            folder.rmdir()
        shutil.move(draft, folder)
    return Moved(rows, files)


def copy_to_file(database: Database, path: Path, progress: Progress = lambda _done, _of: None) -> int:
    """Copy a database into a new SQLite file, complete in itself, and return the number of rows."""
    with SqliteDatabase(path) as target:
        rows = copy_rows(database, target, progress)
        target.execute("PRAGMA journal_mode = DELETE")
    return rows


def _copy_files(workspace: Workspace, draft: Path) -> int:
    """Copy archive, models and the small files beside the settings. Return their number."""
    names = [
        path.name
        for path in workspace.folder.iterdir()
        if path.is_file() and not path.name.startswith((DATABASE_NAME, FILE_NAME))
    ]
    for name in names:
        shutil.copy2(workspace.folder / name, draft / name)
    count = len(names)
    for kind in (workspace.archive_folder, workspace.models_folder):
        shutil.copytree(kind, draft / kind.name)
        count += sum(path.is_file() for path in (draft / kind.name).rglob("*"))
    return count + _fetch_archive(workspace, draft)


def _fetch_archive(workspace: Workspace, draft: Path) -> int:
    """Copy the archive files of a shared place that this folder does not have. Return their number."""
    if workspace.location is None:
        return 0
    fetched = 0
    for name, size in workspace.location.sizes("archive").items():
        target = draft / "archive" / Path(name).name
        if target.exists():
            continue
        with workspace.location.open(f"archive/{Path(name).name}") as source, target.open("xb") as copy:
            shutil.copyfileobj(source, copy)
        if target.stat().st_size != size:
            raise WorkspaceError(f"{name} of the archive was not copied whole. Nothing was kept; try again.")
        fetched += 1
    return fetched


def _refuse_running(workspace: Workspace) -> None:
    """Raise UsageError if a forage or a job runs; what the dead held is released."""
    forages, jobs = workspace.stores.forage, workspace.stores.jobs
    for run in forages.runs():
        forages.release_dead(run.id, is_alive)
    leased = sum(forages.progress(run.id).leased for run in forages.runs())
    if leased or any(job.pid is not None and process_runs(job.pid) for job in jobs.running()):
        raise UsageError(
            "The workspace is in use: a forage or another job is running. Let it end, or stop it, and try again."
        )
