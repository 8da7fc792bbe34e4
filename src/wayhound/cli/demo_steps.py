"""The steps of the demo: each calls one use case on the sample web, and prints what came of it."""

from __future__ import annotations

import asyncio
import json
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from importlib import resources
from pathlib import Path
from urllib.parse import quote

from rich.table import Table
from rich.text import Text

from wayhound.app.chains.relationships import LinkChains
from wayhound.app.facts.extraction import extract_facts
from wayhound.app.facts.search import CONTACT, parse_wanted
from wayhound.app.facts.tables import fact_rows
from wayhound.app.forage import open_run
from wayhound.app.order import Order, complete_order
from wayhound.app.papers.adding import AddedFile, Intake, fetched_files
from wayhound.app.papers.library import PaperLibrary
from wayhound.app.parallel import n_cores
from wayhound.app.teach.playback import Script, play, play_by_fetching
from wayhound.app.teach.teaching import open_session, teach
from wayhound.app.topics import Topics
from wayhound.app.trails import check
from wayhound.app.train.training import train_and_measure
from wayhound.chains.construction import ExampleChain, ExampleLink
from wayhound.chains.ontology import Ontology, Relationship
from wayhound.cli.console import command_for, err, next_steps, program_name, write_line
from wayhound.cli.forage_display import closing_table, forage_with_display
from wayhound.cli.papers_work import print_added
from wayhound.cli.serve import PortalAddress, serve_portal, update_index
from wayhound.cli.studio import print_how_to_open
from wayhound.cli.topics import report_table
from wayhound.cli.trails import remarks_list
from wayhound.cli.train import labels_table
from wayhound.errors import UsageError, WayhoundError
from wayhound.net.browser import BrowserOptions, find_browser, has_display
from wayhound.portal.app import make_portal
from wayhound.portal.portal import PortalSettings
from wayhound.samples import SampleServer, SampleWeb
from wayhound.site import Site
from wayhound.store.protocol import RunLimits
from wayhound.studio.access import new_token, origin_name
from wayhound.studio.app import make_studio
from wayhound.trail import GOAL
from wayhound.url import normalise
from wayhound.visit import Visit
from wayhound.web.app import WebSettings, running
from wayhound.wording.chains import format_extracted, format_learned, format_rules
from wayhound.wording.papers import format_added
from wayhound.wording.quantities import count
from wayhound.wording.training import format_training
from wayhound.workspace import Workspace

# Teach

POLL_SECONDS = 0.5
HOW_TO_TEACH = """\
Look for papers, as you would in any browser.
  Goal       on the page of a paper: two or three on each site are enough
  Reject     on a page that is not a paper, two or three of them as well
  Next site  when you have shown both; Done after the last
"""


@contextmanager
def teach_by_lesson(workspace: Workspace, server: SampleServer) -> Iterator[None]:
    """Play the sample lesson, click by click, in a browser if there is one."""
    lesson = Script.sample()
    try:
        find_browser()
    except UsageError as error:
        err.print(f"{error} The lesson is played without one, by following its links.")
        asyncio.run(play_by_fetching(lesson, lesson.sites_at(server.port), workspace, _print_plain))
    else:
        play(lesson, workspace, samples=server, say=_print_plain)
    _print_trails(workspace)
    yield


@contextmanager
def teach_by_hand(workspace: Workspace, server: SampleServer) -> Iterator[None]:
    """Let the user show the way to papers, in a window, or else in a page of the studio.

    The studio stays open within the context, so that its page can be looked at while the demo continues.
    """
    find_browser()
    sites = Script.sample().sites_at(server.port)
    err.print(HOW_TO_TEACH)
    record = open_session(workspace, sites, "trails")
    if has_display():
        asyncio.run(teach(workspace, record, BrowserOptions()))
        _print_trails(workspace)
        yield
        return
    token = new_token()
    with running(make_studio(workspace.folder, token)) as address:
        port = int(address.rstrip("/").rpartition(":")[2])
        write_line(f"\nTeach in this page: http://{origin_name(token)}:{port}/teach?token={token}")
        print_how_to_open(port)
        err.print("When you press Done there, the demo continues here.")
        _wait_until_taught(workspace)
        _print_trails(workspace)
        yield


def _wait_until_taught(workspace: Workspace) -> None:
    """Wait until a session has ended with a trail to a goal; one without can be started again."""
    while workspace.stores.teaching.unfinished() or not _trails_to_goals(workspace):
        time.sleep(POLL_SECONDS)


