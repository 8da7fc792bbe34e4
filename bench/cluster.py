"""A forage on three Ray nodes that are killed at random moments: nothing lost, nothing doubled, budgets exact.

The nodes are network namespaces of this machine, each with an address and a disk folder of its own, joined by a bridge
(root and `ip netns` are needed; elsewhere three `ray start` share the loopback address). Postgres, the object store and
the counting web servers are real processes.

1. The order runs on one machine with SQLite: the visits of every site, and the CPU time per page.
2. The same order runs on the cluster without faults: the same visits; CPU time per page.
3. It runs again, with `--kills` faults: a worker, a node (one time in two with its disk), the head with the command,
   the command alone, Postgres, or the object store for some seconds.
4. Packets to one node are dropped for `--partition` seconds while it works (namespaces only).

CPU time has the start of each worker and of the command in it; that of Ray's own processes and of Postgres is reported
beside it. With `--resume FILE` the parts that an earlier call has measured are not run again.
"""

from __future__ import annotations

import argparse
import compileall
import json
import os
import re
import resource
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from random import Random
from typing import Any

import wayhound
from bench.report import Bar, Report, add_output_options, add_resume_options, finish
from bench.scale_sim import server_cpu
from tests.object_store import ObjectStoreServer, object_store, why_no_object_store
from tests.postgres_server import PostgresServer, postgres_server, why_not
from wayhound.errors import WayhoundError
from wayhound.workspace import Workspace

NODES = 3
NET = "10.77.0"
PAGES = 400  # of a site; the budget is smaller
DELAY = 0.1  # visits are saved together as with longer ones, and the CPU is still what limits the pace
FAULT_DELAY = 1.0  # so that a run lasts for some faults
FAULTS_A_RUN = 30
LEASE_SECONDS = 10.0
DEADLINE = 1_800.0
RAY_PORT = 6399
RAY_ENVIRONMENT = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_AUTH_MODE": "disabled",
    "RAY_enable_metrics_collection": "0",
    "RAY_agent_register_timeout_ms": "300000",
    "RAY_raylet_start_wait_time_s": "60",
    "RAY_DISABLE_IMPORT_WARNING": "1",
}


@dataclass
class Web:
    """Sites that remember every request: how often, and how long after the last one to the same host."""

    sites: int
    address: str
    name: str  # pattern of a site's host name
    port: int = 0
    requests: Counter[str] = field(default_factory=Counter)
    overlaps: int = 0
    shortest_gap: float = float("inf")
    _busy: Counter[str] = field(default_factory=Counter)
    _last: dict[str, float] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def hosts(self) -> list[str]:
        return [self.name.format(number) for number in range(self.sites)]

    def starts(self) -> list[str]:
        return [f"http://{host}:{self.port}/" for host in self.hosts()]

    def forget(self) -> None:
        with self._lock:
            self.requests.clear()
            self._last.clear()
            self.overlaps, self.shortest_gap = 0, float("inf")

    @property
    def refetched(self) -> int:
        """Requests for pages beyond the first one for each."""
        return sum(self.requests.values()) - len(self.requests)

    def answer(self, host: str, path: str) -> bytes:
        if path == "/robots.txt":
            return b""
        with self._lock:
            self.requests[f"http://{host}{path}"] += 1
            self._busy[host] += 1
            self.overlaps += self._busy[host] > 1
            now = time.monotonic()
            self.shortest_gap = min(self.shortest_gap, now - self._last.get(host, -1e9))
            self._last[host] = now
        number = int(re.sub(r"\D", "", path) or 0)
        links = " ".join(f"<a href='/{(number * 3 + step) % PAGES}'>to {step}</a>" for step in range(1, 8))
        body = f"<title>Page {number}</title><p>{host} {number} {'word ' * 300}</p>{links}".encode()
        with self._lock:
            self._busy[host] -= 1
        return body

    @contextmanager
    def serving(self) -> Iterator[None]:
        web = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                body = web.answer(self.headers["Host"], self.path)
                with suppress(OSError):  # the client may have been killed
                    self.send_response(200)
                    self.send_header("Content-Type", "text/html" if body else "text/plain")
                    self.send_header("Content-Length", str(len(body)))
                    self.end_headers()
                    self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                pass

        class Server(ThreadingHTTPServer):
            daemon_threads = True
            request_queue_size = 128

            def handle_error(self, *_: object) -> None:
                pass

        with Server((self.address, 0), Handler) as server:
            self.port = server.server_port
            threading.Thread(target=server.serve_forever, daemon=True).start()
            yield
            server.shutdown()


