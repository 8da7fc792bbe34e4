"""Responses out of an archive: one by its place, or all of a file in their order."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from wayhound.archive.earlier import NOT_MODIFIED, Earlier, conditions_of, confirmed
from wayhound.archive.warc_http import HttpHead, as_fetched, body_of, http_head
from wayhound.archive.warc_read import WarcRecord, record_at, records
from wayhound.archive.warc_write import Original, digest_named
from wayhound.errors import ArchiveError
from wayhound.fetched import Fetched
from wayhound.page import Page, Unreadable
from wayhound.pages.reader import read_response
from wayhound.visit import ArchiveRef

Place = tuple[Path, int]
"""A file and the offset of a record in it."""


class ArchiveReader:
    """Reads what `ArchiveWriter` wrote to `folder`. Keeps no file open, so that it may be asked by anyone."""

    def __init__(self, folder: Path, product: str = "Wayhound") -> None:
        """`product` is the crawler's name, by which robots rules in pages may address it."""
        self._folder = folder
        self._product = product

    def read(self, ref: ArchiveRef) -> Fetched:
        """The response at `ref`, with its body also where that is stored with an earlier one."""
        return self._at(ref).load()

    def page(self, ref: ArchiveRef | None) -> Page | Unreadable | None:
        """Return the page at `ref`; None without a ref, and if the response there is no page.

        Raises ArchiveError if the record is damaged or missing.
        """
        return None if ref is None else read_response(self.read(ref), self._product)

    def recall(self, ref: ArchiveRef) -> Earlier:
        """The page at `ref`, to ask whether it has changed since."""
        stored = self._at(ref)
        source = stored.confirmed_response() if stored.is_not_modified else stored
        first = source.load()
        said = confirmed(first, stored.answer()) if stored.is_not_modified else first
        record = _original(source.path, source.record)
        body = record if source.place is None else _original(source.place[0], record_at(*source.place))
        digest = digest_named(source.record.payload_digest)
        if digest is None:
            raise ArchiveError(f"{source.path} does not tell at byte {record.offset} the digest of its body.")
        return Earlier(first, record, body, digest, conditions_of(said.headers))

    def _at(self, ref: ArchiveRef) -> StoredResponse:
        path = self._folder / ref.file
        stored = stored_response_at(path, ref.offset)
        if stored.record.length != ref.length:
            raise ArchiveError(f"{path} holds another record at byte {ref.offset} than it should.")
        return stored

    def holds(self, ref: ArchiveRef) -> bool:
        """Whether the file reaches as far as `ref`, without reading it."""
        path = self._folder / ref.file
        return path.is_file() and path.stat().st_size >= ref.offset + ref.length


class StoredResponse(NamedTuple):
    """A response as a file holds it. `place` is set for a revisit: where its body stands.

    Of a 304 that is the response that it confirms, which may itself be a revisit of the same body elsewhere.
    """

    path: Path
    record: WarcRecord
    head: HttpHead
    place: Place | None

    @property
    def is_not_modified(self) -> bool:
        return self.place is not None and self.head.status == NOT_MODIFIED

    def load(self) -> Fetched:
        if self.is_not_modified:
            return confirmed(self.confirmed_response().load(), self.answer())
        return as_fetched(self.record, self.head, _body(self))

    def answer(self) -> Fetched:
        """What the server itself sent, without a body that stands elsewhere."""
        return as_fetched(self.record, self.head, b"")

    def confirmed_response(self) -> StoredResponse:
        """Of a 304: the response that it says still holds."""
        assert self.place is not None
        source = stored_response_at(*self.place)
        if source.is_not_modified or source.record.payload_digest != self.record.payload_digest:
            raise _not_there(self)
        return source


def iterate(path: Path) -> Iterator[tuple[ArchiveRef, Fetched, float]]:
    """Every response of any WARC file: where it stands, what it is, and when it was fetched.

    Revisit records come with the body that they refer to; one whose body is not in this file or, by name,
    beside it is left out.
    """
    for stored in stored_responses(path, {}):
        record = stored.record
        yield ArchiveRef(path.name, record.offset, record.length), stored.load(), record.at


def stored_responses(path: Path, bodies: dict[str, Place]) -> Iterator[StoredResponse]:
    """The responses of a file in their order. `bodies`, by digest, is used and added to."""
    for record in records(path):
        stored = _stored(path, record, bodies)
        if stored:
            yield stored


def stored_response_at(path: Path, offset: int, place: Place | None = None) -> StoredResponse:
    record = record_at(path, offset)
    bodies = {record.payload_digest: place} if place else {}
    stored = _stored(path, record, bodies)
    if stored is None:
        raise ArchiveError(f"{path} holds no response at byte {offset}, or one whose body is gone.")
    return stored


def _stored(path: Path, record: WarcRecord, bodies: dict[str, Place]) -> StoredResponse | None:
    """None when the record is of another kind or protocol, or when its body is not to be found."""
    head = http_head(record.block) if record.kind in {"response", "revisit"} else None
    if head is None:
        return None
    if record.kind == "response":
        bodies.setdefault(record.payload_digest, (path, record.offset))
        return StoredResponse(path, record, head, None)
    place = _place_of_body(path, record, bodies)
    if place is None or (head.status == NOT_MODIFIED and record_at(*place).url != record.url):
        return None  # a 304 is about its own page; a digest that comes elsewhere may be that of an empty body
    return StoredResponse(path, record, head, place)


def _place_of_body(path: Path, record: WarcRecord, bodies: dict[str, Place]) -> Place | None:
    """By the name and offset that the revisit gives, or by its digest."""
    name = record.fields.get("warc-refers-to-filename", "")
    offset = record.fields.get("warc-refers-to-file-offset", "")
    if name and Path(name).name == name and offset.isdecimal() and (path.parent / name).is_file():
        return path.parent / name, int(offset)
    return bodies.get(record.payload_digest) if record.payload_digest else None


def _body(stored: StoredResponse) -> bytes:
    record, head, place = stored.record, stored.head, stored.place
    if place is None:
        return body_of(record, head)
    original = record_at(*place)
    original_head = http_head(original.block)
    same = original.payload_digest == record.payload_digest
    if original_head is None or original.kind != "response" or not same:
        raise _not_there(stored)
    return body_of(original, original_head)


def _original(path: Path, record: WarcRecord) -> Original:
    return Original(path.name, record.offset, record.url, record.at)


def _not_there(stored: StoredResponse) -> ArchiveError:
    assert stored.place is not None
    path, offset = stored.place
    return ArchiveError(f"{path} does not hold at byte {offset} the body that {stored.record.url} refers to.")
