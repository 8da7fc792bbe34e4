"""Trailmark's own side of bench.crawl_speed: a workspace, one forage, and the number of its pages."""

from __future__ import annotations

import subprocess
import sys


def main(start: str, workspace: str) -> int:
    trailmark = [sys.executable, "-m", "trailmark"]
    subprocess.run([*trailmark, "init", workspace], check=True)
    options = ["--budget", "1000000", "--delay", "0", "--allow-private"]
    subprocess.run([*trailmark, "forage", start, "-w", workspace, *options], check=True)
    status = subprocess.run([*trailmark, "export", "pages", "-w", workspace], check=True, capture_output=True)
    print(status.stdout.count(b"\n"))
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