# Machines


@dataclass
class Node:
    """One machine of the cluster: a namespace, or only a folder where there are none."""

    number: int
    folder: Path
    namespace: str  # empty: none
    address: str
    _supervisor: subprocess.Popen[bytes] | None = None

    def command(self, *arguments: str) -> list[str]:
        """Return a command that runs on this machine, with its own host name and its own folder for Ray."""
        if not self.namespace:
            return list(arguments)
        (self.folder / "tmp").mkdir(exist_ok=True)
        Path("/tmp/ray").mkdir(exist_ok=True)
        own = f'hostname node{self.number}; mount --bind {self.folder}/tmp /tmp/ray; exec "$@"'
        inside = ["unshare", "--uts", "--mount", "sh", "-c", own, "sh", *arguments]
        return ["ip", "netns", "exec", self.namespace, *inside]

    def environment(self) -> dict[str, str]:
        return {**os.environ, **RAY_ENVIRONMENT, "WAYHOUND_NODE_FOLDER": str(self.folder)}

    def start(self, head: Node) -> None:
        """Start Ray, again whenever it ends, as an init system does."""
        ray = str(Path(sys.executable).parent / "ray")
        given = [ray, "start", "--block", "--num-cpus=1", f"--node-ip-address={self.address}",
                 "--object-store-memory=80000000", "--include-log-monitor=false"]  # fmt: skip
        if (
            self.namespace
        ):  # given ports need not be waited for: on a busy machine Ray's patience of 15 s is short
            given += [
                "--dashboard-agent-grpc-port=7001",
                "--dashboard-agent-listen-port=7002",
                "--runtime-env-agent-port=7003",
                "--metrics-export-port=7004",
            ]
        if head is self:
            given += [
                "--head",
                f"--port={RAY_PORT}",
                "--include-dashboard=false",
            ]
        else:
            given += [f"--address={head.address}:{RAY_PORT}"]
        loop = 'while true; do "$@"; sleep 1; done'
        log = (self.folder / "ray.log").open("ab")
        self._supervisor = subprocess.Popen(
            self.command("sh", "-c", loop, "sh", *given), stdout=log, stderr=log, stdin=subprocess.DEVNULL,
            env=self.environment(), start_new_session=True,
        )  # fmt: skip
        log.close()

    @property
    def is_started(self) -> bool:
        return self._supervisor is not None

    def pids(self) -> list[int]:
        """Return the processes of this machine but for its supervisor."""
        if self.namespace:
            listed = subprocess.run(
                ["ip", "netns", "pids", self.namespace], capture_output=True, text=True, check=False
            ).stdout.split()
            found = [int(pid) for pid in listed]
        else:
            found = [pid for pid in _all_pids() if _variable(pid, "WAYHOUND_NODE_FOLDER") == str(self.folder)]
        own = self._supervisor.pid if self._supervisor else 0
        return [pid for pid in found if pid != own]

    def workers(self) -> list[int]:
        return [pid for pid in self.pids() if "ray::ClusterWorker" in _command_line(pid)]

    def kill(self, *, with_disk: bool = False) -> set[str]:
        """End everything on this machine at once. Return the segments that went with its disk."""
        for pid in self.pids():
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        lost: set[str] = set()
        if with_disk:
            for path in self.folder.rglob("*.warc.gz"):
                lost.add(path.name)
                path.unlink()
        return lost

    def stop(self) -> None:
        if self._supervisor:
            with suppress(ProcessLookupError):
                os.killpg(self._supervisor.pid, signal.SIGKILL)
            self._supervisor.wait()
            self._supervisor = None
        self.kill()


