"""A WARC file while it is being written: locked, marked, and whole after every append.

The marker (``NAME.warc.gz.open``) stands beside the file from its first byte to its clean end, and holds the
number of bytes known to be on the disk itself. `archive_repair` looks at marked files alone.
"""

from __future__ import annotations

import errno
import fcntl
import os
from contextlib import suppress
from itertools import count
from pathlib import Path

from wayhound.errors import ArchiveError

MARKER_SUFFIX = ".open"

_KNOWN_WHOLE = b"%020d"  # of one size, so that it can be written over on a full disk
_NO_SPACE = {errno.ENOSPC, errno.EDQUOT}


class WarcFile:
    """Append-only. What `append` was given is with the operating system when it returns."""

    def __init__(self, path: Path, descriptor: int) -> None:
        self.path = path
        self.size = 0
        self._descriptor = descriptor
        self._marker = path.with_name(path.name + MARKER_SUFFIX)

    @classmethod
    def create(cls, folder: Path, stem: str) -> WarcFile:
        """A new file ``STEM-00000.warc.gz``, or the next number that is free."""
        try:
            folder.mkdir(parents=True, exist_ok=True)
            file = cls(*_create_first_free(folder, stem))
        except OSError as error:
            raise ArchiveError(f"No archive file can be made in {folder}: {_why(error)}.") from error
        file._lock_and_mark()
        return file

    def append(self, data: bytes) -> int:
        """Write `data` wholly or not at all; returns the offset where it starts."""
        offset = self.size
        try:
            _write_all(self._descriptor, data, offset)
        except OSError as error:
            self._cut_back(offset)
            raise ArchiveError(f"{self.path} cannot take another record: {_why(error)}.") from error
        self.size = offset + len(data)
        return offset

    def sync(self) -> None:
        """Onto the disk itself, so that a power cut loses nothing written before."""
        self._to_disk()
        with suppress(OSError), self._marker.open("r+b") as marker:  # only saves the repair some reading
            marker.write(_KNOWN_WHOLE % self.size)

    def close(self) -> None:
        try:
            self._to_disk()
            self._marker.unlink(missing_ok=True)
        finally:
            os.close(self._descriptor)  # which also gives up the lock

    def discard(self) -> None:
        """Take the file away again, for when not even its first record found room."""
        self.path.unlink(missing_ok=True)
        self._marker.unlink(missing_ok=True)
        os.close(self._descriptor)

    def _lock_and_mark(self) -> None:
        """The lock comes first: a marker without a lock tells that its writer is dead."""
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self._marker.write_bytes(_KNOWN_WHOLE % 0)
        except OSError as error:
            self.discard()
            raise ArchiveError(f"{self.path} cannot be marked as being written: {_why(error)}.") from error

    def _to_disk(self) -> None:
        try:
            os.fsync(self._descriptor)
            _sync_folder(self.path.parent)
        except OSError as error:
            raise ArchiveError(f"{self.path} cannot be brought to the disk: {_why(error)}.") from error

    def _cut_back(self, size: int) -> None:
        with suppress(OSError):  # what cannot be cut now is cut by the repair at the next start
            os.ftruncate(self._descriptor, size)


def _create_first_free(folder: Path, stem: str) -> tuple[Path, int]:
    for number in count():
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


def _why(error: OSError) -> str:
    if error.errno in _NO_SPACE:
        return "the disk is full; free some space and run the same command again"
    return (error.strerror or str(error)).lower()
