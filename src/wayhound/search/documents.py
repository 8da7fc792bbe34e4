"""Convert a record of any kind into a document of the index, by the roles of its fields."""

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
MAX_KEY_LENGTH = 1_000  # characters
SCORE_DIGITS = 4  # of scores from 0 to 1; smaller differences change no visible order


@dataclass(frozen=True, slots=True)
class IndexDocument:
    """Everything that one record is searched, shown, counted and sorted by.

    `text` appears in snippets. `fields` are searched by name and among all words; `facets` are only counted.
    """

    kind: str
    id: str
    title: str = ""
    people: tuple[str, ...] = ()
    venue: str = ""
    topics: tuple[tuple[str, ...], ...] = ()  # paths from the top
    site: str = ""  # host name
    date: int | None = None  # as one number: 19990700 is July 1999
    text: tuple[str, ...] = ()
    fields: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    facets: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    cited: int = 0
    scores: HubScores = HubScores()  # noqa: RUF009 - frozen
    topic_scores: Mapping[tuple[str, ...], HubScores] = field(default_factory=dict)  # within a topic's papers
    change: int = 0  # number of the record's last change; larger is newer
    in_collection: bool = True  # False for a work known only by its citations

    @property
    def year(self) -> int | None:
        return None if self.date is None else self.date // 10_000

    @property
    def key(self) -> str:
        return record_key(self.kind, self.id)


def record_key(kind: str, record_id: str) -> str:
    """Return one key for a kind and id. Longer keys than tantivy accepts are replaced by their hash."""
    key = storable(f"{kind}\x1f{record_id}")
    return key if len(key) <= MAX_KEY_LENGTH else sha256(key.encode()).hexdigest()


def storable(text: str) -> str:
    """Return the text without lone surrogates, which hostile pages contain and UTF-8 cannot encode."""
    return text.encode("utf-8", "replace").decode("utf-8")


VENUE_FIELDS = ("journal", "booktitle", "institution", "venue")
"""Fields that name where a record was published; the first with a value is the venue."""

_ROLES: tuple[Role, ...] = ("title", "people", "date", "text")
_DATE = re.compile(r"(?<!\d)(\d{4})(?:-(\d{2})(?:-(\d{2}))?)?(?!\d)")


@dataclass(frozen=True, slots=True)
class RecordContext:
    """Facts about a record that are not among its fields: topics, citations and scores."""

    topics: tuple[tuple[str, ...], ...] = ()
    cited: int = 0
    scores: HubScores = HubScores()  # noqa: RUF009 - frozen
    topic_scores: Mapping[tuple[str, ...], HubScores] = field(default_factory=dict)
    change: int = 0


_NO_CONTEXT = RecordContext()


def index_document(
    record: Record, context: RecordContext = _NO_CONTEXT, kinds: Mapping[str, KindSpec] = KINDS
) -> IndexDocument:
    """Return the index document of a record; `kinds` declare the roles of its fields."""
    spec = spec_of(record.kind, record.fields, kinds)
    texts = {name: _texts(record, name) for name in record.fields}
    roles = {name: spec.field(name).role for name in texts}
    by_role = {role: _joined(roles, texts, role) for role in _ROLES}
    venue = next((texts[name][0] for name in VENUE_FIELDS if texts.get(name)), "")
    return IndexDocument(
        kind=record.kind,
        id=record.id,
        title=_title(by_role["title"], texts),
        people=by_role["people"],
        venue=venue,
        topics=context.topics,
        site=host_name(record.site),
        date=parse_date(by_role["date"] or texts.get("date", ())),
        text=by_role["text"],
        fields={name: values for name, values in texts.items() if _is_searched(name, roles[name])},
        facets={name: values for name, values in texts.items() if _is_facet(name, roles[name])},
        cited=context.cited,
        scores=context.scores,
        topic_scores=context.topic_scores,
        change=context.change,
    )


def _texts(record: Record, name: str) -> tuple[str, ...]:
    return tuple(text for value in record.fields[name] if (text := value.text.strip()))


def _joined(roles: Mapping[str, Role], texts: Mapping[str, tuple[str, ...]], role: Role) -> tuple[str, ...]:
    return tuple(text for name, values in texts.items() if roles[name] == role for text in values)


def _title(titles: tuple[str, ...], texts: Mapping[str, tuple[str, ...]]) -> str:
    """Return the title, or the first value of any field, on one line."""
    first = next((values[0] for values in (titles, *texts.values()) if values), "")
    return " ".join(first.split())[:500]


def _is_searched(name: str, role: Role) -> bool:
    """Return True for fields without a place of their own in the index."""
    return role in ("facet", "plain") and name not in VENUE_FIELDS


def _is_facet(name: str, role: Role) -> bool:
    return role == "facet" and name not in VENUE_FIELDS


def parse_date(texts: tuple[str, ...]) -> int | None:
    """Return the first date in the texts as one number, 19990700 for `1999-07`, or None."""
    for text in texts:
        if match := _DATE.search(text):
            year, month, day = (int(part or 0) for part in match.groups())
            return year * 10_000 + month * 100 + day
    return None


def host_name(site: str) -> str:
    """Return the host name of a site's URL, or the text itself if it is no URL."""
    try:
        return urlsplit(site).hostname or site
    except ValueError:
        return site
