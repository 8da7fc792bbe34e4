"""Closed segments on their way from the local folder to the archive's location.

A segment is appended to on the machine of its worker, and uploaded when it is closed. It is deleted here once it is
there in full length. Until then it survives the end of the process: another process with the same folder repairs and
uploads it. Segments of one writer are uploaded in the order of their creation, so that a revisit record is never at the
location without the body that it refers to.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Condition, Thread

from wayhound.archive.location import Location, archive_name
from wayhound.archive.writer import MARKER_SUFFIX, repair, try_lock
from wayhound.errors import ArchiveError, ArchiveUnavailable

MAX_SEGMENT_BYTES = 64 << 20
MAX_SEGMENT_SECONDS = 30.0
"""A segment is closed and uploaded at this size or age, whichever comes first. The age bounds what is fetched again
when a machine is lost; each segment costs two requests to the object store."""

MAX_WAITING_BYTES = 4 << 30
"""Segments that may wait for an object store that does not answer. At 100 pages a second, some 30 minutes."""

ADOPT_SECONDS = 10.0
MAX_PAUSE_SECONDS = 10.0  # between two attempts
LOCK = ".adopting"


class Spool:
    """Uploads the segments of one folder in a thread of its own, until `close`."""

    def __init__(
        self, folder: Path, location: Location, *, max_waiting_bytes: int = MAX_WAITING_BYTES
    ) -> None:
        self._folder, self._location, self._max_bytes = folder, location, max_waiting_bytes
        self._queue: deque[Path] = deque()
        self._changed = Condition()
        self._closing = False
        self._failure: Exception | None = None
        self._failing_since = 0.0
        self._waiting_bytes = 0
        self._thread: Thread | None = None

    def start(self) -> None:
        """Begin to upload: first what processes that died have left in the folder."""
        if self._thread is None:
            self._folder.mkdir(parents=True, exist_ok=True)
            self._thread = Thread(target=self._run, name="wayhound-upload", daemon=True)
            self._thread.start()

    def add(self, path: Path) -> None:
        """Upload a segment that was closed."""
        with self._changed:
            self._queue.append(path)
            self._waiting_bytes += _size(path)  # 0 if another process has uploaded it already
            self._changed.notify_all()

    def check(self) -> None:
        """Raise ArchiveUnavailable if more segments wait than may."""
        if self._failure is not None and self._waiting_bytes > self._max_bytes:
            raise self._waiting_error(self._failure)

    def close(self, timeout_seconds: float) -> None:
        """Wait until all segments are uploaded. Raises ArchiveUnavailable if that takes longer than so many seconds."""
        if self._thread is None:
            return
        with self._changed:
            self._closing = True
            self._changed.notify_all()
        self._thread.join(timeout_seconds)
        with self._changed:
            if self._thread.is_alive() or self._queue:
                self._queue.clear()  # the thread ends after the attempt under way; the files stay
                raise self._waiting_error(self._failure)

    def _waiting_error(self, cause: Exception | None) -> ArchiveUnavailable:
        waited = f" for {time.monotonic() - self._failing_since:,.0f} seconds" if cause else ""
        return ArchiveUnavailable(
            f"{self._waiting_bytes / 1e6:,.1f} MB of fetched pages could not be uploaded to {self._location.url}"
            f"{waited}, and wait in {self._folder}. Nothing is lost: the same command uploads them and goes on. "
            f"{cause or ''}".rstrip()
        )

    def _run(self) -> None:
        adopted_at = 0.0
        while True:
            if time.monotonic() - adopted_at >= ADOPT_SECONDS:
                with suppress(OSError):  # of this machine's disk: what is in the queue comes first
                    self._adopt()
                adopted_at = time.monotonic()
            with self._changed:
                if not self._queue:
                    if self._closing:
                        return
                    self._changed.wait(ADOPT_SECONDS)
                    continue
                path = self._queue[0]
            self._upload_until_done(path)
            with self._changed:
                if self._queue and self._queue[0] == path:
                    self._queue.popleft()
                self._waiting_bytes = sum(_size(waiting) for waiting in self._queue)

    def _adopt(self) -> None:
        """Upload what processes that died have left. One process of the folder does that at a time."""
        with _locked_file(self._folder / LOCK) as is_ours:
            if not is_ours:
                return
            with suppress(ArchiveError):
                repair(self._folder)
            with self._changed:
                busy = {_writer_of(path) for path in self._queue}
            for path in waiting_segments(self._folder):
                if _writer_of(path) in busy:
                    continue
                try:
                    if not self._upload(path):
                        busy.add(_writer_of(path))  # its later segments must not come first
                except (ArchiveUnavailable, OSError):
                    return

    def _upload_until_done(self, path: Path) -> None:
        pause = 0.25
        while self._queue:  # emptied by `close` after its time
            try:
                if self._upload(path):
                    self._failure = None
                    return
            except (ArchiveUnavailable, OSError) as error:
                if self._failure is None:
                    self._failing_since = time.monotonic()
                self._failure = error
            with self._changed:
                self._changed.wait(pause)
            pause = min(2 * pause, MAX_PAUSE_SECONDS)

    def _upload(self, path: Path) -> bool:
        """Upload and delete a segment; return False if another process is at it, or still writes it."""
        try:
            file = path.open("rb")
        except FileNotFoundError:
            return True  # another process has uploaded it
        with file:
            if not try_lock(file) or path.with_name(path.name + MARKER_SUFFIX).exists():
                return False
            self._location.put(archive_name(path.name), path)
            path.unlink(missing_ok=True)
        return True


def waiting_segments(folder: Path) -> list[Path]:
    """Return the segments in a local folder, which are not uploaded or being written."""
    return sorted(path for path in folder.glob("*.warc.gz") if _size(path))


def _writer_of(segment: Path) -> str:
    """Return the name of the writer in the name of a segment: what is between its time and its number."""
    return segment.name.split("-", 2)[-1].rpartition("-")[0]


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


@contextmanager
def _locked_file(path: Path) -> Iterator[bool]:
    """Yield True if no other process holds the lock on a file, which is created if it is missing."""
    with path.open("ab") as file:
        yield try_lock(file)
