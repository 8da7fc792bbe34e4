"""Write the archive of a workspace, every response as a standard WARC record, and repair it after a crash.

When `ArchiveWriter.write` returns, the record is with the operating system, so `kill -9` loses nothing that was
returned; `sync` also guards against a power cut. A process never appends to the file of another.

While a file is being written, a marker (``NAME.warc.gz.open``) stands beside it, which holds the number of bytes known
to be on the disk. `repair` cuts off the record that was being written when a process died; it examines marked files
alone, and of those only the part not known to be on the disk, so after a clean stop it costs one listing of the folder.
"""

from __future__ import annotations

import errno
import fcntl
import mmap
import os
import re
import struct
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, BinaryIO, Self

from wayhound.archive.reader import CachedPage
from wayhound.archive.warc import (
    Original,
    conversion_record,
    info_record,
    members,
    new_record_id,
    not_modified_record,
    request_record,
    response_record,
    revisit_record,
    sha1_digest,
)
from wayhound.errors import ArchiveError
from wayhound.fetched import Fetched
from wayhound.visit import ArchiveRef

if TYPE_CHECKING:
    from wayhound.archive.spool import Spool

MARKER_SUFFIX = ".open"
CLOSE_SECONDS = 120.0  # for the last uploads

_WHOLE_BYTES = b"%020d"  # of one size, so that it can be overwritten on a full disk
_NO_SPACE = {errno.ENOSPC, errno.EDQUOT}
_POSITION = struct.Struct("<IQd")  # number of the file, offset, time; the URL follows


class ArchiveWriter:
    """Writes responses to ``wayhound-TIME-NAME-NUMBER.warc.gz`` files in `folder`.

    A file is created at the first `write`, so that an idle worker leaves none, and another one after it has grown
    past `max_bytes`, or `max_seconds` after its first record. TIME is that of the file's first record. Closed files are
    handed to `spool`, if there is one.
    """

    def __init__(
        self,
        folder: Path,
        name: str,
        *,
        max_bytes: int = 1 << 30,
        max_seconds: float = float("inf"),
        software: str,
        spool: Spool | None = None,
    ) -> None:
        self._folder = folder
        self._name = re.sub(r"[^A-Za-z0-9_.-]+", "_", name) or "archive"
        self._max_bytes, self._max_seconds = max_bytes, max_seconds
        self._software = software
        self._spool = spool
        self._created = 0  # files
        self._file: WarcFile | None = None
        self._bodies = StoredBodies()

    def write(
        self,
        fetched: Fetched,
        *,
        at: float,
        request_headers: Sequence[tuple[str, str]] | None = (),
        cached: CachedPage | None = None,
    ) -> ArchiveRef:
        """Store one response, and the request that it answers unless `request_headers` is None.

        A body that this writer has stored before, or that the `cached` page at this URL still has, is not stored
        again: a revisit record refers to it. A rendered page is stored as the response that it was made of, followed by
        the document; the position returned is that of the document. Raises ArchiveError if the file cannot be written.
        """
        source_id = new_record_id()
        source = fetched.source or fetched
        ref = self._write_response(source, at, source_id, request_headers, cached)
        if fetched.source is not None:
            original = Original(ref.file, ref.offset, source.url, at)
            file = self._file or self._create_file(at)
            record = conversion_record(fetched, at, source_id, original)
            ref = ArchiveRef(file.path.name, file.append(record), len(record))
        self._roll()
        return ref

    def _write_response(
        self,
        fetched: Fetched,
        at: float,
        record_id: str,
        request_headers: Sequence[tuple[str, str]] | None,
        cached: CachedPage | None,
    ) -> ArchiveRef:
        file = self._file or self._create_file(at)
        if cached and cached.is_confirmed_by(fetched):
            record = not_modified_record(fetched, at, cached.digest, record_id, cached.record)
            new_body = None
        else:
            record, new_body = self._with_body(fetched, at, record_id, cached)
        request = b""
        if request_headers is not None:
            request = request_record(fetched.url, request_headers, at, concurrent_to=record_id)
        ref = ArchiveRef(file.path.name, file.append(record + request), len(record))
        if new_body:
            self._bodies.add(new_body, Original(ref.file, ref.offset, fetched.url, at))
        return ref

    def _with_body(
        self, fetched: Fetched, at: float, record_id: str, cached: CachedPage | None
    ) -> tuple[bytes, bytes | None]:
        """Return the record of a response, and the digest of its body if no other record holds that body."""
        digest = sha1_digest(fetched.body)
        if not fetched.body:
            return response_record(fetched, at, digest, record_id), None
        same = cached.body if cached and cached.digest == digest else None
        original = self._bodies.find(digest) or same
        if original is None:
            return response_record(fetched, at, digest, record_id), digest
        self._bodies.add(digest, original)
        return revisit_record(fetched, at, digest, record_id, original), None

    def sync(self) -> None:
        """Flush what was written to the disk itself."""
        self._roll()
        if self._file:
            self._file.sync()

    def close(self) -> None:
        """Finish the current file; a later `write` creates another.

        With a spool, wait until all is uploaded, and raise ArchiveUnavailable if that takes too long.
        """
        self._finish_file()
        if self._spool:
            self._spool.close(CLOSE_SECONDS)

    def upload_leftovers(self) -> None:
        """Begin to upload what processes that died have left in the folder, where there is a spool."""
        if self._spool:
            self._spool.start()

    def _roll(self) -> None:
        """Finish a file that is large or old enough."""
        file = self._file
        if file and (file.size >= self._max_bytes or time.monotonic() - file.created_at >= self._max_seconds):
            self._finish_file()

    def _finish_file(self) -> None:
        file, self._file = self._file, None
        if file:
            file.close()
            if self._spool:
                self._spool.add(file.path)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _create_file(self, at: float) -> WarcFile:
        if self._spool:
            self._spool.check()
            self._spool.start()
        stamp = datetime.fromtimestamp(at, UTC).strftime("%Y%m%dT%H%M%S")
        # an uploaded file is gone from the folder, and its name must not be given again
        file = WarcFile.create(
            self._folder, f"wayhound-{stamp}-{self._name}", self._created if self._spool else 0
        )
        self._created += 1
        try:
            file.append(info_record(file.path.name, self._software, at))
        except ArchiveError:
            file.discard()
            raise
        self._file = file
        return file


