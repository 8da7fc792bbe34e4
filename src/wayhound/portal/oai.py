"""OAI-PMH 2.0: requests, sets and lists with resumption tokens; answers in XML, records as unqualified Dublin Core."""

from __future__ import annotations

import json
import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlsplit
from xml.etree.ElementTree import Element

from fastapi import APIRouter, Request
from fastapi.responses import Response

from wayhound.portal.addresses import doi_url, from_key, record_url, slugs, to_key
from wayhound.portal.library import Library
from wayhound.portal.portal import Portal, iso_time, now
from wayhound.record import Record
from wayhound.record_kinds import PAPERS_AND_DOCUMENTS
from wayhound.store.records import ChangeCursor, RecordStamp
from wayhound.web.pages import add, document, legal

PAGE = 100
PREFIX = "oai_dc"
_SECOND = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")
_DAY = re.compile(r"\d{4}-\d\d-\d\d")

# Arguments of each verb: those it needs, and those it may have (OAI-PMH 2.0, section 4).
VERBS: Mapping[str, tuple[frozenset[str], frozenset[str]]] = {
    "Identify": (frozenset(), frozenset()),
    "ListMetadataFormats": (frozenset(), frozenset({"identifier"})),
    "ListSets": (frozenset(), frozenset({"resumptionToken"})),
    "GetRecord": (frozenset({"identifier", "metadataPrefix"}), frozenset()),
    "ListIdentifiers": (frozenset({"metadataPrefix"}), frozenset({"from", "until", "set"})),
    "ListRecords": (frozenset({"metadataPrefix"}), frozenset({"from", "until", "set"})),
}

_OAI = "http://www.openarchives.org/OAI/2.0/"
_DC = "http://purl.org/dc/elements/1.1/"
_OAI_DC = "http://www.openarchives.org/OAI/2.0/oai_dc/"
_XSI = "http://www.w3.org/2001/XMLSchema-instance"
_SCHEMA = "http://www.openarchives.org/OAI/2.0/oai_dc.xsd"
_BIBLIOGRAPHIC: Mapping[str, str] = {
    "title": "title", "author": "creator", "abstract": "description", "keyword": "subject",
    "publisher": "publisher", "journal": "source", "booktitle": "source", "institution": "publisher",
    "year": "date",
}  # fmt: skip
_ELEMENTS: Mapping[str, Mapping[str, str]] = {
    **dict.fromkeys(PAPERS_AND_DOCUMENTS, _BIBLIOGRAPHIC),
    "page": {
        "title": "title", "snippet": "description", "label": "subject", "language": "language", "found": "date",
        "url": "source",
    },
}  # fmt: skip
"""Fields of the kinds whose Dublin Core is known; other kinds come as a title and descriptions."""

_TEXT_XML = "text/xml; charset=utf-8"
_ERRORS_WITHOUT_ARGUMENTS = frozenset({"badVerb", "badArgument"})


