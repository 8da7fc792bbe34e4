"""Parses and serialises WARC records: one gzip member each, so that every record can be read alone.

The parser is strict about damage: a record is returned whole or not at all. warcio reads the same files, but takes a
damaged gzip member for the end of the file, prints so on stderr and returns the shortened body.

Nor do we use warcio's writer: on real pages of 26 KB it took 2.2 to 2.5 times as much CPU, because it compresses at
level 9 and builds objects for every header. Ours takes 1.5 times as much as compressing the bodies alone.
`bench/archive.py` measures all three in one run.
"""

from __future__ import annotations

import re
import zlib
from base64 import b32decode, b32encode
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from hashlib import sha1
from io import SEEK_CUR, SEEK_END
from typing import BinaryIO
from uuid import uuid4

from wayhound.archive.location import ArchiveFile
from wayhound.errors import ArchiveError, SegmentMissing
from wayhound.fetched import Fetched, decode_header
from wayhound.url import normalise, normalise_route

MAX_RECORD_BYTES = 256 << 20
"""Larger records are skipped: an archive from elsewhere is as hostile as the web."""

CONVERSION = "conversion"
"""Type of the records that hold what a browser made of a response."""

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
        return normalise_route(target) if self.kind == CONVERSION else archived_url(target)

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


def records(path: ArchiveFile, offset: int = 0) -> Generator[WarcRecord, None, None]:
    """Yield the records of a WARC file from `offset` on. Raises ArchiveError if the file is damaged or missing."""
    try:
        with path.open("rb") as file:
            file.seek(offset)
            if file.peek(2)[:2] == GZIP_MAGIC:
                yield from _gzip_records(file, path)
            else:
                yield from _plain_records(file, path)
    except OSError as error:
        kind = SegmentMissing if isinstance(error, FileNotFoundError) else ArchiveError
        raise kind(f"{path} cannot be read: {(error.strerror or str(error)).lower()}.") from error


def record_at(path: ArchiveFile, offset: int) -> WarcRecord:
    """Return one record. Raises ArchiveError if it is missing or damaged."""
    with closing(records(path, offset)) as following:
        record = next(following, None)
    if record is None:
        raise ArchiveError(f"{path} ends before byte {offset}, where a record should be.")
    return record


def members(file: BinaryIO, path: ArchiveFile) -> Iterator[Member]:
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


def _member(file: BinaryIO, path: ArchiveFile, start: int, pending: bytes) -> tuple[Member, bytes]:
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


def _unpacked(unpacker: zlib._Decompress, packed: bytes, path: ArchiveFile, start: int) -> bytes:
    try:
        return unpacker.decompress(packed)
    except zlib.error as error:
        raise _damage(path, start, "its gzip data is broken") from error


def _refuse_several(data: bytes, path: ArchiveFile, start: int) -> None:
    """Raise ArchiveError if a member that is too large is in fact a whole file compressed at once."""
    head = HEAD_END.split(data[:MAX_HEAD_BYTES], 1)[0]
    if _content_length(_fields(head, path, start), path, start) <= MAX_RECORD_BYTES:
        raise _damage(path, start, _SEVERAL)


def _gzip_records(file: BinaryIO, path: ArchiveFile) -> Iterator[WarcRecord]:
    for member in members(file, path):
        if member.data and not member.data.isspace():
            yield _parse(member.data, path, member.start, member.end - member.start)


def _plain_records(file: BinaryIO, path: ArchiveFile) -> Iterator[WarcRecord]:
    start, size = file.tell(), file.seek(0, SEEK_END)
    file.seek(start)
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


def _parse(data: bytes, path: ArchiveFile, offset: int, length: int) -> WarcRecord:
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


def _fields(head: bytes, path: ArchiveFile, offset: int) -> dict[str, str]:
    if not head.startswith(b"WARC/"):
        raise _damage(path, offset, "no WARC record starts there")
    pairs = map(name_and_value, header_lines(head)[1:])
    return {name.lower(): value for name, value in pairs}


def _content_length(fields: dict[str, str], path: ArchiveFile, offset: int) -> int:
    length = parse_bytes(fields.get("content-length", ""))
    if length is None:
        raise _damage(path, offset, "a record has no length")
    return length


