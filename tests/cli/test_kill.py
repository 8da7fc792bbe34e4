"""`kill -9` at any moment, then the same command again: no page lost, none fetched twice, budgets exact."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from warcio.archiveiterator import ArchiveIterator

from tests.servers import Answer, Served, serve
from wayhound.archive.reader import ArchiveReader
from wayhound.visit import ArchiveRef

SITES = ["a.localhost", "b.localhost", "c.localhost"]
PAGES = 400  # on each site
BUDGET = 130  # of which so many are fetched
KILLS = 8  # `bench.kills` has a thousand
KILLS_AGAIN = 3  # of a second run,
BUDGET_AGAIN = 40  # which fetches so many
WAYHOUND = [sys.executable, "-m", "wayhound"]


def page(path: str) -> Answer | None:
    if path.startswith("//"):  # all hosts are alike
        return None
    if path == "/robots.txt":
        return Answer("User-agent: *\nAllow: /\n", headers=(("Content-Type", "text/plain"),))
    number = int(path[1:] or 0)
    links = " ".join(f"<a href='/{(number * 3 + step) % PAGES}'>to {step}</a>" for step in range(1, 8))
    # slow enough that a process is killed in the middle of its work and not after it
    return Answer(f"<title>Page {number}</title>{links}", delay_seconds=0.02)


def forage(server: Served, workspace: Path, workers: int, *more: str) -> subprocess.Popen[bytes]:
    starts = [f"{server.at(host)}/" for host in SITES]
    options = ["--budget", str(BUDGET), "--delay", "0", "--allow-private", "--workers", str(workers), *more]
    return subprocess.Popen(
        [*WAYHOUND, "forage", *starts, "-w", str(workspace), *options],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )


def visits_of(workspace: Path) -> list[dict[str, object]]:
    command = [*WAYHOUND, "export", "visits", "--all-runs", "-w", str(workspace)]
    lines = subprocess.run(command, check=True, capture_output=True).stdout.splitlines()
    return [json.loads(line) for line in lines]


def forage_with_kills(server: Served, workspace: Path, workers: int, draw: random.Random) -> int:
    """Runs the same command until it ends by itself, killing it again and again; tells how often."""
    kills = 0
    while True:
        process = forage(server, workspace, workers)
        before = sum(server.requests.values())
        if kills < KILLS:
            wait_for_requests(server, before + draw.randint(0, 9), process)
            time.sleep(draw.random() * 0.05)
            process.send_signal(signal.SIGKILL)
        _, said = process.communicate(timeout=120)
        if process.returncode != -signal.SIGKILL:
            assert process.returncode == 0, said.decode()
            return kills
        kills += 1


def wait_for_requests(server: Served, wanted: int, process: subprocess.Popen[bytes]) -> None:
    while sum(server.requests.values()) < wanted and process.poll() is None:
        time.sleep(0.002)


def archived_urls(workspace: Path) -> list[str]:
    """Every response in the archive, read to the end by a reader that is not ours."""
    urls = []
    for path in sorted((workspace / "archive").glob("*.warc.gz")):
        with path.open("rb") as stream:
            for record in ArchiveIterator(stream):
                record.content_stream().read()
                if record.rec_type in ("response", "revisit"):
                    urls.append(record.rec_headers["WARC-Target-URI"])
    return urls


@pytest.mark.parametrize("workers", [1, 2])
def test_killed_at_random_moments_a_forage_loses_nothing_and_fetches_nothing_twice(
    tmp_path: Path, workers: int
) -> None:
    workspace = tmp_path / "workspace"
    subprocess.run([*WAYHOUND, "init", str(workspace)], check=True, capture_output=True)
    with serve(page) as server:
        kills = forage_with_kills(server, workspace, workers, random.Random(workers))
    visits = visits_of(workspace)
    assert kills == KILLS
    # budgets are exact, and no page stands twice
    assert Counter(visit["site"] for visit in visits) == dict.fromkeys(
        [f"{server.at(host)}/" for host in SITES], BUDGET
    )
    assert len({visit["url"] for visit in visits}) == len(visits)
    # asked twice was only what was under way when the process was killed: one page a site
    asked = Counter(
        f"{server.at(seen.host)}{seen.target}" for seen in server.seen if seen.target != "/robots.txt"
    )
    assert sum(asked.values()) - len(asked) <= KILLS * len(SITES)
    assert max(asked.values()) <= 1 + KILLS
    # all that was saved can be read, with nothing torn in between
    assert {visit["url"] for visit in visits} <= set(archived_urls(workspace))
    assert asked.keys() >= {visit["url"] for visit in visits}


class Gate:
    """Lets so many requests through and holds the others, so that a process can be killed in the middle."""

    def __init__(self) -> None:
        self.is_held = threading.Event()
        self._opened = threading.Event()
        self._left: int | None = None
        self._lock = threading.Lock()

    def close_after(self, requests: int) -> None:
        with self._lock:
            self.is_held.clear()
            self._left, self._opened = requests, threading.Event()

    def open(self) -> None:
        with self._lock:
            self._left = None
            self._opened.set()

    def page(self, path: str) -> Answer | None:
        """A page with a tag; every fourth has none, so that it is sent each time that it is asked for."""
        if path.startswith("//") or path == "/robots.txt":
            return page(path)
        self._pass()
        plain = replace(page(path) or Answer(), delay_seconds=0.0)
        return plain if is_untagged(path) else replace(plain, headers=(("ETag", f'"{path}"'),), if_same=())

    def _pass(self) -> None:
        with self._lock:
            if self._left is None:
                return
            self._left -= 1
            if self._left >= 0:
                return
            opened = self._opened
            self.is_held.set()
        opened.wait()


def is_untagged(url: str) -> bool:
    return int(url.rpartition("/")[2] or 0) % 4 == 3


@pytest.mark.parametrize("workers", [1, 2])
def test_a_second_run_that_is_killed_goes_on_and_takes_what_has_not_changed_from_the_archive(
    tmp_path: Path, workers: int
) -> None:
    workspace = tmp_path / "workspace"
    subprocess.run([*WAYHOUND, "init", str(workspace)], check=True, capture_output=True)
    gate, draw = Gate(), random.Random(workers)
    again = ("--again", "--budget", str(BUDGET_AGAIN))
    with serve(gate.page) as server:
        forage(server, workspace, workers, *again).communicate(timeout=240)
        first = visits_of(workspace)
        assert len(first) == BUDGET_AGAIN * len(SITES)
        server.seen.clear()
        for _ in range(KILLS_AGAIN):
            gate.close_after(draw.randint(0, 12))
            process = forage(server, workspace, workers, *again)
            assert gate.is_held.wait(120)
            process.kill()
            gate.open()  # its workers, if it has any, end after the fetches under way
            process.communicate(timeout=120)
        forage(server, workspace, workers, *again).communicate(timeout=240)
    second = visits_of(workspace)[len(first) :]
    assert {visit["run"] for visit in second} == {2}
    # the same pages as before, each once, and of all with a tag it was said that they had not changed
    about = [[(visit["site"], visit["url"], visit["title"]) for visit in run] for run in (first, second)]
    assert sorted(about[0]) == sorted(about[1])
    assert [visit["not_modified"] for visit in second] == [
        not is_untagged(str(visit["url"])) for visit in second
    ]
    # asked for twice was only what was under way when the process was killed, and on the same conditions
    asked = [seen for seen in server.seen if seen.target != "/robots.txt"]
    assert len(asked) - len(second) <= KILLS_AGAIN * len(SITES)
    assert all(("If-None-Match" in seen.headers) is not is_untagged(seen.target) for seen in asked)
    # what the second run saved can be read, by others to the end and by us with the body
    assert set(archived_urls(workspace)) >= {visit["url"] for visit in second}
    reader = ArchiveReader(workspace / "archive")
    for visit in second:
        ref = ArchiveRef(*(visit[f"archive_{part}"] for part in ("file", "offset", "length")))  # type: ignore[arg-type]
        assert f"<title>{visit['title']}</title>".encode() in reader.read(ref).body


@pytest.mark.parametrize("workers", [1, 2])
def test_ctrl_c_ends_after_the_fetches_under_way_and_the_same_command_goes_on(
    tmp_path: Path, workers: int
) -> None:
    workspace = tmp_path / "workspace"
    subprocess.run([*WAYHOUND, "init", str(workspace)], check=True, capture_output=True)
    with serve(page) as server:
        process = forage(server, workspace, workers)
        wait_for_requests(server, 20, process)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=60)
        assert process.returncode == 130
        assert b"Stopping after the requests under way" in said
        assert b"The same command resumes it" in said
        asked = sum(server.requests.values()) - server.requests["/robots.txt"]
        assert len(visits_of(workspace)) == asked  # every answer that was waited for is saved
        process = forage(server, workspace, workers)
        process.communicate(timeout=120)
    assert process.returncode == 0
    pages = Counter(f"{seen.host}{seen.target}" for seen in server.seen if seen.target != "/robots.txt")
    assert set(pages.values()) == {1}
    assert len(visits_of(workspace)) == BUDGET * len(SITES)
