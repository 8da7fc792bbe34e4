"""One tab or window of the teaching browser: the bar in it, what it tells, and what was loaded."""

from __future__ import annotations

import asyncio
import json
import secrets
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from importlib import resources
from typing import TYPE_CHECKING, Any

from wayhound.fetched import Fetched, parse_content_type
from wayhound.url import normalise

if TYPE_CHECKING:
    from playwright.async_api import CDPSession, Frame, Page, Response

BAR_HEIGHT = 44
BODY_SECONDS = 10.0
ANSWER_SECONDS = 5.0
SWAP_TRIES, SWAP_SECONDS = 100, 0.02
_REMEMBERED = 50  # documents of a tab
_FILES = resources.files("wayhound.app.teach")


@dataclass(frozen=True, slots=True)
class Said:
    """The bar of a document told something."""

    tab: Tab
    message: dict[str, Any]
    context: int
    session: CDPSession


@dataclass(frozen=True, slots=True)
class Moved:
    """A frame of the tab shows another document, or the same one under another address."""

    tab: Tab
    url: str
    is_top: bool
    failed_url: str = ""
    within: bool = False  # the document is the same as before


@dataclass(frozen=True, slots=True)
class Place:
    """Where a tab stands in its own history, by the browser's numbers."""

    entry: int
    url: str
    typed: bool
    submitted: bool  # by a form


@dataclass(frozen=True, slots=True)
class Loaded:
    """The response to a navigation: what was asked for on the way to it, and the body when it has come."""

    asked: tuple[str, ...]
    status: int
    content_type: str
    body: asyncio.Task[Fetched | None]


class BarScript:
    """The bar with its secrets: the page's own scripts know neither the world it lives in nor its line to us."""

    def __init__(self, way: str) -> None:
        self.binding = f"b{secrets.token_hex(12)}"
        self.world = f"w{secrets.token_hex(12)}"
        setup = {"binding": self.binding, "way": way, "height": BAR_HEIGHT, "css": _text("bar.css")}
        self.source = f"({_text('bar.js').rstrip()})({json.dumps(setup)})"


_TYPED = frozenset({"typed", "address_bar", "auto_bookmark", "generated", "keyword", "keyword_generated"})


