"""A whole workspace in one file, written while others work in it, and a workspace made from such a file.

A backup is a tar archive: the settings and other small files of the folder, the database, models, archive files, and at
its end `backup.json` with the size and SHA-256 of each. The search index is left out, since it is made from the rest.
The database is copied before the archive files. These only grow, and a response is in them before the database refers
to it, so everything that the copy refers to is in the backup.
"""

from __future__ import annotations

import io
import json
import shutil
import tarfile
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import IO, Any

from wayhound import __version__
from wayhound.app.move import copy_to_file
from wayhound.archive.writer import MARKER_SUFFIX, repair
from wayhound.config import FILE_NAME, with_places
from wayhound.errors import UsageError, WorkspaceError
from wayhound.files import atomic_file
from wayhound.store.upkeep import archive_ends, copy_database
from wayhound.workspace import DATABASE_NAME, Workspace

MANIFEST = "backup.json"
FORMAT = 1
_SQLITE = b"SQLite format 3\0"
_CHUNK = 1 << 20

Progress = Callable[[int, int], None]
"""Called with the bytes done and the bytes in all."""


@dataclass(frozen=True, slots=True)
class BackedUp:
    """The number of files in a backup, and their bytes."""

    files: int
    n_bytes: int


@dataclass
class _Draft:
    """A tar archive in progress."""

    tar: tarfile.TarFile
    n_bytes: int
    progress: Progress
    done: int = 0
    entries: dict[str, dict[str, Any]] = field(default_factory=dict)

    def add(self, path: Path, name: str) -> None:
        """Add a file as it is now; what is appended meanwhile is left out."""
        try:
            file = path.open("rb")
        except FileNotFoundError:  # such as the marker of an archive file that was closed just now
            return
        with file:
            info = self.tar.gettarinfo(arcname=name, fileobj=file)
            info.uid = info.gid = 0
            info.uname = info.gname = ""
            digest = _Digest(file, info.size)
            self.tar.addfile(info, digest)
        self.entries[name] = {"size": info.size, "sha256": digest.hexdigest()}
        self.done += info.size
        self.progress(self.done, max(self.done, self.n_bytes))

    def finish(self) -> None:
        content = {"format": FORMAT, "wayhound": __version__, "files": self.entries}
        body = json.dumps(content, indent=1).encode()
        info = tarfile.TarInfo(MANIFEST)
        info.size = len(body)
        self.tar.addfile(info, io.BytesIO(body))


class _Digest(io.RawIOBase):
    """Computes the digest of what is read, up to `size` bytes."""

    def __init__(self, file: IO[bytes], size: int) -> None:
        super().__init__()
        self._file, self._left, self._digest = file, size, sha256()

    def read(self, size: int = -1, /) -> bytes:
        chunk = self._file.read(self._left if size < 0 else min(size, self._left))
        self._left -= len(chunk)
        self._digest.update(chunk)
        return chunk

    def hexdigest(self) -> str:
        return self._digest.hexdigest()


def back_up(workspace: Workspace, target: Path, progress: Progress = lambda _done, _of: None) -> BackedUp:
    """Write a backup of a workspace to `target`, which appears when it is complete.

    Raises UsageError if `target` exists or lies in the workspace, WorkspaceError if something cannot be read.
    """
    if target.exists():
        raise UsageError(f"{target} exists already. Choose another name, or move it away.")
    if target.absolute().is_relative_to(workspace.folder):
        raise UsageError(
            f"{target} lies in the workspace itself. Choose a place outside of it, best on another disk."
        )
    folder = workspace.folder
    with (
        tempfile.TemporaryDirectory(dir=target.absolute().parent, prefix=".backup-") as drafts,
        atomic_file(target) as stream,
        tarfile.open(fileobj=stream, mode="w", format=tarfile.PAX_FORMAT) as tar,
    ):
        databases = [path for path in _plain_files(folder) if _is_database(path)]
        for path in databases:  # before anything else: what they refer to is copied after them
            copy_database(path, Path(drafts) / path.name)
        others = [path for path in _plain_files(folder) if path not in databases]
        if workspace.database.is_server:  # a backup is complete in itself, and has no password in it
            databases.append(folder / DATABASE_NAME)
            copy_to_file(workspace.database, Path(drafts) / DATABASE_NAME)
            settings = with_places((folder / FILE_NAME).read_text("utf-8"), database="", archive="")
            (Path(drafts) / FILE_NAME).write_text(settings, "utf-8")
            others.remove(folder / FILE_NAME)
            databases.append(folder / FILE_NAME)
        below = [*_files_in(workspace.models_folder), *_archive_files(workspace.archive_folder)]
        n_bytes = sum(path.stat().st_size for path in (*databases, *others, *below) if path.exists())
        draft = _Draft(tar, n_bytes, progress)
        for path in others:
            draft.add(path, path.name)
        for path in databases:
            draft.add(Path(drafts) / path.name, path.name)
        for path in below:
            draft.add(path, path.relative_to(folder).as_posix())
        draft.finish()
    return BackedUp(len(draft.entries), draft.done)


