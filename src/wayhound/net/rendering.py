"""Shows pages to a browser that has no network, and returns what their scripts make of them.

Every request of a rendered page is answered by our own HTTP fetcher, so that robots.txt, the address guard and the
limits hold for scripts and data as they hold for pages. The browser itself is given a proxy where nothing listens: what
cannot be intercepted (WebSockets of workers, WebRTC, prefetches) reaches nobody.
"""

from __future__ import annotations

import asyncio
import json
import secrets
import shutil
from collections import OrderedDict
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass
from functools import cache
from importlib import resources
from importlib.util import find_spec
from types import TracebackType
from typing import TYPE_CHECKING, Any, Protocol, Self

from wayhound.archive.reader import Headers
from wayhound.errors import LeaseLost
from wayhound.fetched import Failed, Fetched, Fetcher, before_request, rendered
from wayhound.net.browser import NAMES, find_browser, launch_without_network, playwright_error
from wayhound.url import registrable_domain

if TYPE_CHECKING:
    from playwright.async_api import Browser, BrowserContext, Page, Request, Route

LOADED_KINDS = frozenset({"script", "stylesheet", "xhr", "fetch", "other"})
"""Kinds of resources that a page gets; images, media, fonts, frames and beacons are not loaded."""

_CACHED_KINDS = frozenset({"script", "stylesheet"})
_CACHE_BYTES = 32 << 20
_PAGES_AT_ONCE = 2  # over all sites: a browser takes a core for itself
_MAX_REDIRECTS = 5
_TRIES = 3  # with a new browser each time: one may be killed for want of memory
_CLOSE_SECONDS = 10.0
_FALSE_HEADERS = frozenset({"content-encoding", "content-length", "transfer-encoding", "connection"})
_PASSED_HEADERS = frozenset(
    {"accept", "content-type", "x-requested-with", "accept-language", "authorization"}
)
_TRACKERS = (
    "google-analytics.com",
    "googletagmanager.com",
    "doubleclick.net",
    "facebook.net",
    "hotjar.com",
    "clarity.ms",
    "segment.io",
    "matomo.cloud",
    "newrelic.com",
    "nr-data.net",
    "sentry.io",
)


@dataclass(frozen=True, slots=True)
class RenderLimits:
    """Limits on one rendered page."""

    total_seconds: float = 60.0
    settle_seconds: float = 15.0  # until scripts, requests and short timers have ended
    requests: int = 150
    request_bytes: int = 20_000_000
    dom_bytes: int = 5_000_000
    scrolls: int = 30
    clicks: int = 60
    click_seconds: float = 15.0
    reloads: int = 8  # of a page that does not come back by itself after a click


def can_render() -> bool:
    """Return True if Playwright and a browser are installed."""
    return find_spec("playwright") is not None and any(shutil.which(name) for name in NAMES)


class BrowserFetcher:
    """A `Fetcher` that returns pages as their scripts leave them. Use it as an asynchronous context manager.

    `pages` fetches the pages themselves, `resources` their scripts and data, of any media type. The browser is started
    for the first page that needs it, and replaced if it dies and after `pages_per_browser` pages, which bounds its
    memory.
    """

    def __init__(
        self,
        pages: Fetcher,
        resources: ResourceFetcher,
        *,
        user_agent: str,
        limits: RenderLimits | None = None,
        program: str = "",
        pages_per_browser: int = 100,
    ) -> None:
        self._pages = pages
        self._user_agent = user_agent
        self.limits = limits or RenderLimits()
        self._program = program
        self._pages_per_browser = pages_per_browser
        self._load = _Loader(resources)
        self._slots = asyncio.Semaphore(_PAGES_AT_ONCE)
        self._opening = asyncio.Lock()
        self._browser: _OpenBrowser | None = None
        self._retired: list[_OpenBrowser] = []

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for browser in (*self._retired, *((self._browser,) if self._browser else ())):
            await browser.close()
        self._browser = None

    async def fetch(self, url: str) -> Fetched | Failed:
        """Fetch a page and render it. A response that is no web page is returned as it came."""
        answer = await self._pages.fetch(url.partition("#")[0])
        if isinstance(answer, Failed) or not answer.ok or answer.content_type not in ("", "text/html"):
            return answer
        return await self.render(answer, url)

    async def render(self, response: Fetched, url: str = "") -> Fetched | Failed:
        """Return the document that a browser makes of a response, under `url`: with its route, if that has one.

        The browser is replaced if it was killed meanwhile. Failed says why there is no document.
        """
        url = url or response.url
        async with self._slots:
            for _ in range(_TRIES):
                browser = await self._open()
                browser.users += 1
                try:
                    return await browser.render(response, url, self.limits)
                except playwright_error() as error:
                    if browser.is_alive and "crash" not in str(error).lower():
                        return Failed(url, "bad_response", str(error).partition("\n")[0][:200])
                    await self._drop(browser)
                except TimeoutError:
                    await self._drop(browser)  # its page may be in an endless loop
                    return Failed(url, "timeout", "its scripts did not come to an end")
                finally:
                    browser.users -= 1
                    await self._close_retired()
        return Failed(url, "reset", "the browser was killed several times")

    async def _open(self) -> _OpenBrowser:
        async with self._opening:
            browser = self._browser
            if browser and (not browser.is_alive or browser.pages >= self._pages_per_browser):
                self._retired.append(browser)
                self._browser = browser = None
            if browser is None:
                program = find_browser(self._program)
                browser = await _OpenBrowser.start(program, self._user_agent, self._load)
                self._browser = browser
            return browser

    async def _drop(self, browser: _OpenBrowser) -> None:
        async with self._opening:
            if self._browser is browser:
                self._browser = None
                self._retired.append(browser)

    async def _close_retired(self) -> None:
        while browser := next((browser for browser in self._retired if not browser.users), None):
            self._retired.remove(browser)  # first: another page may end while this one waits
            await browser.close()


