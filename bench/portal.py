"""The portal under load: 50,000 papers, visitors who search, read, browse topics and cite; then twice as many of them,
and at last the first load again, beside thousands of connections that send half a request or nothing.

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
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
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

RATE, MOST_P99, MOST_CPU = 200.0, 60.0, 2.5
HIGH_RATE = 400.0
MOST_P99_ATTACKED, MOST_MEGABYTES = 250.0, 300.0
MIX = {"search": 0.40, "details": 0.27, "topics": 0.30, "BibTeX": 0.03}
"""Shares of the kinds of pages that the visitors of Cora requested (McCallum et al. 2000, section 2)."""

FIELD_SHARE = 0.03  # of queries name a field, as Cora's logs had it
SKEW = 0.75
"""Exponent of demand: the paper or query of rank r is asked for in proportion to r to the power of minus this.

It is for a load beside the one that is drawn evenly.

Six traces of web requests had 0.64 to 0.83 (Breslau et al. 1999, "Web caching and Zipf-like distributions"). Of the
queries to two search engines 30 to 40 % had been asked before (Xie and O'Hallaron 2002, "Locality in search engine
queries").
"""
N_QUERIES = 50_000  # distinct ones that visitors choose from
N_SAMPLED = 3_000
WARM_SECONDS = 3.0
TURN_SECONDS = 5.0  # of one version, before the other is measured
HEADER = ("page", "requests", "errors", "p50 ms", "p99 ms", "longest ms")
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
    parser.add_argument(
        "--skew",
        type=float,
        default=0.0,
        help="exponent of the demand for papers and queries  [default: all alike]",
    )
    parser.add_argument(
        "--attackers", type=int, default=5_000, help="connections that are idle or half a request; 0: none"
    )
    parser.add_argument(
        "--against", type=Path, metavar="CHECKOUT", help="only compare CPU with another version, by turns"
    )
    parser.add_argument(
        "--against-workspace",
        type=Path,
        help="workspace of the other version, if its index has another format",
    )
    parser.add_argument("--load", metavar="URL", help=argparse.SUPPRESS)
    parser.add_argument("--attack", nargs=2, metavar=("PORT", "COUNT"), type=int, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.attack:
        asyncio.run(_attack(*arguments.attack))
    if arguments.load:
        print(json.dumps(asyncio.run(_load(arguments.load, json.load(sys.stdin)))))
        return 0
    with tempfile.TemporaryDirectory() as folder:
        workspace = arguments.workspace or Path(folder) / "workspace"
        if not workspace.exists():
            _make(workspace, arguments)
        measured = _compared if arguments.against else _measured
        return finish(measured(workspace, arguments), arguments)


def _make(folder: Path, arguments: argparse.Namespace) -> None:
    with Workspace.create(folder) as workspace:
        fill(workspace, arguments.papers, arguments.data)
        build(workspace)


@dataclass(frozen=True, slots=True)
class Load:
    """The answers to one load, how long it took from the first due to the last answer, and the server's CPU seconds.

    `repeats` is the share of requests whose address another one had before.
    """

    answers: list[TimedAnswer]
    seconds: float
    cpu: float
    repeats: float

    @property
    def milliseconds(self) -> float:
        """CPU of the server a request."""
        return 1000 * self.cpu / len(self.answers)

    @property
    def p99(self) -> float:
        return float(np.percentile([answer.milliseconds for answer in self.answers], 99))

    @property
    def errors(self) -> int:
        return sum(answer.status != 200 for answer in self.answers)


def _measured(folder: Path, arguments: argparse.Namespace) -> Report:
    with _serving(folder) as (url, process):
        topics = _topics(url)
        plan = list(_plan(folder, topics, arguments.seconds, RATE, arguments.skew))
        _send(url, [request for request in plan if request.at < WARM_SECONDS])
        usual = _run_load(url, process, plan)
        skewed = _run_load(url, process, list(_plan(folder, topics, arguments.seconds, RATE, SKEW)))
        high = _run_load(
            url, process, list(_plan(folder, topics, arguments.seconds, HIGH_RATE, arguments.skew))
        )
        if not arguments.attackers:
            return _report(usual, skewed, high, arguments)
        with _attacked(url, arguments.attackers):
            attacked = _run_load(url, process, plan)
            megabytes = _most_megabytes(process)
    return _report(usual, skewed, high, arguments, attacked, megabytes)


def _compared(folder: Path, arguments: argparse.Namespace) -> Report:
    """Send the same load to this version and to another one, some seconds to each by turns."""
    names = ("this version", "the other")
    cpu: dict[str, float] = dict.fromkeys(names, 0.0)
    answers: dict[str, list[TimedAnswer]] = {name: [] for name in names}
    other_folder = arguments.against_workspace or folder
    with _serving(folder) as this, _serving(other_folder, arguments.against.resolve()) as other:
        plan = list(_plan(folder, _topics(this[0]), arguments.seconds, RATE, arguments.skew))
        for url, _ in (this, other):
            _send(url, [request for request in plan if request.at < WARM_SECONDS])
        servers = list(zip(names, (this, other), strict=True))
        for start in np.arange(0.0, arguments.seconds, TURN_SECONDS):
            turn = [
                PlannedRequest(request.at - start, request.kind, request.path)
                for request in plan
                if start <= request.at < start + TURN_SECONDS
            ]
            for name, server in servers:
                load = _run_load(*server, turn)
                cpu[name], answers[name] = cpu[name] + load.cpu, answers[name] + load.answers
            servers.reverse()  # the first of a turn costs some 4 % more
    costs = {name: 1000 * cpu[name] / len(answers[name]) for name in names}
    return Report(
        f"The portal with {arguments.papers:,} papers beside another version",
        ("version", "CPU ms a request", *HEADER[1:]),
        [(name, costs[name], *_row(name, answers[name])[1:]) for name in names],
        [Bar("CPU of this version as a share of the other's", costs[names[0]] / costs[names[1]], most=1.0)],
        {
            "share of requests for an address asked for before": 1
            - len({request.path for request in plan}) / len(plan)
        },
    )


def _run_load(url: str, process: subprocess.Popen[str], plan: list[PlannedRequest]) -> Load:
    before = _cpu_seconds(process)
    answers = _send(url, plan)
    cpu = _cpu_seconds(process) - before
    # from the moment when the first was due to the last answer; starting the process of the load does not count
    took = max(request.at + answer.milliseconds / 1000 for request, answer in zip(plan, answers, strict=True))
    repeats = 1 - len({request.path for request in plan}) / len(plan)
    return Load(answers, took, cpu, repeats)


def _report(
    usual: Load, skewed: Load, high: Load, arguments: argparse.Namespace, attacked: Load | None = None,
    megabytes: float = 0.0,
) -> Report:  # fmt: skip
    kinds = {kind: [answer for answer in usual.answers if answer.kind == kind] for kind in MIX}
    rows = [_row(kind, of_kind) for kind, of_kind in kinds.items()] + [_row("all", usual.answers)]
    rows.append(_row(f"all, by demand with the exponent {SKEW:g}", skewed.answers))
    rows.append(_row(f"all, at {HIGH_RATE:g} a second", high.answers))
    bars = [
        Bar("99 % of answers, ms", usual.p99, most=MOST_P99),
        Bar("errors", usual.errors, most=0),
        Bar(
            "requests a second that were answered",
            len(usual.answers) / usual.seconds,
            least=LEAST_SHARE * RATE,
        ),
        Bar("CPU ms of the server a request", usual.milliseconds, most=MOST_CPU),
        Bar(f"errors at {HIGH_RATE:g} a second", high.errors, most=0),
        Bar(
            "requests a second that were answered then",
            len(high.answers) / high.seconds,
            least=LEAST_SHARE * HIGH_RATE,
        ),
    ]
    if attacked:
        rows.append(_row(f"all, beside {arguments.attackers:,} attackers", attacked.answers))
        bars += [
            Bar("99 % of answers beside attackers, ms", attacked.p99, most=MOST_P99_ATTACKED),
            Bar("errors beside attackers", attacked.errors, most=0),
            Bar("megabytes of the largest process", megabytes, most=MOST_MEGABYTES),
        ]
    return Report(
        f"The portal with {arguments.papers:,} papers at {RATE:g} requests a second",
        HEADER,
        rows,
        bars,
        {
            "seconds": usual.seconds,
            "cores": os.cpu_count(),
            "share of requests for an address asked for before": usual.repeats,
            "the same by demand": skewed.repeats,
            "CPU ms a request by demand": skewed.milliseconds,
            f"CPU ms a request at {HIGH_RATE:g} a second": high.milliseconds,
        },
    )


def _row(kind: str, answers: list[TimedAnswer]) -> tuple[Cell, ...]:
    times = [answer.milliseconds for answer in answers] or [float("nan")]
    errors = sum(answer.status != 200 for answer in answers)
    p50, p99 = np.percentile(times, [50, 99])
    return kind, len(answers), errors, float(p50), float(p99), max(times)


# The server


@contextmanager
def _serving(folder: Path, checkout: Path | None = None) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    command = [sys.executable, "-m", "wayhound", "serve", "-w", str(folder), "--port", "0", "--rate", "0"]
    environment = os.environ | ({"PYTHONPATH": str(checkout / "src")} if checkout else {})
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
    try:
        assert process.stdout is not None
        address = re.search(r"http://\S+(?=/)", process.stdout.readline())
        if address is None:
            raise SystemExit("The portal did not start.")
        yield address[0], process
    finally:
        process.terminate()
        process.wait(30)


def _cpu_seconds(process: subprocess.Popen[str]) -> float:
    """Return the CPU time that the server's processes have used so far."""
    ticks = 0
    for pid in _processes(process):
        ticks += sum(map(int, Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:13]))
    return ticks / os.sysconf("SC_CLK_TCK")