def parse_bytes(field: str) -> int | None:
    """Return the number of bytes that a field names; None for anything else, and for more than a file can have."""
    return int(field) if field.isascii() and field.isdigit() and len(field) < 19 else None


def _damage(path: ArchiveFile, offset: int, reason: str) -> ArchiveError:
    return ArchiveError(f"{path} is damaged at byte {offset}: {reason}.")


LEVEL = 1
"""Compression level of zlib. On real pages, levels 2 and 3 cost 0 to 15 % more CPU a record for files smaller by 3 and
4 %; levels 4, 6 and 9 cost 1.5, 2.2 and 2.6 times the CPU of 1 for files smaller by 10, 12 and 12 %."""

MIN_COMPRESSED_BYTES = 1_000
"""Smaller records (requests, redirects, revisits) are stored uncompressed: compressing them saves a third of little
space and costs ten times as much CPU."""

RENAMED_PREFIX = "X-Archive-Orig-"
"""Prefix of headers that are not true for the body as it is stored."""

SAME_BODY = "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest"
NOT_MODIFIED = "http://netpreserve.org/warc/1.1/revisit/server-not-modified"

_FALSE_WHEN_DECODED = frozenset({"content-encoding", "transfer-encoding"})


@dataclass(frozen=True, slots=True)
class Original:
    """The record that already holds a body: its position, URL and time."""

    file: str
    offset: int
    url: str
    at: float


def response_record(fetched: Fetched, at: float, payload_digest: bytes, record_id: str) -> bytes:
    fields = _fields_of_response(fetched, at, payload_digest, record_id)
    return _record("response", fields, _http_head(fetched), fetched.body)


def revisit_record(
    fetched: Fetched, at: float, payload_digest: bytes, record_id: str, original: Original
) -> bytes:
    """Return the record of a response whose body is that of `original`: only its headers are stored again."""
    fields = _fields_of_response(fetched, at, payload_digest, record_id)
    return _record("revisit", [*fields, *_fields_of_revisit(SAME_BODY, original)], _http_head(fetched))


def not_modified_record(
    fetched: Fetched, at: float, payload_digest: bytes, record_id: str, original: Original
) -> bytes:
    """Return the record of a 304 that confirms `original`; `payload_digest` is that of its body."""
    fields = _fields_of_response(fetched, at, payload_digest, record_id)
    head = _http_head(fetched, has_length=False)
    return _record("revisit", [*fields, *_fields_of_revisit(NOT_MODIFIED, original)], head)


def conversion_record(fetched: Fetched, at: float, source_id: str, source: Original) -> bytes:
    """Return the record of the document that a browser made of the response at `source`."""
    fields = [
        f"WARC-Target-URI: {fetched.url}",
        f"WARC-Date: {warc_date(at)}",
        f"WARC-Record-ID: {new_record_id()}",
        f"WARC-Refers-To: {source_id}",
        *_position_fields(source),
        f"WARC-Payload-Digest: {_digest_field(sha1_digest(fetched.body))}",
        "Content-Type: text/html; charset=utf-8",
    ]
    return _record(CONVERSION, fields, fetched.body)


def _fields_of_revisit(profile: str, original: Original) -> list[str]:
    """Return the fields of a revisit."""
    return [
        f"WARC-Profile: {profile}",
        f"WARC-Refers-To-Target-URI: {original.url}",
        f"WARC-Refers-To-Date: {warc_date(original.at)}",
        *_position_fields(original),
    ]


def _position_fields(original: Original) -> list[str]:
    """Return Heritrix's fields, which lead to another record without an index."""
    return [
        f"WARC-Refers-To-Filename: {original.file}",
        f"WARC-Refers-To-File-Offset: {original.offset}",
    ]


def request_record(url: str, headers: Sequence[tuple[str, str]], at: float, concurrent_to: str) -> bytes:
    authority, _, rest = url.partition("//")[2].partition("/")
    lines = [f"GET /{rest} HTTP/1.1"]
    if not any(name.lower() == "host" for name, _ in headers):
        lines.append(f"Host: {authority}")
    lines += [f"{name}: {value}" for name, value in headers]
    fields = [
        f"WARC-Target-URI: {url}",
        f"WARC-Date: {warc_date(at)}",
        f"WARC-Record-ID: {new_record_id()}",
        f"WARC-Concurrent-To: {concurrent_to}",
        "Content-Type: application/http; msgtype=request",
    ]
    return _record("request", fields, _lines(lines))


