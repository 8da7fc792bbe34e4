"""A headless browser that a person teaches in through a page of the studio: pictures out, mouse and keys in."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

from wayhound.app.teach.bar import Action
from wayhound.app.teach.recorder import Recorder
from wayhound.app.teach.session import TeachMode
from wayhound.app.teach.tab import Tab
from wayhound.app.teach.teaching import Taught, open_session, start_urls, teach
from wayhound.errors import UsageError, WayhoundError
from wayhound.net.browser import BrowserOptions, find_browser
from wayhound.net.screencast import Frame, KeyKind, MouseButton, MouseKind, Screencast
from wayhound.web.pages import BadRequest
from wayhound.wording.teaching import format_marks, format_never_loaded
from wayhound.workspace import Workspace

# Events of the page, which arrive as JSON

MOST_EVENTS = 200
MOST_WHEEL = 5000.0
LONGEST_NAME = 40

_MOUSE: Mapping[str, MouseKind] = {
    "press": "mousePressed",
    "release": "mouseReleased",
    "move": "mouseMoved",
    "wheel": "mouseWheel",
}
_KEYS: Mapping[str, KeyKind] = {"down": "keyDown", "up": "keyUp"}
_BUTTONS: tuple[MouseButton, ...] = ("left", "middle", "right")


@dataclass(frozen=True, slots=True)
class MouseEvent:
    """A mouse event. `x` and `y` are shares of the picture, from 0 to 1."""

    kind: MouseKind
    x: float
    y: float
    button: MouseButton = "none"
    clicks: int = 0
    modifiers: int = 0
    wheel_x: float = 0.0
    wheel_y: float = 0.0


@dataclass(frozen=True, slots=True)
class KeyEvent:
    kind: KeyKind
    key: str
    code: str
    text: str = ""
    modifiers: int = 0
    key_code: int = 0


InputEvent = MouseEvent | KeyEvent


def read_events(data: Any) -> list[InputEvent]:
    """Parse a JSON list of events; numbers are clamped to their range. Raises BadRequest if it is not valid."""
    if not isinstance(data, list) or len(data) > MOST_EVENTS:
        raise BadRequest(f"Expected a list of at most {MOST_EVENTS} mouse and key events.")
    return [_event(event) for event in data]


def _event(data: Any) -> InputEvent:
    if isinstance(data, dict) and data.get("do") in _MOUSE:
        has_button = data["do"] in ("press", "release")
        return MouseEvent(
            kind=_MOUSE[data["do"]],
            x=_number(data, "x", 0, 1),
            y=_number(data, "y", 0, 1),
            button=_BUTTONS[int(_number(data, "button", 0, 2))] if has_button else "none",
            clicks=int(_number(data, "clicks", 0, 3)),
            modifiers=int(_number(data, "modifiers", 0, 15)),
            wheel_x=_number(data, "wheelX", -MOST_WHEEL, MOST_WHEEL),
            wheel_y=_number(data, "wheelY", -MOST_WHEEL, MOST_WHEEL),
        )
    if isinstance(data, dict) and data.get("do") in _KEYS:
        return KeyEvent(
            kind=_KEYS[data["do"]],
            key=_text(data, "key"),
            code=_text(data, "code"),
            text=_text(data, "text"),
            modifiers=int(_number(data, "modifiers", 0, 15)),
            key_code=int(_number(data, "keyCode", 0, 255)),
        )
    raise BadRequest("Unknown kind of mouse or key event.")


def _number(data: Mapping[str, Any], name: str, least: float, most: float) -> float:
    value = data.get(name, 0)
    if not isinstance(value, int | float) or isinstance(value, bool) or not math.isfinite(value):
        raise BadRequest(f"{name} is not a number.")
    return min(max(float(value), least), most)


def _text(data: Mapping[str, Any], name: str) -> str:
    value = data.get(name, "")
    if not isinstance(value, str) or len(value) > LONGEST_NAME:
        raise BadRequest(f"{name} is not a text of at most {LONGEST_NAME} characters.")
    return value


# The browser

START_SECONDS = 120.0  # for a browser to start or to end, on busy machines
TAB_SECONDS = 0.02  # between checks for the first tab
LOOK_SECONDS = 0.3  # how soon another tab is shown

BUTTONS = get_args(Action)
"""Actions of the buttons beside the picture, where no script runs."""


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture of the browser, numbered from 1."""

    number: int
    frame: Frame


