"""Takes what matters out of an aiohttp response: the status always, the body within its limit."""

from __future__ import annotations

import asyncio
from typing import ClassVar
from weakref import WeakSet

import aiohttp
from aiohttp import hdrs
from aiohttp.base_protocol import BaseProtocol
from aiohttp.connector import Connection
from aiohttp.http_exceptions import HttpProcessingError

from wayhound.compression import Body, DecompressionError, decompress
from wayhound.fetched import (
    Failed,
    FailureReason,
    Fetched,
    decode_headers,
    parse_content_type,
    redirect_target,
    restore_bytes,
    retry_after_seconds,
)
from wayhound.net.guard import PrivateAddressError
from wayhound.net.robots import MAX_ROBOTS_BYTES

MAX_DETAIL_CHARS = 200


class TooBigError(Exception):
    """The body, as sent or unpacked, is larger than we take."""


class BrokenConnectionError(aiohttp.ClientError):
    """The server went away after the request and before its answer.

    Not one of aiohttp's own errors for it: those it answers by sending the request a second time, behind the
    back of whoever counts requests.
    """


# The first type that fits decides. The last column tells whether the request had gone out by then.
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

FAULTS = tuple(kind for kind, _, _ in _REASONS)
"""What the web can make a request raise."""


def failure(url: str, fault: BaseException, wait_seconds: float = 0.0) -> Failed:
    if isinstance(fault, aiohttp.ClientPayloadError):
        return Failed(url, _payload_reason(fault), _detail(fault), wait_seconds=wait_seconds)
    reason, sent = next((reason, sent) for kind, reason, sent in _REASONS if isinstance(fault, kind))
    return Failed(url, reason, _detail(fault), sent=sent, wait_seconds=wait_seconds)


def _payload_reason(fault: aiohttp.ClientPayloadError) -> FailureReason:
    """A body that stopped short is a broken connection; one that makes no sense is the server's mistake."""
    return "reset" if "not completed" in str(fault) else "bad_response"


def _detail(fault: BaseException) -> str:
    """One printable line: error texts quote what the server sent, down to terminal escapes."""
    text = fault.message if isinstance(fault, aiohttp.ClientResponseError) else str(fault)
    text = text or type(fault).__name__
    return "".join(char if char.isprintable() else " " for char in text[:MAX_DETAIL_CHARS])


MAX_ERROR_BODY_BYTES = 100_000
"""Of a response that is not a success, the status is what counts."""


class CountedResponse(aiohttp.ClientResponse):
    """Notes the peer's address before aiohttp gives the connection back, and has no request sent twice.

    aiohttp sends again what a server answers by hanging up. That is right for a connection that was kept open
    and may have been closed at the other end while the request was under way (RFC 9112, section 9.3.1), and
    wrong on a new one, where the server had the request and would count it twice.
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
        raise TooBigError(f"more than {limit} bytes when unpacked")
    if not body.whole:
        raise DecompressionError(f"{codings[:40]} that ends too soon")
    return body.data


async def error_body(response: aiohttp.ClientResponse) -> bytes:
    """What an error page or a redirect says, if it can be had: the status stands without it."""
    try:
        return await whole_body(response, MAX_ERROR_BODY_BYTES)
    except FAULTS:
        return b""


async def robots_text(url: str, response: aiohttp.ClientResponse, delay_seconds: float) -> Fetched:
    """A robots.txt, of which what goes past the limit is left unread."""
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
        url,
        status,
        decode_headers(response.raw_headers),
        body,
        media,
        charset,
        location,
        restore_bytes(response.reason or ""),
        response.peer if isinstance(response, CountedResponse) else "",
        delay_seconds,
    )
