"""Forages that are killed and paused at random moments: nothing lost, nothing doubled, budgets exact.

A forage walks sites on loopback. It is ended by `kill -9` again and again and started anew, and as long as pauses are
to be made, it has two workers, one of which is stopped (SIGSTOP) now and then until its leases have expired and the
other has taken its sites; later forages have one process, which starts in a third of the time. When a
forage has ended by itself, its workspace is checked, and the next one begins, until `--count` kills and `--pauses`
pauses were made. With `--resume FILE` the count goes on where an earlier run of the same code ended.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from random import Random

from bench.report import Bar, Report, add_output_options, add_resume_options, finish
from wayhound.errors import ArchiveError
from wayhound.visit import ArchiveRef
from wayhound.workspace import DATABASE_NAME, Workspace

SITES, PAGES, BUDGET = 4, 400, 150
LEASE_SECONDS = 2.0
KILLS_A_FORAGE, PAUSES_A_FORAGE = 40, 6  # by then most of the budget is spent
"""Half as many kills if there are pauses."""

SLOW_ANSWER = 0.2  # seconds
DEADLINE = 600.0


@dataclass
class Web:
    """Sites on loopback that remember what was requested, and if two requests to one host overlapped."""

    requests: Counter[str] = field(default_factory=Counter)
    overlaps: int = 0
    port: int = 0
    delay_seconds: float = 0.01
    is_lost: bool = False  # the network, so that connections are dropped
    _at_once: Counter[str] = field(default_factory=Counter)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def starts(self) -> list[str]:
        return [f"http://s{number}.localhost:{self.port}/" for number in range(SITES)]

    def answer(self, host: str, path: str) -> bytes:
        if path == "/robots.txt":
            return b""
        with self._lock:
            self.requests[f"http://{host}{path}"] += 1
            self._at_once[host] += 1
            self.overlaps += self._at_once[host] > 1
        time.sleep(self.delay_seconds)
        with self._lock:
            self._at_once[host] -= 1
        number = int(re.sub(r"\D", "", path) or 0)
        links = " ".join(f"<a href='/{(number * 3 + step) % PAGES}'>to {step}</a>" for step in range(1, 8))
        return f"<title>Page {number}</title><p>{host} {number}</p>{links}".encode()


@contextmanager
def serving() -> Iterator[Web]:
    web = Web()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            if web.is_lost:
                self.close_connection = True
                return
            body = web.answer(self.headers["Host"], self.path)
            try:
                self.send_response(200)
                self.send_header("Content-Type", "text/plain" if not body else "text/html")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)
            except OSError:  # it was killed meanwhile
                self.close_connection = True

        def log_message(self, *_: object) -> None:
            pass

    class Server(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, *_: object) -> None:
            pass

    with Server(("127.0.0.1", 0), Handler) as server:
        web.port = server.server_port
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield web
        finally:
            server.shutdown()


@dataclass
class Faults:
    """Faults that remain to be made, and those that were."""

    kills_left: int
    pauses_left: int
    kills: int = 0
    pauses: int = 0


def forage_with_faults(folder: Path, web: Web, faults: Faults, chance: Random) -> None:
    """Run the same command until it ends by itself; `folder` becomes a workspace."""
    Workspace.create(folder).close()
    settings = folder / "wayhound.toml"
    settings.write_text(
        re.sub(r"(?m)^#?\s*lease_seconds = .*$", f"lease_seconds = {LEASE_SECONDS}", settings.read_text())
    )
    pauses = min(PAUSES_A_FORAGE, faults.pauses_left)
    kills = min(KILLS_A_FORAGE // 2 if pauses else KILLS_A_FORAGE, faults.kills_left)
    workers = 2 if pauses else 1
    while True:
        process = _start(folder, web, workers)
        wanted = sum(web.requests.values()) + chance.randint(0, 12)
        _wait_for_requests(web, wanted, process)
        if (kills or pauses) and process.poll() is None:
            if chance.random() * (kills + pauses) < pauses:
                pauses -= 1
                is_made = _pause(process, folder / DATABASE_NAME, web, chance)
                faults.pauses, faults.pauses_left = faults.pauses + is_made, faults.pauses_left - is_made
            time.sleep(chance.random() * 0.05)
            os.killpg(process.pid, signal.SIGKILL)
            kills, faults.kills_left = max(0, kills - 1), max(0, faults.kills_left - 1)
            faults.kills += 1
        _, said = process.communicate(timeout=DEADLINE)
        if process.returncode != -signal.SIGKILL:
            if process.returncode:
                raise SystemExit(f"The forage ended with code {process.returncode}: {said.decode()}")
            return


def _start(folder: Path, web: Web, workers: int) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "wayhound", "forage", *web.starts(), "-w", str(folder)]
    options = ["--strategy", "breadth-first", "--budget", str(BUDGET), "--delay", "0"]
    options += ["--allow-private", "--render", "never", "--workers", str(workers)]
    return subprocess.Popen(
        [*command, *options],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )  # fmt: skip


def _pause(process: subprocess.Popen[bytes], database: Path, web: Web, chance: Random) -> bool:
    """Stop one worker until its leases have expired, and let it act again. Return False if there is none."""
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    workers = [int(pid) for pid in children if b"forage-worker" in _command(pid)]
    if not workers or not _stop_between_writes(worker := chance.choice(workers), database):
        return False
    # Slow answers keep the other worker from ending the forage meanwhile.
    usual, web.delay_seconds = web.delay_seconds, SLOW_ANSWER
    time.sleep(LEASE_SECONDS * 2.5)
    web.delay_seconds = usual
    os.kill(worker, signal.SIGCONT)
    _wait_for_requests(web, sum(web.requests.values()) + chance.randint(0, 12), process)
    return True


def _command(pid: str) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


def _stop_between_writes(pid: int, database: Path) -> bool:
    """Stop a process while it does not hold SQLite's lock, which would stop the other one too."""
    with closing(sqlite3.connect(database, timeout=0.5, isolation_level=None)) as connection:
        for _ in range(100):
            try:
                os.kill(pid, signal.SIGSTOP)
                connection.execute("BEGIN IMMEDIATE")
                connection.execute("ROLLBACK")
            except ProcessLookupError:
                return False
            except sqlite3.OperationalError:
                os.kill(pid, signal.SIGCONT)
            else:
                return True
    return False