def _all_pids() -> list[int]:
    return [int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit()]


def _command_line(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
    except OSError:
        return ""


def _variable(pid: int, name: str) -> str:
    try:
        content = Path(f"/proc/{pid}/environ").read_bytes()
    except OSError:
        return ""
    values = dict(part.split(b"=", 1) for part in content.split(b"\0") if b"=" in part)
    return values.get(name.encode(), b"").decode()


def _run(*command: str) -> bool:
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def can_make_namespaces() -> bool:
    if os.geteuid() != 0 or not shutil.which("ip"):
        return False
    made = _run("ip", "netns", "add", "whprobe")
    _run("ip", "netns", "del", "whprobe")
    return made


@contextmanager
def machines(folder: Path, hosts: Sequence[str], *, namespaces: bool) -> Iterator[list[Node]]:
    nodes = []
    for number in range(1, NODES + 1):
        own = folder / f"node{number}"
        own.mkdir()
        address = f"{NET}.{10 + number}" if namespaces else f"127.0.0.{10 + number}"
        nodes.append(Node(number, own, f"wh{number}" if namespaces else "", address))
    with ExitStack() as stack:
        if namespaces:
            stack.enter_context(_network(nodes, hosts))
        for node in nodes:
            stack.callback(node.stop)
        yield nodes


@contextmanager
def _network(nodes: Sequence[Node], hosts: Sequence[str]) -> Iterator[None]:
    lines = "\n".join(["127.0.0.1 localhost", *(f"{NET}.1 {host}" for host in hosts)])
    lines += "".join(f"\n{node.address} node{node.number}" for node in nodes)
    try:
        _must("ip", "link", "add", "whbr", "type", "bridge")
        _must("ip", "addr", "add", f"{NET}.1/24", "dev", "whbr")
        _must("ip", "link", "set", "whbr", "up")
        for node in nodes:
            settings = Path("/etc/netns") / node.namespace
            settings.mkdir(parents=True, exist_ok=True)
            (settings / "hosts").write_text(lines + "\n")
            outer, inner = f"whv{node.number}", f"whe{node.number}"
            _must("ip", "netns", "add", node.namespace)
            _must("ip", "link", "add", outer, "type", "veth", "peer", "name", inner)
            _must("ip", "link", "set", outer, "master", "whbr", "up")
            _must("ip", "link", "set", inner, "netns", node.namespace)
            inside = ("ip", "-n", node.namespace)
            _must(*inside, "addr", "add", f"{node.address}/24", "dev", inner)
            _must(*inside, "link", "set", inner, "up")
            _must(*inside, "link", "set", "lo", "up")
        yield
    finally:
        for node in nodes:
            _run("ip", "link", "del", f"whv{node.number}")
            _run("ip", "netns", "del", node.namespace)
            shutil.rmtree(Path("/etc/netns") / node.namespace, ignore_errors=True)
        _run("ip", "link", "del", "whbr")


def _must(*command: str) -> None:
    subprocess.run(command, check=True, capture_output=True)


# Runs


@dataclass
class Outcome:
    """The visits of a run by site, and what it cost."""

    visits: dict[str, list[tuple[str, str]]]
    spent: dict[str, int]
    pages: int
    seconds: float
    cpu: dict[str, float]


@dataclass
class Bench:
    """The parts of one run of the bench."""

    web: Web
    nodes: list[Node]
    postgres: PostgresServer
    store: ObjectStoreServer
    folder: Path
    budget: int
    chance: Random
    delay: float = DELAY
    faults: Counter[str] = field(default_factory=Counter)
    wiped: set[str] = field(default_factory=set)
    seen: dict[tuple[str, int], tuple[str, str]] = field(default_factory=dict)  # site, number → URL, segment

    @property
    def head(self) -> Node:
        return self.nodes[0]

    def workspace(self, name: str, *, shared: bool) -> Path:
        folder = self.folder / name
        places: dict[str, str] = {}
        if shared:
            places = {"database": self.database(), "archive": self.store.url(name)}
        with Workspace.create(folder, **places):
            pass
        settings = folder / "wayhound.toml"
        text = settings.read_text("utf-8")
        settings.write_text(text.replace("lease_seconds = 60.0", f"lease_seconds = {LEASE_SECONDS}"), "utf-8")
        return folder

    def database(self) -> str:
        """Return a new database, by an address that all machines reach."""
        name = self.postgres.create().partition("//")[2].partition("/")[2].partition("?")[0]
        return f"postgresql://wayhound@{self.web.address}:{self.postgres.settings['port']}/{name}"

    def start_cluster(self) -> None:
        for node in self.nodes:
            if not node.is_started:
                node.start(self.head)
        self.await_cluster()

    def await_cluster(self) -> None:
        """Wait until all nodes are there."""
        check = "import ray; ray.init('auto', log_to_driver=False, logging_level='ERROR'); "
        check += "print(sum(n['Alive'] for n in ray.nodes()))"
        until = time.monotonic() + 600
        while time.monotonic() < until:
            answer = subprocess.run(
                self.head.command(sys.executable, "-c", check), capture_output=True, text=True, check=False,
                env={**self.head.environment(), "RAY_ADDRESS": f"{self.head.address}:{RAY_PORT}"},
            )  # fmt: skip
            if answer.stdout.strip() == str(NODES):
                return
            time.sleep(1)
        logs = "\n".join((node.folder / "ray.log").read_text()[-1_500:] for node in self.nodes)
        raise SystemExit(f"The Ray nodes did not find each other within ten minutes.\n{logs}")

    def command(self, folder: Path, *, on_cluster: bool) -> subprocess.Popen[bytes]:
        given = [sys.executable, "-m", "wayhound", "forage", str(self.folder / "sites.txt"), "--workspace", str(folder),
                 "--keyword", "nosuchword", "--budget", str(self.budget), "--delay", str(self.delay), "--allow-private",
                 "--render", "never"]  # fmt: skip
        given += ["--cluster", "auto"] if on_cluster else []
        environment = {**self.head.environment(), "RAY_ADDRESS": f"{self.head.address}:{RAY_PORT}"}
        with (folder / "forage.log").open("ab") as log:
            return subprocess.Popen(
                self.head.command(*given), stdout=log, stderr=log, stdin=subprocess.DEVNULL, env=environment,
                start_new_session=True,
            )  # fmt: skip

    def outcome(self, folder: Path, seconds: float, cpu: dict[str, float]) -> Outcome:
        visits: dict[str, list[tuple[str, str]]] = {}
        with Workspace.open(folder) as workspace:
            store = workspace.stores.forage
            (run,) = store.runs()
            spent = {site.start: site.spent for site in store.sites(run.id)}
            for start in spent:
                visits[start] = [(visit.url, visit.outcome) for visit in store.visits_of(run.id, start)]
            return Outcome(visits, spent, store.progress(run.id).pages, seconds, cpu)

    def unreadable(self, folder: Path) -> int:
        """Return the number of visits whose page the archive cannot give back."""
        bad = 0
        with Workspace.open(folder) as workspace:
            store = workspace.stores.forage
            (run,) = store.runs()
            for site in list(store.sites(run.id)):
                for visit in store.visits_of(run.id, site.start):
                    if visit.archived is not None:
                        try:
                            workspace.archive.read(visit.archived)
                        except WayhoundError:
                            bad += 1
        return bad

    def is_over(self, folder: Path) -> bool:
        try:
            with Workspace.open(folder) as workspace:
                store = workspace.stores.forage
                (run,) = store.runs()
                return store.progress(run.id).is_over
        except (ValueError, OSError):
            return False

    def look(self, folder: Path) -> None:
        """Remember which visits are saved now: from now on they are promised."""
        with suppress(Exception), Workspace.open(folder) as workspace:
            store = workspace.stores.forage
            (run,) = store.runs()
            for site in list(store.sites(run.id)):
                for visit in store.visits_of(run.id, site.start):
                    segment = visit.archived.file if visit.archived else ""
                    self.seen[site.start, visit.number] = (visit.url, segment)

    def lost(self, outcome: Outcome) -> int:
        """Return the visits that were promised and are gone; those after one on a lost disk are not promised."""
        first: dict[str, int] = {}
        for (site, number), (_, segment) in self.seen.items():
            if segment in self.wiped:
                first[site] = min(first.get(site, number), number)
        return sum(
            number < first.get(site, 1 << 60)
            and (number >= len(outcome.visits[site]) or outcome.visits[site][number][0] != url)
            for (site, number), (url, _) in self.seen.items()
        )


@contextmanager
def cpu_watch(nodes: Sequence[Node], seconds: dict[str, float]) -> Iterator[None]:
    """Add up the CPU time of the machines' processes while the block runs, by what they are."""
    over = threading.Event()
    before = {pid: used for pid, (_, used) in _cpu_by_process(nodes).items()}
    known: dict[int, tuple[str, float]] = {}

    def watch() -> None:
        while not over.wait(0.5):
            known.update(_cpu_by_process(nodes))

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    yield
    over.set()
    thread.join()
    for pid, (kind, used) in known.items():
        if kind == "worker":  # Ray may have started its process before there was work: its start counts
            before.pop(pid, None)
        seconds[kind] = seconds.get(kind, 0.0) + used - before.get(pid, 0.0)


def _cpu_by_process(nodes: Sequence[Node]) -> dict[int, tuple[str, float]]:
    """Return what each process of the machines is, and the CPU seconds that it has used."""
    ticks = os.sysconf("SC_CLK_TCK")
    found: dict[int, tuple[str, float]] = {}
    for pid in {pid for node in nodes for pid in node.pids()}:
        with suppress(OSError, IndexError):
            values = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            found[pid] = _kind(_command_line(pid)), (int(values[11]) + int(values[12])) / ticks
    return found


def _kind(line: str) -> str:
    if "ray::ClusterWorker" in line:
        return "worker"
    if "wayhound forage" in line:
        return "command"
    parts = (
        "gcs_server",
        "raylet/raylet",
        "dashboard/agent.py",
        "runtime_env",
        "log_monitor",
        "monitor.py",
        "ray::",
    )
    return "ray " + next((part for part in parts if part in line), "rest")


def run_local(bench: Bench, name: str) -> Outcome:
    """Run the order on one machine."""
    folder = bench.workspace(name, shared=False)
    bench.web.forget()
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    process = bench.command(folder, on_cluster=False)
    if process.wait(DEADLINE):
        raise SystemExit((folder / "forage.log").read_text()[-3_000:])
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return bench.outcome(folder, time.monotonic() - began, {"command": cpu})


def run_cluster(bench: Bench, name: str, faults: int, partition: float = 0.0) -> tuple[Path, Outcome]:
    """Run the order on the cluster, with so many faults, until it has ended by itself."""
    folder = bench.workspace(name, shared=True)
    bench.web.forget()
    bench.seen.clear()
    cpu: dict[str, float] = {}
    began = time.monotonic()
    with cpu_watch(bench.nodes, cpu):
        process = bench.command(folder, on_cluster=True)
        partitioned = not partition
        while True:
            if faults or not partitioned:
                time.sleep(bench.chance.uniform(1.0, 6.0))
                bench.look(folder)
            if not partitioned and bench.seen:
                partitioned = True
                cut_off(bench, bench.nodes[-1], partition)
            elif faults and bench.seen:
                faults -= 1
                make_fault(bench, process)
            if process.poll() is None and not faults and partitioned:
                with suppress(subprocess.TimeoutExpired):
                    process.wait(5)
            if process.poll() is not None:
                if process.returncode == 0 and bench.is_over(folder):
                    break
                process = bench.command(folder, on_cluster=True)
            if time.monotonic() - began > DEADLINE:
                raise SystemExit(
                    "The run did not end in time:\n" + (folder / "forage.log").read_text()[-3_000:]
                )
    return folder, bench.outcome(folder, time.monotonic() - began, cpu)


def make_fault(bench: Bench, process: subprocess.Popen[bytes]) -> None:
    kinds = (
        ["worker"] * 6 + ["node"] * 2 + ["head"] + ["command"] * 3 + ["postgres"] * 4 + ["object store"] * 4
    )
    kind = bench.chance.choice(kinds)
    bench.faults[kind] += 1
    print(f"fault: {kind}", file=sys.stderr, flush=True)
    match kind:
        case "worker":
            workers = [pid for node in bench.nodes for pid in node.workers()]
            if workers:
                with suppress(ProcessLookupError):
                    os.kill(bench.chance.choice(workers), signal.SIGKILL)
        case "node":
            bench.wiped |= bench.chance.choice(bench.nodes[1:]).kill(with_disk=bench.chance.random() < 0.5)
        case "head":  # and the command, which runs on its machine
            for node in bench.nodes:
                node.kill()
            process.wait()
            bench.await_cluster()
        case "command":
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        case "postgres":
            bench.postgres.stop(kill=True)
            time.sleep(bench.chance.uniform(0, 3))
            bench.postgres.start()
        case _:
            bench.store.stop()
            time.sleep(bench.chance.uniform(0, 10))
            bench.store.start()


def cut_off(bench: Bench, node: Node, seconds: float) -> None:
    """Drop all packets to and from a node for so many seconds."""
    bench.faults["partition"] += 1
    _must("ip", "link", "set", f"whv{node.number}", "nomaster")
    time.sleep(seconds)
    _must("ip", "link", "set", f"whv{node.number}", "master", "whbr")


def _free_port(address: str) -> int:
    with socket.socket() as probe:
        probe.bind((address, 0))
        return int(probe.getsockname()[1])


@contextmanager
def prepared(arguments: argparse.Namespace, *, namespaces: bool) -> Iterator[Bench]:
    """Start the machines, the servers and the web."""
    address = f"{NET}.1" if namespaces else "127.0.0.1"
    web = Web(arguments.sites, address, "s{}.test" if namespaces else "s{}.localhost")
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="wayhound-cluster-")))
        nodes = stack.enter_context(machines(folder, web.hosts(), namespaces=namespaces))
        settings = {"listen_addresses": address, "port": str(_free_port(address)), "fsync": "on"}
        postgres = stack.enter_context(postgres_server(settings))
        _let_in(postgres)
        store = stack.enter_context(object_store(address))
        os.environ.update(store.environment())
        stack.enter_context(web.serving())
        (folder / "sites.txt").write_text("\n".join(web.starts()) + "\n")
        yield Bench(web, nodes, postgres, store, folder, arguments.budget, Random(arguments.seed))


