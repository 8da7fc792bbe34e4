"""Fetches pages from the live web, one request per call, and returns failures as values."""

from __future__ import annotations

import re
import ssl
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from types import TracebackType
from typing import Self

import aiohttp
from aiohttp import hdrs
from yarl import URL

from wayhound import __version__
from wayhound.archive.revalidation import NOT_MODIFIED, Headers
from wayhound.errors import UsageError
from wayhound.fetched import Failed, Fetched, parse_content_type
from wayhound.files import accept_encoding
from wayhound.media import is_page_type
from wayhound.net.guard import Guard, GuardedResolver
from wayhound.net.http_response import (
    FETCH_ERRORS,
    CountedResponse,
    error_body,
    failure,
    fetched,
    robots_text,
    whole_body,
)
from wayhound.net.robots import Robots

MAX_BODY_BYTES = 5_000_000

ACCEPTED_TYPES = (
    "text/",
    "application/xhtml",
    "application/xml",
    "application/rss",
    "application/atom",
    "application/rdf",
    "application/pdf",
    "application/x-pdf",
    "application/postscript",
    "application/x-postscript",
)
"""Prefixes of accepted media types; a response without one is accepted too."""

MAX_HEADERS = 256
MAX_HEADER_BYTES = 16 * 1024
DNS_CACHE_SECONDS = 300
IDLE_SECONDS = 15.0
CONNECTIONS_PER_HOST = 4  # callers send one request at a time to a host; robots.txt comes on top

_ACCEPT = "text/html,application/xhtml+xml,application/xml;q=0.9,application/pdf;q=0.9,*/*;q=0.5"
# Printable ASCII, as a request line must be, and no user name, because we have none to send.
_FETCHABLE = re.compile(r"(https?://[\w.:%\[\]-]+)(?:[/?#][!-~]*)?", re.ASCII)

_PRODUCT = re.compile(r"[A-Za-z_-]{1,60}")  # RFC 9309, section 2.2.1: what robots.txt can name
_VERSION = re.compile(r"[A-Za-z0-9._-]{0,30}")
_CONTACT = re.compile(r"[!-'*-~]{0,200}")  # printable ASCII without spaces and parentheses

_Read = Callable[[str, aiohttp.ClientResponse, float], Awaitable[Fetched | Failed]]


@dataclass(frozen=True, slots=True)
class Agent:
    """The identity sent with every request: the name that robots.txt is matched against, and a contact."""

    product: str = "Wayhound"
    version: str = ".".join(__version__.split(".")[:2])
    contact: str = ""

    def __post_init__(self) -> None:
        if not _PRODUCT.fullmatch(self.product):
            raise UsageError(f"The agent's name may have letters, - and _, unlike {self.product!r}.")
        if not _VERSION.fullmatch(self.version):
            raise UsageError(
                f"The agent's version may have letters, digits and dots, unlike {self.version!r}."
            )
        if not _CONTACT.fullmatch(self.contact):
            raise UsageError(f"The agent's contact must be a URL or a mail address, unlike {self.contact!r}.")

    @property
    def header(self) -> str:
        """The value of the User-Agent header: ``Wayhound/0.1 (+https://example.org/crawler)``."""
        name = f"{self.product}/{self.version}" if self.version else self.product
        return f"{name} (+{self.contact})" if self.contact else name


@dataclass(frozen=True, slots=True)
class Timeouts:
    """Timeouts: for the connection, between two pieces of a response, and for everything together."""

    connect_seconds: float = 10.0
    read_seconds: float = 20.0
    total_seconds: float = 60.0


