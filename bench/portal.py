"""The portal under load: 50,000 papers, visitors who search, read, browse topics and cite.

Requests are sent at times drawn beforehand, whether or not earlier ones were answered, and the latency of an answer is
measured from the moment at which its request was due (an open-loop load), so that a server that falls behind shows it.
A separate process makes the load, on the same machine and the same cores as the server.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random
from urllib.parse import quote_plus

import aiohttp
import numpy as np

from bench.portal_corpus import fill, identity
from bench.report import Bar, Cell, Report, add_data_option, add_output_options, finish
from wayhound.app.index import build
from wayhound.workspace import Workspace

RATE, MOST_P99 = 200.0, 250.0
MIX = {"search": 0.40, "details": 0.27, "topics": 0.30, "BibTeX": 0.03}
"""Shares of the kinds of pages that the visitors of Cora requested (McCallum et al. 2000, section 2)."""

FIELD_SHARE = 0.03  # of queries name a field, as Cora's logs had it
N_SAMPLED = 3_000
WARM_SECONDS = 3.0
LEAST_SHARE = 0.97  # the last answer comes after the last request


@dataclass(frozen=True, slots=True)
class PlannedRequest:
    """A request: when it is due in seconds, the kind of page, and its path."""

    at: float
    kind: str
    path: str


@dataclass(frozen=True, slots=True)
class TimedAnswer:
    """The answer to a request; a status of 0 means none."""

    kind: str
    status: int
    milliseconds: float


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    add_output_options(parser)
    add_data_option(parser, required=False)
    parser.add_argument("--papers", type=int, default=50_000)
    parser.add_argument("--seconds", type=float, default=30.0, help="how long the load lasts")
    parser.add_argument(
        "--workspace", type=Path, help="a workspace made before, or where to make and keep one"
    )
    parser.add_argument("--load", metavar="URL", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.load:
        print(json.dumps(asyncio.run(_load(arguments.load, json.load(sys.stdin)))))
        return 0
    with tempfile.TemporaryDirectory() as folder:
        workspace = arguments.workspace or Path(folder) / "workspace"
        if not workspace.exists():
            _make(workspace, arguments)
        return finish(_measured(workspace, arguments), arguments)


def _make(folder: Path, arguments: argparse.Namespace) -> None:
    with Workspace.create(folder) as workspace:
        fill(workspace, arguments.papers, arguments.data)
        build(workspace)


def _measured(folder: Path, arguments: argparse.Namespace) -> Report:
    with _serving(folder) as (url, process):
        topics = _topics(url)
        plan = list(_plan(folder, topics, arguments))
        _send(url, [request for request in plan if request.at < WARM_SECONDS])
        before = _cpu_seconds(process)
        answers = _send(url, plan)
        cpu = _cpu_seconds(process) - before
    # from the moment when the first was due to the last answer; starting the process of the load does not count
    took = max(request.at + answer.milliseconds / 1000 for request, answer in zip(plan, answers, strict=True))
    return _report(answers, took, cpu, arguments.papers)


def _report(answers: list[TimedAnswer], took: float, cpu: float, n_papers: int) -> Report:
    kinds = {kind: [answer for answer in answers if answer.kind == kind] for kind in MIX}
    rows = [_row(kind, of_kind) for kind, of_kind in kinds.items()] + [_row("all", answers)]
    times = [answer.milliseconds for answer in answers]
    errors = sum(answer.status != 200 for answer in answers)
    return Report(
        f"The portal with {n_papers:,} papers at {RATE:g} requests a second",
        ("page", "requests", "errors", "p50 ms", "p99 ms", "longest ms"),
        rows,
        [
            Bar("99 % of answers, ms", float(np.percentile(times, 99)), most=MOST_P99),
            Bar("errors", errors, most=0),
            Bar("requests a second that were answered", len(answers) / took, least=LEAST_SHARE * RATE),
            # On a machine that does nothing else two cores have 2,000 / 200 = 10 ms for a request.
            Bar("CPU ms of the server a request", 1000 * cpu / len(answers), most=2000 / RATE),
        ],
        {"seconds": took, "cores": os.cpu_count()},
    )


def _row(kind: str, answers: list[TimedAnswer]) -> tuple[Cell, ...]:
    times = [answer.milliseconds for answer in answers] or [float("nan")]
    errors = sum(answer.status != 200 for answer in answers)
    p50, p99 = np.percentile(times, [50, 99])
    return kind, len(answers), errors, float(p50), float(p99), max(times)


# The server


@contextmanager
def _serving(folder: Path) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    command = [sys.executable, "-m", "wayhound", "serve", "-w", str(folder), "--port", "0", "--rate", "0"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        address = re.search(r"http://\S+(?=/)", process.stdout.readline())
        if address is None:
            raise SystemExit("The portal did not start.")
        yield address[0], process
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(30)


def _cpu_seconds(process: subprocess.Popen[str]) -> float:
    """Return the CPU time that the server's processes have used so far."""
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    ticks = 0
    for pid in (str(process.pid), *children):
        ticks += sum(map(int, Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:13]))
    return ticks / os.sysconf("SC_CLK_TCK")


