"""A teacher's hand: moves the real mouse and presses real keys, then waits until it was taken notice of."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from wayhound.app.teach.recorder import Recorder
from wayhound.app.teach.saver import Saver
from wayhound.app.teach.session import Node
from wayhound.app.teach.tab import Tab
from wayhound.trail import FAIL, GOAL
from wayhound.url import normalise

if TYPE_CHECKING:
    from playwright.async_api import Locator

KEYS = {"goal": "G", "fail": "X", "mark": "M", "undo": "Z", "next": "N", "done": "D", "dock": "B"}
PATIENCE_SECONDS = 60.0  # machines that play lessons may be busy
PAUSE_SECONDS = 0.02


class Hand:
    """Works in the newest tab that is open."""

    def __init__(self, recorder: Recorder, saver: Saver, patience_seconds: float = PATIENCE_SECONDS) -> None:
        self._recorder = recorder
        self._saver = saver
        self._patience_seconds = patience_seconds

    @property
    def tab(self) -> Tab:
        return self._recorder.tabs[-1]

    @property
    def here(self) -> Node | None:
        """The page that the session believes to be shown, or the document that is at hand."""
        return self._saver.session.here(self.tab.id) if self._recorder.tabs else None

    async def until(self, what: Callable[[], object], hope: str) -> None:
        """Wait for something to become true."""

        async def look() -> object:
            return what()

        await self._patiently(look, hope)

    async def _patiently(self, look: Callable[[], Awaitable[object]], hope: str) -> None:
        for _ in range(int(self._patience_seconds / PAUSE_SECONDS)):
            if await look():
                return
            await asyncio.sleep(PAUSE_SECONDS)
        message = await self.tab.ask("wayhound.message()") if self._recorder.tabs else ""
        raise TimeoutError(f"{hope} was waited for in vain. {message or ''}".strip())

    async def arrived(self) -> None:
        """Until the page that is shown was seen and saved, and its bar knows it."""
        await self.until(self._is_saved, "a page")
        await self._until_drawn()

    def _is_saved(self) -> bool:
        node = self.here
        return node is not None and self._saver.knows(node.number)

    async def click(self, text: str) -> None:
        """Click the link with that text, in the page or in one of its frames."""
        before, tabs = self.here, len(self._recorder.tabs)
        await (await self._link(text)).click(timeout=1000 * self._patience_seconds)
        await self.until(lambda: self._has_moved(before, tabs), f"the page behind {text}")
        await self.arrived()

    def _has_moved(self, before: Node | None, tabs: int) -> bool:
        """The click was told, and led somewhere; a frame becomes a page by being clicked in."""
        if len(self._recorder.tabs) > tabs:
            return True
        return self.here != before and self._saver.session.clicked(self.tab.id) is None

    async def _link(self, text: str) -> Locator:
        found: list[Locator] = []

        async def look() -> bool:
            for frame in self.tab.page.frames:
                for link in (
                    frame.get_by_role("link", name=text, exact=True),
                    frame.locator("a, area").filter(has_text=text),
                ):
                    if await link.count():
                        found.append(link.first)
                        return True
            return False

        await self._patiently(look, f"a link that says {text}")
        return found[0]

    async def press(self, what: str) -> None:
        """Press the key of a button of the bar."""
        session = self._saver.session
        node, site, marks = self.here, session.site, session.marks
        await self.tab.page.keyboard.press(f"Alt+Shift+Key{KEYS[what]}")
        match what:
            case "goal" | "fail":
                label = GOAL if what == "goal" else FAIL
                assert node is not None
                await self.until(lambda: session.nodes[node.number].label == label, f"the mark {label}")
            case "undo":
                await self.until(lambda: session.marks < marks or session.site != site, "the mark to go")
            case "next":
                await self.until(lambda: session.site != site and self._at_start(), "the next site")
                await self.arrived()
            case "done":
                await self.until(lambda: session.done, "the end")

    def _at_start(self) -> bool:
        return self.here is not None and self.here.site == self._saver.session.site

    async def mark(self, label: str) -> None:
        """Open the labels by key, type one, and press Enter."""
        node, page = self.here, self.tab.page
        assert node is not None
        await page.keyboard.press(f"Alt+Shift+Key{KEYS['mark']}")
        await self._place(".marks input")
        await page.keyboard.type(label)
        await page.keyboard.press("Enter")
        nodes = self._saver.session.nodes
        await self.until(lambda: nodes[node.number].label == label, f"the mark {label}")

    async def _until_drawn(self) -> None:
        async def look() -> object:
            return await self.tab.ask("wayhound.knowsPage()")

        await self._patiently(look, "the bar")

    async def _place(self, selector: str) -> tuple[float, float]:
        """Where a part of the bar stands, once it is shown."""
        found: list[tuple[float, float]] = []

        async def look() -> bool:
            place = await self.tab.ask(f"wayhound.place({selector!r})")
            if place and place["width"]:
                found.append((place["x"], place["y"]))
            return bool(found)

        await self._patiently(look, f"{selector} in the bar")
        return found[0]

    async def point(self, selector: str) -> None:
        """Click a part of the bar with the mouse."""
        x, y = await self._place(selector)
        await self.tab.page.mouse.click(x, y)

    async def back(self) -> None:
        await self._move(self.tab.back())

    async def forward(self) -> None:
        await self._move(self.tab.page.go_forward(wait_until="commit"))

    async def _move(self, moving: Awaitable[object]) -> None:
        before = self.here
        await moving
        await self.until(lambda: self.here != before, "another page")
        shown = normalise(self.tab.page.url)
        await self.until(lambda: self.here is not None and self.here.url == shown, "the page before")
        await self._until_drawn()
