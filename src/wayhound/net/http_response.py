"""Reads an aiohttp response: status and headers always, the body within its limit; and classifies failures."""

from __future__ import annotations

import asyncio
from typing import ClassVar
from weakref import WeakSet

import aiohttp
from aiohttp import hdrs
from aiohttp.base_protocol import BaseProtocol
from aiohttp.connector import Connection
from aiohttp.http_exceptions import HttpProcessingError

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
from wayhound.files import Body, DecompressionError, decompress
from wayhound.net.guard import PrivateAddressError
from wayhound.net.robots import MAX_ROBOTS_BYTES

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
