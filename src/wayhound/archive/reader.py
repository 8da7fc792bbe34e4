"""Reads responses out of an archive: one by its position, or all of a file in order.

Many archives hold decoded bodies under headers that were left as they came. So a body that is not what its headers say
is taken as it stands, and one that breaks off gives what could be read.

A page that was archived before is asked for so that the server sends it only if it has changed (RFC 9110, section 13).
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, replace
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import NamedTuple, Protocol, TypeVar

from wayhound.archive.location import ArchiveFile, Location, SpooledSegment, archive_name
from wayhound.archive.warc import (
    CONVERSION,
    HEAD_END,
    MAX_HEAD_BYTES,
    RENAMED_PREFIX,
    Original,
    WarcRecord,
    header_lines,
    name_and_value,
    parse_bytes,
    parse_digest,
    record_at,
    records,
)
from wayhound.errors import ArchiveError
from wayhound.fetched import Failed, Fetched, parse_content_type, redirect_target, rendered
from wayhound.files import DecompressionError, decompress
from wayhound.page import Page, Unreadable
from wayhound.pages.reader import read_response
from wayhound.visit import ArchiveRef

MAX_BODY_BYTES = 256 << 20
"""About what a compressed body may grow to; the rest is left out."""

_MAX_NAME_BYTES = 255  # of a file: the operating system refuses to look for a longer name
_STATUS_LINE = re.compile(r"HTTP/[0-9.]+\s+([0-9]{3})(?:\s+(.*))?")
_CHUNK_HEAD = re.compile(rb"([0-9A-Fa-f]{1,8})[ \t]*(?:;[^\r\n]*)?\r\n")

Headers = tuple[tuple[str, str], ...]
Result = TypeVar("Result")
Position = tuple[ArchiveFile, int]
"""A file and the offset of a record in it."""


class ArchiveReader:
    """Reads what `ArchiveWriter` wrote to `folder`, or uploaded from there. Keeps no file open: any thread may use it.

    All methods raise ArchiveError if the record is missing or damaged, and ArchiveUnavailable if the location of the
    archive cannot be reached.
    """

    def __init__(self, folder: Path, product: str = "Wayhound", location: Location | None = None) -> None:
        """`product` is the crawler's name, by which robots rules in pages may address it."""
        self._folder = folder
        self._product = product
        self._location = location

    def read(self, ref: ArchiveRef) -> Fetched:
        """Return the response at `ref`, with its body even if that is stored with another response."""
        return self._at(ref).load()

    def page(self, ref: ArchiveRef | None) -> Page | Unreadable | None:
        """Return the page at `ref`; None without a ref, and if the response there is no page."""
        return None if ref is None else read_response(self.read(ref), self._product)

    def cached_page(self, ref: ArchiveRef) -> CachedPage:
        """Return the page at `ref` with what is needed to ask whether it has changed since."""
        stored = self._at(ref)
        stored = stored.source or stored
        source = stored.confirmed_response() if stored.is_not_modified else stored
        response = source.load()
        latest = confirmed(response, stored.answer()) if stored.is_not_modified else response
        record = _original(source.path, source.record)
        body = record if source.body_at is None else _original(source.body_at[0], record_at(*source.body_at))
        digest = parse_digest(source.record.payload_digest)
        if digest is None:
            raise ArchiveError(f"{source.path} has no digest of the body at byte {record.offset}.")
        return CachedPage(response, record, body, digest, conditions_of(latest.headers))

    async def apart(self, read: Callable[[ArchiveRef], Result], ref: ArchiveRef) -> Result:
        """Return what a method of this reader returns; in a thread, if it may have to wait for another machine."""
        return read(ref) if self._location is None else await asyncio.to_thread(read, ref)

    def _at(self, ref: ArchiveRef) -> StoredResponse:
        path = self._segment(ref.file)
        stored = stored_response_at(path, ref.offset)
        if stored.record.length != ref.length:
            raise ArchiveError(f"{path} holds another record at byte {ref.offset} than it should.")
        return stored

    def holds(self, ref: ArchiveRef) -> bool:
        """Return True if the file reaches as far as `ref`, without reading it."""
        size = self.size(ref.file)
        return size is not None and size >= ref.offset + ref.length

    def size(self, name: str) -> int | None:
        """Return the bytes of an archive file, wherever it is; None if it is nowhere."""
        segment = self._segment(name)
        if isinstance(segment, SpooledSegment):
            return segment.size()
        path = self._folder / name
        return path.stat().st_size if path.is_file() else None

    def is_shared(self, name: str) -> bool:
        """Return True unless an archive file is on this machine alone: a record of others must not refer to it then."""
        return self._location is None or self._location.size(archive_name(name)) is not None

    def _segment(self, name: str) -> ArchiveFile:
        if self._location is None:
            return self._folder / name
        return SpooledSegment(name, self._folder, self._location)


