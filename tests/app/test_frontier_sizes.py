"""The links that wait are counted on from where the last look at a run ended."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

from tests.servers import serve
from wayhound.app.forage import open_run
from wayhound.app.forage_worker import run_worker
from wayhound.app.order import Order
from wayhound.app.visited_site import FrontierSizes
from wayhound.config import Config, FetchConfig
from wayhound.site import Site
from wayhound.store.protocol import RunLimits
from wayhound.workspace import Workspace

PAGES = {"/": "".join(f"<a href='/{number}'>{number}</a>" for number in range(9))}
PAGES |= {f"/{number}": f"<title>Page {number}</title>" for number in range(9)}
CONFIG = Config(fetch=FetchConfig(delay_seconds=0.0, allow_private=True))


def _forage(workspace: Workspace, starts: list[str], budget: int) -> int:
    sites = [Site(start) for start in starts]
    run = open_run(workspace, Order(strategy="breadth-first"), RunLimits(budget), sites, time.time())
    asyncio.run(run_worker(workspace, run, CONFIG, on_start=lambda _: None, on_visit=lambda _: None))
    return run.id


def test_a_later_look_goes_on_where_the_first_ended(tmp_path: Path) -> None:
    with serve(PAGES) as server, Workspace.create(tmp_path / "workspace") as workspace:
        watch, start = FrontierSizes(), f"{server}/"
        assert watch.sizes(workspace, _forage(workspace, [start], 3)) == [9, 8, 7]
        run_id = _forage(workspace, [start], 6)
        assert watch.sizes(workspace, run_id) == [9, 8, 7, 6, 5, 4]
        assert watch.sizes(workspace, run_id) == FrontierSizes().sizes(workspace, run_id)