def _let_in(postgres: PostgresServer) -> None:
    with (postgres.folder / "data/pg_hba.conf").open("a") as rules:
        rules.write(f"host all all {NET}.0/24 trust\n")
    postgres.stop()
    postgres.start()


@dataclass
class Part:
    """One run of the order on the cluster, as it is kept in the file of `--resume`."""

    name: str  # calm, faults or partition
    rows: list[list[Any]]
    bars: list[Bar]
    faults: dict[str, int] = field(default_factory=dict)
    cpu: dict[str, float] = field(default_factory=dict)

    @classmethod
    def from_json(cls, line: str) -> Part:
        values = json.loads(line)
        return cls(**{**values, "bars": [Bar(**bar) for bar in values["bars"]]})


def measure(arguments: argparse.Namespace) -> Report:
    """Run the parts that the file of `--resume` lacks, one line of it for each, until `--minutes` have passed."""
    namespaces = can_make_namespaces() and not arguments.loopback
    resume: Path | None = arguments.resume
    parts = (
        [Part.from_json(line) for line in resume.read_text().splitlines()]
        if resume and resume.exists()
        else []
    )
    end = time.monotonic() + 60 * arguments.minutes if arguments.minutes else float("inf")
    with ExitStack() as stack:
        bench: Bench | None = None
        while time.monotonic() < end and (name := _next_part(parts, arguments, namespaces=namespaces)):
            if bench is None:
                bench = stack.enter_context(prepared(arguments, namespaces=namespaces))
            bench.chance = Random(f"{arguments.seed} {len(parts)}")  # a resumed run draws other moments
            parts.append(_run_part(name, len(parts), bench, arguments, _faults_made(parts)))
            if resume:
                with resume.open("a") as file:
                    file.write(json.dumps(asdict(parts[-1])) + "\n")
    made = Counter(kind for part in parts for kind in Counter(part.faults).elements())
    where = "network namespaces" if namespaces else "processes that share the loopback address"
    header = ["run", "sites", "pages", "seconds", "CPU ms per page", "of Ray itself", "of Postgres", "refetched",
              "failed visits", "overlaps", "shortest gap", "unreadable"]  # fmt: skip
    bars = [bar for part in parts for bar in part.bars]
    bars.append(Bar("faults", _faults_made(parts), least=arguments.kills))
    return Report(
        f"One order on {NODES} Ray nodes ({where}); faults: {dict(made)}",
        header,
        [row for part in parts for row in part.rows],
        bars,
        {
            "faults": dict(made),
            "CPU seconds": [part.cpu for part in parts],
            "sites": arguments.sites,
            "budget": arguments.budget,
        },
    )


