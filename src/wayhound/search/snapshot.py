"""The index folder: opened for reading and reopened when it has changed on disk, written by one process at a time.

index/current.json     the build in use
index/0001/            tantivy's files; followed.json: the last change of the records in them; facets.txt: facet values;
                       similar.npz: the documents most similar to each, as of a build or a large update
index/writer.lock      locked by the one process that writes
"""

from __future__ import annotations

import fcntl
import json
import math
import os
import shutil
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, dataclass, field
from functools import cached_property
from mmap import ACCESS_READ, mmap
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Lock
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from pydantic_core import from_json

from wayhound.errors import WorkspaceError, WorkspaceLocked
from wayhound.files import write_file
from wayhound.search.query import FIELDS, QueryPart, YearRange
from wayhound.search.ranking import Ranking
from wayhound.search.schema import (
    BODY_FIELD,
    CITED_ONLY,
    CLASS_SEPARATOR,
    FORMAT,
    TEXT_FIELDS,
    IndexDocument,
    facet_values,
    is_name,
    make_schema,
    record_key,
    tantivy,
    to_tantivy,
)
from wayhound.search.similar import SimilarDocuments, read_similar

CURRENT, STATE, LOCK = "current.json", "followed.json", "writer.lock"
FACET_VALUES = "facets.txt"


@dataclass(frozen=True, slots=True)
class IndexState:
    """The last record change in an index, and the names of its fields and facets."""

    change: int = 0
    fields: tuple[str, ...] = ()
    facets: tuple[str, ...] = ()


def current_build(folder: Path) -> Path | None:
    """Return the build in use, or None if there is none of this format."""
    content = _read_json(folder / CURRENT)
    if content.get("format") != FORMAT or not str(content.get("build", "")).isdigit():
        return None
    build = folder / str(content["build"])
    return build if (build / "meta.json").exists() else None


def use_build(folder: Path, build: Path) -> None:
    """Switch to a build in one step and delete all others."""
    _write_json(folder / CURRENT, {"format": FORMAT, "build": build.name})
    clear_builds(folder, build)


def new_build(folder: Path) -> Path:
    """Create an empty folder for a build, with a number above all others. It is not in use yet."""
    clear_builds(folder, current_build(folder))
    content = str(_read_json(folder / CURRENT).get("build", ""))
    numbers = [int(name) for name in (content, *(path.name for path in folder.iterdir())) if name.isdigit()]
    build = folder / f"{max(numbers, default=0) + 1:04}"
    build.mkdir()
    return build


def clear_builds(folder: Path, kept: Path | None) -> None:
    """Delete builds that were abandoned or replaced. Readers with open files keep reading them."""
    for path in folder.iterdir():
        if path.is_dir() and path.name.isdigit() and path != kept:
            shutil.rmtree(path, ignore_errors=True)


def read_state(build: Path) -> IndexState:
    content = _read_json(build / STATE)
    change = content.get("change", 0)
    return IndexState(
        change if isinstance(change, int) else 0, _names(content.get("fields")), _names(content.get("facets"))
    )


def write_state(build: Path, state: IndexState) -> None:
    """Save the state, after the commit that it describes: if it is lost, changes are only indexed again."""
    _write_json(build / STATE, asdict(state))


@contextmanager
def writer_lock(folder: Path) -> Iterator[None]:
    """Lock the index for one writer. Raises WorkspaceLocked if another process has it.

    The operating system releases the lock when the process ends, however it ends.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / LOCK).open("w") as file:
        try:
            fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise WorkspaceLocked(
                "Another process is writing the search index. Wait until it has finished, or stop it."
            ) from None
        yield


def _names(value: Any) -> tuple[str, ...]:
    return tuple(map(str, value)) if isinstance(value, list) else ()


def _read_json(path: Path) -> dict[str, Any]:
    """Return the JSON object in a file, or an empty one if the file is missing or damaged."""
    try:
        content = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return content if isinstance(content, dict) else {}


def _write_json(path: Path, content: dict[str, Any]) -> None:
    write_file(path, json.dumps(content).encode())


class FacetCodes:
    """Numbers for the values of facets, for the writer: numbers are counted in half the time that texts take.

    The file of a build has a value on each line, and the number of the line is its code. Lines are only added, before
    the documents that use them are committed.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        lines = _whole_lines(path)
        self._codes = {line.decode(): code for code, line in enumerate(lines)}
        self._saved_bytes = sum(map(len, lines)) + len(lines)
        self._new: list[str] = []

    def code(self, value: str) -> int:
        code = self._codes.get(value)
        if code is None:
            code = self._codes[value] = len(self._codes)
            self._new.append(value)
        return code

    def save(self) -> None:
        """Write new values, over the torn line of a process that was killed."""
        content = "".join(f"{value}\n" for value in self._new).encode()
        with self._path.open("r+b" if self._path.exists() else "wb") as file:
            file.truncate(self._saved_bytes)
            file.seek(self._saved_bytes)
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        self._saved_bytes += len(content)
        self._new.clear()


