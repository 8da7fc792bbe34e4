"""What the demo does beside foraging: shows the way, learns, reads papers, fills topics."""

from __future__ import annotations

import asyncio
import time
from importlib import resources

import numpy as np

from trailmark.cli.console import count, err
from trailmark.cli.papers_progress import take_up
from trailmark.cli.papers_show import added_line
from trailmark.cli.topics_tables import tree_table
from trailmark.cli.topics_workspace import TREE_NAME, Topics, documents_from
from trailmark.cli.train_tables import labels_table
from trailmark.errors import UsageError
from trailmark.net.browser import BrowserOptions, find_browser, has_display
from trailmark.organise.topics.training import train as train_topics
from trailmark.papers.adding import Added, Intake, incoming_from_forage
from trailmark.papers.library import PaperLibrary
from trailmark.papers.reading import cores
from trailmark.recording.plain_hand import play_plainly
from trailmark.recording.playback import Script, play
from trailmark.recording.teaching import Taught, open_session, teach
from trailmark.samples import SampleServer
from trailmark.teach.training import Settings
from trailmark.training import train
from trailmark.workspace import Workspace

SHOWN = 6  # papers, before the rest is only counted


def play_lesson(workspace: Workspace, server: SampleServer) -> None:
    """Play the sample lesson, click by click, in a browser if there is one."""
    lesson = Script.sample()
    try:
        find_browser()
    except UsageError as error:
        err.print(f"{error} The lesson is played without one, by following its links.")
        taught = asyncio.run(play_plainly(lesson, lesson.sites_at(server.port), workspace, _tell))
    else:
        taught = play(lesson, workspace, samples=server, say=_tell)
    _tell_what_was_taught(taught)


def teach_by_hand(workspace: Workspace, server: SampleServer) -> None:
    """Let the person at the keyboard show the way to papers."""
    find_browser()
    if not has_display():
        raise UsageError(
            "There is no display here to open a browser on. Teach in a page of the studio instead."
        )
    sites = Script.sample().sites_at(server.port)
    err.print("Find papers: mark the page of a paper as a goal, and a page off the way as not this way.")
    record = open_session(workspace, sites, "trails")
    taught = asyncio.run(teach(workspace, record, BrowserOptions()))
    if not taught.goals:
        raise UsageError("No goal was shown, so there is nothing to learn. Try again.")
    _tell_what_was_taught(taught)


def _tell_what_was_taught(taught: Taught) -> None:
    trails = count(taught.goals + taught.failures, "trail")
    err.print(f"{trails}: {taught.goals} to a goal, {taught.failures} that lead elsewhere.")


def _tell(line: str) -> None:
    err.print(line, markup=False)


def learn(workspace: Workspace) -> None:
    report = train(workspace, settings=Settings(), at=time.time())
    err.print("How well each label is told on a site that was held back, and what a link to it is worth:")
    err.print(labels_table(report))


def add_papers(workspace: Workspace) -> None:
    library = PaperLibrary(workspace)
    found = list(incoming_from_forage(library, None))
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