class RemoteBrowser:
    """One teaching session at a time, in the event loop of the server."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._recording: asyncio.Task[Taught] | None = None
        self._showing: asyncio.Task[None] | None = None
        self._recorder: Recorder | None = None
        self._screencast: Screencast | None = None
        self._picture: Picture | None = None
        self._new_picture = asyncio.Event()
        self.mode: TeachMode = "trails"  # of the session that is open, or was last

    @property
    def is_open(self) -> bool:
        return self._recording is not None and not self._recording.done()

    @property
    def picture(self) -> Picture | None:
        return self._picture

    @property
    def has_marks(self) -> bool:
        """False if the last session ended with nothing marked, so that there is nothing to learn from."""
        recording = self._recording
        if recording is None or not recording.done() or recording.cancelled() or recording.exception():
            return True
        return bool(recording.result().goals)

    def outcome(self) -> str:
        """Return a summary of the last session; empty if there was none or it is still open."""
        if self._recording is None or not self._recording.done() or self._recording.cancelled():
            return ""
        error = self._recording.exception()
        if isinstance(error, WayhoundError):
            return str(error)
        if error is not None:
            return "The browser failed. What you showed so far is saved; open the browser again to continue."
        taught = self._recording.result()
        closed = "" if taught.ending == "done" else "The browser was closed; open it again to continue."
        return " ".join(filter(None, (format_marks(taught), format_never_loaded(taught.never_seen), closed)))

    async def open(
        self, addresses: list[str], mode: TeachMode = "trails", keywords: Sequence[str] = ()
    ) -> None:
        """Start a session on these sites, or resume the unfinished one with the same sites.

        Keywords name the topic of free browsing; none leave those of a resumed session as they are.
        Raises UsageError if there is no browser, an address is not valid, or the browser does not start.
        """
        if self.is_open:
            return
        find_browser()
        self.mode = mode
        sites = start_urls(addresses)
        started: asyncio.Future[Recorder] = asyncio.get_running_loop().create_future()
        self._picture = None
        self._recording = asyncio.create_task(self._teach(sites, tuple(keywords), started))
        either: set[asyncio.Future[Any]] = {started, self._recording}
        await asyncio.wait(either, timeout=START_SECONDS, return_when=asyncio.FIRST_COMPLETED)
        if not started.done():
            self._recording.cancel()
            raise UsageError(self.outcome() or "The browser did not start in time.")
        self._recorder = started.result()
        await self._wait_for_tab(self._recorder)
        self._showing = asyncio.create_task(self._show(self._recorder))

    async def _teach(
        self, sites: tuple[str, ...], keywords: tuple[str, ...], started: asyncio.Future[Recorder]
    ) -> Taught:
        with Workspace.open(self._folder) as workspace:
            record = open_session(workspace, sites, self.mode)
            self.mode = "free" if record.way == "free" else "trails"
            if keywords and self.mode == "free":
                workspace.stores.teaching.set_keywords(record.id, keywords)
            return await teach(workspace, record, BrowserOptions(headless=True), started.set_result)

    async def close(self) -> None:
        """Close the browser, if one is open; everything shown is saved."""
        for task in (self._showing, self._recording):
            if task is not None and not task.done():
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)

    # Pictures out

    async def newer_picture(self, number: int, seconds: float) -> Picture | None:
        """Return the next picture after that of this number, or None if there is none in time."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while self.is_open and (self._picture is None or self._picture.number <= number):
                    self._new_picture.clear()
                    await self._new_picture.wait()
        picture = self._picture
        return picture if picture is not None and picture.number > number else None

    async def _show(self, recorder: Recorder) -> None:
        """Show the newest tab; when it is closed, the one before."""
        from playwright.async_api import Error  # noqa: PLC0415 - an extra

        while self.is_open:
            tab = _newest_tab(recorder)
            if tab is None:
                await asyncio.sleep(LOOK_SECONDS)
                continue
            with suppress(Error):  # the tab was just closed
                async with Screencast(tab.page) as screencast:
                    self._screencast = screencast
                    await self._follow(screencast, recorder, tab)
            self._screencast = None
            await asyncio.sleep(0)
        self._new_picture.set()

    async def _follow(self, screencast: Screencast, recorder: Recorder, tab: Tab) -> None:
        while self.is_open and _newest_tab(recorder) is tab:
            try:
                frame = await asyncio.wait_for(anext(screencast), LOOK_SECONDS)
            except TimeoutError:
                continue
            except StopAsyncIteration:
                return
            number = self._picture.number + 1 if self._picture else 1
            self._picture = Picture(number, frame)
            self._new_picture.set()

    async def _wait_for_tab(self, recorder: Recorder) -> Tab | None:
        """Return the tab that is shown; wait while the browser starts or replaces a crashed tab."""
        with suppress(TimeoutError):
            async with asyncio.timeout(START_SECONDS):
                while self.is_open and not recorder.tabs:  # noqa: ASYNC110 - the recording may end as well
                    await asyncio.sleep(TAB_SECONDS)
        return _newest_tab(recorder) if self.is_open else None

    # Mouse, keys and buttons in

    async def send(self, events: list[InputEvent]) -> None:
        """Pass mouse and key events to the browser, in order."""
        if not self.is_open:
            return
        from playwright.async_api import Error  # noqa: PLC0415 - an extra

        with suppress(Error):  # the page went away meanwhile
            for event in events:
                if self._screencast is None or self._picture is None:
                    return
                await _dispatch(self._screencast, self._picture.frame, event)

    async def press(self, button: str, label: str = "") -> None:
        """Press one of `BUTTONS`. Raises UsageError if no browser is open or there is no such button."""
        recorder = self._recorder
        tab = await self._wait_for_tab(recorder) if recorder is not None else None
        if recorder is None or tab is None:
            raise UsageError("No browser is open. Open one first.")
        action: Action | None = next((name for name in get_args(Action) if name == button), None)
        if action is None:
            raise UsageError(f"There is no button {button!r}.")
        await recorder.actions.perform(tab, action, label)
        if action == "done":
            await self._end()

    async def _end(self) -> None:
        """Close the tabs and wait until the recording has ended."""
        if self._recording is not None:
            for tab in list(self._recorder.tabs) if self._recorder else []:
                await tab.page.close()
            await asyncio.wait({self._recording}, timeout=START_SECONDS)


def _newest_tab(recorder: Recorder) -> Tab | None:
    return recorder.tabs[-1] if recorder.tabs else None


async def _dispatch(screencast: Screencast, frame: Frame, event: InputEvent) -> None:
    match event:
        case MouseEvent():
            await screencast.send_mouse(
                event.kind,
                event.x * frame.width,
                event.y * frame.height,
                button=event.button,
                clicks=event.clicks,
                modifiers=event.modifiers,
                wheel=(event.wheel_x, event.wheel_y),
            )
        case KeyEvent():
            await screencast.send_key(
                event.kind,
                event.key,
                event.code,
                text=event.text,
                modifiers=event.modifiers,
                key_code=event.key_code,
            )
