"""Fetches pages from the live web, one request per call, and returns failures as values.

Status and headers are read always, the body within its limit.
"""

from __future__ import annotations

import asyncio
import re
import ssl
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from types import TracebackType
from typing import ClassVar, Self
from weakref import WeakSet

import aiohttp
from aiohttp import hdrs
from aiohttp.base_protocol import BaseProtocol
from aiohttp.connector import Connection
from aiohttp.http_exceptions import HttpProcessingError
from yarl import URL

from wayhound import __version__
from wayhound.archive.reader import NOT_MODIFIED, Headers
from wayhound.errors import UsageError
from wayhound.fetched import (
    Failed,
    FailureReason,
    Fetched,
    before_request,
    decode_headers,
    parse_content_type,
    redirect_target,
    restore_bytes,
    retry_after_seconds,
)
from wayhound.files import Body, DecompressionError, accept_encoding, decompress
from wayhound.media import is_page_type
from wayhound.net.guard import Guard, GuardedResolver, PrivateAddressError
from wayhound.net.robots import MAX_ROBOTS_BYTES, Robots

MAX_DETAIL_CHARS = 200


class TooBigError(Exception):
    """The body, as sent or decompressed, exceeds the limit."""


class BrokenConnectionError(aiohttp.ClientError):
    """The server closed the connection after the request and before its response.

    Not one of aiohttp's own errors: on those it sends the request again, without its caller knowing.
    """


# The first type that matches decides. The last column: whether the request had been sent by then.
_REASONS: tuple[tuple[type[BaseException], FailureReason, bool], ...] = (
    (PrivateAddressError, "private_address", False),
    (aiohttp.ClientConnectorDNSError, "dns", False),
    (aiohttp.ClientConnectorCertificateError, "tls", False),
    (aiohttp.ClientSSLError, "tls", False),
    (aiohttp.ConnectionTimeoutError, "timeout", False),
    (aiohttp.ClientConnectorError, "connect", False),
    (aiohttp.InvalidURL, "bad_url", False),
    (aiohttp.NonHttpUrlClientError, "bad_url", False),
    (asyncio.TimeoutError, "timeout", True),
    (TooBigError, "too_big", True),
    (DecompressionError, "bad_response", True),
    (HttpProcessingError, "bad_response", True),
    (aiohttp.ClientResponseError, "bad_response", True),
    (BrokenConnectionError, "reset", True),
    (aiohttp.ClientConnectionError, "reset", True),
    (OSError, "reset", True),
    (aiohttp.ClientError, "bad_response", True),
    (RuntimeError, "reset", True),  # aiohttp, of a stream whose connection is gone
    (ValueError, "bad_response", True),
)

FETCH_ERRORS = tuple(kind for kind, _, _ in _REASONS)
"""Exceptions that the web can make a request raise."""


def failure(url: str, error: BaseException, wait_seconds: float = 0.0) -> Failed:
    if isinstance(error, aiohttp.ClientPayloadError):
        return Failed(url, _payload_reason(error), _detail(error), wait_seconds=wait_seconds)
    reason, sent = next((reason, sent) for kind, reason, sent in _REASONS if isinstance(error, kind))
    return Failed(url, reason, _detail(error), sent=sent, wait_seconds=wait_seconds)


def _payload_reason(error: aiohttp.ClientPayloadError) -> FailureReason:
    """An incomplete body is a broken connection; one that cannot be parsed is the server's mistake."""
    return "reset" if "not completed" in str(error) else "bad_response"


def _detail(error: BaseException) -> str:
    """Return one printable line: error texts quote what the server sent, down to terminal escapes."""
    text = error.message if isinstance(error, aiohttp.ClientResponseError) else str(error)
    text = text or type(error).__name__
    return "".join(char if char.isprintable() else " " for char in text[:MAX_DETAIL_CHARS])


MAX_ERROR_BODY_BYTES = 100_000
"""Limit on the body of a response that is not a success: only its status matters."""


class CountedResponse(aiohttp.ClientResponse):
    """Notes the peer's address before aiohttp releases the connection, and prevents retries on new connections.

    aiohttp retries if the server closes the connection without a response. That is right for a connection that was kept
    open and may have been closed by the server while the request was under way (RFC 9112, section 9.3.1), and wrong on
    a new one, where the server has received the request and would count it twice.
    """

    peer = ""
    _used: ClassVar[WeakSet[BaseProtocol]] = WeakSet()  # connections that have carried a request

    async def start(self, connection: Connection) -> aiohttp.ClientResponse:
        protocol = connection.protocol
        is_new = protocol not in self._used
        if is_new and protocol is not None:
            self._used.add(protocol)
        self.peer = _peer(connection.transport)
        try:
            return await super().start(connection)
        except (aiohttp.ServerDisconnectedError, aiohttp.ClientOSError) as fault:
            if is_new:
                raise BrokenConnectionError(str(fault)) from fault
            raise


def _peer(transport: asyncio.Transport | None) -> str:
    peer = transport.get_extra_info("peername") if transport is not None else None
    return str(peer[0]) if peer else ""


