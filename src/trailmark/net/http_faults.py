"""Turns what goes wrong on the way to a response into the reason codes of `Failed`."""

from __future__ import annotations

import asyncio

import aiohttp
from aiohttp.http_exceptions import HttpProcessingError

from trailmark.fetched import Failed, FailureReason
from trailmark.net.guard import PrivateAddressError
from trailmark.net.http_body import BadCodingError

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
    (BadCodingError, "bad_response", True),
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
