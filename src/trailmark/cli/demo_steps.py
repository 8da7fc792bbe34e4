"""What the demo does beside foraging: shows the way, learns, reads papers, fills topics."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import resources

import numpy as np

from trailmark.cli.console import count, err, say
from trailmark.cli.papers_progress import take_up
from trailmark.cli.papers_show import added_line
from trailmark.cli.studio import say_how_to_open
from trailmark.cli.topics_tables import tree_table
from trailmark.cli.topics_workspace import TREE_NAME, Topics, documents_from
from trailmark.cli.trails_tables import remarks_list
from trailmark.cli.train_tables import labels_table
from trailmark.errors import UsageError
from trailmark.net.browser import BrowserOptions, find_browser, has_display
from trailmark.organise.topics.training import train as train_topics
from trailmark.papers.adding import Added, Intake, incoming_from_forage
from trailmark.papers.library import PaperLibrary
from trailmark.papers.reading import cores
from trailmark.recording.plain_hand import play_plainly
from trailmark.recording.playback import Script, play
from trailmark.recording.teaching import open_session, teach
from trailmark.samples import SampleServer
from trailmark.serve.studio.access import new_token
from trailmark.serve.studio.app import make_studio
from trailmark.serve.web.server import running
from trailmark.store.teaching import TeachingStore
from trailmark.teach.trail_check import check_trails
from trailmark.teach.training import Settings
from trailmark.trail import GOAL
from trailmark.training import train
from trailmark.workspace import Workspace

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
        asyncio.run(play_plainly(lesson, lesson.sites_at(server.port), workspace, _tell))
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
        say(f"\nTeach in this page: {address}teach?token={token}")
        say_how_to_open(int(address.rstrip("/").rpartition(":")[2]))
        err.print("When you press Done there, the demo goes on here.")
        _wait_until_taught(workspace)
        _tell_what_was_taught(workspace)
        yield


def _wait_until_taught(workspace: Workspace) -> None:
    """Until a session has ended and left a trail to a goal; a session without one can be begun again."""
    store = TeachingStore(workspace.database)
    while store.unfinished() or not _trails_to_goals(workspace):
        time.sleep(LOOK_SECONDS)


def _trails_to_goals(workspace: Workspace) -> int:
    return sum(summary.ending == GOAL for summary in workspace.trails.summaries())


def _tell_what_was_taught(workspace: Workspace) -> None:
    goals, trails = _trails_to_goals(workspace), len(workspace.trails)
    if not goals:
        raise UsageError("No goal was shown, so there is nothing to learn. Try again.")
    err.print(f"{count(trails, 'trail')}: {goals} to a goal, {trails - goals} that lead elsewhere.")
    err.print(remarks_list(check_trails(workspace.trails.trails())))


def _tell(line: str) -> None:
    err.print(line, markup=False)


def learn(workspace: Workspace) -> None:
    report = train(workspace, settings=Settings(), at=time.time())
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
    tree = resources.files("trailmark.samples") / "trees" / "departments.topics"
    (workspace.folder / TREE_NAME).write_text(tree.read_text("utf-8"), "utf-8")
    with Topics.open(workspace.folder) as topics:
        documents, citations = documents_from(topics, (), None)
        training = train_topics(topics.tree(), documents, np.random.default_rng(0), citations=citations)
        topics.keep(training, documents)
        err.print(tree_table(topics.tree(), topics.store.counts(), topics.history()))
