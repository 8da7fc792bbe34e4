"""Serialises WARC records: one gzip member each, so that every record can be read alone.

We do not use warcio's writer: on real pages of 26 KB it took 2.2 to 2.5 times as much CPU, because it compresses at
level 9 and builds objects for every header. Ours takes 1.5 times as much as compressing the bodies alone.
`bench/archive.py` measures all three in one run.
"""

from __future__ import annotations

import zlib
from base64 import b32decode, b32encode
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from hashlib import sha1
from uuid import uuid4

from wayhound.fetched import Fetched

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


def _fields_of_revisit(profile: str, original: Original) -> list[str]:
    """Return the fields of a revisit. The last two are Heritrix's: they lead to the body without an index."""
    return [
        f"WARC-Profile: {profile}",
        f"WARC-Refers-To-Target-URI: {original.url}",
        f"WARC-Refers-To-Date: {warc_date(original.at)}",
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
