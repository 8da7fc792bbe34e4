"""Strangers' files as they were fetched, sent so that nothing in them can act on our origin."""

from __future__ import annotations

import re
from collections import OrderedDict
from dataclasses import dataclass
from threading import Lock
from typing import Annotated

from fastapi import APIRouter, Path, Query, Request
from fastapi.responses import Response

from wayhound.errors import ArchiveError
from wayhound.fetched import Fetched
from wayhound.pages.charset import decode
from wayhound.portal.library import Library
from wayhound.portal.page_image import Box, page_image
from wayhound.portal.portal import Portal
from wayhound.portal.record_pages import Key, Kind, find_record
from wayhound.record import Record
from wayhound.visit import ArchiveRef
from wayhound.web.errors import BadRequest, NotFound
from wayhound.web.guards import STRANGERS_POLICY
from wayhound.web.pages import answer

KEPT_IMAGES = 64
_TEXTUAL = re.compile(r"text/|.*(?:html|xml|json|javascript)")
_DOWNLOADS = {"application/pdf": "pdf", "application/postscript": "ps", "application/gzip": "gz"}
_BOX = re.compile(r"-?\d{1,5}(?:\.\d{1,4})?(?:,-?\d{1,5}(?:\.\d{1,4})?){3}")

_HARMLESS = {"content-security-policy": STRANGERS_POLICY, "x-robots-tag": "noindex"}


@dataclass(frozen=True, slots=True)
class Kept:
    """A file of the archive, with the type under which it is sent on."""

    body: bytes
    content_type: str
    disposition: str


def archived_ref(library: Library, record: Record) -> ArchiveRef:
    """Where the file or page that a record was read from stands in the archive."""
    file = library.files.get(record.id) if record.kind in {"paper", "document"} else None
    if file is not None:
        return file.archived
    path = (
        library.workspace.stores.click_paths.to_visit(record.site, record.visit)
        if record.visit is not None
        else []
    )
    ref = path[-1].archived if path else None
    if ref is None:
        raise NotFound("No copy of this was kept.")
    return ref


def archived_copy(library: Library, kind: str, key: str) -> Kept:
    """Text and markup become plain text, documents are downloads, and so is whatever else there is."""
    fetched = _read(library, archived_ref(library, find_record(library, kind, key)))
    media_type = fetched.content_type
    if fetched.body[:5] == b"%PDF-":
        media_type = "application/pdf"
    if media_type in _DOWNLOADS:
        return Kept(fetched.body, media_type, f'attachment; filename="original.{_DOWNLOADS[media_type]}"')
    if _TEXTUAL.match(media_type):
        text, _ = decode(fetched.body, fetched.charset)
        return Kept(
            text.encode("utf-8", "replace"), "text/plain; charset=utf-8", 'inline; filename="copy.txt"'
        )
    return Kept(fetched.body, "application/octet-stream", 'attachment; filename="original.bin"')


def _read(library: Library, ref: ArchiveRef) -> Fetched:
    try:
        return library.archive.read(ref)
    except (ArchiveError, OSError):
        raise NotFound("The copy of this that was kept cannot be read any more.") from None


class Images:
    """Pictures of pages that were asked for lately; making one takes a process."""

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[str, int, Box | None], bytes] = OrderedDict()
        self._lock = Lock()

    def get(self, library: Library, record: Record, page: int, box: Box | None) -> bytes:
        """One at a time: a visitor who opens many waits for them, and the others do not."""
        name = (record.id, page, box)
        with self._lock:
            if name not in self._kept:
                self._kept[name] = self._make(library, record, page, box)
            self._kept.move_to_end(name)
            while len(self._kept) > KEPT_IMAGES:
                self._kept.popitem(last=False)
            return self._kept[name]

    def _make(self, library: Library, record: Record, page: int, box: Box | None) -> bytes:
        file = library.files.get(record.id)
        if file is None or file.kind != "pdf" or page > file.page_count:
            raise NotFound("There is no such page.")
        image = page_image(_read(library, file.archived).body, page, box)
        if image is None:
            raise NotFound("This page cannot be shown as a picture.")
        return image


def read_box(text: str) -> Box | None:
    if not text:
        return None
    if not _BOX.fullmatch(text):
        raise BadRequest("box must be four numbers with commas between them: left,top,right,bottom.")
    left, top, right, bottom = map(float, text.split(","))
    return left, top, right, bottom


def original_routes(portal: Portal) -> APIRouter:
    router = APIRouter(tags=["originals"])
    images = Images()

    @router.get(
        "/records/{kind}/{key}/archived",
        response_class=Response,
        responses={
            200: {"content": {name: {} for name in (*_DOWNLOADS, "text/plain", "application/octet-stream")}}
        },
    )
    async def archived(request: Request, kind: Kind, key: Key) -> Response:
        """The file or page as it was fetched: markup as plain text, anything else as a download."""
        kept = await portal.readers.ask(lambda library: archived_copy(library, kind, key))
        headers = _HARMLESS | {"content-disposition": kept.disposition}
        return answer(request, kept.body, kept.content_type, headers=headers)

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
        place = read_box(box)
        body = await portal.slow_readers.ask(
            lambda library: images.get(library, find_record(library, kind, key), page, place)
        )
        return answer(request, body, "image/png", headers=_HARMLESS)

    return router
