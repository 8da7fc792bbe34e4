"""Write the index: one writer at a time, in batches, so that a crash loses nothing that is not indexed again."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Self

from wayhound.errors import WorkspaceError
from wayhound.search.documents import IndexDocument, record_key
from wayhound.search.schema import facet_values, is_name, make_schema, tantivy, to_tantivy
from wayhound.search.snapshot import (
    IndexState,
    current_build,
    new_build,
    read_state,
    use_build,
    write_state,
    writer_lock,
)

HEAP_BYTES = 96_000_000


class IndexWriter:
    """The writer of an index, as a context manager that holds its lock. Uncommitted documents are dropped.

    With `fresh`, it writes a new build, which replaces the one in use at `finish`. `began_empty` is True if the
    index contains only what this writer added. Raises WorkspaceLocked if another process is writing.
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
        state = read_state(self._build)
        self.change = state.change
        self._fields, self._facets = set(state.fields), set(state.facets)
        try:
            self._index = tantivy.Index(make_schema(), path=str(self._build))
            self._index.config_reader("manual")  # a writer needs no thread that watches for new files
            self._writer: tantivy.IndexWriter = self._index.writer(HEAP_BYTES, 1)
        except ValueError as error:
            raise WorkspaceError(
                f"The search index in {self.folder} is damaged ({error}).", next_step="index --rebuild"
            ) from error

    def __exit__(self, *_: object) -> None:
        """Wait for the library's threads, which would keep writing after the lock is released."""
        with self._stack, suppress(ValueError):
            try:
                if not self._finished:
                    self._writer.wait_merging_threads()
            finally:
                del self._writer, self._index

    def add(self, document: IndexDocument, *, is_new: bool = False) -> None:
        """Add a document, replacing one of the same kind and id. Pass `is_new` if there is none, to save a lookup."""
        with self._plain_errors():
            if not is_new:
                self.remove(document.kind, document.id)
            self._writer.add_document(to_tantivy(document))
        self._fields.update(name for name in document.fields if is_name(name))
        self._facets.update(facet_values(document))

    def remove(self, kind: str, record_id: str) -> None:
        self._writer.delete_documents_by_term("key", record_key(kind, record_id))

    def commit(self, change: int | None = None) -> None:
        """Commit all added documents; `change` is the last record change among them."""
        with self._plain_errors():
            self._writer.commit()
        self.change = self.change if change is None else change
        state = IndexState(self.change, tuple(sorted(self._fields)), tuple(sorted(self._facets)))
        write_state(self._build, state)
        if self._new and not self.fresh:
            use_build(self.folder, self._build)
            self._new = False

    def finish(self) -> None:
        """Wait until files are merged, and switch to a fresh build. Nothing can be added afterwards."""
        with self._plain_errors():
            self._finished = True
            self._writer.wait_merging_threads()
        if self._new:
            use_build(self.folder, self._build)

    @contextmanager
    def _plain_errors(self) -> Iterator[None]:
        """Turn the library's ValueError, mostly a full disk, into WorkspaceError."""
        try:
            yield
        except ValueError as error:
            raise WorkspaceError(
                f"The search index in {self.folder} could not be written ({error}). Check that its disk has space, "
                "then run the same command again: nothing is lost."
            ) from error
