"""Run a program within bounds: `python -m … MEMORY WRITTEN CPU PROGRAM …` binds itself, then becomes it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress

from wayhound.documents.limits import Limits, allow_cpu, bind_process


def run_limited(command: Sequence[str], stdin: bytes, limits: Limits, folder: str) -> int | None:
    """The exit code, or None when the time was spent. Output goes nowhere; files may go to `folder`."""
    bounds = [limits.memory_bytes, limits.most_bytes, limits.cpu_seconds]
    wrapper = [sys.executable, "-m", "wayhound.documents.limited", *map(str, bounds)]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "TMPDIR": folder}
    process = subprocess.Popen(  # noqa: S603 - no shell; the program is the operator's own
        [*wrapper, *command],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd=folder,
        env=environment,
        start_new_session=True,
    )
    try:
        process.communicate(stdin, timeout=limits.wall_seconds)
    except subprocess.TimeoutExpired:
        return None
    finally:
        _end(process)
    return process.returncode


def _end(process: subprocess.Popen[bytes]) -> None:
    """However the waiting ended, nothing is left running: neither the program nor what it has started itself."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.communicate()


def main() -> None:
    memory, written, cpu = map(int, sys.argv[1:4])
    bind_process(memory, written)
    allow_cpu(cpu)
    os.execvp(sys.argv[4], sys.argv[4:])  # noqa: S606 - that is what this module is for


if __name__ == "__main__":
    main()
