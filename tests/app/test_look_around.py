"""Taught sites are looked at a little after teaching, with consent, and what was seen anyway is not forgotten."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.servers import Answer, Served, serve
from wayhound.app.look_around import suspected_goals, unlabelled_pages
from wayhound.app.teach.saver import Saver
from wayhound.app.teach.seen_pages import SeenPage
from wayhound.app.teach.session import Arrived, Clicked, Marked
from wayhound.app.teach.teaching import open_session
from wayhound.app.train.models import report_of
from wayhound.page import Page
from wayhound.pages.reader import read_page
from wayhound.store.goals import GoalStore
from wayhound.trail import FAIL, GOAL, Step, Trail
from wayhound.workspace import Workspace

PAGES = 12  # of each site that a look around may fetch
HOSTS = ("one.localhost", "two.localhost")
HOME = "http://site.example/"


def html(path: str) -> str | None:
    """A firm with a contact page, a list of forty products and a long story."""
    if path == "/":
        return "<title>Firm</title><nav><a href='/contact'>Contact</a><a href='/products'>Products</a></nav>"
    if path == "/contact":
        return "<title>Contact us</title><h1>Contact</h1><p>Phone, mail, opening hours.</p>"
    if path == "/products":
        items = "".join(f"<li><a href='/p/{number}'>Lamp {number}</a></li>" for number in range(40))
        return f"<title>Products</title><ul>{items}</ul>"
    number = path.removeprefix("/p/")
    return f"<title>Lamp {number}</title><p>A lamp of brass.</p>" if number.isdecimal() else None


def answer(path: str) -> Answer | None:
    page = None if path.startswith("//") else html(path)
    return Answer(page, delay_seconds=0.03) if page else None


def trails_on(server: Served, host: str) -> Iterator[Trail]:
    start = f"{server.at(host)}/"
    home = _read(start, "/")
    for link, label in zip(home.links, (GOAL, FAIL), strict=True):
        page = _read(link.url, link.url.removeprefix(start[:-1]))
        yield Trail(start, (Step(home), Step(page, link, label)))


def _read(url: str, path: str) -> Page:
    page = read_page(url, (html(path) or "").encode(), "text/html")
    assert isinstance(page, Page)
    return page


@pytest.fixture
def server() -> Iterator[Served]:
    with serve(answer) as running:
        yield running


@pytest.fixture
def taught(tmp_path: Path, server: Served) -> Path:
    with Workspace.create(tmp_path / "w") as workspace:
        for host in HOSTS:
            for trail in trails_on(server, host):
                workspace.stores.trails.add(trail, time.time(), "test")
    return tmp_path / "w"


def train(folder: Path) -> subprocess.Popen[bytes]:
    options = ["--look-around", str(PAGES), "--allow-private", "--delay", "0", "--settings", "default"]
    command = [sys.executable, "-m", "wayhound", "train", "-w", str(folder), *options]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


def finish(process: subprocess.Popen[bytes]) -> None:
    _, said = process.communicate(timeout=120)
    assert process.returncode == 0, said.decode()


def pages_asked(server: Served) -> Counter[str]:
    return Counter(f"{seen.host}{seen.target}" for seen in server.seen if seen.target != "/robots.txt")


def test_a_look_around_keeps_to_its_budget_and_calls_nothing_a_goal(taught: Path, server: Served) -> None:
    finish(train(taught))
    asked = pages_asked(server)
    assert Counter(page.split(":")[0].split("/")[0] for page in asked) == dict.fromkeys(HOSTS, PAGES)
    with Workspace.open(taught) as workspace:
        [run] = workspace.stores.forage.runs()
        assert workspace.stores.forage.progress(run.id).goals == 0
        assert list(GoalStore(workspace.database).goals()) == []
        assert report_of(workspace, "paths").unlabelled == 2 * PAGES
    finish(train(taught))
    assert pages_asked(server) == asked  # what was seen once is not fetched again


def test_killed_in_the_middle_a_look_around_goes_on_where_it_was(taught: Path, server: Served) -> None:
    process = train(taught)
    while len(server.seen) < PAGES and process.poll() is None:
        time.sleep(0.005)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    finish(train(taught))
    asked = pages_asked(server)
    assert len(asked) == 2 * PAGES
    assert sum(asked.values()) - len(asked) <= len(HOSTS)  # only what was under way
    with Workspace.open(taught) as workspace:
        assert len(workspace.stores.forage.runs()) == 1
        assert report_of(workspace, "paths").unlabelled == 2 * PAGES


def test_pages_that_a_teacher_saw_beside_the_trails_count_too(tmp_path: Path) -> None:
    pages = {
        "": "<a href='/list'>List</a> <a href='/about'>About</a>",
        "list": "<h1>List</h1>",
        "about": "<h1>About us</h1>",
    }
    with Workspace.create(tmp_path / "w") as workspace:
        saver = Saver(workspace, open_session(workspace, (HOME,), "trails", "Ann"))
        saver.apply(Arrived(1, 1, HOME))
        saver.save_seen(0, SeenPage(HOME, "Home", pages[""], "text/html"))
        home = saver.pages.read(0)
        assert home is not None
        for number, link in enumerate(home.links, start=1):
            saver.apply(Clicked(1, link))
            saver.apply(Arrived(1, 1 + number, link.url, link))
            saver.save_seen(number, SeenPage(link.url, "", pages[link.url.removeprefix(HOME)], "text/html"))
            if number == 1:
                saver.apply(Marked(1, GOAL))
                saver.apply(Arrived(1, 1, HOME))
        saver.close()
        [trail] = workspace.stores.trails.trails()
        seen = {reached.page.url: reached for reached in unlabelled_pages(workspace, [trail.site])[HOME]}
    assert set(seen) == {HOME, f"{HOME}list", f"{HOME}about"}
    about = seen[f"{HOME}about"]
    assert about.depth == 1
    assert about.link is not None
    assert about.link.text == "About"


def test_further_goals_are_suspected_and_a_complete_list_is_learned_from(
    taught: Path, server: Served
) -> None:
    finish(train(taught))
    site = f"{server.at(HOSTS[0])}/"
    with Workspace.open(taught) as workspace:
        suspects = suspected_goals(workspace, site)
        before = workspace.forage_models.card("paths").digest
    command = [sys.executable, "-m", "wayhound", "trails", "complete", site, "-w", str(taught)]
    keys = "n\n" * len(suspects) + "y\n"
    said = subprocess.run(command, check=True, input=keys, capture_output=True, text=True, timeout=60)
    assert "Contact us" in said.stderr
    assert all(url in said.stdout + said.stderr for url in suspects)
    finish(train(taught))
    with Workspace.open(taught) as workspace:
        assert workspace.stores.site_notes.complete.lists() == {site: (f"{site}contact",)}
        assert workspace.forage_models.card("paths").digest != before
