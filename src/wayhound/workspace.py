"""One folder, one project: opens its settings, database, archive, models and index."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Self

from wayhound import __version__
from wayhound.archive.archive import ArchiveWriter
from wayhound.archive.reader import ArchiveReader
from wayhound.config import FILE_NAME, Config, default_toml
from wayhound.errors import WorkspaceError
from wayhound.store.database import Database
from wayhound.store.model_files import ForageModels
from wayhound.store.stores import Stores

if TYPE_CHECKING:
    from wayhound.search.index import SearchIndex
    from wayhound.search.writer import IndexWriter

DATABASE_NAME = "wayhound.db"
FOLDER_NAMES = ("archive", "models", "index")


class Workspace:
    """A workspace folder. Make one with `create`, open it with `open`; the database is opened when needed."""

    def __init__(self, folder: Path, config: Config) -> None:
        self.folder = folder
        self.config = config
        self.archive_folder = folder / "archive"
        self.models_folder = folder / "models"
        self.index_folder = folder / "index"

    @classmethod
    def create(cls, path: Path) -> Self:
        """Make a folder a workspace. What is in it already stays, as long as it is not in the way."""
        with _plain_errors(path):
            _make_folder(path)
            _refuse_clashes(path)
            _write_settings(path / FILE_NAME)  # from here on it is a workspace: `open` makes what is missing
        workspace = cls.open(path)
        try:
            _ = workspace.database
        except BaseException:
            workspace.close()
            raise
        return workspace

    @classmethod
    def open(cls, path: Path) -> Self:
        with _plain_errors(path):
            if path.exists() and not path.is_dir():
                raise WorkspaceError(f"{path} is a file; a workspace is a folder.")
            if not (path / FILE_NAME).exists():
                raise WorkspaceError(
                    f"{_named(path)} is not a workspace. Make it one with: wayhound init {path}"
                )
            config = Config.read(path / FILE_NAME)
            for name in FOLDER_NAMES:
                _make_folder(path / name)
        return cls(path.absolute(), config)

    @cached_property
    def database(self) -> Database:
        return Database(self.folder / DATABASE_NAME)

    @cached_property
    def stores(self) -> Stores:
        return Stores(self.database)

    @cached_property
    def archive(self) -> ArchiveReader:
        return ArchiveReader(self.archive_folder)

    def archive_writer(self, name: str) -> ArchiveWriter:
        """Return a writer of new archive files with `name` in their names; close it after use."""
        return ArchiveWriter(self.archive_folder, name, software=f"Wayhound/{__version__}")

    @cached_property
    def forage_models(self) -> ForageModels:
        return ForageModels(self.models_folder)

    @cached_property
    def search_index(self) -> SearchIndex:
        """The search index for reading; any number of threads may share it."""
        from wayhound.search.index import SearchIndex  # noqa: PLC0415 - a forage needs no search engine

        return SearchIndex(self.index_folder)

    def index_writer(self, *, fresh: bool = False) -> IndexWriter:
        """Return a writer of the search index; with `fresh`, of a new build that replaces the one in use."""
        from wayhound.search.writer import IndexWriter  # noqa: PLC0415

        return IndexWriter(self.index_folder, fresh=fresh)

    def close(self) -> None:
        if "database" in self.__dict__:
            self.database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _make_folder(path: Path) -> None:
    """Make it unless it is there; a file of that name is in the way."""
    if path.exists() and not path.is_dir():
        raise WorkspaceError(f"{path} is a file, and a folder must stand there. Move it away.")
    path.mkdir(parents=True, exist_ok=True)


def _write_settings(path: Path) -> None:
    """Whole or not at all: half a file would be taken for settings."""
    draft = path.with_name(f".{path.name}.part")
    try:
        draft.write_text(default_toml(), "utf-8")
        draft.rename(path)
    except OSError:
        draft.unlink(missing_ok=True)
        raise


def _refuse_clashes(path: Path) -> None:
    if (path / FILE_NAME).exists():
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
    """The folder as the person named it; `.` says too little."""
    return str(path if path.name else path.absolute())


@contextmanager
def _plain_errors(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        where = error.filename or path
        raise WorkspaceError(_in_words(error, str(where))) from error


def _in_words(error: OSError, where: str) -> str:
    match error.errno:
        case errno.EACCES | errno.EPERM | errno.EROFS:
            return f"{where} may not be read or written. Check its permissions, or choose another folder."
        case errno.ENOSPC | errno.EDQUOT:
            return f"The disk is full: {where} could not be written. Free some space and try again."
        case errno.ENOTDIR | errno.EEXIST:
            return f"A file is in the way of {where}. Move it away, or choose another folder."
        case _:
            return f"{where} cannot be used: {error.strerror}."
