"""Archived files of other sites, sent so that nothing in them can act on our origin."""

from __future__ import annotations

import re
from collections import OrderedDict
from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Path, Query, Request
from fastapi.responses import Response

from wayhound.errors import ArchiveError
from wayhound.fetched import Fetched
from wayhound.pages.sniff import decode
from wayhound.portal.library import Library, Readers
from wayhound.portal.page_image import Box, PageImage, render_page
from wayhound.portal.portal import Key, Kind, Portal
from wayhound.record import Record
from wayhound.record_kinds import PAPERS_AND_DOCUMENTS
from wayhound.visit import ArchiveRef
from wayhound.web.guards import STRANGERS_POLICY
from wayhound.web.pages import BadRequest, Busy, NotFound, answer

MAX_IMAGES = 64
MOST_WAITING = 16
_TEXTUAL = re.compile(r"text/|.*(?:html|xml|json|javascript)")
_DOWNLOADS = {"application/pdf": "pdf", "application/postscript": "ps", "application/gzip": "gz"}
_BOX = re.compile(r"-?\d{1,5}(?:\.\d{1,4})?(?:,-?\d{1,5}(?:\.\d{1,4})?){3}")

_HARMLESS = {"content-security-policy": STRANGERS_POLICY, "x-robots-tag": "noindex"}


@dataclass(frozen=True, slots=True)
class ArchivedCopy:
    """A file of the archive, with the type and disposition under which it is sent."""

    body: bytes
    content_type: str
    disposition: str


def archived_ref(library: Library, record: Record) -> ArchiveRef:
    """Return the place in the archive of the file or page that a record was read from. Raises NotFound."""
    file = library.stores.documents.get(record.id) if record.kind in PAPERS_AND_DOCUMENTS else None
    if file is not None:
        return file.archived
    clicks = library.click_path(record)
    ref = clicks[-1].archived if clicks else None
    if ref is None:
        raise NotFound("No copy of this was kept.")
    return ref


def archived_copy(library: Library, kind: str, key: str) -> ArchivedCopy:
    """Return text and markup as plain text, and anything else as a download."""
    fetched = _read(library, archived_ref(library, library.at(kind, key)))
    media_type = fetched.content_type
    if fetched.body[:5] == b"%PDF-":
        media_type = "application/pdf"
    if media_type in _DOWNLOADS:
        return ArchivedCopy(
            fetched.body, media_type, f'attachment; filename="original.{_DOWNLOADS[media_type]}"'
        )
    if _TEXTUAL.match(media_type):
        text, _ = decode(fetched.body, fetched.charset)
        return ArchivedCopy(
            text.encode("utf-8", "replace"), "text/plain; charset=utf-8", 'inline; filename="copy.txt"'
        )
    return ArchivedCopy(fetched.body, "application/octet-stream", 'attachment; filename="original.bin"')


def _read(library: Library, ref: ArchiveRef) -> Fetched:
    try:
        return library.workspace.archive.read(ref)
    except (ArchiveError, OSError):
        raise NotFound("The archived copy can no longer be read.") from None


class ImageCache:
    """Pages that were requested lately; rendering one takes a process, drawing a frame on it does not."""

    def __init__(self) -> None:
        self._pages: OrderedDict[tuple[str, int], PageImage] = OrderedDict()

    def get(self, library: Library, record: Record, page: int, box: Box | None) -> bytes:
        """Return a picture. One thread alone may call this."""
        name = (record.id, page)
        if name not in self._pages:
            self._pages[name] = self._render(library, record, page)
        self._pages.move_to_end(name)
        while len(self._pages) > MAX_IMAGES:
            self._pages.popitem(last=False)
        return self._pages[name].png(box)

    def _render(self, library: Library, record: Record, page: int) -> PageImage:
        file = library.stores.documents.get(record.id)
        if file is None or file.kind != "pdf" or page > file.page_count:
            raise NotFound("There is no such page.")
        rendered = render_page(_read(library, file.archived).body, page)
        if rendered is None:
            raise NotFound("This page cannot be shown as a picture.")
        return rendered


class ImageQueue:
    """Pictures are made one at a time, for a limited number of visitors: the others are asked to come back."""

    def __init__(self, readers: Readers) -> None:
        """`readers` must have one thread."""
        self._readers = readers
        self._cache = ImageCache()
        self._waiting = 0

    async def get(self, kind: str, key: str, page: int, box: Box | None) -> bytes:
        """Return a picture as PNG. Raises Busy if too many wait, and NotFound."""
        if self._waiting >= MOST_WAITING:
            raise Busy(wait_seconds=5)
        self._waiting += 1
        try:
            return await self._readers.run(
                lambda library: self._cache.get(library, library.at(kind, key), page, box)
            )
        finally:
            self._waiting -= 1


def read_box(text: str) -> Box | None:
    if not text:
        return None
    if not _BOX.fullmatch(text):
        raise BadRequest("box must be four numbers separated by commas: left,top,right,bottom.")
    left, top, right, bottom = map(float, text.split(","))
    return left, top, right, bottom


def original_routes(portal: Portal) -> APIRouter:
    router = APIRouter(tags=["originals"])
    images = ImageQueue(portal.image_readers)

    @router.get(
        "/records/{kind}/{key}/archived",
        response_class=Response,
        responses={
            200: {"content": {name: {} for name in (*_DOWNLOADS, "text/plain", "application/octet-stream")}}
        },
    )
    async def archived(request: Request, kind: Kind, key: Key) -> Response:
        """The file or page as it was fetched: markup as plain text, anything else as a download."""
        copy = await portal.readers.run(lambda library: archived_copy(library, kind, key))
        headers = _HARMLESS | {"content-disposition": copy.disposition}
        return answer(request, copy.body, copy.content_type, headers=headers)

    @router.get(
        "/records/{kind}/{key}/pages/{page}.png",
        response_class=Response,
        responses={200: {"content": {"image/png": {}}}},
    )
    async def image(
        request: Request, kind: Kind, key: Key, page: Annotated[int, Path(ge=1, le=10_000)],
        box: Annotated[str, Query(max_length=60, description="left,top,right,bottom in points")] = "",
    ) -> Response:  # fmt: skip
        """A page of a PDF as a picture, with a frame around `box`."""
        body = await images.get(kind, key, page, read_box(box))
        return answer(request, body, "image/png", headers=_HARMLESS)

    return router