def _faults_made(parts: Sequence[Part]) -> int:
    return sum(sum(part.faults.values()) for part in parts if part.name == "faults")


def _next_part(parts: Sequence[Part], arguments: argparse.Namespace, *, namespaces: bool) -> str:
    names = {part.name for part in parts}
    if "calm" not in names:
        return "calm"
    if _faults_made(parts) < arguments.kills:
        return "faults"
    return "partition" if arguments.partition and namespaces and "partition" not in names else ""


def _run_part(name: str, number: int, bench: Bench, arguments: argparse.Namespace, made: int) -> Part:
    if name == "calm":
        return _run_calm(bench, arguments.rounds)
    bench.start_cluster()
    bench.delay, bench.faults = FAULT_DELAY, Counter()
    bench.wiped.clear()
    faults = min(arguments.kills - made, FAULTS_A_RUN) if name == "faults" else 0
    seconds = arguments.partition if name == "partition" else 0.0
    folder, outcome = run_cluster(bench, f"{name}{number}", faults, seconds)
    title = f"cut off for {seconds:g} s" if seconds else f"{sum(bench.faults.values())} faults"
    unreadable = bench.unreadable(folder)
    bars = _bars(title, bench, outcome, unreadable)
    return Part(name, [_row(title, outcome, bench, unreadable)], bars, dict(bench.faults), outcome.cpu)


