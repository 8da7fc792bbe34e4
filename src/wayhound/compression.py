"""Reads a response's body within a size limit, which holds for what arrives and for what that unpacks to."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from aiohttp import StreamReader

MAX_GZIP_MEMBERS = 100
"""Each further member copies what is left of the input, so that thousands of them would cost minutes."""

# Nothing of ours needs it, so that it is used where the machine has it.
_brotli: Any = import_module("brotli") if find_spec("brotli") else None

_GZIP_MAGIC = b"\x1f\x8b"
_NOT_COMPRESSED = frozenset(
    {"", "identity", "none", "binary", "utf-8"}
)  # the last three: seen, though no codings


class DecompressionError(Exception):
    """The body is not what its Content-Encoding says."""


class Body(NamedTuple):
    """What was read; `whole` is false when it ended early or went past the limit."""

    data: bytes
    whole: bool


async def read_body(stream: StreamReader, limit: int) -> Body:
    """The bytes as they were sent. Stops soon after the limit."""
    if stream.is_eof():  # as most pages are, once their headers have been read: then nothing is to be awaited
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


def decompress(sent: bytes, content_encoding: str, limit: int) -> Body:
    """The body behind its content codings, the last of them first; never much more than `limit` of it."""
    body = Body(sent, whole=True)
    for coding in reversed(content_encoding.lower().split(",")[:4]):
        name = coding.strip()
        if name in _NOT_COMPRESSED or not body.data:
            continue
        unpacker = _UNPACKERS.get(name)
        if unpacker is None:
            raise DecompressionError(f"no way to decode {name[:40]!r}")
        data, whole = unpacker(body.data, limit)
        body = Body(data, whole and body.whole)
    return body


def accept_encoding() -> str:
    """What to offer to servers."""
    return "gzip, deflate, br" if "br" in _UNPACKERS else "gzip, deflate"


def _gunzip(data: bytes, limit: int) -> Body:
    """All members of a gzip file. What follows the last one is padding and does not matter."""
    parts: list[bytes] = []
    room = limit + 1
    for _ in range(MAX_GZIP_MEMBERS):
        member = zlib.decompressobj(16 + zlib.MAX_WBITS)
        parts.append(_inflated(member, data, room))
        room -= len(parts[-1])
        data = member.unused_data
        if not member.eof or room <= 0 or not data.startswith(_GZIP_MAGIC):
            return Body(b"".join(parts), whole=member.eof)
    raise DecompressionError("gzip of far too many members")


def _inflate(data: bytes, limit: int) -> Body:
    """Deflate, with the zlib wrapper that RFC 9110 asks for or bare, as some servers send it."""
    wrapped = data[0] & 0x0F == 8 and int.from_bytes(data[:2], "big") % 31 == 0  # RFC 1950, section 2.2
    stream = zlib.decompressobj(zlib.MAX_WBITS if wrapped else -zlib.MAX_WBITS)
    return Body(_inflated(stream, data, limit + 1), whole=stream.eof)


def _inflated(stream: zlib._Decompress, data: bytes, room: int) -> bytes:
    try:
        return stream.decompress(data, room)
    except zlib.error as error:
        raise DecompressionError(str(error)) from error


def _unbrotli(data: bytes, limit: int) -> Body:
    stream = _brotli.Decompressor()
    try:
        unpacked = stream.process(data, output_buffer_limit=limit + 1)
    except _brotli.error as error:
        raise DecompressionError(str(error)) from error
    return Body(unpacked, whole=stream.is_finished())


def _brotli_can_be_limited() -> bool:
    """Releases before 1.2 unpack all at once, which a few hundred hostile bytes turn into gigabytes."""
    return _brotli is not None and hasattr(_brotli.Decompressor, "can_accept_more_data")


_UNPACKERS: dict[str, Callable[[bytes, int], Body]] = {
    "gzip": _gunzip,
    "x-gzip": _gunzip,
    "deflate": _inflate,
}
if _brotli_can_be_limited():
    _UNPACKERS["br"] = _unbrotli
