"""The modules that one click passes on its way to a page of the portal.

A person clicks through sample sites (played without a browser), a model is trained on the clicks, other sites are
foraged with it, the goals are indexed, and the portal shows one of them. A module counts as passed when one of its
functions runs, generated methods of dataclasses included. Importing a module does not count: everything is imported
before the tracer starts.
"""

from __future__ import annotations

import argparse
import asyncio
import importlib
import json
import pkgutil
import sys
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from inspect import CO_OPTIMIZED
from pathlib import Path
from types import FrameType
from typing import Any
from urllib.request import urlopen

import wayhound
from wayhound.app.forage import open_run
from wayhound.app.forage_worker import run_worker
from wayhound.app.index import build
from wayhound.app.order import Order
from wayhound.app.teach.playback import Script, play_by_fetching
from wayhound.app.train.training import train
from wayhound.paths.settings import PathSettings
from wayhound.portal.app import make_portal
from wayhound.portal.portal import PortalSettings
from wayhound.samples import SampleServer, sample_web, serve_samples
from wayhound.site import Site
from wayhound.store.protocol import RunLimits
from wayhound.url import normalise
from wayhound.web.app import WebSettings, running
from wayhound.workspace import Workspace

MOST = 110
BUDGET = 30
FORAGED = ("math.localhost",)
_SCENERY = ("wayhound.samples", "wayhound.app.teach.plain_hand", "wayhound.app.teach.playback")
"""Modules that stand in for the web and for the person: a click does not pass them."""


def import_everything() -> None:
    for module in pkgutil.walk_packages(wayhound.__path__, "wayhound."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)


@contextmanager
def traced(passed: set[str]) -> Iterator[None]:
    """Collect the names of the modules of Wayhound whose functions run, in this thread and in new ones."""

    def note(frame: FrameType, event: str, _: Any) -> None:
        if (
            event == "call" and frame.f_code.co_flags & CO_OPTIMIZED
        ):  # the bodies of modules and classes lack it
            name = str(frame.f_globals.get("__name__", ""))
            if name.startswith("wayhound"):
                passed.add(name)

    threading.setprofile(note)
    sys.setprofile(note)
    try:
        yield
    finally:
        sys.setprofile(None)
        threading.setprofile(None)


def walk(folder: Path) -> str:
    """Teach, train, forage, index and serve; return the page of one goal as HTML."""
    with serve_samples(sample_web()) as server:
        with Workspace.create(folder) as workspace:
            _teach_and_forage(workspace, server)
            build(workspace)
        with running(make_portal(folder, PortalSettings(), WebSettings())) as address:
            hits = json.loads(_get(f"{address}search.json?q=type:page"))["hits"]
            return _get(address.rstrip("/") + hits[0]["url"])


def _teach_and_forage(workspace: Workspace, server: SampleServer) -> None:
    lesson = Script.sample()
    asyncio.run(play_by_fetching(lesson, lesson.sites_at(server.port), workspace, lambda _: None))
    train(workspace, settings=PathSettings(), at=time.time())
    fetch = replace(workspace.config.fetch, allow_private=True, delay_seconds=0.0)
    sites = [Site(normalise(f"http://{host}:{server.port}/")) for host in FORAGED]
    run = open_run(workspace, Order(strategy="adaptive"), RunLimits(BUDGET), sites, time.time())
    config = replace(workspace.config, fetch=fetch)
    asyncio.run(run_worker(workspace, run, config, on_start=lambda _: None, on_visit=lambda _: None))


def _get(url: str) -> str:
    with urlopen(url, timeout=60) as answer:
        return str(answer.read().decode())


def by_room(passed: set[str]) -> dict[str, list[str]]:
    """The modules of each room; those that stand in no package are nouns of the root."""
    rooms: dict[str, list[str]] = defaultdict(list)
    for name in sorted(passed):
        _, *inside = name.split(".")
        rooms[inside[0] if len(inside) > 1 else "(root)"].append(name)
    return dict(sorted(rooms.items()))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print JSON to standard output")
    arguments = parser.parse_args()
    import_everything()
    passed: set[str] = set()
    with tempfile.TemporaryDirectory() as folder, traced(passed):
        page = walk(Path(folder) / "workspace")
    assert "How it was found" in page
    rooms = by_room({name for name in passed if not name.startswith(_SCENERY)})
    total = sum(map(len, rooms.values()))
    if arguments.json:
        print(json.dumps({"modules": total, "most": MOST, "rooms": rooms}, indent=1))
    else:
        for room, names in rooms.items():
            print(f"{len(names):4}  {room}")
            for name in names:
                print(f"        {name}")
        print(f"{total:4}  modules passed (at most {MOST})")
    return 0 if total <= MOST else 1


if __name__ == "__main__":
    sys.exit(main())
