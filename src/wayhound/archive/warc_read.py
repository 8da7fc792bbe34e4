"""Parses WARC records, strict about damage: a record is returned whole or not at all.

Reads gzip with one member per record, and plain files. warcio reads the same files, but takes a damaged gzip member for
the end of the file, prints so on stderr and returns the shortened body; here damage must be distinguished from an end,
and one record be read from its position.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Generator, Iterator
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from io import SEEK_CUR
from pathlib import Path
from typing import BinaryIO

from wayhound.errors import ArchiveError
from wayhound.fetched import decode_header
from wayhound.url import normalise

MAX_RECORD_BYTES = 256 << 20
"""Larger records are skipped: an archive from elsewhere is as hostile as the web."""

GZIP_MAGIC = b"\x1f\x8b"

_BLOCK_BYTES = 1 << 16
MAX_HEAD_BYTES = 1 << 20
HEAD_END = re.compile(rb"\r?\n\r?\n")
_FOLD = re.compile(rb"\r?\n[ \t]+")

_SEVERAL = "a gzip member holds several records; `warcio recompress` splits them"


@dataclass(frozen=True, slots=True)
class WarcRecord:
    """One record: its position in the file, its fields by lower-case name, and its block."""

    offset: int
    length: int
    fields: dict[str, str]
    block: bytes

    @property
    def kind(self) -> str:
        return self.fields.get("warc-type", "").lower()

    @property
    def payload_digest(self) -> str:
        return self.fields.get("warc-payload-digest", "").lower()

    @property
    def url(self) -> str:
        """The target URI in the form of `archived_url`."""
        target = self.fields.get("warc-target-uri", "")
        if target.startswith("<"):  # as in WARC/1.0, and in some versions of wget
            target = target[1:].removesuffix(">")
        return archived_url(target)

    @property
    def at(self) -> float:
        """Seconds since the epoch; 0.0 if the record has no date."""
        try:
            date = datetime.fromisoformat(self.fields.get("warc-date", ""))
        except ValueError:
            return 0.0
        return (date if date.tzinfo else date.replace(tzinfo=UTC)).timestamp()


@dataclass(frozen=True, slots=True)
class Member:
    """A whole gzip member of a file, from `start` to `end`, unpacked."""

    start: int
    end: int
    data: bytes


def archived_url(url: str) -> str:
    """Return the normal form, or the URL itself if it has none: an archive may hold what cannot be fetched."""
    return normalise(url) or url


def records(path: Path, offset: int = 0) -> Generator[WarcRecord, None, None]:
    """Yield the records of a WARC file from `offset` on. Raises ArchiveError if the file is damaged."""
    try:
        with path.open("rb") as file:
            file.seek(offset)
            if file.peek(2)[:2] == GZIP_MAGIC:
                yield from _gzip_records(file, path)
            else:
                yield from _plain_records(file, path)
    except OSError as error:
        raise ArchiveError(f"{path} cannot be read: {(error.strerror or str(error)).lower()}.") from error


def record_at(path: Path, offset: int) -> WarcRecord:
    """Return one record. Raises ArchiveError if it is missing or damaged."""
    with closing(records(path, offset)) as following:
        record = next(following, None)
    if record is None:
        raise ArchiveError(f"{path} ends before byte {offset}, where a record should be.")
    return record


def members(file: BinaryIO, path: Path) -> Iterator[Member]:
    """Yield the gzip members from the file's position on. Raises ArchiveError at one that is not whole."""
    start = file.tell()
    pending = file.read(_BLOCK_BYTES)
    while pending:
        member, pending = _member(file, path, start, pending)
        yield member
        start = member.end
        pending = pending or file.read(_BLOCK_BYTES)


def header_lines(head: bytes) -> list[str]:
    """Split a head into lines; a line that starts with a space continues the one before it."""
    if b"\n " in head or b"\n\t" in head:
        head = _FOLD.sub(b" ", head)
    return [decode_header(line) for line in head.rstrip(b"\r\n").split(b"\n")]


def name_and_value(line: str) -> tuple[str, str]:
    name, _, value = line.partition(":")
    return name.strip(), value.strip()


