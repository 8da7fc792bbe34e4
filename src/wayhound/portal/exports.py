"""All records of a kind as JSON lines, sent as they are read."""

from __future__ import annotations

import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response, StreamingResponse

from wayhound.portal.addresses import from_key, record_url
from wayhound.portal.library import Library
from wayhound.portal.portal import Portal
from wayhound.portal.record_pages import Kind
from wayhound.portal.search_pages import FieldNames, split_names
from wayhound.record import Record
from wayhound.store.records import fields_to_json
from wayhound.web.errors import BadRequest, NotFound

BATCH = 200
MOST_A_PAGE = 1000
JSON_LINES = "application/x-ndjson"


@dataclass(frozen=True, slots=True)
class RecordPage:
    """Some records in order of their ids; `cursor` asks for those after them, and is empty at the end."""

    kind: str
    records: list[dict[str, Any]]
    cursor: str


def record_data(record: Record, names: list[str]) -> dict[str, Any]:
    """A record as data; with `names`, only those of its fields."""
    fields = fields_to_json(record.fields)
    kept = {name: fields[name] for name in names if name in fields} if names else fields
    url = record_url(record.kind, record.id)
    return {"kind": record.kind, "id": record.id, "url": url, "site": record.site, "fields": kept}


def known_kind(library: Library, kind: str) -> str:
    named = from_key(kind)
    if named is None or named not in library.counts():
        raise NotFound("There are no records of that kind.")
    return named


def page_after(library: Library, kind: str, after: str, limit: int, names: list[str]) -> RecordPage:
    named = known_kind(library, kind)
    records = library.catalogue.after(named, after, limit)
    cursor = _cursor(records[-1].id) if len(records) == limit else ""
    return RecordPage(named, [record_data(record, names) for record in records], cursor)


def next_batch(kind: str, after: str) -> Callable[[Library], list[Record]]:
    return lambda library: library.catalogue.after(kind, after, BATCH)


def _cursor(record_id: str) -> str:
    return urlsafe_b64encode(f"after {record_id}".encode()).decode().rstrip("=")


def read_cursor(cursor: str) -> str:
    """The id that a page begins after."""
    if not cursor:
        return ""
    try:
        word, _, after = urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)).decode().partition(" ")
    except ValueError:
        word, after = "", ""
    if word != "after" or _cursor(after) != cursor:
        raise BadRequest("cursor is not one that this server gave.")
    return after


def export_routes(portal: Portal) -> APIRouter:
    router = APIRouter(tags=["records"])

    @router.get("/records/{kind}.json", response_model=RecordPage)
    async def records(
        request: Request, kind: Kind, cursor: Annotated[str, Query(max_length=4200)] = "",
        limit: Annotated[int, Query(ge=1, le=MOST_A_PAGE)] = 100, fields: FieldNames = "",
    ) -> Response:  # fmt: skip
        """Records of a kind, in order of their ids, a page at a time."""
        after, names = read_cursor(cursor), split_names(fields)
        view = await portal.readers.ask(lambda library: page_after(library, kind, after, limit, names))
        return portal.json(request, view)

    @router.get(
        "/export/{kind}.jsonl",
        response_class=StreamingResponse,
        responses={200: {"content": {JSON_LINES: {}}}},
    )
    async def export(kind: Kind, fields: FieldNames = "") -> Response:
        """All records of a kind, one JSON object a line, read in small pieces while they are sent."""
        names = split_names(fields)
        named = await portal.slow_readers.ask(lambda library: known_kind(library, kind))

        async def lines() -> AsyncIterator[bytes]:
            batch = await portal.slow_readers.ask(next_batch(named, ""))
            while batch:
                yield b"".join(_line(record, names) for record in batch)
                batch = await portal.slow_readers.ask(next_batch(named, batch[-1].id))

        headers = {"content-disposition": f'attachment; filename="{kind}.jsonl"', "cache-control": "no-cache"}
        return StreamingResponse(lines(), headers=headers, media_type=JSON_LINES)

    return router


def _line(record: Record, names: list[str]) -> bytes:
    return json.dumps(record_data(record, names), ensure_ascii=False).encode("utf-8", "replace") + b"\n"