@dataclass(eq=False)
class Tab:
    """A page of Playwright's with the bar in it."""

    id: int
    page: Page
    script: BarScript
    signal: Callable[[Said | Moved], None]
    failure: str = ""  # of the last navigation that came to nothing, as Chromium names it
    _bar: tuple[CDPSession, int] | None = None
    _session: CDPSession | None = None
    _top_frame: str = ""
    _loaded: dict[str, Loaded] = field(default_factory=dict)
    _frames: set[int] = field(default_factory=set)

    async def attach(self) -> None:
        """Put the bar into the page, now and whatever it shows later."""
        self.page.on("response", self._on_response)
        self.page.on("requestfailed", self._on_failed)
        self._session = await self.page.context.new_cdp_session(self.page)
        self._session.on("Page.frameNavigated", self._on_navigated)
        self._session.on("Page.navigatedWithinDocument", self._on_moved_within)
        await self._inject(self._session)
        tree: Mapping[str, Any] = await self._session.send("Page.getFrameTree")
        self._top_frame = tree["frameTree"]["frame"]["id"]

    async def attach_frame(self, frame: Frame) -> None:
        """Frames of other sites live in processes of their own and are met one by one."""
        with suppress(Exception):  # most frames are part of the page and need nothing; some are gone again
            await self._inject(await self.page.context.new_cdp_session(frame))

    async def _inject(self, session: CDPSession) -> None:
        session.on("Runtime.bindingCalled", lambda event: self._on_said(event, session))
        await session.send("Page.enable")
        await session.send("Runtime.enable")
        names = {"name": self.script.binding, "executionContextName": self.script.world}
        await session.send("Runtime.addBinding", names)
        script = {"source": self.script.source, "worldName": self.script.world, "runImmediately": True}
        await session.send("Page.addScriptToEvaluateOnNewDocument", script)

    async def place(self, url: str) -> Place:
        """The tab's place in its history; where it has moved on since, the last place with that address."""
        history = await self._history()
        entries = history["entries"]
        now = entries[history["currentIndex"]]
        same = [entry for entry in entries if normalise(entry["url"]) == url]
        entry = now if now in same or not same else same[-1]
        how = entry["transitionType"]
        return Place(entry["id"], url, how in _TYPED, how == "form_submit")

    async def _history(self) -> Mapping[str, Any]:
        """Chromium refuses for a moment when a page moves to another process."""
        from playwright.async_api import Error  # noqa: PLC0415 - an extra

        assert self._session is not None
        for _ in range(SWAP_TRIES):
            try:
                found: Mapping[str, Any] = await self._session.send("Page.getNavigationHistory")
            except Error as error:
                if "Not attached to an active page" not in str(error):
                    raise
                await asyncio.sleep(SWAP_SECONDS)
            else:
                return found
        return {"currentIndex": 0, "entries": [{"id": 0, "url": self.page.url, "transitionType": "link"}]}

    def met_bar(self, session: CDPSession, context: int) -> None:
        """The document that is shown now has a bar, and this is how to speak to it."""
        self._bar = (session, context)

    def left_bar(self) -> None:
        """Another document is shown, whose bar has not said hello yet."""
        self._bar = None

    @property
    def has_bar(self) -> bool:
        return self._bar is not None

    async def show(self, state: Mapping[str, Any]) -> None:
        await self.ask(f"wayhound.show({json.dumps(state)})")

    async def ask(self, expression: str) -> Any:
        """The value of an expression in the world of the bar; None when no bar is there."""
        if self._bar is None:
            return None
        session, context = self._bar
        from playwright.async_api import Error  # noqa: PLC0415 - an extra

        values = {"expression": expression, "contextId": context, "returnByValue": True}
        # The document may be gone, and the next one will say hello; a page that crashes never answers.
        with suppress(Error, TimeoutError):
            async with asyncio.timeout(ANSWER_SECONDS):
                answer: Mapping[str, Any] = await session.send("Runtime.evaluate", values)
            return answer["result"].get("value")
        return None

    async def go(self, url: str) -> None:
        """Begin to load a page. What comes of it is told as everything else is."""
        from playwright.async_api import Error  # noqa: PLC0415 - an extra

        with suppress(Error):
            await self.page.goto(url, wait_until="commit", timeout=0)

    async def back(self) -> None:
        """Begin to go to the page before. The failure of a page on the way is not that of going back."""
        from playwright.async_api import Error  # noqa: PLC0415 - an extra

        with suppress(Error):
            await self.page.go_back(wait_until="commit")

    def loaded(self, url: str) -> Loaded | None:
        return self._loaded.get(url)

    def _on_said(self, event: Mapping[str, Any], session: CDPSession) -> None:
        if event["name"] == self.script.binding:
            message = json.loads(event["payload"])
            self.signal(Said(self, message, event["executionContextId"], session))

    def _on_navigated(self, event: Mapping[str, Any]) -> None:
        frame = event["frame"]
        is_top = "parentId" not in frame
        if is_top:
            self._top_frame = frame["id"]
        url = frame["url"] + frame.get("urlFragment", "")
        self.signal(Moved(self, url, is_top, frame.get("unreachableUrl", "")))

    def _on_moved_within(self, event: Mapping[str, Any]) -> None:
        if event["frameId"] == self._top_frame:
            self.signal(Moved(self, event["url"], is_top=True, within=True))

    def _on_response(self, response: Response) -> None:
        request = response.request
        if not request.is_navigation_request() or 300 <= response.status < 400:
            return
        asked = [normalise(request.url)]
        while (before := request.redirected_from) is not None:
            request = before
            asked.append(normalise(request.url))
        if asked[0] in self._loaded and _is_in_frame(response):
            return  # viewers of documents fetch them again in a frame of theirs
        content_type, charset = parse_content_type(response.headers.get("content-type", ""))
        body = asyncio.ensure_future(_fetched(response, content_type, charset))
        self._loaded[asked[0]] = Loaded(tuple(asked), response.status, content_type, body)
        for url in list(self._loaded)[:-_REMEMBERED]:
            del self._loaded[url]

    def _on_failed(self, request: Any) -> None:
        if request.is_navigation_request():
            self.failure = request.failure or ""


def _is_in_frame(response: Response) -> bool:
    from playwright.async_api import Error  # noqa: PLC0415 - an extra

    try:
        return response.frame.parent_frame is not None
    except Error:  # a page that is only coming has no frames yet
        return False


async def _fetched(response: Response, content_type: str, charset: str) -> Fetched | None:
    """The response in full; None when the browser has let go of it already."""
    from playwright.async_api import Error  # noqa: PLC0415 - an extra

    try:
        async with asyncio.timeout(BODY_SECONDS):
            body = await response.body()
            headers = tuple((header["name"], header["value"]) for header in await response.headers_array())
    except (Error, TimeoutError):
        return None
    return Fetched(
        normalise(response.url),
        response.status,
        headers,
        body,
        content_type,
        charset,
        reason_phrase=response.status_text,
    )


def _text(name: str) -> str:
    return (_FILES / name).read_text("utf-8")
