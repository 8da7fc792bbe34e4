"""Long work in processes of its own, so that pages stay fast and a crash harms nothing else."""

from __future__ import annotations

import json
import subprocess
import tempfile
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from wayhound.processes import (
    process_runs,
    process_start,
    python_command,
    start_process,
    terminate,
    wait_or_kill,
)
from wayhound.store.jobs import Job
from wayhound.web.pages import BadRequest
from wayhound.workspace import Workspace

_END_SECONDS = 10.0


class Background:
    """The jobs of one workspace. At most one job of a kind runs at a time."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._processes: list[subprocess.Popen[bytes]] = []
        self._lock = threading.RLock()

    def refuse_second(self, workspace: Workspace, kind: str) -> None:
        """Raise BadRequest if a job of this kind runs, where starting another would be ignored."""
        self.clean_up(workspace)
        if running := workspace.stores.jobs.running(kind):
            raise BadRequest(
                f"Another {kind} is running. Wait until it ends, or stop it. {running[0].sentence}"
            )

    def start(
        self, workspace: Workspace, kind: str, arguments: Mapping[str, Any], sentence: str = "Starting."
    ) -> int:
        """Start a job and return its number, or that of the job of this kind that runs already.

        The argument `run`, if there is one, is the run that the job works on.
        """
        with self._lock:
            self.clean_up(workspace)
            jobs = workspace.stores.jobs
            if running := jobs.running(kind):
                return running[0].id
            job_id = jobs.begin(kind, sentence, time.time(), run_id=arguments.get("run"))
            process = self._spawn(job_id, kind, arguments)
            jobs.set_process(job_id, process.pid, process_start(process.pid))
            self._processes.append(process)
        return job_id

    def _spawn(self, job_id: int, kind: str, arguments: Mapping[str, Any]) -> subprocess.Popen[bytes]:
        command = python_command("wayhound.studio.jobs", str(self._folder), str(job_id), kind)
        with tempfile.TemporaryFile() as stdin:  # arguments may be longer than a command line can be
            stdin.write(json.dumps(arguments).encode())
            stdin.seek(0)
            return start_process(command, stdin=stdin, stdout=subprocess.DEVNULL)

    def stop(self, workspace: Workspace, job: Job) -> None:
        """Ask a job to end; what it has saved is kept."""
        if job.is_running and job.pid is not None:
            workspace.stores.jobs.end(job.id, "stopped", f"{job.sentence} Stopped by you.", time.time())
            if process_runs(job.pid, job.process_start):
                terminate(job.pid)

    def clean_up(self, workspace: Workspace) -> None:
        """Reap processes that have ended, and mark jobs whose process died as failed."""
        with self._lock:
            self._processes = [process for process in self._processes if process.poll() is None]
        workspace.stores.jobs.end_dead(process_runs, time.time())

    def close(self) -> None:
        """Stop all jobs, when the studio ends."""
        with self._lock:
            for process in self._processes:
                if process.poll() is None:
                    terminate(process.pid)
            for process in self._processes:
                wait_or_kill(process, _END_SECONDS)
