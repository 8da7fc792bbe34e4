"""Starts and ends processes of our own: how they find their code, what they may use, and how they die."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import IO

Pipe = int | IO[bytes] | None


def python_command(module: str, *arguments: str) -> list[str]:
    """Return the command line that runs a module of this package in the present interpreter."""
    return [sys.executable, "-m", module, *arguments]


def child_environment(**variables: str) -> dict[str, str]:
    """Return this process's environment with its module path, so that a child imports the same code."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path)), **variables}


def start_process(
    command: list[str],
    *,
    stdin: Pipe = None,
    stdout: Pipe = None,
    stderr: Pipe = None,
    folder: str | None = None,
    handles: tuple[int, ...] = (),
    environment: dict[str, str] | None = None,
) -> subprocess.Popen[bytes]:
    """Start a program in a session of its own, without a shell and without buffers.

    In its own session it does not receive Ctrl-C: the parent does, and then ends its children in good order.
    `handles` are file descriptors that the child inherits.
    """
    return subprocess.Popen(  # noqa: S603 - our own programs, with arguments that no shell reads
        command,
        stdin=stdin,
        stdout=stdout,
        stderr=stderr,
        bufsize=0,
        cwd=folder,
        pass_fds=handles,
        env=environment or child_environment(),
        start_new_session=True,
    )


def wait_or_kill(process: subprocess.Popen[bytes], seconds: float) -> None:
    """Wait for a process that was asked to end; kill it after so many seconds."""
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def kill_group(process: subprocess.Popen[bytes]) -> None:
    """Kill a process that leads a session, and all that it has started itself."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.communicate()


def terminate(pid: int) -> None:
    """Send SIGTERM; a process that has ended already is fine."""
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGTERM)


def process_runs(pid: int, started: str = "") -> bool:
    """Return True if a process has this id, and started at `started` (see `process_start`) if that is given."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass  # it runs, under another user
    return not started or process_start(pid) == started


def process_start(pid: int) -> str:
    """Return the start time of a process in clock ticks, which tells it from a later one with the same id.

    Empty where the system has no /proc.
    """
    try:
        status = Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace")
    except OSError:
        return ""
    return status.rpartition(")")[2].split()[19]  # field 22; the name before it may hold blanks and brackets


def limit_process(memory_bytes: int, written_bytes: int = 0) -> None:
    """Limit this process for good: its memory, and the size of files it writes (pipes are not files)."""
    _lower(resource.RLIMIT_AS, memory_bytes)
    _lower(resource.RLIMIT_FSIZE, written_bytes)
    _lower(resource.RLIMIT_CORE, 0)


def allow_cpu(seconds: int) -> None:
    """Allow this process so many CPU seconds from now on; then the kernel ends it with SIGXCPU.

    Call again for each file.
    """
    usage = resource.getrusage(resource.RUSAGE_SELF)
    limit = int(usage.ru_utime + usage.ru_stime) + 1 + seconds
    hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
    resource.setrlimit(resource.RLIMIT_CPU, (limit if hard < 0 else min(limit, hard), hard))


def _lower(which: int, limit: int) -> None:
    hard = resource.getrlimit(which)[1]
    limit = limit if hard < 0 else min(limit, hard)
    resource.setrlimit(which, (limit, limit))