class StoredBodies:
    """Positions of bodies in the archive by digest, for at least the last `capacity` / 2 of them.

    Two generations bound the memory: when the young one is full it replaces the old one, which is dropped. A body that
    is found in the old generation is added to the young one. About 30 MB at 100,000 bodies.
    """

    def __init__(self, capacity: int = 100_000) -> None:
        self._half = max(capacity // 2, 1)
        self._young: dict[bytes, bytes] = {}
        self._old: dict[bytes, bytes] = {}
        self._files: dict[str, int] = {}

    def find(self, digest: bytes) -> Original | None:
        packed = self._young.get(digest) or self._old.get(digest)
        if packed is None:
            return None
        number, offset, at = _POSITION.unpack_from(packed)
        url = packed[_POSITION.size :].decode("utf-8", "surrogatepass")
        return Original(list(self._files)[number], offset, url, at)

    def add(self, digest: bytes, original: Original) -> None:
        if digest in self._young:
            return
        if len(self._young) >= self._half:
            self._old, self._young = self._young, {}
        number = self._files.setdefault(original.file, len(self._files))
        position = _POSITION.pack(number, original.offset, original.at)
        self._young[digest] = position + original.url.encode("utf-8", "surrogatepass")


class WarcFile:
    """A locked, marked, append-only file. Its content is whole after every `append`."""

    def __init__(self, path: Path, descriptor: int) -> None:
        self.path = path
        self.size = 0
        self.created_at = time.monotonic()
        self._descriptor = descriptor
        self._marker = path.with_name(path.name + MARKER_SUFFIX)

    @classmethod
    def create(cls, folder: Path, stem: str, first: int = 0) -> WarcFile:
        """Create ``STEM-00000.warc.gz``, or the next number from `first` on that is free. Raises ArchiveError."""
        try:
            folder.mkdir(parents=True, exist_ok=True)
            file = cls(*_create_first_free(folder, stem, first))
        except OSError as error:
            raise ArchiveError(f"No archive file can be created in {folder}: {_reason(error)}.") from error
        file._lock_and_mark()
        return file

    def append(self, data: bytes) -> int:
        """Write all of `data` or nothing, and return the offset where it starts. Raises ArchiveError."""
        offset = self.size
        try:
            _write_all(self._descriptor, data, offset)
        except OSError as error:
            self._cut_back(offset)
            raise ArchiveError(f"{self.path} cannot be written: {_reason(error)}.") from error
        self.size = offset + len(data)
        return offset

    def sync(self) -> None:
        """Flush to the disk itself, so that a power cut loses nothing written before."""
        self._flush()
        with suppress(OSError), self._marker.open("r+b") as marker:  # only saves the repair some reading
            marker.write(_WHOLE_BYTES % self.size)

    def close(self) -> None:
        try:
            self._flush()
            self._marker.unlink(missing_ok=True)
        finally:
            os.close(self._descriptor)  # also releases the lock

    def discard(self) -> None:
        """Delete the file, if there was no space for its first record."""
        self.path.unlink(missing_ok=True)
        self._marker.unlink(missing_ok=True)
        os.close(self._descriptor)

    def _lock_and_mark(self) -> None:
        """Lock before marking: a marker without a lock means that the writer is dead."""
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self._marker.write_bytes(_WHOLE_BYTES % 0)
        except OSError as error:
            self.discard()
            raise ArchiveError(f"{self.path} cannot be written: {_reason(error)}.") from error

    def _flush(self) -> None:
        try:
            os.fsync(self._descriptor)
            _sync_folder(self.path.parent)
        except OSError as error:
            raise ArchiveError(f"{self.path} cannot be flushed to the disk: {_reason(error)}.") from error

    def _cut_back(self, size: int) -> None:
        with suppress(OSError):  # if it fails, `repair` cuts it at the next start
            os.ftruncate(self._descriptor, size)


def _create_first_free(folder: Path, stem: str, first: int) -> tuple[Path, int]:
    for number in count(first):
        path = folder / f"{stem}-{number:05d}.warc.gz"
        with suppress(FileExistsError):
            flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC
            return path, os.open(path, flags, 0o644)
    raise AssertionError("unreachable: numbers do not end")


def _write_all(descriptor: int, data: bytes, offset: int) -> None:
    done = 0
    while done < len(data):
        done += os.pwrite(descriptor, memoryview(data)[done:], offset + done)


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _reason(error: OSError) -> str:
    if error.errno in _NO_SPACE:
        return "the disk is full; free some space and run the same command again"
    return (error.strerror or str(error)).lower()


_MEMBER_START = re.compile(rb"\x1f\x8b\x08")


@dataclass(frozen=True, slots=True)
class Repaired:
    """The result for a file whose writer had died.

    `damaged_at` is the offset of a broken record that whole records follow. Nothing is cut then: the others can still
    be read by their positions.
    """

    file: str
    kept_bytes: int
    cut_bytes: int = 0
    damaged_at: int | None = None


def repair(folder: Path) -> list[Repaired]:
    """Repair every file of `folder` that was left open, except those of writers that are alive.

    Raises ArchiveError if a file cannot be read or truncated.
    """
    repaired = []
    for marker in sorted(folder.glob(f"*{MARKER_SUFFIX}")):
        path = marker.with_name(marker.name.removesuffix(MARKER_SUFFIX))
        try:
            result = _repair_file(path, marker)
        except OSError as error:
            raise ArchiveError(
                f"{path} cannot be repaired: {(error.strerror or str(error)).lower()}."
            ) from error
        if result:
            repaired.append(result)
    return repaired


def _repair_file(path: Path, marker: Path) -> Repaired | None:
    """Return None if the file is gone or another process has it locked."""
    try:
        file = path.open("r+b")
    except FileNotFoundError:
        marker.unlink(missing_ok=True)
        return None
    with file:
        if not try_lock(file):
            return None
        result = _cut_tail(file, path, _flushed_bytes(marker))
        if result.kept_bytes == 0:
            path.unlink()
        marker.unlink(missing_ok=True)
    return result


def try_lock(file: BinaryIO) -> bool:
    """Lock a file until it is closed; return False if another process has it locked."""
    try:
        fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _flushed_bytes(marker: Path) -> int:
    try:
        return int(marker.read_bytes())
    except (OSError, ValueError):  # the marker was damaged by the same crash
        return 0


def _cut_tail(file: BinaryIO, path: Path, flushed: int) -> Repaired:
    size = file.seek(0, os.SEEK_END)
    whole = file.seek(flushed if flushed <= size else 0)
    try:
        for member in members(file, path):
            whole = member.end
    except ArchiveError:
        if _whole_record_follows(file, path, whole):
            return Repaired(path.name, size, damaged_at=whole)
    if whole < size:
        file.truncate(whole)
        os.fsync(file.fileno())
    return Repaired(path.name, whole, size - whole)


def _whole_record_follows(file: BinaryIO, path: Path, damaged_at: int) -> bool:
    with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as view:
        starts = [match.start() for match in _MEMBER_START.finditer(view, damaged_at + 1)]
    return any(_is_whole_record(file, path, start) for start in starts)


def _is_whole_record(file: BinaryIO, path: Path, start: int) -> bool:
    file.seek(start)
    try:
        return next(members(file, path)).data.startswith(b"WARC/")
    except ArchiveError:
        return False
