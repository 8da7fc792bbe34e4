"""HTTP responses out of WARC records, as they came from the network.

Many archives hold decoded bodies under headers that were left as they came. So a body that is not what its
headers say is taken as it stands, and one that breaks off gives what could be read.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from wayhound.archive.warc_read import HEAD_END, MAX_HEAD_BYTES, WarcRecord, header_lines, name_and_value
from wayhound.archive.warc_write import RENAMED_PREFIX
from wayhound.compression import DecompressionError, decompress
from wayhound.fetched import Fetched, parse_content_type, redirect_target

MAX_BODY_BYTES = 256 << 20
"""About what a compressed body may grow to; the rest is left out."""

_STATUS_LINE = re.compile(r"HTTP/[0-9.]+\s+([0-9]{3})(?:\s+(.*))?")
_CHUNK_HEAD = re.compile(rb"([0-9A-Fa-f]{1,8})[ \t]*(?:;[^\r\n]*)?\r\n")

Headers = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class HttpHead:
    """The start of a response: its status line and headers, and where in the block the body begins."""

    status: int
    reason_phrase: str
    headers: Headers
    body_start: int

    def first(self, name: str) -> str:
        return next((value for key, value in self.headers if key.lower() == name), "")


def http_head(block: bytes) -> HttpHead | None:
    """None when the block is no HTTP response."""
    if not block.startswith(b"HTTP/"):
        return None
    end = HEAD_END.search(block, 0, MAX_HEAD_BYTES)
    head = block[: end.start()] if end else block[:MAX_HEAD_BYTES]
    lines = header_lines(head)
    status = _STATUS_LINE.fullmatch(lines[0].rstrip())
    if not status:
        return None
    headers = tuple([name_and_value(line) for line in lines[1:]])
    return HttpHead(int(status[1]), status[2] or "", headers, end.end() if end else len(block))


def as_fetched(record: WarcRecord, head: HttpHead, body: bytes) -> Fetched:
    """The response as it came from the network, with the body decoded and the headers as they were sent."""
    url = record.url
    content_type, charset = parse_content_type(head.first("content-type"))
    return Fetched(
        url=url,
        status=head.status,
        headers=_as_sent(head.headers),
        body=body,
        content_type=content_type,
        charset=charset,
        location=redirect_target(head.status, head.first("location"), url),
        reason_phrase=head.reason_phrase,
        ip=record.fields.get("warc-ip-address", ""),
    )


def body_of(record: WarcRecord, head: HttpHead) -> bytes:
    """The body, decoded where it was stored as it went over the wire."""
    body = record.block[head.body_start :]
    return _decoded(body, head.first("transfer-encoding"), head.first("content-encoding"))


def _decoded(body: bytes, transfer_encoding: str, content_encoding: str) -> bytes:
    if transfer_encoding.lower().endswith("chunked"):
        body = _joined_chunks(body)
    try:
        return decompress(body, content_encoding, MAX_BODY_BYTES).data
    except DecompressionError:
        return body


def _joined_chunks(body: bytes) -> bytes:
    chunks: list[bytes] = []
    at = 0
    while head := _CHUNK_HEAD.match(body, at):
        start, end = head.end(), head.end() + int(head[1], 16)
        if start == end:
            return b"".join(chunks)
        if body[end : end + 2] not in {b"\r\n", b""}:
            return body
        chunks.append(body[start:end])
        at = end + 2
    return b"".join(chunks) if at >= len(body) else body


def _as_sent(headers: Headers) -> Headers:
    """Undo what the archive renamed; the true length stands aside for the one that was sent."""
    prefix = RENAMED_PREFIX.lower()
    renamed = {name.lower() for name, _ in headers if name.lower().startswith(prefix)}
    if not renamed:
        return headers
    hidden = "content-length" if f"{prefix}content-length" in renamed else ""
    return tuple(
        (name[len(prefix) :] if name.lower() in renamed else name, value)
        for name, value in headers
        if name.lower() != hidden
    )
