"""Forages of sites that are made by scripts, beside the same sites rendered by their server."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import httpx
import pytest
from warcio.archiveiterator import ArchiveIterator

from bench.script_sites import Response, Serve, script_sites
from tests.app.teach.lessons import PATIENCE_SECONDS, needs_browser
from tests.net.test_rendering import children
from tests.servers import Answer, Page, serve
from wayhound.app.forage import open_run
from wayhound.app.forage_worker import run_worker
from wayhound.app.order import Order
from wayhound.archive.replay import ReplayFetcher
from wayhound.config import Config
from wayhound.fetched import Fetched
from wayhound.page import Page as ReadPage
from wayhound.pages.reader import read_response
from wayhound.site import Site
from wayhound.store.protocol import RunLimits, SiteSummary
from wayhound.studio.app import make_studio
from wayhound.visit import Visit
from wayhound.web.app import running
from wayhound.workspace import Workspace

in_browser, where_there_is_one = needs_browser

PLAIN = Config()


def served(made: Serve) -> Callable[[str], Page | None]:
    def look(path: str) -> Page | None:
        response: Response | None = None if path.startswith("//") else made(path)
        return Answer(response[0], headers=(("Content-Type", response[1]),)) if response else None

    return look


def forage(
    folder: Path, starts: list[str], goal: str = "", render: str = "auto"
) -> tuple[dict[str, list[Visit]], list[SiteSummary]]:
    """The visits of each site."""
    config = replace(PLAIN, fetch=replace(PLAIN.fetch, delay_seconds=0.0, allow_private=True, render=render))
    visits: dict[str, list[Visit]] = defaultdict(list)
    with Workspace.create(folder / "w") as workspace:
        run = open_run(
            workspace, Order(goal=goal), RunLimits(300), [Site(start) for start in starts], time.time()
        )
        asyncio.run(
            run_worker(
                workspace, run, config, on_start=lambda _: None, on_visit=lambda v: visits[v.site].append(v)
            )
        )
        return visits, list(workspace.stores.forage.sites(run.id))


@in_browser
@where_there_is_one
def test_sites_made_by_scripts_give_the_goals_of_their_twins_with_no_more_page_loads(tmp_path: Path) -> None:
    sites = script_sites(people=1, entries=45)
    with ExitStack() as stack:
        starts = [
            [f"{stack.enter_context(serve(served(made)))}/" for made in (site.made_by_scripts, site.twin)]
            for site in sites
        ]
        visits, _ = forage(tmp_path, [start for pair in starts for start in pair], "Professor|^Entry")
    for site, (scripted, twin) in zip(sites, starts, strict=True):
        goals = [{visit.title for visit in visits[start] if visit.is_goal} for start in (scripted, twin)]
        assert goals[0] == goals[1], site.name
        assert goals[0]
        assert requests(visits[scripted]) <= requests(visits[twin]), site.name
        assert {visit.rendering for visit in visits[twin]} == {""}
        assert "rendered" in {visit.rendering for visit in visits[scripted]}
    # the response as it came and the document are both in the archive, and a replay serves the document
    kinds = [record.rec_type for record in archived(tmp_path / "w")]
    assert kinds.count("conversion") == sum(
        v.rendering == "rendered" for all_ in visits.values() for v in all_
    )
    replay = ReplayFetcher(tmp_path / "w" / "archive")
    for url in (starts[0][0], f"{starts[1][0]}#/people"):
        answer = asyncio.run(replay.fetch(url))
        assert isinstance(answer, Fetched)
        assert answer.source is not None
        assert b"<noscript>" in answer.source.body
        assert isinstance(page := read_response(answer), ReadPage)
        assert page.links


def requests(visits: list[Visit]) -> int:
    return sum(visit.spent for visit in visits)


def archived(workspace: Path) -> list[ArchiveIterator]:
    """Every record of the archive, by a reader that is not ours."""
    found = []
    for path in sorted((workspace / "archive").glob("*.warc.gz")):
        with path.open("rb") as stream:
            for record in ArchiveIterator(stream):
                record.content_stream().read()
                found.append(record)
    return found


def test_without_a_browser_the_end_says_that_the_pages_are_made_by_scripts(tmp_path: Path) -> None:
    with serve(served(script_sites()[0].made_by_scripts)) as server:
        visits, [site] = forage(tmp_path, [f"{server}/"], render="never")
    assert visits[f"{server}/"][0].rendering == "needed"
    assert site.reason == "no links left (needs_browser)"


def test_a_challenge_is_not_taken_for_an_empty_page(tmp_path: Path) -> None:
    challenge = "<title>Just a moment...</title><script src=/cdn-cgi/challenge-platform/x.js></script>"
    with serve({"/": challenge}) as server:
        visits, [site] = forage(tmp_path, [f"{server}/"])
    assert [visit.outcome for visit in visits[f"{server}/"]] == ["challenge"]
    assert site.reason == "start page failed (challenge)"


@in_browser
@where_there_is_one
@pytest.mark.skipif(sys.platform != "linux", reason="processes are looked up in /proc")
def test_after_kill_9_no_browser_is_left_and_the_same_command_goes_on(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "wayhound"]
    workspace = str(tmp_path / "w")
    subprocess.run([*command, "init", workspace], check=True, capture_output=True)
    with serve(served(script_sites(people=1)[0].made_by_scripts)) as server:
        order = [*command, "forage", f"{server}/", "-w", workspace, "--delay", "0", "--allow-private"]
        process = subprocess.Popen(order, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while server.requests["/data/people"] == 0:
            assert process.poll() is None
            time.sleep(0.01)
        started = children(process.pid)
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert started
        end = time.monotonic() + 2 * PATIENCE_SECONDS
        while any(is_running(pid) for pid in started) and time.monotonic() < end:
            time.sleep(0.05)
        assert not [pid for pid in started if is_running(pid)]
        subprocess.run(order, check=True, capture_output=True, timeout=300)
    lines = subprocess.run(
        [*command, "export", "visits", "-w", workspace], check=True, capture_output=True
    ).stdout.splitlines()
    visits = [json.loads(line) for line in lines]
    assert len({visit["url"] for visit in visits}) == len(visits) == 7
    # which pages needed a browser is shown with the run
    told = "Read in a browser, because scripts make them: 7 pages of 1 site"
    status = subprocess.run([*command, "status", "-w", workspace], check=True, capture_output=True, text=True)
    assert told in status.stdout
    with running(make_studio(Path(workspace), "token")) as studio, httpx.Client(base_url=studio) as visitor:
        visitor.get("/?token=token")
        assert told in visitor.get("/runs/1").text


def is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
        return "State:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return False
