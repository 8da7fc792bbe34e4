"""One tab or window of the teaching browser: the bar in it, its history, and the responses it loaded."""

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
_RESPONSES_KEPT = 50  # per tab
_FILES = resources.files("wayhound.app.teach")


@dataclass(frozen=True, slots=True)
class BarMessage:
    """A message from the bar of a document."""

    tab: Tab
    message: dict[str, Any]
    context: int
    session: CDPSession


@dataclass(frozen=True, slots=True)
class Navigated:
    """A frame of the tab shows another document, or the same one under another address."""

    tab: Tab
    url: str
    is_top: bool
    failed_url: str = ""
    same_document: bool = False


@dataclass(frozen=True, slots=True)
class HistoryEntry:
    """An entry of a tab's history, with the browser's id of it."""

    entry: int
    url: str
    typed: bool
    submitted: bool  # by a form


@dataclass(frozen=True, slots=True)
class LoadedResponse:
    """The response to a navigation. `urls` is its URL and those that redirected to it; `body` may still load."""

    urls: tuple[str, ...]
    status: int
    content_type: str
    body: asyncio.Task[Fetched | None]


VALUE_FIELDS = ("name", "email", "phone", "address", "hours", "registration")
"""Fields that are offered for a selected text; any other can be typed."""


class BarScript:
    """The script of the bar, with random names: page scripts can find neither its world nor its binding."""

    def __init__(self, mode: str, *, back: bool = False) -> None:
        """`back` adds a button, for browsers that are shown without their own."""
        self.binding = f"b{secrets.token_hex(12)}"
        self.world = f"w{secrets.token_hex(12)}"
        setup = {"binding": self.binding, "mode": mode, "height": BAR_HEIGHT, "css": _text("bar.css"),
                 "fields": VALUE_FIELDS, "back": back}  # fmt: skip
        self.source = f"({_text('bar.js').rstrip()})({json.dumps(setup)})"


_TYPED = frozenset({"typed", "address_bar", "auto_bookmark", "generated", "keyword", "keyword_generated"})


