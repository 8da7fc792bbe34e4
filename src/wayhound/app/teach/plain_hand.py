"""Plays a lesson where there is no browser: links are followed by plain fetches, so scripts have no say."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from wayhound.app.teach.events import Arrived, Clicked, Done, Marked, NextSite, Undone
from wayhound.app.teach.playback import Script, walk
from wayhound.app.teach.saver import Saver, SeenPage
from wayhound.app.teach.teaching import Taught, teacher_name
from wayhound.fetched import Fetched
from wayhound.net.http import HttpFetcher
from wayhound.page import Link, Page, to_page
from wayhound.pages.reader import read_page
from wayhound.trail import FAIL, GOAL
from wayhound.workspace import Workspace

TAB = 1


async def play_plainly(
    script: Script, sites: tuple[str, ...], workspace: Workspace, say: Callable[[str], None]
) -> Taught:
    """Teach what the script shows on `sites` of this machine."""
    record = workspace.stores.teaching.begin(script.way, sites, teacher_name(), time.time())
    saver = Saver(workspace, record)
    try:
        async with HttpFetcher(allow_private=True) as fetcher:
            await walk(script.steps, PlainHand(fetcher, saver), say)
    finally:
        saver.close()
    return Taught.by(saver, "done")


@dataclass
class PlainHand:
    """Does what a hand does, on one tab that is only thought of."""

    fetcher: HttpFetcher
    saver: Saver
    _history: list[Page] = field(default_factory=list)
    _entries: int = 0

    async def arrived(self) -> None:
        await self._open(self.saver.session.url_to_go_on(), None)

    async def click(self, text: str) -> None:
        link = _link_that_says(self._history[-1], text)
        self.saver.tell(Clicked(TAB, link))
        await self._open(link.url, link)

    async def press(self, what: str) -> None:
        match what:
            case "goal" | "fail":
                self._label(GOAL if what == "goal" else FAIL)
            case "undo":
                self.saver.tell(Undone())
            case "next":
                self.saver.tell(NextSite())
                self._history.clear()
                await self._open(self.saver.session.url_to_go_on(), None)
            case "done":
                self.saver.tell(Done())

    async def mark(self, label: str) -> None:
        self._label(label)

    async def back(self) -> None:
        self._history.pop()
        self._entries += 1
        self.saver.tell(Arrived(TAB, self._entries, self._history[-1].url))

    def _label(self, label: str) -> None:
        here = self.saver.session.at(TAB)
        assert here is not None
        self.saver.tell(Marked(here.number, label))

    async def _open(self, url: str, link: Link | None) -> None:
        answer = await self.fetcher.fetch(url)
        if isinstance(answer, Fetched) and answer.location:
            answer = await self.fetcher.fetch(answer.location)
        if not isinstance(answer, Fetched) or not answer.ok:
            raise TimeoutError(f"{url} does not answer")
        page = to_page(read_page(answer.url, answer.body, answer.content_type, answer.charset))
        if page is None:
            raise TimeoutError(f"{url} is empty")
        self._entries += 1
        self._history.append(page)
        self.saver.tell(Arrived(TAB, self._entries, answer.url, link))
        here = self.saver.session.at(TAB)
        assert here is not None
        html = "" if page.is_document else answer.body.decode(page.charset or "utf-8", "replace")
        self.saver.see(here.number, SeenPage(answer.url, page.title, html, page.content_type))
        if page.is_document:
            self.saver.keep_original(here.number, answer)


def _link_that_says(page: Page, text: str) -> Link:
    """The first whose text is this; else the first that holds it."""
    for link in (*(each for each in page.links if each.text == text),
                 *(each for each in page.links if text in each.text)):  # fmt: skip
        return link
    raise TimeoutError(f"a link that says {text} is not there")
