"""Records: their pages, and the same in the forms that other programs read."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import asdict
from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import APIRouter, Path, Request
from fastapi.responses import HTMLResponse, Response
from markupsafe import Markup

from wayhound.app.papers.works import as_cited
from wayhound.papers.bibliography import to_bibtex, to_csl_json, to_ris
from wayhound.portal.addresses import from_key, record_url
from wayhound.portal.details import CITABLE, Details, details_of
from wayhound.portal.library import Library
from wayhound.portal.portal import FORMAT_TYPES, Portal
from wayhound.portal.search_pages import FieldNames, split_names
from wayhound.record import Record
from wayhound.web.errors import NotFound
from wayhound.web.pages import answer

_YEAR = re.compile(r"\d{4}")
_TAGS = {"journal": "citation_journal_title", "booktitle": "citation_conference_title",
         "institution": "citation_technical_report_institution", "volume": "citation_volume",
         "number": "citation_issue", "publisher": "citation_publisher", "doi": "citation_doi",
         "abstract": "citation_abstract"}  # fmt: skip
_COINS = {"journal": "rft.jtitle", "booktitle": "rft.btitle", "volume": "rft.volume", "number": "rft.issue",
          "pages": "rft.pages", "publisher": "rft.pub"}  # fmt: skip


def meta_tags(record: Record, base_url: str, pdf_url: str) -> list[tuple[str, str]]:
    """As Google Scholar and Zotero read them."""
    tags = [("citation_title", record.first("title"))]
    tags += [("citation_author", value.text) for value in record.fields.get("author", ())]
    tags += [("citation_publication_date", _year(record))]
    tags += [(tag, record.first(name)) for name, tag in _TAGS.items()]
    tags += zip(("citation_firstpage", "citation_lastpage"), _pages(record), strict=False)
    tags += [("citation_keywords", value.text) for value in record.fields.get("keyword", ())]
    tags += [("citation_abstract_html_url", base_url + record_url(record.kind, record.id))]
    tags += [("citation_pdf_url", base_url + pdf_url if pdf_url else "")]
    return [(name, " ".join(text.split())) for name, text in tags if text.strip()]


def coins(record: Record) -> str:
    """OpenURL context object for a span's title (Z39.88), which reference managers pick up."""
    is_book = bool(record.first("booktitle"))
    parts = [("ctx_ver", "Z39.88-2004"), ("rft_val_fmt", "info:ofi/fmt:kev:mtx:" + ("book" if is_book else "journal")),
             ("rft.genre", "proceeding" if is_book else "article"), ("rft.atitle", record.first("title")),
             ("rft.date", _year(record))]  # fmt: skip
    parts += [("rft.au", value.text) for value in record.fields.get("author", ())]
    parts += [(tag, record.first(name)) for name, tag in _COINS.items()]
    if doi := record.first("doi"):
        parts.append(("rft_id", f"info:doi/{doi}"))
    return urlencode([(name, text) for name, text in parts if text])


def json_ld(record: Record, base_url: str) -> dict[str, Any]:
    """schema.org's description of a paper."""
    url = base_url + record_url(record.kind, record.id)
    told: dict[str, Any] = {
        "@context": "https://schema.org",
        "@type": "ScholarlyArticle",
        "@id": url,
        "url": url,
        "name": record.first("title"),
        "author": [{"@type": "Person", "name": value.text} for value in record.fields.get("author", ())],
        "datePublished": _year(record),
        "abstract": record.first("abstract"),
        "keywords": [value.text for value in record.fields.get("keyword", ())],
        "isPartOf": _part_of(record),
        "sameAs": [value.text for value in record.fields.get("url", ())],
    }
    return {name: value for name, value in told.items() if value}


def as_data_block(data: dict[str, Any]) -> Markup:
    """JSON that may stand in a script element of type application/ld+json, which no browser runs.

    Content policies do not speak of such data blocks. No text in it can end the element, since the letters
    that could are written as escapes.
    """
    text = json.dumps(data, ensure_ascii=True)
    safe = text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
    return Markup(safe)  # noqa: S704 - escaped above, in the way that JSON has


def _part_of(record: Record) -> dict[str, str]:
    name = record.first("journal") or record.first("booktitle")
    return {"@type": "Periodical" if record.first("journal") else "Book", "name": name} if name else {}


def _year(record: Record) -> str:
    found = _YEAR.search(record.first("year") or record.first("date"))
    return found[0] if found else ""


def _pages(record: Record) -> list[str]:
    return [part for part in re.split(r"\s*[-–—]+\s*", record.first("pages")) if part][:2]


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
