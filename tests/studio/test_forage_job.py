"""A forage of the studio tells how far it is, but does not ask the database after every page."""

from __future__ import annotations

import time
from itertools import pairwise
from pathlib import Path

from tests.servers import serve
from wayhound.app.forage import open_run
from wayhound.app.order import Order
from wayhound.config import Config, FetchConfig
from wayhound.site import Site
from wayhound.store.protocol import RunLimits
from wayhound.studio.jobs import REPORT_SECONDS, forage_job
from wayhound.workspace import Workspace

PAGES = {"/": "".join(f"<a href='/{number}'>{number}</a>" for number in range(20))}
PAGES |= {f"/{number}": f"<title>Page {number}</title>" for number in range(20)}


def test_progress_is_asked_for_now_and_then(tmp_path: Path) -> None:
    told: list[tuple[float, str]] = []
    with serve(PAGES) as server, Workspace.create(tmp_path / "workspace") as workspace:
        workspace.config = Config(fetch=FetchConfig(delay_seconds=0.0, allow_private=True))
        sites = [Site(f"{server}/")]
        run = open_run(workspace, Order(), RunLimits(budget_per_site=20), sites, time.time())
        arguments = {"run": run.id, "delay": 0, "workers": 1}
        ended = forage_job(workspace, arguments, lambda what, *_: told.append((time.monotonic(), what)))
    assert ended == "Run 1: 0 goals on 20 pages of 1 site."
    assert told[0][1] == "Run 1: 0 goals on 0 pages"
    assert all(later - earlier >= 0.9 * REPORT_SECONDS for (earlier, _), (later, _) in pairwise(told))


def test_the_time_left_is_bounded_from_the_first_second(tmp_path: Path) -> None:
    told: list[str] = []
    with serve({"/": "<title>Home</title>"}) as server, Workspace.create(tmp_path / "workspace") as workspace:
        workspace.config = Config(fetch=FetchConfig(allow_private=True))
        sites = [Site(f"{server}/"), Site(f"{server.at('b.localhost')}/")]
        run = open_run(workspace, Order(), RunLimits(budget_per_site=30), sites, time.time())
        arguments = {"run": run.id, "delay": 2, "workers": 1}
        forage_job(workspace, arguments, lambda what, *_: told.append(what))
    assert told[0] == "Run 1: 0 goals on 0 pages, at most 60 s left"
