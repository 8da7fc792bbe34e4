"""CPU time and memory of the strategy `adaptive`: by links a page, and on a large site.

A generated site of item pages and lists is foraged by a model that was taught 3x3 on the sample web. CPU time is that
of the forage without parsing, for pages of 15, 60 and 240 links and as many links in all, beside the path learner: its
pages cost what they did before `adaptive`. They take turns, so that a busy machine slows both. Memory is the peak of a
process that forages a site of 25,000 pages with 500,000 links through the whole loop: parse, frontier, archive, store.
Everything is generated, so there is no data folder.
"""

from __future__ import annotations

import argparse
import asyncio
import multiprocessing
import os
import resource
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from statistics import median
from time import process_time

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # as `wayhound.learn` does; reports import numpy first

from bench.report import Bar, Cell, Report, add_output_options, finish
from bench.stuck_site import GOAL, teaching_worlds
from wayhound.app.crawl import Crawl
from wayhound.app.evaluate.lessons import LessonSize
from wayhound.app.evaluate.strategies import STRATEGIES, Lesson
from wayhound.app.page_source import PageSource
from wayhound.app.site_forage import ForagePlan
from wayhound.archive.reader import ArchiveReader
from wayhound.archive.writer import ArchiveWriter
from wayhound.fetched import Failed, Fetched
from wayhound.forage.forager import Fetch, ForageLimits, Forager
from wayhound.forage.politeness import Politeness
from wayhound.forage.scorer import Scorer
from wayhound.pages.reader import read_response
from wayhound.paths.model import ADAPTIVE_STRATEGY
from wayhound.site import Site
from wayhound.store.protocol import RunLimits
from wayhound.workspace import Workspace

BEFORE = "path-learner"
HOST = "http://large.example"
LINKS_A_PAGE = (15, 60, 240)
TIMED_LINKS = 18_000
PAGES, LINKS = 25_000, 500_000
MOST_MS, MOST_MB = 4.0, 400.0
MOST_GROWTH = 1.3  # of the time for each further link, from 60 to 240 relative to from 15 to 60
MENU = ("people", "courses", "research", "news", "contact")


class LargeSite:
    """A fetcher of a site of `pages` pages; each has a menu and a list of links, `links` together."""

    def __init__(self, pages: int, links: int) -> None:
        self.pages, self.links = pages, links

    async def fetch(self, url: str) -> Fetched | Failed:
        return self.response(url)

    def response(self, url: str) -> Fetched:
        number = _number(url)
        entries = range(self.links - len(MENU))
        targets = ((number * (self.links - len(MENU)) + entry + 1) % self.pages for entry in entries)
        body = "".join(
            f"<li class=entry><a href='{_path(to)}'>{_name(to)}</a>, room {to}</li>" for to in targets
        )
        menu = "".join(f"<li><a href='/{name}/0.html'>{name.title()}</a></li>" for name in MENU)
        text = f"Notes on subject {number % 997} and on method {number % 89}. " * 12
        html = (
            f"<title>{_name(number)}</title><body><ul class=menu>{menu}</ul><h1>{_name(number)}</h1>"
            f"<p>{text}<ul class=list>{body}</ul><p>Telephone 555 {number:05}"
        )
        return Fetched(url, 200, body=html.encode(), content_type="text/html", charset="utf-8")


def _number(url: str) -> int:
    name = url.rpartition("/")[2].removesuffix(".html")
    return int(name) if name else 0


def _path(number: int) -> str:
    return f"/{MENU[number % len(MENU)]}/{number}.html"


def _name(number: int) -> str:
    return f"Page {number} of {MENU[number % len(MENU)]}"


def taught_scorer(strategy: str) -> Callable[[], Scorer]:
    """Return a function that makes scorers of a model taught 3x3 on the sample web."""
    size = LessonSize(3, 3)
    lesson = Lesson(teaching_worlds()[: size.sites], GOAL, 15, size=size)
    STRATEGIES[strategy](lesson)  # trains
    return lambda: STRATEGIES[strategy](lesson)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--pages", type=int, default=PAGES, help="of the large site; 0 measures CPU time alone"
    )
    parser.add_argument("--links", type=int, default=LINKS, help="of the large site")
    parser.add_argument("--rounds", type=int, default=3, help="of CPU time; 0 measures the large site alone")
    add_output_options(parser)
    arguments = parser.parse_args()
    reports = [_cpu(arguments.rounds)] if arguments.rounds else []
    if arguments.pages:
        reports.append(_memory(arguments.pages, arguments.links))
    return finish(reports, arguments)