async def read_body(stream: aiohttp.StreamReader, limit: int) -> Body:
    """Read the bytes as they were sent; stop soon after `limit`."""
    if stream.is_eof():  # true for most pages once their headers are read: nothing to await
        data = stream.read_nowait()
        return Body(data, whole=len(data) <= limit)
    chunks: list[bytes] = []
    size = 0
    while chunk := await stream.readany():
        chunks.append(chunk)
        size += len(chunk)
        if size > limit:
            return Body(b"".join(chunks), whole=False)
    return Body(chunks[0] if len(chunks) == 1 else b"".join(chunks), whole=True)


async def whole_body(response: aiohttp.ClientResponse, limit: int) -> bytes:
    """Return the decoded body. Raises TooBigError or DecompressionError."""
    if (response.content_length or 0) > limit:
        raise TooBigError(f"{response.content_length} bytes announced")
    sent = await read_body(response.content, limit)
    if not sent.whole:
        raise TooBigError(f"more than {limit} bytes")
    codings = response.headers.get(hdrs.CONTENT_ENCODING)
    if codings is None:
        return sent.data
    body = decompress(sent.data, codings, limit)
    if len(body.data) > limit:
        raise TooBigError(f"more than {limit} bytes when decompressed")
    if not body.whole:
        raise DecompressionError(f"incomplete {codings[:40]} data")
    return body.data


async def error_body(response: aiohttp.ClientResponse) -> bytes:
    """Return the body of an error or a redirect; empty if it cannot be read, as the status suffices."""
    try:
        return await whole_body(response, MAX_ERROR_BODY_BYTES)
    except FETCH_ERRORS:
        return b""


async def robots_text(url: str, response: aiohttp.ClientResponse, delay_seconds: float) -> Fetched:
    """Read a robots.txt up to its limit."""
    if not 200 <= response.status < 300:
        return fetched(url, response, await error_body(response), delay_seconds)
    sent = await read_body(response.content, MAX_ROBOTS_BYTES)
    body = decompress(sent.data, response.headers.get(hdrs.CONTENT_ENCODING, ""), MAX_ROBOTS_BYTES)
    return fetched(url, response, body.data, delay_seconds)


def fetched(url: str, response: aiohttp.ClientResponse, body: bytes, delay_seconds: float) -> Fetched:
    headers, status = response.headers, response.status
    media, charset = parse_content_type(headers.get(hdrs.CONTENT_TYPE, ""))
    location = ""
    if status >= 300:
        location = redirect_target(status, headers.get(hdrs.LOCATION), url)
        delay_seconds = max(delay_seconds, retry_after_seconds(headers.get(hdrs.RETRY_AFTER)))
    return Fetched(
        url=url,
        status=status,
        headers=decode_headers(response.raw_headers),
        body=body,
        content_type=media,
        charset=charset,
        location=location,
        reason_phrase=restore_bytes(response.reason or ""),
        ip=response.peer if isinstance(response, CountedResponse) else "",
        wait_seconds=delay_seconds,
    )


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


class _CheckedRequest(aiohttp.ClientRequest):
    """A request that may be called off until its first byte is sent."""

    async def send(self, conn: aiohttp.connector.Connection) -> aiohttp.ClientResponse:
        before_request.get()()
        return await super().send(conn)


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
            request_class=_CheckedRequest,
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

    async def load(
        self, url: str, *, method: str = "GET", headers: Headers = (), body: bytes | None = None
    ) -> Fetched | Failed:
        """Return the response of any media type to what a rendered page asks for, under the same rules as pages."""
        fetchable = _FETCHABLE.fullmatch(url)
        if fetchable is None:
            return _not_fetchable(url)
        if self._robots is not None:
            policy = self._robots.cached(fetchable[1]) or await self._robots.fetch(fetchable[1])
            if refusal := self._robots.refusal(url, policy):
                return refusal
        return await self._get(url, self._resource, 0.0, headers, method=method, body=body)

    async def _resource(
        self, url: str, response: aiohttp.ClientResponse, delay_seconds: float
    ) -> Fetched | Failed:
        return fetched(url, response, await whole_body(response, self._max_body_bytes), delay_seconds)

    async def _get_robots(self, url: str) -> Fetched | Failed:
        return await self._get(url, robots_text, 0.0)

    async def _get(
        self,
        url: str,
        read: _Read,
        delay_seconds: float,
        headers: Headers = (),
        *,
        method: str = "GET",
        body: bytes | None = None,
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
            response = await self._session.request(
                method, target, allow_redirects=False, headers=headers or None, data=body
            )
            try:
                return await read(url, response, delay_seconds)
            finally:
                if not response.closed:  # its body was not read to the end: the connection cannot be reused
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
        if not self._accepts_type(media) and not (url.endswith(".xml.gz") and "gzip" in media):
            return Failed(url, "content_type", media[:100], wait_seconds=delay_seconds)
        return fetched(url, response, await whole_body(response, self._limit(media)), delay_seconds)

    def sitemaps(self, url: str) -> tuple[str, ...]:
        """Return the sitemaps that the robots.txt of a URL's host names, if that was fetched."""
        fetchable = _FETCHABLE.fullmatch(url)
        policy = self._robots.cached(fetchable[1]) if self._robots and fetchable else None
        return policy.sitemaps if policy else ()

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
