"""Directives of a page for the name we crawl under hold wherever the page is read again."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.servers import serve
from wayhound.app.explain import fetch_path, find_path
from wayhound.app.forage import open_run
from wayhound.app.forage_worker import run_worker
from wayhound.app.order import Order
from wayhound.app.visited_site import FrontierSizes, read_path, read_site
from wayhound.config import AgentConfig, Config, FetchConfig
from wayhound.site import Site
from wayhound.store.protocol import RunLimits
from wayhound.workspace import Workspace

PAGE = (
    "<title>Here</title><meta name='walker' content='nofollow'><a href='/one'>one</a><a href='/two'>two</a>"
)


@pytest.fixture
def start() -> Iterator[str]:
    with serve({"/": PAGE}) as server:
        yield f"{server}/"


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    with Workspace.create(tmp_path / "workspace") as workspace:
        workspace.config = Config(
            agent=replace(AgentConfig(), name="Walker"),
            fetch=FetchConfig(delay_seconds=0.0, allow_private=True),
        )
        yield workspace


def _forage(workspace: Workspace, start: str) -> int:
    run = open_run(workspace, Order(strategy="breadth-first"), RunLimits(5), [Site(start)], time.time())
    asyncio.run(
        run_worker(workspace, run, workspace.config, on_start=lambda _: None, on_visit=lambda _: None)
    )
    return run.id


def test_links_that_were_not_followed_are_not_counted_as_waiting(workspace: Workspace, start: str) -> None:
    assert FrontierSizes().sizes(workspace, _forage(workspace, start)) == [0]


def test_a_walk_is_read_again_under_the_same_name(workspace: Workspace, start: str) -> None:
    run_id = _forage(workspace, start)
    assert read_site(workspace, run_id, start).pages[0].nofollow
    assert read_path(workspace, run_id, start, 0).pages[0].nofollow


def test_a_page_is_explained_under_the_same_name(workspace: Workspace, start: str) -> None:
    assert fetch_path(workspace.config, [start]).steps[0][1].nofollow
    _forage(workspace, start)
    known = find_path(workspace, start)
    assert known is not None
    assert known.steps[0][1].nofollow
