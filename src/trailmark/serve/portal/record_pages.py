"""Records: their pages, and the same in the forms that other programs read."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict
from typing import Annotated, Any

from fastapi import APIRouter, Path, Request
from fastapi.responses import HTMLResponse, Response

from trailmark.organise.bibliography import to_bibtex, to_csl_json, to_ris
from trailmark.papers.as_cited import as_cited
from trailmark.record import Record
from trailmark.serve.portal.details import CITABLE, Details, details_of
from trailmark.serve.portal.keys import from_key
from trailmark.serve.portal.library import Library
from trailmark.serve.portal.metadata import as_data_block, coins, json_ld, meta_tags
from trailmark.serve.portal.portal import FORMAT_TYPES, Portal
from trailmark.serve.portal.search_pages import FieldNames, split_names
from trailmark.serve.web.errors import NotFound
from trailmark.serve.web.pages import answer

Kind = Annotated[str, Path(max_length=300, description="The kind of record, such as paper.")]
Key = Annotated[str, Path(max_length=4100, description="The record's key, as in the address of its page.")]


def find_record(library: Library, kind: str, key: str) -> Record:
    """The record at an address."""
    named, record_id = from_key(kind), from_key(key)
    record = library.find(named, record_id) if named and record_id else None
    if record is None:
        raise NotFound(_gone(library, named or "", record_id or ""))
    return as_cited(library.papers, record)


def _gone(library: Library, kind: str, record_id: str) -> str:
    if library.submissions.is_withheld(kind, record_id):
        return "This record was taken out of the collection on request."
    return "There is no such record here. It may have been taken out, or the link may be mistyped."


def find_paper(library: Library, kind: str, key: str) -> Record:
    record = find_record(library, kind, key)
    if record.kind != "paper":
        raise NotFound("Only papers have a citation map.")
    return record


def find_citable(library: Library, kind: str, key: str) -> Record:
    record = find_record(library, kind, key)
    if record.kind not in CITABLE:
        raise NotFound("Only papers come in this form.")
    return record


def record_json(details: Details, names: list[str]) -> bytes:
    """All that the page tells, or only some fields of the record."""
    data = asdict(details)
    if names:
        data = {key: data[key] for key in ("kind", "id", "title", "url", "added", "changed")}
        data["fields"] = [asdict(field) for field in details.fields if field.name in names]
    return json.dumps(data, ensure_ascii=False).encode("utf-8", "replace")


def record_routes(portal: Portal) -> APIRouter:
    router = APIRouter(tags=["records"])
    _add_citation_formats(router, portal)

    @router.get("/records/{kind}/{key}.json", response_model=Details)
    async def record_as_json(request: Request, kind: Kind, key: Key, fields: FieldNames = "") -> Response:
        """The record with all that its page tells. `fields` leaves out all but the named fields."""
        details = await portal.readers.ask(lambda each: details_of(each, find_record(each, kind, key)))
        return answer(request, record_json(details, split_names(fields)), "application/json")

    @router.get("/records/{kind}/{key}", response_class=HTMLResponse)
    async def record(request: Request, kind: Kind, key: Key) -> Response:
        base_url = portal.base_url(request)
        view, head = await portal.readers.ask(lambda library: _shown(library, kind, key, base_url))
        return portal.html(request, "record.html", view, json_url=f"{view.url}.json", **head)

    return router


def _shown(library: Library, kind: str, key: str, base_url: str) -> tuple[Details, dict[str, Any]]:
    """The view of a record, and what stands in the head of its page for machines."""
    record = find_record(library, kind, key)
    details = details_of(library, record)
    if record.kind != "paper":
        return details, {"meta_tags": [], "coins": "", "json_ld": ""}
    pdf_url = details.archived_url if details.archived_type == "pdf" else ""
    return details, {
        "meta_tags": meta_tags(record, base_url, pdf_url),
        "coins": coins(record),
        "json_ld": as_data_block(json_ld(record, base_url)),
    }


def _add_citation_formats(router: APIRouter, portal: Portal) -> None:
    written: dict[str, tuple[str, str, Callable[[Record, str], str]]] = {
        "bib": ("BibTeX", "bib", lambda record, _: to_bibtex([record])),
        "ris": ("RIS", "ris", lambda record, _: to_ris([record])),
        "csl.json": ("CSL-JSON", "json", lambda record, _: to_csl_json([record])),
        "jsonld": (
            "JSON-LD",
            "jsonld",
            lambda record, base: json.dumps(json_ld(record, base), ensure_ascii=False),
        ),
    }
    for ending, (name, extension, write) in written.items():
        _add_format(router, portal, ending, name, extension, write)


def _add_format(
    router: APIRouter, portal: Portal, ending: str, name: str, extension: str,
    write: Callable[[Record, str], str],
) -> None:  # fmt: skip
    media_type = FORMAT_TYPES[name]

    async def formatted(request: Request, kind: Kind, key: Key) -> Response:
        record = await portal.readers.ask(lambda library: find_citable(library, kind, key))
        body = write(record, portal.base_url(request)).encode("utf-8", "replace")
        headers = {"content-disposition": f'inline; filename="paper.{extension}"'}
        return answer(request, body, f"{media_type}; charset=utf-8", headers=headers)

    router.add_api_route(
        f"/records/{{kind}}/{{key}}.{ending}",
        formatted,
        methods=["GET"],
        name=f"paper_as_{extension}",
        summary=f"A paper as {name}.",
        response_class=Response,
        responses={200: {"content": {media_type: {}}}},
    )