MAX_FACET_VALUES = 20_000  # that a snapshot remembers


class FacetValues:
    """The values of facets by their codes, for readers. The file stays on disk, but for what is read of it.

    It is opened at once, with the index that uses the codes: a fresh build may delete it before the first search ends.
    """

    def __init__(self, path: Path) -> None:
        self._content: bytes | mmap = b""
        with suppress(OSError, ValueError), path.open("rb") as file:  # an empty file cannot be mapped
            self._content = mmap(file.fileno(), 0, access=ACCESS_READ)
        self._read: dict[int, str] = {}

    @cached_property
    def _ends(self) -> NDArray[np.int64]:
        """Return where the lines end."""
        return np.flatnonzero(np.frombuffer(self._content, np.uint8) == ord("\n"))

    def __getitem__(self, code: int) -> str:
        value = self._read.get(code)
        if value is None:
            start = int(self._ends[code - 1]) + 1 if code else 0
            value = self._content[start : int(self._ends[code])].decode()
            if len(self._read) < MAX_FACET_VALUES:
                self._read[code] = value
        return value


def _whole_lines(path: Path) -> list[bytes]:
    try:
        return path.read_bytes().split(b"\n")[:-1]
    except FileNotFoundError:
        return []


Stamp = tuple[tuple[int, int, int], ...]
MAX_FREQUENCIES = 50_000  # words of a snapshot whose frequency is remembered


@dataclass(frozen=True)
class IndexSnapshot:
    """The index as it was when opened; later writes do not change it."""

    index: tantivy.Index
    searcher: tantivy.Searcher
    build: Path
    state: IndexState
    stamp: Stamp
    facet_values: FacetValues
    _frequencies: dict[str, int] = field(default_factory=dict, compare=False, repr=False)
    _rarities: dict[str, float] = field(default_factory=dict, compare=False, repr=False)
    _classes: dict[float, tuple[str, tuple[str, ...]]] = field(
        default_factory=dict, compare=False, repr=False
    )

    def rarities(self, words: Iterable[str]) -> list[float]:
        """Return the inverse document frequency of each word, 0 for one that no other document has.

        They are remembered, since few words make up most texts.
        """
        known = self._rarities
        return [known[word] if word in known else self._rarity(word) for word in words]

    def _rarity(self, word: str) -> float:
        frequency = self.searcher.doc_freq("words", word)
        rarity = math.log(self.searcher.num_docs / frequency) if frequency > 1 else 0.0
        if len(self._rarities) < MAX_FREQUENCIES:
            self._rarities[word] = rarity
        return rarity

    def entries(self, part: QueryPart) -> int:
        """Return about how many entries of the index a part of a query reads; those of a phrase hold positions."""
        if isinstance(part, YearRange):
            return self.searcher.num_docs
        if part.prefix:
            return len(TEXT_FIELDS) * self.searcher.num_docs
        words = part.words
        return sum(map(self._frequency, words)) * (1 if len(words) == 1 else 4)

    def _frequency(self, word: str) -> int:
        """Return the number of entries of a word, in the body and elsewhere."""
        frequency = self._frequencies.get(word)
        if frequency is None:
            frequency = sum(self.searcher.doc_freq(name, word) for name in ("words", BODY_FIELD))
            if len(self._frequencies) < MAX_FREQUENCIES:
                self._frequencies[word] = frequency
        return frequency

    def class_values(self, code: float) -> tuple[str, tuple[str, ...]]:
        """Return the type and the topics that a class stands for; they are remembered, since all queries share them."""
        values = self._classes.get(code)
        if values is None:
            kind, *topics = (value[1:] for value in self.facet_values[int(code)].split(CLASS_SEPARATOR))
            values = kind, tuple(topics)
            if len(self._classes) < MAX_FACET_VALUES:
                self._classes[code] = values
        return values

    @cached_property
    def similar(self) -> SimilarDocuments | None:
        """Similar documents that were found with the build; None if they have to be searched for."""
        return read_similar(self.build)

    @cached_property
    def fields(self) -> tuple[str, ...]:
        """The names that may be followed by a colon in a query."""
        return tuple(dict.fromkeys((*FIELDS, *self.state.fields)))

    @cached_property
    def ranking(self) -> Ranking:
        return Ranking(self.searcher, self.index.schema)

    def shown(self, address: tantivy.DocAddress) -> dict[str, Any]:
        """Return the stored values of a document that a list of results shows."""
        kept = self.searcher.doc(address).get_first("shown")
        read: dict[str, Any] = from_json(kept or b"{}")  # in a third of the time that `json` takes
        return read

    @cached_property
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
    """Opens the newest snapshot. Checking for a newer one costs two `stat` calls."""

    folder: Path
    read_only: bool = False
    _snapshot: IndexSnapshot | None = None
    _lock: Lock = field(default_factory=Lock)

    @property
    def opened(self) -> IndexSnapshot | None:
        """The snapshot that was opened last, without a look for a newer one."""
        return self._snapshot

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
            damage: Exception | None = None
            try:
                opened = self._open(build, stamp)
            except (OSError, ValueError) as error:
                damage = error
            if current_build(self.folder) != build:  # a new build has just replaced it, and deletes its files
                return self._reopen()
            if damage:
                raise WorkspaceError(
                    f"The search index in {self.folder} cannot be read ({damage}).",
                    next_step="index --rebuild",
                ) from damage
            self._snapshot = opened
        return self._snapshot

    def _open(self, build: Path, stamp: Stamp) -> IndexSnapshot:
        if self.read_only:
            with _shadow(build) as shadow:
                return _snapshot_of(tantivy.Index.open(str(shadow)), build, stamp)
        known = self._snapshot
        index = known.index if known and known.build == build else tantivy.Index.open(str(build))
        return _snapshot_of(index, build, stamp)