def _run_calm(bench: Bench, rounds: int) -> Part:
    """Run the order on one machine, and on the cluster without faults, in turn; the cheapest of each counts."""
    compileall.compile_dir(Path(wayhound.__file__).parent, quiet=1)  # an installed package has its bytecode
    rows, bars, local_cpu, cluster_cpu = [], [], [], []
    for number in range(1, rounds + 1):
        local = run_local(bench, f"local{number}")
        rows.append(_row("one machine, SQLite", local, bench, None))
        local_cpu.append(_cpu_per_page(local))
        bench.start_cluster()
        with server_cpu(bench.postgres) as at_postgres:
            folder, calm = run_cluster(bench, f"calm{number}", 0)
        calm.cpu["postgres"] = at_postgres[0]
        unreadable = bench.unreadable(folder)
        rows.append(_row("cluster", calm, bench, unreadable))
        cluster_cpu.append(_cpu_per_page(calm))
        other = sum(sorted(calm.visits[site]) != sorted(visits) for site, visits in local.visits.items())
        bars += [
            *_bars("cluster", bench, calm, unreadable),
            Bar("cluster: sites with other visits than on one machine", other, most=0),
            Bar("cluster: pages fetched twice without a fault", bench.web.refetched, most=0),
        ]
        for node in bench.nodes:
            node.stop()
    ratio = min(cluster_cpu) / min(local_cpu)
    bars.append(Bar("CPU per page of workers and command, times one machine", round(ratio, 2), most=1.35))
    return Part("calm", rows, bars, cpu=calm.cpu)


