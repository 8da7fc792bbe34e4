"""Programs that run within limits leave no process behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from wayhound.documents.limits import ReadingLimits, run_limited

BACKGROUND = "sleep 600 & echo $! > child; "


def child_of(folder: Path) -> int:
    """Return the id of the process that the program has started, after waiting for it."""
    file = folder / "child"
    while not (file.exists() and file.read_text().endswith("\n")):
        time.sleep(0.01)
    return int(file.read_text())


def is_gone(pid: int) -> bool:
    """Return True if a process ends soon: the kernel takes its time, and its new parent too."""
    for _ in range(1000):
        state = Path(f"/proc/{pid}/stat")
        if not state.exists() or state.read_text().rpartition(")")[2].split()[0] == "Z":
            return True
        time.sleep(0.01)
    return False


def test_what_a_program_leaves_running_ends_with_it(tmp_path: Path) -> None:
    code = run_limited(["sh", "-c", f"{BACKGROUND} exit 3"], b"", ReadingLimits(), str(tmp_path))
    assert code == 3
    assert is_gone(child_of(tmp_path))


def test_an_interrupt_ends_the_program_too(tmp_path: Path) -> None:
    script = (
        "from wayhound.documents.limits import ReadingLimits, run_limited\n"
        f"command, limits = ['sh', '-c', {BACKGROUND + 'sleep 600'!r}], ReadingLimits(wall_seconds=600)\n"
        f"run_limited(command, b'', limits, {str(tmp_path)!r})"
    )
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    with subprocess.Popen(
        [sys.executable, "-c", script], env=environment, stderr=subprocess.DEVNULL
    ) as asking:
        started = child_of(tmp_path)
        asking.send_signal(signal.SIGINT)
        assert asking.wait(60) != 0
    assert is_gone(started)
