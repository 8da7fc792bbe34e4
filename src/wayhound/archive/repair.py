"""Mends the archive after a crash: cuts the record that was being written when the process died.

Only files with a marker are looked at, and of those only what is not known to be on the disk, so that a
start after a clean end costs one look into the folder.
"""

from __future__ import annotations

import fcntl
import mmap
import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from wayhound.archive.warc_file import MARKER_SUFFIX
from wayhound.archive.warc_read import members
from wayhound.errors import ArchiveError

_MEMBER_START = re.compile(rb"\x1f\x8b\x08")


@dataclass(frozen=True, slots=True)
class Repaired:
    """What was done to a file whose writer had died.

    `damaged_at` is where a record is broken although whole ones follow. Nothing is cut then: the others can
    still be read by their place.
    """

    file: str
    kept_bytes: int
    cut_bytes: int = 0
    damaged_at: int | None = None


def repair(folder: Path) -> list[Repaired]:
    """Mend every file of `folder` that was left open, except those of writers that are alive."""
    repaired = []
    for marker in sorted(folder.glob(f"*{MARKER_SUFFIX}")):
        path = marker.with_name(marker.name.removesuffix(MARKER_SUFFIX))
        try:
            done = _repair_file(path, marker)
        except OSError as error:
            raise ArchiveError(
                f"{path} cannot be repaired: {(error.strerror or str(error)).lower()}."
            ) from error
        if done:
            repaired.append(done)
    return repaired


def _repair_file(path: Path, marker: Path) -> Repaired | None:
    """None when there is nothing to tell: the file is not there, or another process sees to it."""
    try:
        file = path.open("r+b")
    except FileNotFoundError:
        marker.unlink(missing_ok=True)
        return None
    with file:
        if not _lock(file):
            return None
        done = _cut_tail(file, path, _known_whole(marker))
        if done.kept_bytes == 0:
            path.unlink()
        marker.unlink(missing_ok=True)
    return done


def _lock(file: BinaryIO) -> bool:
    try:
        fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _known_whole(marker: Path) -> int:
    try:
        return int(marker.read_bytes())
    except (OSError, ValueError):  # a marker that broke in the same crash
        return 0


def _cut_tail(file: BinaryIO, path: Path, known_whole: int) -> Repaired:
    size = file.seek(0, os.SEEK_END)
    whole = file.seek(known_whole if known_whole <= size else 0)
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
        starts = [found.start() for found in _MEMBER_START.finditer(view, damaged_at + 1)]
    return any(_is_whole_record(file, path, start) for start in starts)


def _is_whole_record(file: BinaryIO, path: Path, start: int) -> bool:
    file.seek(start)
    try:
        return next(members(file, path)).data.startswith(b"WARC/")
    except ArchiveError:
        return False
