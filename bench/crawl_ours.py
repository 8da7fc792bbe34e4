"""Wayhound's side of bench.crawl_speed: creates a workspace, runs one forage and prints the number of its pages."""

from __future__ import annotations

import sys
from pathlib import Path

from wayhound.cli import run
from wayhound.workspace import Workspace


def main(start: str, folder: str, database: str = "") -> int:
    run(["init", folder, "--database", database])
    run(["forage", start, "-w", folder, "--budget", "1000000", "--delay", "0", "--allow-private"])
    with Workspace.open(Path(folder)) as workspace:
        [forage] = workspace.stores.forage.runs()
        print(workspace.stores.forage.progress(forage.id).spent)
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
