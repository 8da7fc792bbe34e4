"""Peak memory of a forage of a very large site: 200,000 pages fetched, 1,000,000 different links in the frontier.

The whole loop runs (parse, frontier, archive, store); only the network is replaced, by generated pages.
"""

from __future__ import annotations

import argparse
import asyncio
import multiprocessing
import resource
import sys
import tempfile
from pathlib import Path

from bench.report import Bar, Report, add_output_options, finish
from wayhound.app.crawl import Crawl
from wayhound.app.page_source import PageSource
from wayhound.app.site_forage import ForagePlan
from wayhound.archive.reader import ArchiveReader
from wayhound.archive.writer import ArchiveWriter
from wayhound.fetched import Failed, Fetched
from wayhound.forage.forager import ForageLimits
from wayhound.forage.politeness import Politeness
from wayhound.forage.scorer import StrategyInput
from wayhound.forage.scorers import SCORERS
from wayhound.site import Site
from wayhound.store.protocol import RunLimits
from wayhound.workspace import Workspace

MOST_MB = 600


class GeneratedSite:
    """A fetcher of pages that link to five others each, all different, with URLs of ordinary length."""

    def __init__(self, links: int) -> None:
        self.links = links

    async def fetch(self, url: str) -> Fetched | Failed:
        number = int(url.rsplit("-", 1)[1].removesuffix(".html")) if "-" in url else 0
        targets = range(number * 5 + 1, min(number * 5 + 6, self.links))
        body = "".join(
            f"<li class=entry><a href='/archive/section-{to % 97}/an-article-about-something-{to}.html'>"
            f"Article number {to}</a> of the archive</li>"
            for to in targets
        )
        html = f"<title>Article {number}</title><body><ul class=list>{body}</ul><p>Number {number}.</p>"
        return Fetched(url, 200, body=html.encode(), content_type="text/html", charset="utf-8")


async def _forage(folder: Path, pages: int, links: int) -> int:
    site = Site("http://large.example/")
    with Workspace.create(folder) as workspace, ArchiveWriter(folder, "w0", software="bench") as writer:
        run = workspace.stores.forage.open_run({"bench": "memory"}, RunLimits(pages), [site], 0.0)
        source = PageSource(GeneratedSite(links), writer, ArchiveReader(folder))
        plan = ForagePlan(
            lambda: SCORERS["breadth-first"](StrategyInput()), ForageLimits(budget=pages), Politeness(0.0)
        )
        crawl = Crawl(workspace.stores.forage, run, "bench:0:0", source, plan)
        await crawl.work(1)
        return workspace.stores.forage.progress(run.id).spent


def _measure(pages: int, links: int, answer: multiprocessing.Queue[tuple[int, float]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        fetched = asyncio.run(_forage(Path(folder) / "workspace", pages, links))
    answer.put((fetched, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pages", type=int, default=200_000)
    parser.add_argument("--links", type=int, default=1_000_000)
    add_output_options(parser)
    arguments = parser.parse_args()
    context = multiprocessing.get_context("spawn")  # a new process, so that earlier memory does not count
    answer: multiprocessing.Queue[tuple[int, float]] = context.Queue()
    process = context.Process(target=_measure, args=(arguments.pages, arguments.links, answer))
    process.start()
    fetched, peak_mb = answer.get()
    process.join()
    report = Report(
        "Memory of a large forage",
        ["pages fetched", "links", "peak MB"],
        [[fetched, arguments.links, round(peak_mb)]],
        [
            Bar("pages fetched", fetched, least=arguments.pages, most=arguments.pages),
            Bar("peak MB", peak_mb, most=MOST_MB),
        ],
    )
    return finish(report, arguments)


if __name__ == "__main__":
    sys.exit(main())
