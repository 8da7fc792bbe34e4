"""Order on a site where a forage can get stuck: five sibling lists of profiles, and long personal sub-sites.

Taught with lessons of a few trails on sites of the sample web, drawn at random. Measured are the pages until 95 % of
the profiles, relative to the oracle, and the CPU time a page. Everything is generated, so there is no data folder.
"""

from __future__ import annotations

import argparse
import math
import os
import resource
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # as `wayhound.learn` does; reports import numpy first

from bench.institute import HOST, build_institute
from bench.report import Bar, Cell, Report, add_output_options, finish
from wayhound.app.evaluate.evaluation import Evaluation, Outcome
from wayhound.app.evaluate.lessons import LessonSize
from wayhound.app.evaluate.strategies import ORACLE
from wayhound.app.evaluate.world import World
from wayhound.page import Page
from wayhound.pages.reader import read_page
from wayhound.paths.model import ADAPTIVE_STRATEGY
from wayhound.samples.builder import SamplePage
from wayhound.samples.web import SampleSite, sample_web
from wayhound.site import Site

GOAL = "person"
SIZES = {"small": (12, 4), "large": (80, 25)}  # people in each of five lists, pages of each person
MOST_OF_ORACLE = 3.0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", action="append", choices=sorted(SIZES), help="[default: all]")
    parser.add_argument("--lesson", type=LessonSize.parse, default=LessonSize(3, 3))
    parser.add_argument("--draws", type=int, default=3)
    parser.add_argument("--strategy", default=ADAPTIVE_STRATEGY)
    add_output_options(parser)
    arguments = parser.parse_args()
    taught = teaching_worlds()
    rows: list[list[Cell]] = []
    bars: list[Bar] = []
    for size in arguments.size or list(SIZES):
        tested = institute_world(*SIZES[size])
        outcomes = measure(tested, taught, arguments.lesson, arguments.draws, arguments.strategy)
        ratios = [outcome.ratio["95"] or math.inf for outcome in outcomes]
        rows += [
            [size, outcome.draw, outcome.reachable, outcome.pages, outcome.pages_to["95"], ratio,
             1000 * outcome.cpu_seconds / outcome.fetched]
            for outcome, ratio in zip(outcomes, ratios, strict=True)
        ]  # fmt: skip
        bars.append(
            Bar(f"{size}: 95 % of the goals, × oracle, the worst draw", max(ratios), most=MOST_OF_ORACLE)
        )
    header = ["size", "draw", "goals", "pages", "pages to 95 %", "× oracle", "CPU ms a page"]
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{peak:.0f} MB at most", file=sys.stderr)
    return finish(Report(f"The stuck site after {arguments.lesson}", header, rows, bars), arguments)


def measure(
    tested: World, taught: Sequence[World], lesson: LessonSize, draws: int, strategy: str = ADAPTIVE_STRATEGY
) -> list[Outcome]:
    """Return an outcome for each draw of a lesson."""
    evaluation = Evaluation([tested], taught, [GOAL], [ORACLE, strategy], lesson=lesson, draws=draws)
    return [outcome for outcome in evaluation.run() if outcome.strategy == strategy]


def teaching_worlds() -> list[World]:
    """Return the English departments of the sample web."""
    sites = sample_web().sites
    return [sample_world(site) for site in sites if site.kind == "department" and site.language == "en"]


def sample_world(site: SampleSite) -> World:
    """Return the finite pages of a site of the sample web; its traps do not exist here."""
    return _world(site.name, f"http://{site.host}", site.pages)


def institute_world(people_per_list: int, own_pages: int) -> World:
    site = build_institute(people_per_list, own_pages)
    return _world("institute", f"http://{HOST}", site.pages)


def _world(name: str, base: str, pages: Mapping[str, SamplePage]) -> World:
    read: dict[str, Page] = {}
    for path, page in pages.items():
        content = read_page(f"{base}{path}", page.body, page.content_type, "")
        if page.status == 200 and isinstance(content, Page):
            read[content.url] = replace(content, digest=content.url)
    inside = {
        url: replace(page, links=tuple(link for link in page.links if link.url in read and link.url != url))
        for url, page in read.items()
    }
    start = next(url for url in (f"{base}/", f"{base}/index.html") if url in inside)
    return World(name, Site(start), inside, {f"{base}{path}": page.label for path, page in pages.items()})


if __name__ == "__main__":
    sys.exit(main())
