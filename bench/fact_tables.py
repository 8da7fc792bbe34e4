"""A table of 60 firms to a table with their e-mail, phone and address: facts found, and fetches a firm.

The firms are those of the sample web and of the recorded sites (`sites/company`, `sites/modern-*`, and any other with a
`facts.tsv`), which are walked with the order, the rules for ending and the extraction of `wayhound forage TABLE --facts
contact`. Beside it the same firms with up to 30 pages of each read: what could have been found.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import tempfile
from collections import Counter
from pathlib import Path
from random import Random

from bench.report import Bar, Cell, Report, add_data_option, add_output_options, finish
from wayhound.app.crawl import Crawl
from wayhound.app.facts.agenda import SiteDemand
from wayhound.app.facts.extraction import extract_facts
from wayhound.app.facts.search import CONTACT_FIELDS, FactSearch, parse_wanted
from wayhound.app.facts.tables import WideRow, fact_rows
from wayhound.app.order import Order, complete_order
from wayhound.app.page_source import PageSource
from wayhound.app.site_forage import ForagePlan
from wayhound.archive.replay import ReplayFetcher
from wayhound.entities.workload import AskedQuery, Workload
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
BUDGETS, DRAWS = (30, 60, 120), 3
KINDS = ("modern-company", "modern-small", "modern-nonprofit", "modern-hospitality", "company")
SAMPLES = ("lanterns", "mapworks", "orchard", "pumpen", "teahouse", "velas")


class Firms:
    """A fetcher of the firms' sites, from the recordings and the generator of the sample web."""

    def __init__(self, data: Path, count: int) -> None:
        self._samples = sample_web()
        self._recorded: dict[str, ReplayFetcher] = {}
        self.starts = [f"http://{name}.localhost/" for name in SAMPLES]
        folders = [folder for kind in KINDS for folder in sorted((data / "sites" / kind).glob("*/"))]
        folders += sorted({table.parent for table in (data / "sites").glob("*/*/facts.tsv")} - {*folders})
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


async def walk(
    firms: Firms,
    workspace: Workspace,
    *,
    exhaustive: bool,
    total: int | None = None,
    workload: Workload | None = None,
) -> int:
    """Forage all firms, with so many fetches in all, and return the id of the run."""
    order = complete_order(workspace, Order(strategy="", facts="contact"))
    wanted = parse_wanted(workspace, "contact")
    sites = [Site(start) for start in firms.starts]
    limits = RunLimits(EXHAUSTIVE if exhaustive else workspace.config.forage.budget_per_site, total)
    demand = SiteDemand(workload) if workload else None
    if demand is not None:
        sites.sort(key=lambda site: -demand.site_utility(site))
    run = workspace.stores.forage.open_run({"bench": str(exhaustive)}, limits, sites, 0.0)
    with workspace.archive_writer("w0") as writer:
        pages = PageSource(firms, writer, workspace.archive)
        plan = ForagePlan(
            order.scorers(workspace),
            ForageLimits(budget=limits.budget_per_site, min_score=order.min_score),
            Politeness(0.0),
            new_facts=None if exhaustive else lambda: FactSearch(wanted),
            demand=demand,
        )
        crawl = Crawl(workspace.stores.forage, run, "bench:0:0", pages, plan)
        await crawl.work(1 if total is None else workspace.config.forage.sites_at_once)
    return run.id


def synthetic_demand(firms: Firms, seed: int) -> dict[str, int]:
    """Return how often each firm is asked for: by Zipf's law, in a random order."""
    starts = list(firms.starts)
    Random(seed).shuffle(starts)
    return {start: max(1, 1000 // rank) for rank, start in enumerate(starts, 1)}


def _name_of(start: str) -> str:
    """Return a firm's name as people would type it: its host without the ending."""
    return host_of(start).split(":")[0].removeprefix("www.").rsplit(".", 1)[0].replace(".", " ")


def answered(firms: Firms, folder: Path, total: int, seed: int, *, by_demand: bool) -> float:
    """Return the share of a synthetic demand that is for firms of which a fact was found in so many fetches."""
    asked = synthetic_demand(firms, seed)
    queries = [AskedQuery(_name_of(start), "instance", count) for start, count in asked.items()]
    with Workspace.create(folder) as workspace:
        load = Workload.of(queries) if by_demand else None
        run_id = asyncio.run(walk(firms, workspace, exhaustive=False, total=total, workload=load))
        wanted = parse_wanted(workspace, "contact")
        extract_facts(workspace, wanted, run_id=run_id)
        found = {
            row.site for row in fact_rows(workspace, wanted, run_id) if any(map(row.texts, CONTACT_FIELDS))
        }
    return sum(count for start, count in asked.items() if start in found) / sum(asked.values())


def _by_demand(firms: Firms, folder: Path) -> Report:
    rows: list[list[Cell]] = []
    gains: list[float] = []
    for total in BUDGETS:
        shares = {
            name: sum(
                answered(firms, folder / f"{name} {total} {seed}", total, seed, by_demand=name == "by demand")
                for seed in range(DRAWS)
            ) / DRAWS
            for name in ("in their order", "by demand")
        }  # fmt: skip
        gains.append(shares["by demand"] / max(shares["in their order"], 1e-9))
        rows.append([total, *(f"{100 * share:.1f} %" for share in shares.values())])
    header = ["fetches in all", "sites in their order", "by demand (--workload)"]
    title = f"Share of a synthetic demand for firms with a fact, mean of {DRAWS} draws"
    return Report(title, header, rows, [Bar("gain at the smallest budget", gains[0], least=1.0)])


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
        demanded = _by_demand(firms, Path(folder))
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
        demanded,
    ]
    return finish(reports, arguments)


def _count(found: dict[str, dict[str, bool]], name: str) -> int:
    return sum(facts[name] for facts in found.values())


if __name__ == "__main__":
    sys.exit(main())
