"""The portal under load: 50,000 papers, visitors who search, read, browse topics and cite.

Requests leave at times drawn beforehand, whether or not earlier ones were answered, and the time of an answer is
counted from the moment at which its request was due. So a server that falls behind is seen to do so. The load
is made by a process of its own, on the same machine and the same cores as the server.
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
"""How often each kind of page was asked for by the visitors of Cora (McCallum et al. 2000, section 2)."""

FIELD_SHARE = 0.03  # of queries name a field, as Cora's logs had it
N_SAMPLED = 3_000
WARM_SECONDS = 3.0
LEAST_SHARE = 0.97  # the last answer comes after the last request


@dataclass(frozen=True, slots=True)
class Asked:
    """A request: when it is due, of which kind it is, and its path."""

    at: float
    kind: str
    path: str


@dataclass(frozen=True, slots=True)
class Answered:
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
        _asked(url, [each for each in plan if each.at < WARM_SECONDS])
        before = _cpu_seconds(process)
        answers = _asked(url, plan)
        cpu = _cpu_seconds(process) - before
    # from the moment when the first was due to the last answer; starting the process that asks is no load
    took = max(each.at + answer.milliseconds / 1000 for each, answer in zip(plan, answers, strict=True))
    return _report(answers, took, cpu, arguments.papers)


def _report(answers: list[Answered], took: float, cpu: float, n_papers: int) -> Report:
    kinds = {kind: [each for each in answers if each.kind == kind] for kind in MIX}
    rows = [_row(kind, found) for kind, found in kinds.items()] + [_row("all", answers)]
    times = [each.milliseconds for each in answers]
    errors = sum(each.status != 200 for each in answers)
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


def _row(kind: str, found: list[Answered]) -> tuple[Cell, ...]:
    times = [each.milliseconds for each in found] or [float("nan")]
    errors = sum(each.status != 200 for each in found)
    p50, p99 = np.percentile(times, [50, 99])
    return kind, len(found), errors, float(p50), float(p99), max(times)


# The server


@contextmanager
def _serving(folder: Path) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    command = [sys.executable, "-m", "wayhound", "serve", "-w", str(folder), "--port", "0", "--rate", "0"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        told = re.search(r"http://\S+(?=/)", process.stdout.readline())
        if told is None:
            raise SystemExit("The portal did not start.")
        yield told[0], process
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(30)


def _cpu_seconds(process: subprocess.Popen[str]) -> float:
    """Of the server's processes so far."""
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    ticks = 0
    for each in (str(process.pid), *children):
        ticks += sum(map(int, Path(f"/proc/{each}/stat").read_text().rpartition(")")[2].split()[11:13]))
    return ticks / os.sysconf("SC_CLK_TCK")


# The load


def _plan(folder: Path, topics: list[str], arguments: argparse.Namespace) -> Iterator[Asked]:
    """Arrivals at random, independent of one another; kinds by their shares; papers and topics at random."""
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
        yield Asked(at, kind, paths[kind])


def _query(titles: list[list[str]], names: list[str], chance: Random) -> str:
    """One to three words of a title; now and then the name of an author."""
    if chance.random() < FIELD_SHARE:
        return f"author:{chance.choice(names)}"
    words = chance.choice(titles)
    return " ".join(chance.sample(words, min(len(words), chance.randint(1, 3))))


def _topics(url: str) -> list[str]:
    """The addresses of all topics."""

    async def walk() -> list[str]:
        async with aiohttp.ClientSession() as session:
            found = ["/topics"]
            for path in found:
                async with session.get(f"{url}{path}.json") as answer:
                    found += [child["url"] for child in (await answer.json())["children"]]
            return found

    return asyncio.run(walk())


def _asked(url: str, plan: list[Asked]) -> list[Answered]:
    """Send the requests from another process, and tell what came back."""
    ran = subprocess.run(
        [sys.executable, "-m", "bench.portal", "--load", url],
        input=json.dumps([(each.at, each.kind, each.path) for each in plan]),
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return [Answered(*each) for each in json.loads(ran.stdout)]


async def _load(url: str, plan: list[tuple[float, str, str]]) -> list[tuple[str, int, float]]:
    started = time.perf_counter() + 0.2

    async def ask(session: aiohttp.ClientSession, at: float, kind: str, path: str) -> tuple[str, int, float]:
        await asyncio.sleep(max(0.0, started + at - time.perf_counter()))
        status = await _status(session, url + path)
        return kind, status, 1000 * (time.perf_counter() - started - at)

    connector = aiohttp.TCPConnector(limit=0)
    async with aiohttp.ClientSession(connector=connector) as session:
        return await asyncio.gather(*(ask(session, *each) for each in plan))


async def _status(session: aiohttp.ClientSession, url: str) -> int:
    try:
        async with session.get(url, timeout=aiohttp.ClientTimeout(total=60)) as answer:
            await answer.read()
            return answer.status
    except (aiohttp.ClientError, TimeoutError):
        return 0


if __name__ == "__main__":
    raise SystemExit(main())
