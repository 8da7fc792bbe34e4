"""Records as data for other programs: all of a kind as JSON lines, and papers as reference managers read them."""

from __future__ import annotations

import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response, StreamingResponse
from markupsafe import Markup

from wayhound.app.papers.works import CITED_ONLY
from wayhound.papers.bibliography import (
    EntryKind,
    entry_kind,
    page_ends,
    to_bibtex,
    to_csl_json,
    to_ris,
    year_of,
)
from wayhound.portal.addresses import from_key, quoted, record_url
from wayhound.portal.library import Library, PageMaker
from wayhound.portal.portal import FORMAT_TYPES, FieldNames, Key, Kind, Portal, split_names
from wayhound.record import Record
from wayhound.record_kinds import PAPERS_AND_DOCUMENTS
from wayhound.store.records import fields_to_json
from wayhound.web.pages import BadRequest, NotFound, RenderedPage, rendered_file

BATCH = 200
MOST_A_PAGE = 1000
JSON_LINES = "application/x-ndjson"
CITABLE = (*PAPERS_AND_DOCUMENTS, CITED_ONLY)
LIST_FORMATS = (("bib", "BibTeX", to_bibtex), ("ris", "RIS", to_ris), ("csl.json", "CSL-JSON", to_csl_json))
"""Ending, name and writer of each format that the papers of a whole search or topic come in."""

_TAGS = {"journal": "citation_journal_title", "booktitle": "citation_conference_title",
         "institution": "citation_technical_report_institution", "volume": "citation_volume",
         "number": "citation_issue", "publisher": "citation_publisher", "doi": "citation_doi",
         "abstract": "citation_abstract"}  # fmt: skip
_COINS = {"journal": "rft.jtitle", "booktitle": "rft.btitle", "volume": "rft.volume", "number": "rft.issue",
          "pages": "rft.pages", "publisher": "rft.pub", "institution": "rft.inst"}  # fmt: skip
_OPEN_URL: dict[EntryKind, tuple[str, str, str]] = {
    "journal": ("journal", "article", "rft.atitle"), "meeting": ("book", "proceeding", "rft.atitle"),
    "chapter": ("book", "bookitem", "rft.atitle"), "report": ("book", "report", "rft.btitle"),
    "doctoral": ("dissertation", "dissertation", "rft.title"),
    "thesis": ("dissertation", "dissertation", "rft.title"), "book": ("book", "book", "rft.btitle"),
    "other": ("book", "document", "rft.btitle"),
}  # fmt: skip
"""The format of Z39.88, the genre, and the name of the title, for each kind of entry."""
_SCHEMA_TYPES: dict[EntryKind, str] = {
    "report": "Report", "doctoral": "Thesis", "thesis": "Thesis", "book": "Book", "other": "CreativeWork",
}  # fmt: skip
"""The types of schema.org that are not `ScholarlyArticle`."""


# All records of a kind


@dataclass(frozen=True, slots=True)
class RecordPage:
    """Some records in order of their ids. `cursor` requests those after them, and is empty at the end."""

    kind: str
    records: list[dict[str, Any]]
    cursor: str


def record_data(record: Record, names: list[str]) -> dict[str, Any]:
    """Return a record as data; with `names`, only those of its fields."""
    fields = fields_to_json(record.fields)
    chosen = {name: fields[name] for name in names if name in fields} if names else fields
    url = record_url(record.kind, record.id)
    return {"kind": record.kind, "id": record.id, "url": url, "site": record.site, "fields": chosen}


def _existing_kind(library: Library, kind: str) -> str:
    name = from_key(kind)
    if name is None or name not in library.counts():
        raise NotFound("There are no records of that kind.")
    return name


def page_after(library: Library, kind: str, after: str, limit: int, names: list[str]) -> RecordPage:
    name = _existing_kind(library, kind)
    records = library.stores.catalogue.after(name, after, limit)
    cursor = _cursor(records[-1].id) if len(records) == limit else ""
    return RecordPage(name, [record_data(record, names) for record in records], cursor)


def _batch_after(kind: str, after: str) -> Callable[[Library], list[Record]]:
    return lambda library: library.stores.catalogue.after(kind, after, BATCH)


