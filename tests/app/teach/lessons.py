"""Teaching in tests: a real headless browser, a real workspace, and a hand that clicks and presses keys."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import pytest
from playwright.async_api import BrowserContext

from wayhound.app.teach.hand import Hand
from wayhound.app.teach.recorder import Ending, Recorder
from wayhound.app.teach.saver import Saver
from wayhound.app.teach.session import Session, TeachMode
from wayhound.app.teach.tab import Tab
from wayhound.app.teach.teaching import open_session, start_urls
from wayhound.errors import UsageError
from wayhound.net.browser import BrowserOptions, find_browser, open_browser
from wayhound.trail import Trail
from wayhound.workspace import Workspace

PATIENCE_SECONDS = 60.0  # machines that run tests are busy
LESSON_SECONDS = 280.0


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
        return await self.hand.tab.evaluate(f"wayhound.{expression}")

    async def answer(self, expression: str) -> Any:
        """The same, waited for: a bar that is being drawn, or is busy, has none."""
        for _ in range(3_000):
            if (said := await self.ask(expression)) is not None:
                return said
            await asyncio.sleep(0.02)
        raise AssertionError(f"The bar has no answer to {expression}.")

    async def one_bar(self) -> None:
        """Until there is exactly one bar."""
        bars = None
        for _ in range(3_000):
            if (bars := await self.ask("bars()")) == 1:
                return
            await asyncio.sleep(0.02)
        raise AssertionError(f"There are {bars} bars.")

    async def drawn(self, tab: Tab) -> None:
        """Until the bar of a tab knows the page: before that, keys go to nobody."""
        for _ in range(3_000):
            if await tab.evaluate("wayhound.knowsPage()"):
                return
            await asyncio.sleep(0.02)
        raise AssertionError("The bar does not know the page.")

    async def shown(self, selector: str) -> None:
        """Until an element of the bar is visible."""
        for _ in range(3_000):
            if (await self.ask(f"place({selector!r})") or {}).get("width"):
                return
            await asyncio.sleep(0.02)
        raise AssertionError(f"The bar does not show {selector}.")

    async def message(self, part: str) -> None:
        """Until the bar says something with `part` in it."""
        said = ""
        for _ in range(3_000):
            said = await self.ask("message()") or ""
            if part in said:
                return
            await asyncio.sleep(0.02)
        raise AssertionError(f"The bar says {said!r}, not {part!r}.")


Result = TypeVar("Result")
Story = Callable[[Lesson], Awaitable[None]]


class Classroom:
    """A browser that stays open for all lessons of a test run: starting one takes longer than most lessons."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self._browser = open_browser(BrowserOptions(headless=True))
        self._context = self._run(self._browser.__aenter__())

    def close(self) -> None:
        self._run(self._browser.__aexit__(None, None, None))
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def teach(self, folder: Path, sites: list[str], story: Story, mode: TeachMode = "trails") -> Session:
        return self._run(self._teach(folder, sites, story, mode))

    async def _teach(self, folder: Path, sites: list[str], story: Story, mode: TeachMode) -> Session:
        before = self._context.pages
        await self._context.new_page()
        for page in before:
            await page.close()
        with _workspace(folder) as workspace:
            return await live_through(workspace, self._context, sites, story, mode)

    def _run(self, work: Coroutine[Any, Any, Result]) -> Result:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(timeout=LESSON_SECONDS)


def teach_alone(folder: Path, sites: list[str], story: Story, profile: Path | None = None) -> Session:
    """A lesson in a browser of its own, for what harms a browser."""

    async def teach() -> Session:
        async with open_browser(BrowserOptions(headless=True, profile=profile)) as context:
            with _workspace(folder) as workspace:
                return await live_through(workspace, context, sites, story, "trails")

    return asyncio.run(teach())


async def live_through(
    workspace: Workspace, context: BrowserContext, sites: list[str], story: Story, mode: TeachMode
) -> Session:
    context.set_default_timeout(1000 * PATIENCE_SECONDS)
    saver = Saver(workspace, open_session(workspace, start_urls(sites), mode, "Ann"))
    recorder = Recorder(context, saver)
    recording = asyncio.ensure_future(recorder.run())
    try:
        await story(Lesson(context, recorder, saver, Hand(recorder, saver, PATIENCE_SECONDS), recording))
        if recording.done():
            recording.result()
    finally:
        recording.cancel()
        await asyncio.gather(recording, return_exceptions=True)
        saver.close()
    return saver.session


def _workspace(folder: Path) -> Workspace:
    return Workspace.open(folder) if (folder / "wayhound.toml").exists() else Workspace.create(folder)


def trails_of(folder: Path) -> list[Trail]:
    with Workspace.open(folder) as workspace:
        return workspace.stores.trails.trails()


def walked(trail: Trail) -> list[tuple[str, str, str]]:
    """Path, label and link text of each step."""
    return [
        ("/" + step.page.url.split("/", 3)[3], step.label, step.link.text if step.link else "")
        for step in trail.steps
    ]