def _cpu(rounds: int) -> Report:
    makers = {strategy: taught_scorer(strategy) for strategy in (BEFORE, ADAPTIVE_STRATEGY)}
    rows: list[list[Cell]] = []
    ms: dict[int, float] = {}
    beyond: dict[int, float] = {}
    for links in LINKS_A_PAGE:
        turns = [{name: _ms_a_page(links, make()) for name, make in makers.items()} for _ in range(rounds)]
        times = {name: median(turn[name] for turn in turns) for name in makers}
        ms[links] = times[ADAPTIVE_STRATEGY]
        beyond[links] = times[ADAPTIVE_STRATEGY] - times[BEFORE]
        rows.append([links, times[BEFORE], times[ADAPTIVE_STRATEGY], beyond[links]])
    few, usual, many = LINKS_A_PAGE
    growth = ((ms[many] - ms[usual]) / (many - usual)) / ((ms[usual] - ms[few]) / (usual - few))
    bars = [
        Bar(f"CPU ms beyond the path learner's, {usual} links a page", beyond[usual], most=MOST_MS),
        Bar(f"time for each further link beyond {usual}, relative to below", growth, most=MOST_GROWTH),
    ]
    header = ["links a page", f"{BEFORE}, CPU ms a page", f"{ADAPTIVE_STRATEGY}, CPU ms a page", "beyond"]
    return Report("CPU time of a page, without parsing", header, rows, bars)


def _ms_a_page(links: int, scorer: Scorer) -> float:
    """Return the CPU time of a page in a forage of a site with so many links on each."""
    pages = TIMED_LINKS // links
    large = LargeSite(20 * pages, links)
    forager = Forager(Site(f"{HOST}/"), scorer, ForageLimits(budget=pages), Politeness(0.0))
    spent = 0.0
    began = process_time()
    while isinstance(action := forager.next_action(0.0), Fetch):
        spent += process_time() - began
        response = large.response(action.link.url)
        page = read_response(response, "Wayhound")
        began = process_time()
        forager.tell(action.link, response, page, now=0.0, at=0.0)
    return 1000 * spent / pages


def _memory(pages: int, links: int) -> Report:
    context = multiprocessing.get_context("spawn")  # a new process, so that earlier memory does not count
    answer: multiprocessing.Queue[tuple[int, float, float]] = context.Queue()
    process = context.Process(target=_measure, args=(pages, links // pages, answer))
    process.start()
    fetched, seconds, peak_mb = answer.get()
    process.join()
    bars = [
        Bar("pages fetched", fetched, least=pages, most=pages),
        Bar("peak MB", peak_mb, most=MOST_MB),
    ]
    row: list[Cell] = [fetched, links, round(peak_mb), 1000 * seconds / fetched]
    header = ["pages fetched", "links", "peak MB", "CPU ms a page, all together"]
    return Report("A large site", header, [row], bars)


def _measure(pages: int, links: int, answer: multiprocessing.Queue[tuple[int, float, float]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        fetched = asyncio.run(_forage(Path(folder) / "workspace", pages, links))
    answer.put((fetched, process_time(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024))


async def _forage(folder: Path, pages: int, links: int) -> int:
    with Workspace.create(folder) as workspace, ArchiveWriter(folder, "w0", software="bench") as writer:
        limits = ForageLimits(budget=pages)
        run = workspace.stores.forage.open_run({"bench": "cost"}, RunLimits(pages), [Site(f"{HOST}/")], 0.0)
        source = PageSource(LargeSite(pages, links), writer, ArchiveReader(folder))
        plan = ForagePlan(taught_scorer(ADAPTIVE_STRATEGY), limits, Politeness(0.0))
        crawl = Crawl(workspace.stores.forage, run, "bench:0:0", source, plan)
        await crawl.work(1)
        return workspace.stores.forage.progress(run.id).spent


if __name__ == "__main__":
    sys.exit(main())
