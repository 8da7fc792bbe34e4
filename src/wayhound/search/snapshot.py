"""One state of an index on disk, opened for reading, and how to notice that there is a newer one."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import Any

from wayhound.errors import WorkspaceError
from wayhound.search.documents import record_key
from wayhound.search.folder import CURRENT, FOLLOWED, IndexState, current_build, read_followed
from wayhound.search.ranking import Ranking
from wayhound.search.schema import NOT_HELD, tantivy

Stamp = tuple[tuple[int, int, int], ...]


@dataclass(frozen=True)
class IndexSnapshot:
    """A searcher sees the index as it was when it was made, whatever is written meanwhile."""

    index: tantivy.Index
    searcher: tantivy.Searcher
    build: Path
    followed: IndexState
    stamp: Stamp

    @property
    def ranking(self) -> Ranking:
        return Ranking(self.searcher, self.index.schema)

    def shown(self, address: tantivy.DocAddress) -> dict[str, Any]:
        """What a list shows of a document."""
        kept = self.searcher.doc(address).get_first("shown")
        read: dict[str, Any] = json.loads(bytes(kept or b"{}"))
        return read

    @property
    def not_held(self) -> tantivy.Query | None:
        """What is not held, only cited; None where there is nothing of that kind."""
        if not self.searcher.doc_freq("shelf", NOT_HELD):
            return None
        return tantivy.Query.term_query(self.index.schema, "shelf", NOT_HELD, "basic")

    def held(self, matching: tantivy.Query) -> tantivy.Query:
        """What matches without what is only cited."""
        not_held, occur = self.not_held, tantivy.Occur
        if not_held is None:
            return matching
        return tantivy.Query.boolean_query([(occur.Must, matching), (occur.MustNot, not_held)])

    def address(self, kind: str, record_id: str) -> tantivy.DocAddress | None:
        query = tantivy.Query.term_query(self.index.schema, "key", record_key(kind, record_id), "basic")
        hits = self.searcher.search(query, 1, count=False).hits
        return hits[0][1] if hits else None


@dataclass
class SnapshotOpener:
    """Opens the newest state; looking whether there is one costs three looks at files' dates."""

    folder: Path
    _opened: IndexSnapshot | None = None
    _lock: Lock = field(default_factory=Lock)

    def newest(self) -> IndexSnapshot | None:
        """None where nothing was indexed yet."""
        opened = self._opened
        if opened and opened.stamp == _stamp(self.folder, opened.build):
            return opened
        with self._lock:
            return self._reopen()

    def _reopen(self) -> IndexSnapshot | None:
        build = current_build(self.folder)
        if build is None:
            self._opened = None
            return None
        stamp = _stamp(self.folder, build)
        if self._opened is None or self._opened.stamp != stamp:
            try:
                self._opened = self._open(build, stamp)
            except ValueError as error:
                if current_build(self.folder) != build:  # a new one has just taken its place
                    return self._reopen()
                raise WorkspaceError(
                    f"The search index in {self.folder} cannot be read ({error}). "
                    "Build it again with: wayhound index --rebuild"
                ) from error
        return self._opened

    def _open(self, build: Path, stamp: Stamp) -> IndexSnapshot:
        if self._opened and self._opened.build == build:
            index = self._opened.index
            index.reload()
        else:
            index = tantivy.Index.open(str(build))
            index.config_reader("manual")
            index.reload()
        return IndexSnapshot(index, index.searcher(), build, read_followed(build), stamp)


def _stamp(folder: Path, build: Path) -> Stamp:
    return tuple(_file_stamp(path) for path in (folder / CURRENT, build / "meta.json", build / FOLLOWED))


def _file_stamp(path: Path) -> tuple[int, int, int]:
    try:
        found = path.stat()
    except OSError:
        return (0, 0, 0)
    return (found.st_mtime_ns, found.st_ino, found.st_size)
