"""Background jobs: their progress and how they ended."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from wayhound.store.database import Database

JobState = Literal["running", "done", "failed", "stopped"]

_SELECT = (
    "SELECT id, kind, state, done, total, sentence, pid, process_start, began_at, ended_at, run_id FROM job"
)


@dataclass(frozen=True, slots=True)
class Job:
    """A background job: `done` of `total` steps, and a sentence about it."""

    id: int
    kind: str
    state: JobState
    done: int
    total: int
    sentence: str
    pid: int | None
    process_start: str  # process ids are reused; this distinguishes ours from a later process
    began_at: float
    ended_at: float | None
    run_id: int | None  # the run that it works on

    @property
    def is_running(self) -> bool:
        return self.state == "running"


class JobStore:
    """Jobs by number. Only a running job can be updated: one that was stopped stays stopped."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def begin(self, kind: str, sentence: str, at: float, *, run_id: int | None = None) -> int:
        """Add a running job and return its number."""
        sql = "INSERT INTO job (kind, sentence, began_at, run_id) VALUES (?, ?, ?, ?) RETURNING id"
        return int(self._database.execute(sql, (kind, sentence, at, run_id)).fetchone()[0])

    def set_process(self, job_id: int, pid: int, start: str = "") -> None:
        self._database.execute("UPDATE job SET pid = ?, process_start = ? WHERE id = ?", (pid, start, job_id))

    def report(self, job_id: int, sentence: str, done: int, total: int) -> None:
        self._database.execute(
            "UPDATE job SET sentence = ?, done = ?, total = ? WHERE id = ? AND state = 'running'",
            (sentence, done, total, job_id),
        )

    def end(self, job_id: int, state: JobState, sentence: str, at: float) -> None:
        self._database.execute(
            "UPDATE job SET state = ?, sentence = ?, ended_at = ? WHERE id = ? AND state = 'running'",
            (state, sentence, at, job_id),
        )

    def end_dead(self, is_alive: Callable[[int, str], bool], at: float) -> None:
        """Mark the jobs whose process is dead as failed."""
        for job in self.running():
            if job.pid is not None and not is_alive(job.pid, job.process_start):
                self.end(job.id, "failed", "Its process ended before it had finished. Start it again.", at)

    def get(self, job_id: int) -> Job | None:
        row = self._database.execute(f"{_SELECT} WHERE id = ?", (job_id,)).fetchone()
        return Job(*row) if row else None

    def running(self, kind: str | None = None) -> list[Job]:
        sql = f"{_SELECT} WHERE state = 'running' AND (kind = ?1 OR ?1 IS NULL) ORDER BY id"
        return [Job(*row) for row in self._database.execute(sql, (kind,))]

    def last(self, kind: str) -> Job | None:
        """Return the job of this kind that was started last."""
        row = self._database.execute(f"{_SELECT} WHERE kind = ? ORDER BY id DESC LIMIT 1", (kind,)).fetchone()
        return Job(*row) if row else None
