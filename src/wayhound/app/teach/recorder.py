"""Record a teaching session in a browser: signals of the tabs become events of the session, shown in the bar."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, cast, get_args

from wayhound.app.teach import bar
from wayhound.app.teach.bar import Action, Bars, TeachActions
from wayhound.app.teach.browser_tabs import (
    BrowserClosed,
    BrowserTabs,
    Downloaded,
    FrameNavigated,
    PageOpened,
    SessionFinished,
    Signal,
    TabClosed,
    TabCrashed,
)
from wayhound.app.teach.saver import Saver
from wayhound.app.teach.seen_pages import SeenPage
from wayhound.app.teach.session import (
    Arrived,
    Clicked,
    Closed,
    DocumentLinked,
    NavigationFailed,
    PageNode,
    Session,
    TabOpened,
)
from wayhound.app.teach.tab import BarMessage, BarScript, HistoryEntry, Navigated, Tab
from wayhound.media import is_page_type, resolve_type
from wayhound.page import Link, Page
from wayhound.text.words import words
from wayhound.url import normalise

if TYPE_CHECKING:
    from playwright.async_api import BrowserContext
    from playwright.async_api import Page as BrowserPage

Ending = Literal["done", "closed"]


class Recorder:
    """Records one session in one browser. `run` ends when the teacher is done or the browser was closed."""

    def __init__(
        self,
        context: BrowserContext,
        saver: Saver,
        on_change: Callable[[], None] = lambda: None,
        *,
        back: bool = False,
    ) -> None:
        """`back` adds a button to the bar, for browsers that are shown without their own."""
        self._saver = saver
        self._session = saver.session
        self._on_change = on_change
        self._tabs = BrowserTabs(context, BarScript(self._session.mode, back=back), self._session.next_tab())
        self._bars = Bars(saver, self._tabs)
        self.actions = TeachActions(saver, self._tabs, self._bars)

    @property
    def tabs(self) -> list[Tab]:
        """Open tabs, the oldest first."""
        return list(self._tabs)

    async def run(self) -> Ending:
        self._tabs.listen()
        try:
            if not await self._open_first_page():
                return "closed"
            return await self._process_signals()
        finally:
            self._tabs.stop()
            self._saver.close()

    async def _open_first_page(self) -> bool:
        """Return False if the browser was closed before the page could be opened."""
        from playwright.async_api import Error  # noqa: PLC0415 - an extra

        try:
            tab = await self._tabs.open()
        except Error:
            return False
        self._tabs.go(tab, self._session.resume_url())
        return True

    async def _process_signals(self) -> Ending:
        from playwright.async_api import Error  # noqa: PLC0415 - an extra

        while not self._session.done:
            signal = await self._tabs.next_signal()
            if isinstance(signal, BrowserClosed):
                return "closed"
            try:
                await self._handle(signal)
            except Error:  # the page went away meanwhile, which arrives as a signal of its own
                continue
            self._on_change()
        return "done"

    async def _handle(self, signal: Signal) -> None:
        match signal:
            case BarMessage():
                await self._on_bar_message(signal)
            case Navigated():
                await self._on_navigated(signal)
            case PageOpened(page):
                await self._on_page_opened(page)
            case TabClosed(tab):
                self._remove(tab)
            case TabCrashed(tab):
                await self._on_crash(tab)
            case Downloaded():
                await self._on_download(signal)
            case FrameNavigated(tab, frame):
                await tab.attach_frame(frame)
            case BrowserClosed() | SessionFinished():
                pass  # handled by `_process_signals`

    # Messages of the bar

    async def _on_bar_message(self, signal: BarMessage) -> None:
        tab, message = signal.tab, signal.message
        match message.get("say"):
            case "hello":
                if (
                    message.get("top") and message.get("url") != "about:blank"
                ):  # the next document reports too
                    tab.bar_ready(signal.session, signal.context)
                    await self._bars.update(tab)
            case "seen":
                await self._on_seen(tab, message)
            case "click":
                await self._on_click(tab, message)
            case "do":
                await self._on_button(tab, message)

    async def _on_seen(self, tab: Tab, message: dict[str, Any]) -> None:
        seen = SeenPage.from_message(message)
        node = self._session.page_shown(tab.id)
        if seen is None or node is None or node.url != seen.url:
            return
        if not message.get("top") and normalise(tab.page.url) == seen.url:
            return  # document viewers show the document again in a frame of theirs
        was_pending = self._saver.is_pending(node.number)
        self._saver.save_seen(node.number, seen)
        await self._save_original(tab, node)
        if was_pending and not self._saver.is_pending(node.number):
            await self._bars.say(tab, bar.mark_saved(self._session, node, node.label))
        else:
            await self._report_seen(tab, node, seen)

    async def _report_seen(self, tab: Tab, node: PageNode, seen: SeenPage) -> None:
        response = tab.response(node.url)
        problem = bar.response_error(response.status if response else 200, has_login=seen.has_login)
        if problem:
            self._bars.queue(tab, problem, "trouble")
        elif not node.label and not is_page_type(self._saver.pages[node.number].content_type):
            free = self._session.mode == "free"
            self._bars.queue(tab, bar.shown_document(bar.file_name(node.url), free=free), "ask")
        await self._bars.update(tab)

    async def _save_original(self, tab: Tab, node: PageNode) -> None:
        response = tab.response(node.url)
        if response is not None and self._saver.pages[node.number].original is None:
            fetched = await response.body
            if fetched is not None:
                self._saver.save_original(node.number, fetched)

    async def _on_click(self, tab: Tab, message: dict[str, Any]) -> None:
        """Remember the link that was clicked, or the button, whose address is that of the page it leads to."""
        seen = SeenPage.from_message(message)
        url = normalise(str(message.get("href", "")))
        if seen is None or (message.get("href") and not url):
            return
        if not message.get("top"):
            await self._enter_frame(tab, seen.url)
        page = self._save_seen(tab, seen)
        if page is not None:
            link = clicked_link(page, url, str(message.get("text", "")), int(message.get("nth", 0)))
            self._saver.apply(Clicked(tab.id, link))

    def _save_seen(self, tab: Tab, seen: SeenPage) -> Page | None:
        """Save the page as it looks now, and return it parsed."""
        node = self._session.page_shown(tab.id)
        if node is None:
            return None
        if node.url == seen.url:
            self._saver.save_seen(node.number, seen)
        return self._saver.pages.read(node.number)

    async def _enter_frame(self, tab: Tab, url: str) -> None:
        """Make a frame a page of its own, linked from the page around it, as a forage would reach it."""
        node = self._session.page_shown(tab.id)
        if node is None or node.url == url:
            return
        entry = await tab.history_entry(node.url)
        around = self._saver.pages.read(node.number)
        link = link_to(around, [url]) if around else None
        if link is not None or any(above.url == url for above in self._session.path(node.number)):
            self._saver.apply(Arrived(tab.id, entry.entry, url, link))

    async def _on_button(self, tab: Tab, message: dict[str, Any]) -> None:
        seen = SeenPage.from_message(message)
        if seen is not None:
            self._save_seen(tab, seen)
        match message.get("do"):
            case "open-marks":
                await tab.evaluate("wayhound.openMarks()")
            case "value":
                text, name = str(message.get("text", "")), str(message.get("label", ""))
                await self.actions.mark_value(tab, name, text)
            case "goto":
                self.actions.go_to_page(tab, int(message.get("page", -1)))
            case str() as action if action in get_args(Action):
                await self.actions.perform(tab, cast("Action", action), str(message.get("label", "")))

    # Navigation

    async def _on_navigated(self, signal: Navigated) -> None:
        tab = signal.tab
        if signal.is_top and not signal.same_document:
            tab.bar_gone()
        if signal.is_top and signal.failed_url:
            self._saver.apply(NavigationFailed(tab.id))
            self._bars.queue(tab, bar.navigation_error(tab.failure, signal.failed_url), "trouble")
            return
        url = normalise(signal.url)
        if not url:
            return
        entry = await tab.history_entry(url)
        if signal.is_top:
            await self._arrive(tab, entry)
        elif is_followed(self._session, tab, entry):
            # The transition type is that of the page around the frame: a frame's URL is never typed in.
            await self._arrive(tab, replace(entry, typed=False))
        if signal.same_document:
            await tab.evaluate("wayhound.lookAgain()")

    async def _arrive(self, tab: Tab, entry: HistoryEntry) -> None:
        before = self._session.page_shown(tab.id)
        link = followed_link(self._saver, tab, entry)
        pages = len(self._session.nodes)
        self._saver.apply(Arrived(tab.id, entry.entry, entry.url, link))
        starts_trail = len(self._session.nodes) > pages and link is None and before is not None
        if starts_trail and entry.url != normalise(self._session.sites[self._session.site]):
            self._bars.queue(tab, bar.NO_LINK)
        after = self._session.page_shown(tab.id)
        if before is not None and after is not None and after.site != before.site and after.parent is None:
            await tab.forget_history()  # the pages before are of another site: marks there would be its own
        await self._bars.update(tab)

    async def _on_download(self, download: Downloaded) -> None:
        """Offer a document that the browser does not show to be marked, while the page with the link stays."""
        tab, url = download.tab, normalise(download.url)
        link = followed_link(self._saver, tab, HistoryEntry(0, url, False, False)) if url else None
        clicked = self._session.clicked(tab.id)
        if link is None or (clicked is not None and not clicked.url):  # a forage clicks for no downloads
            self._saver.apply(NavigationFailed(tab.id))
            return await self._bars.say(tab, bar.unlinked_download(download.name), "trouble")
        response, name = tab.response(url), download.name or bar.file_name(url)
        media_type = resolve_type(response.content_type if response else "", name)
        self._saver.apply(DocumentLinked(tab.id, url, link, media_type, name))
        free = self._session.mode == "free"
        return await self._bars.say(tab, bar.linked_document(name, free=free), "ask")

    # Tabs

    async def _on_page_opened(self, page: BrowserPage) -> None:
        if self._tabs.get(page) is not None or page.is_closed():
            return
        opener = self._tabs.get(await page.opener())
        tab = await self._tabs.add(page)
        if opener is not None:
            self._saver.apply(TabOpened(tab.id, opener.id))
        url = normalise(page.url)
        if url:  # it navigated before the tab was attached
            await self._arrive(tab, await tab.history_entry(url))

    def _remove(self, tab: Tab) -> None:
        if self._tabs.remove(tab):
            self._saver.apply(Closed(tab.id))

    async def _on_crash(self, tab: Tab) -> None:
        node = self._session.page_shown(tab.id)
        self._remove(tab)
        new_tab = await self._tabs.replace(tab)
        self._bars.queue(new_tab, bar.TAB_CRASHED, "trouble")
        self._tabs.go(new_tab, node.url if node else self._session.resume_url())


# Links: which one led to the page that a tab shows, through redirects, scripts and frames


def clicked_link(page: Page, url: str, text: str, nth: int) -> Link:
    """Return the link of a page to `url` with that text; of several, the `nth` to that URL.

    A link that the page reader does not find, such as one in a shadow tree, is made from what is known of it.
    """
    links = [link for link in page.links if url and link.url == url and link.kind in ("a", "area")]
    if not links:
        return Link(url, text)
    candidate = links[nth] if 0 <= nth < len(links) else links[0]
    if _has_text(candidate, text):
        return candidate
    return next((link for link in links if _has_text(link, text)), candidate)


def link_to(page: Page, urls: Iterable[str]) -> Link | None:
    """Return the first link of any kind to one of `urls`."""
    wanted = set(urls)
    return next((link for link in page.links if link.url in wanted), None)


def _has_text(link: Link, text: str) -> bool:
    expected = words(text)
    return words(link.text)[: len(expected)] == expected


def followed_link(saver: Saver, tab: Tab, entry: HistoryEntry) -> Link | None:
    """Return the link that led from the page before to a history entry; None for typed addresses."""
    before = saver.session.page_shown(tab.id)
    if before is None or entry.typed:
        return None
    urls = _redirect_chain(tab, entry.url)
    clicked = saver.session.clicked(tab.id)
    if clicked is not None and clicked.url in urls:
        return clicked
    page = saver.pages.read(before.number)
    link = link_to(page, urls) if page else None
    if link is not None or entry.submitted or clicked is None:
        return link
    return clicked if clicked.url else replace(clicked, url=entry.url)


def is_followed(session: Session, tab: Tab, entry: HistoryEntry) -> bool:
    """Return True if the teacher clicked for what a frame shows, or went back to it: advertisements load unasked."""
    clicked = session.clicked(tab.id)
    return session.has_shown(tab.id, entry.entry, entry.url) or (
        clicked is not None and clicked.url in _redirect_chain(tab, entry.url)
    )


def _redirect_chain(tab: Tab, url: str) -> tuple[str, ...]:
    """Return the URL and those that redirected to it."""
    response = tab.response(url)
    return (url, *response.urls) if response else (url,)