def _plain_files(folder: Path) -> list[Path]:
    """Return the files of a workspace's own folder, without those that SQLite keeps beside a database."""
    files = sorted(path for path in folder.iterdir() if path.is_file() and not path.is_symlink())
    return [path for path in files if not path.name.endswith(("-wal", "-shm", "-journal", ".part"))]


def _is_database(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(len(_SQLITE)) == _SQLITE


def _files_in(folder: Path) -> Iterator[Path]:
    yield from sorted(
        path for path in folder.rglob("*") if path.is_file() and not path.name.endswith(".part")
    )


def _archive_files(folder: Path) -> list[Path]:
    """Return archive files, each after the marker that says how much of it is whole: the marker must not be newer."""
    return sorted(_files_in(folder), key=lambda path: (not path.name.endswith(MARKER_SUFFIX), path.name))


def restore(source: Path, folder: Path) -> BackedUp:
    """Make a workspace in `folder` from a backup, after every file of it was checked.

    Raises UsageError if `folder` has something in it, or if `source` is no backup, is incomplete or damaged.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError(f"{folder} exists already and is not empty. Choose another folder.")
    folder.absolute().parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.absolute().parent, prefix=".restore-") as name:
        draft = Path(name) / "workspace"
        draft.mkdir(mode=0o700)
        entries = _extract(source, draft)
        with Workspace.open(draft) as workspace:
            repair(workspace.archive_folder)  # a record that was being written when its file was copied
            _check_archive(workspace)
        if folder.exists():
            folder.rmdir()
        shutil.move(draft, folder)
    return BackedUp(len(entries), sum(entry["size"] for entry in entries.values()))


def _extract(source: Path, folder: Path) -> dict[str, dict[str, Any]]:
    digests: dict[str, str] = {}
    manifest: dict[str, Any] = {}
    try:
        with tarfile.open(source, "r:") as tar:
            for member in tar:
                if not member.isfile():
                    raise _damaged(source, f"{member.name} is no file")
                file = tar.extractfile(member)
                assert file is not None
                if member.name == MANIFEST:
                    manifest = json.loads(file.read())
                else:
                    digests[member.name] = _copy(file, _inside(folder, member.name, source))
    except (tarfile.TarError, ValueError, EOFError) as error:
        raise _damaged(source, str(error)) from error
    except OSError as error:
        raise WorkspaceError(f"{source} cannot be restored: {error.strerror or error}.") from error
    entries = manifest.get("files")
    if not isinstance(entries, dict) or DATABASE_NAME not in entries:
        raise _damaged(source, "its list of files is missing")
    if manifest.get("format") != FORMAT:
        raise UsageError(
            f"{source} was made by Wayhound {manifest.get('wayhound')}; this version cannot read it."
        )
    if wrong := [name for name, entry in entries.items() if digests.get(name) != entry["sha256"]]:
        raise _damaged(source, f"{wrong[0]} is not as it was written")
    return entries


def _inside(folder: Path, name: str, source: Path) -> Path:
    """Return the place of a member; it may not be outside of the folder."""
    path = (folder / name).resolve()
    if not path.is_relative_to(folder.resolve()) or Path(name).is_absolute():
        raise _damaged(source, f"{name} would lie outside of the workspace")
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    return path


def _copy(file: IO[bytes], target: Path) -> str:
    digest = sha256()
    with target.open("xb") as copy:
        while chunk := file.read(_CHUNK):
            digest.update(chunk)
            copy.write(chunk)
    return digest.hexdigest()


def _check_archive(workspace: Workspace) -> None:
    for name, end, _ in archive_ends(workspace.database):
        size = workspace.archive.size(name)
        if size is None or size < end:
            raise WorkspaceError(f"The backup lacks a part of {name} that its database refers to.")


def _damaged(source: Path, detail: str) -> UsageError:
    return UsageError(f"{source} is no complete backup of a workspace ({detail}). Use another copy of it.")
