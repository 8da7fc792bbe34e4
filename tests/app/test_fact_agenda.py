"""What people ask for comes first: fetches over all sites, extraction, and extractors that cost time or money."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from datetime import date, timedelta
from pathlib import Path

import pytest

from tests.documents.pages import Shown, drawn, needs_ocr, pdf_of, scan_of
from tests.servers import Answer, Page, Served, serve
from wayhound.app.crawl import _Turns
from wayhound.app.facts.agenda import Plan, SiteDemand, extract_by_worth, parse_workload, read_endorsed
from wayhound.app.facts.extraction import extract_facts
from wayhound.app.facts.extractors import Budget, Spent, extract_at_cost
from wayhound.app.facts.search import Wanted, parse_wanted
from wayhound.app.facts.tables import fact_rows
from wayhound.app.site_forage import Demand
from wayhound.cli import run
from wayhound.entities.workload import HALF_LIFE_DAYS, AskedQuery, Workload, read_workload
from wayhound.errors import UsageError
from wayhound.forage.frontier import QueuedLink
from wayhound.net.rendering import can_render
from wayhound.page import Link
from wayhound.samples.pdf import PdfLine, write_pdf
from wayhound.site import Site
from wayhound.workspace import Workspace

NAMES = ("alder", "birch", "cedar", "doug", "elm")


def firm(name: str) -> dict[str, Page]:
    contact = f"<title>Contact</title><p>{name.title()} Works</p><p>info@{name}.example</p>"
    pdf = write_pdf([PdfLine(f"{name.title()} Works"), PdfLine("Phone: +1 512 471 3434")], name)
    return {
        f"//{name}.localhost/": f"<title>{name.title()}</title><a href=/contact>Contact</a>",
        f"//{name}.localhost/contact": f"{contact}<a href=/contact.pdf>All of it</a>",
        f"//{name}.localhost/contact.pdf": Answer(pdf, headers=(("Content-Type", "application/pdf"),)),
    }


class Firms:
    """Five firms that a table names, and a workload that asks for two of them."""

    def __init__(self, server: Served, folder: Path) -> None:
        self.folder, self.workspace = folder, folder / "mine"
        self.starts = {name: f"{server.at(f'{name}.localhost')}/" for name in NAMES}
        self.table = folder / "firms.csv"
        self.table.write_text(
            "firm,site\n" + "".join(f"{name} works,{self.starts[name]}\n" for name in NAMES)
        )
        self.queries = folder / "queries.tsv"
        self.queries.write_text("kind\tcount\tquery\ninstance\t50\telm works\ninstance\t9\tcedar works\n")
        assert run(["init", str(self.workspace)]) == 0

    def forage(self, *options: str) -> int:
        command = ["forage", str(self.table), "-w", str(self.workspace), "--facts", "contact"]
        return run([*command, "--delay", "0", "--allow-private", *options])


@pytest.fixture
def firms(tmp_path: Path) -> Iterator[Firms]:
    with serve({url: page for name in NAMES for url, page in firm(name).items()}) as server:
        yield Firms(server, tmp_path)


def wanted_of(workspace: Workspace) -> Wanted:
    return parse_wanted(workspace, "organisation:email,phone")


# Foraging


def test_the_sites_that_people_ask_for_are_fetched_first(firms: Firms) -> None:
    assert firms.forage("--workload", str(firms.queries), "--total-budget", "4") == 0
    with Workspace.open(firms.workspace) as workspace:
        spent = {start: fetches for start, (_, _, fetches) in workspace.stores.facts.outcomes().items()}
    assert {name: spent[start] for name, start in firms.starts.items() if spent[start]} == {
        "elm": 2,
        "cedar": 2,
    }


def test_a_workload_that_cannot_be_read_ends_the_command_before_anything_is_fetched(
    firms: Firms, capsys: pytest.CaptureFixture[str]
) -> None:
    firms.queries.write_text("instance\tmany\telm\n")
    assert firms.forage("--workload", str(firms.queries)) != 0
    assert "Line 1 of the workload" in capsys.readouterr().err
    assert firms.forage("--workload", str(firms.folder / "none.tsv")) != 0
    assert "There is no file" in capsys.readouterr().err
    assert firms.forage("--workload", "portal") != 0
    assert "query_log" in capsys.readouterr().err


class Fixed:
    """A demand for links by their number."""

    def is_asked_for(self, link: Link, /) -> bool:
        return False

    def site_utility(self, site: Site, /) -> float:
        return 5.0

    def utility(self, site: Site, link: QueuedLink, /) -> float:
        return float(link.url)

    def learn(self, key: str, values: object, /) -> None: ...


def queued(url: str, score: float = 1.0) -> QueuedLink:
    return QueuedLink(url, score)


async def admitted(demand: Demand | None, urls: Sequence[str], cancelled: str = "") -> tuple[list[str], int]:
    turns, site, order, others = _Turns(demand, 1), Site("http://a.example/"), list[str](), list[str]()
    turns.opens(site)

    async def fetch(url: str) -> None:
        async with turns.turn(site, queued(url), lambda: others.append(url)):
            order.append(url)
            await asyncio.sleep(0)

    tasks = {url: asyncio.create_task(fetch(url)) for url in urls}
    await asyncio.sleep(0)
    if cancelled:
        tasks[cancelled].cancel()
    await asyncio.gather(*tasks.values(), return_exceptions=True)
    return order, len(others)


def test_of_all_waiting_fetches_the_one_worth_most_has_its_turn() -> None:
    order, opened = asyncio.run(admitted(Fixed(), ["1", "3", "9", "2"]))
    assert order == ["1", "9", "3", "2"]
    assert opened == 3  # each that is worth less than a site that could begin


def test_a_fetch_that_is_given_up_leaves_its_turn_to_others() -> None:
    assert asyncio.run(admitted(Fixed(), ["1", "3", "9", "2"], cancelled="9"))[0] == ["1", "3", "2"]
    assert asyncio.run(admitted(Fixed(), ["1", "3", "9"], cancelled="1"))[0][-1] == "3"


def test_without_a_demand_all_go_as_they_come() -> None:
    assert asyncio.run(admitted(None, ["1", "3", "9"]))[0] == ["1", "3", "9"]


def test_what_is_found_is_worth_less_and_what_it_lacks_still_something() -> None:
    demand = SiteDemand(Workload.of([AskedQuery("elm works", count=50), AskedQuery("cedar works", count=9)]))
    elm, cedar = (Site(f"http://{name}.example/", about=f"{name} works") for name in ("elm", "cedar"))
    assert demand.site_utility(elm) > demand.site_utility(cedar) > 0
    link = queued("http://elm.example/contact", 0.5)
    before = demand.utility(elm, link)
    assert before == pytest.approx(demand.site_utility(elm) / 2)
    demand.learn(elm.start, {"name": ["Elm Works"], "email": ["a@elm.example"]})
    assert 0 < demand.utility(elm, link) < before / 5
    assert demand.site_utility(cedar) > demand.utility(elm, link) / 2


def test_short_words_of_a_host_are_words_where_hyphens_part_them() -> None:
    demand = SiteDemand(Workload.of([AskedQuery("lz interio"), AskedQuery("timber lodge")]))
    nothing = demand.site_utility(Site("https://other.example/"))
    assert demand.site_utility(Site("https://www.lz-interio.example/")) > 10 * nothing
    assert demand.site_utility(Site("https://timberlodge.example/")) > 10 * nothing


def test_links_that_name_what_is_asked_for_are_known() -> None:
    demand = SiteDemand(Workload.of([AskedQuery("blue door austin")]))
    assert demand.is_asked_for(Link("http://g.example/austin/r12", "Blue Door"))
    assert not demand.is_asked_for(Link("http://g.example/dallas/r12", "Blue Door"))


# Workloads and endorsements


def test_older_queries_count_less() -> None:
    today = date(2026, 11, 16)
    old = today - timedelta(days=HALF_LIFE_DAYS)
    load = read_workload([f"{today}\tblue door", f"{old}\tblue door", f"{old}\tcasa"], today=today)
    assert {query.text: query.count for query in load.queries} == {"blue door": 1.5, "casa": 0.5}
    with pytest.raises(UsageError, match="Line 1"):
        read_workload(["yesterday\tblue door"])


def test_an_empty_workload_is_no_error(firms: Firms) -> None:
    firms.queries.write_text("")
    with Workspace.open(firms.workspace) as workspace:
        assert not parse_workload(workspace, str(firms.queries), "contact").queries
    assert firms.forage("--workload", str(firms.queries)) == 0


def test_endorsements_are_addresses_or_hosts_with_weights(tmp_path: Path) -> None:
    path = tmp_path / "endorsed.tsv"
    path.write_text("# good ones\nElm.example\t3\nhttp://a.example\n\n")
    assert read_endorsed(path) == {"elm.example": 3.0, "http://a.example/": 1.0}
    path.write_text("elm.example\tvery\n")
    with pytest.raises(UsageError, match="line 1: 'very' is not a weight"):
        read_endorsed(path)
    with pytest.raises(UsageError, match="cannot be read"):
        read_endorsed(tmp_path / "none")


# Extraction


@pytest.fixture
def foraged(firms: Firms) -> Firms:
    assert firms.forage("--files", "--max-goals", "9") == 0
    with Workspace.open(firms.workspace) as workspace:
        workspace.database.execute("DELETE FROM fact_page")
        workspace.database.execute("DELETE FROM fact")
    return firms


def test_by_worth_the_same_is_extracted_what_is_asked_for_first(foraged: Firms) -> None:
    with Workspace.open(foraged.workspace) as workspace:
        wanted = parse_wanted(workspace, "contact")
        plan = Plan(parse_workload(workspace, str(foraged.queries), "contact"))
        calls = iter([False, True])
        stopped = extract_by_worth(workspace, wanted, plan, stop=lambda: next(calls))
        assert stopped.stopped
        assert [row.site for row in fact_rows(workspace, wanted)] == [foraged.starts["elm"]]
        done = extract_by_worth(workspace, wanted, plan)
        assert (done.stopped, done.descriptions) == (False, 5)
        by_worth = fact_rows(workspace, wanted)
        assert extract_facts(workspace, wanted).pages == 0
        workspace.database.execute("DELETE FROM fact_page")
        workspace.database.execute("DELETE FROM fact")
        extract_facts(workspace, wanted)
        assert fact_rows(workspace, wanted) == by_worth


def test_settings_of_the_agenda_change_the_order_alone(foraged: Firms) -> None:
    settings = foraged.workspace / "wayhound.toml"
    text = settings.read_text().replace("corroboration = 0.0", "corroboration = 0.5")
    settings.write_text(text.replace('success = "host"', 'success = "page"'))
    command = ["extract", "-w", str(foraged.workspace), "--workload", str(foraged.queries)]
    assert run([*command, "--out", str(foraged.folder / "facts.csv")]) == 0
    with Workspace.open(foraged.workspace) as workspace:
        facts = workspace.config.facts
        assert (facts.corroboration, facts.success) == (0.5, "page")
        assert len(fact_rows(workspace, parse_wanted(workspace, "contact"))) == 5


def test_costly_extractors_read_what_is_asked_for_first_and_no_page_twice(foraged: Firms) -> None:
    with Workspace.open(foraged.workspace) as workspace:
        wanted = wanted_of(workspace)
        plan = Plan(parse_workload(workspace, str(foraged.queries), "contact"))
        extract_facts(workspace, wanted)
        assert [row.missing(wanted.fields) for row in fact_rows(workspace, wanted)] == [["phone"]] * 5
        calls = iter([False, True])
        first = extract_at_cost(workspace, wanted, plan, ["documents"], Budget(), stop=lambda: next(calls))
        assert (first.pages, first.left, first.stopped) == (1, 4, True)
        found = [row.site for row in fact_rows(workspace, wanted) if not row.missing(wanted.fields)]
        assert found == [foraged.starts["elm"]]
        rest = extract_at_cost(workspace, wanted, plan, ["documents"], Budget())
        assert (rest.pages, rest.left, rest.spent.calls) == (4, 0, 5)
        assert not any(row.missing(wanted.fields) for row in fact_rows(workspace, wanted))
        again = extract_at_cost(workspace, wanted, plan, ["documents"], Budget())
        assert (again.pages, again.spent) == (0, rest.spent)


def test_a_budget_holds_over_all_calls(foraged: Firms) -> None:
    with Workspace.open(foraged.workspace) as workspace:
        wanted = wanted_of(workspace)
        extract_facts(workspace, wanted)
        none = extract_at_cost(workspace, wanted, Plan(), ["documents"], Budget(seconds=0.0))
        assert (none.pages, none.left, none.stopped) == (0, 5, False)
        with pytest.raises(UsageError, match="There is no extractor 'oracle'"):
            extract_at_cost(workspace, wanted, Plan(), ["oracle"], Budget())


def test_a_budget_of_money_ends_before_it_is_exceeded() -> None:
    budget = Budget(money=0.3)
    assert budget.allows(Spent(money=0.2, calls=2), 0.1)
    assert not budget.allows(Spent(money=0.3, calls=3), 0.1)
    assert Budget(seconds=10).allows(Spent(seconds=8, calls=4), 0)
    assert not Budget(seconds=9).allows(Spent(seconds=8, calls=4), 0)


def test_the_command_says_what_was_spent_and_what_is_left(
    foraged: Firms, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["extract", "organisation:email,phone", "-w", str(foraged.workspace)]
    assert run([*command, "--with", "documents", "--seconds", "0"]) == 0
    assert "5 pages left" in capsys.readouterr().err
    assert run([*command, "--with", "documents", "--workload", str(foraged.queries)]) == 0
    captured = capsys.readouterr()
    assert "Costly extractors read 5 pages and found" in captured.err
    assert captured.out.count("+15124713434") == 5


@needs_ocr
def test_ocr_reads_a_scan_within_the_budget_where_reading_files_finds_nothing(tmp_path: Path) -> None:
    page = [Shown("Oak Works", 100, 90, 24), Shown("Phone: +1 512 471 3434", 100, 150, 20)]
    scan = Answer(scan_of(drawn(pdf_of(page))), headers=(("Content-Type", "application/pdf"),))
    home = "<title>Oak</title><a href=/contact.pdf>Contact</a>"
    with serve({"//oak.localhost/": home, "//oak.localhost/contact.pdf": scan}) as server:
        site, folder = f"{server.at('oak.localhost')}/", str(tmp_path / "mine")
        assert run(["init", folder]) == 0
        command = ["forage", site, "-w", folder, "--facts", "contact", "--files", "--delay", "0"]
        assert run([*command, "--allow-private"]) == 0
    with Workspace.open(tmp_path / "mine") as workspace:
        wanted = parse_wanted(workspace, "organisation:phone")
        plain = extract_at_cost(workspace, wanted, Plan(), ["documents"], Budget())
        assert (plain.pages, plain.facts) == (1, 0)
        none = extract_at_cost(workspace, wanted, Plan(), ["ocr"], Budget(seconds=0.0))
        assert (none.pages, none.left) == (0, 1)
        done = extract_at_cost(workspace, wanted, Plan(), ["ocr"], Budget(seconds=600))
        assert (done.pages, done.left, done.problems) == (1, 0, ())
        assert [row.texts("phone") for row in fact_rows(workspace, wanted)] == [["+15124713434"]]


SCRIPTED = (
    "<title>Oak</title><p id=p>…</p>"
    "<script>document.getElementById('p').textContent = 'Phone: +1 512 471 3434'</script>"
)


@pytest.mark.skipif(not can_render(), reason="needs a browser")
def test_a_browser_finds_what_scripts_write(tmp_path: Path) -> None:
    with serve({"//oak.localhost/": SCRIPTED}) as server:
        site, folder = f"{server.at('oak.localhost')}/", str(tmp_path / "mine")
        assert run(["init", folder]) == 0
        settings = tmp_path / "mine" / "wayhound.toml"
        settings.write_text(settings.read_text().replace("allow_private = false", "allow_private = true"))
        assert (
            run(["forage", site, "-w", folder, "--facts", "contact", "--delay", "0", "--render", "never"])
            == 0
        )
        with Workspace.open(tmp_path / "mine") as workspace:
            wanted = parse_wanted(workspace, "organisation:phone")
            extract_facts(workspace, wanted)
            assert [row.texts("phone") for row in fact_rows(workspace, wanted)] in ([], [[]])
            done = extract_at_cost(workspace, wanted, Plan(), ["browser"], Budget())
            assert (done.pages, done.problems) == (1, ())
            assert [row.texts("phone") for row in fact_rows(workspace, wanted)] == [["+15124713434"]]