def info_record(file: str, software: str, at: float) -> bytes:
    """Return the first record of every file: the software that wrote it, and the format."""
    about = [
        f"software: {software}",
        "format: WARC File Format 1.1",
        "conformsTo: http://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/",
        f"description: bodies are stored decoded; headers so made untrue start with {RENAMED_PREFIX}",
    ]
    fields = [
        f"WARC-Date: {warc_date(at)}",
        f"WARC-Record-ID: {new_record_id()}",
        f"WARC-Filename: {file}",
        "Content-Type: application/warc-fields",
    ]
    return _record("warcinfo", fields, _lines(about))


def _http_head(fetched: Fetched, *, has_length: bool = True) -> bytes:
    """Return status line and headers, made true for the decoded body; a 304 has no body to give a length of."""
    length = str(len(fetched.body))
    lines = [f"HTTP/1.1 {fetched.status} {fetched.reason_phrase}"]
    has_true_length = not has_length
    for name, value in fetched.headers:
        kind = name.lower()
        wrong_length = kind == "content-length" and value != length
        has_true_length = has_true_length or (kind == "content-length" and not wrong_length)
        prefix = RENAMED_PREFIX if wrong_length or kind in _FALSE_WHEN_DECODED else ""
        lines.append(f"{prefix}{name}: {value}")
    if not has_true_length:
        lines.append(f"Content-Length: {length}")
    return _lines(lines)


def new_record_id() -> str:
    return f"<urn:uuid:{uuid4()}>"


@lru_cache(maxsize=8)  # the records of one response have one date
def warc_date(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def sha1_digest(*parts: bytes) -> bytes:
    digest = sha1(usedforsecurity=False)
    for part in parts:
        digest.update(part)
    return digest.digest()


def _fields_of_response(fetched: Fetched, at: float, payload_digest: bytes, record_id: str) -> list[str]:
    fields = [
        f"WARC-Target-URI: {fetched.url}",
        f"WARC-Date: {warc_date(at)}",
        f"WARC-Record-ID: {record_id}",
        f"WARC-Payload-Digest: {_digest_field(payload_digest)}",
        "Content-Type: application/http; msgtype=response",
    ]
    if fetched.ip:
        fields.append(f"WARC-IP-Address: {fetched.ip}")
    return fields


def _digest_field(digest: bytes) -> str:
    return "sha1:" + b32encode(digest).decode("ascii")


def parse_digest(field: str) -> bytes | None:
    """Return the SHA-1 digest of a digest field; None for other algorithms and spellings."""
    kind, _, text = field.partition(":")
    try:
        return b32decode(text, casefold=True) if kind == "sha1" else None
    except ValueError:
        return None


def _record(kind: str, fields: Iterable[str], *block: bytes) -> bytes:
    head = _lines(
        [
            "WARC/1.1",
            f"WARC-Type: {kind}",
            *fields,
            f"WARC-Block-Digest: {_digest_field(sha1_digest(*block))}",
            f"Content-Length: {sum(map(len, block))}",
        ]
    )
    record = b"".join([head, *block, b"\r\n\r\n"])
    return zlib.compress(record, LEVEL if len(record) >= MIN_COMPRESSED_BYTES else 0, wbits=31)


def _lines(lines: list[str]) -> bytes:
    """Join header lines and close them with an empty one. Line breaks in values are removed: a server must not be able
    to add lines of its own."""
    text = "\r\n".join(lines)
    breaks = len(lines) - 1
    if text.count("\n") != breaks or text.count("\r") != breaks:
        text = "\r\n".join([" ".join(line.split()) for line in lines])
    try:  # values that were not UTF-8 were read with surrogate escapes, and go back to the bytes that were sent
        return text.encode("utf-8", "surrogateescape") + b"\r\n\r\n"
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace") + b"\r\n\r\n"
