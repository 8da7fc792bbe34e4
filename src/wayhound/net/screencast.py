"""Remote control of a headless browser: pictures out, mouse and key events in."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Self

if TYPE_CHECKING:
    from playwright.async_api import CDPSession, Page

MouseKind = Literal["mousePressed", "mouseReleased", "mouseMoved", "mouseWheel"]
KeyKind = Literal["keyDown", "keyUp"]
MouseButton = Literal["none", "left", "middle", "right"]


@dataclass(frozen=True, slots=True)
class Frame:
    """A JPEG picture of the page, and the size of the viewport in CSS pixels."""

    jpeg: bytes
    width: float
    height: float


class Screencast:
    """Pictures of one page, as an async iterator that ends when the page is closed.

    A picture that is not taken in time is replaced by the next one, so that a slow viewer sees the present.
    """

    def __init__(
        self, page: Page, *, quality: int = 70, max_width: int = 1280, max_height: int = 800
    ) -> None:
        self._page = page
        self._settings = {
            "format": "jpeg",
            "quality": quality,
            "maxWidth": max_width,
            "maxHeight": max_height,
        }
        self._session: CDPSession | None = None
        self._latest: asyncio.Queue[Frame | None] = asyncio.Queue(maxsize=1)
        self._acks: set[asyncio.Task[Any]] = set()

    async def __aenter__(self) -> Self:
        self._session = await self._page.context.new_cdp_session(self._page)
        self._session.on("Page.screencastFrame", self._on_frame)
        self._page.on("close", self._on_end)
        self._page.on("crash", self._on_end)
        await self._session.send("Page.startScreencast", self._settings)
        return self

    async def __aexit__(self, *_: object) -> None:
        self._page.remove_listener("close", self._on_end)
        self._page.remove_listener("crash", self._on_end)
        if self._session:
            with suppress(Exception):  # the page may be closed, which ends the screencast too
                await self._session.send("Page.stopScreencast")
                await self._session.detach()
        for task in self._acks:
            task.cancel()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Frame:
        frame = await self._latest.get()
        if frame is None:
            raise StopAsyncIteration
        return frame

    async def send_mouse(
        self,
        kind: MouseKind,
        x: float,
        y: float,
        *,
        button: MouseButton = "none",
        clicks: int = 0,
        modifiers: int = 0,
        wheel: tuple[float, float] = (0, 0),
    ) -> None:
        """Send a mouse event at a point of the viewport; to the page it looks like a person's.

        `modifiers` is the sum of the keys that are held: 1 for Alt, 2 for Control, 4 for Meta, 8 for Shift.
        """
        values = {
            "type": kind,
            "x": x,
            "y": y,
            "button": button,
            "clickCount": clicks,
            "modifiers": modifiers,
        }
        await self._send("Input.dispatchMouseEvent", values | {"deltaX": wheel[0], "deltaY": wheel[1]})

    async def send_key(
        self, kind: KeyKind, key: str, code: str, *, text: str = "", modifiers: int = 0, key_code: int = 0
    ) -> None:
        """Send a key event; `key`, `code` and `key_code` as in events of browsers, `modifiers` as in `send_mouse`."""
        values: dict[str, Any] = {"type": kind, "key": key, "code": code, "modifiers": modifiers}
        values |= {"windowsVirtualKeyCode": key_code, "text": text if kind == "keyDown" else ""}
        await self._send("Input.dispatchKeyEvent", values)

    async def _send(self, method: str, values: dict[str, Any]) -> None:
        assert self._session is not None
        await self._session.send(method, values)

    def _on_frame(self, event: Mapping[str, Any]) -> None:
        size = event["metadata"]
        self._put(Frame(base64.b64decode(event["data"]), size["deviceWidth"], size["deviceHeight"]))
        task = asyncio.ensure_future(self._acknowledge(event["sessionId"]))
        self._acks.add(task)
        task.add_done_callback(self._acks.discard)

    async def _acknowledge(self, number: int) -> None:
        with suppress(Exception):  # a closed page needs no acknowledgement
            await self._send("Page.screencastFrameAck", {"sessionId": number})

    def _on_end(self, *_: object) -> None:
        self._put(None)

    def _put(self, frame: Frame | None) -> None:
        if self._latest.full():
            self._latest.get_nowait()
        self._latest.put_nowait(frame)
