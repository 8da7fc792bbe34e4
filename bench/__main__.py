"""`python -m bench`: run every benchmark, each in a process of its own, and sum up which bars were met."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path

from rich.console import Console

# Targets of their own, of an hour or more.
ATTACKS = {"cluster", "fuzz", "kills", "mutants", "repeat_tests", "soak"}
NO_BENCH = {"__init__", "__main__", "report", "crawl_site", "crawl_ours"} | ATTACKS
ON_DATA = "add_data_option("


def benches() -> dict[str, bool]:
    """The names of all benchmarks, and whether they need the data folder."""
    return {
        path.stem: ON_DATA in path.read_text() and "required=False" not in path.read_text()
        for path in sorted(Path(__file__).parent.glob("*.py"))
        if path.stem not in NO_BENCH and "__main__" in path.read_text()
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="only these")
    parser.add_argument("--data", default=os.environ.get("WAYHOUND_DATA"), help="the data folder")
    arguments = parser.parse_args()
    known = benches()
    console = Console(highlight=False)
    outcomes: dict[str, str] = {}
    for name in arguments.names or known:
        if known[name] and not arguments.data:
            outcomes[name] = "skipped: needs --data or WAYHOUND_DATA"
            continue
        console.rule(name, align="left")
        environment = os.environ | ({"WAYHOUND_DATA": arguments.data} if arguments.data else {})
        command = [sys.executable, "-m", f"bench.{name}"]
        code = subprocess.run(command, env=environment, check=False).returncode
        outcomes[name] = "met" if code == 0 else f"MISSED or failed (exit code {code})"
    console.rule("all bars", align="left")
    for name, outcome in outcomes.items():
        console.print(f"{name:24} {outcome}")
    return 1 if any(outcome.startswith("MISSED") for outcome in outcomes.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
