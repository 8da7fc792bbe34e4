"""The ways in which `tests.servers.misbehaving` misbehaves, by path."""

from __future__ import annotations

import asyncio
import gzip
import socket
import struct
import zlib
from collections.abc import Awaitable, Callable
from http import HTTPStatus


def response_head(status: int, *headers: str, content_type: str = "text/html") -> bytes:
    lines = (f"HTTP/1.1 {status} {HTTPStatus(status).phrase}", f"Content-Type: {content_type}", *headers)
    return "\r\n".join((*lines, "", "")).encode("latin-1")


Manners = Callable[[asyncio.StreamWriter, str], Awaitable[None]]


def _always(sent: bytes) -> Manners:
    async def send(writer: asyncio.StreamWriter, _: str) -> None:
        writer.write(sent)
        await writer.drain()

    return send


async def say(writer: asyncio.StreamWriter, target: str) -> None:
    """Sends the bytes that its query spells in hexadecimal."""
    writer.write(bytes.fromhex(target.partition("?")[2]))
    await writer.drain()


async def _silence(writer: asyncio.StreamWriter, _: str) -> None:
    await asyncio.sleep(60)


async def _drip(writer: asyncio.StreamWriter, _: str) -> None:
    """A byte at a time: no single read is slow."""
    writer.write(response_head(200, "Content-Length: 100000"))
    while True:
        writer.write(b"x")
        await writer.drain()
        await asyncio.sleep(0.05)


async def _dripping_headers(writer: asyncio.StreamWriter, _: str) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\n")
    while True:
        writer.write(b"X-More: yes\r\n")
        await writer.drain()
        await asyncio.sleep(0.05)


async def _endless_body(writer: asyncio.StreamWriter, _: str) -> None:
    writer.write(response_head(200))
    while True:
        writer.write(b"<p>and so on " * 4000)
        await writer.drain()


async def _endless_chunks(writer: asyncio.StreamWriter, _: str) -> None:
    writer.write(response_head(200, "Transfer-Encoding: chunked"))
    while True:
        writer.write(b"5\r\nhello\r\n" * 1000)
        await writer.drain()


async def _endless_headers(writer: asyncio.StreamWriter, _: str) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\n")
    while True:
        writer.write(b"X-More: and more\r\n" * 1000)
        await writer.drain()


async def _endless_header(writer: asyncio.StreamWriter, _: str) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\nX-Long: ")
    while True:
        writer.write(b"a" * 50_000)
        await writer.drain()


async def _endless_interim(writer: asyncio.StreamWriter, _: str) -> None:
    while True:
        writer.write(b"HTTP/1.1 100 Continue\r\n\r\n" * 100)
        await writer.drain()
        await asyncio.sleep(0.01)


async def _redirect_loop(writer: asyncio.StreamWriter, target: str) -> None:
    number = int(target.partition("?")[2] or 0)
    writer.write(response_head(302, f"Location: /redirect-loop?{number + 1}", "Content-Length: 0"))
    await writer.drain()


async def _reset(writer: asyncio.StreamWriter, _: str) -> None:
    """Sends half a body, then resets the connection (a close with nothing lingering)."""
    writer.write(response_head(200, "Content-Length: 1000") + b"half a")
    await writer.drain()
    await asyncio.sleep(0.05)
    connection: socket.socket = writer.get_extra_info("socket")
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()


async def _hang_up(writer: asyncio.StreamWriter, _: str) -> None:
    """Closes without a word."""


async def _many_links(writer: asyncio.StreamWriter, _: str) -> None:
    body = "".join(f'<a href="/many/{number}">{number}</a>' for number in range(100_000)).encode()
    writer.write(response_head(200, f"Content-Length: {len(body)}") + body)
    await writer.drain()


def _bomb(megabytes: int) -> bytes:
    """Zeros in gzip, a thousandth of their size: one packed piece, ending on a byte, as often as needed."""
    zeros = bytes(1_000_000)
    packer = zlib.compressobj(9, wbits=-zlib.MAX_WBITS)
    piece = packer.compress(zeros) + packer.flush(zlib.Z_FULL_FLUSH)
    check = 0
    for _ in range(megabytes):
        check = zlib.crc32(zeros, check)
    head, end = b"\x1f\x8b\x08" + bytes(7), zlib.compressobj(9, wbits=-zlib.MAX_WBITS).flush()
    return head + piece * megabytes + end + struct.pack("<II", check, megabytes * len(zeros))


