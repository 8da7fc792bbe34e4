"""CPU time of a whole forage (fetch, robots, archive, store, parse) beside stock Scrapy and Crawlee.

All crawl the same generated site on loopback, one after the other, pinned to one core. Peers are installed into
environments of their own (`.bench-venvs/`) at the first run. `--against CHECKOUT` also measures another version of
Wayhound, taking turns with this one.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from bench.crawl_site import served_site
from bench.report import Bar, Cell, Report, add_output_options, finish

ROOT = Path(__file__).parent.parent
ENVIRONMENTS = ROOT / ".bench-venvs"
PEERS = {"scrapy": ["scrapy>=2.11"], "crawlee": ["crawlee[parsel]>=1.0"]}
SHARE_OF_SCRAPY = 0.25
MOST_OF_EARLIER = 1.03
"""CPU per page may exceed that of the version compared with by the noise of the measurement only."""


@dataclass(frozen=True, slots=True)
class Cost:
    """The cost of one crawl: pages, CPU seconds of all its processes, wall seconds, peak memory."""

    pages: int
    cpu_seconds: float
    seconds: float
    peak_mb: float

    @property
    def cpu_per_1000(self) -> float:
        return 1000 * self.cpu_seconds / max(self.pages, 1)


def measure(command: list[str], folder: Path, source: Path | None = None) -> Cost:
    """Run a crawler that prints the number of its pages last; start-up counts too."""
    environment = os.environ | ({"PYTHONPATH": str(source)} if source else {})
    began = time.monotonic()
    with tempfile.TemporaryFile("w+") as printed:
        crawler = subprocess.Popen(
            ["taskset", "-c", "0", *command] if _can_pin() else command,
            cwd=folder, env=environment, stdout=printed, stderr=subprocess.STDOUT,
        )  # fmt: skip
        # the usage of this crawler and its processes alone: RUSAGE_CHILDREN adds up, and keeps the largest peak
        _, status, usage = os.wait4(crawler.pid, 0)
        crawler.returncode = os.waitstatus_to_exitcode(status)
        seconds = time.monotonic() - began
        printed.seek(0)
        output = printed.read()
    numbers = re.findall(r"^(\d+)(?: pages)?$", output, re.MULTILINE)
    if crawler.returncode or not numbers:
        raise SystemExit(f"{command[0]} did not print how many pages it fetched:\n{output[-2000:]}")
    return Cost(int(numbers[-1]), usage.ru_utime + usage.ru_stime, seconds, usage.ru_maxrss / 1024)


def _can_pin() -> bool:
    return (os.cpu_count() or 1) > 1 and Path("/usr/bin/taskset").exists()


def ours(start: str, folder: Path, checkout: Path = ROOT) -> Cost:
    command = [sys.executable, "-m", "bench.crawl_ours", start, str(folder / "workspace")]
    return measure(command, checkout, checkout / "src")


def peer(name: str, start: str, folder: Path) -> Cost | None:
    python = peer_environment(name, PEERS[name])
    if python is None:
        return None
    script = ROOT / "bench" / "peers" / f"{name}_peer.py"
    return measure([str(python), str(script), start, str(folder / f"{name}.jsonl")], folder)


def peer_environment(name: str, packages: list[str]) -> Path | None:
    """Return the Python of a peer's own environment, installed if necessary; None if it cannot be installed."""
    python = ENVIRONMENTS / name / "bin" / "python"
    if (ENVIRONMENTS / name / ".ready").exists():
        return python
    print(f"installing {name} into {ENVIRONMENTS / name}", file=sys.stderr)
    made = subprocess.run([sys.executable, "-m", "venv", ENVIRONMENTS / name], check=False)
    installed = subprocess.run([python, "-m", "pip", "install", "--quiet", *packages], check=False)
    if made.returncode or installed.returncode:
        print(f"{name} cannot be installed here and is left out", file=sys.stderr)
        return None
    (ENVIRONMENTS / name / ".ready").touch()
    return python


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pages", type=int, default=2000)
    parser.add_argument("--rounds", type=int, default=2, help="of which the cheapest counts")
    parser.add_argument("--against", type=Path, help="a checkout of another version")
    parser.add_argument("--no-peers", action="store_true")
    add_output_options(parser)
    arguments = parser.parse_args()
    crawlers: dict[str, Callable[[str, Path], Cost | None]] = {"wayhound": ours}
    if arguments.against:
        crawlers["earlier"] = partial(ours, checkout=arguments.against.resolve())
    if not arguments.no_peers:
        crawlers |= {name: partial(peer, name) for name in PEERS}
    costs: dict[str, Cost] = {}
    with served_site(arguments.pages) as start:
        for _ in range(arguments.rounds):
            for name, crawl in crawlers.items():
                with tempfile.TemporaryDirectory() as folder:
                    cost = crawl(start, Path(folder))
                if cost and (name not in costs or cost.cpu_seconds < costs[name].cpu_seconds):
                    costs[name] = cost
    return finish(_report(costs, arguments.pages), arguments)


def _report(costs: dict[str, Cost], pages: int) -> Report:
    rows: list[list[Cell]] = [
        [name, cost.pages, round(cost.cpu_per_1000, 2), round(cost.seconds, 1), round(cost.peak_mb)]
        for name, cost in costs.items()
    ]
    bars = [Bar(f"pages fetched by {name}", cost.pages, least=pages) for name, cost in costs.items()]
    if "scrapy" in costs:
        share = costs["wayhound"].cpu_per_1000 / costs["scrapy"].cpu_per_1000
        bars.append(Bar("CPU as a share of Scrapy's", share, most=SHARE_OF_SCRAPY))
    if "earlier" in costs:
        share = costs["wayhound"].cpu_per_1000 / costs["earlier"].cpu_per_1000
        bars.append(Bar("CPU as a share of the earlier version's", share, most=MOST_OF_EARLIER))
    header = ["crawler", "pages", "CPU s per 1,000 pages", "seconds", "peak MB"]
    return Report("Crawling a site on loopback", header, rows, bars)


if __name__ == "__main__":
    sys.exit(main())
