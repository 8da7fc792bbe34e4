"""Writes the index: one writer at a time, in batches, so that a kill at any moment loses nothing for good."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Self

from wayhound.errors import WorkspaceError
from wayhound.search.documents import IndexDocument, record_key
from wayhound.search.folder import (
    IndexState,
    current_build,
    new_build,
    read_followed,
    use_build,
    write_followed,
    writer_lock,
)
from wayhound.search.schema import facets_of, is_name, make_schema, tantivy, to_tantivy

HEAP_BYTES = 96_000_000


class IndexWriter:
    """The one writer of an index; `with` holds the lock. What was not committed is dropped.

    With `fresh`, a new build is written beside the one in use, which `finish` replaces. `began_empty`: nothing is in
    the index but what this writer adds.
    """

    def __init__(self, folder: Path, *, fresh: bool = False) -> None:
        self.folder = folder
        self.fresh = fresh
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            stack.enter_context(writer_lock(self.folder))
            self._open()
            self._stack = stack.pop_all()
        return self

    def _open(self) -> None:
        in_use = None if self.fresh else current_build(self.folder)
        self._new = self.began_empty = in_use is None
        self._finished = False
        self._build = in_use or new_build(self.folder)
        followed = read_followed(self._build)
        self.change = followed.change
        self._fields, self._facets = set(followed.fields), set(followed.facets)
        try:
            self._index = tantivy.Index(make_schema(), path=str(self._build))
            self._index.config_reader("manual")  # else a thread would look for new files, to no purpose here
            self._writer: tantivy.IndexWriter = self._index.writer(HEAP_BYTES, 1)
        except ValueError as error:
            raise WorkspaceError(f"{_damaged(self.folder)} ({error})") from error

    def __exit__(self, *_: object) -> None:
        """Wait for the library's threads in any case: they would go on writing after the lock is gone."""
        with self._stack, suppress(ValueError):
            try:
                if not self._finished:
                    self._writer.wait_merging_threads()
            finally:
                del self._writer, self._index

    def add(self, document: IndexDocument, *, is_new: bool = False) -> None:
        """Add a document, in place of an earlier one of the same kind and id; one that `is_new` has none."""
        with self._plain_errors():
            if not is_new:
                self.remove(document.kind, document.id)
            self._writer.add_document(to_tantivy(document))
        self._fields.update(name for name in document.fields if is_name(name))
        self._facets.update(facets_of(document))

    def remove(self, kind: str, record_id: str) -> None:
        self._writer.delete_documents_by_term("key", record_key(kind, record_id))

    def commit(self, change: int | None = None) -> None:
        """Make all that was added findable; `change` is the store's last that is in it."""
        with self._plain_errors():
            self._writer.commit()
        self.change = self.change if change is None else change
        followed = IndexState(self.change, tuple(sorted(self._fields)), tuple(sorted(self._facets)))
        write_followed(self._build, followed)
        if self._new and not self.fresh:
            use_build(self.folder, self._build)
            self._new = False

    def finish(self) -> None:
        """Wait until the files are merged, and take a fresh build into use. Nothing can be added after."""
        with self._plain_errors():
            self._finished = True
            self._writer.wait_merging_threads()
        if self._new:
            use_build(self.folder, self._build)

    @contextmanager
    def _plain_errors(self) -> Iterator[None]:
        """The library has one error for all that its threads meet: as a rule, that the disk refuses."""
        try:
            yield
        except ValueError as error:
            raise WorkspaceError(
                f"The search index in {self.folder} could not be written ({error}). Check the space on its disk, "
                "and run the same command again: nothing is lost."
            ) from error


def _damaged(folder: Path) -> str:
    return f"The search index in {folder} is damaged. Build it again with: wayhound index --rebuild"
