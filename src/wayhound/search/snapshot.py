"""An index opened for reading, and reopening it when it has changed on disk."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import Any

from wayhound.errors import WorkspaceError
from wayhound.search.documents import record_key
from wayhound.search.folder import CURRENT, STATE, IndexState, current_build, read_state
from wayhound.search.ranking import Ranking
from wayhound.search.schema import CITED_ONLY, tantivy

Stamp = tuple[tuple[int, int, int], ...]


@dataclass(frozen=True)
class IndexSnapshot:
    """The index as it was when opened; later writes do not change it."""

    index: tantivy.Index
    searcher: tantivy.Searcher
    build: Path
    state: IndexState
    stamp: Stamp

    @property
    def ranking(self) -> Ranking:
        return Ranking(self.searcher, self.index.schema)

    def shown(self, address: tantivy.DocAddress) -> dict[str, Any]:
        """Return the stored values of a document that a list of results shows."""
        kept = self.searcher.doc(address).get_first("shown")
        read: dict[str, Any] = json.loads(bytes(kept or b"{}"))
        return read

    @property
    def cited_only_query(self) -> tantivy.Query | None:
        """The query for works that are only cited, or None if there are none."""
        if not self.searcher.doc_freq("shelf", CITED_ONLY):
            return None
        return tantivy.Query.term_query(self.index.schema, "shelf", CITED_ONLY, "basic")

    def in_collection(self, query: tantivy.Query) -> tantivy.Query:
        """Return the query without works that are only cited."""
        cited_only, occur = self.cited_only_query, tantivy.Occur
        if cited_only is None:
            return query
        return tantivy.Query.boolean_query([(occur.Must, query), (occur.MustNot, cited_only)])

    def address(self, kind: str, record_id: str) -> tantivy.DocAddress | None:
        query = tantivy.Query.term_query(self.index.schema, "key", record_key(kind, record_id), "basic")
        hits = self.searcher.search(query, 1, count=False).hits
        return hits[0][1] if hits else None


@dataclass
class SnapshotOpener:
    """Opens the newest snapshot. Checking for a newer one costs three `stat` calls."""

    folder: Path
    _snapshot: IndexSnapshot | None = None
    _lock: Lock = field(default_factory=Lock)

    def newest(self) -> IndexSnapshot | None:
        """Return the newest snapshot, or None if nothing was indexed. Raises WorkspaceError if it is damaged."""
        snapshot = self._snapshot
        if snapshot and snapshot.stamp == _stamp(self.folder, snapshot.build):
            return snapshot
        with self._lock:
            return self._reopen()

    def _reopen(self) -> IndexSnapshot | None:
        build = current_build(self.folder)
        if build is None:
            self._snapshot = None
            return None
        stamp = _stamp(self.folder, build)
        if self._snapshot is None or self._snapshot.stamp != stamp:
            try:
                self._snapshot = self._open(build, stamp)
            except ValueError as error:
                if current_build(self.folder) != build:  # a new build has just replaced it
                    return self._reopen()
                raise WorkspaceError(
                    f"The search index in {self.folder} cannot be read ({error}).",
                    next_step="index --rebuild",
                ) from error
        return self._snapshot

    def _open(self, build: Path, stamp: Stamp) -> IndexSnapshot:
        if self._snapshot and self._snapshot.build == build:
            index = self._snapshot.index
            index.reload()
        else:
            index = tantivy.Index.open(str(build))
            index.config_reader("manual")
            index.reload()
        return IndexSnapshot(index, index.searcher(), build, read_state(build), stamp)


def _stamp(folder: Path, build: Path) -> Stamp:
    return tuple(_file_stamp(path) for path in (folder / CURRENT, build / "meta.json", build / STATE))


def _file_stamp(path: Path) -> tuple[int, int, int]:
    try:
        status = path.stat()
    except OSError:
        return (0, 0, 0)
    return (status.st_mtime_ns, status.st_ino, status.st_size)