# The load


def _plan(folder: Path, topics: list[str], arguments: argparse.Namespace) -> Iterator[PlannedRequest]:
    """Yield a Poisson process of requests: kinds by their shares, papers and topics at random."""
    chance = Random(1)
    with Workspace.open(folder) as workspace:
        n_papers = workspace.database.execute("SELECT count(*) FROM record").fetchone()[0]
        sampled = [
            workspace.stores.records.get("paper", identity(chance.randrange(n_papers)))
            for _ in range(N_SAMPLED)
        ]
    titles = [record.first("title").split() for record in sampled if record]
    names = [record.first("author").split()[-1] for record in sampled if record]
    at = 0.0
    while (at := at + chance.expovariate(RATE)) < arguments.seconds:
        (kind,) = chance.choices(list(MIX), list(MIX.values()))
        paper = f"/records/paper/{identity(chance.randrange(n_papers))}"
        paths = {
            "search": f"/search?q={quote_plus(_query(titles, names, chance))}",
            "details": paper,
            "topics": f"{chance.choice(topics)}{chance.choice(['', '?sort=authority', '?sort=hub', '?page=2'])}",
            "BibTeX": f"{paper}.bib",
        }
        yield PlannedRequest(at, kind, paths[kind])


def _query(titles: list[list[str]], names: list[str], chance: Random) -> str:
    """Return one to three words of a title, or now and then the name of an author."""
    if chance.random() < FIELD_SHARE:
        return f"author:{chance.choice(names)}"
    words = chance.choice(titles)
    return " ".join(chance.sample(words, min(len(words), chance.randint(1, 3))))


def _topics(url: str) -> list[str]:
    """Return the addresses of all topics."""

    async def walk() -> list[str]:
        async with aiohttp.ClientSession() as session:
            paths = ["/topics"]
            for path in paths:
                async with session.get(f"{url}{path}.json") as answer:
                    paths += [child["url"] for child in (await answer.json())["children"]]
            return paths

    return asyncio.run(walk())


def _send(url: str, plan: list[PlannedRequest]) -> list[TimedAnswer]:
    """Send the requests from another process, and return the answers."""
    ran = subprocess.run(
        [sys.executable, "-m", "bench.portal", "--load", url],
        input=json.dumps([(request.at, request.kind, request.path) for request in plan]),
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return [TimedAnswer(*answer) for answer in json.loads(ran.stdout)]


async def _load(url: str, plan: list[tuple[float, str, str]]) -> list[tuple[str, int, float]]:
    started = time.perf_counter() + 0.2

    async def send(session: aiohttp.ClientSession, at: float, kind: str, path: str) -> tuple[str, int, float]:
        await asyncio.sleep(max(0.0, started + at - time.perf_counter()))
        status = await _status(session, url + path)
        return kind, status, 1000 * (time.perf_counter() - started - at)

    connector = aiohttp.TCPConnector(limit=0)
    async with aiohttp.ClientSession(connector=connector) as session:
        return await asyncio.gather(*(send(session, *request) for request in plan))


async def _status(session: aiohttp.ClientSession, url: str) -> int:
    try:
        async with session.get(url, timeout=aiohttp.ClientTimeout(total=60)) as answer:
            await answer.read()
            return answer.status
    except (aiohttp.ClientError, TimeoutError):
        return 0


if __name__ == "__main__":
    raise SystemExit(main())