def _snapshot_of(index: tantivy.Index, build: Path, stamp: Stamp) -> IndexSnapshot:
    """Return a snapshot of the last commit. Its values of facets are opened last: they may be more, but not fewer."""
    index.config_reader("manual")
    index.reload()
    state = read_state(build)
    return IndexSnapshot(index, index.searcher(), build, state, stamp, FacetValues(build / FACET_VALUES))


@contextmanager
def _shadow(build: Path) -> Iterator[Path]:
    """Yield a folder of links to the files of a build, for the time of opening it.

    tantivy locks a file in the folder while it opens an index, which a folder without write access does not allow. The
    files stay mapped when the links are gone.
    """
    with TemporaryDirectory(prefix="wayhound-index-") as name:
        for path in build.iterdir():
            if not path.name.endswith(".lock"):
                Path(name, path.name).symlink_to(path)
        yield Path(name)


def _stamp(folder: Path, build: Path) -> Stamp:
    """Return what tells this state of the files from any other: every commit ends by writing one of these.

    It is asked for several times for each page that is served.
    """
    return _file_stamp(f"{folder}/{CURRENT}"), _file_stamp(f"{build}/{STATE}")


def _file_stamp(path: str) -> tuple[int, int, int]:
    try:
        status = os.stat(path)  # noqa: PTH116 - a `Path` for each would take four times as long
    except OSError:
        return (0, 0, 0)
    return (status.st_mtime_ns, status.st_ino, status.st_size)


HEAP_BYTES = 96_000_000
FRESH_HEAP_BYTES = 256_000_000
"""Memory for documents that are not written yet. Each time it is full, a segment is written, and a second
one costs a search with facets 0.2 ms. 50,000 papers become one segment, in a process of 213 MB.
"""


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
        self._codes = FacetCodes(self._build / FACET_VALUES)
        heap_bytes = FRESH_HEAP_BYTES if self.began_empty else HEAP_BYTES
        try:
            self._index = tantivy.Index(make_schema(), path=str(self._build))
            self._index.config_reader("manual")  # a writer needs no thread that watches for new files
            self._writer: tantivy.IndexWriter = self._index.writer(heap_bytes, 1)
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
            self._writer.add_document(to_tantivy(document, self._codes.code))
        self._fields.update(name for name in (*document.fields, *document.by_name) if is_name(name))
        self._facets.update(facet_values(document))

    def remove(self, kind: str, record_id: str) -> None:
        self._writer.delete_documents_by_term("key", record_key(kind, record_id))

    def commit(self, change: int | None = None) -> None:
        """Commit all added documents; `change` is the last record change among them."""
        with self._plain_errors():
            self._codes.save()
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
        """Turn a full disk, which the library reports as ValueError, into WorkspaceError."""
        try:
            yield
        except (ValueError, OSError) as error:
            raise WorkspaceError(
                f"The search index in {self.folder} could not be written ({error}). Check that its disk has space, "
                "then run the same command again: nothing is lost."
            ) from error