def _trails_to_goals(workspace: Workspace) -> int:
    return sum(summary.ending == GOAL for summary in workspace.stores.trails.summaries())


def _print_trails(workspace: Workspace) -> None:
    goals, trails = _trails_to_goals(workspace), len(workspace.stores.trails)
    if not goals:
        raise UsageError("No goal was marked, so there is nothing to learn. Try again.")
    err.print(f"{count(trails, 'trail')}: {goals} to a goal, {trails - goals} rejected.")
    err.print(remarks_list(check(workspace)))


def _print_plain(line: str) -> None:
    err.print(line, markup=False)


# Train and forage

DELAY_SECONDS = 0.02  # this machine is its own host
GOALS_SHOWN = 8  # of each forage, before the rest is only counted
BUDGET = 90
PAPERS_ORDER = Order(strategy="adaptive", take_files=True)


def train_model(workspace: Workspace) -> None:
    report = train_and_measure(workspace)
    err.print(format_training(report), markup=False)
    err.print(labels_table(report))


def forage_departments(workspace: Workspace, web: SampleWeb, server: SampleServer) -> None:
    """Forage the sample departments, and compare the goals with the sample web's own labels."""
    goals: list[Visit] = []

    def keep(visit: Visit) -> None:
        if visit.tier == "goal":
            goals.append(visit)
            if len(goals) <= GOALS_SHOWN:
                write_line(f"{visit.url}  {visit.title}")

    run_id = _forage(workspace, PAPERS_ORDER, _sites_of_kind(web, server, "department"), keep)
    if len(goals) > GOALS_SHOWN:
        err.print(f"… and {len(goals) - GOALS_SHOWN} more")
    err.print(closing_table(workspace.stores.forage.sites(run_id)))
    err.print(_verdict(goals, _labelled_pages(web, server)))


def find_contacts(workspace: Workspace, web: SampleWeb, server: SampleServer) -> None:
    """Forage the sample companies until their e-mail, phone and address are found, and print these as a table."""
    order = complete_order(workspace, Order(strategy="", facts=CONTACT))
    run_id = _forage(workspace, order, _sites_of_kind(web, server, "company"), lambda _: None)
    wanted = parse_wanted(workspace, CONTACT)
    extract_facts(workspace, wanted, run_id=run_id)
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("name", *wanted.fields, "pages"):
        table.add_column(
            name, justify="right" if name == "pages" else "left", no_wrap=name in ("email", "phone")
        )
    for row in fact_rows(workspace, wanted, run_id):
        facts = ["\n".join(row.texts(name)) or "–" for name in ("name", *wanted.fields)]
        table.add_row(*map(Text, facts), str(row.requests))
    err.print(table)


def _forage(workspace: Workspace, order: Order, sites: list[Site], on_goal: Callable[[Visit], None]) -> int:
    """Run an order on sample sites, and return the number of the run."""
    fetch = replace(workspace.config.fetch, allow_private=True, delay_seconds=DELAY_SECONDS)
    config = replace(workspace.config, fetch=fetch)
    run = open_run(workspace, order, RunLimits(BUDGET), sites, time.time())
    asyncio.run(forage_with_display(workspace, run, config, 1, on_goal))
    return run.id


def _sites_of_kind(web: SampleWeb, server: SampleServer, kind: str) -> list[Site]:
    hosts = {site.host for site in web.sites if site.kind == kind}
    return [Site(normalise(seed)) for seed in server.seeds() if seed.split("/")[2].split(":")[0] in hosts]


def _labelled_pages(web: SampleWeb, server: SampleServer) -> Mapping[str, str]:
    """Return the host of each page of a paper, by URL."""
    return {
        normalise(f"http://{site.host}:{server.port}{path}"): site.host
        for site in web.sites
        if site.kind == "department"
        for path, label in site.labels().items()
        if label == "publication"
    }


def _verdict(goals: list[Visit], labelled: Mapping[str, str]) -> str:
    right = [visit for visit in goals if visit.url in labelled]
    sites = {labelled[visit.url] for visit in right}
    return (
        f"By the sample web's own labels, {len(right)} of {count(len(goals), 'goal')} are right, "
        f"on {len(sites)} of the {count(len(set(labelled.values())), 'site')} that have any."
    )


# Papers and topics

PAPERS_SHOWN = 6  # before the rest is only counted


