"""Sites made by scripts beside their server-rendered twins, and what looking for such pages costs elsewhere.

Five fixtures (`bench.script_sites`) and their twins are foraged on loopback: the goals found, and page loads. Crawlee's
adaptive crawler walks the same fixtures with its defaults, in an environment of its own. `--many N` renders that many
pages in a row while browsers are killed: pages lost, processes left behind, memory. Recorded sites of the data folder,
whose pages need no browser, are replayed with `--render auto` and `never`: the share of pages rendered, and CPU, that
of the browser included.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from contextlib import AsyncExitStack, contextmanager, suppress
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from bench.crawl_speed import peer_environment
from bench.report import Bar, Cell, Report, add_data_option, add_output_options, finish
from bench.script_sites import ScriptSite, Serve, script_sites
from wayhound.app.crawl import Crawl
from wayhound.app.forage import open_run
from wayhound.app.forage_worker import run_worker
from wayhound.app.order import Order
from wayhound.app.page_source import PageSource
from wayhound.app.site_forage import ForagePlan
from wayhound.archive.replay import ReplayFetcher
from wayhound.archive.site_folder import SiteFolder
from wayhound.config import Config
from wayhound.fetched import Failed, Fetched
from wayhound.forage.forager import ForageLimits
from wayhound.forage.politeness import Politeness
from wayhound.forage.rendering import MAX_SAMPLES, RenderMemory, RenderMode
from wayhound.forage.scorer import GoalPattern
from wayhound.forage.scorers.baselines import BreadthFirst
from wayhound.net.browser import find_browser
from wayhound.net.http import HttpFetcher
from wayhound.net.rendering import BrowserFetcher
from wayhound.site import Site
from wayhound.store.protocol import RunLimits
from wayhound.visit import Visit
from wayhound.workspace import Workspace

MOST_LOADS = 1.3
MOST_RENDERED = 0.03
MOST_CPU = 1.1
CRAWLEE = ("crawlee-adaptive", ["crawlee[adaptive-crawler,parsel]>=1.0"])
KINDS = ("modern-catalogue", "modern-company", "modern-conference", "modern-docs", "modern-hospitality",
         "modern-nonprofit", "modern-research", "modern-small")  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--people", type=int, default=24)
    parser.add_argument("--entries", type=int, default=200)
    parser.add_argument("--budget", type=int, default=100, help="pages of a recorded site")
    parser.add_argument("--sites", type=int, help="recorded sites of each kind  [default: all]")
    parser.add_argument(
        "--kind", action="append", help="folders of recorded sites  [default: those of today]"
    )
    names = [site.name for site in script_sites()]
    parser.add_argument("--fixture", action="append", choices=names, help="[default: all five]")
    parser.add_argument("--skip-fixtures", action="store_true")
    parser.add_argument("--no-peers", action="store_true", help="leave out Crawlee")
    parser.add_argument("--many", type=int, default=200, help="pages rendered in a row; 0: none")
    add_data_option(parser, required=False)
    add_output_options(parser)
    arguments = parser.parse_args()
    reports = []
    if not arguments.skip_fixtures:
        python = None if arguments.no_peers else peer_environment(*CRAWLEE)
        sites = script_sites(arguments.people, arguments.entries)
        chosen = [site for site in sites if site.name in (arguments.fixture or names)]
        reports.append(_fixtures(chosen, python))
    if arguments.many:
        reports.append(_many_pages(arguments.many))
    if arguments.data is not None:
        folders = _recorded(arguments.data, arguments.kind or KINDS, arguments.sites)
        reports.append(_plain_sites(folders, arguments.budget))
    return finish(reports, arguments)


# Fixtures


def _fixtures(sites: Sequence[ScriptSite], crawlee: Path | None) -> Report:
    rows: list[list[Cell]] = []
    equal, worst = True, 0.0
    for site in sites:
        print(site.name, file=sys.stderr)
        began = _cpu_seconds()
        made = _forage(site.made_by_scripts, site.goal)
        cpu = _cpu_seconds() - began
        twin = _forage(site.twin, site.goal)
        goals = [{visit.title for visit in visits if visit.is_goal} for visits in (made, twin)]
        loads = [sum(visit.spent for visit in visits) for visits in (made, twin)]
        rendered = sum(visit.rendering in ("rendered", "same") for visit in made)
        equal &= goals[0] == goals[1]
        worst = max(worst, loads[0] / loads[1])
        peer = _crawlee(crawlee, site, goals[1]) if crawlee else ["", "", ""]
        rows.append([
            site.name, len(goals[1]), len(goals[0] & goals[1]), *reversed(loads), rendered, cpu, *peer,
        ])  # fmt: skip
    header = (
        "site", "goals of the twin", "of them found", "loads of the twin", "page loads", "rendered", "CPU s",
        "Crawlee: goals found", "page loads", "CPU s",
    )  # fmt: skip
    bars = [
        Bar("fixtures with the goals of their twins", float(equal), least=1.0),
        Bar("× the page loads of the twin, worst fixture", worst, most=MOST_LOADS),
    ]
    return Report("Sites made by scripts, and their twins", header, rows, bars)


def _crawlee(python: Path, site: ScriptSite, goals: Collection[str]) -> list[Cell]:
    """Return how many of the goals Crawlee finds, its page loads of both kinds, and its CPU seconds."""
    script = Path(__file__).parent / "peers" / "crawlee_adaptive_peer.py"
    with tempfile.TemporaryDirectory() as folder, _served(site.made_by_scripts) as start:
        began = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run(
            [python, script, start, find_browser()],
            cwd=folder, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        )  # fmt: skip
        ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = ended.ru_utime + ended.ru_stime - began.ru_utime - began.ru_stime
    answer = json.loads(done.stdout.splitlines()[-1])
    return [len(set(answer["titles"]) & set(goals)), answer["plain"] + answer["rendered"], cpu]


# Many pages


def _many_pages(pages: int) -> Report:
    """Render pages of an application one after the other, and kill the browser under every fiftieth."""
    content = script_sites(people=4)[0].made_by_scripts
    paths = ("", "people", "people/1", "people/2", "teaching", "news")
    before = _children()
    lost, killed, memory = 0, 0, []

    async def work(start: str) -> None:
        nonlocal lost, killed
        async with (
            HttpFetcher(allow_private=True) as http,
            BrowserFetcher(http, http, user_agent="Wayhound") as browser,
        ):
            for number in range(pages):
                rendering = asyncio.create_task(browser.fetch(start + paths[number % len(paths)]))
                if number % 50 == 25:
                    await asyncio.sleep(0.1)
                    killed += sum(map(_kill_browser, _children() - before)) > 0
                answer = await rendering
                lost += isinstance(answer, Failed) or b"<h1>" not in answer.body
                if number % 10 == 9:
                    memory.append(sum(map(_resident_mb, _children() - before)))

    with _served(content) as start:
        asyncio.run(work(start))
    left = len(_children() - before)
    quarter = max(1, len(memory) // 4)
    early, late = max(memory[:quarter], default=1.0), max(memory[-quarter:], default=1.0)
    bars = [
        Bar("browsers killed under a page", killed, least=(pages + 24) // 50),
        Bar("pages lost when browsers were killed", lost, most=0),
        Bar("processes left behind", left, most=0),
        Bar("peak MB of browser and driver, last quarter of the pages to the first", late / early, most=1.25),
    ]
    rows: list[list[Cell]] = [[pages, killed, lost, left, early, late]]
    header = (
        "pages",
        "browsers killed",
        "lost",
        "processes left",
        "peak MB, first quarter",
        "peak MB, last quarter",
    )
    return Report("Many rendered pages, and browsers that are killed", header, rows, bars)


def _children() -> set[int]:
    """Return the processes that this one has started, and theirs."""
    parents: dict[int, int] = {}
    for status in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            state, parent = status.read_text().rpartition(")")[2].split()[:2]
            if state != "Z":
                parents[int(status.parent.name)] = int(parent)
    found: set[int] = set()
    while more := {child for child, parent in parents.items() if parent in {os.getpid(), *found}} - found:
        found |= more
    return found


def _kill_browser(pid: int) -> bool:
    """Kill a process if it is the first one of a browser. Return True if it was."""
    with suppress(OSError):
        if b"--remote-debugging" in Path(f"/proc/{pid}/cmdline").read_bytes():
            os.kill(pid, signal.SIGKILL)
            return True
    return False


def _resident_mb(pid: int) -> float:
    """Return the memory of a process alone, with its part of what it shares."""
    with suppress(OSError):
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) / 1024
    return 0.0


def _forage(made: Serve, goal: str) -> list[Visit]:
    plain = Config()
    config = replace(plain, fetch=replace(plain.fetch, delay_seconds=0.0, allow_private=True))
    visits: list[Visit] = []
    with (
        tempfile.TemporaryDirectory() as folder,
        _served(made) as start,
        Workspace.create(Path(folder) / "w") as workspace,
    ):
        run = open_run(workspace, Order(goal=goal), RunLimits(1000), [Site(start)], time.time())
        asyncio.run(run_worker(workspace, run, config, on_start=lambda _: None, on_visit=visits.append))
    return visits


@contextmanager
def _served(made: Serve) -> Iterator[str]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            response = made(self.path)
            body = (response[0] if response else "<title>Not here</title>").encode()
            self.send_response(200 if response else 404)
            self.send_header("Content-Type", response[1] if response else "text/html")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


# Recorded sites


@dataclass
class _Recorded:
    """A recorded site as pages and as what they ask for."""

    replay: ReplayFetcher
    asked: Counter[str] = field(default_factory=Counter)

    async def fetch(self, url: str) -> Fetched | Failed:
        return self.replay.get(url)

    async def load(
        self,
        url: str,
        *,
        method: str = "GET",
        headers: tuple[tuple[str, str], ...] = (),
        body: bytes | None = None,
    ) -> Fetched | Failed:
        del method, headers, body
        self.asked[url] += 1
        return self.replay.get(url)


def _recorded(data: Path, kinds: Sequence[str], most: int | None) -> list[SiteFolder]:
    folders = [path for kind in kinds for path in sorted((data / "sites" / kind).iterdir())[:most]]
    return [SiteFolder.open(path) for path in folders if path.is_dir()]


def _plain_sites(folders: Sequence[SiteFolder], budget: int) -> Report:
    rows: list[list[Cell]] = []
    pages = rendered = beyond = gained = 0
    cpu = {"never": 0.0, "auto": 0.0}
    for folder in folders:
        print(folder.name, file=sys.stderr)
        visits: list[Visit] = []
        seconds = {}
        modes: tuple[RenderMode, ...] = ("never", "auto")
        for mode in modes:
            began = _cpu_seconds()
            visits = _replay(folder, budget, mode)
            seconds[mode] = _cpu_seconds() - began
            cpu[mode] += seconds[mode]
        shown = sum(visit.rendering in ("rendered", "same") for visit in visits)
        gains = sum(visit.rendering == "rendered" for visit in visits)
        pages, rendered, gained = pages + len(visits), rendered + shown, gained + gains
        beyond += max(0, shown - MAX_SAMPLES)
        rows.append([folder.name, len(visits), shown, gains, seconds["never"], seconds["auto"]])
    header = ("site", "pages", "rendered", "showed more", "CPU s, never", "CPU s, auto")
    rows.append(["all", pages, rendered, gained, cpu["never"], cpu["auto"]])
    bars = [
        Bar("share of pages rendered beyond two samples a site", beyond / max(1, pages), most=MOST_RENDERED),
        Bar("× the CPU of never", cpu["auto"] / max(cpu["never"], 0.001), most=MOST_CPU),
    ]
    return Report("Recorded sites, which need no browser", header, rows, bars)


def _replay(folder: SiteFolder, budget: int, mode: RenderMode) -> list[Visit]:
    visits: list[Visit] = []

    async def work(workspace: Workspace) -> None:
        recorded = _Recorded(ReplayFetcher(folder.responses))
        store = workspace.stores.forage
        run = store.open_run({}, RunLimits(), [folder.site], time.time())
        async with AsyncExitStack() as stack:
            writer = stack.enter_context(workspace.archive_writer("bench"))
            renderer = None
            if mode != "never":
                fetcher = BrowserFetcher(recorded, recorded, user_agent="Wayhound")
                renderer = await stack.enter_async_context(fetcher)
            pages = PageSource(recorded, writer, workspace.archive, renderer=renderer)
            plan = ForagePlan(
                lambda: BreadthFirst(GoalPattern()),
                ForageLimits(budget=budget),
                Politeness(0.0),
                on_visit=visits.append,
                render_memory=lambda _: RenderMemory(mode),
            )
            crawl = Crawl(store, run, "bench:1:0", pages, plan)
            await crawl.work(1)

    with tempfile.TemporaryDirectory() as path, Workspace.create(Path(path) / "w") as workspace:
        asyncio.run(work(workspace))
    return visits


def _cpu_seconds() -> float:
    """CPU of this process and of those that it started and that have ended, such as browsers."""
    return sum(
        usage.ru_utime + usage.ru_stime
        for usage in map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    )


if __name__ == "__main__":
    sys.exit(main())