def _member(file: BinaryIO, path: Path, start: int, pending: bytes) -> tuple[Member, bytes]:
    """Return the member that starts with the bytes `pending`, and the bytes read beyond it."""
    unpacker = zlib.decompressobj(wbits=31)
    parts: list[bytes] = []
    taken = unpacked = 0
    while pending:
        taken += len(pending)
        parts.append(_unpacked(unpacker, pending, path, start))
        unpacked += len(parts[-1])
        if unpacked > MAX_RECORD_BYTES:
            if parts[0]:
                _refuse_several(parts[0], path, start)
            parts = [b""]  # skipped
        if unpacker.eof:
            end = start + taken - len(unpacker.unused_data)
            return Member(start, end, b"".join(parts)), unpacker.unused_data
        pending = file.read(_BLOCK_BYTES)
    raise _damage(path, start, "the last record is cut off")


def _unpacked(unpacker: zlib._Decompress, packed: bytes, path: Path, start: int) -> bytes:
    try:
        return unpacker.decompress(packed)
    except zlib.error as error:
        raise _damage(path, start, "its gzip data is broken") from error


def _refuse_several(data: bytes, path: Path, start: int) -> None:
    """Raise ArchiveError if a member that is too large is in fact a whole file compressed at once."""
    head = HEAD_END.split(data[:MAX_HEAD_BYTES], 1)[0]
    if _content_length(_fields(head, path, start), path, start) <= MAX_RECORD_BYTES:
        raise _damage(path, start, _SEVERAL)


def _gzip_records(file: BinaryIO, path: Path) -> Iterator[WarcRecord]:
    for member in members(file, path):
        if member.data and not member.data.isspace():
            yield _parse(member.data, path, member.start, member.end - member.start)


def _plain_records(file: BinaryIO, path: Path) -> Iterator[WarcRecord]:
    size = path.stat().st_size
    while (offset := _skip_blank_lines(file)) < size:
        head = b"".join(_lines_to_blank(file))
        length = _content_length(_fields(head, path, offset), path, offset)
        if length > size - file.tell():
            raise _damage(path, offset, "the last record is cut off")
        if length > MAX_RECORD_BYTES:
            file.seek(length, SEEK_CUR)
            continue
        data = head + file.read(length)
        yield _parse(data, path, offset, len(data))


def _skip_blank_lines(file: BinaryIO) -> int:
    while (line := file.readline(MAX_HEAD_BYTES)) and line.isspace():
        pass
    offset = file.tell() - len(line)
    file.seek(offset)
    return offset


def _lines_to_blank(file: BinaryIO) -> Iterator[bytes]:
    room = MAX_HEAD_BYTES
    while room > 0 and (line := file.readline(room)):
        room -= len(line)
        yield line
        if line.isspace():
            return


def _parse(data: bytes, path: Path, offset: int, length: int) -> WarcRecord:
    end = HEAD_END.search(data, 0, MAX_HEAD_BYTES)
    if not end:
        raise _damage(path, offset, "no WARC record starts there")
    fields = _fields(data[: end.start()], path, offset)
    block_end = end.end() + _content_length(fields, path, offset)
    if block_end > len(data):
        raise _damage(path, offset, "a record is shorter than it says")
    if data[block_end : block_end + 16].lstrip().startswith(b"WARC/"):
        raise _damage(path, offset, _SEVERAL)
    return WarcRecord(offset, length, fields, data[end.end() : block_end])


def _fields(head: bytes, path: Path, offset: int) -> dict[str, str]:
    if not head.startswith(b"WARC/"):
        raise _damage(path, offset, "no WARC record starts there")
    pairs = map(name_and_value, header_lines(head)[1:])
    return {name.lower(): value for name, value in pairs}


def _content_length(fields: dict[str, str], path: Path, offset: int) -> int:
    length = fields.get("content-length", "")
    if not (length.isascii() and length.isdigit() and len(length) < 19):
        raise _damage(path, offset, "a record has no length")
    return int(length)


def _damage(path: Path, offset: int, reason: str) -> ArchiveError:
    return ArchiveError(f"{path} is damaged at byte {offset}: {reason}.")
