"""The open tabs of the teaching browser, and the queue of signals that they send to the recorder."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from wayhound.app.teach.tab import BarMessage, BarScript, Navigated, Tab

if TYPE_CHECKING:
    from playwright.async_api import BrowserContext, Frame
    from playwright.async_api import Download as FileDownload
    from playwright.async_api import Page as BrowserPage


@dataclass(frozen=True, slots=True)
class PageOpened:
    """A tab or window has opened."""

    page: BrowserPage


@dataclass(frozen=True, slots=True)
class TabClosed:
    """A tab was closed."""

    tab: Tab


@dataclass(frozen=True, slots=True)
class TabCrashed:
    """The document in a tab has crashed."""

    tab: Tab


@dataclass(frozen=True, slots=True)
class Downloaded:
    """A click led to a file that the browser would save instead of showing it."""

    tab: Tab
    url: str
    name: str


@dataclass(frozen=True, slots=True)
class FrameNavigated:
    """A frame shows another document, perhaps in another process than before."""

    tab: Tab
    frame: Frame


@dataclass(frozen=True, slots=True)
class BrowserClosed:
    """The last window was closed, or the browser was killed."""


@dataclass(frozen=True, slots=True)
class SessionFinished:
    """The teacher finished; wakes the recorder up."""


Signal = (
    BarMessage
    | Navigated
    | PageOpened
    | TabClosed
    | TabCrashed
    | Downloaded
    | FrameNavigated
    | BrowserClosed
    | SessionFinished
)


class BrowserTabs:
    """The tabs that are open, the oldest first."""

    def __init__(self, context: BrowserContext, script: BarScript, first_number: int) -> None:
        self._context = context
        self._script = script
        self._next_number = first_number
        self._tabs: dict[BrowserPage, Tab] = {}
        self._signals: asyncio.Queue[Signal] = asyncio.Queue()
        self._tasks: set[asyncio.Task[None]] = set()

    def __iter__(self) -> Iterator[Tab]:
        return iter(list(self._tabs.values()))

    def get(self, page: BrowserPage | None) -> Tab | None:
        return self._tabs.get(page) if page is not None else None

    def listen(self) -> None:
        """Start to receive signals from the browser, also for pages that are open already."""
        for page in self._context.pages:
            self._on_page(page)
        self._context.on("page", self._on_page)
        self._context.on("close", self._on_close)

    def stop(self) -> None:
        self._context.remove_listener("page", self._on_page)
        self._context.remove_listener("close", self._on_close)
        for task in self._tasks:
            task.cancel()

    async def next_signal(self) -> Signal:
        return await self._signals.get()

    def signal(self, signal: Signal) -> None:
        self._signals.put_nowait(signal)

    async def open(self) -> Tab:
        """Open a tab, or take the first that the browser has."""
        unused = [page for page in self._context.pages if page not in self._tabs]
        return await self.add(unused[0] if unused else await self._context.new_page())

    async def add(self, page: BrowserPage) -> Tab:
        tab = Tab(self._next_number, page, self._script, self.signal)
        self._next_number += 1
        self._tabs[page] = tab
        page.on("close", lambda _: self.signal(TabClosed(tab)))
        page.on("crash", lambda _: self.signal(TabCrashed(tab)))
        page.on("download", lambda download: self._on_download(tab, download))
        page.on("framenavigated", lambda frame: self._on_frame(tab, frame))
        await tab.attach()
        return tab

    def remove(self, tab: Tab) -> bool:
        """Forget a tab. Return False if it was not known."""
        return self._tabs.pop(tab.page, None) is not None

    async def replace(self, crashed: Tab) -> Tab:
        """Open a new tab in place of one that crashed, which cannot be used again."""
        tab = await self.add(await self._context.new_page())
        self._spawn(crashed.page.close())  # this may never return
        return tab

    def go(self, tab: Tab, url: str) -> None:
        """Start to load a page without waiting for it."""
        self._spawn(tab.go(url))

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _on_page(self, page: BrowserPage) -> None:
        self.signal(PageOpened(page))

    def _on_close(self, _: BrowserContext) -> None:
        self.signal(BrowserClosed())

    def _on_frame(self, tab: Tab, frame: Frame) -> None:
        if frame.parent_frame is not None:
            self.signal(FrameNavigated(tab, frame))

    def _on_download(self, tab: Tab, download: FileDownload) -> None:
        self.signal(Downloaded(tab, download.url, download.suggested_filename))
