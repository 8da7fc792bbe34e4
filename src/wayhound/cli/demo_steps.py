"""What the demo does beside foraging: shows the way, learns, reads papers, fills topics."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from importlib import resources

from wayhound.app.forage import Order, open_run
from wayhound.app.papers.adding import Added, Intake, incoming_from_forage
from wayhound.app.papers.library import PaperLibrary
from wayhound.app.papers.reading import cores
from wayhound.app.teach.playback import Script, play, play_by_fetching
from wayhound.app.teach.teaching import open_session, teach
from wayhound.app.topics import Topics
from wayhound.app.train import train
from wayhound.cli.console import err, write_line
from wayhound.cli.forage_display import closing_table, forage_with_display
from wayhound.cli.papers_progress import take_up
from wayhound.cli.papers_work import added_line
from wayhound.cli.studio import print_how_to_open
from wayhound.cli.topics import report_table
from wayhound.cli.trails import remarks_list
from wayhound.cli.train import labels_table
from wayhound.errors import UsageError
from wayhound.net.browser import BrowserOptions, find_browser, has_display
from wayhound.paths.settings import PathSettings
from wayhound.paths.trail_check import check_trails
from wayhound.samples import SampleServer, SampleWeb
from wayhound.site import Site
from wayhound.store.forage import RunLimits
from wayhound.studio.access import new_token
from wayhound.studio.app import make_studio
from wayhound.trail import GOAL
from wayhound.url import normalise
from wayhound.visit import Visit
from wayhound.web.server import running
from wayhound.wording.quantities import count
from wayhound.workspace import Workspace

PAUSE_SECONDS = 0.02  # it is our own machine
GOALS_SHOWN = 8  # goals a job, before the rest is only counted


@dataclass(frozen=True, slots=True)
class Job:
    """One forage of the demo: on which sites, for which pages by the sample web's own labels."""

    kind: str
    label: str
    order: Order
    budget: int


DEPARTMENTS = Job("department", "publication", Order(strategy="path-learner", take_files=True), 90)
COMPANIES = Job(
    "company",
    "contact",
    Order(
        strategy="best-first",
        keywords=("contact", "kontakt", "contacto", "address", "visit", "impressum", "telephone"),
        goal=r"contact|kontakt|impressum|find us|visit",
    ),
    20,
)


def forage_sites(workspace: Workspace, web: SampleWeb, server: SampleServer, job: Job) -> None:
    sites = [Site(normalise(seed)) for seed in server.seeds() if _kind(web, seed) == job.kind]
    fetch = replace(workspace.config.fetch, allow_private=True, delay_seconds=PAUSE_SECONDS)
    config = replace(workspace.config, fetch=fetch)
    run = open_run(workspace, job.order, RunLimits(job.budget), sites, time.time())
    found: list[Visit] = []

    def keep(visit: Visit) -> None:
        if visit.is_goal:
            found.append(visit)
            if len(found) <= GOALS_SHOWN:
                write_line(f"{visit.url}  {visit.title}")

    asyncio.run(forage_with_display(workspace, run, config, 1, keep))
    if len(found) > GOALS_SHOWN:
        err.print(f"… and {len(found) - GOALS_SHOWN} more")
    err.print(closing_table(workspace.stores.forage.sites(run.id)))
    err.print(_judged(found, _true_pages(web, server, job)))


def _kind(web: SampleWeb, seed: str) -> str:
    site = web.site(seed.split("/")[2])
    return site.kind if site else ""


def _true_pages(web: SampleWeb, server: SampleServer, job: Job) -> Mapping[str, str]:
    return {
        normalise(f"http://{site.host}:{server.port}{path}"): site.host
        for site in web.sites
        if site.kind == job.kind
        for path, label in site.labels().items()
        if label == job.label
    }


def _judged(found: list[Visit], true: Mapping[str, str]) -> str:
    right = [visit for visit in found if visit.url in true]
    sites = {true[visit.url] for visit in right}
    return (
        f"By the sample web's own labels, {len(right)} of the {count(len(found), 'page')} found are right, "
        f"on {len(sites)} of the {count(len(set(true.values())), 'site')} that have any."
    )


