"""What an OAI-PMH 2.0 repository is asked and answers, as values: requests, sets, lists with tokens, errors."""

from __future__ import annotations

import json
import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Collection, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from urllib.parse import urlsplit

from wayhound.portal.addresses import from_key, slugs, to_key
from wayhound.portal.library import Library
from wayhound.record import Record
from wayhound.store.records import Place, Stamp

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


class OaiError(Exception):
    """An error of the protocol: a code of section 3.6, and a sentence."""

    def __init__(self, code: str, sentence: str) -> None:
        super().__init__(sentence)
        self.code = code
        self.sentence = sentence


@dataclass(frozen=True, slots=True)
class Harvest:
    """A list request: what is wanted, and where it goes on."""

    since: float = 0.0
    until: float = 1e12
    set: str = ""
    place: Place = field(default_factory=Place)

    def token(self) -> str:
        return urlsafe_b64encode(json.dumps(asdict(self)).encode()).decode()


@dataclass(frozen=True, slots=True)
class Item:
    """A record or what is left of one, with the sets that it belongs to."""

    stamp: Stamp
    sets: tuple[str, ...]
    record: Record | None


@dataclass(frozen=True, slots=True)
class Items:
    """A part of a list; an empty token ends it, None stands for a list that came in one piece."""

    items: tuple[Item, ...]
    token: str | None


def check_arguments(arguments: Mapping[str, str], repeated: Collection[str]) -> str:
    """The verb of a request whose arguments are right."""
    verb = arguments.get("verb", "")
    if verb not in VERBS or "verb" in repeated:
        raise OaiError("badVerb", f"verb must be one of {', '.join(VERBS)}.")
    given = frozenset(arguments) - {"verb"}
    needed, allowed = VERBS[verb]
    if repeated:
        raise OaiError("badArgument", f"{', '.join(repeated)} was given twice.")
    if verb in {"ListIdentifiers", "ListRecords"} and "resumptionToken" in given:
        needed, allowed = frozenset({"resumptionToken"}), frozenset()
    if missing := needed - given:
        raise OaiError("badArgument", f"{verb} needs {', '.join(sorted(missing))}.")
    if strange := given - needed - allowed:
        raise OaiError("badArgument", f"{verb} does not take {', '.join(sorted(strange))}.")
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
    return Harvest(since, until, arguments.get("set", ""), Place(changed=since))


def check_prefix(prefix: str) -> None:
    if prefix != PREFIX:
        raise OaiError("cannotDisseminateFormat", f"Records come as {PREFIX} alone.")


def _from_token(token: str) -> Harvest:
    try:
        told = json.loads(urlsafe_b64decode(token))
        place = Place(float(told["place"]["changed"]), str(told["place"]["kind"]), str(told["place"]["id"]))
        harvest = Harvest(float(told["since"]), float(told["until"]), str(told["set"]), place)
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


# Identifiers and sets


def identifier_of(base_url: str, kind: str, record_id: str) -> str:
    return f"oai:{urlsplit(base_url).hostname}:{to_key(kind)}/{to_key(record_id)}"


def read_identifier(base_url: str, identifier: str) -> tuple[str, str]:
    """Kind and id of a record."""
    start = f"oai:{urlsplit(base_url).hostname}:"
    kind, _, record_id = identifier.removeprefix(start).partition("/")
    named = from_key(kind), from_key(record_id)
    if not identifier.startswith(start) or named[0] is None or named[1] is None:
        raise OaiError("idDoesNotExist", "There is no record of that identifier here.")
    return named[0], named[1]


def sets_of(library: Library) -> Iterator[tuple[str, str]]:
    """Sets with their names: the kinds, and below papers the topics."""
    kinds = list(library.counts())
    for kind, slug in zip(kinds, slugs(kinds), strict=True):
        yield slug, library.spec(kind).plural
    for node in library.topics().root.walk():
        if node.slug and "paper" in kinds:
            yield f"paper:{node.slug.replace('/', ':')}", " › ".join(node.path)


def _sets_of_record(library: Library, kind: str, record_id: str) -> tuple[str, ...]:
    kinds = list(library.counts())
    own = dict(zip(kinds, slugs(kinds), strict=True)).get(kind)
    placed = library.placements.get(record_id) if kind == "paper" else None
    node = library.topics().of(placed.topic) if placed and placed.topic else None
    topic = [f"paper:{node.slug.replace('/', ':')}"] if node else []
    return tuple([own, *topic] if own else topic)


# Lists


def item(library: Library, stamp: Stamp) -> Item:
    record = None if stamp.deleted else library.records.get(stamp.kind, stamp.id)
    return Item(stamp, _sets_of_record(library, stamp.kind, stamp.id), record)


def find_item(library: Library, base_url: str, identifier: str) -> Item:
    kind, record_id = read_identifier(base_url, identifier)
    stamp = library.catalogue.stamp(kind, record_id)
    if stamp is None:
        raise OaiError("idDoesNotExist", "There is no record of that identifier here.")
    return item(library, stamp)


def list_items(library: Library, harvest: Harvest) -> Items:
    """A part of a list, which holds a record at least. Records of other sets are passed over."""
    if harvest.set and harvest.set not in dict(sets_of(library)):
        raise OaiError("noRecordsMatch", "There is no such set.")
    place, is_last, items = harvest.place, False, list[Item]()
    while not items and not is_last:
        stamps = library.catalogue.changed_after(place, harvest.until, PAGE)
        items = [each for stamp in stamps if _is_in(each := item(library, stamp), harvest.set)]
        is_last = len(stamps) < PAGE
        place = Place(stamps[-1].changed, stamps[-1].kind, stamps[-1].id) if stamps else place
    if not items:
        raise OaiError("noRecordsMatch", "No record matches.")
    is_first = harvest.place == Place(changed=harvest.since)
    ending = None if is_first else ""
    return Items(tuple(items), ending if is_last else replace(harvest, place=place).token())


def _is_in(each: Item, wanted: str) -> bool:
    return not wanted or any(own == wanted or own.startswith(f"{wanted}:") for own in each.sets)