class HttpFetcher:
    """A `Fetcher` over HTTP(S). It follows no redirects, sends nothing twice and never sleeps: its caller does.

    Use it as an asynchronous context manager.
    """

    def __init__(
        self,
        agent: Agent | None = None,
        *,
        timeouts: Timeouts | None = None,
        max_body_bytes: int = MAX_BODY_BYTES,
        max_file_bytes: int | None = None,  # for other content than pages; None: the same
        accept: tuple[str, ...] = ACCEPTED_TYPES,
        respect_robots: bool = True,
        allow_private: bool = False,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self._agent = agent or Agent()
        self._timeouts = timeouts or Timeouts()
        self._max_body_bytes = max_body_bytes
        self._max_file_bytes = max_file_bytes or max_body_bytes
        self._accept = accept
        self._tls = tls
        self._guard = Guard(allow_private=allow_private)
        self._robots = Robots(self._get_robots, self._agent.product) if respect_robots else None
        self._resolver: GuardedResolver | None = None
        self._session: aiohttp.ClientSession | None = None

    @property
    def request_headers(self) -> tuple[tuple[str, str], ...]:
        """The headers of every request besides Host."""
        return (
            ("User-Agent", self._agent.header),
            ("Accept", _ACCEPT),
            ("Accept-Encoding", accept_encoding()),
        )

    async def __aenter__(self) -> Self:
        self._resolver = GuardedResolver(self._guard)
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(
                resolver=self._resolver,
                ttl_dns_cache=DNS_CACHE_SECONDS,
                keepalive_timeout=IDLE_SECONDS,
                limit=0,
                limit_per_host=CONNECTIONS_PER_HOST,
                ssl=self._tls or True,
            ),
            headers=self.request_headers,
            timeout=self._client_timeout(),
            cookie_jar=aiohttp.DummyCookieJar(),
            auto_decompress=False,
            response_class=CountedResponse,
            max_line_size=MAX_HEADER_BYTES,
            max_field_size=MAX_HEADER_BYTES,
            max_headers=MAX_HEADERS,
        )
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._robots is not None:
            await self._robots.close()
        if self._session is not None:
            await self._session.close()
            self._session = None
        if self._resolver is not None:
            await self._resolver.close()

    def _client_timeout(self) -> aiohttp.ClientTimeout:
        total = self._timeouts.total_seconds
        connect = min(self._timeouts.connect_seconds, total)  # lookup, connection and TLS together
        return aiohttp.ClientTimeout(total=total, connect=connect, sock_read=self._timeouts.read_seconds)

    async def fetch(self, url: str, conditions: Headers = ()) -> Fetched | Failed:
        """Return the response to one GET, or why there is none. `url` should be in normal form.

        `conditions` are headers that ask for a page only if it has changed; if not, the response is a 304.
        """
        fetchable = _FETCHABLE.fullmatch(url)
        if fetchable is None:
            return _not_fetchable(url)
        if self._robots is None:
            return await self._get(url, self._page, 0.0, conditions)
        origin = fetchable[1]
        policy = self._robots.cached(origin) or await self._robots.fetch(origin)
        refusal = self._robots.refusal(url, policy)
        return refusal or await self._get(url, self._page, policy.delay_seconds, conditions)

    async def _get_robots(self, url: str) -> Fetched | Failed:
        return await self._get(url, robots_text, 0.0)

    async def _get(
        self, url: str, read: _Read, delay_seconds: float, conditions: Headers = ()
    ) -> Fetched | Failed:
        """Send one request, if the guard allows it, and read the response."""
        if self._session is None:
            raise RuntimeError("Use HttpFetcher as an asynchronous context manager.")
        target = _target(url)
        if target is None:
            return _not_fetchable(url)
        refusal = self._guard.refusal(target.raw_host or "", target.port or 0)
        if refusal is not None:
            return Failed(url, refusal.reason, refusal.detail, sent=False)
        try:
            response = await self._session.get(target, allow_redirects=False, headers=conditions or None)
            try:
                return await read(url, response, delay_seconds)
            finally:
                if (
                    not response.closed
                ):  # the body was not read to its end, so the connection cannot be reused
                    response.close()
        except FETCH_ERRORS as error:
            return failure(url, error, delay_seconds)

    async def _page(
        self, url: str, response: aiohttp.ClientResponse, delay_seconds: float
    ) -> Fetched | Failed:
        if response.status < 200:
            return Failed(url, "bad_response", f"status {response.status}", wait_seconds=delay_seconds)
        if response.status == NOT_MODIFIED:  # its Content-Length is that of the page, which is not sent
            return fetched(url, response, b"", delay_seconds)
        if response.status >= 300:
            return fetched(url, response, await error_body(response), delay_seconds)
        media, _ = parse_content_type(response.headers.get(hdrs.CONTENT_TYPE, ""))
        if not self._accepts_type(media):
            return Failed(url, "content_type", media[:100], wait_seconds=delay_seconds)
        return fetched(url, response, await whole_body(response, self._limit(media)), delay_seconds)

    def accepts(self, fetched: Fetched) -> bool:
        """Return True if an earlier response would still be accepted by its type and size."""
        media = fetched.content_type
        return self._accepts_type(media) and len(fetched.body) <= self._limit(media)

    def _accepts_type(self, media: str) -> bool:
        return not media or media.startswith(self._accept)

    def _limit(self, media: str) -> int:
        return self._max_body_bytes if is_page_type(media) else self._max_file_bytes


def _target(url: str) -> URL | None:
    """Parse a URL as aiohttp will, so that the guard sees the host that is connected to."""
    try:
        target = URL(url, encoded=True)
        port = target.port  # raises if it is not a number
    except ValueError:
        return None
    return target if port else None


def _not_fetchable(url: str) -> Failed:
    return Failed(url, "bad_url", "not an http or https URL in normal form", sent=False)