SHOWN = 6  # papers, before the rest is only counted
LOOK_SECONDS = 0.5
HOW_TO_TEACH = """\
Look for papers, as you would in any browser.
  Goal          on the page of a paper: two or three on each site will do
  Not this way  on a page that is no paper, two or three of them as well
  Next site     when you have shown both; Done after the last
"""


@contextmanager
def taught_by_lesson(workspace: Workspace, server: SampleServer) -> Iterator[None]:
    """Play the sample lesson, click by click, in a browser if there is one."""
    lesson = Script.sample()
    try:
        find_browser()
    except UsageError as error:
        err.print(f"{error} The lesson is played without one, by following its links.")
        asyncio.run(play_by_fetching(lesson, lesson.sites_at(server.port), workspace, _tell))
    else:
        play(lesson, workspace, samples=server, say=_tell)
    _tell_what_was_taught(workspace)
    yield


@contextmanager
def taught_by_hand(workspace: Workspace, server: SampleServer) -> Iterator[None]:
    """Let the person at the keyboard show the way to papers: in a window, or else in a page of the studio.

    The studio stays open within, so that the page can be looked at while the demo goes on.
    """
    find_browser()
    sites = Script.sample().sites_at(server.port)
    err.print(HOW_TO_TEACH)
    record = open_session(workspace, sites, "trails")
    if has_display():
        asyncio.run(teach(workspace, record, BrowserOptions()))
        _tell_what_was_taught(workspace)
        yield
        return
    token = new_token()
    with running(make_studio(workspace.folder, token)) as address:
        write_line(f"\nTeach in this page: {address}teach?token={token}")
        print_how_to_open(int(address.rstrip("/").rpartition(":")[2]))
        err.print("When you press Done there, the demo goes on here.")
        _wait_until_taught(workspace)
        _tell_what_was_taught(workspace)
        yield


def _wait_until_taught(workspace: Workspace) -> None:
    """Until a session has ended and left a trail to a goal; a session without one can be begun again."""
    store = workspace.stores.teaching
    while store.unfinished() or not _trails_to_goals(workspace):
        time.sleep(LOOK_SECONDS)


def _trails_to_goals(workspace: Workspace) -> int:
    return sum(summary.ending == GOAL for summary in workspace.stores.trails.summaries())


def _tell_what_was_taught(workspace: Workspace) -> None:
    goals, trails = _trails_to_goals(workspace), len(workspace.stores.trails)
    if not goals:
        raise UsageError("No goal was shown, so there is nothing to learn. Try again.")
    err.print(f"{count(trails, 'trail')}: {goals} to a goal, {trails - goals} that lead elsewhere.")
    err.print(remarks_list(check_trails(workspace.stores.trails.trails())))


def _tell(line: str) -> None:
    err.print(line, markup=False)


def learn(workspace: Workspace) -> None:
    report = train(workspace, settings=PathSettings(), at=time.time())
    err.print("How well each label is told on a site that was held back, and what a link to it is worth:")
    err.print(labels_table(report))


def add_papers(workspace: Workspace) -> None:
    library = PaperLibrary(workspace)
    found = list(incoming_from_forage(library, None))
    if not found:
        raise UsageError(
            "By what was taught, no paper was found. Try again: mark the page of a paper as Goal, "
            "on two or three sites, and other pages as Not this way."
        )
    told = 0

    def line(added: Added) -> str:
        nonlocal told
        told += 1
        return added_line(added, as_json=False) if told <= SHOWN else ""

    take_up(Intake(library, cores()).add(found), len(found), line)


def fill_topics(workspace: Workspace) -> None:
    tree = resources.files("wayhound.samples") / "trees" / "departments.topics"
    topics = Topics(workspace)
    topics.tree_file.write(tree.read_text("utf-8"))
    topics.train()
    err.print(report_table(topics.report()))
