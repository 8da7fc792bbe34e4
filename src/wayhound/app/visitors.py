"""Counts of the portal's pages by day and kind of page. Nothing is kept of who asked, or what for."""

from __future__ import annotations

import fcntl
import json
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from wayhound.files import write_file

COUNTS_NAME = "visitors.json"
KINDS = {"": "home", "search": "search", "records": "records", "topics": "topics", "browse": "lists"}
"""First part of an address, and the kind of page that it is; other addresses are not counted."""

_KEPT_DAYS = 400
_WRITE_SECONDS = 30.0


def read_counts(folder: Path) -> dict[str, dict[str, int]]:
    """Return the pages sent on each day (UTC) by kind, the oldest day first; nothing if none were counted."""
    try:
        counts = json.loads((folder / COUNTS_NAME).read_text("utf-8"))
        return {
            str(day): {str(kind): int(n) for kind, n in kinds.items()}
            for day, kinds in sorted(counts.items())
        }
    except (OSError, ValueError, TypeError, AttributeError):
        return {}


@dataclass
class VisitorCounts:
    """Counts in memory that are added to the file of a workspace every half minute, and when the portal stops.

    Several processes add to one file. One that is killed loses the counts of its last half minute.
    """

    folder: Path
    clock: Callable[[], float] = time.time
    _counts: Counter[tuple[str, str]] = field(default_factory=Counter)
    _written_at: float | None = None

    def add(self, path: str) -> None:
        """Count a page that was sent; `path` is that of its address."""
        now = self.clock()
        kind = KINDS.get(path[1:].partition("/")[0].partition(".")[0])
        if kind is not None:
            self._counts[datetime.fromtimestamp(now, UTC).date().isoformat(), kind] += 1
        if self._written_at is None:
            self._written_at = now
        elif not 0 <= now - self._written_at < _WRITE_SECONDS:  # the clock may have been set back
            self.write()

    def write(self) -> None:
        """Add what was counted since the last time to the file."""
        self._written_at = self.clock()
        if not self._counts:
            return
        with (self.folder / f"{COUNTS_NAME}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            counts = read_counts(self.folder)
            for (day, kind), number in self._counts.items():
                kinds = counts.setdefault(day, {})
                kinds[kind] = kinds.get(kind, 0) + number
            kept = dict(sorted(counts.items())[-_KEPT_DAYS:])
            write_file(self.folder / COUNTS_NAME, json.dumps(kept).encode())
        self._counts.clear()