@dataclass(eq=False)
class Tab:
    """A Playwright page with the bar in it."""

    id: int
    page: Page
    script: BarScript
    signal: Callable[[BarMessage | Navigated], None]
    failure: str = ""  # Chromium's error code of the last failed navigation
    _bar: tuple[CDPSession, int] | None = None
    _session: CDPSession | None = None
    _top_frame: str = ""
    _responses: dict[str, LoadedResponse] = field(default_factory=dict)

    async def attach(self) -> None:
        """Inject the bar into the document shown now and into all later ones."""
        self.page.on("response", self._on_response)
        self.page.on("requestfailed", self._on_failed)
        self._session = await self.page.context.new_cdp_session(self.page)
        self._session.on("Page.frameNavigated", self._on_navigated)
        self._session.on("Page.navigatedWithinDocument", self._on_navigated_within)
        await self._inject(self._session)
        tree: Mapping[str, Any] = await self._session.send("Page.getFrameTree")
        self._top_frame = tree["frameTree"]["frame"]["id"]

    async def attach_frame(self, frame: Frame) -> None:
        """Inject the bar into a frame of another site, which lives in a process of its own."""
        with suppress(Exception):  # frames of the same process need nothing, and others are already gone
            await self._inject(await self.page.context.new_cdp_session(frame))

    async def _inject(self, session: CDPSession) -> None:
        session.on("Runtime.bindingCalled", lambda event: self._on_binding_called(event, session))
        await session.send("Page.enable")
        await session.send("Runtime.enable")
        names = {"name": self.script.binding, "executionContextName": self.script.world}
        await session.send("Runtime.addBinding", names)
        script = {"source": self.script.source, "worldName": self.script.world, "runImmediately": True}
        await session.send("Page.addScriptToEvaluateOnNewDocument", script)

    async def history_entry(self, url: str) -> HistoryEntry:
        """Return the current history entry, or the last one with that URL if the tab has moved on since."""
        history = await self._history()
        entries = history["entries"]
        current = entries[history["currentIndex"]]
        same = [entry for entry in entries if normalise(entry["url"]) == url]
        entry = current if current in same or not same else same[-1]
        transition = entry["transitionType"]
        return HistoryEntry(entry["id"], url, transition in _TYPED, transition == "form_submit")

    async def _history(self) -> Mapping[str, Any]:
        """Return the history, with retries: Chromium refuses while a page moves to another process."""
        from playwright.async_api import Error  # noqa: PLC0415 - an extra

        assert self._session is not None
        for _ in range(SWAP_TRIES):
            try:
                history: Mapping[str, Any] = await self._session.send("Page.getNavigationHistory")
            except Error as error:
                if "Not attached to an active page" not in str(error):
                    raise
                await asyncio.sleep(SWAP_SECONDS)
            else:
                return history
        return {"currentIndex": 0, "entries": [{"id": 0, "url": self.page.url, "transitionType": "link"}]}

    def bar_ready(self, session: CDPSession, context: int) -> None:
        """Note that the document shown now has a bar, which runs in this execution context."""
        self._bar = (session, context)

    def bar_gone(self) -> None:
        """Note that another document is shown, whose bar has not reported yet."""
        self._bar = None

    @property
    def has_bar(self) -> bool:
        return self._bar is not None

    async def show(self, state: Mapping[str, Any]) -> None:
        await self.evaluate(f"wayhound.show({json.dumps(state)})")

    async def evaluate(self, expression: str) -> Any:
        """Return the value of an expression in the world of the bar, or None if there is no bar."""
        if self._bar is None:
            return None
        session, context = self._bar
        from playwright.async_api import Error  # noqa: PLC0415 - an extra

        values = {"expression": expression, "contextId": context, "returnByValue": True}
        # The document may be gone, and the next bar will report itself; a page that crashes never answers.
        with suppress(Error, TimeoutError):
            async with asyncio.timeout(ANSWER_SECONDS):
                answer: Mapping[str, Any] = await session.send("Runtime.evaluate", values)
            return answer["result"].get("value")
        return None

    async def go(self, url: str) -> None:
        """Start to load a page; the outcome arrives as a signal."""
        from playwright.async_api import Error  # noqa: PLC0415 - an extra

        with suppress(Error):
            await self.page.goto(url, wait_until="commit", timeout=0)

    async def back(self) -> None:
        """Go back one page. A page that fails to load is reported by its own signal, not here."""
        from playwright.async_api import Error  # noqa: PLC0415 - an extra

        with suppress(Error):
            await self.page.go_back(wait_until="commit")

    async def forget_history(self) -> None:
        """Make the page that is shown the first of the tab, so that Back leads nowhere."""
        from playwright.async_api import Error  # noqa: PLC0415 - an extra

        if self._session is not None:
            with suppress(Error):
                await self._session.send("Page.resetNavigationHistory")

    def response(self, url: str) -> LoadedResponse | None:
        return self._responses.get(url)

    def _on_binding_called(self, event: Mapping[str, Any], session: CDPSession) -> None:
        if event["name"] == self.script.binding:
            message = json.loads(event["payload"])
            self.signal(BarMessage(self, message, event["executionContextId"], session))

    def _on_navigated(self, event: Mapping[str, Any]) -> None:
        frame = event["frame"]
        is_top = "parentId" not in frame
        if is_top:
            self._top_frame = frame["id"]
        url = frame["url"] + frame.get("urlFragment", "")
        self.signal(Navigated(self, url, is_top, frame.get("unreachableUrl", "")))

    def _on_navigated_within(self, event: Mapping[str, Any]) -> None:
        if event["frameId"] == self._top_frame:
            self.signal(Navigated(self, event["url"], is_top=True, same_document=True))

    def _on_response(self, response: Response) -> None:
        request = response.request
        if not request.is_navigation_request() or 300 <= response.status < 400:
            return
        urls = [normalise(request.url)]
        while (before := request.redirected_from) is not None:
            request = before
            urls.append(normalise(request.url))
        if urls[0] in self._responses and _is_in_frame(response):
            return  # document viewers fetch the document again in a frame of theirs
        content_type, charset = parse_content_type(response.headers.get("content-type", ""))
        body = asyncio.ensure_future(_fetched(response, content_type, charset))
        self._responses[urls[0]] = LoadedResponse(tuple(urls), response.status, content_type, body)
        for url in list(self._responses)[:-_RESPONSES_KEPT]:
            del self._responses[url]

    def _on_failed(self, request: Any) -> None:
        if request.is_navigation_request():
            self.failure = request.failure or ""


def _is_in_frame(response: Response) -> bool:
    from playwright.async_api import Error  # noqa: PLC0415 - an extra

    try:
        return response.frame.parent_frame is not None
    except Error:  # a page that is still opening has no frames
        return False


async def _fetched(response: Response, content_type: str, charset: str) -> Fetched | None:
    """Return the complete response, or None if the browser has discarded it already."""
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
