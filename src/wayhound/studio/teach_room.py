"""A browser without a window that a person teaches in through a page of the studio."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from wayhound.app.teach.recorder import Recorder
from wayhound.app.teach.session import Way
from wayhound.app.teach.tab import Tab
from wayhound.app.teach.teaching import Taught, open_session, start_urls, teach
from wayhound.app.teach.troubles import never_came
from wayhound.errors import UsageError, WayhoundError
from wayhound.net.browser import BrowserOptions, find_browser
from wayhound.net.screencast import Frame, Screencast
from wayhound.studio.teach_events import KeyEvent, MouseEvent, TeachEvent
from wayhound.trail import FAIL, GOAL
from wayhound.wording.quantities import count
from wayhound.workspace import Workspace

START_SECONDS = 120.0  # for a browser to start or to end, on machines that are busy
TAB_SECONDS = 0.02  # between looks for the first tab
LOOK_SECONDS = 0.3  # how soon another tab is shown

Deed = Literal["goal", "fail", "mark", "undo", "next", "done", "back"]
DEEDS: tuple[Deed, ...] = ("goal", "fail", "mark", "undo", "next", "done", "back")


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture of the browser, numbered from 1."""

    number: int
    frame: Frame


class TeachRoom:
    """One teaching session at a time, in the event loop of the server."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._recording: asyncio.Task[Taught] | None = None
        self._showing: asyncio.Task[None] | None = None
        self._recorder: Recorder | None = None
        self._cast: Screencast | None = None
        self._picture: Picture | None = None
        self._news = asyncio.Event()
        self.way: Way = "trails"  # of the session that is open, or was last

    @property
    def is_open(self) -> bool:
        return self._recording is not None and not self._recording.done()

    @property
    def picture(self) -> Picture | None:
        return self._picture

    def outcome(self) -> str:
        """How the last session ended, in a sentence; empty if there was none or it goes on."""
        if self._recording is None or not self._recording.done() or self._recording.cancelled():
            return ""
        error = self._recording.exception()
        if isinstance(error, WayhoundError):
            return str(error)
        if error is not None:
            return "The browser failed. What you showed before is saved; begin again to go on."
        taught = self._recording.result()
        left = "" if taught.ending == "done" else "The browser was closed; begin again to go on."
        return " ".join(filter(None, (_what_was_marked(taught), never_came(taught.never_seen), left)))

    async def begin(self, urls: list[str], way: Way = "trails") -> None:
        """Open the browser on these sites, or on those of the session that was not finished."""
        if self.is_open:
            return
        find_browser()
        self.way = way
        sites = start_urls(urls)
        began: asyncio.Future[Recorder] = asyncio.get_running_loop().create_future()
        self._picture = None
        self._recording = asyncio.create_task(self._teach(sites, began))
        waited: set[asyncio.Future[Any]] = {began, self._recording}
        await asyncio.wait(waited, timeout=START_SECONDS, return_when=asyncio.FIRST_COMPLETED)
        if not began.done():
            self._recording.cancel()
            raise UsageError(self.outcome() or "The browser did not start in time.")
        self._recorder = began.result()
        await self._tab_to_come(self._recorder)
        self._showing = asyncio.create_task(self._show(self._recorder))

    async def _teach(self, sites: tuple[str, ...], began: asyncio.Future[Recorder]) -> Taught:
        with Workspace.open(self._folder) as workspace:
            record = open_session(workspace, sites, self.way)
            self.way = "free" if record.way == "free" else "trails"
            return await teach(workspace, record, BrowserOptions(headless=True), began.set_result)

    async def close(self) -> None:
        """Close the browser, if one is open; what was shown is saved."""
        for task in (self._showing, self._recording):
            if task is not None and not task.done():
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)

    # Pictures out

    async def newer(self, number: int, seconds: float) -> Picture | None:
        """The next picture after that of this number; None if none comes in time."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while self.is_open and (self._picture is None or self._picture.number <= number):
                    self._news.clear()
                    await self._news.wait()
        found = self._picture
        return found if found is not None and found.number > number else None

    async def _show(self, recorder: Recorder) -> None:
        """The tab that was opened last, and when it is closed the one before."""
        from playwright.async_api import Error  # noqa: PLC0415 - an extra

        while self.is_open:
            tab = self._tab(recorder)
            if tab is None:
                await asyncio.sleep(LOOK_SECONDS)
                continue
            with suppress(Error):  # the tab was closed just now
                async with Screencast(tab.page) as cast:
                    self._cast = cast
                    await self._follow(cast, recorder, tab)
            self._cast = None
            await asyncio.sleep(0)
        self._news.set()

    async def _follow(self, cast: Screencast, recorder: Recorder, tab: Tab) -> None:
        while self.is_open and self._tab(recorder) is tab:
            try:
                frame = await asyncio.wait_for(anext(cast), LOOK_SECONDS)
            except TimeoutError:
                continue
            except StopAsyncIteration:
                return
            number = self._picture.number + 1 if self._picture else 1
            self._picture = Picture(number, frame)
            self._news.set()

    @staticmethod
    def _tab(recorder: Recorder) -> Tab | None:
        return recorder.tabs[-1] if recorder.tabs else None

    async def _tab_to_come(self, recorder: Recorder) -> Tab | None:
        """The tab that is shown, waited for while a browser starts or puts another in place of one that crashed."""
        with suppress(TimeoutError):
            async with asyncio.timeout(START_SECONDS):
                while self.is_open and not recorder.tabs:  # noqa: ASYNC110 - the recording may end as well
                    await asyncio.sleep(TAB_SECONDS)
        return self._tab(recorder) if self.is_open else None

    # Mouse, keys and marks in

    async def hand(self, events: list[TeachEvent]) -> None:
        """What the person did, in order. Places are shares of the picture's width and height."""
        if not self.is_open:
            return
        from playwright.async_api import Error  # noqa: PLC0415 - an extra

        with suppress(Error):  # the page is gone in the middle of it
            for event in events:
                if self._cast is None or self._picture is None:
                    return
                await self._pass_on(self._cast, self._picture.frame, event)

    async def _pass_on(self, cast: Screencast, frame: Frame, event: TeachEvent) -> None:
        match event:
            case MouseEvent():
                await cast.send_mouse(
                    event.kind,
                    event.x * frame.width,
                    event.y * frame.height,
                    button=event.button,
                    clicks=event.clicks,
                    modifiers=event.modifiers,
                    wheel=(event.wheel_x, event.wheel_y),
                )
            case KeyEvent():
                await cast.send_key(
                    event.kind,
                    event.key,
                    event.code,
                    text=event.text,
                    modifiers=event.modifiers,
                    key_code=event.key_code,
                )

    async def do(self, deed: Deed, label: str = "") -> None:
        """What the buttons beside the picture ask for."""
        recorder = self._recorder
        tab = await self._tab_to_come(recorder) if recorder is not None else None
        if recorder is None or tab is None:
            raise UsageError("No browser is open. Begin a session first.")
        doing: dict[Deed, Any] = {
            "goal": lambda: recorder.mark(tab, GOAL),
            "fail": lambda: recorder.mark(tab, FAIL),
            "mark": lambda: recorder.mark(tab, label),
            "undo": lambda: recorder.undo(tab),
            "next": lambda: recorder.next_site(tab),
            "back": tab.back,
        }
        if deed == "done":
            recorder.finish()
            await self._leave()
        else:
            await doing[deed]()

    async def _leave(self) -> None:
        """The recorder looks whether it is done when something happens: closing the browser is something."""
        if self._recording is not None:
            for tab in list(self._recorder.tabs) if self._recorder else []:
                await tab.page.close()
            await asyncio.wait({self._recording}, timeout=START_SECONDS)


def _what_was_marked(taught: Taught) -> str:
    if taught.record.way == "free":
        others = count(taught.failures, "other page was", "other pages were")
        return f"You marked {count(taught.goals, 'useful page')}; {others} looked at and left unmarked."
    failed = count(taught.failures, "way that leads", "ways that lead")
    return f"You marked {count(taught.goals, 'goal')} and {failed} nowhere."