def _cursor(record_id: str) -> str:
    return urlsafe_b64encode(f"after {record_id}".encode()).decode().rstrip("=")


def read_cursor(cursor: str) -> str:
    """Return the id that a page begins after. Raises BadRequest for a cursor that is not ours."""
    if not cursor:
        return ""
    try:
        word, _, after = urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)).decode().partition(" ")
    except ValueError:
        word, after = "", ""
    if word != "after" or _cursor(after) != cursor:
        raise BadRequest("cursor is not one that this server gave.")
    return after


def _line(record: Record, names: list[str]) -> bytes:
    return json.dumps(record_data(record, names), ensure_ascii=False).encode("utf-8", "replace") + b"\n"


# One paper, to be cited


def meta_tags(record: Record, base_url: str, pdf_url: str) -> list[tuple[str, str]]:
    """Return the tags that Google Scholar and Zotero read."""
    tags = [("citation_title", record.first("title"))]
    tags += [("citation_author", value.text) for value in record.fields.get("author", ())]
    tags += [("citation_publication_date", year_of(record))]
    tags += [(tag, record.first(name)) for name, tag in _TAGS.items()]
    tags += zip(("citation_firstpage", "citation_lastpage"), page_ends(record), strict=False)
    tags += [("citation_keywords", value.text) for value in record.fields.get("keyword", ())]
    tags += [("citation_abstract_html_url", base_url + record_url(record.kind, record.id))]
    tags += [("citation_pdf_url", base_url + pdf_url if pdf_url else "")]
    return [(name, " ".join(text.split())) for name, text in tags if text.strip()]


def coins(record: Record) -> str:
    """Return an OpenURL context object for a span's title (Z39.88), which reference managers pick up."""
    form, genre, title = _OPEN_URL[_described_as(record)]
    parts = [("ctx_ver", "Z39.88-2004"), ("rft_val_fmt", f"info:ofi/fmt:kev:mtx:{form}"), ("rft.genre", genre),
             (title, record.first("title")), ("rft.date", year_of(record))]  # fmt: skip
    parts += [("rft.au", value.text) for value in record.fields.get("author", ())]
    parts += [(tag, record.first(name)) for name, tag in _COINS.items()]
    if doi := record.first("doi"):
        parts.append(("rft_id", f"info:doi/{doi}"))
    return "&".join([f"{name}={quoted(text)}" for name, text in parts if text])


def json_ld(record: Record, base_url: str) -> dict[str, Any]:
    """Return schema.org's description of a paper or another document."""
    url = base_url + record_url(record.kind, record.id)
    described: dict[str, Any] = {
        "@context": "https://schema.org",
        "@type": _SCHEMA_TYPES.get(_described_as(record), "ScholarlyArticle"),
        "@id": url,
        "url": url,
        "name": record.first("title"),
        "author": [{"@type": "Person", "name": value.text} for value in record.fields.get("author", ())],
        "datePublished": year_of(record),
        "abstract": record.first("abstract"),
        "keywords": [value.text for value in record.fields.get("keyword", ())],
        "isPartOf": _part_of(record),
        "sameAs": [value.text for value in record.fields.get("url", ())],
    }
    return {name: value for name, value in described.items() if value}


def _described_as(record: Record) -> EntryKind:
    """Return the kind of publication; a paper of which nothing more is known counts as an article."""
    kind = entry_kind(record)
    return "journal" if kind == "other" and record.kind != "document" else kind


def data_block(data: dict[str, Any]) -> Markup:
    """Return JSON for a script element of type application/ld+json, which no browser runs.

    Content policies do not apply to such data blocks. No text in it can end the element, since the letters that could
    are written as escapes.
    """
    text = json.dumps(data, ensure_ascii=True)
    safe = text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
    return Markup(safe)  # noqa: S704 - escaped above, in the way that JSON has


def _part_of(record: Record) -> dict[str, str]:
    name = record.first("journal") or record.first("booktitle")
    return {"@type": "Periodical" if record.first("journal") else "Book", "name": name} if name else {}