class StoredResponse(NamedTuple):
    """A response record. `body_at` is set for a revisit: the position of the record that holds the body.

    For a 304 that is the response which it confirms, and which may itself be a revisit of a body elsewhere. `source` is
    set for a document that a browser made: the response that it was made of.
    """

    path: ArchiveFile
    record: WarcRecord
    head: HttpHead
    body_at: Position | None
    source: StoredResponse | None = None

    @property
    def is_not_modified(self) -> bool:
        return self.body_at is not None and self.head.status == NOT_MODIFIED

    def load(self) -> Fetched:
        if self.source is not None:
            return rendered(self.source.load(), self.record.url, self.record.block)
        if self.is_not_modified:
            return confirmed(self.confirmed_response().load(), self.answer())
        return _to_fetched(self.record, self.head, _body(self))

    def answer(self) -> Fetched:
        """Return what the server itself sent, without a body that is stored elsewhere."""
        return _to_fetched(self.record, self.head, b"")

    def confirmed_response(self) -> StoredResponse:
        """Return the response that a 304 confirms."""
        assert self.body_at is not None
        source = stored_response_at(*self.body_at)
        if source.is_not_modified or source.record.payload_digest != self.record.payload_digest:
            raise _body_missing(self)
        return source


def iterate(path: Path) -> Iterator[tuple[ArchiveRef, Fetched, float]]:
    """Yield every response of any WARC file with its position and the time when it was fetched.

    Revisit records come with the body that they refer to; a revisit whose body is neither in this file nor, by name,
    beside it is left out.
    """
    for stored in stored_responses(path, {}):
        record = stored.record
        yield ArchiveRef(path.name, record.offset, record.length), stored.load(), record.at


def stored_responses(path: ArchiveFile, bodies: dict[str, Position]) -> Iterator[StoredResponse]:
    """Yield the responses of a file in order. `bodies`, by digest, is read and added to."""
    for record in records(path):
        stored = _stored(path, record, bodies)
        if stored:
            yield stored


def stored_response_at(path: ArchiveFile, offset: int, body_at: Position | None = None) -> StoredResponse:
    """Return the response at an offset. Raises ArchiveError if there is none or its body is missing."""
    record = record_at(path, offset)
    bodies = {record.payload_digest: body_at} if body_at else {}
    stored = _stored(path, record, bodies)
    if stored is None:
        raise ArchiveError(f"{path} holds no response at byte {offset}, or one whose body is gone.")
    return stored


def _stored(path: ArchiveFile, record: WarcRecord, bodies: dict[str, Position]) -> StoredResponse | None:
    """Return None if the record is of another kind or protocol, or if its body cannot be found."""
    if record.kind == CONVERSION:
        return _conversion(path, record)
    head = parse_http_head(record.block) if record.kind in {"response", "revisit"} else None
    if head is None:
        return None
    if record.kind == "response":
        bodies.setdefault(record.payload_digest, (path, record.offset))
        return StoredResponse(path, record, head, None)
    body_at = _body_position(path, record, bodies)
    if body_at is None or (head.status == NOT_MODIFIED and record_at(*body_at).url != record.url):
        return None  # a 304 is about its own page; the same digest elsewhere may be that of an empty body
    return StoredResponse(path, record, head, body_at)


