"""One folder, one project: the only place that opens its settings, database, archive, models and index."""

from __future__ import annotations

import errno
import fcntl
import os
import re
import secrets
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Self

from wayhound import __version__
from wayhound.config import FILE_NAME, Config, default_toml
from wayhound.errors import WorkspaceError
from wayhound.files import write_file
from wayhound.store.database import Database, open_database
from wayhound.store.model_files import ForageModels
from wayhound.store.sqlite import rename_database
from wayhound.store.stores import Stores

if TYPE_CHECKING:
    from wayhound.archive.location import Location
    from wayhound.archive.reader import ArchiveReader
    from wayhound.archive.writer import ArchiveWriter
    from wayhound.search.index import SearchIndex
    from wayhound.search.snapshot import IndexWriter

DATABASE_NAME = "wayhound.db"
FOLDER_NAMES = ("archive", "models", "index")

OLD_FILE_NAME = "trailmark.toml"
OLD_DATABASE_NAME = "trailmark.db"
"""Names of version 0.1. Its archive files (trailmark-*.warc.gz) keep their names: records refer to them."""


class Workspace:
    """A workspace folder. Make one with `create`, open it with `open`.

    The database, the archive and the index are opened when they are first used. A workspace has one database
    connection, which belongs to the thread that uses it first; another thread or process opens a workspace of its
    own.
    """

    def __init__(self, folder: Path, config: Config, *, read_only: bool = False) -> None:
        self.folder = folder
        self.config = config
        self.read_only = read_only
        self.archive_folder = folder / "archive"
        self.models_folder = folder / "models"
        self.index_folder = folder / "index"

    @classmethod
    def create(cls, path: Path, **places: str) -> Self:
        """Make a folder a workspace and open it; other files in it stay.

        `places` are the settings of parts that lie elsewhere: `database`, `archive`. Raises WorkspaceError if it is a
        workspace already, if a name that Wayhound needs is taken, or if the folder or the database cannot be written.
        """
        settings = default_toml(**places)
        Config.from_toml(settings)
        with _plain_errors(path):
            _make_folder(path)
            _refuse_clashes(path)
            if places.get("database"):  # a folder is made a workspace only if its database can be used
                open_database(path / DATABASE_NAME, places["database"]).close()
            write_file(path / FILE_NAME, settings.encode())  # now a workspace: `open` makes the rest
        workspace = cls.open(path)
        try:
            _ = workspace.database
        except BaseException:
            workspace.close()
            raise
        return workspace

    @classmethod
    def open(cls, path: Path, *, read_only: bool = False) -> Self:
        """Open a workspace; one made under the product's old name is brought up to date.

        With `read_only`, nothing in the folder is written, so that no write access is needed.
        Raises WorkspaceError if it is not a workspace or cannot be read, ConfigError if its settings are wrong.
        """
        with _plain_errors(path):
            if path.exists() and not path.is_dir():
                raise WorkspaceError(f"{path} is a file; a workspace is a folder.")
            if (path / OLD_FILE_NAME).exists() and not read_only:
                _rename_old_files(path)
            if not (path / FILE_NAME).exists():
                raise WorkspaceError(f"{_named(path)} is not a workspace.", next_step=f"init {path}")
            config = Config.read(path / FILE_NAME)
            for name in () if read_only else FOLDER_NAMES:
                _make_folder(path / name)
        return cls(path.absolute(), config, read_only=read_only)

    @classmethod
    def on_node(cls, folder: Path, config: Config) -> Self:
        """Open a workspace whose database and archive are elsewhere. `folder`, made if missing, is for this machine.

        Raises WorkspaceError if the folder cannot be used.
        """
        with _plain_errors(folder):
            for path in (folder, *(folder / name for name in FOLDER_NAMES)):
                _make_folder(path)
        return cls(folder.absolute(), config)

    @cached_property
    def database(self) -> Database:
        return open_database(self.database_file, self.config.database, read_only=self.read_only)

    @property
    def database_file(self) -> Path:
        return self.folder / DATABASE_NAME

    @property
    def query_log_file(self) -> Path:
        """The queries of the portal's visitors, if the settings keep them."""
        return self.folder / "queries.tsv"

    @cached_property
    def stores(self) -> Stores:
        return Stores(self.database)

    @cached_property
    def archive(self) -> ArchiveReader:
        from wayhound.archive.reader import ArchiveReader  # noqa: PLC0415 - most commands read no archive

        return ArchiveReader(self.archive_folder, self.config.agent.name, self.location)

    @cached_property
    def location(self) -> Location | None:
        """The place that the archive shares with other machines; None if it is in this folder alone."""
        if not self.config.archive:
            return None
        from wayhound.archive.location import open_location  # noqa: PLC0415 - most workspaces have none

        return open_location(self.config.archive)

    def archive_writer(self, name: str) -> ArchiveWriter:
        """Return a writer of new archive files with `name` in their names; close it after use.

        Where the archive is shared, closed files are uploaded, and the names are unique over all machines.
        """
        from wayhound.archive.writer import ArchiveWriter  # noqa: PLC0415

        software = f"Wayhound/{__version__}"
        if self.location is None:
            return ArchiveWriter(self.archive_folder, name, software=software)
        from wayhound.archive.spool import MAX_SEGMENT_BYTES, MAX_SEGMENT_SECONDS, Spool  # noqa: PLC0415

        return ArchiveWriter(
            self.archive_folder,
            f"{name}_{socket.gethostname()}_{secrets.token_hex(4)}",
            max_bytes=MAX_SEGMENT_BYTES,
            max_seconds=MAX_SEGMENT_SECONDS,
            software=software,
            spool=Spool(self.archive_folder, self.location),
        )

    @cached_property
    def forage_models(self) -> ForageModels:
        return ForageModels(self.models_folder)

    @cached_property
    def search_index(self) -> SearchIndex:
        """The search index for reading; any number of threads may share it."""
        from wayhound.search.index import SearchIndex  # noqa: PLC0415 - a forage needs no search engine

        return SearchIndex(self.index_folder, read_only=self.read_only)

    def index_writer(self, *, fresh: bool = False) -> IndexWriter:
        """Return a writer of the search index; with `fresh`, of a new build that replaces the one in use."""
        from wayhound.search.snapshot import IndexWriter  # noqa: PLC0415

        return IndexWriter(self.index_folder, fresh=fresh)

    def close(self) -> None:
        if "database" in self.__dict__:
            self.database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def is_writable(folder: Path) -> bool:
    """Return True if this process may write to a workspace, or to a folder that is none yet."""
    database = folder / DATABASE_NAME
    return not database.exists() or all(os.access(path, os.W_OK) for path in (folder, database))


