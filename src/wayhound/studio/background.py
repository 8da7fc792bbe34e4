"""Starts long work in processes of its own, so that pages stay quick and a crash takes nothing with it."""

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
from wayhound.web.errors import BadRequest
from wayhound.workspace import Workspace

_END_SECONDS = 10.0


class Background:
    """The jobs of one workspace. One of a kind runs at a time; asking again gives the one that runs."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._processes: list[subprocess.Popen[bytes]] = []
        self._lock = threading.Lock()

    def refuse_second(self, workspace: Workspace, kind: str) -> None:
        """Complain if a job of this kind runs: what is asked now would be lost in it."""
        self.clean_up(workspace)
        if running := workspace.stores.jobs.running(kind):
            raise BadRequest(f"A {kind} is under way: wait for its end, or stop it. {running[0].sentence}")

    def start(
        self, workspace: Workspace, kind: str, arguments: Mapping[str, Any], sentence: str = "Starting."
    ) -> int:
        """Start a job and return its number. The argument `run`, if there is one, is the run it works on."""
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
        command = python_command("wayhound.studio.job", str(self._folder), str(job_id), kind)
        with tempfile.TemporaryFile() as given:  # a list of sites is too long for a command line
            given.write(json.dumps(arguments).encode())
            given.seek(0)
            return start_process(command, stdin=given, stdout=subprocess.DEVNULL)

    def stop(self, workspace: Workspace, job: Job) -> None:
        """Ask a job to end; what it saved so far stays."""
        if job.is_running and job.pid is not None:
            told = f"{job.sentence} Stopped by you."
            workspace.stores.jobs.end(job.id, "stopped", told, time.time())
            if process_runs(job.pid, job.process_start):
                terminate(job.pid)

    def clean_up(self, workspace: Workspace) -> None:
        """Bury processes that have ended, and say of jobs that died that they did."""
        self._processes = [process for process in self._processes if process.poll() is None]
        workspace.stores.jobs.end_dead(process_runs, time.time())

    def close(self) -> None:
        """Stop all that runs, as the studio does when it ends."""
        with self._lock:
            for process in self._processes:
                if process.poll() is None:
                    terminate(process.pid)
            for process in self._processes:
                wait_or_kill(process, _END_SECONDS)
