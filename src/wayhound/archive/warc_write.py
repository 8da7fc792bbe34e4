"""WARC records as bytes: one gzip member each, so that every record can be read alone.

Wayhound serialises its own records. On real pages of 26 KB, warcio's writer took 2.2 to 2.5 times as much
CPU: it packs at level 9 and builds objects for every header. Ours took 1.5 times as much as packing bodies
and nothing else. `bench/archive.py` measures all three in one run.
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
"""Of zlib. On real pages, levels 2 and 3 cost a record 0 to 15 % more CPU for files smaller by 3 and 4 %;
levels 4, 6 and 9 pack at 1.5, 2.2 and 2.6 times the CPU of 1 for files smaller by 10, 12 and 12 %."""

WORTH_PACKING_BYTES = 1_000
"""Smaller records (requests, redirects, revisits) are stored: packing saves a third of the little they take,
and costs ten times as much CPU."""

RENAMED_PREFIX = "X-Archive-Orig-"
"""Put before headers that no longer tell the truth about the body as it is stored."""

SAME_BODY = "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest"
NOT_MODIFIED = "http://netpreserve.org/warc/1.1/revisit/server-not-modified"

_UNTRUE_WHEN_DECODED = frozenset({"content-encoding", "transfer-encoding"})


@dataclass(frozen=True, slots=True)
class Original:
    """The record that already holds a body: where it stands, and what it was fetched from and when."""

    file: str
    offset: int
    url: str
    at: float


def response_record(fetched: Fetched, at: float, payload_digest: bytes, record_id: str) -> bytes:
    fields = _fields_of_response(fetched, at, payload_digest, record_id)
    return _record("response", fields, http_head(fetched), fetched.body)


def revisit_record(
    fetched: Fetched, at: float, payload_digest: bytes, record_id: str, original: Original
) -> bytes:
    """A response whose body is that of `original`: the headers alone are stored again."""
    fields = _fields_of_response(fetched, at, payload_digest, record_id)
    return _record("revisit", [*fields, *_fields_of_revisit(SAME_BODY, original)], http_head(fetched))


def not_modified_record(
    fetched: Fetched, at: float, payload_digest: bytes, record_id: str, original: Original
) -> bytes:
    """A 304 that says that the page is still that of `original`, whose body has the digest."""
    fields = _fields_of_response(fetched, at, payload_digest, record_id)
    head = http_head(fetched, has_length=False)
    return _record("revisit", [*fields, *_fields_of_revisit(NOT_MODIFIED, original)], head)


def _fields_of_revisit(profile: str, original: Original) -> list[str]:
    """The two last fields are Heritrix's; they lead to the body without an index."""
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
    """The first record of every file: who wrote it, and in which format."""
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


def http_head(fetched: Fetched, *, has_length: bool = True) -> bytes:
    """Status line and headers, made true for the decoded body; a 304 has none whose length could be told."""
    length = str(len(fetched.body))
    lines = [f"HTTP/1.1 {fetched.status} {fetched.reason_phrase}"]
    length_is_told = not has_length
    for name, value in fetched.headers:
        kind = name.lower()
        wrong_length = kind == "content-length" and value != length
        length_is_told = length_is_told or (kind == "content-length" and not wrong_length)
        prefix = RENAMED_PREFIX if wrong_length or kind in _UNTRUE_WHEN_DECODED else ""
        lines.append(f"{prefix}{name}: {value}")
    if not length_is_told:
        lines.append(f"Content-Length: {length}")
    return _lines(lines)


def new_record_id() -> str:
    return f"<urn:uuid:{uuid4()}>"


@lru_cache(maxsize=8)  # the records of one response bear one date
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
        f"WARC-Payload-Digest: {_named(payload_digest)}",
        "Content-Type: application/http; msgtype=response",
    ]
    if fetched.ip:
        fields.append(f"WARC-IP-Address: {fetched.ip}")
    return fields


def _named(digest: bytes) -> str:
    return "sha1:" + b32encode(digest).decode("ascii")


def digest_named(name: str) -> bytes | None:
    """The SHA-1 digest that a field of ours names; None of what others wrote in another way."""
    kind, _, text = name.partition(":")
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
            f"WARC-Block-Digest: {_named(sha1_digest(*block))}",
            f"Content-Length: {sum(map(len, block))}",
        ]
    )
    record = b"".join([head, *block, b"\r\n\r\n"])
    return zlib.compress(record, LEVEL if len(record) >= WORTH_PACKING_BYTES else 0, wbits=31)


def _lines(lines: list[str]) -> bytes:
    """Header lines, closed by an empty one. What a server sends must not be able to add lines of its own."""
    text = "\r\n".join(lines)
    breaks = len(lines) - 1
    if text.count("\n") != breaks or text.count("\r") != breaks:
        text = "\r\n".join([" ".join(line.split()) for line in lines])
    try:  # what was not UTF-8 was read with surrogate escapes, and so goes back to the bytes that were sent
        return text.encode("utf-8", "surrogateescape") + b"\r\n\r\n"
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace") + b"\r\n\r\n"
