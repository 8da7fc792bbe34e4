"""Makes a document of the index from a record of any kind, by what its fields are declared to be good for."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from urllib.parse import urlsplit

from wayhound.citations.hubs import HubScores
from wayhound.record import Record
from wayhound.record_kinds import KINDS, KindSpec, Role, spec_of

TOPIC_SEPARATOR = " › "
LONGEST_KEY = 1_000  # characters
SCORE_DIGITS = 4  # of scores from 0 to 1: what differs by less changes no order that anybody sees


@dataclass(frozen=True, slots=True)
class IndexDocument:
    """What is searched, shown, counted and sorted by of one record.

    `text` is shown in snippets. `fields` are searched by their names and among all words; `facets` are
    counted by their values and only that.
    """

    kind: str
    id: str
    title: str = ""
    people: tuple[str, ...] = ()
    venue: str = ""
    topics: tuple[tuple[str, ...], ...] = ()  # paths from the top
    site: str = ""  # host name
    date: int | None = None  # year, month and day as one number: 19990700 is July 1999
    text: tuple[str, ...] = ()
    fields: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    facets: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    cited: int = 0
    scores: HubScores = HubScores()  # noqa: RUF009 - frozen
    topic_scores: Mapping[tuple[str, ...], HubScores] = field(default_factory=dict)  # among a topic's papers
    change: int = 0  # of the store when it was read: larger is newer
    held: bool = True  # False: no more is known of it than what others say who cite it

    @property
    def year(self) -> int | None:
        return None if self.date is None else self.date // 10_000

    @property
    def key(self) -> str:
        return record_key(self.kind, self.id)


def record_key(kind: str, record_id: str) -> str:
    """One text for kind and id: the unit separator stands in no kind. The index takes no endless ones."""
    key = storable(f"{kind}\x1f{record_id}")
    return key if len(key) <= LONGEST_KEY else sha256(key.encode()).hexdigest()


def storable(text: str) -> str:
    """Without lone surrogates: hostile pages hold them, and UTF-8 has no place for them."""
    return text.encode("utf-8", "replace").decode("utf-8")


VENUE_FIELDS = ("journal", "booktitle", "institution", "venue")
"""Where a record appeared, whatever the field is called; the first that has a value counts."""

_ROLES: tuple[Role, ...] = ("title", "people", "date", "text")
_DATE = re.compile(r"(?<!\d)(\d{4})(?:-(\d{2})(?:-(\d{2}))?)?(?!\d)")


@dataclass(frozen=True, slots=True)
class RecordContext:
    """What is known of a record beside its own fields."""

    topics: tuple[tuple[str, ...], ...] = ()
    cited: int = 0
    scores: HubScores = HubScores()  # noqa: RUF009 - frozen
    topic_scores: Mapping[tuple[str, ...], HubScores] = field(default_factory=dict)
    change: int = 0


_UNKNOWN = RecordContext()


def index_document(
    record: Record, standing: RecordContext = _UNKNOWN, kinds: Mapping[str, KindSpec] = KINDS
) -> IndexDocument:
    spec = spec_of(record.kind, record.fields, kinds)
    texts = {name: _texts(record, name) for name in record.fields}
    roles = {name: spec.field(name).role for name in texts}
    by_role = {role: _joined(roles, texts, role) for role in _ROLES}
    venue = next((texts[name][0] for name in VENUE_FIELDS if texts.get(name)), "")
    return IndexDocument(
        record.kind,
        record.id,
        _title(by_role["title"], texts),
        by_role["people"],
        venue,
        standing.topics,
        host_name(record.site),
        parse_date(by_role["date"] or texts.get("date", ())),
        by_role["text"],
        {name: values for name, values in texts.items() if _is_searched(name, roles[name])},
        {name: values for name, values in texts.items() if _is_facet(name, roles[name])},
        standing.cited,
        standing.scores,
        standing.topic_scores,
        standing.change,
    )


def _texts(record: Record, name: str) -> tuple[str, ...]:
    return tuple(text for value in record.fields[name] if (text := value.text.strip()))


def _joined(roles: Mapping[str, Role], texts: Mapping[str, tuple[str, ...]], role: Role) -> tuple[str, ...]:
    return tuple(text for name, values in texts.items() if roles[name] == role for text in values)


def _title(titles: tuple[str, ...], texts: Mapping[str, tuple[str, ...]]) -> str:
    """Its title, or else the first thing it says of itself, on one line."""
    first = next((values[0] for values in (titles, *texts.values()) if values), "")
    return " ".join(first.split())[:500]


def _is_searched(name: str, role: Role) -> bool:
    """Fields that have no place of their own; the parts of an address would only be noise."""
    return role in ("facet", "plain") and name not in VENUE_FIELDS


def _is_facet(name: str, role: Role) -> bool:
    return role == "facet" and name not in VENUE_FIELDS


def parse_date(texts: tuple[str, ...]) -> int | None:
    """Year, month and day as one number: of `1999-07` 19990700. The first year that can be read counts."""
    for text in texts:
        if found := _DATE.search(text):
            year, month, day = (int(part or 0) for part in found.groups())
            return year * 10_000 + month * 100 + day
    return None


def host_name(site: str) -> str:
    """The name of the site's host; of what is no address, the text itself."""
    try:
        return urlsplit(site).hostname or site
    except ValueError:
        return site