def _packed(body: bytes, *headers: str) -> bytes:
    return response_head(200, f"Content-Length: {len(body)}", *headers) + body


async def _gzip_bomb(writer: asyncio.StreamWriter, _: str) -> None:
    writer.write(_packed(_bomb(200), "Content-Encoding: gzip"))
    await writer.drain()


_PAGE = b"<title>A page</title>"

BAD_MANNERS: dict[str, Manners] = {
    "/silence": _silence,
    "/slow-drip": _drip,
    "/dripping-headers": _dripping_headers,
    "/endless-body": _endless_body,
    "/endless-chunks": _endless_chunks,
    "/endless-headers": _endless_headers,
    "/endless-header": _endless_header,
    "/endless-interim": _endless_interim,
    "/gzip-bomb": _gzip_bomb,
    "/gzip-members": _always(_packed(gzip.compress(b"") * 50_000, "Content-Encoding: gzip")),
    "/gzip-cut": _always(_packed(gzip.compress(bytes(range(256)) * 99)[:-50], "Content-Encoding: gzip")),
    "/gzip-not": _always(_packed(_PAGE, "Content-Encoding: gzip")),
    "/coding-unknown": _always(_packed(_PAGE, "Content-Encoding: rot13")),
    "/announced-huge": _always(response_head(200, "Content-Length: 99999999999") + b"x"),
    "/redirect-loop": _redirect_loop,
    "/redirect-nowhere": _always(response_head(302, "Location: mailto:someone", "Content-Length: 0")),
    "/body-too-short": _always(response_head(200, "Content-Length: 1000") + _PAGE),
    "/body-too-long": _always(_packed(_PAGE) + b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nfake"),
    "/negative-length": _always(response_head(200, "Content-Length: -5") + _PAGE),
    "/two-lengths": _always(response_head(200, "Content-Length: 5", "Content-Length: 9") + _PAGE),
    "/bad-chunks": _always(response_head(200, "Transfer-Encoding: chunked") + b"zz\r\nhello\r\n0\r\n\r\n"),
    "/chunks-cut": _always(response_head(200, "Transfer-Encoding: chunked") + b"50\r\nhello"),
    "/reset": _reset,
    "/hang-up": _hang_up,
    "/garbage": _always(b"\x00\x1b]0;pwned\x07\xff\xfe SSH-2.0-OpenSSH\r\n\r\n" * 20),
    "/status-zero": _always(b"HTTP/1.1 000 \r\nContent-Length: 0\r\n\r\n"),
    "/status-999": _always(b"HTTP/1.1 999 Go away\r\nContent-Length: 0\r\n\r\n"),
    "/upgrade": _always(
        b"HTTP/1.1 101 Switching\r\nUpgrade: tea\r\nConnection: upgrade\r\n\r\n" + b"x" * 999
    ),
    "/no-headers": _always(b"HTTP/1.1 200 OK\r\n\r\n" + _PAGE),
    "/bad-charset": _always(
        response_head(200, f"Content-Length: {len(_PAGE)}", content_type='text/html; charset="\xff;no/such')
        + _PAGE
    ),
    "/latin-headers": _always(
        _packed(_PAGE, "X-Author: J\xf6rg", "Set-Cookie: a=1", "Set-Cookie: b=2", "x-lower: Kept")
    ),
    "/error-cut": _always(response_head(404, "Content-Length: 1000") + b"gone, and"),
    "/many-links": _many_links,
    "/busy-429": _always(response_head(429, "Retry-After: 7", "Content-Length: 0")),
    "/busy-503": _always(
        response_head(503, "Retry-After: Fri, 31 Dec 2999 23:59:59 GMT", "Content-Length: 0")
    ),
}
"""Every way of misbehaving, by its path. Each ends the connection."""