def _citable(library: Library, kind: str, key: str) -> Record:
    record = library.at(kind, key)
    if record.kind not in CITABLE:
        raise NotFound("Only papers and other documents come in this form.")
    return record


# Routes


def export_routes(portal: Portal) -> APIRouter:
    router = APIRouter(tags=["records"])
    for form in _CITATION_FORMATS:
        _add_citation_format(router, portal, form)

    @router.get("/records/{kind}.json", response_model=RecordPage)
    async def records(
        request: Request, kind: Kind, cursor: Annotated[str, Query(max_length=4200)] = "",
        limit: Annotated[int, Query(ge=1, le=MOST_A_PAGE)] = 100, fields: FieldNames = "",
    ) -> Response:  # fmt: skip
        """Records of a kind, in order of their ids, a page at a time."""
        after, names = read_cursor(cursor), split_names(fields)
        view = await portal.readers.run(lambda library: page_after(library, kind, after, limit, names))
        return portal.json(request, view)

    @router.get(
        "/export/{kind}.jsonl",
        response_class=StreamingResponse,
        responses={200: {"content": {JSON_LINES: {}}}},
    )
    async def export(kind: Kind, fields: FieldNames = "") -> Response:
        """All records of a kind, one JSON object a line, read in small batches while they are sent."""
        names = split_names(fields)
        name = await portal.slow_readers.run(lambda library: _existing_kind(library, kind))

        async def lines() -> AsyncIterator[bytes]:
            batch = await portal.slow_readers.run(_batch_after(name, ""))
            while batch:
                yield b"".join(_line(record, names) for record in batch)
                batch = await portal.slow_readers.run(_batch_after(name, batch[-1].id))

        headers = {"content-disposition": f'attachment; filename="{kind}.jsonl"', "cache-control": "no-cache"}
        return StreamingResponse(lines(), headers=headers, media_type=JSON_LINES)

    return router


@dataclass(frozen=True, slots=True)
class _CitationFormat:
    ending: str
    name: str  # in `FORMAT_TYPES`
    extension: str
    write: Callable[[Record, str], str]


_CITATION_FORMATS = (
    _CitationFormat("bib", "BibTeX", "bib", lambda record, _: to_bibtex([record])),
    _CitationFormat("ris", "RIS", "ris", lambda record, _: to_ris([record])),
    _CitationFormat("csl.json", "CSL-JSON", "json", lambda record, _: to_csl_json([record])),
    _CitationFormat(
        "jsonld", "JSON-LD", "jsonld", lambda record, base: json.dumps(json_ld(record, base), ensure_ascii=False)
    ),
)  # fmt: skip

_FORMS = {form.ending: form for form in _CITATION_FORMATS}


def citation_urls(url: str) -> dict[str, str]:
    """Return the addresses of a paper in all citation formats, by the format's name."""
    return {form.name: f"{url}.{form.ending}" for form in _CITATION_FORMATS}


def citation_page(kind: str, key: str, ending: str, base_url: str) -> PageMaker:
    """Return what makes a paper in a citation format. The maker raises NotFound for other records."""
    form = _FORMS[ending]

    def make(library: Library) -> RenderedPage:
        body = form.write(_citable(library, kind, key), base_url).encode("utf-8", "replace")
        return rendered_file(body, f"{FORMAT_TYPES[form.name]}; charset=utf-8", f"paper.{form.extension}")

    return make


def is_citation_format(ending: str) -> bool:
    return ending in _FORMS


def _add_citation_format(router: APIRouter, portal: Portal, form: _CitationFormat) -> None:
    async def formatted(request: Request, kind: Kind, key: Key) -> Response:
        make = citation_page(kind, key, form.ending, portal.base_url(request))
        return (await portal.readers.page(request.scope, make, is_quick=True)).answer(request)

    router.add_api_route(
        f"/records/{{kind}}/{{key}}.{form.ending}",
        formatted,
        methods=["GET"],
        name=f"paper_as_{form.extension}",
        summary=f"A paper as {form.name}.",
        response_class=Response,
        responses={200: {"content": {FORMAT_TYPES[form.name]: {}}}},
    )
