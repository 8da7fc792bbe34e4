"""Drive the teaching browser with real mouse and key events, waiting until each was recorded."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from wayhound.app.teach.recorder import Recorder
from wayhound.app.teach.saver import Saver
from wayhound.app.teach.session import PageNode
from wayhound.app.teach.tab import Tab
from wayhound.trail import FAIL, GOAL
from wayhound.url import normalise

if TYPE_CHECKING:
    from playwright.async_api import Locator

KEYS = {"goal": "G", "reject": "X", "mark": "M", "undo": "Z", "next": "N", "done": "D", "dock": "B"}
PATIENCE_SECONDS = 60.0  # machines that play lessons may be busy
PAUSE_SECONDS = 0.02


class Hand:
    """Acts in the newest open tab. Every method raises TimeoutError if its effect does not show in time."""

    def __init__(self, recorder: Recorder, saver: Saver, patience_seconds: float = PATIENCE_SECONDS) -> None:
        self._recorder = recorder
        self._saver = saver
        self._patience_seconds = patience_seconds

    @property
    def tab(self) -> Tab:
        return self._recorder.tabs[-1]

    @property
    def here(self) -> PageNode | None:
        """The page that a mark would apply to."""
        return self._saver.session.page_to_mark(self.tab.id) if self._recorder.tabs else None

    async def until(self, condition: Callable[[], object], what: str) -> None:
        """Wait until the condition is true; `what` names it in the error."""

        async def check() -> object:
            return condition()

        await self._poll(check, what)

    async def _poll(self, check: Callable[[], Awaitable[object]], what: str) -> None:
        for _ in range(int(self._patience_seconds / PAUSE_SECONDS)):
            if await check():
                return
            await asyncio.sleep(PAUSE_SECONDS)
        message = await self.tab.evaluate("wayhound.message()") if self._recorder.tabs else ""
        raise TimeoutError(f"timed out waiting for {what}. {message or ''}".strip())

    async def arrived(self) -> None:
        """Wait until the page shown was seen and saved, and its bar shows it."""
        await self.until(self._is_saved, "a page")
        await self._bar_drawn()

    def _is_saved(self) -> bool:
        node = self.here
        return node is not None and self._saver.pages.is_seen(node.number)

    async def click(self, text: str) -> None:
        """Click the link with that text, in the page or in one of its frames."""
        before, tabs = self.here, len(self._recorder.tabs)
        await (await self._link(text)).click(timeout=1000 * self._patience_seconds)
        await self.until(lambda: self._has_moved(before, tabs), f"the page behind {text}")
        await self.arrived()

    def _has_moved(self, before: PageNode | None, tabs: int) -> bool:
        """Return True if the click was recorded and led somewhere; a click in a frame makes it a page first."""
        if len(self._recorder.tabs) > tabs:
            return True
        return self.here != before and self._saver.session.clicked(self.tab.id) is None

    async def _link(self, text: str) -> Locator:
        matches: list[Locator] = []

        async def check() -> bool:
            for frame in self.tab.page.frames:
                for link in (
                    frame.get_by_role("link", name=text, exact=True),
                    frame.locator("a, area").filter(has_text=text),
                ):
                    if await link.count():
                        matches.append(link.first)
                        return True
            return False

        await self._poll(check, f"a link with the text {text}")
        return matches[0]

    async def press(self, action: str) -> None:
        """Press the shortcut of a button of the bar."""
        session = self._saver.session
        node, site, undo_count = self.here, session.site, session.undo_count
        await self.tab.page.keyboard.press(f"Alt+Shift+Key{KEYS[action]}")
        match action:
            case "goal" | "reject":
                label = GOAL if action == "goal" else FAIL
                assert node is not None
                await self.until(lambda: session.nodes[node.number].label == label, f"the mark {label}")
            case "undo":
                await self.until(lambda: session.undo_count < undo_count or session.site != site, "the undo")
            case "next":
                await self.until(lambda: session.site != site and self._at_site(), "the next site")
                await self.arrived()
            case "done":
                await self.until(lambda: session.done, "the end of the session")

    def _at_site(self) -> bool:
        return self.here is not None and self.here.site == self._saver.session.site

    async def mark(self, label: str) -> None:
        """Open the list of labels by its shortcut, type a label, and press Enter."""
        node, page = self.here, self.tab.page
        assert node is not None
        await page.keyboard.press(f"Alt+Shift+Key{KEYS['mark']}")
        await self._position(".marks input")
        await page.keyboard.type(label)
        await page.keyboard.press("Enter")
        nodes = self._saver.session.nodes
        await self.until(lambda: nodes[node.number].label == label, f"the mark {label}")

    async def _bar_drawn(self) -> None:
        async def check() -> object:
            return await self.tab.evaluate("wayhound.knowsPage()")

        await self._poll(check, "the bar")

    async def _position(self, selector: str) -> tuple[float, float]:
        """Return the centre of an element of the bar, once it is visible."""
        positions: list[tuple[float, float]] = []

        async def check() -> bool:
            box = await self.tab.evaluate(f"wayhound.place({selector!r})")
            if box and box["width"]:
                positions.append((box["x"], box["y"]))
            return bool(positions)

        await self._poll(check, f"{selector} in the bar")
        return positions[0]

    async def point(self, selector: str) -> None:
        """Click an element of the bar with the mouse."""
        x, y = await self._position(selector)
        await self.tab.page.mouse.click(x, y)

    async def back(self) -> None:
        await self._move(self.tab.back())

    async def forward(self) -> None:
        await self._move(self.tab.page.go_forward(wait_until="commit"))

    async def _move(self, move: Awaitable[object]) -> None:
        before = self.here
        await move
        await self.until(lambda: self.here != before, "another page")
        shown = normalise(self.tab.page.url)
        await self.until(lambda: self.here is not None and self.here.url == shown, "the page before")
        await self._bar_drawn()