def _wait_for_requests(web: Web, wanted: int, process: subprocess.Popen[bytes]) -> None:
    end = time.monotonic() + DEADLINE
    while sum(web.requests.values()) < wanted and process.poll() is None:
        if time.monotonic() > end:
            raise SystemExit("The forage does not go on.")
        time.sleep(0.002)


@dataclass
class Damage:
    """What a workspace lacks, has twice, or spent beyond its budget."""

    lost: int = 0
    doubled: int = 0
    off_budget: int = 0


def damage_in(folder: Path, web: Web) -> Damage:
    """Check a workspace whose forage has ended: budgets, numbers of visits, and every page in the archive."""
    found = Damage()
    with Workspace.open(folder) as workspace:
        store = workspace.stores.forage
        run = store.runs()[0]
        for start in web.starts():
            visits = list(store.visits_of(run.id, start))
            found.off_budget += abs(sum(visit.spent for visit in visits) - BUDGET)
            fetched = [visit for visit in visits if visit.outcome == "ok"]  # others may have been tried again
            found.doubled += len(fetched) - len({visit.url for visit in fetched})
            found.lost += [visit.number for visit in visits] != list(range(len(visits)))
            for visit in fetched:
                found.lost += visit.archived is None or not _is_there(workspace, visit.archived, visit.url)
    return found


def _is_there(workspace: Workspace, ref: ArchiveRef, url: str) -> bool:
    try:
        return workspace.archive.read(ref).url == url
    except ArchiveError:
        return False


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    add_output_options(parser)
    parser.add_argument("--count", type=int, default=1_000, help="kills")
    parser.add_argument("--pauses", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    add_resume_options(parser, "forages")
    arguments = parser.parse_args()
    return finish(_measured(arguments), arguments)


def _measured(arguments: argparse.Namespace) -> Report:
    end = time.monotonic() + 60 * arguments.minutes if arguments.minutes else float("inf")
    rows = _earlier(arguments.resume)
    kills, pauses = (sum(row[column] for row in rows) for column in (1, 2))
    faults = Faults(max(0, arguments.count - kills), max(0, arguments.pauses - pauses), kills, pauses)
    while (faults.kills_left or faults.pauses_left) and time.monotonic() < end:
        before, started = (faults.kills, faults.pauses), time.monotonic()
        chance = Random(f"{arguments.seed} {len(rows)}")  # so that a resumed run draws other moments
        with tempfile.TemporaryDirectory() as folder, serving() as web:
            forage_with_faults(Path(folder) / "workspace", web, faults, chance)
            damage = damage_in(Path(folder) / "workspace", web)
        made = faults.kills - before[0], faults.pauses - before[1]
        rows.append((len(rows) + 1, *made, damage.lost, damage.doubled, damage.off_budget, web.overlaps))
        print(f"{rows[-1]} in {time.monotonic() - started:.0f} s", file=sys.stderr, flush=True)
        if arguments.resume:
            with arguments.resume.open("a") as file:
                file.write(json.dumps(rows[-1]) + "\n")
    bars = ("lost", 3), ("doubled", 4), ("off budget", 5), ("two requests to one host at once", 6)
    damaged = [Bar(name, sum(row[column] for row in rows), most=0) for name, column in bars]
    made_all = [
        Bar("kills", faults.kills, least=arguments.count),
        Bar("pauses", faults.pauses, least=arguments.pauses),
    ]
    return Report(
        f"{faults.kills:,} kills and {faults.pauses} pauses",
        ("forage", "kills", "pauses", "lost", "doubled", "off budget", "at once"),
        rows,
        damaged + made_all,
        {"kills": faults.kills, "pauses": faults.pauses},
    )


def _earlier(file: Path | None) -> list[tuple[int, ...]]:
    if file is None or not file.exists():
        return []
    return [tuple(json.loads(line)) for line in file.read_text().splitlines()]


if __name__ == "__main__":
    raise SystemExit(main())
