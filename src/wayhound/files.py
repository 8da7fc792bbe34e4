"""Files written whole, and compressed bytes unpacked within a limit.

A reader of a file finds the old content or the new, never half of either. gzip, deflate and brotli are unpacked up to a
limit, whatever the packed bytes claim to be.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple


@contextmanager
def atomic_file(path: Path) -> Iterator[BinaryIO]:
    """Open a draft beside `path` that replaces it when the block ends without an error.

    The draft is on the disk before it is renamed, so this also holds for a power cut. Its name is random: processes in
    two containers may have the same id and one shared folder.
    """
    draft = path.with_name(f".{path.name}.{os.urandom(8).hex()}.part")
    try:
        with draft.open("wb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


def write_file(path: Path, content: bytes) -> None:
    """Replace the content of a file, or create it."""
    with atomic_file(path) as stream:
        stream.write(content)


MAX_GZIP_MEMBERS = 100
"""Each further member copies the rest of the input, so thousands of them would cost minutes."""

# Optional: used where it is installed.
_brotli: Any = import_module("brotli") if find_spec("brotli") else None

_GZIP_MAGIC = b"\x1f\x8b"
# The last three are no codings, but occur.
_NOT_COMPRESSED = frozenset({"", "identity", "none", "binary", "utf-8"})


class DecompressionError(Exception):
    """The body is not what its Content-Encoding says."""


class Body(NamedTuple):
    """Bytes that were read or unpacked; `whole` is False if they ended early or went past the limit."""

    data: bytes
    whole: bool


def decompress(sent: bytes, content_encoding: str, limit: int) -> Body:
    """Undo the content codings of a body, the last one first; returns at most `limit` + 1 bytes.

    Raises DecompressionError if the bytes are not what the header says, or the coding is unknown.
    """
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
    """Return the value of the Accept-Encoding header: the codings that `decompress` can undo."""
    return "gzip, deflate, br" if "br" in _UNPACKERS else "gzip, deflate"


def _gunzip(data: bytes, limit: int) -> Body:
    """Unpack all members of a gzip file; padding after the last one is ignored."""
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
    """Unpack deflate, with the zlib wrapper that RFC 9110 asks for or bare, as some servers send it."""
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
    """Releases before 1.2 unpack everything at once, so a few hundred hostile bytes become gigabytes."""
    return _brotli is not None and hasattr(_brotli.Decompressor, "can_accept_more_data")


_UNPACKERS: dict[str, Callable[[bytes, int], Body]] = {
    "gzip": _gunzip,
    "x-gzip": _gunzip,
    "deflate": _inflate,
}
if _brotli_can_be_limited():
    _UNPACKERS["br"] = _unbrotli
