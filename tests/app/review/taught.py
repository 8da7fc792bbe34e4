"""A workspace that was taught on two sample departments and foraged a third, for tests that need one."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

from wayhound.app.forage import open_run
from wayhound.app.forage_worker import run_worker
from wayhound.app.order import Order
from wayhound.app.train.training import train
from wayhound.app.visited_site import read_site
from wayhound.config import Config, FetchConfig
from wayhound.paths.settings import PathSettings
from wayhound.samples.server import SampleServer
from wayhound.site import Site
from wayhound.store.protocol import RunLimits
from wayhound.trail import FAIL, GOAL
from wayhound.workspace import Workspace

TAUGHT = ("physics", "cs")
FORAGED = "history"
GOAL_LABEL = "person"
CONFIG = Config(fetch=FetchConfig(delay_seconds=0.0, allow_private=True))


def start_of(server: SampleServer, name: str) -> str:
    return f"http://{name}.localhost:{server.port}/"


def label_of(server: SampleServer, url: str) -> str:
    """Return the true label of a page of the sample web."""
    host, _, path = url.removeprefix("http://").partition("/")
    site = server.web.site(host)
    assert site is not None
    return site.labels().get(f"/{path}", "")


def forage(workspace: Workspace, starts: list[str], budget: int, strategy: str = "breadth-first") -> int:
    order = Order(strategy=strategy)
    sites = [Site(start) for start in starts]
    run = open_run(workspace, order, RunLimits(budget), sites, time.time())
    asyncio.run(run_worker(workspace, run, CONFIG, on_start=lambda _: None, on_visit=lambda _: None))
    return run.id


def teach(workspace: Workspace, server: SampleServer, run_id: int, name: str, most: int) -> None:
    """Trails to some people, and as many to other pages, along the paths that were walked."""
    walked = read_site(workspace, run_id, start_of(server, name))
    ends = [number for number in walked.pages if walked.parents[number] is not None]
    goals = [each for each in ends if label_of(server, walked.pages[each].url) == GOAL_LABEL]
    on_the_way = {each for end in goals for each in walked.path(end)}
    others = [each for each in ends if each not in on_the_way]
    trails = [
        *(walked.trail(each, GOAL) for each in goals[:most]),
        *(walked.trail(each, FAIL) for each in others[: 3 * most : 3]),
    ]
    workspace.stores.trails.add_all(trails, time.time(), "test")


def taught_workspace(folder: Path, server: SampleServer, budget: int = 60) -> int:
    """Makes the workspace and tells the run in which the third site was foraged by the model."""
    with Workspace.create(folder) as workspace:
        shown = forage(workspace, [start_of(server, name) for name in TAUGHT], 70)
        for name in TAUGHT:
            teach(workspace, server, shown, name, 5)
        train(workspace, settings=PathSettings(), at=time.time())
        return forage(workspace, [start_of(server, FORAGED)], budget, "adaptive")