class OaiError(Exception):
    """An error of the protocol: a code of section 3.6, and a message."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


# Requests


@dataclass(frozen=True, slots=True)
class Harvest:
    """A list request: which records, and the place to continue from."""

    since: float = 0.0
    until: float = 1e12
    set: str = ""
    place: ChangeCursor = field(default_factory=ChangeCursor)

    def token(self) -> str:
        return urlsafe_b64encode(json.dumps(asdict(self)).encode()).decode()


def check_arguments(arguments: Mapping[str, str], repeated: Collection[str]) -> str:
    """Return the verb of a request. Raises OaiError if its arguments are wrong."""
    verb = arguments.get("verb", "")
    if verb not in VERBS or "verb" in repeated:
        raise OaiError("badVerb", f"verb must be one of {', '.join(VERBS)}.")
    names = frozenset(arguments) - {"verb"}
    needed, allowed = VERBS[verb]
    if repeated:
        raise OaiError("badArgument", f"{', '.join(repeated)} was given twice.")
    if verb in {"ListIdentifiers", "ListRecords"} and "resumptionToken" in names:
        needed, allowed = frozenset({"resumptionToken"}), frozenset()
    if missing := needed - names:
        raise OaiError("badArgument", f"{verb} needs {', '.join(sorted(missing))}.")
    if unknown := names - needed - allowed:
        raise OaiError("badArgument", f"{verb} does not take {', '.join(sorted(unknown))}.")
    return verb


def read_harvest(arguments: Mapping[str, str]) -> Harvest:
    if token := arguments.get("resumptionToken"):
        return _from_token(token)
    check_prefix(arguments["metadataPrefix"])
    start, end = arguments.get("from", ""), arguments.get("until", "")
    if start and end and len(start) != len(end):
        raise OaiError("badArgument", "from and until must be of the same granularity.")
    since = _seconds(start, "from") if start else 0.0
    until = _seconds(end, "until") + (1 if "T" in end else 86_400) if end else 1e12
    if since >= until:
        raise OaiError("badArgument", "from must not be later than until.")
    return Harvest(since, until, arguments.get("set", ""), ChangeCursor(changed=since))


def check_prefix(prefix: str) -> None:
    if prefix != PREFIX:
        raise OaiError("cannotDisseminateFormat", f"Records come as {PREFIX} alone.")


def _from_token(token: str) -> Harvest:
    try:
        data = json.loads(urlsafe_b64decode(token))
        place = ChangeCursor(
            float(data["place"]["changed"]), str(data["place"]["kind"]), str(data["place"]["id"])
        )
        harvest = Harvest(float(data["since"]), float(data["until"]), str(data["set"]), place)
    except (ValueError, KeyError, TypeError, RecursionError):
        raise OaiError("badResumptionToken", "This token was not given by this repository.") from None
    if harvest.token() != token:
        raise OaiError("badResumptionToken", "This token was not given by this repository.")
    return harvest


def _seconds(text: str, name: str) -> float:
    form = "%Y-%m-%dT%H:%M:%SZ" if _SECOND.fullmatch(text) else "%Y-%m-%d" if _DAY.fullmatch(text) else ""
    try:
        return datetime.strptime(text, form).replace(tzinfo=UTC).timestamp()
    except ValueError:
        raise OaiError(
            "badArgument", f"{name} must be a day or a time in UTC: 2004-07-09T12:00:00Z"
        ) from None


def identifier_of(base_url: str, kind: str, record_id: str) -> str:
    return f"oai:{urlsplit(base_url).hostname}:{to_key(kind)}/{to_key(record_id)}"


def read_identifier(base_url: str, identifier: str) -> tuple[str, str]:
    """Return kind and id of a record. Raises OaiError for an identifier that is not ours."""
    start = f"oai:{urlsplit(base_url).hostname}:"
    kind_key, _, key = identifier.removeprefix(start).partition("/")
    kind, record_id = from_key(kind_key), from_key(key)
    if not identifier.startswith(start) or kind is None or record_id is None:
        raise OaiError("idDoesNotExist", "There is no record of that identifier here.")
    return kind, record_id


# Records and sets


@dataclass(frozen=True, slots=True)
class OaiItem:
    """A record, or what is left of a deleted one, with the sets that it belongs to."""

    stamp: RecordStamp
    sets: tuple[str, ...]
    record: Record | None


@dataclass(frozen=True, slots=True)
class OaiList:
    """Part of a list. An empty token ends it; None marks a list that came in one part."""

    items: tuple[OaiItem, ...]
    token: str | None


def list_sets(library: Library) -> Iterator[tuple[str, str]]:
    """Yield sets with their names: the kinds, and below papers and documents the topics."""
    kinds = list(library.counts())
    for kind, slug in zip(kinds, slugs(kinds), strict=True):
        yield slug, library.spec(kind).plural
    for node in library.topics().root.walk():
        for kind in PAPERS_AND_DOCUMENTS:
            if node.slug and kind in kinds:
                yield f"{kind}:{node.slug.replace('/', ':')}", " › ".join(node.path)


def _sets_of_record(library: Library, kind: str, record_id: str) -> tuple[str, ...]:
    kinds = list(library.counts())
    own = dict(zip(kinds, slugs(kinds), strict=True)).get(kind)
    placement = library.stores.topics.get(record_id) if kind in PAPERS_AND_DOCUMENTS else None
    node = library.topics().by_path(placement.topic) if placement and placement.topic else None
    topic = [f"{kind}:{node.slug.replace('/', ':')}"] if node else []
    return tuple([own, *topic] if own else topic)


def _item(library: Library, stamp: RecordStamp) -> OaiItem:
    record = None if stamp.deleted else library.find(stamp.kind, stamp.id)
    return OaiItem(stamp, _sets_of_record(library, stamp.kind, stamp.id), record)


def find_item(library: Library, base_url: str, identifier: str) -> OaiItem:
    kind, record_id = read_identifier(base_url, identifier)
    stamp = library.stores.catalogue.stamp(kind, record_id)
    if stamp is None:
        raise OaiError("idDoesNotExist", "There is no record of that identifier here.")
    return _item(library, stamp)


def list_items(library: Library, harvest: Harvest) -> OaiList:
    """Return part of a list, with at least one record in it. Raises OaiError if no record matches."""
    if harvest.set and harvest.set not in dict(list_sets(library)):
        raise OaiError("noRecordsMatch", "There is no such set.")
    place, is_last, items = harvest.place, False, list[OaiItem]()
    while not items and not is_last:
        stamps = library.stores.catalogue.changed_after(place, harvest.until, PAGE)
        items = [item for stamp in stamps if _is_in(item := _item(library, stamp), harvest.set)]
        is_last = len(stamps) < PAGE
        place = ChangeCursor(stamps[-1].changed, stamps[-1].kind, stamps[-1].id) if stamps else place
    if not items:
        raise OaiError("noRecordsMatch", "No record matches.")
    is_first = harvest.place == ChangeCursor(changed=harvest.since)
    ending = None if is_first else ""
    return OaiList(tuple(items), ending if is_last else replace(harvest, place=place).token())


def _is_in(item: OaiItem, wanted: str) -> bool:
    return not wanted or any(own == wanted or own.startswith(f"{wanted}:") for own in item.sets)


# Answers


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
        request = add(root, "request", f"{self._base_url}/oai")
        try:
            verb = check_arguments(arguments, repeated)
            self._verbs()[verb](root, arguments)
        except OaiError as error:
            add(root, "error", error.message, code=error.code)
            if error.code in _ERRORS_WITHOUT_ARGUMENTS:
                return document(root)
        for name, text in arguments.items():
            request.set(name, legal(text))
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
        element = add(root, "Identify")
        add(element, "repositoryName", self._name)
        add(element, "baseURL", f"{self._base_url}/oai")
        add(element, "protocolVersion", "2.0")
        add(element, "adminEmail", self._contact if "@" in self._contact else "nobody@example.invalid")
        earliest = self._library.stores.catalogue.earliest_change() or 0.0
        add(element, "earliestDatestamp", iso_time(earliest))
        add(element, "deletedRecord", "persistent")
        add(element, "granularity", "YYYY-MM-DDThh:mm:ssZ")

    def _formats(self, root: Element, arguments: dict[str, str]) -> None:
        if "identifier" in arguments:
            find_item(self._library, self._base_url, arguments["identifier"])
        element = add(add(root, "ListMetadataFormats"), "metadataFormat")
        add(element, "metadataPrefix", PREFIX)
        add(element, "schema", _SCHEMA)
        add(element, "metadataNamespace", _OAI_DC)

    def _sets(self, root: Element, arguments: dict[str, str]) -> None:
        if "resumptionToken" in arguments:
            raise OaiError("badResumptionToken", "The list of sets comes in one part.")
        parent = add(root, "ListSets")
        for spec, name in list_sets(self._library):
            element = add(parent, "set")
            add(element, "setSpec", spec)
            add(element, "setName", name)

    def _record(self, root: Element, arguments: dict[str, str]) -> None:
        check_prefix(arguments["metadataPrefix"])
        item = find_item(self._library, self._base_url, arguments["identifier"])
        self._add_record(add(root, "GetRecord"), item)

    def _list(self, root: Element, arguments: dict[str, str], verb: str) -> None:
        part = list_items(self._library, read_harvest(arguments))
        parent = add(root, verb)
        put = self._add_record if verb == "ListRecords" else self._add_header
        for item in part.items:
            put(parent, item)
        if part.token is not None:
            add(parent, "resumptionToken", part.token)

    def _add_header(self, parent: Element, item: OaiItem) -> None:
        stamp = item.stamp
        header = add(parent, "header", **({"status": "deleted"} if stamp.deleted else {}))
        add(header, "identifier", identifier_of(self._base_url, stamp.kind, stamp.id))
        add(header, "datestamp", iso_time(stamp.changed))
        for spec in item.sets:
            add(header, "setSpec", spec)

    def _add_record(self, parent: Element, item: OaiItem) -> None:
        element = add(parent, "record")
        self._add_header(element, item)
        if item.record is not None:
            self._add_dublin_core(add(element, "metadata"), item.record)

    def _add_dublin_core(self, parent: Element, record: Record) -> None:
        spaces = {"xmlns:oai_dc": _OAI_DC, "xmlns:dc": _DC, "xsi:schemaLocation": f"{_OAI_DC} {_SCHEMA}"}
        element = add(parent, "oai_dc:dc", **spaces)
        for name, text in self._elements(record):
            if text.strip():
                add(element, f"dc:{name}", text)

    def _elements(self, record: Record) -> Iterator[tuple[str, str]]:
        spec = self._library.spec(record.kind)
        if elements := _ELEMENTS.get(record.kind):
            for name, element in elements.items():
                yield from ((element, value.text) for value in record.fields.get(name, ()))
            yield "identifier", doi_url(record.first("doi"))
        else:
            yield "title", self._library.title(record)
            for name, values in record.fields.items():
                if name != spec.title:
                    label = spec.field(name).shown
                    yield from (("description", f"{label}: {value.text}") for value in values)
        yield "type", spec.label
        yield "identifier", self._base_url + record_url(record.kind, record.id)


def oai_routes(portal: Portal) -> APIRouter:
    router = APIRouter(tags=["OAI-PMH"])
    documented: dict[str, Any] = {
        "response_class": Response,
        "responses": {200: {"content": {"text/xml": {}}}},
    }

    async def respond(request: Request, pairs: list[tuple[str, str]]) -> Response:
        base_url, settings = portal.base_url(request), portal.settings
        arguments, counts = dict(pairs), Counter(name for name, _ in pairs)
        repeated = [name for name, count in counts.items() if count > 1]
        body = await portal.slow_readers.run(
            lambda library: Repository(library, base_url, settings.name, settings.contact).answer(
                arguments, repeated
            )
        )
        return Response(body, headers={"content-type": _TEXT_XML, "cache-control": "no-cache"})

    @router.get("/oai", **documented)
    async def oai(request: Request) -> Response:
        """Identify, ListMetadataFormats, ListSets, ListIdentifiers, ListRecords and GetRecord."""
        return await respond(request, request.query_params.multi_items())

    @router.post("/oai", **documented)
    async def oai_by_form(request: Request) -> Response:
        """The same by a form, for long requests."""
        form = await request.form(max_files=0, max_fields=20)
        return await respond(request, [(name, str(text)) for name, text in form.multi_items()])

    return router