class ResourceFetcher(Protocol):
    """Loads what a page asks for, of any media type."""

    async def load(
        self, url: str, *, method: str = "GET", headers: Headers = (), body: bytes | None = None
    ) -> Fetched | Failed: ...


@dataclass
class _OpenBrowser:
    """A browser process, and how many pages it has shown."""

    browser: Browser
    user_agent: str
    load: _Loader
    _exit: AsyncExitStack
    pages: int = 0
    users: int = 0

    @classmethod
    async def start(cls, program: str, user_agent: str, load: _Loader) -> Self:
        """Start a browser. Raises WayhoundError if that fails."""
        async with AsyncExitStack() as stack:
            browser = await stack.enter_async_context(launch_without_network(program))
            return cls(browser, user_agent, load, stack.pop_all())

    @property
    def is_alive(self) -> bool:
        return self.browser.is_connected()

    async def close(self) -> None:
        with suppress(Exception):  # it may have been killed already
            async with asyncio.timeout(_CLOSE_SECONDS):
                await self.browser.close()
        await self._exit.aclose()

    async def render(self, response: Fetched, url: str, limits: RenderLimits) -> Fetched:
        """Return the document. Raises TimeoutError, and Playwright's errors."""
        self.pages += 1
        async with asyncio.timeout(limits.total_seconds):
            context = await self.browser.new_context(
                user_agent=self.user_agent,
                service_workers="block",
                accept_downloads=False,
                viewport={"width": 1280, "height": 1600},
                reduced_motion="reduce",
            )
            # Not closed after a timeout: a page in an endless loop ends with its browser alone.
            try:
                document = await _Rendering(context, response, url, limits, self.load).document()
            except playwright_error():
                with suppress(playwright_error()):  # the browser may have been killed
                    await context.close()
                raise
            await context.close()
            return document


