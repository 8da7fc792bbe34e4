"""A table of 60 firms to a table with their e-mail, phone and address: facts found, and fetches a firm.

The firms are those of the sample web and of the recorded sites (`sites/company` and `sites/modern-*`), which are walked
with the order, the rules for ending and the extraction of `wayhound forage TABLE --facts contact`. Beside it the same
firms with up to 30 pages of each read: what could have been found.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import tempfile
from collections import Counter
from pathlib import Path

from bench.report import Bar, Cell, Report, add_data_option, add_output_options, finish
from wayhound.app.crawl import Crawl
from wayhound.app.fact_tables import WideRow, fact_rows
from wayhound.app.facts import CONTACT_FIELDS, FactSearch, extract_facts, parse_wanted
from wayhound.app.forage import Order, complete_order
from wayhound.archive.replay import ReplayFetcher
from wayhound.fetched import Failed, Fetched
from wayhound.forage.forager import ForageLimits
from wayhound.forage.politeness import Politeness
from wayhound.samples.web import sample_web
from wayhound.site import Site
from wayhound.store.protocol import RunLimits
from wayhound.url import host_of
from wayhound.wording.facts import format_wide_row
from wayhound.workspace import Workspace

FIRMS = 60
MOST_FETCHES = 3.0
EXHAUSTIVE = 30
KINDS = ("modern-company", "modern-small", "modern-nonprofit", "modern-hospitality", "company")
SAMPLES = ("lanterns", "mapworks", "orchard", "pumpen", "teahouse", "velas")


class Firms:
    """A fetcher of the firms' sites, from the recordings and the generator of the sample web."""

    def __init__(self, data: Path, count: int) -> None:
        self._samples = sample_web()
        self._recorded: dict[str, ReplayFetcher] = {}
        self.starts = [f"http://{name}.localhost/" for name in SAMPLES]
        folders = [folder for kind in KINDS for folder in sorted((data / "sites" / kind).iterdir())]
        for folder in folders[: count - len(self.starts)]:
            start = json.loads((folder / "site.json").read_text("utf-8"))["start"]
            self._recorded[host_of(start)] = ReplayFetcher(folder / "site.warc.gz")
            self.starts.append(start)

    async def fetch(self, url: str) -> Fetched | Failed:
        host = host_of(url)
        if host in self._recorded:
            return self._recorded[host].get(url)
        site = self._samples.site(host)
        if site is None:
            return Failed(url, "not_archived", sent=False)
        page = site.respond(url.partition(host)[2] or "/")
        return Fetched(url, page.status, body=page.body, content_type=page.content_type, charset="utf-8")


async def walk(firms: Firms, workspace: Workspace, *, exhaustive: bool) -> int:
    """Forage all firms, and return the id of the run."""
    order = complete_order(workspace, Order(strategy="", facts="contact"))
    wanted = parse_wanted(workspace, "contact")
    sites = [Site(start) for start in firms.starts]
    limits = RunLimits(EXHAUSTIVE if exhaustive else workspace.config.forage.budget_per_site)
    run = workspace.stores.forage.open_run({"bench": str(exhaustive)}, limits, sites, 0.0)
    with workspace.archive_writer("w0") as writer:
        crawl = Crawl(
            store=workspace.stores.forage,
            run=run,
            worker="bench:0:0",
            fetcher=firms,
            writer=writer,
            reader=workspace.archive,
            new_scorer=order.scorers(workspace),
            limits=ForageLimits(budget=limits.budget_per_site, min_score=order.min_score),
            politeness=Politeness(0.0),
            new_facts=None if exhaustive else lambda: FactSearch(wanted),
        )
        await crawl.work(1)
    return run.id


def measure(
    firms: Firms, folder: Path, *, exhaustive: bool
) -> tuple[dict[str, dict[str, bool]], Counter[str], dict[str, int]]:
    """Return which facts each firm has, statuses, and the fetches of each firm."""
    with Workspace.create(folder) as workspace:
        run_id = asyncio.run(walk(firms, workspace, exhaustive=exhaustive))
        wanted = parse_wanted(workspace, "contact")
        extract_facts(workspace, wanted, run_id=run_id)
        rows = {row.site: row for row in fact_rows(workspace, wanted, run_id)}
        outcomes = workspace.stores.facts.outcomes(run_id)
        found = {
            start: {name: start in rows and bool(rows[start].texts(name)) for name in CONTACT_FIELDS}
            for start in firms.starts
        }
        shown = (WideRow((), start, rows.get(start)) for start in firms.starts)
        statuses = Counter(format_wide_row(row, CONTACT_FIELDS, outcomes) for row in shown)
        return found, statuses, {start: outcomes[start][2] for start in firms.starts}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    add_data_option(parser)
    add_output_options(parser)
    parser.add_argument("--firms", type=int, default=FIRMS)
    parser.add_argument("--each", action="store_true", help="print every firm")
    arguments = parser.parse_args()
    firms = Firms(arguments.data, arguments.firms)
    with tempfile.TemporaryDirectory() as folder:
        found, statuses, fetches = measure(firms, Path(folder) / "one", exhaustive=False)
        possible, _, all_fetches = measure(firms, Path(folder) / "all", exhaustive=True)
    if arguments.each:
        for start in firms.starts:
            print(start, fetches[start], found[start], possible[start], sep="\t")
    mean = sum(fetches.values()) / len(firms.starts)
    header = ["", *CONTACT_FIELDS, "fetches a firm"]
    rows: list[list[Cell]] = [
        ["one command", *(_count(found, name) for name in CONTACT_FIELDS), round(mean, 2)],
        [f"up to {EXHAUSTIVE} pages of each firm", *(_count(possible, name) for name in CONTACT_FIELDS),
         round(sum(all_fetches.values()) / len(firms.starts), 2)],
    ]  # fmt: skip
    bars = [Bar("firms", len(firms.starts), least=FIRMS), Bar("fetches a firm", mean, most=MOST_FETCHES)]
    status_rows: list[list[Cell]] = [[status, count] for status, count in statuses.most_common()]
    reports = [
        Report(f"{len(firms.starts)} firms with their facts", header, rows, bars),
        Report("Statuses", ["status", "firms"], status_rows),
    ]
    return finish(reports, arguments)


def _count(found: dict[str, dict[str, bool]], name: str) -> int:
    return sum(facts[name] for facts in found.values())


if __name__ == "__main__":
    sys.exit(main())