def _conversion(path: ArchiveFile, record: WarcRecord) -> StoredResponse | None:
    position = _body_position(path, record, {})
    if position is None or not record.fields.get("content-type", "").startswith("text/html"):
        return None
    source = stored_response_at(*position)
    return StoredResponse(path, record, source.head, None, source)


def _body_position(path: ArchiveFile, record: WarcRecord, bodies: dict[str, Position]) -> Position | None:
    """Find a body by the name and offset that the revisit gives, or by its digest."""
    name = record.fields.get("warc-refers-to-filename", "")
    offset = parse_bytes(record.fields.get("warc-refers-to-file-offset", ""))
    is_name = Path(name).name == name and 0 < len(name.encode()) <= _MAX_NAME_BYTES
    if is_name and offset is not None and path.with_name(name).is_file():
        return path.with_name(name), offset
    return bodies.get(record.payload_digest) if record.payload_digest else None


def _body(stored: StoredResponse) -> bytes:
    record, head, body_at = stored.record, stored.head, stored.body_at
    if body_at is None:
        return _decoded_body(record, head)
    original = record_at(*body_at)
    original_head = parse_http_head(original.block)
    same = original.payload_digest == record.payload_digest
    if original_head is None or original.kind != "response" or not same:
        raise _body_missing(stored)
    return _decoded_body(original, original_head)


def _original(path: ArchiveFile, record: WarcRecord) -> Original:
    return Original(path.name, record.offset, record.url, record.at)


def _body_missing(stored: StoredResponse) -> ArchiveError:
    assert stored.body_at is not None
    path, offset = stored.body_at
    return ArchiveError(f"{path} does not hold at byte {offset} the body that {stored.record.url} refers to.")


# HTTP in the block of a record


@dataclass(frozen=True, slots=True)
class HttpHead:
    """Status line and headers of a response, and where in the block the body begins."""

    status: int
    reason_phrase: str
    headers: Headers
    body_start: int

    def first(self, name: str) -> str:
        return next((value for key, value in self.headers if key.lower() == name), "")


def parse_http_head(block: bytes) -> HttpHead | None:
    """Return None if the block is no HTTP response."""
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


def _to_fetched(record: WarcRecord, head: HttpHead, body: bytes) -> Fetched:
    """Return the response as it came from the network, with the body decoded and the headers as sent."""
    url = record.url
    content_type, charset = parse_content_type(head.first("content-type"))
    return Fetched(
        url=url,
        status=head.status,
        headers=_headers_as_sent(head.headers),
        body=body,
        content_type=content_type,
        charset=charset,
        location=redirect_target(head.status, head.first("location"), url),
        reason_phrase=head.reason_phrase,
        ip=record.fields.get("warc-ip-address", ""),
    )


def _decoded_body(record: WarcRecord, head: HttpHead) -> bytes:
    body = record.block[head.body_start :]
    if head.first("transfer-encoding").lower().endswith("chunked"):
        body = _join_chunks(body)
    try:
        return decompress(body, head.first("content-encoding"), MAX_BODY_BYTES).data
    except DecompressionError:
        return body


def _join_chunks(body: bytes) -> bytes:
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


def _headers_as_sent(headers: Headers) -> Headers:
    """Undo the archive's renaming; the length of the stored body gives way to the one that was sent."""
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


NOT_MODIFIED = 304
MAX_VALIDATOR_CHARS = 500

# With its quotes, as RFC 9110, section 8.8.3 has it: a bare `*` would match whatever the page becomes.
_ENTITY_TAG = re.compile(r'(?:W/)?"[!#-~]*"')
# The tag that Apache gives to a page it compresses. It compresses after it has compared tags, so by this tag alone it
# would never find a page unchanged; by the tag before compression it does.
_TAG_OF_COMPRESSED = re.compile(r'((?:W/)?"[!#-~]+)-(?:gzip|br|deflate)"')
_PRINTABLE = re.compile(r"[ -~]+")


