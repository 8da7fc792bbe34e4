"""Resource limits for reading one document, and running a program within them.

As `python -m wayhound.documents.limits MEMORY WRITTEN CPU PROGRAM …`, this module limits and confines its own process
and then becomes the program.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from wayhound.documents.document import Unread
from wayhound.processes import (
    allow_cpu,
    kill_group,
    limit_process,
    python_command,
    start_process,
)
from wayhound.sandbox import PROGRAM_FOLDERS, confine_process, sparse_environment

MIB = 1 << 20


@dataclass(frozen=True, slots=True)
class ReadingLimits:
    """Limits for one file. Memory is address space, of which an idle reading process uses about 150 MiB."""

    max_bytes: int = 100 * MIB
    max_pages: int = 1_000
    wall_seconds: float = 60.0
    cpu_seconds: int = 30
    memory_bytes: int = 1_024 * MIB
    answer_bytes: int = 64 * MIB

    def too_big(self, n_bytes: int) -> Unread:
        detail = f"The file has {n_bytes / 1e6:.0f} MB; at most {self.max_bytes / 1e6:.0f} MB are read."
        return Unread("too_big", detail)


DEFAULT_LIMITS = ReadingLimits()


def run_limited(command: Sequence[str], stdin: bytes, limits: ReadingLimits, folder: str) -> int | None:
    """Run a program and return its exit code, or None if it exceeded `limits.wall_seconds`.

    Its output is discarded; it may write files to `folder`, which is also its working directory.
    """
    numbers = [limits.memory_bytes, limits.max_bytes, limits.cpu_seconds]
    process = start_process(
        python_command("wayhound.documents.limits", *map(str, numbers), *command),
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        folder=folder,
        environment=sparse_environment() | {"TMPDIR": folder, "OMP_THREAD_LIMIT": "1"},
    )
    try:
        process.communicate(stdin, timeout=limits.wall_seconds)
    except subprocess.TimeoutExpired:
        return None
    finally:
        kill_group(process)
    return process.returncode


def main() -> None:
    memory, written, cpu = map(int, sys.argv[1:4])
    limit_process(memory, written)
    allow_cpu(cpu)
    program = shutil.which(sys.argv[4]) or ""
    confine_process((*PROGRAM_FOLDERS, program), (str(Path.cwd()), "/dev"), programs=True)
    os.execvp(sys.argv[4], sys.argv[4:])  # noqa: S606 - that is what this module is for


if __name__ == "__main__":
    main()