def _cpu_per_page(outcome: Outcome) -> float:
    return (outcome.cpu.get("worker", 0.0) + outcome.cpu.get("command", 0.0)) / max(outcome.pages, 1)


def _cpu_of_ray(outcome: Outcome) -> float:
    return sum(seconds for kind, seconds in outcome.cpu.items() if kind.startswith("ray"))


def _row(name: str, outcome: Outcome, bench: Bench, unreadable: int | None) -> list[Any]:
    failed = sum(reason != "ok" for visits in outcome.visits.values() for _, reason in visits)
    pages = max(outcome.pages, 1)
    return [
        name,
        len(outcome.visits),
        outcome.pages,
        round(outcome.seconds, 1),
        round(1_000 * _cpu_per_page(outcome), 2),
        round(1_000 * _cpu_of_ray(outcome) / pages, 2),
        round(1_000 * outcome.cpu["postgres"] / pages, 2) if "postgres" in outcome.cpu else None,
        bench.web.refetched,
        failed,
        bench.web.overlaps,
        round(bench.web.shortest_gap, 4),
        unreadable,
    ]


def _bars(name: str, bench: Bench, outcome: Outcome, unreadable: int) -> list[Bar]:
    over = sum(spent > bench.budget for spent in outcome.spent.values())
    return [
        Bar(f"{name}: sites over their budget", over, most=0),
        Bar(f"{name}: requests to one domain at once", bench.web.overlaps, most=0),
        Bar(
            f"{name}: shortest gap between requests to a host, seconds",
            bench.web.shortest_gap,
            least=bench.delay,
        ),
        Bar(f"{name}: promised visits lost", bench.lost(outcome), most=0),
        Bar(f"{name}: visits whose page is not in the archive", unreadable, most=0),
    ]


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sites", type=int, default=200)
    parser.add_argument("--budget", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=2, help="without faults, of which the cheapest counts")
    parser.add_argument("--kills", type=int, default=100, help="faults at random moments")
    parser.add_argument("--partition", type=float, default=90.0, help="seconds; 0: none")
    parser.add_argument("--loopback", action="store_true", help="make no network namespaces")
    parser.add_argument("--seed", type=int, default=0)
    add_resume_options(parser, "runs")
    add_output_options(parser)
    arguments = parser.parse_args()
    if reason := why_not() or why_no_object_store():
        raise SystemExit(f"This bench cannot run here: {reason}.")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # the machines must not outlive it
    return finish([measure(arguments)], arguments)


if __name__ == "__main__":
    raise SystemExit(main())