def add_papers(workspace: Workspace) -> None:
    library = PaperLibrary(workspace)
    found = list(fetched_files(library, None))
    if not found:
        raise UsageError(
            "By what was taught, no paper was found. Try again: mark the page of a paper as Goal on two or three "
            "sites, and reject other pages."
        )
    lines = 0

    def line(added: AddedFile) -> str:
        nonlocal lines
        lines += 1
        return format_added(added) if lines <= PAPERS_SHOWN else ""

    print_added(Intake(library, n_cores()).add(found), len(found), line)


def extract_relations(workspace: Workspace, web: SampleWeb, server: SampleServer) -> None:
    """Learn who plays in a film from one example on the film catalogue, and extract all actors of all films."""
    base = f"http://{web.films.host}:{server.port}"
    film, cast, person = (base + path for path in min(web.films.chains("Starring")))
    fetch = replace(workspace.config.fetch, allow_private=True, delay_seconds=0.0)
    saved, workspace.config = workspace.config, replace(workspace.config, fetch=fetch)
    relationship = Relationship("ActorOf", "film", "actor", "Starring", "acted in")
    with LinkChains.opened(workspace, online=True) as chains:
        chains.store.save_ontology(Ontology({}, {"ActorOf": relationship}))
        example = ExampleChain((ExampleLink(film, cast), ExampleLink(cast, person)), name="The example")
        chains.store.add_examples("ActorOf", [example])
        learned = chains.learn("ActorOf", [base + each.path for each in web.films.films])
        outcome = chains.extract("ActorOf")
    workspace.config = saved
    for line in (format_learned(learned), *format_rules(learned.rules), *format_extracted(outcome)):
        err.print(line, markup=False)


def fill_topics(workspace: Workspace) -> None:
    tree = resources.files("wayhound.samples") / "trees" / "departments.topics"
    topics = Topics(workspace)
    topics.tree_file.write(tree.read_text("utf-8"))
    topics.train()
    err.print(report_table(topics.report()))


# Serve

PORTAL_NAME = "The sample web"


def show_portal(folder: Path, port: int) -> None:
    """Serve the portal to the user at the terminal; without one, ask it for one page of each kind."""
    _print_next_steps(folder)
    if sys.stdin.isatty() and sys.stdout.isatty():
        serve_portal(folder, PortalAddress(port=port), name=PORTAL_NAME)
        return
    update_index(folder)
    with running(make_portal(folder, PortalSettings(PORTAL_NAME), WebSettings())) as address:
        write_line(f"The portal answers at {address}")
        for path in _pages(address):
            status, _ = _get(address + path)
            write_line(f"  {status}  /{path}")


def _pages(address: str) -> list[str]:
    """Return paths of every kind of page, found as a visitor would find them."""
    paper = _first_hit(address, "type:paper", "&sort=cited")
    contact = _first_hit(address, "type:page contact")
    company = _first_hit(address, "type:organisation lanterns")
    topic = json.loads(_get(address + "index.json")[1])["topics"][0]["url"].lstrip("/")
    searches = [f"search?q={quote(query)}" for query in ("limits OR theory", "type:organisation")]
    machines = ["submit", "about", "search.atom", "oai?verb=Identify"]
    return ["", *searches, topic, contact, company, paper, f"{paper}/map", f"{paper}.bib", *machines]


def _first_hit(address: str, query: str, more: str = "") -> str:
    hits = json.loads(_get(f"{address}search.json?q={quote(query)}{more}")[1])["hits"]
    if not hits:
        raise WayhoundError(f"The portal has no answer to {query!r}.")
    return str(hits[0]["url"]).lstrip("/")


def _get(url: str) -> tuple[int, bytes]:
    try:
        with urllib.request.urlopen(url, timeout=30) as answer:  # noqa: S310 - our own server
            return answer.status, answer.read()
    except urllib.error.HTTPError as error:
        raise WayhoundError(f"The portal answered {error.code} to {url}.") from None


def _print_next_steps(folder: Path) -> None:
    next_steps(
        (command_for(folder, "studio"), "trails, training, runs and results, in a browser"),
        (command_for(folder, "status --goals"), "every page that was found, the clicks there, and why"),
        (command_for(folder, "export goals --out goals.csv"), "the same as a table"),
        (command_for(folder, "serve"), "the portal again"),
        ("make teach-demo", "teach the sample sites yourself"),
        (f"{program_name()} init mine", "start your own project; it says what comes next"),
    )
    err.print()
