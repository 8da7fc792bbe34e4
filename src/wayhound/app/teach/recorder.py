"""Where browser and session meet: what happens in the tabs is told to the session, and the bar shows it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

from wayhound.app.teach import troubles
from wayhound.app.teach.bar_state import bar_state, words_for_mark
from wayhound.app.teach.browser_events import (
    BrowserGone,
    Crashed,
    Download,
    Finished,
    FrameMoved,
    Gone,
    NewPage,
    Signal,
)
from wayhound.app.teach.causes import clicked_link, is_way_on, link_that_led, link_to
from wayhound.app.teach.events import (
    Arrived,
    Clicked,
    Closed,
    Done,
    Led,
    Marked,
    NextSite,
    Stayed,
    TabOpened,
    Undone,
)
from wayhound.app.teach.saver import Saver, SeenPage
from wayhound.app.teach.session import Node, tidy_label
from wayhound.app.teach.tab import BarScript, Loaded, Moved, Place, Said, Tab
from wayhound.media import is_page_type, resolve_type
from wayhound.page import Page
from wayhound.trail import FAIL, GOAL
from wayhound.url import normalise

if TYPE_CHECKING:
    from playwright.async_api import BrowserContext, Frame
    from playwright.async_api import Download as FileDownload
    from playwright.async_api import Page as BrowserPage

Ending = Literal["done", "closed"]


class Recorder:
    """Records one session in one browser. `run` ends when the teacher is done or the browser is gone."""

    def __init__(
        self, context: BrowserContext, saver: Saver, on_change: Callable[[], None] = lambda: None
    ) -> None:
        self._context = context
        self._saver = saver
        self._session = saver.session
        self._on_change = on_change
        self._script = BarScript(self._session.way)
        self._signals: asyncio.Queue[Signal] = asyncio.Queue()
        self._tabs: dict[BrowserPage, Tab] = {}
        self._next_tab = self._session.next_tab()
        self._loading: set[asyncio.Task[None]] = set()
        self._messages: dict[int, tuple[str, str]] = {}

    async def run(self) -> Ending:
        for page in self._context.pages:
            self._on_page(page)
        self._context.on("page", self._on_page)
        self._context.on("close", self._on_close)
        try:
            if not await self._begin():
                return "closed"
            return await self._listen()
        finally:
            self._context.remove_listener("page", self._on_page)
            self._context.remove_listener("close", self._on_close)
            self._saver.close()
            for task in self._loading:
                task.cancel()

    async def _listen(self) -> Ending:
        from playwright.async_api import Error  # noqa: PLC0415 - an extra

        while not self._session.done:
            signal = await self._signals.get()
            if isinstance(signal, BrowserGone):
                return "closed"
            try:
                await self._handle(signal)
            except Error:  # the page is gone in the middle of it; what follows will say so
                continue
            self._on_change()
        return "done"

    def _on_page(self, page: BrowserPage) -> None:
        self._signals.put_nowait(NewPage(page))

    def _on_close(self, _: BrowserContext) -> None:
        self._signals.put_nowait(BrowserGone())

    @property
    def tabs(self) -> list[Tab]:
        """Those that are open, the oldest first."""
        return list(self._tabs.values())

    @property
    def _is_free(self) -> bool:
        return self._session.way == "free"

    # What happens

    async def _begin(self) -> bool:
        """Open the first page; false when the browser was closed before that could be done."""
        from playwright.async_api import Error  # noqa: PLC0415 - an extra

        try:
            page = self._context.pages[0] if self._context.pages else await self._context.new_page()
            tab = await self._add_tab(page)
        except Error:
            return False
        self._go(tab, self._session.url_to_go_on())
        return True

    async def _handle(self, signal: Signal) -> None:
        match signal:
            case Said(tab, message):
                await self._on_said(tab, message, signal)
            case Moved():
                await self._on_moved(signal)
            case NewPage(page):
                await self._on_new_page(page)
            case Gone(tab):
                self._drop(tab)
            case Crashed(tab):
                await self._on_crash(tab)
            case Download():
                await self._on_download(signal)
            case FrameMoved(tab, frame):
                await tab.attach_frame(frame)
            case BrowserGone() | Finished():
                pass  # `_listen` sees to these

    async def _on_said(self, tab: Tab, message: dict[str, Any], said: Said) -> None:
        match message.get("say"):
            case "hello":
                if (
                    message.get("top") and message.get("url") != "about:blank"
                ):  # what comes next will say hello
                    tab.met_bar(said.session, said.context)
                    await self._show(tab)
            case "seen":
                await self._on_seen(tab, message)
            case "click":
                await self._on_click(tab, message)
            case "do":
                await self._on_do(tab, message)

    async def _on_seen(self, tab: Tab, message: dict[str, Any]) -> None:
        seen = SeenPage.told(message)
        node = self._session.at(tab.id)
        if seen is None or node is None or node.url != seen.url:
            return
        if not message.get("top") and normalise(tab.page.url) == seen.url:
            return  # viewers of documents show them again in a frame of theirs
        waited = self._saver.waits_for(node.number)
        self._saver.see(node.number, seen)
        await self._keep_original(tab, node)
        if waited and not self._saver.waits_for(node.number):
            await self._say(tab, words_for_mark(self._session, node, node.label))
        else:
            await self._say_what_was_seen(tab, node, seen)

    async def _say_what_was_seen(self, tab: Tab, node: Node, seen: SeenPage) -> None:
        loaded = tab.loaded(node.url)
        trouble = troubles.answered(loaded.status if loaded else 200, seen.asks_to_log_in)
        if trouble:
            self._messages[tab.id] = (trouble, "trouble")
        elif not node.label and not is_page_type(self._saver.pages[node.number].content_type):
            self._messages[tab.id] = (
                troubles.shown_document(troubles.file_name(node.url), free=self._is_free),
                "ask",
            )
        await self._show(tab)

    async def _on_click(self, tab: Tab, message: dict[str, Any]) -> None:
        seen = SeenPage.told(message)
        url = normalise(str(message.get("href", "")))
        if seen is None or not url:
            return
        if not message.get("top"):
            await self._enter_frame(tab, seen.url)
        page = self._see(tab, seen)
        if page is not None:
            link = clicked_link(page, url, str(message.get("text", "")), int(message.get("nth", 0)))
            self._saver.tell(Clicked(tab.id, link))

    def _see(self, tab: Tab, seen: SeenPage) -> Page | None:
        """Keep the page as it is seen now, and read it."""
        node = self._session.at(tab.id)
        if node is None:
            return None
        if node.url == seen.url:
            self._saver.see(node.number, seen)
        return self._saver.page(node.number)

    async def _enter_frame(self, tab: Tab, url: str) -> None:
        """A frame is a page of its own, reached through the page around it, as a forage would reach it."""
        node = self._session.at(tab.id)
        if node is None or node.url == url:
            return
        place = await tab.place(node.url)
        around = self._saver.page(node.number)
        link = link_to(around, [url]) if around else None
        if link is not None or any(above.url == url for above in self._session.path(node.number)):
            self._saver.tell(Arrived(tab.id, place.entry, url, link))

    async def _on_moved(self, moved: Moved) -> None:
        tab, is_top = moved.tab, moved.is_top
        if is_top and not moved.within:
            tab.left_bar()
        if is_top and moved.failed_url:
            self._saver.tell(Stayed(tab.id))
            self._messages[tab.id] = (troubles.failed(tab.failure, moved.failed_url), "trouble")
            return
        address = normalise(moved.url)
        if not address:
            return
        place = await tab.place(address)
        if is_top or is_way_on(self._session, tab, place):
            # A frame's page was never typed in, whatever is told of the page around it.
            await self._arrive(tab, place if is_top else replace(place, typed=False))
        if moved.within:
            await tab.ask("wayhound.lookAgain()")

    async def _on_download(self, download: Download) -> None:
        """What was clicked is a document that the browser does not show. The page stays, the document is marked."""
        tab, url = download.tab, normalise(download.url)
        link = link_that_led(self._saver, tab, Place(0, url, typed=False, submitted=False)) if url else None
        if link is None:
            self._saver.tell(Stayed(tab.id))
            return await self._say(tab, troubles.no_link_to(download.name), "trouble")
        loaded, name = tab.loaded(url), download.name or troubles.file_name(url)
        media_type = resolve_type(loaded.content_type if loaded else "", name)
        self._saver.tell(Led(tab.id, url, link, media_type, name))
        return await self._say(tab, troubles.document(name, free=self._is_free), "ask")

    async def _arrive(self, tab: Tab, place: Place) -> None:
        before = self._session.at(tab.id)
        link = link_that_led(self._saver, tab, place)
        pages = len(self._session.nodes)
        self._saver.tell(Arrived(tab.id, place.entry, place.url, link))
        begun_anew = len(self._session.nodes) > pages and link is None and before is not None
        if begun_anew and place.url != normalise(self._session.sites[self._session.site]):
            self._messages[tab.id] = (troubles.NO_LINK, "plain")
        await self._show(tab)

    async def _keep_original(self, tab: Tab, node: Node) -> None:
        loaded: Loaded | None = tab.loaded(node.url)
        if loaded is not None and self._saver.pages[node.number].original is None:
            fetched = await loaded.body
            if fetched is not None:
                self._saver.keep_original(node.number, fetched)

    # What the teacher asks for

    async def _on_do(self, tab: Tab, message: dict[str, Any]) -> None:
        seen = SeenPage.told(message)
        if seen is not None:
            self._see(tab, seen)
        match message.get("do"):
            case "goal":
                await self.mark(tab, GOAL)
            case "fail":
                await self.mark(tab, FAIL)
            case "mark":
                await self.mark(tab, str(message.get("label", "")))
            case "open-marks":
                await tab.ask("wayhound.openMarks()")
            case "undo":
                await self.undo(tab)
            case "next":
                await self.next_site(tab)
            case "goto":
                self._go_to_page(tab, int(message.get("page", -1)))
            case "done":
                self.finish()

    async def mark(self, tab: Tab, text: str) -> None:
        node = self._session.here(tab.id)
        if node is None or (self._saver.knows(node.number) and self._saver.page(node.number) is None):
            return await self._say(tab, troubles.NOTHING_HERE, "trouble")
        try:
            label = tidy_label(text)
        except ValueError as error:
            return await self._say(tab, f"{error}.", "trouble")
        if self._is_free and label not in ("", GOAL):
            return await self._say(tab, troubles.ONLY_USEFUL, "trouble")
        if node.label != label:
            self._saver.tell(Marked(node.number, label))
        # A quick hand marks a page before it is drawn: the mark is given at once, the trail kept when it is.
        is_here = self._saver.knows(node.number)
        return await self._say(
            tab, words_for_mark(self._session, node, label) if is_here else troubles.COMING
        )

    async def undo(self, tab: Tab) -> None:
        site = self._session.site
        self._saver.tell(Undone())
        if self._session.site != site:
            self._go(tab, self._session.url_to_go_on())
        await self._say(tab, "Taken back.")

    async def next_site(self, tab: Tab) -> None:
        if not self._session.has_next_site:
            return await self._say(tab, troubles.last_site(free=self._is_free))
        self._saver.tell(NextSite())
        self._go(tab, self._session.sites[self._session.site])
        return None

    def finish(self) -> None:
        """End the session; `run` returns soon after."""
        if not self._session.done:
            self._saver.tell(Done())
            self._signals.put_nowait(Finished())

    def _go_to_page(self, tab: Tab, number: int) -> None:
        if 0 <= number < len(self._session.nodes):
            self._go(tab, self._session.nodes[number].url)

    # Tabs

    async def _on_new_page(self, page: BrowserPage) -> None:
        if page in self._tabs or page.is_closed():
            return
        opener = await page.opener()
        tab = await self._add_tab(page)
        if opener in self._tabs:
            self._saver.tell(TabOpened(tab.id, self._tabs[opener].id))
        address = normalise(page.url)
        if address:  # it was there before we were
            await self._arrive(tab, await tab.place(address))

    async def _add_tab(self, page: BrowserPage) -> Tab:
        tab = Tab(self._next_tab, page, self._script, self._signals.put_nowait)
        self._next_tab += 1
        self._tabs[page] = tab
        page.on("close", lambda _: self._signals.put_nowait(Gone(tab)))
        page.on("crash", lambda _: self._signals.put_nowait(Crashed(tab)))
        page.on("download", lambda it: self._on_file(tab, it))
        page.on("framenavigated", lambda frame: self._on_frame(tab, frame))
        await tab.attach()
        return tab

    def _on_frame(self, tab: Tab, frame: Frame) -> None:
        if frame.parent_frame is not None:
            self._signals.put_nowait(FrameMoved(tab, frame))

    def _on_file(self, tab: Tab, file: FileDownload) -> None:
        self._signals.put_nowait(Download(tab, file.url, file.suggested_filename))

    def _drop(self, tab: Tab) -> None:
        if self._tabs.pop(tab.page, None) is not None:
            self._saver.tell(Closed(tab.id))

    async def _on_crash(self, tab: Tab) -> None:
        """A crashed tab cannot be used again: another takes its place."""
        node = self._session.at(tab.id)
        self._drop(tab)
        fresh = await self._add_tab(await self._context.new_page())
        self._messages[fresh.id] = (troubles.CRASHED, "trouble")
        self._go(fresh, node.url if node else self._session.url_to_go_on())
        self._spawn(tab.page.close())  # which may take for ever

    def _go(self, tab: Tab, url: str) -> None:
        self._spawn(tab.go(url))

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.ensure_future(work)
        self._loading.add(task)
        task.add_done_callback(self._loading.discard)

    # The bar

    async def _say(self, tab: Tab, message: str, tone: str = "plain") -> None:
        self._messages[tab.id] = (message, tone)
        for each in self.tabs:
            await self._show(each)

    async def _show(self, tab: Tab) -> None:
        if not tab.has_bar:  # it will say hello, and hear all then
            return
        message, tone = self._messages.pop(tab.id, ("", ""))
        await tab.show(bar_state(self._saver, tab.id) | {"message": message, "tone": tone})