@dataclass(frozen=True, slots=True)
class CachedPage:
    """A page as the archive holds it.

    `response` is the last one that brought the body, and `record` is where it stands; `body` is the record that holds
    the body, which is another one if that had been stored before, and `digest` is the body's. `conditions` are the
    headers that ask for the page only if it has changed since the server last answered for it.
    """

    response: Fetched
    record: Original
    body: Original
    digest: bytes
    conditions: Headers

    def is_confirmed_by(self, answer: Fetched) -> bool:
        """Return True if the server says that the page has not changed. An unasked 304 does not count."""
        return answer.status == NOT_MODIFIED and bool(self.conditions)

    def resolve(self, answer: Fetched | Failed) -> Fetched | Failed:
        """Return this page with the new headers if the answer confirms it, else the answer itself."""
        if isinstance(answer, Fetched) and self.is_confirmed_by(answer):
            return confirmed(self.response, answer)
        return answer


class ConditionalFetcher(Protocol):
    """A fetcher that can ask for a page only if it has changed."""

    async def fetch(self, url: str, conditions: Headers = ()) -> Fetched | Failed: ...

    def accepts(self, fetched: Fetched) -> bool: ...


class Revalidator:
    """Fetches pages again. `last_page` returns where a page was archived last."""

    def __init__(
        self,
        fetcher: ConditionalFetcher,
        reader: ArchiveReader,
        last_page: Callable[[str], Awaitable[ArchiveRef | None]],
    ) -> None:
        self._fetcher = fetcher
        self._reader = reader
        self._last_page = last_page

    async def cached(self, url: str) -> CachedPage | None:
        """Return the page as it was, if it is whole and the fetcher would still accept it.

        The body is read before the page is asked for: after a 304 it would be too late to find it missing. One that is
        on this machine alone is left out: the record of a 304 must not be at the location without it.
        """
        ref = await self._last_page(url)
        if ref is None:
            return None
        try:
            cached = await self._reader.apart(self._reader.cached_page, ref)
            if not all(self._reader.is_shared(part.file) for part in (cached.body, cached.record)):
                return None
        except ArchiveError:
            return None
        return cached if cached.response.status == 200 and self._fetcher.accepts(cached.response) else None

    async def fetch(self, url: str, cached: CachedPage) -> Fetched | Failed:
        """Return the page, or a 304 if it is still the `cached` one."""
        return await self._fetcher.fetch(url, cached.conditions)


def conditions_of(headers: Headers) -> Headers:
    """Return If-None-Match and If-Modified-Since by the validators of a response; none if it has no usable ones."""
    by_name = {name.lower(): value.strip() for name, value in reversed(headers)}  # of several the first
    conditions = []
    if _is_tag(tag := by_name.get("etag", "")):
        compressed = _TAG_OF_COMPRESSED.fullmatch(tag)
        conditions.append(("If-None-Match", f'{tag}, {compressed[1]}"' if compressed else tag))
    if _is_date(date := by_name.get("last-modified", "")):
        conditions.append(("If-Modified-Since", date))
    return tuple(conditions)


def confirmed(first: Fetched, answer: Fetched) -> Fetched:
    """Return `first` updated by a 304: its headers replace older ones, except those about the body.

    The body did not come with it (RFC 9111, section 3.2).
    """
    new = tuple([(name, value) for name, value in answer.headers if not _is_about_body(name)])
    renewed = {name.lower() for name, _ in new}
    kept = tuple([(name, value) for name, value in first.headers if name.lower() not in renewed])
    return replace(first, headers=kept + new, ip=answer.ip, wait_seconds=answer.wait_seconds)


def _is_about_body(name: str) -> bool:
    return name.lower().startswith(("content-", "transfer-encoding"))


def _is_tag(value: str) -> bool:
    return len(value) <= MAX_VALIDATOR_CHARS and _ENTITY_TAG.fullmatch(value) is not None


def _is_date(value: str) -> bool:
    if len(value) > MAX_VALIDATOR_CHARS or not _PRINTABLE.fullmatch(value):
        return False
    try:
        parsedate_to_datetime(value)
    except (ValueError, TypeError, OverflowError):
        return False
    return True
