"""A studio served on loopback over a workspace, and a client that came by its address."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest

from wayhound.page import Link, Page
from wayhound.studio.app import make_studio
from wayhound.trail import FAIL, GOAL, Step, Trail
from wayhound.web.app import running
from wayhound.workspace import Workspace

TOKEN = "a-token-for-tests"
_KEY = re.compile(r'name="form_key" value="([0-9a-f]+)"')


@dataclass
class Visitor:
    """A browser without JavaScript: follows redirects, keeps cookies, sends the forms that pages hold."""

    address: str
    client: httpx.Client = field(init=False)

    def __post_init__(self) -> None:
        # Without certificates, which take longer to load than a page: the studio is served by plain HTTP.
        self.client = httpx.Client(base_url=self.address, follow_redirects=True, timeout=120, verify=False)

    def get(self, path: str, status: int = 200) -> str:
        answer = self.client.get(path)
        assert answer.status_code == status, answer.text
        return answer.text

    def send(self, page: str, path: str, status: int = 200, **fields: Any) -> str:
        """Send a form of `page` to `path`."""
        found = _KEY.search(self.get(page))
        assert found is not None, f"{page} holds no form"
        answer = self.client.post(path, data={"form_key": found[1], **fields})
        assert answer.status_code == status, answer.text
        return answer.text

    def wait_for_job(self, path: str, seconds: float = 240) -> str:
        """The page when no job runs there any more."""
        end = time.monotonic() + seconds
        while 'data-state="running"' in (page := self.get(path)):
            assert time.monotonic() < end, "the job takes too long"
            time.sleep(0.2)
        return page


def page(url: str, title: str, *links: str) -> Page:
    return Page(
        url, title, tokens=tuple(title.lower().split()), links=tuple(Link(link, link[-8:]) for link in links)
    )


def small_trails(site: str) -> list[Trail]:
    start = page(site, "Home", f"{site}people", f"{site}news")
    people = page(f"{site}people", "Our people", f"{site}ann")
    ann = page(f"{site}ann", "Ann Example")
    news = page(f"{site}news", "News")
    return [
        Trail(
            site,
            (
                Step(start),
                Step(people, Link(people.url, "People"), "list"),
                Step(ann, Link(ann.url, "Ann"), GOAL),
            ),
        ),
        Trail(site, (Step(start), Step(news, Link(news.url, "News"), FAIL))),
    ]


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    with Workspace.create(tmp_path / "library") as made:
        for site in ("http://one.example/", "http://two.example/"):
            made.stores.trails.add_all(small_trails(site), time.time(), "test")
        yield made


@pytest.fixture
def folder(workspace: Workspace) -> Path:
    """Of the workspace that the studio serves."""
    return workspace.folder


@pytest.fixture
def address(folder: Path) -> Iterator[str]:
    with running(make_studio(folder, TOKEN)) as served:
        yield served


@pytest.fixture
def visitor(address: str) -> Iterator[Visitor]:
    coming = Visitor(address)
    with coming.client:
        coming.get(f"/?token={TOKEN}")
        yield coming