def _make_folder(path: Path) -> None:
    """Create a folder for its owner alone, if it is missing. Raises WorkspaceError if a file has its name."""
    if path.exists() and not path.is_dir():
        raise WorkspaceError(f"{path} is a file, and a folder must stand there. Move it away.")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.mkdir(mode=0o700, exist_ok=True)


def _refuse_clashes(path: Path) -> None:
    if (path / FILE_NAME).exists() or (path / OLD_FILE_NAME).exists():
        raise WorkspaceError(f"{_named(path)} is a workspace already.")
    for name in (DATABASE_NAME, *FOLDER_NAMES):
        if _holds_something(path / name):
            raise WorkspaceError(
                f"{_named(path)} holds {name} already, a name that Wayhound needs. Move it away, or choose "
                "another folder."
            )


def _holds_something(path: Path) -> bool:
    return any(path.iterdir()) if path.is_dir() else path.exists()


def _named(path: Path) -> str:
    """Return the folder as the person named it, but `.` in full."""
    return str(path if path.name else path.absolute())


# Workspaces of version 0.1, when the product was called Trailmark


def _rename_old_files(path: Path) -> None:
    """Give the settings and the database their present names.

    The settings are renamed last: until then the folder counts as an old workspace, so that an upgrade that was
    killed is continued by the next `open`. Raises WorkspaceLocked if another process has the database open, and
    WorkspaceError if files of both names exist.
    """
    with _folder_lock(path):
        settings, database = path / OLD_FILE_NAME, path / OLD_DATABASE_NAME
        if not settings.exists():
            return  # another process was quicker
        for old, new in ((settings, path / FILE_NAME), (database, path / DATABASE_NAME)):
            if old.exists() and new.exists():
                raise WorkspaceError(
                    f"{_named(path)} holds both {old.name}, of a workspace made by Trailmark, and {new.name}. "
                    "Wayhound cannot tell which one counts: move the other one away."
                )
        if database.exists():
            rename_database(database, path / DATABASE_NAME)
        write_file(settings, _with_new_name(settings.read_bytes()))
        settings.rename(path / FILE_NAME)


def _with_new_name(settings: bytes) -> bytes:
    """Return settings that name us Wayhound where they had the default; a name that a person chose stays."""
    settings = settings.replace(
        b"# The settings of this Trailmark workspace.", b"# The settings of this Wayhound workspace."
    )
    return re.sub(rb'(?m)^name = "Trailmark"', b'name = "Wayhound"', settings)


@contextmanager
def _folder_lock(path: Path) -> Iterator[None]:
    """Hold a lock on the folder itself, which leaves no file behind."""
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


# Errors


@contextmanager
def _plain_errors(path: Path) -> Iterator[None]:
    """Turn errors of the operating system into a WorkspaceError that says what to do."""
    try:
        yield
    except OSError as error:
        raise WorkspaceError(_advice(error, str(error.filename or path))) from error


def _advice(error: OSError, path: str) -> str:
    match error.errno:
        case errno.EACCES | errno.EPERM | errno.EROFS:
            return f"{path} may not be read or written. Check its permissions, or choose another folder."
        case errno.ENOSPC | errno.EDQUOT:
            return f"The disk is full: {path} could not be written. Free some space and try again."
        case errno.ENOTDIR | errno.EEXIST:
            return f"A file is in the way of {path}. Move it away, or choose another folder."
        case _:
            return f"{path} cannot be used: {error.strerror}."
