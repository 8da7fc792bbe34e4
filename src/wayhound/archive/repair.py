"""Repairs the archive after a crash: cuts off the record that was being written when the process died.

Only files with a marker are examined, and of those only the part that is not known to be on the disk, so after a clean
stop this costs one listing of the folder.
"""

from __future__ import annotations

import fcntl
import mmap
import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from wayhound.archive.warc_read import members
from wayhound.archive.writer import MARKER_SUFFIX
from wayhound.errors import ArchiveError

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
        if not _lock(file):
            return None
        result = _cut_tail(file, path, _flushed_bytes(marker))
        if result.kept_bytes == 0:
            path.unlink()
        marker.unlink(missing_ok=True)
    return result


def _lock(file: BinaryIO) -> bool:
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
