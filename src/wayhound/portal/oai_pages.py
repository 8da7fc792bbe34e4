"""OAI-PMH 2.0 over HTTP: answers as XML, records as unqualified Dublin Core."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator
from typing import Any
from xml.etree.ElementTree import Element

from fastapi import APIRouter, Request
from fastapi.responses import Response

from wayhound.portal.addresses import doi_url, record_url
from wayhound.portal.library import Library
from wayhound.portal.oai import (
    PREFIX,
    Item,
    OaiError,
    check_arguments,
    check_prefix,
    find_item,
    identifier_of,
    list_items,
    read_harvest,
    sets_of,
)
from wayhound.portal.portal import Portal, iso_time, now
from wayhound.record import Record
from wayhound.web.pages import add, document, legal

_OAI = "http://www.openarchives.org/OAI/2.0/"
_DC = "http://purl.org/dc/elements/1.1/"
_OAI_DC = "http://www.openarchives.org/OAI/2.0/oai_dc/"
_XSI = "http://www.w3.org/2001/XMLSchema-instance"
_SCHEMA = "http://www.openarchives.org/OAI/2.0/oai_dc.xsd"
_PAPER_ELEMENTS = {
    "title": "title", "author": "creator", "abstract": "description", "keyword": "subject", "publisher": "publisher",
    "journal": "source", "booktitle": "source", "institution": "publisher", "year": "date",
}  # fmt: skip
_TEXT_XML = "text/xml; charset=utf-8"
_ERRORS_WITHOUT_ARGUMENTS = frozenset({"badVerb", "badArgument"})


class Repository:
    """Answers the verbs of the protocol for one reader of the library."""

    def __init__(self, library: Library, base_url: str, name: str, contact: str) -> None:
        self._library = library
        self._base_url = base_url
        self._name = name
        self._contact = contact

    def answer(self, arguments: dict[str, str], repeated: Collection[str]) -> bytes:
        root = Element(
            "OAI-PMH",
            {"xmlns": _OAI, "xmlns:xsi": _XSI, "xsi:schemaLocation": f"{_OAI} {_OAI}OAI-PMH.xsd"},
        )
        add(root, "responseDate", iso_time(now()))
        asked = add(root, "request", f"{self._base_url}/oai")
        try:
            verb = check_arguments(arguments, repeated)
            self._verbs()[verb](root, arguments)
        except OaiError as error:
            add(root, "error", error.sentence, code=error.code)
            if error.code in _ERRORS_WITHOUT_ARGUMENTS:
                return document(root)
        for name, text in arguments.items():
            asked.set(name, legal(text))
        return document(root)

    def _verbs(self) -> dict[str, Callable[[Element, dict[str, str]], None]]:
        return {
            "Identify": self._identify,
            "ListMetadataFormats": self._formats,
            "ListSets": self._sets,
            "GetRecord": self._record,
            "ListIdentifiers": lambda root, arguments: self._list(root, arguments, "ListIdentifiers"),
            "ListRecords": lambda root, arguments: self._list(root, arguments, "ListRecords"),
        }

    def _identify(self, root: Element, _: dict[str, str]) -> None:
        told = add(root, "Identify")
        add(told, "repositoryName", self._name)
        add(told, "baseURL", f"{self._base_url}/oai")
        add(told, "protocolVersion", "2.0")
        add(told, "adminEmail", self._contact if "@" in self._contact else "nobody@example.invalid")
        add(told, "earliestDatestamp", iso_time(self._library.catalogue.earliest_change() or 0.0))
        add(told, "deletedRecord", "persistent")
        add(told, "granularity", "YYYY-MM-DDThh:mm:ssZ")

    def _formats(self, root: Element, arguments: dict[str, str]) -> None:
        if "identifier" in arguments:
            find_item(self._library, self._base_url, arguments["identifier"])
        told = add(add(root, "ListMetadataFormats"), "metadataFormat")
        add(told, "metadataPrefix", PREFIX)
        add(told, "schema", _SCHEMA)
        add(told, "metadataNamespace", _OAI_DC)

    def _sets(self, root: Element, arguments: dict[str, str]) -> None:
        if "resumptionToken" in arguments:
            raise OaiError("badResumptionToken", "The list of sets comes in one piece.")
        told = add(root, "ListSets")
        for spec, name in sets_of(self._library):
            each = add(told, "set")
            add(each, "setSpec", spec)
            add(each, "setName", name)

    def _record(self, root: Element, arguments: dict[str, str]) -> None:
        check_prefix(arguments["metadataPrefix"])
        found = find_item(self._library, self._base_url, arguments["identifier"])
        self._add_record(add(root, "GetRecord"), found)

    def _list(self, root: Element, arguments: dict[str, str], verb: str) -> None:
        found = list_items(self._library, read_harvest(arguments))
        told = add(root, verb)
        put = self._add_record if verb == "ListRecords" else self._add_header
        for each in found.items:
            put(told, each)
        if found.token is not None:
            add(told, "resumptionToken", found.token)

    def _add_header(self, parent: Element, each: Item) -> None:
        stamp = each.stamp
        header = add(parent, "header", **({"status": "deleted"} if stamp.deleted else {}))
        add(header, "identifier", identifier_of(self._base_url, stamp.kind, stamp.id))
        add(header, "datestamp", iso_time(stamp.changed))
        for spec in each.sets:
            add(header, "setSpec", spec)

    def _add_record(self, parent: Element, each: Item) -> None:
        record = add(parent, "record")
        self._add_header(record, each)
        if each.record is not None:
            self._add_dublin_core(add(record, "metadata"), each.record)

    def _add_dublin_core(self, parent: Element, record: Record) -> None:
        spaces = {"xmlns:oai_dc": _OAI_DC, "xmlns:dc": _DC, "xsi:schemaLocation": f"{_OAI_DC} {_SCHEMA}"}
        told = add(parent, "oai_dc:dc", **spaces)
        for name, text in self._elements(record):
            if text.strip():
                add(told, f"dc:{name}", text)

    def _elements(self, record: Record) -> Iterator[tuple[str, str]]:
        spec = self._library.spec(record.kind)
        if record.kind == "paper":
            for field, element in _PAPER_ELEMENTS.items():
                yield from ((element, value.text) for value in record.fields.get(field, ()))
            yield "identifier", doi_url(record.first("doi"))
        else:
            yield "title", self._library.title(record)
            for name, values in record.fields.items():
                if name != spec.title:
                    yield from (("description", f"{spec.field(name).shown}: {each.text}") for each in values)
        yield "type", spec.label
        yield "identifier", self._base_url + record_url(record.kind, record.id)


def oai_routes(portal: Portal) -> APIRouter:
    router = APIRouter(tags=["OAI-PMH"])
    documented: dict[str, Any] = {
        "response_class": Response,
        "responses": {200: {"content": {"text/xml": {}}}},
    }

    async def told(request: Request, pairs: list[tuple[str, str]]) -> Response:
        base_url, settings = portal.base_url(request), portal.settings
        arguments, counts = dict(pairs), Counter(name for name, _ in pairs)
        repeated = [name for name, count in counts.items() if count > 1]
        body = await portal.slow_readers.ask(
            lambda each: Repository(each, base_url, settings.name, settings.contact).answer(
                arguments, repeated
            )
        )
        return Response(body, headers={"content-type": _TEXT_XML, "cache-control": "no-cache"})

    @router.get("/oai", **documented)
    async def oai(request: Request) -> Response:
        """Identify, ListMetadataFormats, ListSets, ListIdentifiers, ListRecords and GetRecord."""
        return await told(request, request.query_params.multi_items())

    @router.post("/oai", **documented)
    async def oai_by_form(request: Request) -> Response:
        """The same by a form, for long requests."""
        sent = await request.form(max_files=0, max_fields=20)
        return await told(request, [(name, str(text)) for name, text in sent.multi_items()])

    return router