class _Rendering:
    """One page in a context of its own, with neither cookies nor storage of others."""

    def __init__(
        self, context: BrowserContext, response: Fetched, url: str, limits: RenderLimits, load: _Loader
    ) -> None:
        self._context = context
        self._response = response
        self._url = url
        self._limits = limits
        self._load = load
        self._check = before_request.get()  # the browser's requests come from other tasks
        self._name = f"w{secrets.token_hex(12)}"
        self._requests = self._bytes = 0
        self._reads_only = False  # while clicks are tried
        self._answers: dict[str, Fetched | Failed] = {}  # so that a reload costs no request

    async def document(self) -> Fetched:
        page = await self._context.new_page()
        await self._context.add_init_script(f"({_script()})({json.dumps(self._name)})")
        await self._context.route("**/*", self._answer)
        await self._show(page)
        await self._call(page, "scroll", self._limits.scrolls, 1000 * self._limits.settle_seconds)
        found, links = await self._try_clicks(page)
        html = await self._call(page, "finish", found, links)
        body = str(html).encode("utf-8", "replace")[: self._limits.dom_bytes]
        return rendered(self._response, self._url, body)

    async def _show(self, page: Page) -> None:
        await page.goto(self._url, wait_until="commit")
        await self._call(page, "settle", 1000 * self._limits.settle_seconds)

    async def _call(self, page: Page, function: str, *arguments: Any) -> Any:
        script = f"([f, ...rest]) => window[{json.dumps(self._name)}][f](...rest)"
        return await page.evaluate(script, [function, *arguments])

    async def _try_clicks(self, page: Page) -> tuple[list[Any], list[Any]]:
        """Return the elements that lead somewhere by script, and links that were seen and are gone.

        A page that does not come back to what it was after a click is loaded again.
        """
        self._reads_only = True
        found: list[Any] = []
        links: list[Any] = []
        number, clicks = 0, self._limits.clicks
        for _ in range(self._limits.reloads + 1):
            tried = await self._call(page, "probe", number, clicks, 1000 * self._limits.click_seconds)
            found += tried["found"]
            number, clicks = tried["next"], clicks - tried["used"]
            if tried["changed"]:
                links += await self._call(page, "links")
                await self._show(page)
            if clicks <= 0 or number >= tried["total"] or not tried["used"]:
                break
        return found, links

    async def _answer(self, route: Route) -> None:
        """Answer a request of the page, or refuse it. A page that is closed meanwhile needs no answer."""
        with suppress(playwright_error()):
            request = route.request
            if request.is_navigation_request():
                is_page = request.url.partition("#")[0] == self._url.partition("#")[0]
                if is_page and request.method == "GET":
                    await _fulfil(route, self._response)
                else:
                    await route.abort("blockedbyclient")
            elif not self._may_load(request.url, request.method, request.resource_type):
                await route.abort("blockedbyclient")
            else:
                await self._load_resource(route)

    def _may_load(self, url: str, method: str, kind: str) -> bool:
        """Return True for what a page needs to show its words, within the limits."""
        if kind not in LOADED_KINDS or not url.startswith(("http://", "https://")) or _is_tracker(url):
            return False
        if self._requests >= self._limits.requests or self._bytes >= self._limits.request_bytes:
            return False
        if method == "GET":
            return True
        # data may be asked for by POST, of the site itself; never as the effect of a click of ours
        own = registrable_domain(url) == registrable_domain(self._url)
        return method == "POST" and own and kind in ("xhr", "fetch") and not self._reads_only

    async def _load_resource(self, route: Route) -> None:
        request = route.request
        key = f"{request.method} {request.url} {request.post_data or ''}"
        answer = self._answers.get(key)
        if answer is None:
            self._requests += 1
            headers = tuple(
                (name, value) for name, value in request.headers.items() if name in _PASSED_HEADERS
            )
            before_request.set(self._check)
            try:
                answer = await self._load(request, headers)
            except LeaseLost:  # who saves the page will hear of it
                answer = Failed(request.url, "reset", sent=False)
            self._answers[key] = answer
            self._bytes += len(answer.body) if isinstance(answer, Fetched) else 0
        if isinstance(answer, Failed):
            await route.abort("failed")
        else:
            await _fulfil(route, answer)


class _Loader:
    """Loads resources, follows their redirects, and keeps scripts and styles for the next page."""

    def __init__(self, fetcher: ResourceFetcher) -> None:
        self._fetcher = fetcher
        self._cache: OrderedDict[str, Fetched] = OrderedDict()
        self._cached_bytes = 0

    async def __call__(self, request: Request, headers: Headers) -> Fetched | Failed:
        url = request.url.partition("#")[0]
        if (cached := self._cache.get(url)) is not None:
            self._cache.move_to_end(url)
            return cached
        body = request.post_data_buffer
        answer = await self._fetcher.load(url, method=request.method, headers=headers, body=body)
        for _ in range(_MAX_REDIRECTS):
            if isinstance(answer, Failed) or not answer.location:
                break
            answer = await self._fetcher.load(answer.location, headers=headers)
        if isinstance(answer, Fetched) and answer.ok and request.resource_type in _CACHED_KINDS:
            self._keep(url, answer)
        return answer

    def _keep(self, url: str, answer: Fetched) -> None:
        self._cache[url] = answer
        self._cached_bytes += len(answer.body)
        while self._cached_bytes > _CACHE_BYTES:
            _, oldest = self._cache.popitem(last=False)
            self._cached_bytes -= len(oldest.body)


async def _fulfil(route: Route, response: Fetched) -> None:
    headers: dict[str, str] = {}
    for name, value in response.headers:
        if name.lower() not in _FALSE_HEADERS:
            headers[name.lower()] = value
    await route.fulfill(status=response.status, headers=headers, body=response.body)


def _is_tracker(url: str) -> bool:
    domain = registrable_domain(url)
    return domain in _TRACKERS


@cache
def _script() -> str:
    return resources.files("wayhound.net").joinpath("rendering.js").read_text("utf-8")