def _most_megabytes(process: subprocess.Popen[str]) -> float:
    """Return the largest amount of memory that any process of the server has held."""
    peaks = [
        re.search(r"VmHWM:\s+(\d+)", Path(f"/proc/{pid}/status").read_text()) for pid in _processes(process)
    ]
    return max(int(peak[1]) / 1000 for peak in peaks if peak)


def _processes(process: subprocess.Popen[str]) -> list[str]:
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    return [str(process.pid), *children]


@contextmanager
def _attacked(url: str, count: int) -> Iterator[None]:
    """Hold `count` connections open from another process, and open new ones in place of those that are dropped."""
    port = url.rpartition(":")[2]
    command = [sys.executable, "-m", "bench.portal", "--attack", port, str(count)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        process.stdout.readline()  # all have been opened once
        yield
    finally:
        process.terminate()
        process.wait()


async def _attack(port: int, count: int) -> None:
    resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
    opened = 0
    all_open = asyncio.Event()

    async def hold(number: int) -> None:
        nonlocal opened
        is_first = True
        while True:
            try:
                reader, writer = await asyncio.open_connection("127.0.0.1", port)
                if number % 2:  # half of them send the beginning of a request
                    writer.write(b"GET / HTTP/1.1\r\nHost: localhost\r\nX-Slow: ")
            except OSError:
                await asyncio.sleep(1)
                continue
            if is_first:
                is_first, opened = False, opened + 1
                if opened == count:
                    all_open.set()
            with suppress(OSError):
                await reader.read()
            writer.close()
            await asyncio.sleep(1)

    async with asyncio.TaskGroup() as tasks:
        for number in range(count):
            tasks.create_task(hold(number))
            if number % 100 == 0:
                await asyncio.sleep(0.05)
        await all_open.wait()
        print("open", flush=True)


# The load


def _plan(
    folder: Path, topics: list[str], seconds: float, rate: float, skew: float
) -> Iterator[PlannedRequest]:
    """Yield a Poisson process of requests: kinds by their shares, papers and queries by demand, topics at random."""
    chance = Random(1)
    with Workspace.open(folder) as workspace:
        n_papers = workspace.database.execute("SELECT count(*) FROM record").fetchone()[0]
        sampled = [
            workspace.stores.records.get("paper", identity(chance.randrange(n_papers)))
            for _ in range(N_SAMPLED)
        ]
    titles = [record.first("title").split() for record in sampled if record]
    names = [record.first("author").split()[-1] for record in sampled if record]
    by_demand = chance.sample(range(n_papers), n_papers)
    at = 0.0
    while (at := at + chance.expovariate(rate)) < seconds:
        (kind,) = chance.choices(list(MIX), list(MIX.values()))
        paper = f"/records/paper/{identity(by_demand[_rank(n_papers, skew, chance)])}"
        # the query of a rank is always the same
        query = _query(titles, names, Random(_rank(N_QUERIES, skew, chance)) if skew else chance)
        paths = {
            "search": f"/search?q={quote_plus(query)}",
            "details": paper,
            "topics": f"{chance.choice(topics)}{chance.choice(['', '?sort=authority', '?sort=hub', '?page=2'])}",
            "BibTeX": f"{paper}.bib",
        }
        yield PlannedRequest(at, kind, paths[kind])


def _rank(count: int, skew: float, chance: Random) -> int:
    """Return a rank below `count`, the small ones most often, by Zipf's law with the exponent `skew`."""
    return int(count * chance.random() ** (1 / (1 - skew)))


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
