"""Teaching in tests: a real headless browser, a real workspace, and a hand that clicks and presses keys."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import BrowserContext

from trailmark.errors import UsageError
from trailmark.net.browser import BrowserOptions, find_browser, open_browser
from trailmark.recording.hand import Hand
from trailmark.recording.recorder import Ending, Recorder
from trailmark.recording.saver import Saver
from trailmark.recording.session import Session, Way
from trailmark.recording.teaching import open_session, start_urls
from trailmark.store.trails import TrailStore
from trailmark.trail import Trail
from trailmark.workspace import Workspace


def _missing() -> str:
    try:
        find_browser()
    except UsageError as error:
        return str(error)
    return ""


needs_browser = [pytest.mark.browser, pytest.mark.skipif(bool(_missing()), reason=_missing())]


@dataclass
class Lesson:
    """A session under way."""

    context: BrowserContext
    recorder: Recorder
    saver: Saver
    hand: Hand
    recording: asyncio.Task[Ending]

    @property
    def session(self) -> Session:
        return self.saver.session

    @property
    def urls(self) -> list[str]:
        """Paths of the pages met, in order."""
        return ["/" + node.url.split("/", 3)[3] for node in self.session.nodes]

    def way(self) -> list[str]:
        """Paths of the pages on the trail to what is shown."""
        here = self.hand.here
        return ["/" + node.url.split("/", 3)[3] for node in self.session.path(here.number)] if here else []

    async def ask(self, expression: str) -> Any:
        return await self.hand.tab.ask(f"trailmark.{expression}")

    async def message(self, part: str) -> None:
        """Until the bar says something with `part` in it."""
        said = ""
        for _ in range(500):
            said = await self.ask("message()") or ""
            if part in said:
                return
            await asyncio.sleep(0.02)
        raise AssertionError(f"The bar says {said!r}, not {part!r}.")


Story = Callable[[Lesson], Awaitable[None]]


def teach(folder: Path, sites: list[str], story: Story, *, way: Way = "trails", profile: Path | None = None) -> Session:
    """Live through a story in a browser, and give the session as it was left."""
    workspace = Workspace.open(folder) if (folder / "trailmark.toml").exists() else Workspace.create(folder)
    with workspace:
        return asyncio.run(_teach(workspace, sites, story, way, profile))


async def _teach(
    workspace: Workspace, sites: list[str], story: Story, way: Way, profile: Path | None
) -> Session:
    saver = Saver(workspace, open_session(workspace, start_urls(sites), way, "Ann"))
    async with open_browser(BrowserOptions(headless=True, profile=profile)) as context:
        recorder = Recorder(context, saver)
        recording = asyncio.ensure_future(recorder.run())
        hand = Hand(recorder, saver)
        try:
            await story(Lesson(context, recorder, saver, hand, recording))
            if recording.done():
                recording.result()
        finally:
            recording.cancel()
            await asyncio.gather(recording, return_exceptions=True)
            saver.close()
    return saver.session


def trails_of(folder: Path) -> list[Trail]:
    with Workspace.open(folder) as workspace:
        return TrailStore(workspace.database).trails()


def walked(trail: Trail) -> list[tuple[str, str, str]]:
    """Path, label and link text of each step."""
    return [
        ("/" + step.page.url.split("/", 3)[3], step.label, step.link.text if step.link else "")
        for step in trail.steps
    ]
